#!/usr/bin/env python3
"""make_transductive_fixtures.py: writes methods/transductive.json, small tasks and what transductive methods make of them.

Every method is written down here from its paper, in NumPy and double precision. Losses are differentiated by complex steps, not by
formulas: gradients of the library are checked too.
"""
import json
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPERATURE = 15.0


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def class_means(rows, labels, classes):
    return np.stack([rows[labels == c].mean(0) for c in range(classes)])


def softmax(logits):
    # Complex steps pass: nothing is compared but real parts.
    shifted = np.exp(logits - logits.real.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def rectified(support, labels, queries, classes):
    """Liu et al. 2020: shift, pseudo-labels by cosine, softmax weights over the examples of a class."""
    support, queries = unit(support), unit(queries)
    queries = queries + support.mean(0) - queries.mean(0)
    basic = class_means(support, labels, classes)
    cosine = unit(queries) @ unit(basic).T
    rows = np.vstack([support, queries])
    assigned = np.concatenate([labels, cosine.argmax(1)])
    sharp = np.exp(10 * unit(rows) @ unit(basic).T)
    prototypes = []
    for c in range(classes):
        mine = assigned == c
        weights = sharp[mine, c] / sharp[mine, c].sum()
        prototypes.append(weights @ rows[mine])
    return np.stack(prototypes), queries


def bd_cspn(support, labels, queries, classes):
    prototypes, queries = rectified(support, labels, queries, classes)
    return unit(queries) @ unit(prototypes).T


def laplacian_shot(support, labels, queries, classes):
    """Ziko et al. 2020, algorithm 1: 3 neighbours, lambda 0.7, at most 20 bound updates."""
    prototypes, queries = rectified(support, labels, queries, classes)
    distances = ((queries[:, None] - prototypes[None]) ** 2).sum(2)
    between = ((queries[:, None] - queries[None]) ** 2).sum(2)
    np.fill_diagonal(between, np.inf)
    near = np.zeros_like(between)
    for row, order in enumerate(np.argsort(between, axis=1, kind="stable")[:, :3]):
        near[row, order] = 1
    y, before = softmax(-distances), np.inf
    for step in range(20):
        y = softmax(0.7 * near @ y - distances)
        now = (y * np.log(y) + y * distances - 0.7 * y * (near @ y)).sum()
        if step > 1 and abs(now - before) <= 1e-6 * abs(before):
            break
        before = now
    return y


def shannon(p):
    return -(p * np.log(p)).sum(-1)


def tsallis(order):
    return lambda p: (1 - (p**order).sum(-1)) / (order - 1)


def trained(support, labels, queries, classes, weights, entropy, steps, rate):
    """Prototypes by Adam on weights[0] CE - (weights[1] H(Y) - weights[2] H(Y|X)): Boudiaf et al. 2020, Veilleux et al. 2021."""
    support, queries = unit(support), unit(queries)
    start = class_means(support, labels, classes)
    shape = start.shape

    def probabilities(rows, w):
        return softmax(-TEMPERATURE / 2 * ((rows[:, None] - w[None]) ** 2).sum(2))

    def loss(flat):
        w = flat.reshape(shape)
        p = probabilities(queries, w)
        crossed = -np.log(probabilities(support, w)[np.arange(len(labels)), labels]).mean()
        return weights[0] * crossed - weights[1] * entropy(p.mean(0)) + weights[2] * entropy(p).mean()

    w, first, second = start.ravel().copy(), 0.0, 0.0
    for step in range(1, steps + 1):
        gradient = np.zeros_like(w)
        for i in range(len(w)):
            nudged = w.astype(complex)
            nudged[i] += 1e-30j
            gradient[i] = loss(nudged).imag / 1e-30
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        w -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return probabilities(queries, w.reshape(shape))


def tim(support, labels, queries, classes):
    return trained(support, labels, queries, classes, (0.1, 1.0, 0.1), shannon, 1000, 1e-4)


def alpha_tim(support, labels, queries, classes):
    shots = len(labels) // classes
    order = 2.0 if shots == 1 else 5.0 if shots < 5 else 7.0
    return trained(support, labels, queries, classes, (1.0, 1.0, 1.0), tsallis(order), 1000, 1e-4)


def transductive_finetune(support, labels, queries, classes):
    return trained(support, labels, queries, classes, (1.0, 0.0, 1.0), shannon, 25, 5e-5)


def pt_map(support, labels, queries, classes):
    """Hu et al. 2021: square root where nothing is negative, centring of support and of queries, 20 epochs of Sinkhorn and MAP."""
    if (support >= 0).all() and (queries >= 0).all():
        support, queries = np.sqrt(support + 1e-6), np.sqrt(queries + 1e-6)
    support, queries = unit(support), unit(queries)
    support, queries = unit(support - support.mean(0)), unit(queries - queries.mean(0))
    prototypes = class_means(support, labels, classes)
    one_hot = np.eye(classes)[labels]

    def transport():
        plan = np.exp(-10 * ((queries[:, None] - prototypes[None]) ** 2).sum(2))
        for _ in range(5000):
            plan *= len(queries) / classes / plan.sum(0)
            plan /= plan.sum(1, keepdims=True)
        return plan

    for _ in range(20):
        mask = np.vstack([one_hot, transport()])
        estimate = mask.T @ np.vstack([support, queries]) / mask.sum(0)[:, None]
        prototypes = prototypes + 0.2 * (estimate - prototypes)
    return transport()


METHODS = {"bd-cspn": bd_cspn, "laplacian-shot": laplacian_shot, "tim": tim, "alpha-tim": alpha_tim, "pt-map": pt_map,
           "transductive-finetune": transductive_finetune}


def task(seed, shots, queries_of, positive):
    """Classes around random directions, with rows of different lengths."""
    rng = np.random.default_rng(seed)
    classes, dimension = len(queries_of), 4
    centres = rng.normal(size=(classes, dimension))

    def rows_of(counts):
        rows = np.concatenate([centre + 0.8 * rng.normal(size=(count, dimension)) for centre, count in zip(centres, counts)])
        rows = np.abs(rows) if positive else rows
        return (rows * rng.uniform(0.5, 2, size=(len(rows), 1))).astype(np.float32).astype(float)

    return rows_of(shots), np.repeat(np.arange(classes), shots), rows_of(queries_of), classes


def main():
    tasks = []
    for seed, shots, queries_of, positive in ((1, (1, 1, 1), (5, 5, 5), True), (2, (3, 1, 2), (9, 3, 2), False), (3, (5, 6, 5), (1, 8, 4), True)):
        support, labels, queries, classes = task(seed, shots, queries_of, positive)
        scores = {name: np.round(method(support, labels, queries, classes), 7).tolist() for name, method in METHODS.items()}
        tasks.append({"support": support.tolist(), "labels": labels.tolist(), "classes": classes, "queries": queries.tolist(),
                      "scores": scores})
    with open(os.path.join(HERE, "methods", "transductive.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(tasks) + "\n")


if __name__ == "__main__":
    main()
