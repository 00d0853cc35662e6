"""Frames that symbols in the pose of a joint move, beside where they are for known numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Pose
from robodyn.equations.mechanism.frames import rotation, vector
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.symbol import Symbol
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import FRAME_ROUNDING


@dataclass(frozen=True, eq=False)
class Displacement:
    """Where symbols move what is beyond a joint, in the axes of the body that carries the joint.

    A point at ``p`` is moved to ``turn back (p - center) + at + symbolic``. So lengths cost a sum
    where no angle is a symbol.

    center, at (3,) [m]
    symbolic [m]
    turn: None: nothing is turned.
    back (3, 3): The inverse of the turn for known numbers.
    """

    center: FloatArray
    at: FloatArray
    symbolic: Vec3
    turn: Rotation | None
    back: FloatArray

    def moved(self, X: Placement) -> Placement:
        """A known frame, moved."""
        p = np.array([*X.p], float)
        if self.turn is None:
            return Placement(X.R, vector(p - self.center + self.at, FRAME_ROUNDING) + self.symbolic)
        R = np.array([[*row] for row in X.R.matrix.rows()], float)
        arm = self.turn * vector(self.back @ (p - self.center), FRAME_ROUNDING)
        place = arm + vector(self.at, FRAME_ROUNDING) + self.symbolic
        return Placement(self.turn @ rotation(self.back @ R, FRAME_ROUNDING), place)

    def after(self, before: Displacement | None) -> Displacement:
        """The displacement of a joint that another one has moved."""
        if before is None:
            return self
        at = self.at - before.center
        if before.turn is None:
            symbolic = before.symbolic + self.symbolic
            return Displacement(self.center, at + before.at, symbolic, self.turn, self.back)
        known = rotation(before.back, FRAME_ROUNDING)
        arm = vector(before.back @ at, FRAME_ROUNDING) + known * self.symbolic
        symbolic = before.turn * arm + before.symbolic
        if self.turn is None:
            return Displacement(self.center, before.at, symbolic, before.turn, before.back)
        turn = before.turn @ known @ self.turn
        return Displacement(self.center, before.at, symbolic, turn, self.back)


def displacement(
    X: FloatArray, origin: Pose, number: Callable[[float], Number]
) -> Displacement | None:
    """How symbols in a pose move the frame there; None without symbols.

    X (4, 4): Frame of the link that the pose is in, on its body.
    number: What takes the place of a number.
    """
    lengths, angles = ([isinstance(x, Symbol) for x in given] for given in (origin.xyz, origin.rpy))
    if not any(lengths) and not any(angles):
        return None
    R = X[:3, :3]
    x, y, z = (number(x) if named else 0.0 for x, named in zip(origin.xyz, lengths, strict=True))
    known = R @ np.where(lengths, origin.xyz, 0.0)
    symbolic = rotation(R, FRAME_ROUNDING) * Vec3(x, y, z)
    if not any(angles):
        return Displacement(known, np.zeros(3), symbolic, None, np.eye(3))
    center, R_O = X[:3, 3] + R @ np.array(origin.xyz, float), origin.matrix[:3, :3]
    roll, pitch, yaw = map(number, origin.rpy)
    own = Rotation.about(2, yaw) @ Rotation.about(1, pitch) @ Rotation.about(0, roll)
    turn = rotation(R, FRAME_ROUNDING) @ own
    return Displacement(center, center - known, symbolic, turn, (R @ R_O).T)
