"""Classifiers whose fitted form is a model: what `annulus fit` writes and `annulus predict` reads."""
import numbers

import numpy as np

from ._model_classifier import ModelClassifier
from ._validation import check_choice, check_number, recipe_of, rows_to_ask, rows_with_direction, training_examples, weights_of


class RecipeClassifier(ModelClassifier):
    """What the classifiers that search for a radius have in common; they differ in the recipe that they follow by default."""

    def __init__(self, recipe="default", *, epsilon=None, n_virtual=None, threshold=None, learning_rate=None, epochs=None,
                 batch_size=None, head=None, feature_transform=None, metric=None, label_smoothing=None, search_epochs=None,
                 calibrate=True, random_state=0, n_jobs=None, warm_start=False, verbose=False, progress=None):
        self.recipe = recipe
        self.epsilon = epsilon
        self.n_virtual = n_virtual
        self.threshold = threshold
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.head = head
        self.feature_transform = feature_transform
        self.metric = metric
        self.label_smoothing = label_smoothing
        self.search_epochs = search_epochs
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.progress = progress

    def _radius_to_keep(self):
        return self.epsilon_ if self.warm_start and self.epsilon is None and hasattr(self, "model_") else None

    def _recipe(self, epsilon):
        check_number("epsilon", self.epsilon, numbers.Real, least=0)
        check_number("threshold", self.threshold, numbers.Real, least=0, most=1)
        check_number("learning_rate", self.learning_rate, numbers.Real, above=0)
        check_number("label_smoothing", self.label_smoothing, numbers.Real, least=0, most=1)
        for name in ("n_virtual", "epochs", "batch_size", "search_epochs"):
            check_number(name, getattr(self, name), numbers.Integral, least=1)
        check_choice("head", self.head, ("cosine", "linear"))
        check_choice("feature_transform", self.feature_transform, ("none", "centre", "auto"))
        return recipe_of(self.recipe, epsilon=self.epsilon if epsilon is None else epsilon, virtual_count=self.n_virtual,
                         threshold=self.threshold, learning_rate=self.learning_rate, epochs=self.epochs,
                         batch=self.batch_size, head=self.head, transform=self.feature_transform,
                         metric=None if self.metric is None else str(self.metric),
                         label_smoothing=self.label_smoothing, search_epochs=self.search_epochs)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learns from some rows now and more later.

        The first call fits the rows given, of at least two classes. Later calls update the model without a new fit: rows of
        a class it has are added to that class, rows of a new one become a class (``add_examples``, ``add_class``). The radius,
        temperature and rejection rule stay those of the first call. A call that raises changes nothing.

        Parameters
        ----------
        X, y : as in ``fit``
        classes : array-like, optional
            The labels that may ever come; another one is an error. ``classes_`` holds those that rows came for.
        sample_weight : array-like, optional
            As in ``fit`` for the first call; later it may only leave rows out, by zeros beside equal numbers.
        """
        first = not hasattr(self, "model_")
        X, y = training_examples(self, X, y, reset=first)
        possible = getattr(self, "_possible", None) if classes is None else np.unique(classes)
        if possible is not None:
            strange = np.setdiff1d(y, possible)
            if strange.size:
                raise ValueError(f"y has the class {strange[0]!r}, which is not among the classes given to partial_fit")
        sample_weight = weights_of(sample_weight, X)
        if first:
            self._learn(X, y, sample_weight)
        else:
            self._update(X, y, sample_weight)
        self._possible = possible
        return self

    def _update(self, X, y, sample_weight):
        """Learns more from checked rows, all of them or none."""
        if sample_weight is not None:
            counted = sample_weight > 0
            if np.unique(sample_weight[counted]).size > 1:
                raise ValueError("sample_weight expects zeros beside equal numbers after the first partial_fit, found others")
            X, y = X[counted], y[counted]
        X, y, _ = rows_with_direction(X, y, known=self._labels)
        model, labels = self.model_, self._labels
        for label in np.unique(y):
            if label in labels.tolist():
                model, _ = self._with_examples(model, labels, X[y == label], label)
            else:
                model, labels, _ = self._with_class(model, labels, X[y == label], label)
        self._become(model, labels)

    def fit(self, X, y, sample_weight=None, *, unlabelled=None, unlabelled_label=None):
        """Learns from rows of features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of features. Rows that are all zeros point nowhere and are left out, with a warning.
        y : array-like of shape (n_samples,)
            Labels: numbers, strings or booleans.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts beside the others. Only ratios matter; a row of weight 0 is left out.
        unlabelled : array-like of shape (n_more, n_features), optional
            More rows of the same kind without labels, as ``annulus fit --unlabelled``: how they differ from their nearest
            neighbours tells how rows of one class differ, which helps most where classes have one or two rows.
            ``unlabelled_use_`` says what became of them.
        unlabelled_label : label, optional
            Rows of X that have this label have none: -1 is the convention of scikit-learn's semi-supervised estimators. They join
            ``unlabelled``. None: every label is a class.

        Returns
        -------
        self
        """
        self._possible = None
        X, y = training_examples(self, X, y)
        sample_weight = weights_of(sample_weight, X)
        pool = None if unlabelled is None else rows_to_ask(self, unlabelled)
        if unlabelled_label is not None:
            without = y == unlabelled_label
            pool = X[without] if pool is None else np.concatenate([pool, X[without]])
            X, y = X[~without], y[~without]
            sample_weight = None if sample_weight is None else sample_weight[~without]
        if sample_weight is not None and not sample_weight.any():
            raise ValueError("sample_weight expects a number above 0 for at least one row of two classes, found zeros alone")
        if pool is not None:
            pool = pool[pool.any(axis=1)]
        self._learn(X, y, sample_weight, pool if pool is not None and len(pool) else None)
        self.unlabelled_use_ = self._fit_record.get("unlabelled")
        return self


class FewShotClassifier(RecipeClassifier):
    """Classifier for a few examples of each of many classes: what ``annulus fit`` does.

    Features are transformed, a head is trained on virtual examples at the largest radius at which classes can be told apart
    (IbM2), two heads in closed form vote beside it, and examples held out give the temperature of its probabilities and the rule
    by which it rejects unknown inputs. The same rows, parameters and seed give the same numbers as the command line.

    Parameters
    ----------
    recipe : str
        What is done, and where all its numbers come from, as ``annulus fit --recipe``: "default", "ibm2", "paper" and others.
    epsilon : float, optional
        The radius; skips the search.
    n_virtual, threshold, learning_rate, epochs, batch_size, head, feature_transform, label_smoothing, search_epochs : optional
        Each overrides the recipe. ``head`` is "cosine" or "linear", ``feature_transform`` is "none", "centre" or "auto".
    metric : str or path, optional
        The metric that the head is trained in, as ``annulus fit --metric``: "none", "data", "backbone" or a metric file.
    calibrate : bool
        Hold examples out to learn the temperature of probabilities and when to predict unknown. The paper's recipes never do.
    random_state : int, RandomState or None
        An integer is the seed of the command line. None draws one from numpy's global state.
    n_jobs : int, optional
        Threads; None and -1 are all processors. Results do not depend on it.
    warm_start : bool
        A second fit keeps the radius that the first one found, which saves the search.
    verbose : bool
        Show progress by tqdm, or on standard error where it is not installed.
    progress : callable, optional
        Called as ``progress(stage, done, total, detail)``; returning False stops the fit by ``annulus.Cancelled``.

    Attributes
    ----------
    classes_ : the labels, sorted
    epsilon_ : the radius found
    temperature_ : what logits are divided by to become probabilities
    search_trace_ : a dict for each probe of the search
    coef_, intercept_ : the linear form of the head, for rows transformed and scaled to length 1
    n_iter_ : passes over the examples in the last training
    model_ : the model itself

    Examples
    --------
    >>> import numpy as np
    >>> from annulus import FewShotClassifier
    >>> rng = np.random.default_rng(0)
    >>> means = rng.normal(size=(3, 8))
    >>> names = np.array(["jay", "kite", "wren"])
    >>> y = names[np.repeat(np.arange(3), 4)]
    >>> X = means[np.repeat(np.arange(3), 4)] + 0.2 * rng.normal(size=(12, 8))
    >>> birds = FewShotClassifier(random_state=1).fit(X, y)
    >>> birds.predict(means).tolist()
    ['jay', 'kite', 'wren']
    >>> birds.epsilon_ > 0
    True
    >>> birds.predict_proba(X).shape
    (12, 3)
    """


class IbM2Classifier(RecipeClassifier):
    """Instance-based max-margin classifier (IbM2), the method alone: what ``annulus fit --recipe ibm2`` does.

    Around every training example it draws virtual examples and searches for the largest radius at which those of different classes
    can be told apart; a cosine head trained at that radius classifies. Features are not transformed, and no other head votes.
    ``FewShotClassifier`` is usually more accurate.

    Parameters
    ----------
    recipe : str
        Where all numbers come from: "ibm2", or the paper's own, "paper", "paper-resnet50" and "paper-episodes".
    epsilon : float, optional
        The radius; skips the search.
    n_virtual, threshold, learning_rate, epochs, batch_size, head, feature_transform, label_smoothing, search_epochs : optional
        Each overrides the recipe. ``head`` is "cosine" or "linear", ``feature_transform`` is "none", "centre" or "auto".
    calibrate : bool
        Hold examples out to learn the temperature of probabilities and when to predict unknown. The paper's recipes never do.
    random_state : int, RandomState or None
        An integer is the seed of the command line. None draws one from numpy's global state.
    n_jobs : int, optional
        Threads; None and -1 are all processors. Results do not depend on it.
    warm_start : bool
        A second fit keeps the radius that the first one found, which saves the search.
    verbose : bool
        Show progress by tqdm, or on standard error where it is not installed.
    progress : callable, optional
        Called as ``progress(stage, done, total, detail)``; returning False stops the fit by ``annulus.Cancelled``.

    Attributes
    ----------
    classes_ : the labels, sorted
    epsilon_ : the radius found
    temperature_ : what logits are divided by to become probabilities
    search_trace_ : a dict for each probe of the search
    coef_, intercept_ : the linear form of the head, for rows transformed and scaled to length 1
    n_iter_ : passes over the examples in the last training
    model_ : the model itself

    Examples
    --------
    >>> import numpy as np
    >>> from annulus import IbM2Classifier
    >>> X = np.array([[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8]])
    >>> model = IbM2Classifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['a', 'b']
    """

    def __init__(self, recipe="ibm2", *, epsilon=None, n_virtual=None, threshold=None, learning_rate=None, epochs=None,
                 batch_size=None, head=None, feature_transform=None, metric=None, label_smoothing=None, search_epochs=None,
                 calibrate=True, random_state=0, n_jobs=None, warm_start=False, verbose=False, progress=None):
        super().__init__(recipe, epsilon=epsilon, n_virtual=n_virtual, threshold=threshold, learning_rate=learning_rate, epochs=epochs,
                         batch_size=batch_size, head=head, feature_transform=feature_transform, metric=metric,
                         label_smoothing=label_smoothing, search_epochs=search_epochs, calibrate=calibrate,
                         random_state=random_state, n_jobs=n_jobs, warm_start=warm_start, verbose=verbose, progress=progress)


class CosineHead(ModelClassifier):
    """The head that IbM2 trains, on the training examples themselves: what ``annulus fit --recipe baseline`` does.

    Parameters as those of the same names of ``FewShotClassifier``; of a recipe that is named, the numbers of this head count.

    >>> import numpy as np
    >>> from annulus import CosineHead
    >>> X = np.array([[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8]])
    >>> CosineHead().fit(X, [0, 0, 1, 1]).predict([[1, 0], [0, 1]]).tolist()
    [0, 1]
    """

    def __init__(self, recipe="baseline", *, learning_rate=None, epochs=None, batch_size=None, head=None, feature_transform=None,
                 label_smoothing=None, calibrate=True, random_state=0, n_jobs=None, verbose=False, progress=None):
        self.recipe = recipe
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.head = head
        self.feature_transform = feature_transform
        self.label_smoothing = label_smoothing
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def _recipe(self, epsilon):
        check_number("learning_rate", self.learning_rate, numbers.Real, above=0)
        check_number("label_smoothing", self.label_smoothing, numbers.Real, least=0, most=1)
        for name in ("epochs", "batch_size"):
            check_number(name, getattr(self, name), numbers.Integral, least=1)
        check_choice("head", self.head, ("cosine", "linear"))
        check_choice("feature_transform", self.feature_transform, ("none", "centre", "auto"))
        return recipe_of(self.recipe, virtual_examples=False, learning_rate=self.learning_rate, epochs=self.epochs,
                         batch=self.batch_size, head=self.head, transform=self.feature_transform, label_smoothing=self.label_smoothing)
