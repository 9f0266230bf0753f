"""Tests bench/compare without its peers: what it reports for given times, and how a peer's fit is put together from steps."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
from compare_report import RATIO_KEYS, Comparison, results, table, write_json  # noqa: E402
from programs import Contestant, duration, take_turns  # noqa: E402


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def contestant(label, seconds, **options):
    result = Contestant(label, None, 0, **options)
    result.seconds = seconds
    return result


def step(ours, *peers):
    return Comparison("step_d384", "A step", [contestant("Annulus", ours, ours=True), *peers])


class Report(unittest.TestCase):
    def test_ratio_is_of_medians_against_the_fastest_peer_that_counts(self):
        comparison = step([0.1, 0.2, 9.0], contestant("slow", [8.0], reference=True), contestant("fast", [4.0, 5.0, 1.0], reference=True),
                          contestant("not counted", [0.01]))
        self.assertAlmostEqual(comparison.ratio, 20.0)
        self.assertIn("fast", comparison.reference.label)

    def test_ratio_to_a_limit_is_ours_over_it(self):
        comparison = Comparison("kernel_over_exp_limit", "A kernel", [contestant("ours", [3.0], ours=True),
                                                                      contestant("limit", [2.0], reference=True)], of_limit=True)
        self.assertAlmostEqual(comparison.ratio, 1.5)
        self.assertIn("1.50 x this limit", table([comparison]))

    def test_json_has_every_ratio_and_the_medians(self):
        comparison = step([0.5], contestant("PyTorch", [2.0], reference=True))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.json")
            write_json(path, [comparison], {"threads": 2})
            written = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(set(written), {*RATIO_KEYS, "details"})
        self.assertEqual(written["step_d384"], 4.0)
        self.assertIsNone(written["fit_200x5"])
        measured = written["details"]["measurements"]["step_d384"]
        self.assertEqual([c["median_seconds"] for c in measured["contestants"]], [0.5, 2.0])

    def test_a_peer_that_was_not_measured_leaves_no_ratio(self):
        self.assertIsNone(results([step([1.0])], {})["step_d384"])

    def test_table_says_where_a_peer_is_faster(self):
        text = table([step([1.0], contestant("quick one", [0.5]), contestant("slow one", [3.0]), contestant("even one", [1.01]),
                           contestant("another of ours", [7.0], ours=True))])
        self.assertRegex(text, r"quick one.*ours 2 x SLOWER")
        self.assertRegex(text, r"slow one.*ours 3 x faster")
        self.assertRegex(text, r"even one.*about the same")
        self.assertRegex(text, r"another of ours.*7 x the time of Annulus")

    def test_durations_have_three_digits(self):
        self.assertEqual([duration(seconds) for seconds in (2518.0, 13.26, 0.0737, 2.08e-3, 5e-8)],
                         ["2518 s", "13.3 s", "73.7 ms", "2.08 ms", "50.0 ns"])


class Measuring(unittest.TestCase):
    def test_what_took_long_enough_is_not_measured_again(self):
        slow = Contestant("slow", lambda: 6.0, 5, warm_ups=0, enough=10)
        fast = Contestant("fast", lambda: 1.0, 5, warm_ups=0, enough=10)
        take_turns([slow, fast])
        self.assertEqual((slow.seconds, fast.seconds), ([6.0, 6.0], [1.0] * 5))

    def test_contestants_take_turns_after_warming_up(self):
        calls = []

        def called(name):
            return lambda: calls.append(name) or 1.0
        take_turns([Contestant("a", called("a"), 3, ours=True), Contestant("b", called("b"), 2, warm_ups=0)])
        self.assertEqual("".join(calls), "a" + "ab" + "ab" + "a")

    def test_fit_is_put_together_from_every_kind_of_step(self):
        compare = load("compare")
        counts = {"batch": 4, "virtual": 7, "pretrain_epochs": 10, "probe_epochs": 3, "final_epochs": 5, "probes": 2}
        asked = []

        def ask(job):
            asked.append(job)
            return {"step": 1.0, "accuracy": 0.001}[job["job"]] * job["examples"] * (100 if job["epsilon"] else 1)
        # 10 training examples: 10 epochs on them, 2 * 3 + 5 epochs of virtual examples, 3 accuracies of those and 2 of the training examples
        self.assertAlmostEqual(compare.pipeline_seconds(ask, counts, 10, 16, 3, 1), 10 * 10 + 11 * 1000 + 3 * 1.0 + 2 * 0.01)
        self.assertEqual({job["examples"] for job in asked}, {4, 2})

    def test_help_needs_no_peer(self):
        for name in ("compare", "scaling"):
            run = subprocess.run([sys.executable, "-B", BENCH / name, "--help"], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("--plot", run.stdout)

    def test_missing_module_is_said_with_its_package(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertFalse(load("compare").Peers.has("no_such_module", "A Peer", "python3-peer"))
        self.assertIn("python3-peer", said.getvalue())
        self.assertEqual(said.getvalue().count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
