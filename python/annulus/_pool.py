"""Pools of unlabelled rows: what to label next, and groups of alike rows."""
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._progress import listener
from ._validation import threads_of


class Choices(NamedTuple):
    """What label_next chooses, the most useful row first.

    >>> import annulus, numpy as np
    >>> choices = annulus.label_next(np.random.default_rng(0).normal(size=(30, 4)), n=3)
    >>> len(choices.rows), set(choices.reasons)
    (3, {'typical'})
    """

    rows: np.ndarray  # of the pool
    reasons: list  # "typical", "uncertain" or "new-class"
    uncertainty: np.ndarray  # from 0 to 1; 1 where nothing is labelled
    stands_for: np.ndarray  # rows of the pool to which no other labelled or chosen row is nearer


class Groups(NamedTuple):
    """What discover finds.

    >>> import annulus, numpy as np
    >>> groups = annulus.discover(np.random.default_rng(0).normal(size=(30, 4)))
    >>> len(groups.labels), len(groups.covers) == groups.labels.max() + 1
    (30, True)
    """

    labels: np.ndarray  # the group of each row, from 0, the largest first
    covers: np.ndarray  # the most typical row of each group
    kinds: int  # groups of three and more: how many kinds of things there seem to be
    copies: np.ndarray  # pairs of rows that are the same or nearly so
    outliers: np.ndarray  # rows that are far from all others


def label_next(pool, n=20, *, X=None, y=None, model=None, new_classes=0.25, false_reject=0.05, n_jobs=None, verbose=False,
               progress=None):
    """Which rows of a pool to label next: `annulus label-next`.

    Parameters
    ----------
    pool : rows of features to choose from
    n : how many to choose
    X, y : optional
        Rows that are labelled already, and their labels.
    model : fitted FewShotClassifier or IbM2Classifier, optional
        In place of these, a model that says which rows it is unsure of, or does not know at all.
    new_classes : the fraction of the choices at most that goes to rows which resemble no class of the model
    false_reject : the false-rejection rate at which a row resembles none

    Returns
    -------
    Choices

    >>> import annulus, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(4), 20)
    >>> pool = 4 * np.eye(4, 8)[y] + rng.normal(size=(80, 8))
    >>> sorted(y[annulus.label_next(pool, n=4).rows].tolist())
    [0, 1, 2, 3]
    """
    pool = check_array(pool, dtype=np.float32, order="C")
    if n < 1:
        raise ValueError(f"n expects a positive number, found {n}")
    labelled, labels, known = np.zeros((0, pool.shape[1]), np.float32), np.zeros(0, np.int32), None
    if model is not None:
        if X is not None or y is not None:
            raise ValueError("expected either a model or labelled rows X and y, found both")
        check_is_fitted(model)
        known = model.model_
    elif X is not None or y is not None:
        labelled, named = check_X_y(X, y, dtype=np.float32, order="C")
        labels = np.unique(named, return_inverse=True)[1].astype(np.int32)
    return Choices(**_core.label_next(pool, labelled, labels, known, count=int(n), new_classes=float(new_classes),
                                      false_reject=float(false_reject), threads=threads_of(n_jobs),
                                      progress=listener(verbose, progress)))


def discover(pool, *, n_jobs=None, verbose=False, progress=None):
    """Groups of alike rows, without a number of groups: `annulus discover`.

    Parameters
    ----------
    pool : rows of features

    Returns
    -------
    Groups

    >>> import annulus, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(4), 20)
    >>> groups = annulus.discover(4 * np.eye(4, 8)[y] + 0.3 * rng.normal(size=(80, 8)))
    >>> all(len(set(y[groups.labels == group])) == 1 for group in set(groups.labels))
    True
    """
    pool = check_array(pool, dtype=np.float32, order="C", ensure_min_samples=2)
    found = _core.discover(pool, threads=threads_of(n_jobs), progress=listener(verbose, progress))
    found["copies"] = found["copies"].reshape(-1, 2)
    return Groups(**found)
