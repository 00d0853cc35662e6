"""Steps in the space of a joint's coordinates: where a constant twist leads in unit time.

Most coordinates add. A rotation by ``w`` multiplies a quaternion by ``(sin(|w|/2) w/|w|,
cos(|w|/2))``; a floating or planar frame moves along a screw.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, cos, sin, sqrt
from robodyn.symbolic.vector import Vec3

__all__ = ["integrate", "tangent_rate"]

Numbers = Sequence[Number]

#: Added to the square of an angle, so that it can be divided by: too little to change any that
#: matters, in single precision too. A sine over it is then exactly what it tends to.
TINY = 1e-30


#: Kinds of joints whose coordinates do not add.
CURVED = ("spherical", "floating", "planar")


def integrate(model: MechanismModel, q: Numbers, dv: Numbers) -> list[Number]:
    """All coordinates after moving with the joint twists ``dv`` for unit time."""
    moved = list(q)
    for body in model:
        at, speeds = [k for k, *_ in body.q], [speed.index for speed in body.speeds]
        if body.joint.kind in CURVED:
            new = _step(body.joint.kind, [q[k] for k in at], [dv[k] for k in speeds])
        else:
            new = [q[k] + dv[i] for k, i in zip(at, speeds, strict=False)]
        for k, x in zip(at, new, strict=True):
            moved[k] = x
    return moved


def tangent_rate(model: MechanismModel, u: Numbers, v: Numbers) -> list[Number]:
    """Rate of ``u`` in ``integrate(q, u)`` when the motion has the speed ``v``.

    ``v + [u, v]/2 + [u, [u, v]]/12``: the inverse of the exponential's derivative up to terms of
    fourth order in ``u`` [Hairer, Lubich, Wanner 2006, III.4.2].
    """
    rate = list(v)
    for body in model:
        if body.joint.kind in CURVED:
            at = [speed.index for speed in body.speeds]
            x = [u[k] for k in at]
            once = _bracket(body.joint.kind, x, [v[k] for k in at])
            twice = _bracket(body.joint.kind, x, once)
            for k, a, b in zip(at, once, twice, strict=True):
                rate[k] = v[k] + a * 0.5 + b * (1.0 / 12.0)
    return rate


def _step(kind: str, q: Numbers, d: Numbers) -> list[Number]:
    """Coordinates of one joint after moving with the twist ``d`` for unit time."""
    if kind == "spherical":
        return _turned(q, Vec3(*d))
    if kind == "floating":
        shift = _shift(Vec3(*d[:3]), Vec3(*d[3:]))
        R = Rotation.from_quaternion(q[3], q[4], q[5], q[6])
        return [*(Vec3(*q[:3]) + R * shift), *_turned(q[3:], Vec3(*d[3:]))]
    return _plane_step(q, d)


def _bracket(kind: str, x: Numbers, y: Numbers) -> list[Number]:
    """Commutator of two twists of one joint."""
    if kind == "spherical":
        return list(Vec3(*x).cross(Vec3(*y)))
    if kind == "floating":
        v, w = Vec3(*x[:3]), Vec3(*x[3:])
        other, turning = Vec3(*y[:3]), Vec3(*y[3:])
        return [*(w.cross(other) + v.cross(turning)), *w.cross(turning)]
    return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], 0.0]


def _angle(w: Vec3) -> Number:
    return sqrt(w.dot(w) + TINY)


def _turned(quat: Numbers, w: Vec3) -> list[Number]:
    """Quaternion x, y, z, w times that of a rotation vector in body axes, of unit norm."""
    angle = _angle(w)
    half = angle * 0.5
    b, b_w = w * (sin(half) / angle), cos(half)
    a, a_w = Vec3(*quat[:3]), quat[3]
    vector = b * a_w + a * b_w + a.cross(b)
    scalar = a_w * b_w - a.dot(b)
    inverse = 1.0 / sqrt(vector.dot(vector) + scalar * scalar)
    return [*(vector * inverse), scalar * inverse]


def _shift(v: Vec3, w: Vec3) -> Vec3:
    """Displacement with a constant twist, in the axes at the start: the mean rotation times v.

    ``v + (1 - cos t)/t^2 w x v + (t - sin t)/t^3 w x (w x v)``
    """
    angle = _angle(w)
    half = sin(angle * 0.5) / angle
    square = 1.0 / (angle * angle)
    once = w.cross(v)
    return v + once * (2.0 * half * half) + w.cross(once) * ((1.0 - sin(angle) / angle) * square)


def _plane_step(q: Numbers, d: Numbers) -> list[Number]:
    """Position and angle after a plane twist in child axes."""
    half = sqrt(d[2] * d[2] + TINY) * 0.5
    mean = sin(half) / half  # of cosine and sine of the angle over the step
    c, s = mean * cos(q[2] + d[2] * 0.5), mean * sin(q[2] + d[2] * 0.5)
    return [q[0] + c * d[0] - s * d[1], q[1] + s * d[0] + c * d[1], q[2] + d[2]]
