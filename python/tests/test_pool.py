"""label_next and discover: the choices and groups of the command line, as arrays."""
import json
import subprocess

import annulus
import numpy as np
import pytest


def command(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def pool(tmp_path):
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(6), 15)
    X = (3 * np.eye(6, 16)[y] + 0.6 * rng.normal(size=(90, 16))).astype(np.float32)
    np.savez(tmp_path / "pool.npz", features=X)
    return X, y, tmp_path / "pool.npz"


def test_label_next_is_that_of_the_command_line(pool, program):
    X, _, file = pool
    lines = command(program, "label-next", file, "-n", 7, "--jsonl", "-", "-q").splitlines()
    found = annulus.label_next(X, n=7)
    assert [json.loads(line)["row"] for line in lines] == found.rows.tolist()
    assert [json.loads(line)["stands_for"] for line in lines] == found.stands_for.tolist()
    assert set(found.reasons) == {"typical"}


def test_discover_is_that_of_the_command_line(pool, program):
    X, y, file = pool
    lines = [json.loads(line) for line in command(program, "discover", file, "--jsonl", "-", "-q").splitlines()]
    found = annulus.discover(X)
    assert [line["cover"] for line in lines] == found.covers.tolist()
    for line in lines:
        assert (found.labels[line["members"]] == line["group"] - 1).all()
    assert found.kinds == sum(line["size"] >= 3 for line in lines)
    assert found.copies.shape == (0, 2)


def test_labelled_rows_and_models_change_the_choice(pool):
    X, y, _ = pool
    labelled = np.flatnonzero(y < 4)
    beside = annulus.label_next(X, n=2, X=X[labelled], y=y[labelled])
    assert set(y[beside.rows]) == {4, 5}
    model = annulus.FewShotClassifier().fit(X[labelled], y[labelled])
    assert len(annulus.label_next(X, n=5, model=model).rows) == 5


def test_what_is_wrong_is_named(pool):
    X, y, _ = pool
    with pytest.raises(ValueError, match="positive"):
        annulus.label_next(X, n=0)
    with pytest.raises(ValueError, match="either a model or"):
        annulus.label_next(X, X=X, y=y, model=object())
    with pytest.raises(ValueError, match="new_classes"):
        annulus.label_next(X, new_classes=2.0)
    with pytest.raises(ValueError, match="dimensions"):
        annulus.label_next(X, X=X[:, :5], y=y)
