# Types of the public package.
import os
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.pipeline import Pipeline

from ._core import Model

Path = Union[str, os.PathLike[str]]
Progress = Callable[[str, int, int, str], Optional[bool]]
RandomState = Union[int, np.random.RandomState, None]

__version__: str
BASELINES: Mapping[str, type["MethodClassifier"]]

class FormatError(ValueError): ...
class Cancelled(RuntimeError): ...

class ModelClassifier(ClassifierMixin, BaseEstimator):
    classes_: NDArray[Any]
    n_features_in_: int
    epsilon_: float
    temperature_: float
    search_trace_: list[dict[str, Any]]
    n_iter_: int
    model_: Model
    @property
    def coef_(self) -> NDArray[np.float32]: ...
    @property
    def intercept_(self) -> NDArray[np.float32]: ...
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Optional[ArrayLike] = None) -> "ModelClassifier": ...
    def predict(self, X: ArrayLike) -> NDArray[Any]: ...
    def decision_function(self, X: ArrayLike) -> NDArray[np.float32]: ...
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float32]: ...
    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def unknown_score(self, X: ArrayLike) -> NDArray[np.float32]: ...
    def predict_unknown(self, X: ArrayLike, false_reject: float = 0.05) -> NDArray[np.bool_]: ...
    def catch_rate(self, false_reject: float = 0.05) -> float | None: ...
    def explain(self, X: ArrayLike, top: int = 5, false_reject: float = 0.05) -> list[dict[str, Any]]: ...
    def add_class(self, X: ArrayLike, label: Any) -> dict[str, Any]: ...
    def add_examples(self, X: ArrayLike, label: Any) -> dict[str, Any]: ...
    def remove_class(self, label: Any) -> dict[str, Any]: ...

class RecipeClassifier(ModelClassifier):
    def __init__(
        self,
        recipe: str = "default",
        *,
        epsilon: Optional[float] = None,
        n_virtual: Optional[int] = None,
        threshold: Optional[float] = None,
        learning_rate: Optional[float] = None,
        epochs: Optional[int] = None,
        batch_size: Optional[int] = None,
        head: Optional[str] = None,
        feature_transform: Optional[str] = None,
        metric: Optional[Path] = None,
        label_smoothing: Optional[float] = None,
        search_epochs: Optional[int] = None,
        calibrate: bool = True,
        random_state: RandomState = 0,
        n_jobs: Optional[int] = None,
        warm_start: bool = False,
        verbose: bool = False,
        progress: Optional[Progress] = None,
    ) -> None: ...
    unlabelled_use_: Optional[str]
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: Optional[ArrayLike] = None,
        *,
        unlabelled: Optional[ArrayLike] = None,
        unlabelled_label: Any = None,
    ) -> "RecipeClassifier": ...
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: Optional[ArrayLike] = None, sample_weight: Optional[ArrayLike] = None
    ) -> "RecipeClassifier": ...

class FewShotClassifier(RecipeClassifier): ...

class IbM2Classifier(RecipeClassifier):
    def __init__(
        self,
        recipe: str = "ibm2",
        *,
        epsilon: Optional[float] = None,
        n_virtual: Optional[int] = None,
        threshold: Optional[float] = None,
        learning_rate: Optional[float] = None,
        epochs: Optional[int] = None,
        batch_size: Optional[int] = None,
        head: Optional[str] = None,
        feature_transform: Optional[str] = None,
        metric: Optional[Path] = None,
        label_smoothing: Optional[float] = None,
        search_epochs: Optional[int] = None,
        calibrate: bool = True,
        random_state: RandomState = 0,
        n_jobs: Optional[int] = None,
        warm_start: bool = False,
        verbose: bool = False,
        progress: Optional[Progress] = None,
    ) -> None: ...

class CosineHead(ModelClassifier):
    def __init__(
        self,
        recipe: str = "baseline",
        *,
        learning_rate: Optional[float] = None,
        epochs: Optional[int] = None,
        batch_size: Optional[int] = None,
        head: Optional[str] = None,
        feature_transform: Optional[str] = None,
        label_smoothing: Optional[float] = None,
        calibrate: bool = True,
        random_state: RandomState = 0,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        progress: Optional[Progress] = None,
    ) -> None: ...

class MethodClassifier(ClassifierMixin, BaseEstimator):
    classes_: NDArray[Any]
    n_features_in_: int
    def __init__(
        self,
        *,
        random_state: RandomState = 0,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        progress: Optional[Progress] = None,
    ) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike) -> "MethodClassifier": ...
    def predict(self, X: ArrayLike) -> NDArray[Any]: ...

class ScoredClassifier(MethodClassifier):
    def decision_function(self, X: ArrayLike) -> NDArray[np.float32]: ...

