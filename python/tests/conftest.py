"""Data and places that the tests share."""
import os
import pathlib

import numpy as np
import pytest


def clusters(classes=6, shots=5, dimension=24, seed=0, spread=0.5):
    """Rows around class means, shuffled, and labels as numbers."""
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
