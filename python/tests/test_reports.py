"""evaluate, episodes and audit: the numbers of the command line, as objects."""
import json
import subprocess

import numpy as np
import pytest

import annulus
from conftest import clusters


@pytest.fixture
def features(tmp_path):
    X, y = clusters(classes=6, shots=20, spread=1.0)
    np.savez(tmp_path / "features.npz", features=X, labels=y)
    return tmp_path / "features.npz"


def command(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without_times(results):
    return [{name: value for name, value in result.items() if name not in ("runs", "seconds", "search")} for result in results]


def test_evaluate_is_that_of_the_command_line(features, program):
    options = {"shots": [1, 3], "subsets": 2, "methods": ["ncm", "ibm2"]}
    expected = command(program, "evaluate", features, "--shots", "1,3", "--subsets", 2, "--methods", "ncm,ibm2", "--seed", 2, "-q", "--json")
    X, y = annulus.read_features(features)
    for report in (annulus.evaluate(features, random_state=2, **options), annulus.evaluate(X, y, random_state=2, **options)):
        assert without_times(report.to_dict()["results"]) == without_times(expected["results"])
        assert report.to_dict()["metadata"]["checksums"] == expected["metadata"]["checksums"]
    assert report.accuracy("ncm", 3) == expected["results"][2]["accuracy_mean"]
    assert "ibm2" in str(report)


def test_evaluate_takes_test_rows_of_their_own():
    X, y = clusters(classes=4, shots=10)
    split = annulus.evaluate(X[:20], y[:20], X_test=X[20:], y_test=y[20:], shots=[0], subsets=1, methods=["ncm"])
    marked = annulus.evaluate(X, y, train=np.arange(40) < 20, shots=[0], subsets=1, methods=["ncm"])
    assert split.accuracy("ncm", 0) == marked.accuracy("ncm", 0)


def test_episodes_are_those_of_the_command_line(features, program):
    expected = command(program, "episodes", features, "--shots", 1, "--episodes", 20, "--seeds", 1, "--queries", 5, "--methods", "ncm,baseline",
                       "-q", "--json")
    report = annulus.episodes(features, shots=[1], n_episodes=20, seeds=1, queries=5, methods=["ncm", "baseline"])
    assert without_times(report.results) == without_times(expected["results"])


def test_transductive_methods_are_marked_and_run_by_name_alone(features, program):
    expected = command(program, "episodes", features, "--shots", 1, "--episodes", 10, "--seeds", 1, "--queries", 5, "--methods", "ncm,pt-map",
                       "--query-balance", "dirichlet:1", "-q", "--json")
    report = annulus.episodes(features, shots=[1], n_episodes=10, seeds=1, queries=5, methods=["ncm", "pt-map"], query_balance="dirichlet:1")
    assert without_times(report.results) == without_times(expected["results"])
    assert [result["transductive"] for result in report.results] == [False, True]
    assert "pt-map (transductive)" in str(report)
    several = annulus.evaluate(features, shots=[1], subsets=1, methods=["ncm", "bd-cspn"], query_balance="balanced")
    assert several.to_dict()["query_balance"] == "balanced"
    with pytest.raises(ValueError, match="expected query_balance to be balanced or dirichlet:A"):
        annulus.evaluate(features, query_balance="even")


def test_audit_is_that_of_the_command_line(features, program):
    expected = command(program, "audit", features, "-q", "--json")
    report = annulus.audit(features)
    told = report.to_dict()
    assert {name: told[name] for name in expected if name in told and name != "findings"} == {
        name: expected[name] for name in expected if name in told and name != "findings"}
    assert len(set(expected) - set(told)) == 0
    X, y = annulus.read_features(features)
    y = y.copy()
    y[:2] = (y[:2] + 3) % 6
    rows = [finding["row"] for finding in annulus.audit(X, y).findings if finding["kind"] == "mislabelled"]
    assert {0, 1} <= set(rows)


def test_reports_show_themselves(features, tmp_path):
    report = annulus.evaluate(features, shots=[1, 2], subsets=2, methods=["ncm", "baseline"])
    assert report._repr_html_().startswith("<iframe") and "<html" in report.html
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == report.html
    audit = annulus.audit(features)
    assert audit._repr_html_().startswith("<iframe") and audit.text in repr(audit) + "\n"
    pytest.importorskip("matplotlib")
    assert len(report.plot().get_lines()) >= 2
    assert audit.plot().get_xlabel() == "findings"


def test_arguments_that_make_no_sense(features):
    X, y = clusters()
    with pytest.raises(ValueError, match="unknown"):
        annulus.evaluate(X, y, methods=["magic"])
    with pytest.raises(ValueError, match="expected labels y"):
        annulus.evaluate(X)
    with pytest.raises(ValueError, match="no labels beside a path"):
        annulus.evaluate(features, y)
    with pytest.raises(OSError):
        annulus.audit("no-such-file.npz")
    with pytest.raises(annulus.Cancelled):
        annulus.episodes(features, progress=lambda *told: False)
    with pytest.raises(TypeError, match="FeatureExtractor"):
        annulus.audit(features, images="mobilenet")
