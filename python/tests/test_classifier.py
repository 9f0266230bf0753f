"""FewShotClassifier and IbM2Classifier: what they take, what they predict, how they fit into scikit-learn."""
import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import annulus
from annulus import FewShotClassifier, IbM2Classifier, _core
from conftest import clusters

QUICK = {"epsilon": 0.5, "epochs": 10}


class Tensor:
    """As numpy sees a tensor of another library."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape

    def __array__(self, dtype=None):
        return self.array if dtype is None else self.array.astype(dtype)

    def __len__(self):
        return len(self.array)


@pytest.mark.parametrize("kind", [FewShotClassifier, IbM2Classifier])
def test_learns_and_has_the_usual_attributes(task, kind):
    X, y, X_new, y_new = task
    model = kind().fit(X, y)
    assert model.score(X_new, y_new) > 0.9
    assert model.classes_.tolist() == list(range(6))
    assert model.n_features_in_ == 24
    assert model.epsilon_ > 0 and model.temperature_ > 0 and model.n_iter_ == (60 if kind is FewShotClassifier else 100)
    assert [set(probe) for probe in model.search_trace_][0] == {"epsilon", "accuracy", "passed", "low", "high", "seconds"}
    fractions = model.predict_proba(X_new)
    assert fractions.dtype == np.float32 and np.allclose(fractions.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(model.predict_log_proba(X_new), np.log(fractions), atol=1e-3)
    assert (model.classes_[fractions.argmax(axis=1)] == model.predict(X_new)).all()


@pytest.mark.parametrize("recipe, head", [("default", None), ("ibm2", None), ("ibm2", "linear")])
def test_coef_and_intercept_give_the_logits_of_unit_rows(task, recipe, head):
    X, y, X_new, _ = task
    model = FewShotClassifier(recipe, head=head, feature_transform="none", **QUICK).fit(X, y)
    unit = X_new / np.linalg.norm(X_new, axis=1, keepdims=True)
    assert np.allclose(unit @ model.coef_.T + model.intercept_, model.decision_function(X_new), atol=1e-4)
    two = FewShotClassifier(recipe, head=head, feature_transform="none", **QUICK).fit(X[y < 2], y[y < 2])
    assert two.coef_.shape == (1, 24) and two.decision_function(X_new).shape == (len(X_new),)
    assert np.allclose(unit @ two.coef_[0] + two.intercept_, two.decision_function(X_new), atol=1e-4)


def test_the_form_of_the_array_does_not_matter(task):
    X, y, X_new, _ = task
    X, X_new = X.astype(np.float16).astype(np.float32), X_new.astype(np.float16).astype(np.float32)
    expected = FewShotClassifier(**QUICK).fit(X, y).predict_proba(X_new)
    read_only = X.copy()
    read_only.setflags(write=False)
    wide = np.zeros((len(X), 2 * X.shape[1]), dtype=np.float32)
    wide[:, ::2] = X
    for form in (X.astype(np.float64), X.astype(np.float16), np.asfortranarray(X), read_only, wide[:, ::2], X.tolist(), Tensor(X)):
        model = FewShotClassifier(**QUICK).fit(form, y)
        assert np.array_equal(model.predict_proba(X_new), expected)
    model = FewShotClassifier(**QUICK).fit(X, y)
    for form in (X_new.astype(np.float64), np.asfortranarray(X_new), X_new.tolist(), Tensor(X_new)):
        assert np.array_equal(model.predict_proba(form), expected)


def test_torch_tensors(task):
    torch = pytest.importorskip("torch")
    X, y, X_new, _ = task
    model = FewShotClassifier(**QUICK).fit(torch.tensor(X), torch.tensor(y))
    assert np.array_equal(model.predict(torch.tensor(X_new)), FewShotClassifier(**QUICK).fit(X, y).predict(X_new))


def test_pandas_frames_and_labels(task):
    pandas = pytest.importorskip("pandas")
    X, y, X_new, _ = task
    frame = pandas.DataFrame(X, columns=[f"f{number}" for number in range(X.shape[1])])
    names = pandas.Series([f"bird {number}" for number in y], dtype="category")
    model = FewShotClassifier(**QUICK).fit(frame, names)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    answers = model.predict(pandas.DataFrame(X_new, columns=frame.columns))
    assert answers.tolist() == [f"bird {number}" for number in FewShotClassifier(**QUICK).fit(X, y).predict(X_new)]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pandas.DataFrame(X_new, columns=frame.columns[::-1]))


@pytest.mark.parametrize("labels", [np.array(["x", "y", "z", "u", "v", "w"]), np.array(list("abcdef"), dtype=object),
                                    np.array([-3, 5, 7, 100, 2, 1]), np.array([0.5, 1, 2, 3, 4, 5])[:0]])
def test_labels_of_any_kind_come_back(task, labels):
    X, y, X_new, _ = task
    if not labels.size:
        labels = np.array([True, False])
        X, y = X[y < 2], y[y < 2]
    model = FewShotClassifier(**QUICK).fit(X, labels[y])
    assert model.classes_.tolist() == np.unique(labels[y]).tolist()
    assert set(model.predict(X_new).tolist()) <= set(labels.tolist())
    assert model.predict(X_new).dtype == model.classes_.dtype


def test_weights(task):
    X, y, X_new, _ = task
    plain = FewShotClassifier(**QUICK).fit(X, y).decision_function(X_new)
    assert np.array_equal(FewShotClassifier(**QUICK).fit(X, y, sample_weight=np.full(len(y), 0.2)).decision_function(X_new), plain)
    weights = np.ones(len(y))
    weights[y == 0] = 5
    heavier = FewShotClassifier(**QUICK).fit(X, y, sample_weight=weights)
    assert not np.array_equal(heavier.decision_function(X_new), plain)
    half = np.arange(len(y)) % 2 == 0
    left = FewShotClassifier(**QUICK).fit(X, y, sample_weight=half)
    assert np.array_equal(left.decision_function(X_new), FewShotClassifier(**QUICK).fit(X[half], y[half]).decision_function(X_new))
    with pytest.raises(ValueError, match="(?i)negative"):
        FewShotClassifier(**QUICK).fit(X, y, sample_weight=-weights)
    with pytest.raises(ValueError, match="zeros alone"):
        FewShotClassifier(**QUICK).fit(X, y, sample_weight=0 * weights)


def test_seeds_and_threads(task):
    X, y, X_new, _ = task
    logits = lambda **options: FewShotClassifier(**QUICK, **options).fit(X, y).decision_function(X_new)  # noqa: E731
    assert np.array_equal(logits(n_jobs=1), logits(n_jobs=2))
    assert np.array_equal(logits(n_jobs=-2), logits(n_jobs=-1))
    assert not np.array_equal(logits(random_state=1), logits(random_state=2))
    assert np.array_equal(logits(random_state=np.random.RandomState(4)), logits(random_state=np.random.RandomState(4)))
    np.random.seed(1)
    first = logits(random_state=None)
    np.random.seed(1)
    assert np.array_equal(first, logits(random_state=None))


def test_rows_of_zeros(task):
    X, y, X_new, _ = task
    with_zeros = np.vstack([X, np.zeros((1, 24), dtype=np.float32)])
    with pytest.warns(UserWarning, match="1 of 37 rows are all zeros"):
        model = FewShotClassifier(**QUICK).fit(with_zeros, np.append(y, 3))
    assert np.array_equal(model.predict(X_new), FewShotClassifier(**QUICK).fit(X, y).predict(X_new))
    nowhere = np.zeros((1, 24))
    assert np.allclose(model.decision_function(nowhere), model.intercept_)
    assert model.predict(nowhere)[0] == model.classes_[model.predict_proba(nowhere)[0].argmax()]
    assert model.predict_unknown(nowhere).tolist() == [True]
    with pytest.raises(ValueError, match="none of the class 9"):
        FewShotClassifier(**QUICK).fit(with_zeros, np.append(y, 9))


def test_warm_start_keeps_the_radius(task):
    X, y, _, _ = task
    model = FewShotClassifier(warm_start=True, epochs=10).fit(X, y)
    radius = model.epsilon_
    assert model.search_trace_
    model.fit(X[:-1], y[:-1])
    assert model.epsilon_ == radius and not model.search_trace_


def test_partial_fit_grows(task):
    X, y, X_new, y_new = task
    order = np.argsort(y == 2, kind="stable")  # class 2 comes last
    first = order[:20]
    model = FewShotClassifier(epochs=20).partial_fit(X[first], y[first], classes=np.arange(6))
    assert model.classes_.tolist() == [0, 1, 3, 4, 5]
    radius = model.epsilon_
    model.partial_fit(X[order[20:]], y[order[20:]])
    assert model.classes_.tolist() == list(range(6)) and model.epsilon_ == radius
    assert model.score(X_new, y_new) > 0.9
    assert (model.classes_[model.predict_proba(X_new).argmax(axis=1)] == model.predict(X_new)).all()
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:1], [17])
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X_new), model.predict_proba(X_new))


def test_classes_come_and_go(task):
    X, y, X_new, y_new = task
    model = FewShotClassifier(epochs=20).fit(X[y != 4], y[y != 4])
    report = model.add_class(X[y == 4], 4)
    assert report["examples_learnt"] == np.count_nonzero(y == 4)
    assert model.score(X_new, y_new) > 0.9
    model.add_examples(X_new[y_new == 4][:2], 4)
    model.remove_class(0)
    assert model.classes_.tolist() == [1, 2, 3, 4, 5]
    assert 0 not in model.predict(X_new)
    with pytest.raises(ValueError, match="not among the 5 classes"):
        model.remove_class(0)


def test_a_label_of_another_kind_is_rejected(task):
    X, y, X_new, _ = task
    for labels, strange, fine in ((y, "wren", 7), (y, 9.0, np.int8(9)), (np.array(list("abcdef"))[y], 3, "g"),
                                  (np.array(list("abcdef"), dtype=object)[y], 3, np.str_("g")), (y.astype(float), "wren", 100)):
        model = FewShotClassifier(**QUICK, calibrate=False).fit(X, labels)
        kind, expected = model.classes_.dtype.kind, model.predict_proba(X_new)
        with pytest.raises(TypeError, match="of the kind that the model has"):
            model.add_class(X[:2], strange)
        with pytest.raises(TypeError, match="of the kind that the model has"):
            model.partial_fit(X[:2], [strange, strange])
        assert np.array_equal(model.predict_proba(X_new), expected)
        model.add_class(X[:2], fine)
        assert model.classes_.dtype.kind == kind and len(model.classes_) == 7 and fine in model.classes_.tolist()


def test_frames_grow_and_are_rejected_without_warnings(task, recwarn):
    pandas = pytest.importorskip("pandas")
    X, y, X_new, _ = task
    columns = [f"f{number}" for number in range(X.shape[1])]
    frame, new = pandas.DataFrame(X, columns=columns), pandas.DataFrame(X_new, columns=columns)
    model = FewShotClassifier(epochs=10).partial_fit(frame[y != 4], y[y != 4])
    model.partial_fit(frame[y == 4], y[y == 4])
    model.add_examples(frame[y == 4], 4)
    model.predict_unknown(new)
    assert [str(each.message) for each in recwarn] == []


def test_partial_fit_takes_what_fit_takes(task):
    X, y, X_new, _ = task
    nowhere = np.zeros((1, 24), dtype=np.float32)
    model = FewShotClassifier(epochs=10).partial_fit(X[y != 4], y[y != 4])
    same = FewShotClassifier(epochs=10).partial_fit(X[y != 4], y[y != 4])
    with pytest.warns(UserWarning, match="1 of 5 rows are all zeros"):
        model.partial_fit(np.vstack([X[y == 4][:4], nowhere]), [4, 4, 4, 4, 0])
    same.partial_fit(X[y == 4][:4], [4] * 4)
    assert np.array_equal(model.predict_proba(X_new), same.predict_proba(X_new))
    # What cannot be learnt leaves the model as it was, though an earlier label of the call could be.
    with pytest.raises(ValueError, match="none of the class 9"):
        model.partial_fit(np.vstack([X[:1], nowhere]), [3, 9])
    assert np.array_equal(model.predict_proba(X_new), same.predict_proba(X_new))
    with pytest.warns(UserWarning, match="1 of 3 rows"):
        assert model.add_class(np.vstack([X[:2], nowhere]), 11)["examples_learnt"] == 2


def test_tiny_weights_count_beside_each_other(task):
    X, y, X_new, _ = task
    weights = 1.0 + (y == 0)
    expected = FewShotClassifier(**QUICK).fit(X, y, sample_weight=weights).decision_function(X_new)
    for scale in (1e-60, 1e60):
        assert np.array_equal(FewShotClassifier(**QUICK).fit(X, y, sample_weight=scale * weights).decision_function(X_new), expected)
    # What is nothing beside the others in float32 is left out, as 0 is.
    weights[3] = 1e-60
    without = np.arange(len(y)) != 3
    left = FewShotClassifier(**QUICK).fit(X, y, sample_weight=weights).decision_function(X_new)
    assert np.array_equal(left, FewShotClassifier(**QUICK).fit(X[without], y[without], weights[without]).decision_function(X_new))


@pytest.mark.parametrize("kind", [annulus.NearestPrototype, annulus.LinearSVM])
def test_a_pickle_does_not_follow_the_callers_array(task, kind):
    X, y, X_new, _ = task
    X = X.copy()
    model = kind().fit(X, y)
    expected = model.decision_function(X_new)
    X[:] = X[::-1].copy()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X_new), expected)


def test_unknown_and_reasons(task):
    X, y, X_new, _ = task
    model = FewShotClassifier(epochs=20).fit(X, y)
    strange = np.random.default_rng(9).normal(size=(40, 24)).astype(np.float32)
    assert model.predict_unknown(strange).mean() > model.predict_unknown(X_new).mean()
    assert not model.predict_unknown(strange, false_reject=0).any()
    assert model.catch_rate(0) == 0 < model.catch_rate() <= model.catch_rate(0.2) <= 1
    assert FewShotClassifier(calibrate=False, **QUICK).fit(X, y).catch_rate() is None
    assert model.unknown_score(X_new).shape == (len(X_new),)
    reasons = model.explain(X_new[:3], top=2)
    assert [each["label"] for each in reasons] == model.predict(X_new[:3]).tolist()
    assert len(reasons[0]["top"]) == 2 and len(reasons[0]["nearest"]) == 3 and reasons[0]["boundary_distance"] > 0
    assert reasons[0]["probability"] == pytest.approx(model.predict_proba(X_new[:1]).max())


def test_copies(task, tmp_path):
    X, y, X_new, _ = task
    names = np.array([f"c{number}" for number in range(6)])[y]
    model = FewShotClassifier(**QUICK).fit(X, names)
    expected = model.predict_proba(X_new)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(again.predict_proba(X_new), expected)
        assert again.predict(X_new).tolist() == model.predict(X_new).tolist()
        assert again.search_trace_ == model.search_trace_ and again.get_params() == model.get_params()
    assert b"safetensors" not in pickle.dumps(model) and b"annulus-model" in pickle.dumps(model)
    assert not hasattr(clone(model), "model_")


def test_at_home_in_scikit_learn(task):
    X, y, X_new, y_new = task
    pipeline = make_pipeline(StandardScaler(), FewShotClassifier(**QUICK))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(FewShotClassifier(epochs=10), {"epsilon": [0.2, 0.5], "recipe": ["ibm2", "default"]}, cv=2).fit(X, y)
    assert search.score(X_new, y_new) > 0.9
    calibrated = CalibratedClassifierCV(FewShotClassifier(**QUICK), cv=2).fit(X, y)
    assert calibrated.score(X_new, y_new) > 0.9
    boosted = AdaBoostClassifier(FewShotClassifier(**QUICK), n_estimators=2, random_state=0).fit(X, y)
    assert boosted.score(X_new, y_new) > 0.9


@pytest.mark.parametrize("name, value, error", [
    ("epsilon", -1, ValueError), ("epsilon", "wide", TypeError), ("recipe", "pie", ValueError), ("n_virtual", 0, ValueError),
    ("epochs", 1.5, TypeError), ("head", "round", ValueError), ("feature_transform", "hard", ValueError), ("n_jobs", 0, ValueError),
    ("random_state", -1, ValueError), ("label_smoothing", 2, ValueError), ("progress", 3, TypeError)])
def test_parameters_that_make_no_sense(task, name, value, error):
    with pytest.raises(error, match=name):
        FewShotClassifier(**{name: value}).fit(*task[:2])


def test_errors_of_the_library_name_keyword_arguments(task):
    X, y, X_new, _ = task
    with pytest.raises(ValueError, match="^expected learning_rate= to be above 0 and at most 1000000, found inf$"):
        IbM2Classifier(learning_rate=np.inf).fit(X, y)
    options = _core.RecipeOptions()
    options.virtual_count = 0
    with pytest.raises(ValueError, match="^expected n_virtual= to be 1 or more, found 0$"):
        _core.fit(X, y.astype(np.int32), [str(c) for c in range(6)], recipe=options)
    with pytest.raises(ValueError, match="^expected false_reject= to be a rate from 0 to less than 1, found 1.5$"):
        IbM2Classifier(**QUICK).fit(X, y).explain(X_new[:1], false_reject=1.5)


def test_data_that_makes_no_sense(task):
    X, y, _, _ = task
    with pytest.raises(ValueError, match="two classes"):
        FewShotClassifier().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="expecting 24 features"):
        FewShotClassifier(**QUICK).fit(X, y).predict(X[:, :5])
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="too large for dtype\\('float32'\\)"):
        FewShotClassifier(**QUICK).fit(X.astype(np.float64) * 1e300, y)


def test_notebooks_see_a_table(task):
    X, y, _, _ = task
    model = FewShotClassifier(epochs=5)
    assert "not fitted" in model._repr_html_()
    page = model.fit(X, np.array(["<b>", "b", "c", "d", "e", "f"])[y])._repr_html_()
    assert "&lt;b&gt;" in page and "<svg" in page and "radius" in page
    assert "text/html" in model._repr_mimebundle_()


def test_the_method_alone_is_the_recipe_ibm2(task):
    X, y, X_new, _ = task
    alone = IbM2Classifier(epochs=10).fit(X, y)
    assert alone.get_params().keys() == FewShotClassifier().get_params().keys()
    same = FewShotClassifier("ibm2", epochs=10).fit(X, y)
    assert np.array_equal(alone.decision_function(X_new), same.decision_function(X_new))
    assert alone.model_.head == "cosine" and "ensemble_ridge_weight" not in alone.model_.training
    assert FewShotClassifier(epochs=10).fit(X, y).model_.training["ensemble_prototype_weight"] == 1.0


def test_the_record_has_types(task):
    X, y, _, _ = task
    record = FewShotClassifier(epochs=10, random_state=3).fit(X, y).model_.training
    assert record["recipe"] == "default" and record["epochs"] == 10 and record["seed"] == 3 and record["examples"] == len(y)
    assert record["virtual_examples"] is True and isinstance(record["training_accuracy"], float)


def test_the_baseline_is_that_of_the_library():
    X, y = clusters()
    assert annulus.CosineHead(epochs=20).fit(X, y).epsilon_ == 0
    assert annulus.CosineHead(epochs=20).fit(X, y).score(X, y) > 0.9


def test_names_of_classes_decide_nothing(task):
    X, y, X_new, _ = task
    model = FewShotClassifier(**QUICK).fit(X, y)
    names = np.array(["plum", "fig", "kiwi", "apple", "pear", "date"])
    renamed = FewShotClassifier(**QUICK).fit(X, names[y])
    places = np.searchsorted(renamed.classes_, names)
    assert not np.array_equal(places, np.arange(6))
    assert np.array_equal(renamed.coef_[places], model.coef_)
    assert np.array_equal(renamed.intercept_[places], model.intercept_)
    assert renamed.temperature_ == model.temperature_
    assert np.array_equal(renamed.predict(X_new), names[model.predict(X_new)])


def test_unlabelled_rows_tell_how_rows_of_a_class_differ():
    rng = np.random.default_rng(3)
    classes, dimension = 8, 32
    means = rng.normal(size=(classes, dimension))
    spread = np.zeros(dimension)
    spread[:4] = 4.0  # directions that say nothing about the class

    def drawn(count):
        labels = np.repeat(np.arange(classes), count)
        rows = means[labels] + rng.normal(size=(len(labels), dimension)) * (0.1 + spread)
        return rows.astype(np.float32), labels

    X, y = drawn(1)
    Z, _ = drawn(60)
    test, truth = drawn(40)
    alone = FewShotClassifier(calibrate=False, n_jobs=1).fit(X, y)
    helped = FewShotClassifier(calibrate=False, n_jobs=1).fit(X, y, unlabelled=Z)
    assert "unlabelled examples used" in helped.unlabelled_use_
    assert alone.unlabelled_use_ is None
    assert helped.score(test, truth) > alone.score(test, truth) + 0.2
    # scikit-learn's convention gives the same.
    both = FewShotClassifier(calibrate=False, n_jobs=1).fit(
        np.concatenate([X, Z]), np.concatenate([y, np.full(len(Z), -1)]), unlabelled_label=-1)
    np.testing.assert_array_equal(both.predict_proba(test), helped.predict_proba(test))
    with pytest.raises(ValueError, match="features"):
        FewShotClassifier(**QUICK).fit(X, y, unlabelled=Z[:, :5])
