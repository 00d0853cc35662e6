"""Poses, twists, wrenches and inertias of frames: the words that the equations are written in.

`X_AB` is the pose of frame B in frame A. Twists and wrenches are taken at the origin of a frame, in
its axes. Two views of motion are used: the `Twist` with its componentwise derivative, and
`BodyMotion`, which holds what Newton and Euler need: angular velocity and acceleration as one
matrix ``U = [dw]x + [w]x [w]x`` and the classical acceleration of the origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robodyn.symbolic.scalar import Number
from robodyn.symbolic.vector import ZERO3, Mat3, Rotation, Sym3, Vec3, skew_square


class Twist:
    """Linear velocity ``v`` of a frame's origin and angular velocity ``w``, in its axes.

    Also a column of a motion subspace, or a twist's derivative.
    """

    __slots__ = ("v", "w")

    def __init__(self, v: Vec3 = ZERO3, w: Vec3 = ZERO3) -> None:
        self.v, self.w = v, w

    def __iter__(self) -> Iterator[Number]:
        yield from self.v
        yield from self.w

    def __add__(self, other: Twist) -> Twist:
        return Twist(self.v + other.v, self.w + other.w)

    def __sub__(self, other: Twist) -> Twist:
        return Twist(self.v - other.v, self.w - other.w)

    def __neg__(self) -> Twist:
        return Twist(-self.v, -self.w)

    def __mul__(self, factor: Number) -> Twist:
        return Twist(self.v * factor, self.w * factor)

    def dot(self, F: Wrench) -> Number:
        """Power of a wrench."""
        return self.v.dot(F.f) + self.w.dot(F.n)

    def cross(self, other: Twist) -> Twist:
        """Rate of ``other``, fixed in a frame that moves with this twist."""
        return Twist(self.w.cross(other.v) + self.v.cross(other.w), self.w.cross(other.w))

    def cross_wrench(self, F: Wrench) -> Wrench:
        """Rate of a wrench that is fixed in a frame that moves with this twist."""
        return Wrench(self.w.cross(F.f), self.w.cross(F.n) + self.v.cross(F.f))


class Wrench:
    """Force ``f`` and moment ``n`` about a frame's origin, in its axes; also a momentum."""

    __slots__ = ("f", "n")

    def __init__(self, f: Vec3 = ZERO3, n: Vec3 = ZERO3) -> None:
        self.f, self.n = f, n

    def __iter__(self) -> Iterator[Number]:
        yield from self.f
        yield from self.n

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(self.f + other.f, self.n + other.n)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.f - other.f, self.n - other.n)

    def __neg__(self) -> Wrench:
        return Wrench(-self.f, -self.n)

    def __mul__(self, factor: Number) -> Wrench:
        return Wrench(self.f * factor, self.n * factor)


def summed(wrenches: Iterable[tuple[int, Wrench]]) -> dict[int, Wrench]:
    """Wrenches on bodies, of which each may have several."""
    total: dict[int, Wrench] = {}
    for body, F in wrenches:
        total[body] = total[body] + F if body in total else F
    return total


class BodyMotion:
    """What a body's mass feels of its motion.

    w, dw: Angular velocity and acceleration, in body axes.
    a: Acceleration of the body's origin as seen from an inertial frame (less gravity), in body
        axes. The point at ``r`` accelerates with ``a + U r``.
    """

    __slots__ = ("U", "a", "dw", "w")

    def __init__(self, w: Vec3, dw: Vec3, a: Vec3) -> None:
        self.w, self.dw, self.a = w, dw, a
        self.U = Mat3.skew(dw) + skew_square(w).full


class Placement:
    """``X_AB``: rotation ``R_AB`` and the origin of B in A."""

    __slots__ = ("R", "p")

    def __init__(self, R: Rotation | None = None, p: Vec3 = ZERO3) -> None:
        self.R = Rotation() if R is None else R
        self.p = p

    def __matmul__(self, other: Placement) -> Placement:
        return Placement(self.R @ other.R, self.R * other.p + self.p)

    @property
    def inverse(self) -> Placement:
        """``X_BA``."""
        return Placement(self.R.T, -self.R.inverse_times(self.p))

    def twist_in(self, V: Twist) -> Twist:
        """Twist of A, given in A, as twist of B (rigidly joined to A) in B."""
        return Twist(self.R.inverse_times(V.v + V.w.cross(self.p)), self.R.inverse_times(V.w))

    def twist_out(self, V: Twist) -> Twist:
        """Twist of B, given in B, as twist of A (rigidly joined to B) in A."""
        w = self.R * V.w
        return Twist(self.R * V.v + self.p.cross(w), w)

    def wrench_out(self, F: Wrench) -> Wrench:
        """Wrench about B, given in B, as wrench about A in A."""
        f = self.R * F.f
        return Wrench(f, self.R * F.n + self.p.cross(f))

    @property
    def multiplied(self) -> Placement:
        """The same with one matrix for the rotation, where it turns many vectors."""
        return Placement(Rotation(self.R.matrix), self.p) if len(self.R.factors) > 1 else self

    def wrench_in(self, F: Wrench) -> Wrench:
        """Wrench about A, given in A, as wrench about B in B."""
        return Wrench(self.R.inverse_times(F.f), self.R.inverse_times(F.n - self.p.cross(F.f)))


