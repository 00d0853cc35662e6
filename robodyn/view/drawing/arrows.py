"""Forces, moments and torques in joints at a state, and their arrows, with numbers at the tips."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.literals import ArrowKind
from robodyn.robot import Robot
from robodyn.view.drawing.scene import FORCE, MOMENT, TORQUE, Camera, Rgb, in_light, marks_of


@dataclass(frozen=True, eq=False)
class Load:
    """A force or moment of the parent on the child of a joint, or a torque of a motor.

    joint: Its name, or ``"base"``.
    point (3,) [m]: Where a force acts, and about which moments are taken, in the world.
    vector (3,): In world axes.
    unit: ``"N"`` or ``"N m"``; torques of motors at prismatic joints are forces.
    """

    kind: ArrowKind
    joint: str
    point: FloatArray
    vector: FloatArray
    unit: str


def forces(
    robot: Robot,
    places: Mapping[str, FloatArray],
    q: FloatArray,
    v: FloatArray | None = None,
    a: FloatArray | None = None,
    tau: FloatArray | None = None,
) -> list[Load]:
    """Wrenches in all joints, and torques along the axes of those with one degree of freedom.

    Raises `ActuationError` or `SingularError` if the motors cannot hold this state.

    places (4, 4) [1, m]: Poses of the links at q.
    q (nq,)
    v, a (nv,), optional: Default: at rest.
    tau (nv,), optional [N m, N]: Default, and where it is NaN: the forces that the motion needs.
        Speeds that are NaN count as zero.
    """
    v = np.zeros(robot.nv) if v is None else np.nan_to_num(v)
    a = np.zeros(robot.nv) if a is None else np.nan_to_num(a)
    if tau is None or not np.isfinite(tau).all():
        tau = robot.inverse_dynamics(q, v, a)
    marks = {mark.name: mark for mark in marks_of(robot)}
    points = {name: (places[x.successor] @ x.X_successor)[:3, 3] for name, x in marks.items()}
    carried = {joint.child for joint in robot.mechanism.joints}
    root = next((name for name in robot.link_names if name not in carried), robot.link_names[0])
    points["base"] = places[root][:3, 3]
    found: list[Load] = []
    for name, wrench in robot.joint_wrenches(q, v, a).in_frame("world").items():
        if name in points:
            point, force, moment = points[name], wrench[:3], wrench[3:]
            found.append(Load("forces", name, point, force, "N"))
            found.append(Load("moments", name, point, moment - np.cross(point, force), "N m"))
    for name in robot.joint_names:
        joint, mark = robot.joints[name], marks.get(name)
        if mark is not None and mark.axis is not None and len(range(robot.nv)[joint.v]) == 1:
            X = places[mark.predecessor] @ mark.X_predecessor
            torque = X[:3, :3] @ np.array(mark.axis) * tau[joint.v.start]
            unit = "N" if joint.kind.unit(0) == "m" else "N m"
            found.append(Load("torques", name, X[:3, 3], torque, unit))
    return found


#: Width of a character, height of a line and margin around a text [px].
CHARACTER, LINE_HEIGHT, MARGIN = 7.2, 17.0, 3.0

#: Anchors of labels in order of preference, and the upper left corner of the label from the tip, as
#: fractions of its width and height.
ANCHORS = {
    "bottom-center": (-0.5, -1.0),
    "center-left": (0.0, -0.5),
    "center-right": (-1.0, -0.5),
    "top-center": (-0.5, 0.0),
    "bottom-left": (0.0, -1.0),
    "top-left": (0.0, 0.0),
    "bottom-right": (-1.0, -1.0),
    "top-right": (-1.0, 0.0),
}


def placed(items: Iterable[Arrow], camera: Camera) -> dict[tuple[str, str], str]:
    """Anchors of the labels to write, by key.

    Each label has the first position, of those around its tip, at which it covers none of the
    labels before it. If there is no such position, it is left out.

    The most important items come first.
    """
    items = list(items)
    anchors: dict[tuple[str, str], str] = {}
    boxes = np.empty((0, 4))
    tips = camera.pixels(np.array([item.tip for item in items]).reshape(-1, 3))
    for item, tip in zip(items, tips, strict=True):
        if not (np.isfinite(tip).all() and (tip >= 0.0).all() and (tip <= camera.size).all()):
            continue
        extent = np.array([CHARACTER * len(item.text) + 2 * MARGIN, LINE_HEIGHT + 2 * MARGIN])
        for anchor, offset in ANCHORS.items():
            low = tip + np.array(offset) * extent
            box = np.concatenate([low, low + extent])
            apart = (boxes[:, :2] >= box[2:]).any(axis=1) | (boxes[:, 2:] <= box[:2]).any(axis=1)
            if apart.all():
                anchors[item.key] = anchor
                boxes = np.vstack([boxes, box])
                break
    return anchors


class Labels:
    """Nodes of a scene for numbers.

    They are within the node of that name.
    """

    def __init__(self, scene: Any, node: str) -> None:
        self._scene, self._node = scene, node
        self._shown: dict[tuple[str, str], Any] = {}
        self._camera: Camera | None = None

    def write(self, items: Collection[Arrow], camera: Camera) -> None:
        """Write these numbers, and remove those that were written before.

        While the camera does not move, numbers that were written before come first, so that they
        do not flicker while the robot moves.
        """
        before: Collection[tuple[str, str]] = self._shown if camera is self._camera else ()
        ordered = sorted(items, key=lambda item: item.key not in before)
        self._camera = camera
        anchors = placed(ordered, camera)
        for key in self._shown.keys() - anchors.keys():
            self._shown.pop(key).remove()
        for item in ordered:
            if item.key in anchors:
                self._write(item, anchors[item.key])

    def _write(self, item: Arrow, anchor: str) -> None:
        handle = self._shown.get(item.key)
        if handle is None:
            node = f"{self._node}/{'_'.join(item.key).replace('/', '_')}"
            self._shown[item.key] = self._scene.add_label(
                node, item.text, position=item.tip, anchor=anchor
            )
        else:
            handle.text, handle.position, handle.anchor = item.text, item.tip, anchor


#: Colour of each kind of arrow.
KINDS: dict[ArrowKind, Rgb] = {"forces": FORCE, "moments": MOMENT, "torques": TORQUE}

#: Arrows are drawn if they are longer than this fraction of the robot's size.
SHORTEST = 0.01
#: Largest number of arrows, the longest ones, that may have a number.
MOST = 60
#: A no-break space, between a number and its unit and within a unit.
SPACE = "\N{NO-BREAK SPACE}"


#: Lengths of arrows of 1 N and of 1 N m [m].
Scale = Mapping[str, float]


def scale(acting: Iterable[Load], length: float) -> Scale:
    """The scale that gives the largest force, and the largest moment or torque, a length [m]."""
    largest = {"N": 0.0, "N m": 0.0}
    for load in acting:
        largest[load.unit] = max(largest[load.unit], float(np.linalg.norm(load.vector)))
    return {unit: length / (size or 1.0) for unit, size in largest.items()}


@dataclass(frozen=True, eq=False)
class Arrow:
    """An arrow of a force, moment or torque.

    Its kind is a key of `KINDS`; it begins at ``start`` [m] in the world, and its text is the size
    of the force, moment or torque with its unit.
    """

    kind: str
    joint: str
    start: FloatArray
    vector: FloatArray
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """Kind and joint, which identify the arrow."""
        return self.kind, self.joint

    @property
    def tip(self) -> FloatArray:
        """Tip of the arrow, shape (3,) [m]."""
        return np.asarray(self.start + self.vector)

    @property
    def length(self) -> float:
        """Length of the arrow [m]."""
        return float(np.linalg.norm(self.vector))


def arrows(acting: Iterable[Load], scale: Scale, shown: Collection[str]) -> list[Arrow]:
    """Arrows of these kinds, the longest first."""
    drawn = []
    for x in acting:
        text = measured(np.linalg.norm(x.vector), x.unit)
        if x.kind == "torques":
            text = f"\N{GREEK SMALL LETTER TAU}{SPACE}{text}"
        if x.kind in shown:
            drawn.append(Arrow(x.kind, x.joint, x.point, scale[x.unit] * x.vector, text))
    return sorted(drawn, key=lambda arrow: -arrow.length)


def measured(value: Any, unit: str) -> str:
    """A number with three digits and its unit, on one line."""
    return f"{float(f'{value:.3g}'):g} {unit}".replace(" ", SPACE)


class ArrowDrawing:
    """Nodes of a scene for arrows and their numbers.

    Lengths go by the size of the robot [m]. Seen from the ``camera``, no number covers another one.
    """

    def __init__(self, server: Any, size: float, camera: Camera) -> None:
        self._server, self._size, self.camera = server, size, camera
        self._handles: dict[str, Any] = {}
        self._labels = Labels(server.scene, "/forces/numbers")

    def draw(self, drawn: Collection[Arrow], *, numbers: bool) -> None:
        """Draw these arrows, and remove those that were drawn before."""
        long = [arrow for arrow in drawn if arrow.length > SHORTEST * self._size]
        with self._server.atomic():
            for kind, color in KINDS.items():
                self._draw_kind(kind, [arrow for arrow in long if arrow.kind == kind], color)
            self._labels.write(long[:MOST] if numbers else (), self.camera)

    def _draw_kind(self, kind: str, long: list[Arrow], color: Rgb) -> None:
        if not long:
            handle = self._handles.pop(kind, None)
            if handle is not None:
                handle.remove()
            return
        # a node replaces one with the same name
        self._handles[kind] = self._server.scene.add_arrows(
            f"/forces/{kind}",
            _segments(long, second=0.0 if kind == "forces" else 0.03 * self._size),
            in_light(color),
            shaft_radius=0.006 * self._size,
            head_radius=0.016 * self._size,
            head_length=0.04 * self._size,
        )


def _segments(long: list[Arrow], second: float) -> Any:
    """Starts and ends, (n, 2, 3); those of second heads are ``second`` [m] below the first."""
    ends = [(arrow.start, arrow.tip) for arrow in long]
    if second:
        ends += [
            (arrow.start, arrow.start + arrow.vector * (1.0 - second / arrow.length))
            for arrow in long
            if arrow.length > second
        ]
    return np.array(ends, np.float32)
