"""Tests scripts/check-skips: skips that are not on the list fail where the environment says CI, and only there."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-skips"
RESULTS = """<testsuite><testcase name="a.Runs" status="run"/><testcase name="b.Skipped" status="notrun"><skipped/></testcase>
<testcase name="c.Child" status="disabled"/></testsuite>"""


def check(allowed, ci):
    with tempfile.TemporaryDirectory() as folder:
        results, skips = pathlib.Path(folder, "tests.xml"), pathlib.Path(folder, "allowed.txt")
        results.write_text(RESULTS, encoding="utf-8")
        skips.write_text(allowed, encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if key != "CI"} | ({"CI": "true"} if ci else {})
        run = subprocess.run([sys.executable, SCRIPT, results, skips], capture_output=True, text=True, check=False, env=environment)
        return run.returncode, run.stdout + run.stderr


class CheckSkips(unittest.TestCase):
    def test_a_skip_is_a_failure_in_ci_alone(self):
        self.assertEqual(check("", True)[0], 1)
        code, output = check("", False)
        self.assertEqual(code, 0)
        self.assertIn("skipped: b.Skipped", output)
        self.assertNotIn("c.Child", output)

    def test_what_is_listed_may_be_skipped(self):
        code, output = check("# why\nb.*: no such library here\n", True)
        self.assertEqual(code, 0, output)
        self.assertIn("no such library here", output)

    def test_a_line_without_a_reason_is_an_error(self):
        code, output = check("b.Skipped\n", False)
        self.assertEqual(code, 1)
        self.assertIn("expected 'TEST: REASON'", output)


unittest.main()
