"""Tests bench/accuracy with a stand-in for annulus: the options it passes, differences run by run, and what it does not measure again."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ACCURACY = pathlib.Path(__file__).resolve().parents[2] / "bench" / "accuracy"
# Writes down its options; its accuracy is that of the split plus a hundredth of R, its radius 10 at R 200 and else 9.
STAND_IN = """#!{python}
import json, sys
with open("{log}", "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
option = lambda name: sys.argv[sys.argv.index(name) + 1]
virtual = int(option("--virtual"))
runs = [{{"accuracy": 20.0 + draw + virtual / 100 + (draw == 0) * 0.5 * (virtual < 100), "epsilon": 10 if virtual == 200 else 9,
          "seconds": 1.0}} for draw in range(int(option("--subsets")))]
print(json.dumps({{"results": [{{"runs": runs}}]}}))
"""


class Accuracy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.log = self.folder / "log"
        program = self.folder / "annulus"
        program.write_text(STAND_IN.format(python=sys.executable, log=self.log), encoding="utf-8")
        program.chmod(0o755)

    def run_it(self, *words):
        return subprocess.run([sys.executable, "-B", ACCURACY, "some/birds.npz", "--shots", "1", "--seeds", "1", "--epsilon", "2",
                               "--lr", "0.05", "--results", self.folder / "cells", *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "ANNULUS": str(self.folder / "annulus")})

    def calls(self):
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def test_forms_of_noise_become_options(self):
        self.assertEqual(self.run_it("--virtual", "20", "--noise", "independent,grouped:32+pairs,recipe").returncode, 0)
        independent, pairs, recipe = self.calls()
        self.assertEqual(independent[-7:], ["--noise", "independent", "--no-antithetic", "--lr", "0.05", "--epsilon", "2"])
        self.assertIn("--noise grouped --group 32 --antithetic", " ".join(pairs))
        self.assertNotIn("--noise", recipe)

    def test_recipe_and_further_options_are_passed(self):
        run = self.run_it("--virtual", "20", "--noise", "recipe", "--lr", "recipe", "--epsilon", "search", "--recipe", "ibm2",
                          "--with", "", "--with", "--no-interpolate --search-lr 1")
        self.assertEqual(run.returncode, 0, run.stderr)
        plain, bisection = self.calls()
        self.assertIn("--recipe ibm2", " ".join(plain))
        self.assertFalse({"--lr", "--epsilon", "--no-interpolate"} & set(plain))
        self.assertEqual(bisection[-3:], ["--no-interpolate", "--search-lr", "1"])

    def test_differences_are_run_by_run_to_the_cell_named(self):
        run = self.run_it("--virtual", "200,32", "--noise", "recipe", "--epsilon", "search", "--subsets", "2", "--against", "virtual=200")
        rows = [line.split(" | ") for line in run.stdout.splitlines()[2:]]
        # Differences of -1.68 + 0.5 and -1.68: their mean, and half of what they are apart.
        self.assertEqual([row[8] for row in rows], ["-1.43 ± 0.25", ""])
        self.assertEqual([row[9] for row in rows], ["9.00 (-10.0 %)", "10.00"])

    def test_a_cell_is_measured_again_only_with_other_settings(self):
        for words in ([], [], ["--epochs", "50"], ["--subsets", "2"], ["--recipe", "ibm2"]):
            self.run_it("--virtual", "20", "--noise", "shared", *words)
        self.assertEqual(len(self.calls()), 4)

    def test_what_it_does_not_know_is_rejected(self):
        for words in (["--noise", "shared:8"], ["--noise", "antithetic"], ["--against", "seeds=1"], ["--against", "noise"]):
            run = self.run_it("--virtual", "20", *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn("expected", run.stderr)


if __name__ == "__main__":
    unittest.main()
