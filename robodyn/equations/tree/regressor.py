"""Inverse dynamics as a linear function of the inertial parameters.

Ten numbers a body, about the origin of its link frame and in its axes, in this order::

    m  hx hy hz  Ixx Ixy Iyy Ixz Iyz Izz

with ``h`` the first moment and ``I`` the rotational inertia about that origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.mechanism.bodies import BASE, Body, MechanismModel
from robodyn.equations.mechanism.frames import placement
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.newton_euler import body_motions
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, Placement, RigidInertia, Twist
from robodyn.symbolic.vector import Sym3, Vec3
from robodyn.tolerances import FRAME_ROUNDING

#: Names of a body's parameters, in order.
PARAMETERS = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def body_link(model: MechanismModel, body: Body) -> str:
    """The link that gives a body its name and the frame of its parameters."""
    joint = body.description
    return joint.child if model.frames[joint.child][0] == body.index else joint.parent


def _link_frame(model: MechanismModel, body: Body) -> Placement:
    return placement(model.frames[body_link(model, body)][1], FRAME_ROUNDING)


def inertia_of(model: MechanismModel, body: Body, parameters: Sequence[Number]) -> RigidInertia:
    """Inertia of a body, in its frame of the equations, from its ten parameters."""
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters
    half = (xx + yy + zz) * 0.5
    S = Sym3(half - xx, -xy, -xz, half - yy, -yz, half - zz)
    return RigidInertia(m, Vec3(hx, hy, hz), S).in_parent(_link_frame(model, body))


def parameters_of(model: MechanismModel, body: Body) -> list[Number]:
    """The ten parameters of a body, with all links that it consists of."""
    return ten_of(body.inertia.in_parent(_link_frame(model, body).inverse))


def ten_of(inertia: RigidInertia) -> list[Number]:
    """The ten parameters of an inertia, in its own frame."""
    I = inertia.about_origin
    return [inertia.m, *inertia.h, I.xx, I.xy, I.yy, I.xz, I.yz, I.zz]


def regressor(state: State, a: Sequence[Number]) -> list[list[Number]]:
    """``Y`` (nv, 10 n) with ``Y parameters`` the forces of rigid-body inverse dynamics.

    A row holds the work that a unit of each parameter does on its body for a unit of one speed.
    """
    model = state.model
    motion = body_motions(state, a)
    Y: list[list[Number]] = [[0.0] * (10 * len(model.bodies)) for _ in range(model.nv)]
    columns: dict[int, list[tuple[int, Twist]]] = {BASE: []}
    for body in model:
        joint = state[body.index]
        carried = [(k, joint.X.twist_in(s)) for k, s in columns[body.parent]]
        columns[body.index] = [*carried, *joint.columns]
        X = _link_frame(model, body)
        seen = _in_frame(motion[body.index], X)
        for k, s in columns[body.index]:
            row, first = Y[k], 10 * body.index
            for j, work in enumerate(_work(seen, X.twist_in(s))):
                row[first + j] += work
    return Y


def _in_frame(motion: BodyMotion, X: Placement) -> BodyMotion:
    turn = X.R.inverse_times
    return BodyMotion(turn(motion.w), turn(motion.dw), turn(motion.a + motion.U * X.p))


def _work(motion: BodyMotion, s: Twist) -> list[Number]:
    """Work that a unit of each parameter of a body takes when the body moves by ``s``."""
    w, dw, a = motion.w, motion.dw, motion.a
    h = motion.U.T * s.v + a.cross(s.w)
    x, c = s.w, s.w.cross(w)
    return [
        s.v.dot(a),
        *h,
        x.x * dw.x + c.x * w.x,
        x.x * dw.y + x.y * dw.x + c.x * w.y + c.y * w.x,
        x.y * dw.y + c.y * w.y,
        x.x * dw.z + x.z * dw.x + c.x * w.z + c.z * w.x,
        x.y * dw.z + x.z * dw.y + c.y * w.z + c.z * w.y,
        x.z * dw.z + c.z * w.z,
    ]
