"""build_manual_test.py PROGRAM: scripts/build-manual with a program of three options, and with PROGRAM, whose pages must be clean."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "build-manual"
NOTES = """# The program

One program.

<!-- subcommands -->

## cook

Takes `an hour`, see [rice](#rice); it's **hot**.

- `raw`: not
  at all.

```sh
annulus cook --kind 'raw' .hidden
```

## Exit codes

Errors are sentences.

| code | meaning |
|---|---|
| 0 | success |
| 3 | burnt by `--heat` |
"""


def option(name, description, **facts):
    return {"names": [name], "type": "", "choices": [], "default": "", "description": description, "group": "Options",
            "required": False, "takes_several": False, **facts}


def table():
    heat = option("--heat", "How hot", type="N", example="7", default="[1,2]", group="Stove options (each overrides the stove)")
    kind = option("--kind", ".5 or so", choices=["raw", "hot"], required=True)
    cook = {"name": "cook", "description": "Cook a meal", "example": "  annulus cook rice\n",
            "arguments": [option("DATA", "What to cook", required=True, takes_several=True)], "options": [heat, kind]}
    serve = {"name": "cook slowly", "description": "Cook a meal slowly", "example": "", "arguments": [option("TIME", "Hours")], "options": []}
    return {"description": "Cooks by a book.", "options": [option("--help", "Print this")], "subcommands": [cook, serve]}


def shown(page, width=200):
    """A page as a terminal shows it, without bold and italic."""
    text = subprocess.run(["groff", "-man", "-Tascii", "-P-c", f"-rLL={width}n", page], capture_output=True, text=True, check=True).stdout
    return re.sub(".\x08", "", text)


class BuildManual(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for folder in ("scripts", "docs/reference"):
            (self.root / folder).mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "scripts")
        (self.root / "docs/reference/cli.md.in").write_text(NOTES, encoding="utf-8")
        program = self.root / "annulus"
        program.write_text(f"#!/bin/sh\n[ \"$1\" != --version ] || exec echo annulus 1.2.3\ncat <<'END'\n{json.dumps(table())}\nEND\n",
                           encoding="utf-8")
        program.chmod(0o755)

    def build(self, script, program):
        """The pages by name; those of PROGRAM have the date of the epoch's second day."""
        pages = self.root / "pages"
        run = subprocess.run([sys.executable, "-B", script, program, pages], capture_output=True, text=True, check=False,
                             env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
        self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ""))
        return {page.stem: page for page in pages.iterdir()}

    def assert_clean(self, page):
        commands = [["groff", "-man", "-ww", "-Tutf8", "-z", page]]
        if shutil.which("mandoc"):  # scripts/packages-packaging.txt has it
            commands.append(["mandoc", "-T", "lint", "-W", "warning", page])
        for command in commands:
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual((run.stdout + run.stderr).strip(), "", page.name)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_a_page_has_all_that_the_program_says(self):
        pages = self.build(self.root / "scripts" / "build-manual", self.root / "annulus")
        self.assertEqual(sorted(pages), ["annulus", "annulus-cook", "annulus-cook-slowly"])
        for page in pages.values():
            self.assert_clean(page)
        text = shown(pages["annulus-cook"])
        for part in ("annulus-cook - cook a meal\n", "annulus cook [OPTIONS] DATA...\n", "Takes an hour, see rice; it's hot.",
                     "raw: not at all.", "annulus cook --kind 'raw' .hidden\n", "       DATA   What to cook. Required.",
                     "       --kind .5 or so. One of raw, hot. Required.", "   Stove options (each overrides the stove)\n",
                     "       --heat N\n              How hot. Default: 1,2. Example: --heat 7.", "       3      burnt by --heat", "annulus(1)", "1970-01-02",
                     "Annulus 1.2.3", "       annulus cook rice\n"):
            self.assertIn(part, text.replace("           annulus", "       annulus"))
        self.assertLess(text.index("--kind .5"), text.index("--heat N"))
        main = shown(pages["annulus"])
        for part in ("annulus - cooks by a book", "annulus-cook-slowly(1)", "--help Print this."):
            self.assertIn(part, main)
        self.assertIn("annulus cook slowly [OPTIONS] [TIME]", shown(pages["annulus-cook-slowly"]))

    def test_a_program_that_fails_is_an_error(self):
        run = subprocess.run([sys.executable, "-B", SCRIPT, "/bin/false", self.root / "pages"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("/bin/false option-table failed", run.stderr)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_the_pages_of_the_program_are_clean_and_whole(self):
        pages = self.build(SCRIPT, PROGRAM)
        run = subprocess.run([PROGRAM, "option-table"], capture_output=True, text=True, check=True)
        for subcommand in json.loads(run.stdout)["subcommands"]:
            page = pages[f"annulus-{subcommand['name'].replace(' ', '-')}"]
            self.assert_clean(page)
            text = shown(page)
            for each in subcommand["options"]:
                self.assertIn(each["names"][-1], text)
        self.assert_clean(pages["annulus"])


PROGRAM = sys.argv.pop(1)
unittest.main()
