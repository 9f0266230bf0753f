"""From images to features: a transformer, and readers of what is on disk."""
import dataclasses
import os

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._progress import listener
from ._validation import threads_of


class FeatureExtractor(TransformerMixin, BaseEstimator):
    """Images to features by a network that somebody else has trained.

    Takes paths of image files (JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL, camera RAW), the bytes of such files, uint8
    arrays of height x width x 3, and PIL images, mixed as you like. Features of paths are kept in the cache and never computed twice. It learns nothing: ``fit`` opens the network.

    Parameters
    ----------
    backbone : str, optional
        A name that `annulus backbones` lists, or an ONNX file, or two joined by "+"; "auto" is the best recommended network that is in the cache, else
        resnet50 (``backbone_`` says which).
    feature : {"cls", "mean", "cls+mean"}, optional
        Of a transformer with a name: the class token, the mean of the patch tokens, or both joined; None is its own. ``"NAME:mean"`` as
        ``backbone`` says the same.
    preprocess : str, optional
        A preset or recipe; None is what the network asks for.
    views : str or int, optional
        "flip" encodes the mean of each image and its mirror image, a number N that of the image and N - 1 random crops of it.
    precision : {"float32", "int8", "auto"}, optional
        Numbers that the network computes with; None is float32. The first use of "int8" takes its ranges from the files that ``fit``
        is given; "auto" is int8 where it is faster here and close enough.
    cache : path, optional
        Where features are kept; None is the user's cache.
    srgb : bool
        Convert images to sRGB by their colour profile (ICC), also where ``preprocess`` does not.
    crop_margin : float, optional
        Added on each side of boxes, as a fraction of their width (height); None is 0. A box in a photo is a path such as
        ``"photo.jpg#xywh=10,20,30,40"``; ``list_images`` gives those of a folder or a file of boxes.
    n_jobs, verbose, progress : as in ``FewShotClassifier``

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from annulus import FeatureExtractor, FewShotClassifier
    >>> birds = make_pipeline(FeatureExtractor("mobilenet-0.25"), FewShotClassifier())
    >>> birds[0].get_params()["backbone"]
    'mobilenet-0.25'
    >>> birds.fit(["robin.jpg", "wren.jpg"], ["robin", "wren"])  # doctest: +SKIP
    """

    def __init__(self, backbone="auto", *, feature=None, preprocess=None, views=None, precision=None, cache=None, srgb=False, crop_margin=None,
                 n_jobs=None, verbose=False, progress=None):
        self.backbone = backbone
        self.feature = feature
        self.preprocess = preprocess
        self.views = views
        self.precision = precision
        self.cache = cache
        self.srgb = srgb
        self.crop_margin = crop_margin
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(self, X=None, y=None):
        """Opens the network; where it is not on disk yet, it is fetched."""
        images = [] if X is None or isinstance(X, (str, bytes)) else X
        self._open(self._featured(), [os.fspath(image) for image in images if isinstance(image, (str, os.PathLike))])
        self.backbone_ = self._encoder.name if self.feature or self.backbone in (None, "", "auto") else self.backbone
        self.dimension_ = self._encoder.dimension
        self.provenance_ = self._encoder.provenance
        return self

    def _featured(self):
        """The backbone with the feature that was chosen, as one name."""
        return _core.with_feature(os.fspath(self.backbone or ""), self.feature or "")

    def _open(self, backbone, images=(), record=None):
        self._encoder = _core.Encoder(os.fspath(backbone or ""), self.preprocess or "", str(self.views or ""), bool(self.srgb),
                                      self.crop_margin, self.precision or "", list(images), record or {},
                                      progress=listener(self.verbose, self.progress))

    def _fit_record(self, record):
        """Opens the network that made the features of a record."""
        self._open(self.backbone, record=record)
        self.backbone_, self.dimension_ = self.backbone, self._encoder.dimension
        self.provenance_ = self._encoder.provenance
        return self

    def transform(self, X):
        """A float32 row of features for each image. ValueError for one that cannot be read, naming it."""
        check_is_fitted(self, "dimension_")
        if isinstance(X, (str, bytes, os.PathLike)):
            raise TypeError(f"expected a list of images, found {type(X).__name__}; put it into a list")
        images = list(X)
        rows = np.empty((len(images), self.dimension_), dtype=np.float32)
        kinds = [kind_of(image, number) for number, image in enumerate(images)]
        for kind in sorted(set(kinds)):
            chosen = [number for number, each in enumerate(kinds) if each == kind]
            rows[chosen] = self._encode(kind, [images[number] for number in chosen])
        return rows

    def _encode(self, kind, images):
        options = {"threads": threads_of(self.n_jobs), "progress": listener(self.verbose, self.progress)}
        if kind == "path":
            return self._encoder.encode_files([os.fspath(path) for path in images], os.fspath(self.cache or ""), **options)
        if kind == "bytes":
            return self._encoder.encode_bytes([bytes(each) for each in images], **options)
        if kind == "picture":
            words = self.provenance_.get("preprocessing", "").split()
            images = [pixels_of(each, "exif=ignore" not in words, "profile=srgb" in words) for each in images]
        return self._encoder.encode_pixels([np.ascontiguousarray(each) for each in images], **options)

    def get_feature_names_out(self, input_features=None):
        """feature_0, feature_1, ..."""
        check_is_fitted(self, "dimension_")
        return np.asarray([f"feature_{number}" for number in range(self.dimension_)], dtype=object)

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_encoder", None)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "dimension_" in state:
            int8 = state["provenance_"].get("precision") == "int8"
            self._open(state.get("backbone_", self.backbone), record=state["provenance_"] if int8 else None)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "dimension_")

    def _more_tags(self):
        return {"stateless": True, "X_types": ["string"], "requires_fit": True}


