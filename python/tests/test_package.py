"""The package as it is installed, its types, and that memory is given back."""
import ast
import doctest
import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import annulus
from annulus import _core
from conftest import clusters

ROOT = pathlib.Path(__file__).resolve().parents[2]


def stub(name):
    return ast.parse((ROOT / "python" / "annulus" / name).read_text(encoding="utf-8")).body


def members(node):
    """Names that a class of a stub has."""
    names = set()
    for each in node.body:
        if isinstance(each, ast.FunctionDef):
            names.add(each.name)
        elif isinstance(each, ast.AnnAssign):
            names.add(each.target.id)
    return names


def test_the_stub_of_the_module_has_what_the_module_has():
    nodes = {node.name: node for node in stub("_core.pyi") if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert set(nodes) == public
    for name, node in nodes.items():
        if isinstance(node, ast.ClassDef) and not issubclass(getattr(_core, name), Exception):
            own = {each for each in vars(getattr(_core, name)) if not each.startswith("_")}
            assert {each for each in members(node) if not each.startswith("_")} == own, name


def test_the_stub_of_the_package_has_its_parameters():
    nodes = {node.name: node for node in stub("__init__.pyi") if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(annulus.__all__) - {"BASELINES", "__version__"} <= set(nodes)

    def compare(node, function):
        arguments = node.args
        names = [each.arg for each in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        assert names == list(inspect.signature(function).parameters), node.name

    for name in set(annulus.__all__) - {"BASELINES", "__version__"}:
        node, thing = nodes[name], getattr(annulus, name)
        if isinstance(node, ast.FunctionDef):
            compare(node, thing)
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and inspect.isfunction(inspect.getattr_static(thing, method.name)):
                compare(method, getattr(thing, method.name))


def test_pip_installs_it(tmp_path):
    """From a copy of what pip needs, with the module of this build; pip itself works offline."""
    pytest.importorskip("pip")
    pytest.importorskip("wheel")
    source = tmp_path / "source"
    shutil.copytree(ROOT / "python" / "annulus", source / "python" / "annulus", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "CMakeLists.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    (source / "scripts").mkdir()
    for name in ("fetch", "tarballs.txt"):
        shutil.copy(ROOT / "scripts" / name, source / "scripts" / name)
    build = pathlib.Path(_core.__file__).resolve().parents[2]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")}
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--target",
                           str(tmp_path / "site"), str(source)], env={**environment, "ANNULUS_BUILD_DIR": str(build)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {"py.typed", "__init__.pyi", "_core.pyi"} <= {path.name for path in (tmp_path / "site" / "annulus").iterdir()}
    share = tmp_path / "site" / "annulus" / "share" / "annulus"
    assert os.access(share / "fetch", os.X_OK) and (share / "tarballs.txt").is_file(), "what ONNX Runtime is downloaded by"
    shutil.rmtree(source)
    code = "import annulus; print(annulus.__version__, annulus.__file__)"
    kept = {name: value for name, value in os.environ.items() if name in ("LD_PRELOAD", "ASAN_OPTIONS")}
    said = subprocess.run([sys.executable, "-c", code], env={**environment, **kept, "PYTHONPATH": str(tmp_path / "site")}, cwd=tmp_path,
                          capture_output=True, text=True, check=True).stdout
    assert said.split() == [annulus.__version__, str(tmp_path / "site" / "annulus" / "__init__.py")]


def resident_kib():
    for line in pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


@pytest.mark.skipif("ANNULUS_SANITIZED" in os.environ, reason="the sanitizer keeps freed memory")
def test_fits_give_their_memory_back():
    # In a process of its own that has no huge pages, of which two would look like a leak.
    code = ("import ctypes; ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE\n"
            "from test_package import growth_of_fits; print(growth_of_fits())")
    done = subprocess.run([sys.executable, "-c", code], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # A model of 200 KiB and rows of 100 KiB: losing one a fit would be 6 MiB and more.
    assert int(done.stdout) < 3000


def growth_of_fits():
    """How many KiB more are resident after 60 fits, once 40 have warmed everything up."""
    X, y = clusters(classes=20, shots=5, dimension=256)

    def fit():
        model = annulus.FewShotClassifier(epsilon=0.5, epochs=2, calibrate=False).fit(X, y)
        model.predict_proba(X)
        model.explain(X[:3])

    for _ in range(40):
        fit()
    before = resident_kib()
    for _ in range(60):
        fit()
    return resident_kib() - before


def test_every_public_name_has_an_example_that_runs():
    runner = doctest.DocTestRunner()
    for name in annulus.__all__:
        named = getattr(annulus, name)
        if not callable(named):
            continue  # the version and the table of methods
        found = doctest.DocTestParser().get_doctest(named.__doc__ or "", {}, name, None, None)
        assert found.examples, f"{name} has no example"
        assert runner.run(found).failed == 0, f"the example of {name} fails"


def test_arrays_are_looked_at_not_copied():
    X, y = clusters(classes=4, dimension=64)
    model = annulus.FewShotClassifier(epsilon=0.5, epochs=2, calibrate=False).fit(X, y)
    before = X.copy()
    fractions = model.predict_proba(X)
    assert np.array_equal(X, before)
    assert fractions.base is not None and not fractions.flags.owndata  # the library's memory itself
