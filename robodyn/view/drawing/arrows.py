"""Arrows of forces, moments and torques, with numbers at their tips."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.literals import ArrowKind
from robodyn.view.drawing.camera import Camera
from robodyn.view.drawing.colors import FORCE, MOMENT, TORQUE, Rgb, in_light
from robodyn.view.drawing.forces import Forces
from robodyn.view.drawing.labels import Labels

__all__ = ["KINDS", "SPACE", "Arrow", "ArrowDrawing", "Scale", "arrows", "measured", "scale"]

#: Colour of each kind of arrow.
KINDS: dict[ArrowKind, Rgb] = {"forces": FORCE, "moments": MOMENT, "torques": TORQUE}

#: Arrows are drawn if they are longer than this fraction of the robot's size.
SHORTEST = 0.01
#: Largest number of arrows, the longest ones, that may have a number.
MOST = 60
#: A no-break space, between a number and its unit and within a unit.
SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Scale:
    """Lengths of arrows per unit.

    Attributes
    ----------
    newton, newton_metre : float [m/N], [m/(N m)]
        Length of an arrow of 1 N, and of 1 N m.
    """

    newton: float
    newton_metre: float

    def times(self, factor: float) -> Scale:
        """The scale for arrows that are longer by a factor."""
        return Scale(factor * self.newton, factor * self.newton_metre)


def scale(acting: Forces, length: float) -> Scale:
    """The scale that gives the largest force, and the largest moment or torque, a length [m]."""
    sliding = np.abs(acting.torque[acting.sliding])
    turning = np.abs(acting.torque[~acting.sliding])
    force = max(_longest(acting.force), float(sliding.max(initial=0.0)))
    moment = max(_longest(acting.moment), float(turning.max(initial=0.0)))
    return Scale(length / (force or 1.0), length / (moment or 1.0))


def _longest(vectors: FloatArray) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Arrow:
    """An arrow of a force, moment or torque.

    Attributes
    ----------
    kind : str
        A key of `KINDS`.
    joint : str
    start, vector : ndarray, shape (3,) [m]
        In the world.
    text : str
        Size of the force, moment or torque, with its unit.
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


def arrows(acting: Forces, scale: Scale, shown: Collection[str]) -> list[Arrow]:
    """Arrows of these kinds, the longest first."""
    drawn = []
    for name, point, force, moment in zip(
        acting.names, acting.points, acting.force, acting.moment, strict=True
    ):
        size, turn = (np.linalg.norm(x) for x in (force, moment))
        drawn.append(Arrow("forces", name, point, scale.newton * force, measured(size, "N")))
        along = scale.newton_metre * moment
        drawn.append(Arrow("moments", name, point, along, measured(turn, "N m")))
    for name, point, axis, value, slides in zip(
        acting.motor_names, acting.motor_points, acting.motor_axes, acting.torque, acting.sliding,
        strict=True,
    ):  # fmt: skip
        factor, unit = (scale.newton, "N") if slides else (scale.newton_metre, "N m")
        text = f"\N{GREEK SMALL LETTER TAU}{SPACE}{measured(abs(value), unit)}"
        drawn.append(Arrow("torques", name, point, factor * value * axis, text))
    chosen = (arrow for arrow in drawn if arrow.kind in shown)
    return sorted(chosen, key=lambda arrow: -arrow.length)


def measured(value: Any, unit: str) -> str:
    """A number with three digits and its unit, on one line."""
    return f"{float(f'{value:.3g}'):g} {unit}".replace(" ", SPACE)


class ArrowDrawing:
    """Nodes of a scene for arrows and their numbers.

    Parameters
    ----------
    server : viser.ViserServer
    size : float [m]
        Size of the robot.
    camera : Camera

    Attributes
    ----------
    camera : Camera
        Numbers are placed so that they do not cover one another, seen from this camera.
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
