"""Drawing of open loops: both frames, the line between them, and their distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.results import LoopGap
from robodyn.robot import Robot
from robodyn.tolerances import LOOP_GAP_SHOWN
from robodyn.view.drawing.scene import LINE, wxyz


def is_closed(robot: Robot, q: FloatArray) -> bool:
    """Whether the loops are closed at a posture, shape (nq,), to within the robot's tolerance."""
    if not robot.nc:
        return True
    violation = robot.function("loop_violation")(q, np.zeros(robot.nv))
    return float(violation) <= robot.model.settings.closure_tolerance


def open_gaps(robot: Robot, q: FloatArray) -> tuple[LoopGap, ...]:
    """Gaps at a posture, shape (nq,), of loops that are visibly open."""
    if is_closed(robot, q):
        return ()
    return tuple(gap for gap in robot.loop_gaps(q) if gap.residual > LOOP_GAP_SHOWN)


def gap_text(robot: Robot, q: FloatArray) -> str:
    """How far the loops are open at a posture, shape (nq,), in words."""
    if is_closed(robot, q):
        return "closed"
    largest = float(np.abs(robot.loop_residual(q)).max())
    worst = max(robot.loop_gaps(q), key=lambda gap: gap.residual, default=None)
    # the largest residual may be that of a constraint that is not a loop
    where = f" at {worst.name}" if worst and worst.residual > 0.99 * largest else ""
    return f"open by {largest:.2g} m or rad{where}"


class GapDrawing:
    """Nodes of a scene for loops that are open.

    ``texts`` are the labels of open loops, by their names.

    size [m]: Of the robot.
    """

    def __init__(self, server: Any, robot: Robot, size: float) -> None:
        self._scene, self._robot, self._size = server.scene, robot, size
        self._nodes: dict[str, tuple[Any, ...]] = {}
        self.texts: dict[str, str] = {}

    def draw(self, q: FloatArray) -> None:
        """Draw the loops that are open at a posture, and remove the others."""
        gaps = {gap.name: gap for gap in open_gaps(self._robot, q)}
        for name in self._nodes.keys() - gaps.keys():
            for node in self._nodes.pop(name):
                node.remove()
        self._nodes |= {name: self._nodes_of(gap) for name, gap in gaps.items()}
        self.texts = {name: _text(gap) for name, gap in gaps.items()}

    def _nodes_of(self, gap: LoopGap) -> tuple[Any, ...]:
        """Draw one loop; nodes of the same name are replaced."""
        index = [cut.name for cut in self._robot.loops].index(gap.name)
        node, ends = f"/open/{index}", gap.poses[:, :3, 3]
        frames = [
            self._scene.add_frame(
                f"{node}/{side}",
                axes_length=0.09 * self._size * (1.0 + 0.3 * side),  # both frames coincide
                axes_radius=0.005 * self._size / (1.0 + side),
                wxyz=wxyz(X),
                position=X[:3, 3],
            )
            for side, X in enumerate(gap.poses)
        ]
        line = self._scene.add_line_segments(
            f"{node}/line", ends[None].astype(np.float32), LINE, thickness=0.006 * self._size
        )
        above = ends.mean(axis=0) + np.array([0.0, 0.0, 0.13 * self._size])
        label = self._scene.add_label(
            f"{node}/label", _text(gap), position=above, anchor="bottom-center"
        )
        return (*frames, line, label)


def _text(gap: LoopGap) -> str:
    distance, angle = (round(float(x), 9) for x in (gap.distance, np.degrees(gap.angle)))
    return f"{gap.name}: {distance:.3g} m, {angle:.3g} degrees"
