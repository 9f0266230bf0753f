#!/usr/bin/env python3
"""report_page_test.py ANNULUS: reports look right to scripts/view-page, and pages that do not are told of."""
import pathlib
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
REPORTS = PROJECT / "tests" / "data" / "reports"
SKIPPED = 77
LONG_NAME = "a_name_without_any_space_" * 8

# What is wrong with a page, and the page.
FAULTY = [
    ("pixels wide", "<h1>a</h1><div style='width:2000px'>wide</div>"),
    ("console", "<h1>a</h1><script>console.error('oh')</script>"),
    ("script error", "<h1>a</h1><script>throw new Error('oh')</script>"),
    ("asked for", "<h1>a</h1><img src='http://127.0.0.1:9/x.png' alt='x'>"),
    ("without a description", "<h1>a</h1><img src='data:,'>"),
    ("pixels high", "<h1>a</h1><svg viewBox='0 0 4000 100' width='300'><text x='9' y='50' font-size='12'>tiny</text></svg>"),
    ("leaves its plot", "<h1>a</h1><svg viewBox='0 0 300 100' width='300'><text x='290' y='50' font-size='14'>outside</text></svg>"),
    ("no heading", "<p>a</p>"),
    ("light text on paper", "<h1>a</h1><style>body{color:#ddd}</style>"),
]


def view(page):
    run = subprocess.run([sys.executable, "-B", PROJECT / "scripts" / "view-page", page], capture_output=True, text=True, check=False)
    if run.returncode == SKIPPED:
        print(run.stdout, end="")
        sys.exit(SKIPPED)
    return run.returncode, run.stdout + run.stderr


def documents(folder):
    """Results to report on: all keys, few keys, names that are hard on a layout, test labels used."""
    text = (REPORTS / "many_way.json").read_text(encoding="utf-8")
    hard = folder / "hard.json"
    hard.write_text(text.replace('"simpleshot"', f'"{LONG_NAME}"').replace("class 06", LONG_NAME).replace('"test_labels_used":false', '"test_labels_used":true'),
                    encoding="utf-8")
    return [[REPORTS / "many_way.json"], [REPORTS / "older.json"], [REPORTS / "episodes.json", hard]]


def main():
    failures = []
    with tempfile.TemporaryDirectory(prefix="annulus-page-test-") as name:
        folder = pathlib.Path(name)
        for what, body in FAULTY:
            page = folder / "faulty.html"
            page.write_text(f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><link rel='icon' href='data:,'><title>t</title><body>{body}</body></html>",
                            encoding="utf-8")
            code, output = view(page)
            if code != 1 or what not in output:
                failures.append(f"a page with '{what}' gave {code}: {output}")
        for number, sources in enumerate(documents(folder)):
            out = folder / str(number)
            subprocess.run([sys.argv[1], "report", "-q", *sources, "-o", out], check=True)
            code, output = view(out / "report.html")
            if code != 0:
                failures.append(f"{', '.join(source.name for source in sources)}: {output}")
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"report_page_test: {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
