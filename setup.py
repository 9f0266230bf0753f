"""Builds the module annulus._core by CMake; the rest of the package's description is in pyproject.toml.

ANNULUS_BUILD_DIR names a build folder whose module is taken as it is, instead of being built.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


class BuildByCMake(build_ext):
    """Copies the module from a CMake build to where setuptools expects it."""

    def build_extension(self, ext):
        given = os.environ.get("ANNULUS_BUILD_DIR")
        folder = pathlib.Path(given or self.build_temp).resolve()
        if not given:
            self.build(folder)
        modules = sorted((folder / "python" / "annulus").glob("_core*.so"))
        if len(modules) != 1:
            sys.exit(f"setup.py: expected one module _core under {folder}/python/annulus, found {len(modules)}")
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(modules[0], target)
        # What the module downloads by, beside it.
        share = target.parent / "share" / "annulus"
        share.mkdir(parents=True, exist_ok=True)
        for name in ("fetch", "tarballs.txt"):
            shutil.copy(ROOT / "scripts" / name, share / name)

    def build(self, folder):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
                        "-DANNULUS_BUILD_PYTHON=ON", "-DANNULUS_BUILD_CLI=OFF", "-DANNULUS_BUILD_TESTS=OFF", "-DANNULUS_WARNINGS_AS_ERRORS=OFF",
                        f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "annulus_python", "--parallel", str(os.cpu_count())], check=True)


VERSION = re.search(r"project\(annulus VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)

setup(
    version=VERSION,
    package_dir={"": "python"},
    packages=["annulus"],
    package_data={"annulus": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("annulus._core", sources=[])],
    cmdclass={"build_ext": BuildByCMake},
    zip_safe=False,
)
