"""python_package_test.py SOURCE [BUILD]: the Python package, as the guide installs it and as a wheel, works on photos without SOURCE.

Runs the lines of docs/reference/python.md ("Install") in a copy of the sources, then the guide's first example in an empty home; then
builds a wheel, checks it by scripts/check-wheel, and runs the example again in a second environment that has only the wheel.
Without BUILD the module is compiled as a user would. With BUILD only the compiler is spared: setup.py configures its own build, all
inputs of the module must be there, and the module of BUILD, made from the same sources, takes its place. The wheel takes BUILD by
ANNULUS_BUILD_DIR.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed_world import check, empty_home, run, run_without, write_photos

# What setup.py reads.
SOURCES = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "CMakeLists.txt", "scripts", "python", "annulus", "cmake", "share")


def guide(source):
    """The commands that the guide shows for an installation, and its first example."""
    text = (source / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    install = re.search(r"^## Install\n.*?^```console\n(.*?)^```", text, flags=re.S | re.M).group(1)
    commands = [line[2:] for line in install.splitlines() if line.startswith("$ ")]
    check(any("pip install ." in command for command in commands), f"the guide installs by {commands}")
    return "\n".join(commands), re.search(r"^```python\n(.*?)^```", text, flags=re.S | re.M).group(1)


def shell(what, script, folder, environment):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, text=True, check=False, timeout=7200,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, f"{what}: exit code {done.returncode}\n{done.stdout}")


# A cmake that configures as the real one does; instead of a build it looks whether all sources are there, and takes the finished module.
CMAKE = """#!/usr/bin/env bash
set -euo pipefail
[ "$1" = --build ] || exec {cmake} "$@"
cd "$2"
sources=$(ninja -t inputs annulus_python | grep -E "[.](cpp|cxx)$")
ls $sources >/dev/null
mkdir -p python/annulus
cp {build}/python/annulus/_core*.so python/annulus/
"""


def spare_the_compiler(build_folder, scratch):
    """The folder of that cmake."""
    folder = scratch / "bin"
    folder.mkdir()
    program = folder / "cmake"
    program.write_text(CMAKE.format(cmake=shutil.which("cmake"), build=build_folder), encoding="utf-8")
    program.chmod(0o755)
    return folder


def build(source, build_folder, scratch, example):
    """Two environments in scratch: sources/venv, by the guide's commands, and second, from a wheel."""
    commands, program = guide(source)
    example.write_text(program, encoding="utf-8")
    copy = scratch / "sources"
    copy.mkdir()
    for name in SOURCES:
        if (source / name).is_dir():
            shutil.copytree(source / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
        else:
            shutil.copy(source / name, copy / name)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "PIP_"))}
    environment.pop("ANNULUS_BUILD_DIR", None)
    path = f"{spare_the_compiler(build_folder, scratch)}:/usr/bin:/bin" if build_folder else "/usr/bin:/bin"
    environment.update(PATH=path, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INDEX="1")
    # Both environments see the packages of the system (NumPy, scikit-learn): nothing is downloaded.
    shell("the guide's installation", commands, copy, environment)
    if build_folder:  # the guide's other way: a finished build is taken as it is
        environment["ANNULUS_BUILD_DIR"] = str(build_folder)
    shell("the wheel", ". venv/bin/activate && pip wheel . --no-build-isolation --no-deps -w ../dist", copy, environment)
    wheels = list((scratch / "dist").glob("annulus-*.whl"))
    check(len(wheels) == 1, f"pip wheel left {wheels}")
    audit = subprocess.run([sys.executable, "-B", source / "scripts" / "check-wheel", wheels[0], str(source), str(scratch)],
                           text=True, capture_output=True, check=False)
    print(audit.stdout, end="", flush=True)
    check(audit.returncode == 0, f"check-wheel: {audit.stderr}")
    shell("the wheel's installation", "python3 -m venv --system-site-packages second && second/bin/pip install --no-deps dist/*.whl",
          scratch, environment)
    for path in copy.iterdir():  # the sources go, the environment that was made in their folder stays
        if path.name != "venv":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def try_example(scratch):
    environment = empty_home(scratch)
    for name in ("sources/venv", "second"):
        folder = scratch / f"photos-of-{pathlib.Path(name).name}"
        folder.mkdir()
        write_photos(folder / "photos")
        python = scratch / name / "bin" / "python3"
        where = run([python, "-c", "import annulus; print(annulus.__file__)"], folder, environment).stdout.strip()
        check(where.startswith(str(scratch / name)), f"annulus was imported from {where}")
        said = run([python, scratch / "example.py"], folder, environment).stdout
        check("'blue'" in said, f"the guide's example printed {said}")
        check((folder / "birds.safetensors").exists(), "the guide's example saved no model")


def main():
    if sys.argv[1] == "--inside":
        return try_example(pathlib.Path(sys.argv[2]))
    source, build_folder = [pathlib.Path(argument).resolve() for argument in sys.argv[1:3]] + [None] * (3 - len(sys.argv))
    with tempfile.TemporaryDirectory(prefix="annulus-python-") as scratch:
        build(source, build_folder, pathlib.Path(scratch), pathlib.Path(scratch) / "example.py")
        sys.exit(run_without(source, ["--inside", scratch]))


if __name__ == "__main__":
    main()
