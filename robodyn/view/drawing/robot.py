"""The robot as nodes of a viser scene."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.stick_figure import sticks
from robodyn.joints import fixed
from robodyn.results import LoopGap
from robodyn.robot import Robot
from robodyn.shapes.geometry import GREY, Geometry, Shape
from robodyn.shapes.meshes import joint_axis, triangles
from robodyn.tolerances import LOOP_GAP_SHOWN
from robodyn.view.drawing.arrows import ArrowDrawing
from robodyn.view.drawing.scene import (
    CUT,
    JOINT,
    LINE,
    STICK,
    LinkPlaces,
    extent,
    looking_at,
    marks_of,
    wxyz,
)


class Drawing:
    """Nodes of a robot's links, joints and open loops; `place` moves them.

    q (nq,): The first posture shown, for which the camera is placed.
    size [m]: Longest edge of the box around the robot.
    places (4, 4) [1, m]: Poses at which links are drawn.
    gaps: Loops that are open.
    notes: Notes on visuals that could not be shown.
    """

    def __init__(self, server: Any, robot: Robot, geometry: Geometry, q: FloatArray) -> None:
        self._server, self._robot = server, robot
        self._notes = list(geometry.notes)
        self._link_places = LinkPlaces(robot)
        self.places = self._link_places.at(q)
        self.middle, self.size = extent(robot, self.places)
        self._seen = [self.middle - 0.5 * self.size, self.middle + 0.5 * self.size]
        self._links: dict[str, Any] = {}
        self._solid: list[tuple[Any, float | None]] = []  # with their opacity
        self._skeleton: list[Any] = []
        for name in robot.link_names:
            self._links[name] = server.scene.add_frame(self._node(name), show_axes=False)
            self._add_shapes(name, geometry.shapes.get(name, ()))
        self._add_sticks()
        self._add_joints()
        low, high = np.min(self._seen, axis=0), np.max(self._seen, axis=0)
        self._center, self._width = 0.5 * (low + high), float((high - low).max())
        self._eye = self._center + self._width * np.array([0.6, -1.0, 0.35])
        self.arrows = ArrowDrawing(server, self.size, looking_at(self._eye, self._center))
        self.gaps = GapDrawing(server, robot, self.size)
        self._appearance()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on visuals that could not be shown."""
        return tuple(self._notes)

    def _node(self, link: str) -> str:
        index = self._robot.link_names.index(link)
        return f"/robot/{index}_" + re.sub(r"\W", "_", link)

    def _add_shapes(self, link: str, shapes: tuple[Shape, ...]) -> None:
        for k, shape in enumerate(shapes):
            try:
                mesh = triangles(shape)
            except ValueError as error:
                self._notes.append(f"link {link!r}: {error}")
                continue
            corners = np.array(np.meshgrid(*mesh.bounds.T)).reshape(3, -1)
            X = self.places[link] @ shape.X_LS
            self._seen += list((X[:3, :3] @ corners).T + X[:3, 3])
            placed: dict[str, Any] = {
                "wxyz": wxyz(shape.X_LS),
                "position": shape.X_LS[:3, 3],
            }
            name = f"{self._node(link)}/shape{k}"
            if shape.kind == "mesh" and shape.color is None and mesh.visual.defined:
                handle, opacity = self._server.scene.add_mesh_trimesh(name, mesh, **placed), None
            else:
                red, green, blue, alpha = shape.color or GREY
                opacity = alpha if alpha < 1.0 else None
                handle = self._server.scene.add_mesh_simple(
                    name,
                    np.asarray(mesh.vertices, np.float32),
                    np.asarray(mesh.faces, np.uint32),
                    color=(round(255 * red), round(255 * green), round(255 * blue)),
                    opacity=opacity,
                    flat_shading=shape.kind != "sphere" and shape.kind != "capsule",
                    side="double",
                    **placed,
                )
            self._solid.append((handle, opacity))

    def _add_sticks(self) -> None:
        for link, lines in sticks(self._robot.mechanism).items():
            if len(lines):
                self._skeleton.append(
                    self._server.scene.add_line_segments(
                        f"{self._node(link)}/stick",
                        lines.astype(np.float32),
                        STICK,
                        thickness=0.012 * self.size,
                    )
                )

    def _add_joints(self) -> None:
        """Draw a mark for each joint; for a cut joint on each side, which coincide if closed."""
        for k, mark in enumerate(marks_of(self._robot)):
            if mark.kind is fixed.KIND and not mark.cut:
                continue
            sides = [(mark.predecessor, mark.X_predecessor)]
            if mark.cut:
                sides.append((mark.successor, mark.X_successor))
            for side, (link, X) in enumerate(sides):
                thick = 0.012 * self.size * (1.25 if side else 1.0)
                mesh = joint_axis(mark.kind, mark.axis, thick)
                self._skeleton.append(
                    self._server.scene.add_mesh_simple(
                        f"{self._node(link)}/joint{k}_{side}",
                        np.asarray(mesh.vertices, np.float32),
                        np.asarray(mesh.faces, np.uint32),
                        color=CUT if mark.cut else JOINT,
                        opacity=0.55 if side else None,
                        wxyz=wxyz(X),
                        position=X[:3, 3],
                    )
                )

    def _appearance(self) -> None:
        scene, size = self._server.scene, self._width
        ground = min(0.0, min(float(X[2, 3]) for X in self.places.values()))
        cell = 10.0 ** np.floor(np.log10(size))
        scene.set_up_direction("+z")
        self._server.scene.world_axes.visible = False
        scene.add_grid(
            "/ground",
            width=3 * size,
            height=3 * size,
            cell_size=0.5 * cell,
            section_size=cell,
            position=(self._center[0], self._center[1], ground),
        )
        camera = self._server.initial_camera
        camera.position = self._eye
        camera.look_at = self._center

    def show(self, *, solid: bool, clear: bool, skeleton: bool) -> None:
        """Set which parts are visible, and whether shapes are transparent."""
        for handle, opacity in self._solid:
            handle.visible = solid
            if hasattr(handle, "opacity"):
                handle.opacity = 0.3 if clear else opacity
        for handle in self._skeleton:
            handle.visible = skeleton

    def place(self, q: FloatArray) -> None:
        """Move all links to a posture, and draw the loops that are open there."""
        self.places = self._link_places.at(q)
        with self._server.atomic():
            for name, X in self.places.items():
                self._links[name].wxyz = wxyz(X)
                self._links[name].position = X[:3, 3]
            self.gaps.draw(q)


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
