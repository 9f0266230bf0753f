"""Data and places that the tests share."""
import os
import pathlib

import numpy as np
import pytest


def clusters(classes=6, shots=5, dimension=24, seed=0, spread=0.5):
    """Rows around prototypes, shuffled, and labels as numbers."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(classes, dimension))
    y = rng.permutation(np.repeat(np.arange(classes), shots))
    return (means[y] + spread * rng.normal(size=(len(y), dimension))).astype(np.float32), y


@pytest.fixture
def task():
    """Rows to learn from, their labels, rows to ask about and theirs."""
    X, y = clusters(shots=12)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture
def program():
    """The annulus program of the same build."""
    path = os.environ.get("ANNULUS_PROGRAM")
    if not path:
        pytest.skip("ANNULUS_PROGRAM does not name the annulus program")
    return path


@pytest.fixture
def test_data():
    """The folder tests/data of the project."""
    return pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"


def pytest_runtest_logreport(report):
    """Collects the names of tests that are skipped, for the end of the session."""
    if report.skipped:
        _skipped.append(report.nodeid.split("::")[-1].split("[")[0])


_skipped = []


def pytest_sessionfinish(session):
    """Where the environment says CI, a skip that tests/allowed_skips.txt does not name fails the session."""
    if not os.environ.get("CI"):
        return
    list_of_skips = pathlib.Path(__file__).resolve().parents[2] / "tests" / "allowed_skips.txt"
    allowed = {line.split(": ")[0] for line in list_of_skips.read_text(encoding="utf-8").splitlines()}
    unexpected = sorted(set(_skipped) - allowed)
    if unexpected:
        print(f"\nskipped, and not in tests/allowed_skips.txt: {', '.join(unexpected)}")
        session.exitstatus = 1