def pixels_of(picture, upright, srgb):
    """The colours of a PIL image, where asked for turned as its EXIF entry says and converted by its profile, as files are."""
    profile = picture.info.get("icc_profile") if srgb else None
    if upright:
        from PIL import ImageOps
        picture = ImageOps.exif_transpose(picture) or picture
    pixels = np.asarray(picture.convert("RGB"))
    return _core.srgb_pixels(pixels, profile) if profile and picture.mode != "CMYK" else pixels


def kind_of(image, number):
    """path, bytes, picture (PIL) or pixels."""
    if isinstance(image, (str, os.PathLike)):
        return "path"
    if isinstance(image, (bytes, bytearray, memoryview)):
        return "bytes"
    if hasattr(image, "convert") and hasattr(image, "size"):
        return "picture"
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
        raise ValueError(f"expected image {number} as a path, bytes, a PIL image or a uint8 array of height x width x 3, "
                         f"found {type(image).__name__} of dtype {array.dtype} and shape {array.shape}")
    return "pixels"


@dataclasses.dataclass
class ImageList:
    """The labelled images of a folder, as ``list_images`` finds them.

    ``groups`` has a number for each image: equal for those that belong together, such as the frames of a video, as cross-validation
    by scikit-learn's ``GroupKFold`` takes them.

    >>> import numpy as np
    >>> from annulus import ImageList
    >>> len(ImageList(np.array(["a/1.jpg", "b/1.jpg"]), np.array(["a", "b"])))
    2
    """

    paths: np.ndarray
    labels: np.ndarray
    groups: np.ndarray = None

    def __len__(self):
        return len(self.paths)


def list_images(folder, boxes=None, *, every=None, scenes=False):
    """The images of a folder with their labels: a folder a class, or metadata.csv, as `annulus fit` reads them.

    With ``boxes``, COCO's or MegaDetector's JSON or metadata with x, y, width and height, each box in a photo is one, and its path
    ends in ``#xywh=...``; photos without a box are left out. ``folder`` may be such a JSON file itself.

    With ``every``, seconds, or ``scenes``, videos are taken too: one frame in each such period, or the first of each scene, whose path
    ends in ``#t=...``.

    >>> import annulus, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("robin", "wren"):
    ...         pathlib.Path(folder, name).mkdir()
    ...         pathlib.Path(folder, name, "1.png").touch()
    ...     photos = annulus.list_images(folder)
    >>> photos.labels.tolist()
    ['robin', 'wren']
    """
    paths, labels, names, groups = _core.list_images(os.fspath(folder), os.fspath(boxes or ""), float(every or 0), bool(scenes))
    return ImageList(np.asarray(paths, dtype=object), np.asarray(names, dtype=object)[labels],
                     groups if len(groups) else np.arange(len(paths), dtype=np.int32))


def read_features(path):
    """(X, y) of a feature file in any format that Annulus reads; y is None where it has no labels.

    Labels are the class names as strings, or numbers where the file names its classes 0, 1, ...

    >>> import annulus, numpy as np, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(os.path.join(folder, "birds.npz"), features=np.eye(3, dtype=np.float32), labels=["robin", "wren", "robin"])
    ...     X, y = annulus.read_features(os.path.join(folder, "birds.npz"))
    >>> X.shape, y.tolist()
    ((3, 3), ['robin', 'wren', 'robin'])
    """
    features = _core.load_set(os.fspath(path))
    return features.features, labels_of(features)


def labels_of(features):
    """Labels of a feature set, as names, or numbers where these are the names."""
    labels = features.labels
    if not labels.size:
        return None
    names = features.class_names
    if names == [str(number) for number in range(len(names))]:
        return labels
    return np.asarray(names, dtype=object)[labels]
