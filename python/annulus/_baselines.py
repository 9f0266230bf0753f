"""Simple methods to compare with, as `annulus evaluate` runs them."""
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._progress import listener
from ._validation import filled, recipe_of, rows_to_ask, rows_with_direction, seed_of, threads_of, training_examples


class MethodClassifier(ClassifierMixin, BaseEstimator):
    """A method by name. Its pickle holds the training examples, from which it is fitted anew: that gives the same bits."""

    _name = ""

    def __init__(self, *, random_state=0, n_jobs=None, verbose=False, progress=None):
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def fit(self, X, y):
        """Learns from rows of features and their labels."""
        X, y = training_examples(self, X, y)
        X, y, _ = rows_with_direction(X, y)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__} expects at least two classes to tell apart, found {len(classes)} class")
        self.classes_ = classes
        # The caller's array may change before a pickle is made.
        self._rows, self._numbers, self._seed = np.array(X), numbers.astype(np.int32), seed_of(self.random_state)
        self._fit_method()
        return self

    def _fit_method(self):
        self._fitted = _core.fit_method(self._name, self._rows, self._numbers, len(self.classes_), recipe_of("ibm2"),
                                        self._seed, threads_of(self.n_jobs), listener(self.verbose, self.progress))

    def predict(self, X):
        """The class of each row."""
        check_is_fitted(self, "classes_")
        X, empty = filled(rows_to_ask(self, X))
        numbers = self._fitted.predict(X)
        if empty is not None:
            numbers[empty] = 0
        return self.classes_[numbers]

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_fitted", None)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_rows" in state:
            self._fit_method()


class ScoredClassifier(MethodClassifier):
    """A method that scores the classes."""

    def decision_function(self, X):
        """Scores of the classes, larger for those that are more likely; for two classes the second's less the first's."""
        check_is_fitted(self, "classes_")
        X, empty = filled(rows_to_ask(self, X))
        scores = self._fitted.score(X)
        if empty is not None:
            scores[empty] = 0
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


def _baseline(class_name, name, meaning, base=ScoredClassifier):
    text = f"""{meaning}; the method "{name}" of `annulus evaluate`.

    >>> import numpy as np
    >>> from annulus import {class_name}
    >>> X = np.array([[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8]])
    >>> {class_name}().fit(X, ["a", "a", "b", "b"]).predict([[1, 0], [0, 1]]).tolist()
    ['a', 'b']
    """
    return type(class_name, (base,), {"_name": name, "__doc__": text, "__module__": __name__})


NearestPrototype = _baseline("NearestPrototype", "ncm", "The class whose mean is nearest")
SimpleShot = _baseline("SimpleShot", "simpleshot", "The nearest prototype of centred features")
NearestNeighbours = _baseline("NearestNeighbours", "knn", "Up to five nearest neighbours", MethodClassifier)
CacheModel = _baseline("CacheModel", "cache", "Tip-Adapter's cache of the training examples")
GaussianDiscriminant = _baseline("GaussianDiscriminant", "gda", "Gaussian discriminant analysis")
LinearDiscriminant = _baseline("LinearDiscriminant", "lda", "Linear discriminant analysis with Ledoit-Wolf shrinkage")
RidgeHead = _baseline("RidgeHead", "ridge", "Ridge regression onto the classes")
LogisticHead = _baseline("LogisticHead", "logistic", "Multinomial logistic regression, C 1")
LinearSVM = _baseline("LinearSVM", "linear-svm", "A linear SVM, one class against the rest, C 1")
PairwiseSVM = _baseline("PairwiseSVM", "svm", "Linear SVMs for each pair of classes, C chosen on the training examples")

BASELINES = {each._name: each for each in (NearestPrototype, SimpleShot, NearestNeighbours, CacheModel, GaussianDiscriminant,
                                           LinearDiscriminant, RidgeHead, LogisticHead, LinearSVM, PairwiseSVM)}
