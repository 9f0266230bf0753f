"""Many-way few-shot recognition on an ordinary CPU, as scikit-learn estimators.

>>> import numpy as np, annulus
>>> rng = np.random.default_rng(0)
>>> means = rng.normal(size=(5, 16))
>>> y = np.repeat(np.arange(5), 3)
>>> X = means[y] + 0.3 * rng.normal(size=(15, 16))
>>> model = annulus.FewShotClassifier().fit(X, y)
>>> bool((model.predict(means) == np.arange(5)).all())
True
"""
from ._baselines import (
    BASELINES,
    CacheModel,
    GaussianDiscriminant,
    LinearDiscriminant,
    LinearSVM,
    LogisticHead,
    NearestPrototype,
    NearestNeighbours,
    PairwiseSVM,
    RidgeHead,
    SimpleShot,
)
from ._classifier import CosineHead, FewShotClassifier, IbM2Classifier
from ._core import Cancelled, FormatError, __version__
from ._evaluation import audit, episodes, evaluate
from ._features import FeatureExtractor, ImageList, list_images, read_features
from ._files import load, save
from ._pool import Choices, Groups, discover, label_next
from ._reports import AuditReport, Report

__all__ = [
    "AuditReport", "BASELINES", "CacheModel", "Cancelled", "Choices", "CosineHead", "FeatureExtractor", "FewShotClassifier", "FormatError",
    "GaussianDiscriminant", "Groups", "IbM2Classifier", "ImageList", "LinearDiscriminant", "LinearSVM", "LogisticHead", "NearestPrototype",
    "NearestNeighbours", "PairwiseSVM", "Report", "RidgeHead", "SimpleShot", "__version__", "audit", "discover", "episodes", "evaluate",
    "label_next", "list_images", "load", "read_features", "save",
]
