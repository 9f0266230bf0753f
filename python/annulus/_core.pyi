# Types of the module that the package is written on.
from typing import Any, Callable, Optional, Union

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Progress = Optional[Callable[[str, int, int, str], Optional[bool]]]

__version__: str

class FormatError(ValueError): ...
class Cancelled(RuntimeError): ...

class RecipeOptions:
    recipe: str
    virtual_examples: Optional[bool]
    virtual_count: Optional[int]
    epsilon: Optional[float]
    threshold: Optional[float]
    learning_rate: Optional[float]
    epochs: Optional[int]
    batch: Optional[int]
    head: Optional[str]
    transform: Optional[str]
    metric: Optional[str]
    noise_shape: Optional[str]
    noise: Optional[str]
    label_smoothing: Optional[float]
    search_epochs: Optional[int]
    search_learning_rate: Optional[float]
    search_range: list[float]
    search_tolerance: Optional[float]
    def __init__(self) -> None: ...

class Model:
    provenance: dict[str, str]
    @property
    def training(self) -> dict[str, Union[str, bool, int, float]]: ...
    def add_note(self, name: str, text: str) -> None: ...
    @property
    def classes_count(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def head(self) -> str: ...
    @property
    def power(self) -> float: ...
    @property
    def centred(self) -> bool: ...
    @property
    def weights(self) -> Rows: ...
    @property
    def bias(self) -> Rows: ...
    @property
    def support_set(self) -> int: ...
    @property
    def support_labels(self) -> NDArray[np.int32]: ...
    @property
    def rejects_unknown(self) -> bool: ...
    @property
    def class_names(self) -> list[str]: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def temperature(self) -> float: ...
    def logits(self, rows: Rows, threads: int = 0) -> Rows: ...
    def probabilities(self, rows: Rows, threads: int = 0) -> Rows: ...
    def classes(self, rows: Rows, threads: int = 0) -> NDArray[np.int32]: ...
    def unknown_scores(self, rows: Rows, threads: int = 0) -> Rows: ...
    def unknown_threshold(self, fraction: float) -> float: ...
    def catch_rate(self, fraction: float) -> float | None: ...
    def predictions(
        self, rows: Rows, false_reject: float = 0.05, explain: bool = False, top: int = 5, threads: int = 0
    ) -> list[dict[str, Any]]: ...
    def add_class(self, rows: Rows, name: str, threads: int = 0) -> tuple["Model", dict[str, Any]]: ...
    def add_examples(self, rows: Rows, name: str, threads: int = 0) -> tuple["Model", dict[str, Any]]: ...
    def remove_classes(self, names: list[str], threads: int = 0) -> tuple["Model", dict[str, Any]]: ...
    def save(self, path: str) -> None: ...
    def to_bytes(self) -> bytes: ...
    def copy(self) -> "Model": ...
    @staticmethod
    def load(path: str) -> "Model": ...
    @staticmethod
    def from_bytes(bytes: bytes) -> "Model": ...

class FittedMethod:
    @property
    def probabilities(self) -> bool: ...
    @property
    def scores(self) -> bool: ...
    def predict(self, rows: Rows) -> NDArray[np.int32]: ...
    def score(self, rows: Rows) -> Optional[Rows]: ...

class FeatureSet:
    def __init__(
        self,
        rows: Rows,
        labels: NDArray[np.int32],
        class_names: list[str],
        paths: list[str] = ...,
        is_train: list[int] = ...,
        groups: list[int] = ...,
        source: str = "arrays",
    ) -> None: ...
    @property
    def features(self) -> Rows: ...
    @property
    def rows(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def labels(self) -> NDArray[np.int32]: ...
    @property
    def class_names(self) -> list[str]: ...
    @property
    def paths(self) -> list[str]: ...
    @property
    def is_train(self) -> list[int]: ...
    @property
    def groups(self) -> list[int]: ...
    @property
    def provenance(self) -> dict[str, str]: ...
    def save(self, path: str) -> None: ...

class Encoder:
    def __init__(
        self,
        backbone: str = "",
        preprocess: str = "",
        views: str = "",
        srgb: bool = False,
        crop_margin: Optional[float] = None,
        precision: str = "",
        images: list[str] = ...,
        record: dict[str, str] = ...,
        progress: Progress = None,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def provenance(self) -> dict[str, str]: ...
    def encode_files(self, paths: list[str], cache: str = "", threads: int = 0, progress: Progress = None) -> Rows: ...
    def encode_pixels(self, pixels: list[NDArray[np.uint8]], threads: int = 0, progress: Progress = None) -> Rows: ...
    def encode_bytes(self, files: list[bytes], threads: int = 0, progress: Progress = None) -> Rows: ...

def hardware_threads() -> int: ...
def recipe_names() -> list[str]: ...
def method_names() -> list[str]: ...
def fit(
    rows: Rows,
    labels: NDArray[np.int32],
    class_names: list[str],
    *,
    weights: Optional[Rows] = None,
    provenance: dict[str, str] = ...,
    paths: list[str] = ...,
    unlabelled: Optional[Rows] = None,
    recipe: RecipeOptions = ...,
    calibrate: bool = True,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> tuple[Model, dict[str, Any]]: ...
def fit_method(
    name: str,
    rows: Rows,
    labels: NDArray[np.int32],
    classes: int,
    recipe: RecipeOptions,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> FittedMethod: ...
def load_set(
    path: str,
    backbone: str = "",
    preprocess: str = "",
    cache: str = "",
    boxes: str = "",
    srgb: bool = False,
    crop_margin: Optional[float] = None,
    threads: int = 0,
    views: str = "",
    progress: Progress = None,
) -> FeatureSet: ...
def with_feature(backbone: str, feature: str) -> str: ...
def srgb_pixels(pixels: NDArray[np.uint8], profile: bytes) -> NDArray[np.uint8]: ...
def check_provenance(
    model: dict[str, str], model_source: str, features: dict[str, str], source: str
) -> None: ...
def list_images(
    root: str, boxes: str = "", every: float = 0.0, scenes: bool = False
) -> tuple[list[str], NDArray[np.int32], list[str], NDArray[np.int32]]: ...
def evaluate(
    train: FeatureSet,
    test: Optional[FeatureSet],
    *,
    shots: list[int],
    subsets: int,
    methods: list[str],
    against: str = "",
    query_balance: str = "",
    recipe: RecipeOptions,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, str]: ...
def episodes(
    set: FeatureSet,
    *,
    shots: list[int],
    ways: int,
    queries: int,
    episodes: int,
    seeds: int,
    methods: list[str],
    against: str = "",
    query_balance: str = "",
    recipe: RecipeOptions,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, str]: ...
def audit(
    set: FeatureSet, *, suspects: float = 0.05, seed: int = 0, threads: int = 0, progress: Progress = None
) -> dict[str, str]: ...
def audit_folder(
    folder: str,
    *,
    backbone: str = "",
    preprocess: str = "",
    views: str = "",
    cache: str = "",
    srgb: bool = False,
    crop_margin: Optional[float] = None,
    suspects: float = 0.05,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, str]: ...
def label_next(
    pool: NDArray[np.float32],
    labelled: NDArray[np.float32],
    labels: NDArray[np.int32],
    model: Optional[Model],
    *,
    count: int,
    new_classes: float,
    false_reject: float,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, Any]: ...
def discover(pool: NDArray[np.float32], *, threads: int = 0, progress: Progress = None) -> dict[str, Any]: ...
