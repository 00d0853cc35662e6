"""Constraint rows of closed loops: residual, Jacobian and bias of every cut joint.

A closure joins a frame F on one body, the predecessor, to a frame G on another, the successor. Its
rows are functions of the pose ``X_FG``, which the kind of joint gives (`robodyn.joints`). Rows of K
are their exact derivatives::

    K v = 0        K a + K_dot v = 0        M a + h = tau + K^T lam

``lam`` are components of the wrench on the successor: forces along the axes of F at the origin of
G, moments about ``b x a`` [W 5.183-5.197].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Coupling, Joint, Loop
from robodyn.equations.loops.frame_constraint import TracedFrameConstraint
from robodyn.equations.loops.frame_functions import (
    FRAME_KINDS,
    FUNCTION,
    ConstraintFunctions,
    function_cut,
)
from robodyn.equations.loops.relative_motion import TIME, relative_motion
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.frames import placement, with_parallel_axis
from robodyn.equations.mechanism.state import State
from robodyn.errors import TopologyError
from robodyn.joints import joint_kind
from robodyn.joints.common.cut import Cut, CutGeometry, RelativeMotion
from robodyn.joints.common.described import align_z
from robodyn.joints.common.kind import JointKind
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Wrench
from robodyn.symbolic.vector import EX, EY, EZ, ZERO3, Vec3


@dataclass(frozen=True, eq=False)
class Closure:
    """A joint that was cut.

    predecessor, successor: Bodies.
    X_PF, X_SG: Frames in the bodies, turned so that an axis is z; of two axes, the first is z of F.
    geometry: Second axis, and numbers of the kind.
    X_UG: Frame G in the frame that the user gave on the successor.
    damping, friction: Viscous and dry, along each freedom.
    functions: The rows, where they are not those of the kind.
    """

    name: str
    kind: JointKind
    predecessor: int
    successor: int
    X_PF: Placement
    X_SG: Placement
    geometry: CutGeometry = CutGeometry()
    X_UG: Placement = Placement()
    damping: float = 0.0
    friction: float = 0.0
    functions: ConstraintFunctions | None = None

    @cached_property
    def cut(self) -> Cut:
        """The constraints of its kind, or those that functions give."""
        if self.functions is not None:
            return function_cut(self.functions)
        assert self.kind.cut is not None, f"a {self.kind} joint cannot be cut"
        return self.kind.cut

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Of each row: whether it is one of positions, too."""
        return (True,) * self.kind.count if self.functions is None else self.functions.holonomic

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.holonomic)

    @property
    def rheonomic(self) -> bool:
        """Its rows depend on time, beside the joints that do."""
        return self.functions is not None and self.functions.rheonomic

    @property
    def steady(self) -> bool:
        """No motion is possible motion, but for joints that time moves."""
        return self.functions is None or self.functions.steady

    def motion(self, state: State) -> RelativeMotion:
        """Motion of G seen from F."""
        if self not in state.kept:
            ends = (self.successor, self.X_SG), (self.predecessor, self.X_PF)
            state.kept[self] = relative_motion(state, *ends)
        found: RelativeMotion = state.kept[self]
        return found

    def rows(self, state: State, motion: RelativeMotion | None = None) -> list[Row]:
        """Its rows, of a motion of G seen from F along any axes, if one is given."""
        m = motion or self.motion(state)
        return [_timed(row) for row in self.cut.rows(m, self.geometry)]

    def gaps(self, state: State, *, still: bool = False) -> list[Row]:
        """The gap of each row, in a measure that vanishes only if the closure is closed.

        ``still``: without slopes.
        """
        m, measure = self.motion(state), self.cut.gap or self.cut.rows
        m = dataclasses.replace(m, columns={}) if still else m
        return [_timed(row) for row in measure(m, self.geometry)]

    def wrenches(self, state: State, lam: Sequence[Number]) -> tuple[Wrench, Wrench, Wrench]:
        """Multipliers as wrenches.

        Returns on_predecessor, on_successor: About the bodies' origins, in their axes.
        Returns in_joint: On the successor, about the origin of the user's frame there, in its axes.
        """
        m = self.motion(state)
        f, n = ZERO3, ZERO3
        # a row is linear in the twist of G seen from F: its coefficients are force and moment
        for k, x in enumerate(lam):
            force, moment = self._direction(m, k)
            f, n = f + force * x, n + moment * x
        in_G = Wrench(m.X.R.inverse_times(f), m.X.R.inverse_times(n))
        # the predecessor feels the opposite at the same point, which is p in F
        in_F = Wrench(-f, -(n + m.X.p.cross(f)))
        on_successor, in_joint = self.X_SG.wrench_out(in_G), self.X_UG.wrench_out(in_G)
        return self.X_PF.wrench_out(in_F), on_successor, in_joint

    def _direction(self, m: RelativeMotion, row: int) -> tuple[Vec3, Vec3]:
        """Force and moment of a unit multiplier: the row for unit velocities along and about F."""
        axes = (EX, EY, EZ)
        units = [*((e, ZERO3) for e in axes), *((ZERO3, e) for e in axes)]
        probe = dataclasses.replace(m, columns=dict(enumerate(units)))
        slopes = self.cut.rows(probe, self.geometry)[row].jacobian
        return Vec3(slopes[0], slopes[1], slopes[2]), Vec3(slopes[3], slopes[4], slopes[5])


