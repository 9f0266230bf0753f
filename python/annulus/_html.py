"""Estimators and reports as notebooks show them."""
import html

STYLE = "border-collapse:collapse;font:13px sans-serif"
CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"


def table(rows):
    """A plain table of (name, value) pairs; values are text."""
    lines = "".join(f'<tr><th style="{CELL};font-weight:600">{html.escape(name)}</th><td style="{CELL}">{html.escape(value)}</td></tr>'
                    for name, value in rows)
    return f'<table style="{STYLE}">{lines}</table>'


def search_svg(probes, width=360, height=130):
    """The probes of a search: radius across, accuracy on virtual examples upwards; filled where it passed."""
    if not probes:
        return ""
    left, right, top, bottom = 44, width - 16, 26, height - 34
    largest = max(probe["epsilon"] for probe in probes) or 1.0
    lowest = min(0.5, min(probe["accuracy"] for probe in probes))

    def across(radius):
        return left + (right - left) * radius / largest

    def upwards(accuracy):
        return bottom - (bottom - top) * (accuracy - lowest) / (1.0 - lowest)

    def word(x, y, text, anchor="middle"):
        return f'<text x="{x:.0f}" y="{y:.0f}" font-size="11" fill="#777" text-anchor="{anchor}">{text}</text>'

    parts = [f'<path d="M{left} {top}V{bottom}H{right}" stroke="#999" fill="none"/>',
             word(left - 6, top + 4, "100 %", "end"), word(left - 6, bottom + 4, f"{100 * lowest:.0f} %", "end"),
             word(left, bottom + 14, "0"), word(right, bottom + 14, f"{largest:.2f}"), word((left + right) / 2, bottom + 28, "radius"),
             word(left, 14, "virtual examples told apart, filled: often enough", "start")]
    for probe in probes:
        fill = "#2a9d6a" if probe["passed"] else "none"
        parts.append(f'<circle cx="{across(probe["epsilon"]):.1f}" cy="{upwards(probe["accuracy"]):.1f}" r="4" fill="{fill}" '
                     f'stroke="#2a9d6a"><title>radius {probe["epsilon"]:.3f}: {100 * probe["accuracy"]:.1f} %</title></circle>')
    return f'<svg width="{width}" height="{height}" role="img" aria-label="Probes of the search for the radius">{"".join(parts)}</svg>'


def model_html(estimator):
    """A fitted classifier as a short table with its search; before a fit, its parameters."""
    name = type(estimator).__name__
    if not hasattr(estimator, "model_"):
        return f"<p style=\"font:13px sans-serif\"><b>{html.escape(repr(estimator))}</b>, not fitted yet</p>"
    model, record = estimator.model_, estimator.model_.training
    shown = [str(label) for label in estimator.classes_[:8]]
    more = ", ..." if len(estimator.classes_) > 8 else ""
    rows = [("classes", f"{len(estimator.classes_)}: {', '.join(shown)}{more}"),
            ("features", f"{estimator.n_features_in_} dimensions"),
            ("learnt from", f"{record.get('examples', '?')} examples by the recipe {record.get('recipe', '?')}, seed {record.get('seed', '?')}"),
            ("temperature", f"{estimator.temperature_:.3f}")]
    if estimator.epsilon_ > 0:
        rows.insert(2, ("radius", f"{estimator.epsilon_:.3f}"))
    if "training_accuracy" in record:
        rows.append(("training accuracy", f"{100 * record['training_accuracy']:.2f} %"))
    rows.append(("unknown", "may be predicted" if model.rejects_unknown else "is never predicted"))
    return (f'<div><p style="font:600 14px sans-serif;margin:4px 0">{html.escape(name)}</p>{table(rows)}'
            f"{search_svg(estimator.search_trace_)}</div>")


def framed(page, height=640):
    """A whole page inside a notebook's cell, whose styles do not mix."""
    return f'<iframe srcdoc="{html.escape(page, quote=True)}" style="width:100%;height:{height}px;border:0"></iframe>'
