"""Tests scripts/check-files on small trees: each fault must be reported, clean files must not."""
import unittest

from small_tree import run_check

# Spelled apart, so that this file is not itself at fault.
LEFT_BEHIND = "TO" + "DO"
HOST = "registry." + "example"


def check(files):
    return run_check("check-files", files)


class CheckFiles(unittest.TestCase):
    def test_clean_files_pass(self):
        code, output = check({"annulus/base/a.h": "// Says its job.\n" + "int x;\n" * 449,
                              "docs/long.md": "text\n" * 1000,
                              "tests/data/bytes.txt": LEFT_BEHIND + "\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("the longest is annulus/base/a.h with 450 lines", output)

    def test_each_fault_is_reported(self):
        faults = {
            "annulus/base/long.cpp": ("// Job.\n" + "int x;\n" * 450, "451 lines"),
            "annulus/base/silent.h": ("#pragma once\n", "first line"),
            "annulus/base/text_utils.h": ("// Job.\n", "a name that says nothing"),
            "cli/main.cpp": (f"// Job.\n// {LEFT_BEHIND}: write it\n", "work left behind"),
            "docs/a.md": ("See /home/someone/data/x.npz\n", "a path of one machine"),
            "docs/words.md": ("Heads have Compan" + "ions.\n", "a word of this project alone"),
            "scripts/get": (f"curl https://{HOST}/x\n", "a package registry's host"),
        }
        code, output = check({path: text for path, (text, _) in faults.items()})
        self.assertEqual(code, 1, output)
        for path, (_, message) in faults.items():
            self.assertTrue(any(line.startswith(path + ":") and message in line for line in output.splitlines()),
                            f"{path}: expected '{message}' in\n{output}")
        self.assertIn("7 faults", output)

    def test_a_crowded_room_is_reported(self):
        files = {f"annulus/base/part{number}.h": "// Job.\n" for number in range(40)}
        code, output = check(files)
        self.assertEqual(code, 0, output)
        code, output = check({**files, "annulus/base/one_more.cpp": "// Job.\n"})
        self.assertEqual(code, 1, output)
        self.assertIn("annulus/base: 41 files, at most 40", output)


unittest.main()
