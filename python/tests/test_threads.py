"""Progress, stopping, and several fits at once."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import annulus
from annulus import FewShotClassifier
from annulus._progress import Bar, Line, listener
from conftest import clusters

LONG = {"epsilon": 0.5, "epochs": 10**9, "recipe": "ibm2"}  # ends only when it is stopped


def test_progress_is_told_and_may_stop_the_fit(task):
    heard = []
    FewShotClassifier(epochs=5, progress=lambda *told: heard.append(told)).fit(*task[:2])
    assert {stage for stage, *_ in heard} >= {"search epsilon", "train the head", "calibrate"}
    assert all(done <= total for _, done, total, _ in heard)
    with pytest.raises(annulus.Cancelled):
        FewShotClassifier(**LONG, progress=lambda *told: False).fit(*task[:2])


def test_an_exception_of_the_callback_comes_through(task):
    def broken(*told):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        FewShotClassifier(**LONG, progress=broken).fit(*task[:2])


def test_ctrl_c_stops_a_fit(task):
    def told(stage, done, total, detail):
        if not sent:
            sent.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    sent = []
    with pytest.raises(KeyboardInterrupt):
        FewShotClassifier(**LONG, progress=told).fit(*task[:2])


def test_ctrl_c_stops_a_fit_that_nobody_watches():
    code = ("import annulus, numpy as np, sys\n"
            "X = np.random.default_rng(0).normal(size=(40, 8)); print('ready', flush=True)\n"
            f"annulus.FewShotClassifier(**{LONG!r}).fit(X, np.arange(40) % 4)")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    for _ in range(600):  # until the signal finds the fit begun
        process.send_signal(signal.SIGINT)
        if process.poll() is not None:
            break
        time.sleep(0.1)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


@pytest.mark.parametrize("answer", ["classes", "probabilities", "unknown_scores"])
def test_ctrl_c_stops_a_long_prediction(answer):
    """The last of many rows is an error: whoever stops before has not come to it."""
    X, y = clusters(classes=256, shots=2, dimension=64)
    model = FewShotClassifier(epsilon=0.5, epochs=2).fit(X, y).model_
    many = np.repeat(X, 400, axis=0)
    many[-1] = 0

    def alarm(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, alarm)
    try:
        with pytest.raises(KeyboardInterrupt) as stopped:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.002)  # of processor time
            getattr(model, answer)(many, 1)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert stopped.value.__context__ is None


def test_two_fits_run_at_once():
    """Each waits, inside its callback, for the other to be inside its own: one after the other they would never end."""
    meeting = threading.Barrier(2, timeout=60)
    results = {}

    def fit(number):
        met = []

        def told(*_):
            if not met:
                met.append(True)
                meeting.wait()

        X, y = clusters(seed=number)
        results[number] = FewShotClassifier(epsilon=0.5, epochs=20, progress=told).fit(X, y).predict_proba(X)

    threads = [threading.Thread(target=fit, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(2):
        X, y = clusters(seed=number)
        assert np.array_equal(results[number], FewShotClassifier(epsilon=0.5, epochs=20).fit(X, y).predict_proba(X))


def test_python_runs_while_a_fit_does(task):
    """Another thread counts while the fit runs: it could not if the fit held the interpreter."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = []

    def told(*_):
        before.append(counted[0])
        return len(before) < 3 or counted[0] < before[0] + 5

    with pytest.raises(annulus.Cancelled):
        FewShotClassifier(**LONG, progress=told).fit(*task[:2])
    stop.set()
    thread.join()


def test_a_forked_process_can_fit(task):
    X, y, X_new, _ = task
    expected = FewShotClassifier(epsilon=0.5, epochs=5).fit(X, y).predict(X_new)  # starts the threads that a child lacks
    child = os.fork()
    if child == 0:
        same = np.array_equal(FewShotClassifier(epsilon=0.5, epochs=5).fit(X, y).predict(X_new), expected)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_verbose_writes_a_line(task, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if it were not installed
    assert isinstance(listener(True, None), Line)
    FewShotClassifier(epsilon=0.5, epochs=5, verbose=True).fit(*task[:2])
    assert "train the head 100 %" in capsys.readouterr().err


def test_verbose_uses_tqdm_where_it_is(task, capsys):
    pytest.importorskip("tqdm")
    assert isinstance(listener(True, None), Bar)
    FewShotClassifier(epsilon=0.5, epochs=5, verbose=True).fit(*task[:2])
    assert "train the head" in capsys.readouterr().err
