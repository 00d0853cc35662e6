"""HTML tables for notebooks, in the light or dark colours of the notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any

import numpy as np

from robodyn.array_types import Array

#: Largest number of rows of a table.
ROWS = 60
#: Number of points, width and height [px] of a curve in a cell.
POINTS, WIDTH, HEIGHT = 60, 120, 24

_CELL = "padding:0.15em 0.7em;border-bottom:1px solid #8884;vertical-align:top"


class Drawn(str):
    """Text of a cell that is HTML; all other text is escaped."""


def html_table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    facts: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> str:
    """A table under a title.

    head: Names of the columns.
    rows: Text is aligned to the left; numbers have four digits and are aligned to the right.
    facts, notes: Text above and below the table.
    """
    rows = iter(rows)
    lines = ["".join(_cell("th", name, left=True) for name in head)]
    lines += ["".join(map(_data, row)) for row in islice(rows, ROWS)]
    left = sum(1 for _ in rows)
    below = [*notes, *([f"and {left} more rows"] if left else [])]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<div><b>{escape(title)}</b>{_line(facts)}"
        '<table style="border-collapse:collapse;margin:0.4em 0;font-size:0.9em">'
        f"{body}</table>{''.join(_line([note]) for note in below)}</div>"
    )


def _line(facts: Iterable[str]) -> str:
    text = ", ".join(facts)
    return f'<div style="font-size:0.9em">{escape(text)}</div>' if text else ""


def _data(value: Any) -> str:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return _cell("td", value if isinstance(value, str) else str(value), left=True)
    integer = isinstance(value, int | np.integer)
    return _cell("td", str(value) if integer else f"{float(np.real(value)):.4g}", left=False)


def _cell(tag: str, text: str, *, left: bool) -> str:
    shown = text if isinstance(text, Drawn) else escape(text)
    return f'<{tag} style="{_CELL};text-align:{"left" if left else "right"}">{shown}</{tag}>'


def sparkline(values: Array) -> Drawn:
    """A small curve without axes, in the colour of the text; empty for constant values.

    values (n,)
    """
    every = max(1, math.ceil(len(values) / POINTS))
    x = np.asarray(values[::every], float)
    if len(x) < 2 or not np.isfinite(x).all() or not np.ptp(x) > 0.0:
        return Drawn("")
    part = (x - x.min()) / np.ptp(x)
    across = np.linspace(1.0, WIDTH - 1.0, len(x))
    points = " ".join(
        f"{a:.1f},{(HEIGHT - 2.0) * (1.0 - b) + 1.0:.1f}" for a, b in zip(across, part, strict=True)
    )
    return Drawn(
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.2"/></svg>'
    )