def _timed(row: Row) -> Row:
    """A row with its rate by time alone as the offset."""
    if TIME not in row.jacobian:
        return row
    slopes = dict(row.jacobian)
    return dataclasses.replace(row, offset=row.offset + slopes.pop(TIME), jacobian=slopes)


@dataclass(frozen=True, eq=False)
class Coupled:
    """Coordinates whose weighted sum is constant: gears whose axes are not next to each other.

    offset [rad, m]
    """

    name: str
    weights: tuple[tuple[int, int, float], ...]
    offset: float

    count: ClassVar[int] = 1
    holonomic: ClassVar[tuple[bool, ...]] = (True,)
    rheonomic: ClassVar[bool] = False
    steady: ClassVar[bool] = True

    def rows(self, state: State) -> list[Row]:
        """Its row, which is linear."""
        total: Number = -self.offset
        slopes: dict[int, Number] = {}
        for q_index, v_index, weight in self.weights:
            total = total + state.q[q_index] * weight
            slopes[v_index] = slopes.get(v_index, 0.0) + weight
        return [Row(total, slopes, 0.0)]

    gaps = rows


def stabilised(row: Row, v: Sequence[Number], alpha: Number, beta: Number) -> Row:
    """A row whose gap vanishes as an oscillator comes to rest [W 5.198].

    ``K a = -(k + 2 alpha (K v + psi) + beta^2 gap)``; a row of speeds has no gap.
    """
    bias = row.bias + alpha * row.rate(v) * 2.0 + beta * beta * row.residual
    return dataclasses.replace(row, bias=bias)


def closure(model: MechanismModel, cut: Joint | Loop, snap: float) -> Closure:
    """Closure of a cut joint or a loop.

    Raises TopologyError: If the joint can only be part of the tree.
    """
    kind = joint_kind(cut.kind)
    if isinstance(cut, Joint):
        ends = (cut.parent, cut.origin.matrix), (cut.child, np.eye(4))
    else:
        ends = (
            (cut.predecessor, cut.X_predecessor.matrix),
            (cut.successor, cut.X_successor.matrix),
        )
    what = f"{type(cut).__name__.lower()} {cut.name!r}"
    if kind.cut is None:
        raise TopologyError(
            f"a {kind} joint cannot close a loop: cut another joint of it",
            line=cut.line,
            element=what,
        )
    for parameter in kind.parameters:
        value = cut.constants[parameter.name]
        if parameter.positive and not value > 0.0:
            raise TopologyError(
                f"the {parameter.name} is {value}, expected a positive number: "
                f"{parameter.positive}",
                line=cut.line,
                element=what,
            )
    R_UG = np.eye(4)
    if kind.axes:
        R_UG[:3, :3] = align_z(np.array(cut.axis))
    bodies, poses = [], []
    for link, X_LU in ends:
        body, X_BL = model.frames[link]
        bodies.append(body)
        X_BG = X_BL @ X_LU @ R_UG
        if kind.axes:
            X_BG = with_parallel_axis(X_BG, np.array([0.0, 0.0, 1.0]), _axes_on(model, body), snap)
        poses.append(placement(X_BG, max(snap, 1e-15)))
    axis2 = R_UG[:3, :3].T @ np.array(cut.axis2)
    return Closure(
        cut.name,
        kind,
        bodies[0],
        bodies[1],
        poses[0],
        poses[1],
        CutGeometry(Vec3(*(float(x) for x in axis2)), cut.constants),
        placement(R_UG),
        cut.damping,
        cut.friction,
    )


def frame_closure(model: MechanismModel, given: TracedFrameConstraint, snap: float) -> Closure:
    """Closure of a constraint between frames."""
    bodies, poses = [], []
    for link, X_LU in zip(given.links, given.poses, strict=True):
        body, X_BL = model.frames.get(link, (BASE, np.eye(4)))  # the world is the last
        bodies.append(body)
        poses.append(placement(X_BL @ X_LU, max(snap, 1e-15)))
    return Closure(
        given.name,
        FUNCTION if given.functions else FRAME_KINDS[given.kind],
        bodies[0],
        bodies[1],
        poses[0],
        poses[1],
        CutGeometry(constants=given.constants),
        functions=given.functions,
    )


def _axes_on(model: MechanismModel, body: int) -> list[FloatArray]:
    """Axes of the joints on a body, in its frame."""
    axes: list[Any] = [
        child.joint.X_PJ.R * EZ
        for child in model
        if child.parent == body and child.joint.kind.axial
    ]
    return [np.array([*axis], float) for axis in axes]


def coupled(
    model: MechanismModel, coupling: Coupling, over: list[str], under: list[str]
) -> Coupled:
    """The row of a coupling between the joints on two branches.

    over, under: Joints from the nearest common ancestor to the successor, to the predecessor.
    """
    bodies = {body.description.name: body for body in model}
    weights: list[tuple[int, int, float]] = []
    offset = coupling.offset
    for names, sign in ((over, 1.0), (under, -coupling.ratio)):
        for name in names:
            body = bodies[name]
            if len(body.q) != 1 or len(body.speeds) != 1:
                why = "which has more than one coordinate"
                if body.index in model.following:
                    why = "which is a function of others: take a robodyn.Constraint"
                raise TopologyError(
                    f"couples joint {name!r}, {why}",
                    line=coupling.line,
                    element=f"coupling {coupling.name!r}",
                )
            index, factor, shift = body.q[0]
            weights.append((index, body.speeds[0].index, sign * factor))
            offset -= sign * shift
    return Coupled(coupling.name, tuple(weights), offset)
