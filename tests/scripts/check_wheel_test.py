"""scripts/check-wheel finds what would keep a wheel from working elsewhere."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-wheel"


class CheckWheelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def object(self, *options):
        """A shared object, linked with these options."""
        (self.folder / "a.c").write_text("#include <math.h>\ndouble f(double x) { return cos(x); }\n", encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "a.c", "-o", "a.so", *options, "-lm"], cwd=self.folder, check=True)
        return (self.folder / "a.so").read_bytes()

    def check(self, files, recorded=None):
        wheel = self.folder / "annulus-1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
            record = "annulus-1.dist-info/RECORD"
            names = [*files, record] if recorded is None else recorded
            archive.writestr(record, "".join(f"{name},,\n" for name in names))
        return subprocess.run([sys.executable, "-B", CHECK, wheel, "/some/build"], capture_output=True, text=True, check=False)

    def test_a_good_wheel_has_no_faults(self):
        done = self.check({"annulus/__init__.py": "pass\n", "annulus/_core.so": self.object()})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("0 faults", done.stdout)

    def test_a_build_folder_in_a_file_is_a_fault(self):
        done = self.check({"annulus/share/fetch": "cd /some/build/x\n"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("annulus/share/fetch: names /some/build", done.stdout)

    def test_a_search_path_of_libraries_is_a_fault(self):
        done = self.check({"annulus/_core.so": self.object("-Wl,-rpath,/opt/lib")})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"annulus/_core\.so: R(UN)?PATH /opt/lib")

    def test_a_library_that_is_not_of_the_system_is_a_fault(self):
        (self.folder / "b.c").write_text("int g(void) { return 1; }\n", encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "b.c", "-o", "libsurely-not-there.so"], cwd=self.folder, check=True)
        done = self.check({"annulus/_core.so": self.object("-L.", "-Wl,--no-as-needed", "-lsurely-not-there")})
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs libsurely-not-there.so", done.stdout)

    def test_files_outside_of_the_record_and_compiled_python_are_faults(self):
        done = self.check({"annulus/x.pyc": b"\0"}, recorded=["annulus-1.dist-info/RECORD"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("annulus/x.pyc: not in RECORD", done.stdout)
        self.assertIn("compiled Python", done.stdout)


if __name__ == "__main__":
    unittest.main()