class NearestPrototype(ScoredClassifier): ...
class SimpleShot(ScoredClassifier): ...
class NearestNeighbours(MethodClassifier): ...
class CacheModel(ScoredClassifier): ...
class GaussianDiscriminant(ScoredClassifier): ...
class LinearDiscriminant(ScoredClassifier): ...
class RidgeHead(ScoredClassifier): ...
class LogisticHead(ScoredClassifier): ...
class LinearSVM(ScoredClassifier): ...
class PairwiseSVM(ScoredClassifier): ...

class FeatureExtractor(TransformerMixin, BaseEstimator):
    dimension_: int
    provenance_: dict[str, str]
    def __init__(
        self,
        backbone: Optional[Path] = "auto",
        *,
        feature: Optional[str] = None,
        preprocess: Optional[str] = None,
        views: Union[str, int, None] = None,
        precision: Optional[str] = None,
        cache: Optional[Path] = None,
        srgb: bool = False,
        crop_margin: Optional[float] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        progress: Optional[Progress] = None,
    ) -> None: ...
    def fit(self, X: Any = None, y: Any = None) -> "FeatureExtractor": ...
    def transform(self, X: Sequence[Any]) -> NDArray[np.float32]: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...

class ImageList:
    paths: NDArray[Any]
    labels: NDArray[Any]
    groups: Optional[NDArray[np.int32]]
    def __init__(self, paths: NDArray[Any], labels: NDArray[Any], groups: Optional[NDArray[np.int32]] = None) -> None: ...
    def __len__(self) -> int: ...

class Report:
    text: str
    html: str
    def __init__(self, parts: Mapping[str, str]) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...
    @property
    def results(self) -> list[dict[str, Any]]: ...
    def accuracy(self, method: str, shots: int) -> float: ...
    def plot(self, ax: Any = None) -> Any: ...
    def save(self, path: Path) -> None: ...

class AuditReport(Report):
    findings: list[dict[str, Any]]

def list_images(folder: Path, boxes: Optional[Path] = None, *, every: Optional[float] = None, scenes: bool = False) -> ImageList: ...
def read_features(path: Path) -> tuple[NDArray[np.float32], Optional[NDArray[Any]]]: ...
def save(model: Union[ModelClassifier, Pipeline], path: Path) -> None: ...
def load(path: Path, images: bool = False, backbone: Optional[Path] = None) -> Any: ...
def evaluate(
    X: Any,
    y: Optional[ArrayLike] = None,
    *,
    X_test: Any = None,
    y_test: Optional[ArrayLike] = None,
    train: Optional[ArrayLike] = None,
    shots: Sequence[int] = (1, 5),
    subsets: int = 3,
    methods: Sequence[str] = ...,
    against: str = "",
    query_balance: str = "",
    recipe: str = "ibm2",
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    images: Optional[FeatureExtractor] = None,
    verbose: bool = False,
    progress: Optional[Progress] = None,
) -> Report: ...
def episodes(
    X: Any,
    y: Optional[ArrayLike] = None,
    *,
    ways: int = 5,
    shots: Sequence[int] = (1, 5),
    queries: int = 15,
    n_episodes: int = 500,
    seeds: int = 5,
    methods: Sequence[str] = ...,
    against: str = "",
    query_balance: str = "",
    recipe: str = "episodes",
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    images: Optional[FeatureExtractor] = None,
    verbose: bool = False,
    progress: Optional[Progress] = None,
) -> Report: ...
def audit(
    X: Any,
    y: Optional[ArrayLike] = None,
    *,
    paths: Optional[Sequence[Path]] = None,
    suspects: float = 0.05,
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    images: Optional[FeatureExtractor] = None,
    verbose: bool = False,
    progress: Optional[Progress] = None,
) -> AuditReport: ...

class Choices(NamedTuple):
    rows: NDArray[np.int64]
    reasons: list[str]
    uncertainty: NDArray[np.float64]
    stands_for: NDArray[np.int64]

class Groups(NamedTuple):
    labels: NDArray[np.int64]
    covers: NDArray[np.int64]
    kinds: int
    copies: NDArray[np.int64]
    outliers: NDArray[np.int64]

def label_next(
    pool: ArrayLike,
    n: int = 20,
    *,
    X: Optional[ArrayLike] = None,
    y: Optional[ArrayLike] = None,
    model: Optional[ModelClassifier] = None,
    new_classes: float = 0.25,
    false_reject: float = 0.05,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
    progress: Optional[Progress] = None,
) -> Choices: ...
def discover(
    pool: ArrayLike, *, n_jobs: Optional[int] = None, verbose: bool = False, progress: Optional[Progress] = None
) -> Groups: ...
