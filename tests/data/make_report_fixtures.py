#!/usr/bin/env python3
"""make_report_fixtures.py: writes tests/data/reports/, results documents with every key that they may have, by arithmetic alone."""
import json
import math
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "reports"
CLASSES = ["<b>bold</b> & \"quoted\"", "Büßer_50%", "x|y `code` #1 {z} ~ ^ \\n", "鳥 🐦", "it's $5"] + [f"class {i:02d}" for i in range(5, 40)]
METHODS = ["ncm", "simpleshot", "baseline", "ibm2"]
LEVEL = {"ncm": 0.0, "simpleshot": 2.1, "baseline": 6.2, "ibm2": 8.4}
PICTURES = ["../images/jpeg_444.jpg", "../images/png_rgb_8.png", "../images/jpeg_320x257.jpg"]


def wave(*numbers):
    """A number in -1..1 that only looks random."""
    value = sum((i + 1) * 12.9898 * number for i, number in enumerate(numbers))
    return 2.0 * ((math.sin(value) * 43758.5453) % 1.0) - 1.0


def clip(value):
    return round(min(100.0, max(0.0, value)), 4)


def stamp(command):
    return {"chosen_on": {method: "training examples only" for method in METHODS}, "test_labels_used": False, "seeds": [0, 1, 2],
            "checksums": {"features": "sha256:" + "0123456789abcdef" * 4, "splits": ["sha256:" + c * 64 for c in "abc"]},
            "machine": "Example CPU, 2 processors", "threads": 2, "time": "2026-11-16T10:00:00Z", "command": command}


def calibration(m, shots):
    bins = []
    for b in range(15):
        confidence = (b + 0.5) * 100 / 15
        bins.append({"confidence": round(confidence, 3), "accuracy": clip(confidence + 6 - 4 * m + 5 * wave(b, m, shots)), "count": 40 + 9 * b})
    return bins


def search(shots):
    target, low, high, probes = 90.0, 0.0, 10.0, []
    for _ in range(8):
        epsilon = (low + high) / 2
        accuracy = clip(100 - 2.1 * epsilon ** 1.3 + 3 / shots)
        passed = accuracy > target
        low, high = (epsilon, high) if passed else (low, epsilon)
        probes.append({"epsilon": epsilon, "accuracy": accuracy, "passed": passed})
    return {"target": target, "probes": probes}


def confusions(m, shots):
    pairs = []
    for i in range(20):
        pair = {"truth": CLASSES[i], "predicted": CLASSES[(i + 3 + m) % len(CLASSES)], "count": 40 - i - shots, "fraction": round(44 - 1.7 * i, 2)}
        if i < 6:
            pair["example"] = PICTURES[i % 3] if i != 4 else "missing.jpg"
            pair["predicted_example"] = PICTURES[(i + 1) % 3]
        pairs.append(pair)
    return pairs


def many_way_result(method, shots):
    m = METHODS.index(method)
    base = 30 + 9 * math.log2(shots + 1) + LEVEL[method] * (1 - 0.08 * math.log2(shots))
    recall = [clip(base + 28 * wave(c, 1) + 6 * wave(c, m, shots)) for c in range(len(CLASSES))]
    recall[7] = None
    runs = [{"seed": s, "accuracy": clip(base + 0.8 * wave(s) + 0.2 * wave(s, m)), "top5": clip(base + 25), "macro": clip(base - 0.4), "ece": round(5 + m, 2),
             "epsilon": round(4.2 + 0.1 * s - 0.2 * shots / 5, 4) if method == "ibm2" else 0.0, "seconds": round(0.02 * 9 ** m * shots, 5),
             "support_examples": 40 * shots, "query_examples": 1200} for s in range(3)]
    values = [run["accuracy"] for run in runs]
    mean = sum(values) / 3
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / 2)
    return {"method": method, "shots": shots, "accuracy_mean": round(mean, 6), "accuracy_std": round(deviation, 6), "ci95_classes": 2.75,
            "top5_mean": clip(base + 25), "macro_mean": clip(base - 0.4), "ece_mean": round(5.0 + m, 2), "runs": runs, "recall": recall,
            "confusions": confusions(m, shots), "calibration": calibration(m, shots), "search": search(shots) if method == "ibm2" else None}