class RigidInertia:
    """Mass ``m``, first moment ``h`` and second moment ``S`` (integral of ``r r^T dm``).

    The second moment (the pseudo-inertia) turns and shifts like a dyad; the usual inertia about
    the origin is ``tr(S) 1 - S``.
    """

    __slots__ = ("S", "h", "m")

    def __init__(self, m: Number, h: Vec3, S: Sym3) -> None:
        self.m, self.h, self.S = m, h, S

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(self.m + other.m, self.h + other.h, self.S + other.S)

    @property
    def about_origin(self) -> Sym3:
        """Rotational inertia about the origin."""
        S = self.S
        return Sym3(S.yy + S.zz, -S.xy, -S.xz, S.xx + S.zz, -S.yz, S.xx + S.yy)

    def momentum(self, V: Twist) -> Wrench:
        """Momentum of the body that moves with twist ``V``."""
        return Wrench(V.v * self.m + V.w.cross(self.h), self.about_origin * V.w + self.h.cross(V.v))

    def wrench(self, motion: BodyMotion) -> Wrench:
        """Force and moment that the motion takes: ``integral of (a + U r) dm``, ``r x`` of it."""
        N = motion.U @ self.S.full
        n = Vec3(N.zy - N.yz, N.xz - N.zx, N.yx - N.xy) + self.h.cross(motion.a)
        return Wrench(motion.a * self.m + motion.U * self.h, n)

    def in_parent(self, X: Placement) -> RigidInertia:
        """The body seen from A, where ``X`` is ``X_AB``."""
        h = X.R * self.h
        k = h + X.p * (self.m * 0.5)
        p = X.p
        shift = Sym3(
            2.0 * (p.x * k.x),
            p.x * k.y + p.y * k.x,
            p.x * k.z + p.z * k.x,
            2.0 * (p.y * k.y),
            p.y * k.z + p.z * k.y,
            2.0 * (p.z * k.z),
        )
        return RigidInertia(self.m, h + p * self.m, X.R.turn(self.S) + shift)


class ArticulatedInertia:
    """Wrench that a subtree with free joints opposes to an acceleration of its first body.

    ``n = A dw + B dv`` and ``f = B^T dw + M dv``.
    """

    __slots__ = ("A", "B", "M")

    def __init__(self, A: Sym3, B: Mat3, M: Sym3) -> None:
        self.A, self.B, self.M = A, B, M

    @classmethod
    def of(cls, body: RigidInertia) -> ArticulatedInertia:
        """Of a single rigid body."""
        return cls(body.about_origin, Mat3.skew(body.h), Sym3.diagonal(body.m))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.M + other.M)

    def __mul__(self, V: Twist) -> Wrench:
        return Wrench(self.B.T * V.w + self.M * V.v, self.A * V.w + self.B * V.v)

    def freed(self, S: Twist, F: Wrench, inverse: Number, *, wholly: bool) -> ArticulatedInertia:
        """Less ``F F^T * inverse`` with ``F`` the inertia times ``S``.

        With ``inverse = 1 / (S . F)`` nothing opposes ``S`` now (``wholly``). Where ``S`` is a unit
        vector, the row that then vanishes is written as zeros, so that later steps know it.
        """
        f, n = F.f * inverse, F.n * inverse
        A = self.A - Sym3.of(F.n.outer(n))
        B = self.B - F.n.outer(f)
        M = self.M - Sym3.of(F.f.outer(f))
        unit = _unit_index(S) if wholly else None
        if unit is not None:
            _clear(A, B, M, unit)
        return ArticulatedInertia(A, B, M)

    def in_parent(self, X: Placement) -> ArticulatedInertia:
        """The subtree seen from A, where ``X`` is ``X_AB``."""
        A, B, M = X.R.turn(self.A), X.R.turn(self.B), X.R.turn(self.M)
        p = X.p
        B_shifted = B + Mat3(*(c for row in M.full.rows() for c in p.cross(row))).T
        K = Mat3(*(c for row in B.rows() for c in p.cross(row)))
        L = Mat3(*(c for row in B_shifted.rows() for c in p.cross(row)))
        return ArticulatedInertia(A + Sym3.of(K + L.T), B_shifted, M)


def _unit_index(S: Twist) -> int | None:
    """Index of the only component of a twist, if there is just one and it is known."""
    parts = list(S)
    filled = [k for k, part in enumerate(parts) if part.__class__ is not float or part]
    return filled[0] if len(filled) == 1 and isinstance(parts[filled[0]], float) else None


def _clear(A: Sym3, B: Mat3, M: Sym3, k: int) -> None:
    letters = "xyz"
    a = letters[k % 3]
    S = M if k < 3 else A
    for b in letters:
        setattr(S, min(a, b) + max(a, b), 0.0)
        setattr(B, b + a if k < 3 else a + b, 0.0)
