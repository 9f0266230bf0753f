"""Tests scripts/check-docs on small documents: examples that fail, links and names that lead nowhere must be reported."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

# A program with two subcommands, as far as its help goes.
ANNULUS = """#!/bin/sh
case "$1" in
  --help) printf 'Usage: annulus\\n\\nSubcommands:\\n  fit          Learn\\n  predict      Name classes\\n\\nMore:\\n  none\\n' ;;
  fit) echo '  --shots K   Examples per class' ;;
  predict) echo '  --top N     Classes to list' ;;
  *) exit 1 ;;
esac
"""
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-docs"


def check(mode, files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        program = pathlib.Path(folder, "bin", "greet")
        program.parent.mkdir()
        program.write_text("#!/bin/sh\necho hello \"$1\"\n", encoding="utf-8")
        program.chmod(0o755)
        annulus = pathlib.Path(folder, "bin", "annulus")
        annulus.write_text(ANNULUS, encoding="utf-8")
        annulus.chmod(0o755)
        arguments = {"links": ["links", folder], "names": ["names", str(annulus), folder],
                     "run": ["run", f"{folder}/README.md", f"{folder}/bin"]}[mode]
        run = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


class RunExamples(unittest.TestCase):
    def test_blocks_share_one_folder_and_find_the_program(self):
        code, output = check("run", {"README.md": "```sh\ngreet you > said.txt\n```\n\n```sh\ngrep -q you said.txt\n```\n"
                                                  "```text\nhello you\n```\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("2 blocks run, 1 shown", output)

    def test_a_failing_block_is_reported_with_its_line(self):
        code, output = check("run", {"README.md": "# Title\n\n```sh\nfalse\ntrue\n```\n"})
        self.assertEqual(code, 1)
        self.assertIn("README.md:3: exit code 1", output)

    def test_directives(self):
        code, output = check("run", {"README.md": "<!-- check-docs first: touch data -->\n```sh\ntest -e data\n```\n"
                                                  "<!-- check-docs instead: touch short -->\n```sh\nsleep 1000\n```\n"
                                                  "```sh\ntest -e short\n```\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("3 blocks run", output)

    def test_misspelt_directives_unknown_languages_and_open_blocks_are_errors(self):
        for text in ("<!-- check-docs insted: true -->\n```sh\ntrue\n```\n", "```bash\ntrue\n```\n", "```\ntrue\n```\n",
                     "```sh\ntrue\n", "<!-- check-docs first: true -->\nwords\n```sh\ntrue\n```\n"):
            code, output = check("run", {"README.md": text})
            self.assertEqual(code, 1, text + output)

    def test_a_whole_program_needs_a_prefix(self):
        code, output = check("run", {"README.md": "```cpp\nint main() {}\n```\n"})
        self.assertEqual(code, 1)
        self.assertIn("no PREFIX", output)


class Links(unittest.TestCase):
    def test_good_links_pass(self):
        code, output = check("links", {"README.md": "[a](docs/a.md) [b](docs/a.md#the-second-part) [c](https://example.org)\n",
                                       "docs/a.md": "# A\n\n## The second part\n[up](../README.md)\n```sh\n[x](y)\n```\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("3 links, 0 broken", output)

    def test_broken_links_are_reported(self):
        code, output = check("links", {"README.md": "[a](docs/none.md) [b](docs/a.md#nowhere)\n", "docs/a.md": "# A\n"})
        self.assertEqual(code, 1)
        self.assertIn("no such file: docs/none.md", output)
        self.assertIn("no such heading: docs/a.md#nowhere", output)


FILES = {"annulus/learn/head.h": "", "annulus/learn/head.cpp": "", "scripts/tool": "parser.add_argument('--depth')\n"}


class Names(unittest.TestCase):
    def faults(self, text, document="docs/a.md"):
        code, output = check("names", {**FILES, document: text})
        self.assertIn(code, (0, 1), output)
        self.assertEqual(code == 0, "0 names or lines" in output, output)
        return [line for line in output.splitlines() if not line.startswith("check-docs:")]

    def test_good_names_pass(self):
        self.assertEqual(self.faults(
            "`annulus/learn/head.h`, `annulus/learn/head.{h,cpp}`, `learn/*.h`, `head.cpp`,\n`scripts/tool --depth 2`, `learn/`,\n"
            "`annulus/learn/<name>.h`, `photos/cat.jpg`, `share/annulus/fetch`, `--top`, `annulus fit\n--shots 5`,\n"
            "`cmake --preset dev`, `--no-` before a flag.\n\n"
            "```console\n$ annulus fit x --shots 5 | tool --depth 1   # not --this\n--nothing of a prompt\n```\n"), [])

    def test_files_that_do_not_exist_are_reported_with_their_line(self):
        self.assertEqual(self.faults("# A\n\nSee `annulus/learn/tail.h`\nand `scripts/none`.\n"),
                         ["docs/a.md:3: no such file: annulus/learn/tail.h", "docs/a.md:4: no such file: scripts/none"])
        for name in ("learn/tail.h", "tail.cpp", "annulus/learn/*.txt", "annulus/learn/{head,tail}.h", "docs/none/"):
            self.assertEqual(len(self.faults(f"`{name}`\n")), 1, name)

    def test_flags_that_no_program_has_are_reported(self):
        self.assertEqual(self.faults("`--colour`\n"), ["docs/a.md:1: no program has the flag --colour"])
        self.assertEqual(self.faults("| a | `--colour` |\n", "README.md"), ["README.md:1: no program has the flag --colour"])

    def test_flags_of_another_subcommand_are_reported(self):
        self.assertEqual(self.faults("words\n`annulus predict m --shots 5`\n"), ["docs/a.md:2: annulus predict has no flag --shots"])
        self.assertEqual(self.faults("`annulus learn x`\n"), ["docs/a.md:1: no such subcommand: annulus learn"])

    def test_commands_of_console_blocks_are_checked(self):
        self.assertEqual(self.faults("```console\n$ annulus fit a \\\n  --top 3\n$ mpirun --never annulus fit a\n```\n"),
                         ["docs/a.md:3: annulus fit has no flag --top", "docs/a.md:4: no program has the flag --never"])

    def test_long_lines_are_reported(self):
        wide = "word " * 20 + "w"
        self.assertEqual(self.faults(wide + "\n"), ["docs/a.md:1: 101 columns, at most 100"])
        self.assertEqual(self.faults("- " + wide + "\n", "CONTRIBUTING.md"), ["CONTRIBUTING.md:1: 103 columns, at most 100"])
        self.assertEqual(self.faults(wide + "\n", "README.md"), ["README.md:1: 101 columns, at most 100"])

    def test_tables_blocks_headings_and_link_targets_may_be_long(self):
        wide = "word " * 30
        self.assertEqual(self.faults(f"# {wide}\n\n| {wide} |\n\n```text\n{wide}\n```\n[a link]({'x' * 100}) and words\n"), [])

    def test_documents_that_sources_name_must_exist(self):
        code, output = check("names", {**FILES, "docs/a.md": "# A\n", "annulus/learn/a.cpp": "// docs/a.md, see\n// docs/old.md.\n"})
        self.assertEqual(code, 1)
        self.assertEqual(output.splitlines()[0], "annulus/learn/a.cpp:2: no such document: docs/old.md")
        self.assertIn("1 names or lines", output)

    def test_names_of_tables_must_be_in_the_file_beside_them(self):
        table = ("Files without a folder are in\n`annulus/learn/`.\n\n| Step | Function | File |\n|---|---|---|\n"
                 "| 1 | `Steps::run` | `steps.cpp` |\n| 2 | `Steps::walk` | `annulus/learn/steps.cpp` |\n| `none` | no code | |\n")
        steps = {"annulus/learn/steps.cpp": "// Runs.\nvoid Steps::run() {\n  while (left >\n         right) ;\n}\n"}
        _, output = check("names", {**FILES, **steps, "docs/a.md": table})
        self.assertEqual(output.splitlines()[:-1], ["docs/a.md:7: walk is not in annulus/learn/steps.cpp"])
        quotes = "Files without a folder are in `annulus/learn/`.\n\n| Line | `Steps::run` |\n|---|---|\n| a | `while (left > right)` |\n"
        _, output = check("names", {**FILES, **steps, "docs/a.md": quotes + "| b | `while (left < right)` |\n"})
        self.assertEqual(output.splitlines()[:-1], ["docs/a.md:6: no such line in Steps::run: while (left < right)"])

    def test_the_history_may_name_what_is_gone(self):
        self.assertEqual(self.faults("- `--colour` and `annulus/learn/tail.h` are gone.\n", "CHANGELOG.md"), [])


unittest.main()
