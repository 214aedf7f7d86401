"""How results show in a notebook: a table, the epsilons on one line, and the trade-off curve where there is one."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any


def flattened(fields: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields within fields, by names such as `setting.epochs`; lists stay as they are."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def rows(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """What a table shows: every field with a short value."""
    shown = []
    for name, value in flattened(fields):
        if isinstance(value, list) or name in ("schema_version", "version", "command"):
            continue
        shown.append((name, _short(value)))
    return shown


def page(fields: dict[str, Any], verdict: str, figure: str | None) -> str:
    """The whole of it as HTML."""
    cells = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th><td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in rows(fields)
    )
    said = f"<p><b>{html.escape(verdict)}</b></p>" if verdict else ""
    return f"{said}{_line(fields)}{figure or ''}<table>{cells}</table>"


def _short(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _line(fields: dict[str, Any]) -> str:
    """Theory's intervals, the claim and what was measured, on one axis."""
    bars: list[tuple[str, float, float, str]] = []
    theory = fields.get("theory") or fields.get("schemes") or {}
    for scheme, bounds in theory.items():
        low, high = bounds.get("epsilon_lower_bound"), bounds.get("epsilon_upper_bound")
        if low is not None or high is not None:
            bars.append((f"theory, {scheme}", low or 0.0, high if high is not None else low, "#0072B2"))
    if fields.get("claimed_epsilon") is not None:
        bars.append(("claimed", fields["claimed_epsilon"], fields["claimed_epsilon"], "#E69F00"))
    if fields.get("empirical_epsilon") is not None:
        bars.append(("measured, at least", fields["empirical_epsilon"], fields["empirical_epsilon"], "#D55E00"))
    if not bars:
        return ""
    most = 1.1 * max(max(high for _, _, high, _ in bars), 1e-9)
    place = [(name, 160 + 420 * low / most, 160 + 420 * high / most, high, colour) for name, low, high, colour in bars]
    drawn = "".join(
        f'<text x="150" y="{24 * i + 17}" text-anchor="end">{html.escape(name)}</text>'
        f'<rect x="{left:.1f}" y="{24 * i + 6}" width="{max(right - left, 4):.1f}" height="14" fill="{colour}"/>'
        f'<text x="{right + 10:.1f}" y="{24 * i + 17}">{value:.4g}</text>'
        for i, (name, left, right, value, colour) in enumerate(place)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{24 * len(bars) + 8}" font-size="12" '
        f'font-family="sans-serif" fill="currentColor">{drawn}</svg>'
    )
