"""fault_sweep_test.py ANNULUS SHIM_SOURCE [--whole] [--only CASE]: what the program makes of a call to the system that fails.

tests/faults/fault_shim.c is preloaded and makes the Nth open, read, write, fsync, rename, mmap, ftruncate, close or malloc of a
command fail. Whatever N: the command ends by itself, with an exit code of its table; when that is not 0, with one sentence, the old
output as it was and no temporary file; when it is 0, with the output that it has without a fault. Afterwards the same command
without a fault gives the same bytes. Some N of each call are tried, spread over all of them; --whole tries every N (of malloc, a
thousand), which takes hours.
"""
import errno
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WHOLE = "--whole" in sys.argv
if WHOLE:
    sys.argv.remove("--whole")
ONLY = None
if "--only" in sys.argv:
    ONLY = sys.argv.pop(sys.argv.index("--only") + 1)
    sys.argv.remove("--only")
SHIM_SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
ANNULUS = pathlib.Path(sys.argv.pop(1)).resolve()

CALLS = {"open": [errno.EMFILE, errno.EIO], "read": [errno.EIO], "write": [errno.ENOSPC, errno.EIO], "fsync": [errno.EIO],
         "rename": [errno.ENOSPC], "mmap": [errno.ENOMEM], "ftruncate": [errno.ENOSPC], "close": [errno.EIO], "malloc": [errno.ENOMEM]}
CODES = {2, 3, 4, 5, 70}
SAMPLES = 3      # of each call of each command
QUICK = ["--virtual", "4", "--epochs", "8", "--search-epochs", "2", "--search-tolerance", "0.2", "--threads", "1", "-q"]
TRAINING = ["--virtual", "4", "--epochs", "8", "--threads", "1", "-q"]


