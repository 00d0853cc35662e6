"""Sliders that move a robot, and their panel; closed linkages stay closed and on their branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import AssemblyError
from robodyn.robot import Robot
from robodyn.view.drawing.robot import gap_text, open_gaps

#: Range of a slider without limits to either side [rad], rounded to the digits that it shows.
HALF_TURN = 3.1416


@dataclass(frozen=True)
class Slider:
    """A coordinate of a joint that the user sets.

    index: Index among the coordinates of the joint.
    hold: Name of the joint, or of one axis of it, for ``hold=`` of `Robot.assemble`.
    speed: Index in v.
    lower, upper [rad, m]
    """

    label: str
    joint: str
    index: int
    hold: str
    speed: int
    lower: float
    upper: float

    def value(self, robot: Robot, q: FloatArray) -> float:
        """Its value at a posture."""
        return float(_numbers(robot, q, self.joint)[self.index])


def sliders(robot: Robot, *, closed: bool = True) -> tuple[Slider, ...]:
    """Sliders of the independent joints; of all joints, for a tree.

    Where loops stay open (not ``closed``), every joint has a slider.
    """
    tied = robot.nc and closed
    free = set(robot.loops_analysis.independent) if tied else set(range(robot.nv))
    chosen = []
    for name in robot.joint_names:
        joint = robot.joints[name]
        speeds = range(joint.v.start, joint.v.stop)
        coupled = joint.kind.coordinates.quaternion  # all coordinates change together
        if coupled and not free.issuperset(speeds):
            continue
        for index, speed in enumerate(speeds):
            if speed in free:
                chosen.append(_slider(robot, name, index, speed, len(speeds)))
    return tuple(chosen)


def _slider(robot: Robot, name: str, index: int, speed: int, count: int) -> Slider:
    joint = robot.joints[name]
    unit = joint.kind.unit(index)
    reach = HALF_TURN if unit == "rad" else 1.0
    low, high = -np.inf, np.inf
    if not joint.kind.coordinates.quaternion:
        k = joint.q.start + index
        low, high = robot.lower_limits[k], robot.upper_limits[k]
    if not np.isfinite(low):
        low = high - 2 * reach if np.isfinite(high) else -reach
    if not np.isfinite(high):
        high = max(low + 2 * reach, reach)
    axis = name if count == 1 else f"{name}[{index}]"
    label = f"{axis} [{unit}]" if unit else axis
    return Slider(label, name, index, axis, speed, float(low), float(max(high, low + 1e-6)))


def _numbers(robot: Robot, q: FloatArray, name: str) -> FloatArray:
    """Coordinates of a joint as sliders show them; orientations as rotation vectors."""
    from scipy.spatial.transform import Rotation

    part = q[robot.joints[name].q]
    if not robot.joints[name].kind.coordinates.quaternion:
        return part
    return np.concatenate([part[:-4], Rotation.from_quat(part[-4:]).as_rotvec()])


def with_values(robot: Robot, q: FloatArray, values: dict[Slider, float]) -> FloatArray:
    """The posture with these values of sliders and other coordinates unchanged, shape (nq,)."""
    from scipy.spatial.transform import Rotation

    q = np.array(q, float)
    for name in dict.fromkeys(slider.joint for slider in values):
        numbers = np.array(_numbers(robot, q, name))
        for slider, value in values.items():
            if slider.joint == name:
                numbers[slider.index] = value
        if robot.joints[name].kind.coordinates.quaternion:
            quat = Rotation.from_rotvec(numbers[-3:]).as_quat()
            numbers = np.concatenate([numbers[:-3], quat])
        q[robot.joints[name].q] = numbers
    return q


@dataclass(frozen=True, eq=False)
class SliderPosture:
    """Result of moving sliders.

    The posture is closed. It is not ``complete`` if the linkage stopped at a limit, or at the end
    of its branch.
    """

    q: FloatArray
    complete: bool


def move(
    robot: Robot, q: FloatArray, values: dict[Slider, float], *, closed: bool = True
) -> SliderPosture:
    """Move sliders to values, with loops closed.

    A linkage moves in small steps, so that it stays on its branch of assembly.

    q (nq,): Closed.
    values [rad, m]
    closed: ``False``: loops are open, and stay so.
    """
    goal = with_values(robot, q, values)
    if not robot.nc or not closed:
        return SliderPosture(goal, True)
    every = sliders(robot)
    try:
        return SliderPosture(robot.assemble(goal, hold=[s.hold for s in every], near=q), True)
    except AssemblyError as error:
        return SliderPosture(np.asarray(error.q), False)


def near_options(robot: Robot, q: FloatArray) -> str:
    """Options of the command line from which a closed posture, shape (nq,), is found again."""
    positions = {name: q[robot.joints[name].q] for name in robot.joint_names}
    shown = {name: ",".join(f"{x:.6g}" for x in values) for name, values in positions.items()}
    return " ".join(f"--near {name}={text}" for name, text in shown.items() if text)


class PosePanel:
    """Sliders for the independent joints; for all joints if no closed posture is known."""

    def __init__(self, viewer: Any) -> None:
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
