"""What every estimator asks of its arguments: rows, labels, seeds, threads."""
import numbers
import warnings

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from . import _core

try:
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:  # scikit-learn before 1.6

    def _validate_data(estimator, *arguments, **options):
        return estimator._validate_data(*arguments, **options)


def training_examples(estimator, X, y, reset=True):
    """X as float32 rows, not copied where they are such already, and y as one label a row."""
    X, y = _validate_data(estimator, X, y, dtype=np.float32, order="C", multi_output=True, reset=reset)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    return X, y


def rows_to_ask(estimator, X):
    """X as float32 rows of as many numbers as the estimator was fitted on."""
    return _validate_data(estimator, X, dtype=np.float32, order="C", reset=False)


def weights_of(sample_weight, X):
    """Weights as the library takes them, float32 with 1 as the largest; None where there are none.

    Only ratios matter, so that weights too small for float32 count as 0 only beside much larger ones.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, only_non_negative=True)
    return (weights / (weights.max(initial=0) or 1)).astype(np.float32)


def rows_with_direction(X, y, sample_weight=None, known=()):
    """Rows are compared by their direction, and zeros have none: such rows are left out, with a warning.

    For a cosine head that is exact: the gradient of a row of zeros is zero. A class of such rows alone cannot be learnt; more rows of
    a class that is known may be zeros alone.
    """
    useful = X.any(axis=1)
    if useful.all():
        return X, y, sample_weight
    known = set(np.asarray(known).tolist())
    lost = [label for label in np.setdiff1d(y, y[useful]).tolist() if label not in known]
    if lost:
        raise ValueError(f"expected a row that is not all zeros of every class, found none of the class {lost[0]!r}")
    warnings.warn(f"{np.count_nonzero(~useful)} of {len(X)} rows are all zeros and were left out", UserWarning, stacklevel=4)
    return X[useful], y[useful], None if sample_weight is None else sample_weight[useful]


def filled(X):
    """X with rows of ones in place of rows of zeros, and which they are; None where there are none."""
    empty = ~X.any(axis=1)
    if not empty.any():
        return X, None
    X = X.copy()
    X[empty] = 1
    return X, empty


def threads_of(n_jobs):
    """n_jobs as the library counts: None and -1 are all processors, which is what results never depend on."""
    if n_jobs is None or n_jobs == -1:
        return 0
    check_number("n_jobs", n_jobs, numbers.Integral)
    if n_jobs == 0:
        raise ValueError("n_jobs expects a number other than 0, found 0")
    return int(n_jobs) if n_jobs > 0 else max(1, _core.hardware_threads() + 1 + int(n_jobs))


def seed_of(random_state):
    """An integer is the seed itself, as on the command line; anything else is drawn from, as scikit-learn does."""
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"random_state expects a seed of 0 or more, found {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def check_number(name, value, kind, least=None, most=None, above=None):
    """Raises TypeError or ValueError with a sentence; None passes."""
    if value is None:
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        expected = "an integer" if kind is numbers.Integral else "a number"
        raise TypeError(f"{name} expects {expected}, found {value!r}")
    if least is not None and not value >= least:
        raise ValueError(f"{name} expects {least} or more, found {value}")
    if most is not None and not value <= most:
        raise ValueError(f"{name} expects at most {most}, found {value}")
    if above is not None and not value > above:
        raise ValueError(f"{name} expects more than {above}, found {value}")


def check_choice(name, value, choices):
    if value is not None and value not in choices:
        raise ValueError(f"{name} expects one of {', '.join(choices)}, found {value!r}")


def recipe_of(recipe, **numbers_given):
    """The library's options from a recipe's name and the numbers that override it."""
    check_choice("recipe", recipe, _core.recipe_names())
    options = _core.RecipeOptions()
    options.recipe = recipe
    for name, value in numbers_given.items():
        if value is not None:
            setattr(options, name, value)
    return options
