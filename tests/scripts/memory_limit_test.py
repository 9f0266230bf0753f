"""memory_limit_test.py ANNULUS: commands on a feature file several times as large as the memory they may use.

The limit is on memory of the process's own (RLIMIT_DATA); pages of a mapped file are the system's to take back, and do not count."""
import array
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

ANNULUS = pathlib.Path(sys.argv.pop(1)).resolve()
CLASSES, ROWS, DIMENSION = 50, 200_000, 1024  # 800 MB
BLOCK = 2000  # rows that differ
# A product of matrices takes 128 MB of working memory in OpenBLAS for each thread that is at one, and as much for each thread of its own.
LIMIT = 400 << 20


def run(*words, place=None):
    """The program with a bound on its memory; rows that are too many go to a file in `place`."""
    def bound():
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))

    return subprocess.run([ANNULUS, *map(str, words), "--threads", "2"], capture_output=True, text=True, check=False, preexec_fn=bound,
                          env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | ({"TMPDIR": str(place)} if place else {}))


def write_features(path):
    """Rows around prototypes, a class after the other and round again; a block of rows, over and over."""
    draw = random.Random(0).gauss
    means = [[draw(0, 1) for _ in range(DIMENSION)] for _ in range(CLASSES)]
    block = array.array("f", (mean + draw(0, 1) for _ in range(BLOCK // CLASSES) for row in means for mean in row)).tobytes()
    labels = array.array("i", (row % CLASSES for row in range(ROWS))).tobytes()
    size = ROWS * DIMENSION * 4
    header = json.dumps({"features": {"dtype": "F32", "shape": [ROWS, DIMENSION], "data_offsets": [0, size]},
                         "labels": {"dtype": "I32", "shape": [ROWS], "data_offsets": [size, size + 4 * ROWS]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(header)) + header)
        for _ in range(ROWS // BLOCK):
            out.write(block)
        out.write(labels)


class LargerThanMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.folder.name)
        cls.features = cls.place / "features.safetensors"
        write_features(cls.features)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def expect_success(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_limit_is_felt(self):
        # Where there is no place for a file, all rows would have to be in memory of the process's own: the limit forbids it.
        fit = ("fit", self.features, "--epochs", 1, "--epsilon", 1, "--virtual", 2, "-o", self.place / "none.safetensors", "-q")
        done = run(*fit, place="/proc/nowhere")
        self.assertEqual(done.returncode, 70)
        self.assertEqual(done.stderr, "annulus: not enough memory for this request\n")
        self.assertFalse((self.place / "none.safetensors").exists())

    def test_a_fit_to_all_rows(self):
        model, told = self.place / "whole.safetensors", self.place / "whole.json"
        self.expect_success(run("fit", self.features, "--epochs", 1, "--epsilon", 1, "--virtual", 2, "-o", model, "--json", told, "-q", place=self.place))
        result = json.loads(told.read_text(encoding="utf-8"))
        self.assertEqual(result["examples"], ROWS)
        self.assertGreater(result["training_accuracy"], 90)  # of classes far apart
        self.assertTrue(model.exists())

    def test_a_fit_to_a_few_rows_and_predictions_of_all(self):
        self.expect_success(run("fit", self.features, "--shots", 2, "--epochs", 3, "--epsilon", 1, "--virtual", 4, "-o", self.place / "m.safetensors", "-q"))
        answers = self.place / "answers.jsonl"
        self.expect_success(run("predict", self.place / "m.safetensors", self.features, "-o", answers, "-q"))
        with open(answers, encoding="utf-8") as lines:
            self.assertEqual(sum(1 for _ in lines), ROWS)

    def test_a_grid(self):
        told = self.expect_success(run("evaluate", self.features, "--shots", 2, "--subsets", 1, "--methods", "ncm,baseline", "--epochs", 3, "-q"))
        self.assertIn("baseline", told)


if __name__ == "__main__":
    unittest.main()
