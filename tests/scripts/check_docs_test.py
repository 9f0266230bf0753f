"""Tests scripts/check-docs on small documents: examples that fail and links that lead nowhere must be reported."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-docs"


def check(mode, files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        program = pathlib.Path(folder, "bin", "greet")
        program.parent.mkdir()
        program.write_text("#!/bin/sh\necho hello \"$1\"\n", encoding="utf-8")
        program.chmod(0o755)
        arguments = ["links", folder] if mode == "links" else ["run", f"{folder}/README.md", f"{folder}/bin"]
        run = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


class RunExamples(unittest.TestCase):
    def test_blocks_share_one_folder_and_find_the_program(self):
        code, output = check("run", {"README.md": "```sh\ngreet you > said.txt\n```\n\n```sh\ngrep -q you said.txt\n```\n"
                                                  "```text\nhello you\n```\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("2 blocks run, 1 shown", output)

    def test_a_failing_block_is_reported_with_its_line(self):
        code, output = check("run", {"README.md": "# Title\n\n```sh\nfalse\ntrue\n```\n"})
        self.assertEqual(code, 1)
        self.assertIn("README.md:3: exit code 1", output)

    def test_directives(self):
        code, output = check("run", {"README.md": "<!-- check-docs first: touch data -->\n```sh\ntest -e data\n```\n"
                                                  "<!-- check-docs instead: touch short -->\n```sh\nsleep 1000\n```\n"
                                                  "```sh\ntest -e short\n```\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("3 blocks run", output)

    def test_misspelt_directives_unknown_languages_and_open_blocks_are_errors(self):
        for text in ("<!-- check-docs insted: true -->\n```sh\ntrue\n```\n", "```bash\ntrue\n```\n", "```\ntrue\n```\n",
                     "```sh\ntrue\n", "<!-- check-docs first: true -->\nwords\n```sh\ntrue\n```\n"):
            code, output = check("run", {"README.md": text})
            self.assertEqual(code, 1, text + output)

    def test_a_whole_program_needs_a_prefix(self):
        code, output = check("run", {"README.md": "```cpp\nint main() {}\n```\n"})
        self.assertEqual(code, 1)
        self.assertIn("no PREFIX", output)


class Links(unittest.TestCase):
    def test_good_links_pass(self):
        code, output = check("links", {"README.md": "[a](docs/a.md) [b](docs/a.md#the-second-part) [c](https://example.org)\n",
                                       "docs/a.md": "# A\n\n## The second part\n[up](../README.md)\n```sh\n[x](y)\n```\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("3 links, 0 broken", output)

    def test_broken_links_are_reported(self):
        code, output = check("links", {"README.md": "[a](docs/none.md) [b](docs/a.md#nowhere)\n", "docs/a.md": "# A\n"})
        self.assertEqual(code, 1)
        self.assertIn("no such file: docs/none.md", output)
        self.assertIn("no such heading: docs/a.md#nowhere", output)


unittest.main()
