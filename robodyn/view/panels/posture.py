"""The panel of sliders."""

from __future__ import annotations

from typing import Any

from robodyn.view.drawing.gaps import gap_text, open_gaps
from robodyn.view.panels.posing import sliders
from robodyn.view.panels.viewer import PanelViewer


class PosePanel:
    """Sliders for the independent joints; for all joints if no closed posture is known."""

    def __init__(self, viewer: PanelViewer) -> None:
        self._viewer, gui, robot = viewer, viewer.server.gui, viewer.robot
        self.sliders = sliders(robot, closed=not viewer.why_open)
        self.handles: dict[str, Any] = {}
        with gui.add_folder("Posture"):
            closes, opens = robot.nc and not viewer.why_open, bool(open_gaps(robot, robot.start()))
            self._neutral = gui.add_button("Neutral", visible=closes or not robot.nc)
            self._start = gui.add_button("Zero, loops open", visible=opens)
            self._close = gui.add_button("Close the loops", visible=bool(viewer.why_open))
            for slider in self.sliders:
                value = slider.value(robot, viewer.q)
                handle = gui.add_slider(
                    slider.label,
                    min=min(slider.lower, value),
                    max=max(slider.upper, value),
                    step=1e-4,
                    initial_value=value,
                )
                handle.on_update(lambda _: self._moved())
                self.handles[slider.hold] = handle
            self._state = gui.add_text("loops", "", disabled=True, visible=robot.nc > 0)
            self.closing = gui.add_text("closing", "", multiline=True, disabled=True, visible=False)
        self._neutral.on_click(lambda _: viewer.show(robot.neutral()))
        self._start.on_click(lambda _: viewer.show(robot.start()))
        self._close.on_click(lambda _: viewer.close_loops())
        self.show_gap(complete=True)
        self.say(viewer.why_open)

    def _moved(self) -> None:
        viewer, changed = self._viewer, {}
        with viewer.lock:
            if viewer.following:
                return
            for slider in self.sliders:
                wanted = self.handles[slider.hold].value
                # a little more than half a step of the slider
                if abs(wanted - slider.value(viewer.robot, viewer.q)) > 6e-5:
                    changed[slider] = wanted
            if changed:
                viewer.pose(changed, by_hand=True)

    def follow(self) -> None:
        """Set the sliders to the current posture."""
        for slider in self.sliders:
            handle = self.handles[slider.hold]
            value = slider.value(self._viewer.robot, self._viewer.q)
            handle.value = min(max(value, handle.min), handle.max)

    def show_gap(self, complete: bool) -> None:
        """Show the gaps of the loops."""
        robot, q = self._viewer.robot, self._viewer.q
        if robot.nc:
            ended = "" if complete else "; no farther on this branch"
            self._state.value = f"{gap_text(robot, q)}{ended}"

    def say(self, text: str) -> None:
        """Show a message."""
        self.closing.value, self.closing.visible = text, bool(text)
