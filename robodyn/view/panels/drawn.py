"""Panels of what is drawn: shapes, forces, and a legend of colours and lengths of arrows."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from typing import Any

import numpy as np

from robodyn.errors import RobodynError
from robodyn.robot import Robot
from robodyn.view.drawing.arrows import SPACE, Arrow, Scale, arrows, forces, measured, scale
from robodyn.view.drawing.scene import CUT, FORCE, JOINT, LINE, MOMENT, TORQUE, Rgb


class PartsPanel:
    """Shapes, skeleton, and notes on what could not be shown."""

    def __init__(self, viewer: Any) -> None:
        self._drawing, gui = viewer.drawing, viewer.server.gui
        with gui.add_folder("Show", expand_by_default=False):
            self.shapes = gui.add_checkbox("shapes", True)
            self.see_through = gui.add_checkbox("see through", False)
            self.skeleton = gui.add_checkbox("skeleton and joints", True)
            notes = "\n".join(viewer.drawing.notes)
            gui.add_text("not shown", notes, multiline=True, disabled=True, visible=bool(notes))
        for handle in (self.shapes, self.see_through, self.skeleton):
            handle.on_update(lambda _: self._show())

    def _show(self) -> None:
        self._drawing.show(
            solid=self.shapes.value, clear=self.see_through.value, skeleton=self.skeleton.value
        )


Row = tuple[Rgb, str, str]


class Legend:
    """What the colours of the scene mean; only those that are there."""

    def __init__(self, viewer: Any) -> None:
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

    size [m]: Of the robot.
    drawn: Of the arrows; ``None``: there are none.
    shown {"forces", "moments", "torques"}
    opened: Names of loops that are drawn open.
    """
    rows: list[Row] = [(JOINT, "\N{BLACK CIRCLE}", "joint")]
    if robot.loops:
        rows.append((CUT, "\N{BLACK CIRCLE}", "joint that closes a loop"))
    if opened:
        rows.append((LINE, "\N{EM DASH}", "loop that is open, distance of its frames"))
    if drawn is None:
        return rows
    length, name = reference_length(size)
    force = measured(length / drawn["N"], "N")
    moment = measured(length / drawn["N m"], "N m")
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


#: Length of the longest arrow, as a fraction of the robot's size.
LONGEST = 0.3


class ForcesPanel:
    """Choice of the arrows that are drawn, and their scale."""

    def __init__(self, viewer: Any, legend: Legend, parts: PartsPanel) -> None:
        self._viewer, self._legend, gui = viewer, legend, viewer.server.gui
        self._parts = parts
        self._unit: Scale | None = None
        with gui.add_folder("Forces", expand_by_default=False):
            self.shown = {
                kind: gui.add_checkbox(kind, False, hint=hint)
                for kind, hint in (
                    ("forces", "of the parent on the child, in each joint"),
                    ("moments", "about the joint"),
                    ("torques", "of motors, along the axes of joints"),
                )
            }
            self.numbers = gui.add_checkbox("numbers", True, hint="at the largest arrows")
            self.scale = gui.add_slider("scale", min=0.1, max=5.0, step=0.1, initial_value=1.0)
            self._why = gui.add_html("", visible=False)
        for handle in self.shown.values():
            handle.on_update(lambda event: self._switched(event.target.value))
        for handle in (self.numbers, self.scale):
            handle.on_update(lambda _: viewer.redraw())

    def _switched(self, on: bool) -> None:
        """Draw; shapes become transparent when arrows are switched on first, as they hide them."""
        if on and sum(box.value for box in self.shown.values()) == 1:
            self._parts.see_through.value = True
        self._viewer.redraw()

    def show(self, kinds: Collection[str], *, numbers: bool, scale: float) -> None:
        """Draw arrows of these kinds and no others."""
        for kind, box in self.shown.items():
            box.value = kind in kinds
        self.numbers.value, self.scale.value = numbers, scale

    def draw(self) -> None:
        """Draw the chosen arrows for the state that the viewer shows."""
        viewer, shown = self._viewer, {kind for kind, box in self.shown.items() if box.value}
        drawing, why, drawn = viewer.drawing, "", None
        found: list[Arrow] = []
        try:
            if shown:
                acting = forces(viewer.robot, drawing.places, viewer.q, *viewer.motion_now())
                self._unit = self._unit or scale(acting, LONGEST * drawing.size)
                drawn = {unit: self.scale.value * x for unit, x in self._unit.items()}
                found = arrows(acting, drawn, shown)
        except RobodynError as error:
            why = str(error)
        self._say(why)
        drawing.arrows.draw(found, numbers=self.numbers.value)
        self._legend.show(drawn, shown, drawing.gaps.texts)

    def _say(self, why: str) -> None:
        """Say why no arrows are drawn."""
        content = f'<div style="font-size:0.8em;padding:0 0.9em 0.5em">{escape(why)}</div>'
        if content != self._why.content:
            self._why.content, self._why.visible = content, bool(why)