def cases(folder):
    """name: (words, file that is written, whether its bytes are always the same)"""
    features, model = folder / "features.safetensors", folder / "model.safetensors"
    out = folder / "out"
    return {
        "fit": (["fit", features, "--shots", "5", "-o", out / "m.safetensors", *QUICK], "m.safetensors", True),
        "predict": (["predict", model, features, "--format", "csv", "-o", out / "p.csv", "-q"], "p.csv", True),
        "evaluate": (["evaluate", features, "--shots", "1", "--subsets", "1", "--methods", "default,ncm",
                      "--json", out / "e.json", *TRAINING], "e.json", False),
        "episodes": (["episodes", features, "--shots", "1", "--episodes", "3", "--seeds", "1", "--methods", "ncm",
                      "--json", out / "e.json", "--threads", "1", "-q"], "e.json", False),
        "export": (["export", model, "--c", out / "m.h", "-q"], "m.h", True),
        "card": (["export", model, "--card", out / "m.md", "-q"], "m.md", True),
        "remove-class": (["remove-class", model, "--name", "class-003", "-o", out / "m.safetensors", "-q"], "m.safetensors", True),
        "add-class": (["add-class", folder / "fewer.safetensors", features, "--name", "class-003", "-o", out / "m.safetensors",
                       "--threads", "1", "-q"], "m.safetensors", True),
        "audit": (["audit", features, "--jsonl", out / "a.jsonl", "--threads", "1", "-q"], "a.jsonl", True),
        "score": (["score", model, features, "--json", out / "s.json", "--threads", "1", "-q"], "s.json", False),
    }


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.shim = cls.folder / "shim.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", cls.shim, SHIM_SOURCE, "-ldl"], check=True)
        cls.environment = {"PATH": os.environ["PATH"], "HOME": str(cls.folder / "home"), "LANG": "C.UTF-8", "ANNULUS_OFFLINE": "1",
                           "XDG_CACHE_HOME": str(cls.folder / "cache"), "ANNULUS_CACHE": str(cls.folder / "cache")}
        (cls.folder / "home").mkdir()
        cls.plain("demo-generated", "--ways", "6", "-q", cwd=cls.folder)
        (cls.folder / "demo-features.safetensors").rename(cls.folder / "features.safetensors")
        cls.plain("fit", cls.folder / "features.safetensors", "--shots", "5", "-o", cls.folder / "model.safetensors", *QUICK)
        cls.plain("remove-class", cls.folder / "model.safetensors", "--name", "class-003", "-o", cls.folder / "fewer.safetensors", "-q")
        (cls.folder / "out").mkdir()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def plain(cls, *words, cwd=None):
        subprocess.run([ANNULUS, *map(str, words)], check=True, env=cls.environment, cwd=cwd, stdout=subprocess.DEVNULL)

    def start(self, words, call, nth=0, number=0, **more):
        environment = self.environment | {"LD_PRELOAD": str(self.shim), "FAULT_CALL": call, "FAULT_NTH": str(nth),
                                          "FAULT_ERRNO": str(number)}
        if nth == 0:
            environment["FAULT_COUNT"] = str(self.folder / "count")
        return subprocess.Popen([ANNULUS, *map(str, words)], env=environment, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def count(self, words, call):
        process = self.start(words, call)
        _, complaint = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, complaint)
        return int((self.folder / "count").read_text())

    def chosen(self, count, call):
        if WHOLE:
            most = 1000 if call == "malloc" else count
        else:
            most = SAMPLES
        if count <= most:
            return range(1, count + 1)
        return sorted(random.Random(f"{call} {count}").sample(range(1, count + 1), most))

    def reset(self, out):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()

    def sweep(self, words, file, stable):
        out = self.folder / "out"
        self.reset(out)
        self.plain(*words)
        expected = (out / file).read_bytes()
        tried = 0
        for call, numbers in CALLS.items():
            for nth in self.chosen(self.count(words, call), call):
                number = numbers[nth % len(numbers)]
                with self.subTest(call=call, nth=nth, error=errno.errorcode[number]):
                    self.reset(out)
                    (out / file).write_text("old")
                    process = self.start(words, call, nth, number)
                    _, complaint = process.communicate(timeout=300)
                    tried += 1
                    content = (out / file).read_bytes()
                    if process.returncode == 0:
                        if stable:
                            self.assertEqual(content, expected)
                        else:
                            self.assertNotEqual(content, b"old")
                    else:
                        self.assertIn(process.returncode, CODES, complaint)
                        self.assertEqual(complaint.count("\n"), 1, complaint)
                        self.assertTrue(complaint.startswith("annulus: "), complaint)
                        # What a failed sync of the folder left in place is whole.
                        self.assertIn(content, [b"old", expected] if stable else [b"old"])
                    self.assertEqual([path.name for path in out.iterdir()], [file])
        self.plain(*words)
        if stable:
            self.assertEqual((out / file).read_bytes(), expected)
        self.assertGreater(tried, 8)

    def serve(self, call, nth, number):
        """A server with a fault: it does not start and says why, or it answers until it is asked to stop."""
        process = self.start(["serve", self.folder / "model.safetensors", "--port", "0", "--features-only", "-q", "--threads", "1"], call,
                             nth, number)
        try:
            url = process.stdout.readline().strip()
            if not url:
                _, complaint = process.communicate(timeout=60)
                self.assertIn(process.returncode, CODES, complaint)
                self.assertIn("annulus: ", complaint)
                return 0
            answered = 0
            body = json.dumps({"features": [[0.1 * (i % 7 - 3) for i in range(256)]] * 2})
            for _ in range(4):
                try:
                    client = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
                    client.request("POST", "/predict", body, {"Content-Type": "application/json"})
                    answered += client.getresponse().status == 200
                    client.close()
                except (OSError, http.client.HTTPException):
                    pass  # a connection that ends is what one fault may cost
                self.assertIsNone(process.poll(), "the server ended by itself")
            self.assertGreaterEqual(answered, 3)
            process.send_signal(signal.SIGTERM)
            _, complaint = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, complaint)
            if nth == 0:
                return int((self.folder / "count").read_text())
            return 0
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()

    def test_serve(self):
        if ONLY not in (None, "serve"):
            self.skipTest("not asked for")
        # Not malloc: what asio and the C++ runtime allocate where nothing may be thrown still ends a server.
        for call in ("open", "read", "close"):
            count = self.serve(call, 0, 0)
            # What happens while requests are answered comes last.
            late = range(max(1, count - 400), count + 1)
            chosen = self.chosen(count, call) if WHOLE else random.Random(call).sample(late, min(4, len(late)))
            for nth in chosen:
                with self.subTest(call=call, nth=nth):
                    self.serve(call, nth, CALLS[call][0])


def add_case(name):
    def test(self):
        words, file, stable = cases(self.folder)[name]
        self.sweep(words, file, stable)
    setattr(Sweep, f"test_{name.replace('-', '_')}", test)


for case in cases(pathlib.Path()):
    if ONLY in (None, case):
        add_case(case)

if __name__ == "__main__":
    start = time.monotonic()
    outcome = unittest.main(exit=False)
    print(f"{time.monotonic() - start:.0f} s")
    sys.exit(not outcome.result.wasSuccessful())
