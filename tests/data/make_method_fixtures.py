#!/usr/bin/env python3
"""Makes tests/data/methods/: small feature sets, and what scikit-learn, or a formula in NumPy, answers on them.

Needs NumPy and scikit-learn 1.2 (Debian: python3-sklearn). Run it from anywhere; the files are committed, so the tests do
not need it. Test rows on which a classifier all but hesitates are left out: there, rounding decides.
"""
import json
import os

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifier, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC, LinearSVC

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "methods")
CLASSES, TEST_ROWS = 6, 12
COSTS = [0.01, 0.1, 1.0, 10.0, 100.0]
INVERSE_COSTS = [0.1, 1.0, 10.0, 100.0, 1000.0]
CLEAR = 1e-3  # least difference between the two best scores of a test row, as a fraction of the largest range of scores


class Linear:
    """Scores weights . row + bias."""

    def decision_function(self, rows):
        return rows @ self.weights.T + self.bias

    def predict(self, rows):
        return np.argmax(self.decision_function(rows), axis=1)


class Gda(Linear):
    """Wang et al. (ICLR 2024): precision d ((M - 1) S + tr(S))^-1, the identity if S is 0; equal priors."""

    def fit(self, rows, labels):
        means = np.array([rows[labels == c].mean(0) for c in range(CLASSES)])
        covariance = np.cov((rows - means[labels]).T)
        size = len(covariance)
        precision = np.eye(size)
        if np.any(covariance):
            precision = size * np.linalg.inv((len(rows) - 1) * covariance + np.trace(covariance) * np.eye(size))
        self.weights = means @ precision
        self.bias = -np.log(CLASSES) - np.sum(self.weights * means, axis=1) / 2
        return self


class Fecam(Linear):
    """Goswami et al. (2023) with both shrinkages 1: by class where classes have more rows than dimensions, else in common."""

    def prepare(self, rows):
        if self.signed:
            return rows
        roots = np.sqrt(rows)
        return roots / np.linalg.norm(roots, axis=1, keepdims=True)

    def fit(self, rows, labels):
        self.signed = np.any(rows < 0)
        rows = self.prepare(rows)
        self.means = np.array([rows[labels == c].mean(0) for c in range(CLASSES)])
        if np.bincount(labels).min() > rows.shape[1]:
            self.precisions = [self.precision(np.cov(rows[labels == c].T)) for c in range(CLASSES)]
        else:
            self.precisions = [self.precision(np.cov((rows - self.means[labels]).T))] * CLASSES
        return self

    @staticmethod
    def precision(covariance):
        if not np.any(covariance):
            return np.eye(len(covariance))
        others = ~np.eye(len(covariance), dtype=bool)
        shrunk = covariance + np.mean(np.diag(covariance)) * np.eye(len(covariance)) + max(np.mean(covariance[others]), 0) * others
        deviation = np.sqrt(np.diag(shrunk))
        return np.linalg.inv(shrunk / np.outer(deviation, deviation))

    def decision_function(self, rows):
        rows = self.prepare(rows)
        return np.array([-np.sum((rows - mean) @ precision * (rows - mean), axis=1)
                         for mean, precision in zip(self.means, self.precisions)]).T


class LinearProbe(Linear):
    """The image side of LP++ (Huang et al., 2024): 300 steps of length 4 M / (largest eigenvalue), momentum 0.9."""

    def fit(self, rows, labels):
        targets = np.eye(CLASSES)[labels]
        self.weights, self.bias = targets.T @ rows, np.zeros(CLASSES)
        rate = 4 * len(rows) / np.linalg.eigvalsh(rows.T @ rows)[-1]
        velocity, bias_velocity = np.zeros_like(self.weights), np.zeros(CLASSES)
        for _ in range(300):
            scores = self.decision_function(rows)
            probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
            gradient = (probabilities / probabilities.sum(axis=1, keepdims=True) - targets) / len(rows)
            velocity = 0.9 * velocity + gradient.T @ rows
            bias_velocity = 0.9 * bias_velocity + gradient.sum(axis=0)
            self.weights, self.bias = self.weights - rate * velocity, self.bias - rate * bias_velocity
        return self


def draw(shots, dimension, noise, seed, signed):
    random = np.random.default_rng(seed)
    means = random.normal(size=(CLASSES, dimension)) + 0.5
    labels = np.repeat(np.arange(CLASSES), shots + TEST_ROWS)
    is_train = np.concatenate([np.arange(count + TEST_ROWS) < count for count in shots])
    features = (means[labels] + noise * random.normal(size=(len(labels), dimension))).astype(np.float16)
    return features if signed else np.abs(features), labels, is_train


def classifiers(shots):
    least = shots.min()
    return {
        "ncm": NearestCentroid(),
        "knn": KNeighborsClassifier(n_neighbors=min(5, least)),
        "gda": Gda(),
        # From one example per class scikit-learn learns nothing.
        "lda": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto") if shots.max() > 1 else Gda(),
        "fecam": Fecam(),
        "ridge": RidgeClassifier(),
        "ridge-cv": RidgeClassifierCV(alphas=np.logspace(-3, 3, 13)),
        "logistic": LogisticRegression(tol=1e-8, max_iter=10000),
        "logistic-cv": LogisticRegressionCV(Cs=INVERSE_COSTS, cv=min(5, least), tol=1e-8, max_iter=10000) if least > 1
        else LogisticRegression(tol=1e-8, max_iter=10000),
        "lp++": LinearProbe(),
        "linear-svm": LinearSVC(tol=1e-8, max_iter=1000000),
        "svm at 1": SVC(kernel="linear", C=1.0, tol=1e-6),
        "svm": grid(shots),
    }


# Of five folds or fewer, fold i leaves out rows i, i + folds, ... of each class; the cost with the most rows named rightly,
# and of equals the least, wins.
def grid(shots):
    if shots.min() == 1:
        return SVC(kernel="linear", C=1.0, tol=1e-6)
    folds = PredefinedSplit(np.concatenate([np.arange(count) % min(5, shots.min()) for count in shots]))
    return GridSearchCV(SVC(kernel="linear", tol=1e-6), {"C": COSTS}, cv=folds)


def clear_rows(model, rows):
    if not hasattr(model, "decision_function"):
        return np.ones(len(rows), bool)
    scores = np.sort(model.decision_function(rows), axis=1)
    return scores[:, -1] - scores[:, -2] > CLEAR * np.max(scores[:, -1] - scores[:, 0])


def write(name, shots, dimension, noise, seed, signed=True):
    shots = np.array(shots)
    features, labels, is_train = draw(shots, dimension, noise, seed, signed)
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
    if shots.min() > 1:
        print(name, "cost", models["svm"].best_params_, models["svm"].cv_results_["mean_test_score"])
        answers["svm cost"] = models["svm"].best_params_["C"]
    return answers


expected = {
    "one_shot": write("one_shot", [1] * CLASSES, 32, 1.2, 1),
    "five_shots": write("five_shots", [5] * CLASSES, 16, 1.6, 2),
    "uneven_shots": write("uneven_shots", [2, 3, 4, 6, 7, 9], 24, 1.4, 3),
    "many_shots": write("many_shots", [12] * CLASSES, 8, 0.8, 4, signed=False),
}
blocks = []
for name, answers in expected.items():
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items()]
    blocks.append(json.dumps(name) + ": {\n" + ",\n".join(lines) + "\n}")
with open(os.path.join(HERE, "expected.json"), "w") as file:
    file.write("{\n" + ",\n".join(blocks) + "\n}\n")
