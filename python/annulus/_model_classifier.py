"""What classifiers whose fitted form is a model have in common: learning, predictions, updates, looks."""
import numbers

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._html import model_html
from ._progress import listener
from ._validation import check_number, filled, rows_to_ask, rows_with_direction, seed_of, threads_of, training_examples, weights_of

COSINE_SCALE = 10.0 / (1.0 + 1e-5)  # from effective weights of a cosine head to logits of rows of length 1


class ModelClassifier(ClassifierMixin, BaseEstimator):
    """What all classifiers that hold a model have in common; the parameters are theirs."""

    # --- learning ---

    def _recipe(self, epsilon):
        raise NotImplementedError

    def _learn(self, X, y, sample_weight, unlabelled=None):
        """Learns from checked rows, beside unlabelled ones where there are any."""
        recipe = self._recipe(self._radius_to_keep())
        if sample_weight is not None:
            counted = sample_weight > 0
            X, y, sample_weight = X[counted], y[counted], sample_weight[counted]
        X, y, sample_weight = rows_with_direction(X, y, sample_weight)
        labels, numbers_of = np.unique(y, return_inverse=True)
        if len(labels) < 2:
            raise ValueError(f"{type(self).__name__} expects at least two classes to tell apart, found {len(labels)} class")
        self.model_, self._fit_record = _core.fit(
            X, numbers_of.astype(np.int32), names_of(labels), weights=sample_weight, unlabelled=unlabelled, recipe=recipe,
            calibrate=bool(self.calibrate), seed=seed_of(self.random_state), threads=threads_of(self.n_jobs),
            progress=listener(self.verbose, self.progress))
        self._labels = labels
        self._describe()

    def _radius_to_keep(self):
        return None

    def _describe(self):
        """Attributes that follow from the model and its labels."""
        self.classes_ = np.sort(self._labels)
        order = np.argsort(self._labels, kind="stable")
        self._columns = None if (order == np.arange(len(order))).all() else order
        self.n_features_in_ = self.model_.dimension
        self.epsilon_ = self.model_.epsilon
        self.temperature_ = self.model_.temperature
        search = self._fit_record.get("search")
        self.search_trace_ = search["probes"] if search else []
        self.n_iter_ = epochs_of(self.model_.training)

    def fit(self, X, y, sample_weight=None):
        """Learns from rows of features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of features. Rows that are all zeros point nowhere and are left out, with a warning.
        y : array-like of shape (n_samples,)
            Labels: numbers, strings or booleans.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts beside the others. Only ratios matter; a row of weight 0 is left out.

        Returns
        -------
        self
        """
        X, y = training_examples(self, X, y)
        sample_weight = weights_of(sample_weight, X)
        if sample_weight is not None and not sample_weight.any():
            raise ValueError("sample_weight expects a number above 0 for at least one row of two classes, found zeros alone")
        self._learn(X, y, sample_weight)
        return self

    # --- predictions ---

    def _ask(self, X):
        check_is_fitted(self, "model_")
        return rows_to_ask(self, X)

    def predict(self, X):
        """The most probable class of each row; never unknown."""
        X, empty = filled(self._ask(X))
        numbers_of = self.model_.classes(X, threads_of(self.n_jobs))
        if empty is not None:
            numbers_of[empty] = self._own_logits().argmax()
        return self._labels[numbers_of]

    def _own_logits(self):
        """Logits of a row of zeros, which points nowhere: what the head says before it sees a row."""
        bias = self.model_.bias
        return bias if bias.size else np.zeros(len(self._labels), dtype=np.float32)

    def _logits(self, X):
        X, empty = filled(self._ask(X))
        logits = self.model_.logits(X, threads_of(self.n_jobs))
        if empty is not None:
            logits[empty] = self._own_logits()
        return logits if self._columns is None else logits[:, self._columns]

    def decision_function(self, X):
        """Logits of each class; for two classes the second's less the first's, of shape (n_samples,)."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X):
        """Probabilities of the classes: the softmax of the logits divided by ``temperature_``."""
        X, empty = filled(self._ask(X))
        fractions = self.model_.probabilities(X, threads_of(self.n_jobs))
        if empty is not None:
            own = np.exp((self._own_logits() - self._own_logits().max()) / self.temperature_)
            fractions[empty] = own / own.sum()
        return fractions if self._columns is None else fractions[:, self._columns]

    def predict_log_proba(self, X):
        """The logarithms of ``predict_proba``, finite also where a probability is too small for float32."""
        scaled = self._logits(X).astype(np.float64) / self.temperature_
        scaled -= scaled.max(axis=1, keepdims=True)
        exact = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        # Those near 1 as predict_proba rounds them.
        return np.where(exact > -0.1, np.log(np.exp(exact).astype(np.float32).astype(np.float64)), exact)

    def unknown_score(self, X):
        """How well each row is known: the larger, the better. ValueError where the model has no rejection rule."""
        return self._unknown_scores(self._ask(X))

    def _unknown_scores(self, X):
        """The same of checked rows."""
        X, empty = filled(X)
        scores = self.model_.unknown_scores(X, threads_of(self.n_jobs))
        if empty is not None:
            scores[empty] = -np.inf
        return scores

    def predict_unknown(self, X, false_reject=0.05):
        """Which rows resemble nothing that was learnt, when a fraction of ``false_reject`` of known inputs may be lost to that.

        Nothing is where the model has no rejection rule, for which it takes three classes with five rows between them, or 20
        rows that can be held out.
        """
        check_number("false_reject", false_reject, numbers.Real, least=0, most=1)
        X = self._ask(X)
        if not self.model_.rejects_unknown:
            return np.zeros(len(X), dtype=bool)
        return self._unknown_scores(X) < self.model_.unknown_threshold(false_reject)

    def catch_rate(self, false_reject=0.05):
        """The fraction of unknown inputs that :meth:`predict_unknown` is expected to catch at this ``false_reject``.

        Estimated from the training rows, for inputs that are like none of the classes but of the same kind. None where it is not
        known: the model has no rejection rule, or was fitted by an earlier version.
        """
        check_is_fitted(self, "model_")
        check_number("false_reject", false_reject, numbers.Real, least=0, most=1)
        return self.model_.catch_rate(false_reject)

    def explain(self, X, top=5, false_reject=0.05):
        """Why each row is predicted as it is: a list of dicts.

        ``label``, ``probability`` and the ``top`` classes with theirs; ``unknown`` and ``unknown_score``; ``boundary_distance``, how far the
        row can move before its prediction changes, in the unit of ``epsilon_``; ``nearest``, the training rows most like it.
        """
        X = self._ask(X)
        predictions = self.model_.predictions(X, false_reject=false_reject, explain=True, top=top, threads=threads_of(self.n_jobs))
        return [self._explained(prediction) for prediction in predictions]

    def _explained(self, prediction):
        ranked = [(self._labels[index], fraction) for index, fraction in prediction["top"]]
        nearest = [{"label": self._labels[near["class"]], "cosine": near["cosine"], "path": near["path"]}
                   for near in prediction["nearest"]]
        return {"label": ranked[0][0], "probability": ranked[0][1], "top": ranked, "unknown": prediction["rejected"],
                "unknown_score": prediction["unknown_score"], "boundary_distance": prediction["boundary_distance"], "nearest": nearest}

    # --- incremental updates ---

    def add_class(self, X, label):
        """Learns one more class from its rows, without training anew; says what that changed.

        TypeError for a label of another kind than those the model has: a string beside numbers.
        """
        X = self._rows_of(X, label)
        model, labels, report = self._with_class(self.model_, self._labels, X, label)
        self._become(model, labels)
        return report

    def add_examples(self, X, label):
        """Learns more rows of a class that is known; says what that changed."""
        X = self._rows_of(X, label)
        model, report = self._with_examples(self.model_, self._labels, X, label)
        self._become(model, self._labels)
        return report

    def _rows_of(self, X, label):
        """Checked rows of one class, those of zeros left out with a warning."""
        X = self._ask(X)
        return rows_with_direction(X, np.asarray([label] * len(X)))[0]

    def _with_class(self, model, labels, X, label):
        """A model with one more class, its labels and what that changed."""
        check_kind(labels, label)
        added = np.asarray([label], dtype=object if labels.dtype == object else None)
        updated, report = model.add_class(X, names_of(added)[0], threads_of(self.n_jobs))
        return updated, np.concatenate([labels, added]), report

    def _with_examples(self, model, labels, X, label):
        """A model with more rows of a class, and what that changed."""
        return model.add_examples(X, name_in(model, labels, label), threads_of(self.n_jobs))

    def remove_class(self, label):
        """Forgets a class; nothing is trained."""
        check_is_fitted(self, "model_")
        model, report = self.model_.remove_classes([name_in(self.model_, self._labels, label)], threads_of(self.n_jobs))
        self._become(model, self._labels[self._labels != label])
        return report

    def _become(self, model, labels):
        self.model_, self._labels = model, labels
        self._describe()

    # --- how it looks ---

    @property
    def coef_(self):
        """Weights of shape (n_classes, n_features), (1, n_features) for two classes: of rows transformed and scaled to length 1."""
        weights = self._fitted_model().weights
        if self.model_.head == "cosine":
            weights = weights * np.float32(COSINE_SCALE)
        if self._columns is not None:
            weights = weights[self._columns]
        return weights[1:] - weights[:1] if len(weights) == 2 else weights

    @property
    def intercept_(self):
        """What is added to ``coef_`` times a row."""
        bias = self._fitted_model().bias
        if not bias.size:
            bias = np.zeros(len(self.classes_), dtype=np.float32)
        if self._columns is not None:
            bias = bias[self._columns]
        return bias[1:] - bias[:1] if len(bias) == 2 else bias

    def _fitted_model(self):
        if "model_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self.model_

    def _repr_html_(self):
        return model_html(self)

    def _repr_mimebundle_(self, **_):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def name_in(model, labels, label):
    """The name that a model has for a label."""
    found = [number for number, each in enumerate(labels.tolist()) if each == label]
    if not found:
        raise ValueError(f"{label!r} is not among the {len(labels)} classes of the model")
    return model.class_names[found[0]]


def check_kind(labels, label):
    """TypeError where a label beside others would change what these are: numpy makes strings of numbers beside a string."""
    kinds = {"i": "iu", "u": "iu", "f": "iuf"}.get(labels.dtype.kind, labels.dtype.kind)
    if labels.dtype == object:
        same = isinstance(label, tuple({str if isinstance(each, str) else type(each) for each in labels.tolist()}))
    else:
        same = np.asarray([label]).dtype.kind in kinds
    if not same:
        raise TypeError(f"expected a label of the kind that the model has, such as {labels.tolist()[0]!r}, found {label!r}")


def names_of(labels):
    """The names that a model keeps for labels; they are text there, and unique."""
    names = [str(label) for label in labels.tolist()]
    if len(set(names)) != len(names):
        raise ValueError("expected labels that differ as text, found two that read the same")
    return names


def epochs_of(training):
    """Passes over the examples in the last training, from a model's record."""
    keys = ("epochs", "least_final_steps", "most_final_steps", "batch", "examples")
    epochs, least, most, batch, examples = (training.get(key, 0) for key in keys)
    if training.get("virtual_examples", True) and batch and examples:
        steps = -(-examples // batch)
        epochs = max(epochs, -(-least // steps))
        if most:
            epochs = min(epochs, -(-most // steps))
    return epochs
