"""The legend: what each colour means, and how long arrows are."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

import numpy as np

from robodyn.robot import Robot
from robodyn.view.drawing.arrows import SPACE, Scale, measured
from robodyn.view.drawing.colors import CUT, FORCE, JOINT, LINE, MOMENT, TORQUE, Rgb
from robodyn.view.panels.viewer import PanelViewer

__all__ = ["Legend", "legend_rows", "reference_length"]

Row = tuple[Rgb, str, str]


class Legend:
    """What the colours of the scene mean; only those that are there."""

    def __init__(self, viewer: PanelViewer) -> None:
        self._robot, gui = viewer.robot, viewer.server.gui
        self._size = viewer.drawing.size
        with gui.add_folder("Legend"):
            self._table = gui.add_html("")

    def show(self, drawn: Scale | None, shown: Collection[str], opened: Collection[str]) -> None:
        """Show what is drawn now; see `legend_rows`."""
        content = _html(legend_rows(self._robot, self._size, drawn, shown, opened))
        if content != self._table.content:
            self._table.content = content


def legend_rows(
    robot: Robot, size: float, drawn: Scale | None, shown: Collection[str], opened: Collection[str]
) -> list[Row]:
    """Colour, symbol and meaning of all that is drawn.

    Parameters
    ----------
    robot : Robot
    size : float [m]
        Of the robot.
    drawn : Scale or None
        Of the arrows; ``None``: there are none.
    shown : collection of {"forces", "moments", "torques"}
    opened : collection of str
        Names of loops that are drawn open.
    """
    rows: list[Row] = [(JOINT, "\N{BLACK CIRCLE}", "joint")]
    if robot.loops:
        rows.append((CUT, "\N{BLACK CIRCLE}", "joint that closes a loop"))
    if opened:
        rows.append((LINE, "\N{EM DASH}", "loop that is open, distance of its frames"))
    if drawn is None:
        return rows
    length, name = reference_length(size)
    force = measured(length / drawn.newton, "N")
    moment = measured(length / drawn.newton_metre, "N m")
    one, two = "\N{RIGHTWARDS ARROW}", "\N{RIGHTWARDS TWO HEADED ARROW}"
    kinds = {
        "forces": (FORCE, one, f"force in a joint, on the child ({name} is {force})"),
        "moments": (MOMENT, two, f"moment in a joint, on the child ({name} is {moment})"),
        "torques": (TORQUE, two, f"\N{GREEK SMALL LETTER TAU}, motor torque ({name} is {moment})"),
    }
    return rows + [row for kind, row in kinds.items() if kind in shown]


def reference_length(size: float) -> tuple[float, str]:
    """A round length [m] that is not above a size [m], and its name: 0.1, ``"10 cm"``."""
    length = 10.0 ** np.floor(np.log10(size))
    for unit, name in ((1.0, "m"), (0.01, "cm")):
        if length > 0.99 * unit:
            return float(length), f"{length / unit:g}{SPACE}{name}"
    return float(length), f"{1000.0 * length:g}{SPACE}mm"


def _html(rows: list[Row]) -> str:
    lines = "".join(
        f'<div style="display:flex;gap:0.5em"><span style="color:rgb{color};flex:none;width:1.2em;'
        f'text-align:center;font-weight:bold">{symbol}</span><span>{escape(text)}</span></div>'
        for color, symbol, text in rows
    )
    return f'<div style="font-size:0.8em;line-height:1.45;padding:0 0.9em 0.5em">{lines}</div>'
