"""Model files, and that Python and the command line are one and the same."""
import json
import subprocess

import numpy as np
import pytest

import annulus
from annulus import IbM2Classifier
from conftest import clusters


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def birds(tmp_path):
    X, y = clusters(classes=7, shots=10, seed=4)
    names = np.array([f"bird {number}" for number in range(7)])[y]
    np.savez(tmp_path / "train.npz", features=np.abs(X[:42]), labels=names[:42])
    np.savez(tmp_path / "new.npz", features=np.abs(X[42:]))
    return np.abs(X[:42]), names[:42], np.abs(X[42:])


@pytest.mark.parametrize("options, kind, parameters", [
    ([], IbM2Classifier, {}), (["--recipe", "ibm2", "--epochs", "20"], IbM2Classifier, {"recipe": "ibm2", "epochs": 20}),
    (["--method", "baseline"], annulus.CosineHead, {}), (["--epsilon", "0.4", "--no-calibrate"], IbM2Classifier,
                                                        {"epsilon": 0.4, "calibrate": False})])
def test_the_same_bits_as_the_command_line(program, tmp_path, birds, options, kind, parameters):
    X, names, X_new = birds
    run(program, "fit", tmp_path / "train.npz", "--seed", 5, "-q", "-o", tmp_path / "cli.safetensors", *options)
    model = kind(random_state=5, **parameters).fit(X, names)
    annulus.save(model, tmp_path / "python.safetensors")
    answers = []
    for name in ("cli", "python"):
        run(program, "predict", tmp_path / f"{name}.safetensors", tmp_path / "new.npz", "--top", 7, "--format", "jsonl", "-q", "-o",
            tmp_path / f"{name}.jsonl")
        answers.append((tmp_path / f"{name}.jsonl").read_text())
    assert answers[0] == answers[1]
    lines = [json.loads(line) for line in answers[0].splitlines()]
    assert [line["best"] if "best" in line else line["label"] for line in lines] == model.predict(X_new).tolist()
    shares = model.predict_proba(X_new)
    for row, line in enumerate(lines):
        told = {each["label"]: np.float32(each["probability"]) for each in line["top"]}
        assert [told[name] for name in model.classes_] == shares[row].tolist()
    if model.model_.knows_strangers:
        assert [line["unknown"] for line in lines] == model.predict_unknown(X_new).tolist()
        assert [np.float32(line["unknown_score"]) for line in lines] == model.unknown_score(X_new).tolist()
    loaded = annulus.load(tmp_path / "cli.safetensors")
    assert type(loaded) is kind
    assert np.array_equal(loaded.decision_function(X_new), model.decision_function(X_new))


def test_the_command_line_grows_what_python_saved(program, tmp_path, birds):
    X, names, X_new = birds
    known = names != "bird 3"
    model = IbM2Classifier(epochs=20).fit(X[known], names[known])
    annulus.save(model, tmp_path / "model.safetensors")
    np.savez(tmp_path / "more.npz", features=X[~known])
    run(program, "add-class", tmp_path / "model.safetensors", tmp_path / "more.npz", "--name", "bird 3", "-q", "-o",
        tmp_path / "grown.safetensors")
    model.add_class(X[~known], "bird 3")
    grown = annulus.load(tmp_path / "grown.safetensors")
    assert np.array_equal(grown.predict_proba(X_new), model.predict_proba(X_new))
    assert grown.classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("labels", [np.array([3, -1, 70]), np.array([7.0, 1.0, 2.0]), np.array(["b", "c", "a"]),
                                    np.array(["b", "c", "a"], dtype=object), np.array([2, 1, 0], dtype=np.uint8)])
def test_labels_survive_a_file(tmp_path, labels):
    X, y = clusters(classes=3)
    model = IbM2Classifier(epsilon=0.5, epochs=5).fit(X, labels[y])
    annulus.save(model, tmp_path / "model.safetensors")
    again = annulus.load(tmp_path / "model.safetensors")
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.classes_.dtype == model.classes_.dtype
    assert [type(each) for each in again.classes_] == [type(each) for each in model.classes_]


def test_booleans_survive_a_file(tmp_path):
    X, y = clusters(classes=2)
    annulus.save(IbM2Classifier(epsilon=0.5, epochs=5).fit(X, y == 1), tmp_path / "model.safetensors")
    assert annulus.load(tmp_path / "model.safetensors").classes_.tolist() == [False, True]


def test_files_that_are_wrong(tmp_path):
    with pytest.raises(FileNotFoundError):
        annulus.load(tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"not a model")
    with pytest.raises(annulus.FormatError):
        annulus.load(tmp_path / "bad.safetensors")
    assert issubclass(annulus.FormatError, ValueError)
    X, y = clusters()
    model = IbM2Classifier(epsilon=0.5, epochs=5).fit(X, y)
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
