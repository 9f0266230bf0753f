"""The protocols and the audit of the command line, on arrays, feature files and folders of images."""
import os

import numpy as np
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from . import _core
from ._features import FeatureExtractor
from ._model_classifier import names_of
from ._progress import listener
from ._reports import AuditReport, Report
from ._validation import recipe_of, seed_of, threads_of

METHODS = ("ncm", "gda", "lda", "linear-svm", "baseline", "ibm2", "default")


def evaluate(X, y=None, *, X_test=None, y_test=None, train=None, shots=(1, 5), subsets=3, methods=METHODS, against="",
             query_balance="", recipe="ibm2", random_state=0, n_jobs=None, images=None, verbose=False, progress=None):
    """How well methods recognise all classes at once from k rows of each: `annulus evaluate`.

    Parameters
    ----------
    X, y : rows of features and labels; or a feature file or folder of images as X, and no y
    X_test, y_test : optional
        Rows to test on; without them, every row that was not drawn is.
    train : array of booleans, optional
        In place of these, which rows of X may be drawn; the others are tested on.
    shots : numbers of training examples per class; 0 is all
    subsets : splits to average over
    methods : names of methods of `annulus evaluate`, among them those that ``annulus.BASELINES`` has
    against : the method that others are compared with
    query_balance : "balanced" or "dirichlet:A", optional
        How the rows that are tested are drawn: as many of each class, or fractions of the classes from a Dirichlet
        distribution with concentration A. Without it, all are tested.
    images : FeatureExtractor, optional
        How the images of a folder become features.

    Returns
    -------
    Report

    >>> import annulus, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(4), 6)
    >>> X = 3 * np.eye(4, 8)[y] + rng.normal(size=(24, 8))
    >>> report = annulus.evaluate(X, y, shots=[2], subsets=2, methods=["ncm", "ibm2"])
    >>> report.accuracy("ncm", 2) > 25
    True
    """
    heard = listener(verbose, progress)
    threads = threads_of(n_jobs)
    rows = feature_set(X, y, train, images, threads, heard)
    test = None if X_test is None else feature_set(X_test, y_test, None, images, threads, heard)
    return Report(_core.evaluate(rows, test, shots=list(shots), subsets=subsets, methods=list(methods), against=against,
                                 query_balance=query_balance, recipe=recipe_of(recipe), seed=seed_of(random_state),
                                 threads=threads, progress=heard))


def episodes(X, y=None, *, ways=5, shots=(1, 5), queries=15, n_episodes=500, seeds=5, methods=("ncm", "baseline", "ibm2"), against="",
             query_balance="", recipe="episodes", random_state=0, n_jobs=None, images=None, verbose=False, progress=None):
    """How well methods do on many small tasks of a few classes: `annulus episodes`. Arguments as of ``evaluate``; queries are balanced
    unless ``query_balance`` says otherwise.

    >>> import annulus, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(6), 8)
    >>> X = 3 * np.eye(6, 8)[y] + rng.normal(size=(48, 8))
    >>> report = annulus.episodes(X, y, ways=3, shots=[2], queries=5, n_episodes=20, seeds=1, methods=["ncm"])
    >>> report.accuracy("ncm", 2) > 33
    True
    """
    heard = listener(verbose, progress)
    threads = threads_of(n_jobs)
    rows = feature_set(X, y, None, images, threads, heard)
    return Report(_core.episodes(rows, shots=list(shots), ways=ways, queries=queries, episodes=n_episodes, seeds=seeds,
                                 methods=list(methods), against=against, query_balance=query_balance, recipe=recipe_of(recipe),
                                 seed=seed_of(random_state), threads=threads, progress=heard))


def audit(X, y=None, *, paths=None, suspects=0.05, random_state=0, n_jobs=None, images=None, verbose=False, progress=None):
    """Which rows are wrong, double or odd: `annulus audit`. Of a folder of images, the files are looked at as well.

    >>> import annulus, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(4), 6)
    >>> X = 3 * np.eye(4, 8)[y] + rng.normal(size=(24, 8))
    >>> X[1] = X[0]
    >>> [finding["row"] for finding in annulus.audit(X, y).findings if finding["kind"] == "duplicate"]
    [0]
    """
    heard = listener(verbose, progress)
    threads = threads_of(n_jobs)
    if is_path(X) and os.path.isdir(X):
        return AuditReport(_core.audit_folder(os.fspath(X), **image_options(images), suspects=suspects, seed=seed_of(random_state),
                                              threads=threads, progress=heard))
    rows = feature_set(X, y, None, images, threads, heard, paths)
    return AuditReport(_core.audit(rows, suspects=suspects, seed=seed_of(random_state), threads=threads, progress=heard))


def is_path(X):
    return isinstance(X, (str, os.PathLike))


def image_options(extractor):
    """How images of a folder become features: as by a FeatureExtractor, or by default."""
    if extractor is None:
        return {}
    if not isinstance(extractor, FeatureExtractor):
        raise TypeError(f"images expects a FeatureExtractor, found {type(extractor).__name__}")
    return {"backbone": extractor._featured(), "preprocess": extractor.preprocess or "",
            "views": str(extractor.views or ""), "cache": os.fspath(extractor.cache or ""), "srgb": bool(extractor.srgb),
            "crop_margin": extractor.crop_margin}


def feature_set(X, y, train, images, threads, heard, paths=None):
    """What the library evaluates: made from arrays, or read from a path."""
    if is_path(X):
        if y is not None:
            raise ValueError("expected no labels beside a path, whose data has its own, found y")
        return _core.load_set(os.fspath(X), **image_options(images), threads=threads, progress=heard)
    if y is None:
        raise ValueError("expected labels y for the rows of X, found none")
    X, y = check_X_y(X, y, dtype=np.float32, order="C")
    check_classification_targets(y)
    labels, numbers = np.unique(y, return_inverse=True)
    drawn = [] if train is None else [int(bool(each)) for each in np.asarray(train)]
    return _core.FeatureSet(X, numbers.astype(np.int32), names_of(labels), [] if paths is None else [str(path) for path in paths],
                            drawn)
