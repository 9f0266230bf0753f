"""Runs a check of scripts/ on a small tree, for the tests of those checks."""
import pathlib
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


def run_check(script, files):
    """Exit code and output of scripts/<script> on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        run = subprocess.run([sys.executable, SCRIPTS / script, folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr
