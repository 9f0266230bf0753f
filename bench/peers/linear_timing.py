#!/usr/bin/python3
"""Linear classifiers of scikit-learn as a timing program: the first line on standard input names the rows, each further line an
estimator; each is answered by one line of JSON. Features are L2-normalised, as the method's are; the options are the defaults.

{"rows": FILE, "classes": N, "dimension": D}     float32 rows, as many of each class, in the order of the classes
{"estimator": "LinearSVC" | "LogisticRegression"}
"""
import json
import sys
import time
import warnings

import numpy
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

ESTIMATORS = {"LinearSVC": LinearSVC, "LogisticRegression": LogisticRegression}


def main():
    warnings.simplefilter("ignore")
    job = json.loads(sys.stdin.readline())
    rows = numpy.fromfile(job["rows"], dtype=numpy.float32).reshape(-1, job["dimension"]).astype(numpy.float64)
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    labels = numpy.arange(len(rows)) // (len(rows) // job["classes"])
    print(json.dumps({"sklearn": sklearn.__version__, "numpy": numpy.__version__}), flush=True)
    for line in sys.stdin:
        estimator = ESTIMATORS[json.loads(line)["estimator"]]()
        start = time.perf_counter()
        estimator.fit(rows, labels)
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "training_accuracy": float(estimator.score(rows, labels))}), flush=True)


main()
