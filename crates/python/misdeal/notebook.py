"""How results show in a notebook: a table, the epsilons on one line, and the trade-off curve where there is one."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
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


def table(entries: list[dict[str, Any]], columns: Sequence[str]) -> list[list[str]]:
    """Entries below a heading; columns that no entry has are left out."""
    kept = [column for column in columns if any(entry.get(column) is not None for entry in entries)]
    shown = [["" if entry.get(column) is None else _short(entry[column]) for column in kept] for entry in entries]
    return [[column.replace("_", " ") for column in kept], *shown]


def lines(entries: list[list[str]]) -> list[str]:
    """A table for a terminal."""
    widths = [max(len(cell) for cell in column) for column in zip(*entries)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in entries]


def rounded(value: float, direction: str, digits: int = 4) -> str:
    """A number in so many digits, none of them on the wrong side of it."""
    return f"{float(Context(prec=digits, rounding=direction).create_decimal_from_float(float(value))):.{digits}g}"


def page(
    fields: dict[str, Any], verdict: str, figure: str | None, entries: Sequence[list[str]] = (), remarks: Sequence[str] = ()
) -> str:
    """The whole of it as HTML: what matters first, and all fields below, folded where they are many."""
    said = f"<p><b>{html.escape(verdict)}</b></p>" if verdict else ""
    shown = [list(row) for row in rows(fields)]
    first = [row for row in shown if row[0] in IMPORTANT]
    if len(shown) <= FEW or not first:
        below = _table(shown)
    else:
        below = f"{_table(first)}<details><summary>all fields</summary>{_table(shown)}</details>"
    told = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks)
    told = f"<ul>{told}</ul>" if told else ""
    return f"{said}{_line(fields)}{_image(figure, verdict)}{_entries(entries)}{told}{below}"


# Of many fields, those that are seen at once.
IMPORTANT = (
    "observations", "empirical_epsilon", "raw_epsilon", "claimed_epsilon", "delta", "significance", "estimator", "threshold_choice", "valid",
    "engine", "seconds", "scheme", "certain",
)  # fmt: skip
FEW = 12


def _image(figure: str | None, verdict: str) -> str:
    """A figure that shrinks to the notebook's width. As an image it shares no names with those of other cells."""
    if not figure:
        return ""
    content = base64.b64encode(figure.encode()).decode()
    return f'<img alt="{html.escape(verdict)}" style="max-width:100%;height:auto" src="data:image/svg+xml;base64,{content}">'


def _table(shown: Sequence[Sequence[str]]) -> str:
    cells = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th><td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in shown
    )
    return f"<table>{cells}</table>"


def _entries(entries: Sequence[list[str]]) -> str:
    if not entries:
        return ""

    def row(cells: list[str], kind: str) -> str:
        return "<tr>" + "".join(f'<{kind} style="text-align:left">{html.escape(cell)}</{kind}>' for cell in cells) + "</tr>"

    heading, *others = entries
    return f"<table><thead>{row(heading, 'th')}</thead><tbody>{''.join(row(cells, 'td') for cells in others)}</tbody></table>"


def _short(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _line(fields: dict[str, Any]) -> str:
    """Theory's intervals, the claim and what was measured, on one axis."""
    bars: list[tuple[str, float, float, str, str]] = []
    theory = fields.get("theory") or fields.get("schemes") or {}
    for scheme, bounds in theory.items():
        low, high = bounds.get("epsilon_lower_bound"), bounds.get("epsilon_upper_bound")
        if low is None and high is None:
            continue
        sides = [
            *([] if low is None else [("at least " if high is None else "") + rounded(low, ROUND_FLOOR)]),
            *([] if high is None else [("at most " if low is None else "") + rounded(high, ROUND_CEILING)]),
        ]
        bars.append((f"theory, {scheme}", low or 0.0, low if high is None else high, " to ".join(sides), "#0072B2"))
    claimed, measured = fields.get("claimed_epsilon"), fields.get("empirical_epsilon")
    if claimed is not None:
        bars.append(("claimed", claimed, claimed, f"{claimed:.4g}", "#E69F00"))
    if measured is not None and fields.get("valid"):
        bars.append(("measured, at least", measured, measured, rounded(measured, ROUND_FLOOR), "#D55E00"))
    elif measured is not None:
        bars.append(("measured, no bound", measured, measured, f"{measured:.4g}", "#CC79A7"))
    if not bars:
        return ""
    most = 1.1 * max(max(high for _, _, high, _, _ in bars), 1e-9)
    place = [(name, 190 + 400 * low / most, 190 + 400 * high / most, said, colour) for name, low, high, said, colour in bars]
    drawn = "".join(
        f'<text x="180" y="{24 * i + 17}" text-anchor="end">{html.escape(name)}</text>'
        f'<rect x="{left:.1f}" y="{24 * i + 6}" width="{max(right - left, 4):.1f}" height="14" fill="{colour}"/>'
        f'<text x="{max(right, left + 4) + 8:.1f}" y="{24 * i + 17}">{html.escape(said)}</text>'
        for i, (name, left, right, said, colour) in enumerate(place)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{24 * len(bars) + 8}" font-size="12" '
        f'font-family="sans-serif" fill="currentColor">{drawn}</svg>'
    )
