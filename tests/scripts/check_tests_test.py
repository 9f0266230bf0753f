"""Tests scripts/check-tests on small trees: units without tests, tests without units and lines that are not needed are reported."""
import unittest

from small_tree import run_check

GOOD = {
    "annulus/base/matrix.h": "", "tests/base/matrix_test.cpp": "",
    "annulus/learn/method/head.cpp": "", "tests/learn/method/golden_test.cpp": "",
    "server/http/router.cpp": "", "tests/server/http/router_test.cpp": "",
    "tests/mirror.txt": "# exceptions\nannulus/learn/method/head < tests/learn/method/golden_test.cpp: every step of a training uses it\n"
                        "tests/learn/method/golden_test.cpp: trainings recorded from PyTorch\n",
}


def check(files):
    return run_check("check-tests", files)


class CheckTests(unittest.TestCase):
    def test_a_mirrored_tree_passes(self):
        code, output = check(GOOD)
        self.assertEqual(code, 0, output)
        self.assertIn("3 units, 2 with a test by name, 0 faults", output)

    def test_each_fault_is_reported(self):
        faults = {
            "annulus/base/slice: no test": {"annulus/base/slice.h": ""},
            "tests/base/other_test.cpp: no unit": {"tests/base/other_test.cpp": ""},
            "the line is not needed": {"tests/learn/method/head_test.cpp": ""},
            "does not exist": {"tests/mirror.txt": GOOD["tests/mirror.txt"] + "annulus/base/x < tests/no_test.cpp: why\n"},
            "is not a unit": {"tests/mirror.txt": GOOD["tests/mirror.txt"] + "annulus/base/x < tests/base/matrix_test.cpp: why\n"},
            "expected 'UNIT < TEST: REASON'": {"tests/mirror.txt": GOOD["tests/mirror.txt"] + "annulus/base/x because\n"},
        }
        for message, change in faults.items():
            code, output = check({**GOOD, **change})
            self.assertEqual(code, 1, message)
            self.assertIn(message, output)

    def test_an_empty_tree_is_an_error(self):
        self.assertIn("no C++ file", check({"README.md": ""})[1])


unittest.main()
