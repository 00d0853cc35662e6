"""Panels of the viewer: sliders for the posture, playback, arrows of forces."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.errors import RobodynError
from robodyn.robot import Robot
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.view.drawing.forces import Forces, forces
from robodyn.view.drawing.gaps import open_gaps
from robodyn.view.drawing.robot import Drawing
from robodyn.view.posing import Slider, sliders

__all__ = ["ForcesPanel", "PlaybackPanel", "PosePanel"]

#: Largest frame rate of playback [1/s].
RATE = 30.0


class PanelViewer(Protocol):
    """Interface of the viewer that panels use; see `robodyn.view.app.Viewer`."""

    server: Any
    robot: Robot
    motion: Trajectory | None
    drawing: Drawing
    q: NDArray[np.float64]
    following: bool
    lock: Any
    why_open: str

    def show(self, q: ArrayLike) -> None:
        """Show a posture."""

    def pose(self, values: Mapping[Slider, float]) -> bool:
        """Set sliders with closed loops; ``False`` if the linkage cannot reach these values."""

    def close_loops(self) -> None:
        """Close the loops near the posture shown, and return a message on the result."""

    def show_sample(self, k: int) -> None:
        """Show a sample of the motion."""

    def redraw(self) -> None:
        """Draw the current posture again."""

    def motion_now(self) -> tuple[NDArray[np.float64], ...]:
        """Velocity, acceleration and forces of the sample shown; empty at rest."""


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
                # half a step of the slider, and a little
                if abs(wanted - slider.value(viewer.robot, viewer.q)) > 6e-5:
                    changed[slider] = wanted
            if changed:
                viewer.pose(changed)

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
            gap = float(np.abs(robot.loop_residual(q)).max())
            ended = "" if complete else "; no farther on this branch"
            self._state.value = f"open by {gap:.1e}{ended}"

    def say(self, text: str) -> None:
        """Show a message."""
        self.closing.value, self.closing.visible = text, bool(text)


class ForcesPanel:
    """Choice of the arrows that are drawn, and their scale."""

    def __init__(self, viewer: PanelViewer) -> None:
        self._viewer, gui = viewer, viewer.server.gui
        self._unit: tuple[float, float] | None = None
        with gui.add_folder("Forces", expand_by_default=False):
            self.shown = {
                kind: gui.add_checkbox(kind, False, hint=hint)
                for kind, hint in (
                    ("forces", "of the parent on the child, in each joint"),
                    ("moments", "about the joint"),
                    ("torques", "along the axes of joints"),
                )
            }
            self.scale = gui.add_slider("scale", min=0.1, max=5.0, step=0.1, initial_value=1.0)
            self._legend = gui.add_text("1 m is", "", disabled=True)
        for handle in (*self.shown.values(), self.scale):
            handle.on_update(lambda _: viewer.redraw())

    def draw(self) -> None:
        """Draw the chosen arrows for the state that the viewer shows."""
        viewer, shown = self._viewer, {kind for kind, box in self.shown.items() if box.value}
        if not shown and self._unit is None:
            return
        try:
            acting = forces(viewer.robot, viewer.q, *viewer.motion_now())
        except RobodynError as error:
            self._legend.value = str(error)
            return
        if self._unit is None:
            self._unit = _unit(acting)
        length = 0.3 * viewer.drawing.size * self.scale.value
        newton, newton_metre = length / self._unit[0], length / self._unit[1]
        self._legend.value = f"{_rounded(1 / newton)} N, {_rounded(1 / newton_metre)} N m"
        viewer.drawing.draw_forces(acting, newton, newton_metre, shown)


def _rounded(value: float) -> str:
    return f"{float(f'{value:.3g}'):g}"


def _unit(acting: Forces) -> tuple[float, float]:
    """The largest force [N] and moment [N m], or 1."""
    force = np.linalg.norm(acting.force, axis=-1).max(initial=0.0)
    moment = np.linalg.norm(acting.moment, axis=-1).max(initial=0.0)
    moment = max(moment, np.abs(acting.torque).max(initial=0.0))
    return float(force) or 1.0, float(moment) or 1.0


class PlaybackPanel:
    """Play, pause, time and speed of a recorded motion."""

    def __init__(self, viewer: PanelViewer) -> None:
        self._viewer, gui = viewer, viewer.server.gui
        assert viewer.motion is not None
        self._t = viewer.motion.t - viewer.motion.t[0]
        self._stop = threading.Event()
        end = max(float(self._t[-1]), 1e-3)
        with gui.add_folder("Motion"):
            self.playing = gui.add_checkbox("play", False)
            self.time = gui.add_slider("time [s]", min=0.0, max=end, step=1e-3, initial_value=0.0)
            self.speed = gui.add_slider("speed", min=0.1, max=4.0, step=0.1, initial_value=1.0)
            self.repeat = gui.add_checkbox("repeat", True)
        self.time.on_update(lambda _: viewer.show_sample(self.sample()))
        self._thread = threading.Thread(target=self._run, name="robodyn playback", daemon=True)
        self._thread.start()

    def sample(self) -> int:
        """Index of the last sample at or before the time shown."""
        return max(int(np.searchsorted(self._t, self.time.value + 1e-9, "right")) - 1, 0)

    def _run(self) -> None:
        before = time.monotonic()
        while not self._stop.wait(1.0 / RATE):
            now = time.monotonic()
            passed, before = now - before, now
            if self.playing.value:
                self._advance(passed * self.speed.value)

    def _advance(self, passed: float) -> None:
        end, t = float(self.time.max), float(self.time.value) + passed
        if t >= end:
            t = 0.0 if self.repeat.value and self.time.value >= end else end
            if not self.repeat.value:
                self.playing.value = False
        self.time.value = t

    def close(self) -> None:
        """Stop playing."""
        self._stop.set()
        self._thread.join(2.0)
