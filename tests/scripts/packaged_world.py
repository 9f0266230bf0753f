"""packaged_world.py CACHE: the installed Debian package as a user meets it, in a Debian that has nothing else; scripts/check-package runs it.

Photos are learnt, predicted, served and given to the studio without a network connection: ONNX Runtime is the package's own, the
backbone is in CACHE.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from installed_test import try_photos, try_serve, try_studio
from installed_world import check, run, write_photos

PROGRAM = "/usr/bin/annulus"
RUNTIME = "/usr/lib/annulus/libonnxruntime.so.1"


def try_manual(folder, environment):
    for page in ("annulus", "annulus-fit", "annulus-backbones-get"):
        text = run(["man", page], folder, dict(environment, MANPAGER="cat", MANWIDTH="100")).stdout
        check("SYNOPSIS" in text and "EXIT STATUS" in text, f"man {page} shows {text[:200]}")
    completion = pathlib.Path("/usr/share/bash-completion/completions/annulus").read_text(encoding="utf-8")
    check("_annulus()" in completion, "the completion of bash")


def try_python(folder, environment):
    code = "import annulus; print(annulus.__file__); print(annulus.load('model.safetensors').classes_)"
    lines = run(["python3", "-c", code], folder, environment).stdout.splitlines()
    check(lines[0].startswith("/usr/lib/python3/dist-packages/annulus/"), f"Python takes {lines[0]}")
    check("red" in lines[1], f"the model's classes in Python: {lines[1]}")
    listed = run(["python3", "-c", "import importlib.metadata as m; print(m.version('annulus'))"], folder, environment).stdout.strip()
    check(listed == run([PROGRAM, "--version"], folder, environment).stdout.split()[-1], f"Python knows version {listed}")


def try_files():
    unit = pathlib.Path("/lib/systemd/system/annulus.service").read_text(encoding="utf-8")
    check(f"\nExecStart={PROGRAM} serve " in unit and "\nDynamicUser=yes\n" in unit, f"the unit: {unit}")
    for file in ("copyright", "changelog.Debian.gz", "README.md"):
        check((pathlib.Path("/usr/share/doc/annulus") / file).is_file(), f"no {file} in the package's documents")
    broken = subprocess.run(["find", "/usr/lib/python3/dist-packages/annulus", "-xtype", "l"], capture_output=True, text=True, check=True).stdout
    check(not broken, f"links that lead nowhere: {broken}")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder, home = pathlib.Path(scratch) / "folder", pathlib.Path(scratch) / "home"
        folder.mkdir()
        shutil.copytree(sys.argv[1], home / ".cache" / "annulus")
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "no_proxy": "127.0.0.1,localhost", "ANNULUS_OFFLINE": "1"}
        write_photos(folder / "photos")
        check(RUNTIME in run([PROGRAM, "doctor"], folder, environment).stdout, f"doctor does not name {RUNTIME}")
        try_photos(PROGRAM, folder, environment)
        try_serve(PROGRAM, folder, environment)
        try_studio(PROGRAM, folder, environment)
        try_manual(folder, environment)
        try_python(folder, environment)
        try_files()
    check(os.getuid() != 0, "expected a user, found root")


if __name__ == "__main__":
    main()
