"""The results of bench/compare as a table, as JSON and as a plot."""
import json
import sys

from programs import duration, pyplot

RATIO_KEYS = ["step_d384", "step_d2048", "fit_200x5", "episode_5x1", "kernel_over_exp_limit"]


class Comparison:
    """Contestants that did the same work. `of_limit`: the ratio is our time over the peer's, which is a lower bound."""

    def __init__(self, key, title, contestants, note="", of_limit=False):
        self.key, self.title, self.contestants, self.note, self.of_limit = key, title, contestants, note, of_limit

    @property
    def ours(self):
        return next(contestant for contestant in self.contestants if contestant.ours)

    @property
    def reference(self):
        """The fastest peer that counts, or None when none was measured."""
        peers = [contestant for contestant in self.contestants if contestant.reference and contestant.seconds]
        return min(peers, key=lambda peer: peer.median, default=None)

    @property
    def ratio(self):
        if self.reference is None:
            return None
        return self.ratio_of(self.reference)

    def ratio_of(self, peer):
        return self.ours.median / peer.median if self.of_limit else peer.median / self.ours.median


def table(comparisons):
    lines = []
    for comparison in comparisons:
        lines += ["", comparison.title + (f" ({comparison.key})" if comparison.key in RATIO_KEYS else "")]
        for contestant in comparison.contestants:
            least, most = min(contestant.seconds), max(contestant.seconds)
            line = (f"  {contestant.label:<58}{duration(contestant.median):>9}  {duration(least):>9} to {duration(most):<9}"
                    f" n={len(contestant.seconds)}")
            if contestant is not comparison.ours:
                line += "  " + verdict(comparison, contestant)
            lines.append(line)
        if comparison.note:
            lines.append(f"  {comparison.note}")
    return "\n".join(lines[1:])


def verdict(comparison, peer):
    ratio = comparison.ratio_of(peer)
    if comparison.of_limit:
        return f"ours takes {ratio:.2f} x this limit"
    mark = " *" if peer is comparison.reference else ""
    if peer.ours:
        return f"{ratio:.3g} x the time of {comparison.ours.label}"
    if 0.95 < ratio < 1.05:
        return f"about the same{mark}"
    return f"ours {ratio:.3g} x faster{mark}" if ratio >= 1 else f"ours {1 / ratio:.3g} x SLOWER{mark}"


def results(comparisons, facts):
    """The object that --json writes: the ratios, None where the peer was not measured, and everything behind them."""
    by_key = {comparison.key: comparison for comparison in comparisons}
    ratios = {key: by_key[key].ratio if key in by_key else None for key in RATIO_KEYS}
    details = dict(facts)
    details["measurements"] = {
        comparison.key: {
            "title": comparison.title,
            "ratio_against": comparison.reference.label if comparison.reference else None,
            "contestants": [{"label": contestant.label, "ours": contestant.ours, "median_seconds": contestant.median,
                             "least_seconds": min(contestant.seconds), "most_seconds": max(contestant.seconds),
                             "repeats": len(contestant.seconds)} for contestant in comparison.contestants],
        } for comparison in comparisons}
    return {**ratios, "details": details}


def write_json(path, comparisons, facts):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results(comparisons, facts), file, indent=2)
        file.write("\n")


def draw(path, comparisons, facts):
    """Horizontal bars of all ratios on a logarithmic axis."""
    plt = pyplot()
    if plt is None:
        return
    bars = [(f"{comparison.title}\n{peer.label}", comparison.ratio_of(peer), peer is comparison.reference)
            for comparison in comparisons if not comparison.of_limit for peer in comparison.contestants if not peer.ours]
    limits = [comparison for comparison in comparisons if comparison.of_limit]
    if not bars:
        print("No plot: no peer was measured.", file=sys.stderr)
        return
    figure, axes = plt.subplots(figsize=(11, 1.2 + 0.52 * len(bars)), constrained_layout=True)
    places = range(len(bars))[::-1]
    colours = ["#1f6f8b" if counted else "#9bbfcb" for _, _, counted in bars]
    # Bars start at 1: to the right Annulus is the faster one, to the left the peer.
    axes.barh(places, [ratio - 1 for _, ratio, _ in bars], left=1, color=colours, height=0.62)
    for place, (_, ratio, _) in zip(places, bars):
        axes.annotate(f"{ratio:.3g}", (ratio, place), xytext=(4 if ratio >= 1 else -4, 0), textcoords="offset points",
                      va="center", ha="left" if ratio >= 1 else "right", fontsize=9)
    axes.set_xscale("log")
    least, most = min(ratio for _, ratio, _ in bars), max(ratio for _, ratio, _ in bars)
    axes.set_xlim(min(0.7, least / 1.6), max(2, most * 1.7))
    axes.xaxis.set_major_formatter(plt.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(places, [label for label, _, _ in bars], fontsize=8)
    axes.set_xlabel("time of the peer / time of Annulus (right of 1: Annulus is faster; dark: the ratio that is reported)")
    subtitle = "; ".join(f"softmax kernel: {limit.ratio:.2f} x bare exponentials" for limit in limits)
    axes.set_title(f"{facts['machine']['processor']}, {facts['threads']} threads; {subtitle}", fontsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, dpi=120)
    plt.close(figure)
