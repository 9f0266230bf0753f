"""Model files, and that Python and the command line are one and the same."""
import json
import subprocess

import numpy as np
import pytest

import annulus
from annulus import FewShotClassifier, IbM2Classifier
from conftest import clusters


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def birds(tmp_path):
    return birds_of(tmp_path, 7, 10, 42)


def birds_of(folder, classes, shots, learnt):
    """Rows to learn from, their names and rows to ask about, which lie in the folder too."""
    X, y = clusters(classes=classes, shots=shots, seed=4)
    X, names = np.abs(X), np.array([f"bird {number:02}" for number in range(classes)])[y]
    np.savez(folder / "train.npz", features=X[:learnt], labels=names[:learnt])
    np.savez(folder / "new.npz", features=X[learnt:])
    return X[:learnt], names[:learnt], X[learnt:]


@pytest.mark.parametrize("options, kind, parameters", [
    ([], FewShotClassifier, {}), (["--recipe", "ibm2", "--epochs", "20"], IbM2Classifier, {"epochs": 20}),
    (["--recipe", "baseline"], annulus.CosineHead, {}), (["--epsilon", "0.4", "--no-calibrate"], FewShotClassifier,
                                                        {"epsilon": 0.4, "calibrate": False})])
def test_the_same_bits_as_the_command_line(program, tmp_path, options, kind, parameters):
    # More classes and rows than the products have that are made for few: their sums go another way.
    X, names, X_new = birds_of(tmp_path, 40, 8, 240)
    assert len(X_new) >= 60 and len(set(names)) == 40
    run(program, "fit", tmp_path / "train.npz", "--seed", 5, "-q", "-o", tmp_path / "cli.safetensors", *options)
    model = kind(random_state=5, **parameters).fit(X, names)
    annulus.save(model, tmp_path / "python.safetensors")
    answers = []
    for name in ("cli", "python"):
        run(program, "predict", tmp_path / f"{name}.safetensors", tmp_path / "new.npz", "--top", 40, "--format", "jsonl", "-q", "-o",
            tmp_path / f"{name}.jsonl")
        answers.append((tmp_path / f"{name}.jsonl").read_text())
    assert answers[0] == answers[1]
    lines = [json.loads(line) for line in answers[0].splitlines()]
    assert [line["best"] if "best" in line else line["label"] for line in lines] == model.predict(X_new).tolist()
    fractions = model.predict_proba(X_new)
    for row, line in enumerate(lines):
        told = {each["label"]: np.float32(each["probability"]) for each in line["top"]}
        assert [told[name] for name in model.classes_] == fractions[row].tolist()
    if model.model_.rejects_unknown:
        assert [line["unknown"] for line in lines] == model.predict_unknown(X_new).tolist()
        assert [np.float32(line["unknown_score"]) for line in lines] == model.unknown_score(X_new).tolist()
    loaded = annulus.load(tmp_path / "cli.safetensors")
    assert type(loaded) is kind
    assert np.array_equal(loaded.decision_function(X_new), model.decision_function(X_new))


def test_the_command_line_grows_what_python_saved(program, tmp_path, birds):
    X, names, X_new = birds
    known = names != "bird 03"
    model = FewShotClassifier(epochs=20).fit(X[known], names[known])
    annulus.save(model, tmp_path / "model.safetensors")
    np.savez(tmp_path / "more.npz", features=X[~known])
    run(program, "add-class", tmp_path / "model.safetensors", tmp_path / "more.npz", "--name", "bird 03", "-q", "-o",
        tmp_path / "updated.safetensors")
    model.add_class(X[~known], "bird 03")
    updated = annulus.load(tmp_path / "updated.safetensors")
    assert np.array_equal(updated.predict_proba(X_new), model.predict_proba(X_new))
    assert updated.classes_.tolist() == model.classes_.tolist()


def test_numbers_grown_by_a_name_come_back_as_names(program, tmp_path):
    X, y = clusters(classes=3)
    np.savez(tmp_path / "more.npz", features=X[:3])
    for labels, number in ((np.array([3, 5, 70]), "400"), (np.array([3, 5, 70], dtype=np.uint8), "400"), (np.array([1.0, 2.0, 4.0]), "8.0"),
                           (np.array([False, True]), None)):
        classes = len(labels)
        annulus.save(FewShotClassifier(epsilon=0.5, epochs=5).fit(X[y < classes], labels[y[y < classes]]), tmp_path / "model.safetensors")
        updated = tmp_path / "updated.safetensors"
        run(program, "add-class", tmp_path / "model.safetensors", tmp_path / "more.npz", "--name", "robin", "-q", "-o", updated)
        model = annulus.load(updated)
        assert model.classes_.tolist() == sorted([*map(str, labels.tolist()), "robin"])
        assert set(model.predict(X)) <= set(model.classes_)
        if number is not None:
            run(program, "add-class", tmp_path / "model.safetensors", tmp_path / "more.npz", "--name", number, "-q", "-o", updated)
            assert annulus.load(updated).classes_.tolist() == [*np.sort(labels).tolist(), float(number)]


@pytest.mark.parametrize("labels", [np.array([3, -1, 70]), np.array([7.0, 1.0, 2.0]), np.array(["b", "c", "a"]),
                                    np.array(["b", "c", "a"], dtype=object), np.array([2, 1, 0], dtype=np.uint8)])
def test_labels_survive_a_file(tmp_path, labels):
    X, y = clusters(classes=3)
    model = FewShotClassifier(epsilon=0.5, epochs=5).fit(X, labels[y])
    annulus.save(model, tmp_path / "model.safetensors")
    again = annulus.load(tmp_path / "model.safetensors")
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.classes_.dtype == model.classes_.dtype
    assert [type(each) for each in again.classes_] == [type(each) for each in model.classes_]


def test_booleans_survive_a_file(tmp_path):
    X, y = clusters(classes=2)
    annulus.save(FewShotClassifier(epsilon=0.5, epochs=5).fit(X, y == 1), tmp_path / "model.safetensors")
    assert annulus.load(tmp_path / "model.safetensors").classes_.tolist() == [False, True]


def test_files_that_are_wrong(tmp_path):
    with pytest.raises(FileNotFoundError):
        annulus.load(tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"not a model")
    with pytest.raises(annulus.FormatError):
        annulus.load(tmp_path / "bad.safetensors")
    assert issubclass(annulus.FormatError, ValueError)
    X, y = clusters()
    model = FewShotClassifier(epsilon=0.5, epochs=5).fit(X, y)
    with pytest.raises(OSError):
        annulus.save(model, tmp_path / "no" / "folder.safetensors")
    with pytest.raises(TypeError, match="found str"):
        annulus.save("model", tmp_path / "model.safetensors")
    assert not list(tmp_path.glob("*.tmp"))


def test_feature_files_are_read(tmp_path, birds):
    X, names, _ = birds
    read, labels = annulus.read_features(tmp_path / "train.npz")
    assert np.array_equal(read, X) and labels.tolist() == names.tolist()
    assert annulus.read_features(tmp_path / "new.npz")[1] is None
