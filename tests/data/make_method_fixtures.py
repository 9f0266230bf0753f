#!/usr/bin/env python3
"""Makes tests/data/methods/: two small feature sets, and what scikit-learn answers on them.

Needs NumPy and scikit-learn 1.2 (Debian: python3-sklearn). Run it from anywhere; the files are committed, so the tests do
not need it. Test rows on which a classifier of scikit-learn all but hesitates are left out: there, rounding decides.
"""
import json
import os

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC, LinearSVC

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "methods")
CLASSES, TEST_ROWS = 6, 12
COSTS = [0.01, 0.1, 1.0, 10.0, 100.0]
CLEAR = 1e-3  # least difference between the two best scores of a test row


def draw(shots, dimension, noise, seed):
    random = np.random.default_rng(seed)
    means = random.normal(size=(CLASSES, dimension)) + 0.5
    labels = np.repeat(np.arange(CLASSES), shots + TEST_ROWS)
    is_train = np.tile(np.arange(shots + TEST_ROWS) < shots, CLASSES)
    features = (means[labels] + noise * random.normal(size=(len(labels), dimension))).astype(np.float16)
    return features, labels, is_train


def classifiers(shots):
    return {
        "ncm": NearestCentroid(),
        "knn": KNeighborsClassifier(n_neighbors=min(5, shots)),
        "ridge": RidgeClassifier(),
        "logistic": LogisticRegression(tol=1e-8, max_iter=10000),
        "linear-svm": LinearSVC(tol=1e-8, max_iter=1000000),
        "svm at 1": SVC(kernel="linear", C=1.0, tol=1e-6),
        "svm": grid(shots),
    }


# Fold i leaves out row i of each class; the cost with the most rows named rightly, and of equals the least, wins.
def grid(shots):
    if shots == 1:
        return SVC(kernel="linear", C=1.0, tol=1e-6)
    folds = PredefinedSplit(np.tile(np.arange(shots), CLASSES))
    return GridSearchCV(SVC(kernel="linear", tol=1e-6), {"C": COSTS}, cv=folds)


def clear_rows(model, rows):
    if not hasattr(model, "decision_function"):
        return np.ones(len(rows), bool)
    scores = np.sort(model.decision_function(rows), axis=1)
    return scores[:, -1] - scores[:, -2] > CLEAR


def write(name, shots, dimension, noise, seed):
    features, labels, is_train = draw(shots, dimension, noise, seed)
    unit = features.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    models = {key: model.fit(unit[is_train], labels[is_train]) for key, model in classifiers(shots).items()}
    kept = is_train.copy()
    kept[~is_train] = np.logical_and.reduce([clear_rows(model, unit[~is_train]) for model in models.values()])
    np.savez(os.path.join(HERE, name + ".npz"), features=features[kept], labels=labels[kept], is_train=is_train[kept])
    asked = kept & ~is_train
    answers = {key: model.predict(unit[asked]).tolist() for key, model in models.items()}
    for key, predicted in answers.items():
        print(name, key, f"{np.mean(predicted == labels[asked]):.3f} of {asked.sum()}")
    if shots > 1:
        print(name, "cost", models["svm"].best_params_, models["svm"].cv_results_["mean_test_score"])
        answers["svm cost"] = models["svm"].best_params_["C"]
    return answers


expected = {
    "one_shot": write("one_shot", 1, 32, 1.2, 1),
    "five_shots": write("five_shots", 5, 16, 1.6, 2),
}
blocks = []
for name, answers in expected.items():
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items()]
    blocks.append(json.dumps(name) + ": {\n" + ",\n".join(lines) + "\n}")
with open(os.path.join(HERE, "expected.json"), "w") as file:
    file.write("{\n" + ",\n".join(blocks) + "\n}\n")
