"""scikit-learn's own checks of estimators, none skipped and none expected to fail."""
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import annulus

ESTIMATORS = [annulus.FewShotClassifier(), annulus.IbM2Classifier(), annulus.CosineHead(), *(each() for each in annulus.BASELINES.values())]


@parametrize_with_checks(ESTIMATORS)
def test_check(estimator, check):
    pytest.importorskip("pandas")  # without it scikit-learn skips some of its checks
    check(estimator)


def test_nothing_is_excused():
    for estimator in ESTIMATORS:
        tags = estimator._get_tags()
        assert not tags["_xfail_checks"] and not tags["poor_score"] and not tags["non_deterministic"]
        assert not tags["_skip_test"] and not tags["no_validation"]
