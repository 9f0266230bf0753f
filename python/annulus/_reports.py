"""What evaluations and audits come to: text, a dict, a page, a plot."""
import json

from ._html import framed


class Report:
    """The result of ``evaluate`` or ``episodes``: print it, show it in a notebook, plot it, or take it apart.

    >>> import annulus, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(4), 6)
    >>> X = 3 * np.eye(4, 8)[y] + rng.normal(size=(24, 8))
    >>> report = annulus.evaluate(X, y, shots=[1, 2], subsets=2, methods=["ncm"])
    >>> [(result["method"], result["shots"]) for result in report.results]
    [('ncm', 1), ('ncm', 2)]
    >>> report.html.startswith("<!DOCTYPE html>")
    True
    """

    def __init__(self, parts):
        self.text = parts["text"]
        self.html = parts["html"]
        self._document = json.loads(parts["json"])

    def to_dict(self):
        """Everything, as the JSON of the command line has it (docs/reference/file-formats.md)."""
        return self._document

    @property
    def results(self):
        """One dict for each method and number of shots."""
        return self._document["results"]

    def accuracy(self, method, shots):
        """Mean accuracy in percent of a method at a number of shots."""
        for result in self.results:
            if result["method"] == method and result["shots"] == shots:
                return result.get("accuracy_mean", result.get("acc_m"))
        raise KeyError(f"the report has no method {method!r} at {shots} shots")

    def plot(self, ax=None):
        """Accuracy against shots, a line a method; returns matplotlib's axes."""
        ax = axes(ax)
        for method in dict.fromkeys(result["method"] for result in self.results):
            chosen = [result for result in self.results if result["method"] == method]
            mark = " (transductive)" if chosen[0]["transductive"] else ""
            ax.errorbar([str(result["shots"] or "all") for result in chosen],
                        [result.get("accuracy_mean", result.get("acc_m")) for result in chosen],
                        yerr=[result.get("accuracy_std", result.get("ci95", 0.0)) for result in chosen],
                        marker="o", capsize=3, label=method + mark)
        ax.set_xlabel("examples per class")
        ax.set_ylabel("accuracy in %")
        ax.legend()
        return ax

    def save(self, path):
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        return framed(self.html)

    def __repr__(self):
        return self.text.rstrip("\n")


class AuditReport(Report):
    """The result of ``audit``: ``findings``, a dict for each, and what a ``Report`` has but results.

    >>> import annulus, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(4), 6)
    >>> X = 3 * np.eye(4, 8)[y] + rng.normal(size=(24, 8))
    >>> X[1] = X[0]
    >>> report = annulus.audit(X, y)
    >>> report.to_dict()["counts"]["duplicate"]
    1
    """

    def __init__(self, parts):
        super().__init__(parts)
        self.findings = [json.loads(line) for line in parts["findings"].splitlines() if line]

    def to_dict(self):
        """The summary, with all findings."""
        return {**self._document, "findings": self.findings}

    @property
    def results(self):
        raise AttributeError("an audit has findings, not results")

    def plot(self, ax=None):
        """How many findings of each kind are sure enough to act on; returns matplotlib's axes."""
        ax = axes(ax)
        counts = self._document["counts"]
        bars = ax.barh(list(counts), list(counts.values()))
        ax.bar_label(bars, padding=3)
        ax.invert_yaxis()
        ax.set_xlim(0, 1.1 * max(1, *counts.values()))
        ax.set_xlabel("findings")
        return ax


def axes(ax):
    """The axes given, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib, which is not installed") from error
    return pyplot.subplots()[1]