def many_way():
    results = [many_way_result(method, shots) for shots in (1, 5, 16) for method in METHODS]
    mean = {(r["method"], r["shots"]): r["accuracy_mean"] for r in results}
    comparisons = [{"shots": shots, "method": "ibm2", "against": against, "difference": round(mean["ibm2", shots] - mean[against, shots], 6), "ci95": 0.61,
                    "p_value": {1: 0.0004, 5: 0.012, 16: 0.31}[shots], "test": "paired t-test over classes"} for shots in (1, 5, 16) for against in ("baseline", "ncm")]
    return {"protocol": "many-way", "version": "0.1.0", "source": {"train": "data/birds.safetensors", "test": "data/birds.safetensors"}, "ways": 40,
            "dimension": 2048, "seed": 0, "subsets": 3, "options": {"recipe": "default", "head": "cosine"},
            "metadata": stamp("annulus evaluate data/birds.safetensors --shots 1,5,16 --subsets 3 --methods ncm,simpleshot,baseline,ibm2 --json results.json"),
            "classes": CLASSES, "results": results, "comparisons": comparisons, "a key of the future": {"is": "ignored"}}


def episodes_result(method, shots):
    m = METHODS.index(method)
    base = 58 + 6 * shots / 2 + LEVEL[method] / 2
    accuracies = [[clip(base + 14 * wave(e, s) + 2 * wave(e, s, m)) for e in range(40)] for s in range(2)]
    pooled = sorted(a for seed in accuracies for a in seed)
    mean = sum(pooled) / len(pooled)
    sigma = math.sqrt(sum((a - mean) ** 2 for a in pooled) / (len(pooled) - 1))
    worst = sorted((a, s, e) for s, seed in enumerate(accuracies) for e, a in enumerate(seed))[:5]
    return {"method": method, "shots": shots, "acc_m": round(mean, 6), "sigma": round(sigma, 6), "acc_1": pooled[0], "acc_10": round(sum(pooled[:10]) / 10, 6),
            "acc_100": round(mean - 2, 6), "ci95": round(1.96 * sigma / math.sqrt(len(pooled)), 6), "ci95_classes": 1.5, "epsilon": 3.5 if method == "ibm2" else 0.0,
            "seconds": round(0.5 * 6 ** m, 4), "learning_rate": 0.1 if method == "ibm2" else None, "accuracies": accuracies,
            "worst": [{"seed": s, "episode": e, "accuracy": a, "classes": [CLASSES[(s + e + i) % len(CLASSES)] for i in range(5)]} for a, s, e in worst]}


def episodes():
    return {"protocol": "episodes", "version": "0.1.0", "source": "data/novel.npz", "dimension": 640, "ways": 5, "queries": 15, "episodes": 40, "seeds": 2, "seed": 0,
            "ci95_over": "all episodes of all seeds", "options": {"recipe": "episodes"}, "metadata": stamp("annulus episodes data/novel.npz"),
            "results": [episodes_result(method, shots) for shots in (1, 5) for method in METHODS], "comparisons": None}


def older():
    """What evaluate wrote before documents had stamps."""
    results = []
    for shots in (1, 5):
        for method, mean in (("ncm", 20.4), ("baseline", 23.59), ("ibm2", 23.74)):
            runs = [{"seed": s, "accuracy": mean + 10 * (shots - 1) / 4 + (s - 0.5) * 0.4, "epsilon": 4.5 if method == "ibm2" else 0.0, "seconds": 1.5,
                     "support_examples": 10, "query_examples": 100} for s in range(2)]
            results.append({"method": method, "shots": shots, "accuracy_mean": mean + 10 * (shots - 1) / 4, "accuracy_std": 0.28, "runs": runs})
    return {"protocol": "many-way", "version": "0.1.0", "source": {"train": "a.npz", "test": "b.npz"}, "ways": 10, "dimension": 8, "seed": 0, "subsets": 2,
            "options": {}, "results": results}


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, document in (("many_way", many_way()), ("episodes", episodes()), ("older", older())):
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


main()
