"""The panel that chooses which forces are drawn."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from robodyn.errors import RobodynError
from robodyn.view.drawing.arrows import Scale, arrows, scale
from robodyn.view.drawing.forces import forces
from robodyn.view.panels.legend import Legend
from robodyn.view.panels.parts import PartsPanel
from robodyn.view.panels.viewer import PanelViewer

__all__ = ["ForcesPanel"]

#: Length of the longest arrow, as a fraction of the robot's size.
LONGEST = 0.3


class ForcesPanel:
    """Choice of the arrows that are drawn, and their scale."""

    def __init__(self, viewer: PanelViewer, legend: Legend, parts: PartsPanel) -> None:
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
        drawing = viewer.drawing
        if not shown:
            self._say("")
            drawing.arrows.draw((), numbers=False)
            self._legend.show(None, shown, drawing.gaps.texts)
            return
        try:
            acting = forces(viewer.robot, drawing.places, viewer.q, *viewer.motion_now())
        except RobodynError as error:
            self._say(str(error))
            drawing.arrows.draw((), numbers=False)
            self._legend.show(None, (), drawing.gaps.texts)
            return
        self._say("")
        if self._unit is None:
            self._unit = scale(acting, LONGEST * drawing.size)
        drawn = self._unit.times(self.scale.value)
        drawing.arrows.draw(arrows(acting, drawn, shown), numbers=self.numbers.value)
        self._legend.show(drawn, shown, drawing.gaps.texts)

    def _say(self, why: str) -> None:
        """Say why no arrows are drawn."""
        content = f'<div style="font-size:0.8em;padding:0 0.9em 0.5em">{escape(why)}</div>'
        if content != self._why.content:
            self._why.content, self._why.visible = content, bool(why)
