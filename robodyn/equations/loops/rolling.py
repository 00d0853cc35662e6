"""Wheels and balls that roll on planes: they touch the plane, and the point of contact rests.

A row of positions keeps the distance to the plane, two of speeds keep the material point of contact
at rest on it. Their multipliers are the normal force and the friction, at the point of contact.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.arrays import mismatch, number, vector
from robodyn.equations.loops.frame_constraint import Frame, TracedFrameConstraint, traced_between
from robodyn.equations.loops.frame_functions import FUNCTION, FrameFunction
from robodyn.errors import ShapeError
from robodyn.force_elements.common.link_element import WORLD
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import Vec3


class Rolling:
    """A thin disc or a ball of a link that rolls, without slipping, on a plane of another link.

    It is held on the plane from both sides: a pull is a negative normal force. A disc may lean in
    any direction, but not lie flat.

    Parameters
    ----------
    name : str
        Its rows are called ``"name[0]"``, of the distance to the plane, and ``"name[1]"``,
        ``"name[2]"``, of the speeds of the point of contact. `Robot.joint_wrenches` has what the
        plane exerts on the link, about the centre in link axes, under the name.
    link : str
    center : (3,) [m]
        Centre of the disc or ball, in link axes.
    radius : float [m]
    axis : (3,), optional
        Of a disc, in link axes. Default: a ball.
    on : frame
        The plane is ``z = 0`` of this frame, and the centre is on the side of positive z. It is
        ``(link, X)`` with its pose in a link, shape (4, 4) [1, m], or a function of the time ``t``
        [s] that gives one; ``(link, p)`` with an offset (3,) [m]; or the name of a link. Default:
        the world.

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> import robodyn as rd
    >>> contact = rd.Rolling("contact", "lower", center=(0, 0, -1), radius=0.2)
    >>> robot = rd.load("double_pendulum", base="floating", constraints=[contact])
    >>> robot.nv, robot.nc     # a ball at the tip rolls on the ground
    (8, 3)
    """

    @checked_arguments
    def __init__(
        self,
        name: str,
        link: str,
        center: ArrayLike,
        radius: float,
        *,
        axis: ArrayLike | None = None,
        on: Frame = WORLD,
    ) -> None:
        if not name:
            raise mismatch("the name of a constraint", name, "text", "name")
        self.name = name
        r = number("radius", radius, "m")
        if not 0.0 < r < math.inf:
            raise ShapeError(
                f"the radius of {self!r} is {r}, expected a positive number", name="radius", given=r
            )
        at = (link, vector("center", center))
        rows = _ball(r) if axis is None else _disc(r, self._unit(axis))
        self._traced = traced_between(name, FUNCTION.name, (on, at), {}, rows)

    def traced(
        self, joints: Mapping[str, tuple[str, int, int]], links: Collection[str]
    ) -> TracedFrameConstraint:
        """As a description with these links has it; it reads no joints."""
        return self._traced.on_links(links)

    def __repr__(self) -> str:
        return f"constraint {self.name!r}"

    def _unit(self, axis: ArrayLike) -> Vec3:
        e = np.array(vector("axis", axis))
        length = float(np.linalg.norm(e))
        if not 0.0 < length < math.inf:
            raise ShapeError(
                f"the axis of {self!r} is {e.tolist()}, expected a direction", name="axis"
            )
        return Vec3(*(float(x) for x in e / length))


def _ball(radius: float) -> FrameFunction:
    """The point of contact is straight below the centre."""

    def rows(X: Placement, v: Vec3, w: Vec3, t: Number) -> list[Number]:
        return [X.p.z - radius, v.x - w.y * radius, v.y + w.x * radius]

    return rows


def _disc(radius: float, axis: Vec3) -> FrameFunction:
    """The point of contact is the lowest point of the rim: in the disc, away from z of the plane.

    The steepest direction in the disc is ``e_z - (e_z . a) a``, of length ``s``, the sine of the
    angle between the axis and z.
    """

    def rows(X: Placement, v: Vec3, w: Vec3, t: Number) -> list[Number]:
        a = X.R * axis
        s = sqrt(a.x * a.x + a.y * a.y)
        down = Vec3(a.x * a.z / s, a.y * a.z / s, -s)
        contact = v + w.cross(down * radius)
        return [X.p.z - s * radius, contact.x, contact.y]

    return rows
