"""Estimators and reports as notebooks show them."""
import html

STYLE = "border-collapse:collapse;font:13px sans-serif"
CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"


def table(rows):
    """A plain table of (name, value) pairs; values are text."""
    lines = "".join(f'<tr><th style="{CELL};font-weight:600">{html.escape(name)}</th><td style="{CELL}">{html.escape(value)}</td></tr>'
                    for name, value in rows)
    return f'<table style="{STYLE}">{lines}</table>'


def search_svg(probes, width=280, height=90):
    """The probes of a search: radius across, accuracy on virtual examples upwards; filled where it passed."""
    if not probes:
        return ""
    largest = max(probe["epsilon"] for probe in probes) or 1.0
    dots = []
    for probe in probes:
        x = 10 + (width - 20) * probe["epsilon"] / largest
        y = 10 + (height - 30) * (1.0 - probe["accuracy"])
        fill = "#2a6" if probe["passed"] else "none"
        title = f"radius {probe['epsilon']:.3f}: {100 * probe['accuracy']:.1f} %"
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="#2a6"><title>{title}</title></circle>')
    axis = f'<path d="M10 {height - 18}H{width - 10}" stroke="#999" fill="none"/>'
    words = (f'<text x="10" y="{height - 5}" font-size="10" fill="#666">radius 0</text>'
             f'<text x="{width - 10}" y="{height - 5}" font-size="10" fill="#666" text-anchor="end">{largest:.2f}</text>')
    return (f'<svg width="{width}" height="{height}" role="img" aria-label="Probes of the search for the radius">{axis}'
            f'{"".join(dots)}{words}</svg>')


def model_html(estimator):
    """A fitted classifier as a short table with its search; before a fit, its parameters."""
    name = type(estimator).__name__
    if not hasattr(estimator, "model_"):
        return f"<p style=\"font:13px sans-serif\"><b>{html.escape(repr(estimator))}</b>, not fitted yet</p>"
    model, record = estimator.model_, estimator.model_.training
    shown = [str(label) for label in estimator.classes_[:8]]
    more = ", ..." if len(estimator.classes_) > 8 else ""
    rows = [("classes", f"{len(estimator.classes_)}: {', '.join(shown)}{more}"),
            ("features", f"{estimator.n_features_in_} numbers a row"),
            ("learnt from", f"{record.get('rows', '?')} rows by the recipe {record.get('recipe', '?')}, seed {record.get('seed', '?')}"),
            ("temperature", f"{estimator.temperature_:.3f}")]
    if estimator.epsilon_ > 0:
        rows.insert(2, ("radius", f"{estimator.epsilon_:.3f}"))
    if "training_accuracy" in record:
        rows.append(("training accuracy", f"{100 * float(record['training_accuracy']):.2f} %"))
    rows.append(("unknown", "may be answered" if model.knows_strangers else "is never answered"))
    return (f'<div><p style="font:600 14px sans-serif;margin:4px 0">{html.escape(name)}</p>{table(rows)}'
            f"{search_svg(estimator.search_trace_)}</div>")


def framed(page, height=640):
    """A whole page inside a notebook's cell, whose styles do not mix."""
    return f'<iframe srcdoc="{html.escape(page, quote=True)}" style="width:100%;height:{height}px;border:0"></iframe>'
