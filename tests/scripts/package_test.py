"""The parts of packaging that are cheap: what scripts/stage-package makes of an installation, SBOMs, licences, scripts of the package.

scripts/check-package builds the real packages and uses them in an empty Debian.
"""
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = '#include <stdio.h>\nint main(void) { return puts("annulus 1.2.3") < 0; }\n'


def pinned_runtime():
    """The line of scripts/tarballs.txt, as the mark of a download."""
    text = (PROJECT / "scripts" / "tarballs.txt").read_text(encoding="utf-8")
    return re.search(r"^onnxruntime +(\S+) +(\S+)", text, flags=re.M).groups()


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


@unittest.skipUnless(shutil.which("gcc") and shutil.which("strip"), "no compiler")
class StagePackage(Scratch):
    def setUp(self):
        super().setUp()
        self.write("build/main.c", PROGRAM)
        build, root = self.folder / "build", self.folder / "root" / "usr"
        (build / "python" / "annulus").mkdir(parents=True)
        for folder in ("bin", "lib/annulus", "share/man/man1", "share/annulus/systemd", "share/doc/annulus", "share/zsh/site-functions"):
            (root / folder).mkdir(parents=True)
        self.compile("main.c", build / "annulus")
        self.compile("main.c", build / "python" / "annulus" / "_core.cpython-311-x86_64-linux-gnu.so", "-shared", "-fPIC")
        shutil.copy(build / "annulus", root / "bin")
        shutil.copy(next((build / "python" / "annulus").iterdir()), root / "lib" / "annulus" / "annulus_mpi.so")
        subprocess.run(["gcc", "-c", build / "main.c", "-o", build / "main.o"], check=True)
        subprocess.run(["ar", "rc", root / "lib" / "libannulus.a", build / "main.o"], check=True)
        self.write("build/CMakeCache.txt", "ANNULUS_PACKAGE_CONTACT:STRING=Somebody <a@b.example>\n")
        self.write("root/usr/share/man/man1/annulus.1", ".TH ANNULUS 1\n")
        self.write("root/usr/share/annulus/systemd/annulus.service", "[Service]\nExecStart=/tmp/x/usr/bin/annulus serve $ANNULUS_MODELS\n")
        self.write("root/usr/share/zsh/site-functions/_annulus", "#compdef annulus\n")
        for name in ("LICENSE", "CHANGELOG.md"):
            shutil.copy(PROJECT / name, root / "share" / "doc" / "annulus")
        name, checksum = pinned_runtime()
        self.write("cache/onnxruntime/libonnxruntime.so.1", "the runtime")
        self.write("cache/onnxruntime/.tarball", f"{name} {checksum}\n")

    def compile(self, source, target, *options):
        subprocess.run(["gcc", "-g", self.folder / "build" / source, "-o", target, *options], check=True)

    def stage(self, *words):
        return subprocess.run([PROJECT / "scripts" / "stage-package", *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "ANNULUS_CACHE": str(self.folder / "cache"), "SOURCE_DATE_EPOCH": "86400"})

    def test_a_debian_package_has_its_parts_in_their_places(self):
        done = self.stage("deb", self.folder / "build", self.folder / "root")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        root = self.folder / "root"
        self.assertEqual((root / "usr/lib/annulus/libonnxruntime.so.1").read_text(encoding="utf-8"), "the runtime")
        self.assertIn("ExecStart=/usr/bin/annulus serve $ANNULUS_MODELS\n", (root / "lib/systemd/system/annulus.service").read_text(encoding="utf-8"))
        modules = root / "usr/lib/python3/dist-packages"
        self.assertTrue((modules / "annulus" / "__init__.py").is_file())
        self.assertTrue((modules / "annulus" / "libonnxruntime.so.1").samefile(root / "usr/lib/annulus/libonnxruntime.so.1"))
        self.assertTrue((modules / "annulus" / "share" / "annulus").samefile(root / "usr/share/annulus"))
        self.assertIn("\nVersion: 1.2.3\n", (modules / "annulus-1.2.3.egg-info").read_text(encoding="utf-8"))
        documents = root / "usr/share/doc/annulus"
        self.assertEqual(sorted(file.name for file in documents.iterdir()), ["changelog.Debian.gz", "changelog.gz", "copyright"])
        changes = gzip.decompress((documents / "changelog.Debian.gz").read_bytes()).decode()
        self.assertRegex(changes, r"^annulus \(1\.2\.3\) unstable; .*\n\n  \* [^\n]+\n\n -- Somebody <a@b\.example>  Fri, 02 Jan 1970 00:00:00 \+0000\n$")
        self.assertEqual(gzip.decompress((root / "usr/share/man/man1/annulus.1.gz").read_bytes()), b".TH ANNULUS 1\n")
        sections = subprocess.run(["readelf", "-S", "-W", root / "usr/bin/annulus"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn(".debug_info", sections)

    def test_files_may_be_read_by_all_and_have_the_time_of_the_commit(self):
        self.stage("deb", self.folder / "build", self.folder / "root")
        seen = 0
        for file in (self.folder / "root").rglob("*"):
            state = file.lstat()
            self.assertEqual(state.st_mtime, 86400, file)
            if not file.is_symlink():
                self.assertEqual(stat.S_IMODE(state.st_mode) & 0o066, 0o044, file)
            seen += 1
        self.assertGreater(seen, 20)

    def test_it_depends_on_its_libraries_and_on_the_python_of_its_module(self):
        if not shutil.which("dpkg-shlibdeps"):
            self.skipTest("no dpkg-shlibdeps")
        done = self.stage("depends", self.folder / "build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^libc6 \(>= [0-9.]+\), python3 \(>= 3\.11\), python3 \(<< 3\.12\), python3-numpy, python3-sklearn\n$")

    def test_a_build_without_the_module_is_an_error(self):
        shutil.rmtree(self.folder / "build" / "python")
        done = self.stage("depends", self.folder / "build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("build the target annulus_python", done.stderr)


class BuildSbom(Scratch):
    def build(self, file):
        done = subprocess.run([sys.executable, "-B", PROJECT / "scripts" / "build-sbom", file], capture_output=True, text=True, check=False,
                              env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(file.with_name(file.name + ".spdx.json").read_text(encoding="utf-8"))

    def related(self, document, kind):
        """What the package of the document contains or depends on, by name."""
        names = {entry["SPDXID"]: entry.get("name") for entry in document["packages"]}
        return {names[each["relatedSpdxElement"]] for each in document["relationships"]
                if each["relationshipType"] == kind and each["relatedSpdxElement"] in names}

    def test_a_tarball_with_what_it_carries(self):
        for path in ("bin/annulus", "lib/annulus/libonnxruntime.so.1", "share/doc/annulus/licences-of-libraries/libc6"):
            self.write(f"annulus-1/{path}", path)
        package = self.folder / "annulus-1.tar.gz"
        with tarfile.open(package, "w:gz") as archive:
            archive.add(self.folder / "annulus-1", "annulus-1")
        document = self.build(package)
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        self.assertEqual(document["creationInfo"]["created"], "1970-01-02T00:00:00Z")
        self.assertEqual(self.related(document, "CONTAINS"), {"onnxruntime", "preact", "libc6"})
        program = next(file for file in document["files"] if file["fileName"] == "./annulus-1/bin/annulus")
        self.assertIn({"algorithm": "SHA256", "checksumValue": hashlib.sha256(b"bin/annulus").hexdigest()}, program["checksums"])
        runtime = next(each for each in document["packages"] if each["name"] == "onnxruntime")
        self.assertEqual(runtime["checksums"][0]["checksumValue"], pinned_runtime()[1])
        self.assertEqual(document["packages"][0]["checksums"][0]["checksumValue"], hashlib.sha256(package.read_bytes()).hexdigest())
        elements = {entry["SPDXID"] for entry in [*document["packages"], *document["files"], document]}
        for relation in document["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, elements)

    def test_a_wheel_with_what_it_needs(self):
        package = self.folder / "annulus-1-py3-none-any.whl"
        with zipfile.ZipFile(package, "w") as archive:
            archive.writestr("annulus/__init__.py", "")
            archive.writestr("annulus-1.dist-info/METADATA", "Name: annulus\nRequires-Dist: numpy\nRequires-Dist: scikit-learn>=1.2\n"
                                                              "Requires-Dist: matplotlib; extra == 'plots'\n")
        document = self.build(package)
        self.assertEqual(self.related(document, "DEPENDS_ON"), {"numpy", "scikit-learn"})
        self.assertEqual(self.related(document, "CONTAINS"), set())

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
    def test_a_debian_package_with_what_it_depends_on(self):
        self.write("root/usr/bin/annulus", "program")
        self.write("root/DEBIAN/control", "Package: annulus\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.example>\nDescription: a\n"
                                          "Depends: libc6 (>= 2.36), surely-not-there | other, python3 (<< 3.12), python3 (>= 3.11)\n")
        package = self.folder / "annulus_1_all.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", self.folder / "root", package], check=True, capture_output=True)
        document = self.build(package)
        self.assertEqual(self.related(document, "DEPENDS_ON"), {"libc6", "surely-not-there", "python3"})
        self.assertEqual(self.related(document, "CONTAINS"), {"preact"})


class Notes(unittest.TestCase):
    def test_every_licence_of_the_copyright_file_has_its_text(self):
        text = (PROJECT / "share" / "debian" / "copyright").read_text(encoding="utf-8")
        stanzas = [dict(re.findall(r"^([A-Z][A-Za-z-]*): *(.*)$", stanza, flags=re.M)) for stanza in text.split("\n\n")]
        self.assertTrue(stanzas[0]["Format"].startswith("https://www.debian.org/doc/packaging-manuals/copyright-format/1.0"))
        used = {stanza["License"] for stanza in stanzas if "Files" in stanza}
        explained = {stanza["License"] for stanza in stanzas if "License" in stanza and "Files" not in stanza}
        self.assertEqual(used, explained)
        self.assertGreaterEqual(len(used), 2)

    def test_scripts_of_the_package_are_sound(self):
        for name in ("postinst", "prerm", "postrm"):
            script = PROJECT / "share" / "debian" / name
            subprocess.run(["sh", "-n", script], check=True)
            self.assertTrue(os.access(script, os.X_OK), name)
            self.assertIn("\nset -e\n", script.read_text(encoding="utf-8"))

    def test_cpack_reads_what_the_scripts_are_named(self):
        text = (PROJECT / "cmake" / "package.cmake").read_text(encoding="utf-8")
        for name in re.findall(r"(?:share/debian|cmake)/[\w.]+", text):
            self.assertTrue((PROJECT / name).is_file(), name)

    def test_citation_and_changelog_have_the_version_of_the_build(self):
        version = re.search(r"project\(annulus VERSION ([0-9.]+)", (PROJECT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
        citation = (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
        self.assertIn(f"\nversion: {version}\n", citation)
        self.assertIn("\nlicense: Apache-2.0\n", citation)


if __name__ == "__main__":
    unittest.main()
