"""Model files: the same that the command line writes and reads."""
import os

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._classifier import CosineHead, FewShotClassifier, IbM2Classifier
from ._features import FeatureExtractor
from ._model_classifier import ModelClassifier

LABELS = "python_labels"  # what the labels were before they became names, in a model's training record


def save(model, path):
    """Writes a fitted classifier, or a pipeline of a FeatureExtractor and one, to a model file (.safetensors).

    `annulus predict` reads it, on images too where it came from a pipeline. Labels that are integers, floats or booleans come
    back as such. The file appears whole or not at all.

    >>> import annulus, numpy as np, tempfile, os
    >>> X = np.array([[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8]])
    >>> model = annulus.FewShotClassifier().fit(X, [10, 10, 20, 20])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     annulus.save(model, os.path.join(folder, "model.safetensors"))
    ...     again = annulus.load(os.path.join(folder, "model.safetensors"))
    >>> again.predict(X).tolist()
    [10, 10, 20, 20]
    """
    extractor, classifier = parts_of(model)
    check_is_fitted(classifier, "model_")
    kept = classifier.model_.copy()
    kept.add_note(LABELS, kind_of(classifier._labels))
    if extractor is not None:
        kept.provenance = {**kept.provenance, **extractor.provenance_}
    kept.save(os.fspath(path))


def load(path, images=False, backbone=None):
    """Reads a model file into a classifier, fitted and ready to predict.

    A FewShotClassifier where the model has ensemble heads, a CosineHead where it was trained without virtual examples, else an
    IbM2Classifier.

    With ``images`` it comes as a pipeline that takes images: the network that the file names, or the ONNX file ``backbone``,
    then the classifier. Labels that were numbers or booleans come back as such, unless a class was added since whose name is none:
    then all are the names, as strings.

    >>> import annulus, numpy as np, tempfile, os
    >>> X = np.array([[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     annulus.save(annulus.CosineHead().fit(X, ["a", "a", "b", "b"]), os.path.join(folder, "model.safetensors"))
    ...     model = annulus.load(os.path.join(folder, "model.safetensors"))
    >>> type(model).__name__, model.predict(X).tolist()
    ('CosineHead', ['a', 'a', 'b', 'b'])
    """
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    model = _core.Model.load(path)
    record = model.training
    classifier = kind_of_record(record)(random_state=record.get("seed", 0))
    if record.get("recipe") in _core.recipe_names():
        classifier.set_params(recipe=record["recipe"])
    if "epsilon_given" in record:
        classifier.set_params(epsilon=record["epsilon_given"])
    classifier.model_, classifier._fit_record = model, {}
    classifier._labels = labels_of(model.class_names, record.get(LABELS, "str"))
    classifier._describe()
    if not images:
        return classifier
    source = model.provenance
    if not source.get("backbone"):
        raise ValueError(f"{path} does not say which network its features came from")
    extractor = FeatureExtractor(backbone or source["backbone"], preprocess=source.get("preprocessing") or None,
                                 views=source.get("views") or None, precision=source.get("precision"))
    extractor = extractor._fit_record(source) if source.get("precision") else extractor.fit()
    _core.check_provenance(source, path, extractor.provenance_, "the features of images")
    return Pipeline([("features", extractor), ("classifier", classifier)])


def kind_of_record(record):
    """The class of classifiers that a training record is of."""
    if not record.get("virtual_examples", True):
        return CosineHead
    return FewShotClassifier if "ensemble_ridge_weight" in record else IbM2Classifier


def parts_of(model):
    """(extractor or None, classifier) of what is to be saved."""
    if isinstance(model, ModelClassifier):
        return None, model
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps if step not in (None, "passthrough")]
        if len(steps) == 2 and isinstance(steps[0], FeatureExtractor) and isinstance(steps[1], ModelClassifier):
            return steps[0], steps[1]
    raise TypeError("expected a FewShotClassifier, an IbM2Classifier, a CosineHead, or a pipeline of a FeatureExtractor and one, found "
                    f"{type(model).__name__}")


def kind_of(labels):
    """How labels are turned back from names: str, object, or the dtype of numbers and booleans."""
    if labels.dtype.kind in "iufb":
        return labels.dtype.str
    if all(isinstance(label, str) for label in labels.tolist()):
        return "object" if labels.dtype == object else "str"
    raise TypeError("a model file keeps labels that are strings, numbers or booleans, found others")


def labels_of(names, kind):
    """Labels from the names of a model; the names themselves where the command line gave a class one that is no such label."""
    if kind in ("str", "object"):
        return np.asarray(names, dtype=object if kind == "object" else str)
    read = {"b": {"True": True, "False": False}.__getitem__, "f": float}.get(np.dtype(kind).kind, int)
    try:
        labels = np.asarray([read(name) for name in names])
        kept = labels.astype(kind)
        exact = [str(label) for label in kept.tolist()] == names
    except (KeyError, OverflowError, ValueError):
        return np.asarray(names, dtype=str)
    return kept if exact else labels if [str(label) for label in labels.tolist()] == names else np.asarray(names, dtype=str)
