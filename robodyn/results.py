"""What methods of a robot return, where that is more than one array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import UnknownNameError
from robodyn.state_space import StateSpace

__all__ = [
    "BaseParameters",
    "ConstrainedDynamics",
    "HybridDerivatives",
    "HybridDynamics",
    "IKResult",
    "Impact",
    "JointWrenches",
    "LoopGap",
    "SteadyMotion",
]

#: A joint [rad, m] so near to its limit is at it.
AT_LIMIT = 1e-9


def _shapes(result: Any) -> str:
    """Names and shapes of the arrays in a result: ``a (7,), tau (7,)``."""
    arrays = ((name, np.shape(value)) for name, value in result._asdict().items())
    return ", ".join(f"{name} {shape}" for name, shape in arrays)


class HybridDynamics(NamedTuple):
    """Accelerations and generalised forces of all joints.

    Attributes
    ----------
    a : ndarray, shape (..., nv) [rad/s^2, m/s^2]
    tau : ndarray, shape (..., nv) [N m, N]
    multipliers : ndarray, shape (..., nc) [N, N m]
        Of closed loops.
    """

    a: Array
    tau: Array
    multipliers: Array

    def __repr__(self) -> str:
        return f"<HybridDynamics: {_shapes(self)}>"


class HybridDerivatives(NamedTuple):
    """Accelerations and generalised forces of hybrid dynamics, or their derivatives by one input.

    Attributes
    ----------
    a, tau : ndarray, shape (..., nv), or (..., nv, nv) for a derivative
    """

    a: Array
    tau: Array

    def __repr__(self) -> str:
        return f"<HybridDerivatives: {_shapes(self)}>"


class ConstrainedDynamics(NamedTuple):
    """Forward dynamics of a closed linkage.

    Attributes
    ----------
    a : ndarray, shape (..., nv) [rad/s^2, m/s^2]
    multipliers : ndarray, shape (..., nc) [N, N m]
    rank : ndarray of int, shape (...)
        Of the constraints.
    residual : ndarray, shape (...)
        How far the accelerations are from satisfying the constraints, relative to their terms.
    method : str
        What solved it.
    """

    a: Array
    multipliers: Array
    rank: Array
    residual: Array
    method: str

    def __repr__(self) -> str:
        batch = np.shape(self.rank)
        of = f" of each of {batch} states" if batch else f", rank {self.rank}"
        return (
            f"<ConstrainedDynamics{of}: a {np.shape(self.a)}, "
            f"multipliers {np.shape(self.multipliers)}, by {self.method!r}>"
        )


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Combinations of parameters that can be identified.

    ``regressor @ inertial_parameters`` equals ``regressor[..., columns] @ values``.

    Attributes
    ----------
    parameter_names : tuple of str
        Of all parameters: `Robot.parameter_names`, say.
    columns : ndarray of int, shape (r,)
        Parameters that stand for a combination.
    combination : ndarray, shape (r, number of parameters)
        ``values = combination @ inertial_parameters``.
    values : ndarray, shape (r,)
    """

    parameter_names: tuple[str, ...]
    columns: Array
    combination: Array
    values: Array

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return (
            f"<BaseParameters: {len(self)} combinations of {len(self.parameter_names)} parameters>"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter that stands for each combination."""
        return tuple(self.parameter_names[k] for k in self.columns)

    @property
    def expressions(self) -> tuple[str, ...]:
        """How the parameters combine, to read: ``"elbow.Izz + 0.25 tip.m"``."""
        return tuple(
            self._expression(column, row)
            for column, row in zip(self.columns, self.combination, strict=True)
        )

    def _expression(self, column: int, row: Array) -> str:
        text = self.parameter_names[column]
        for k in np.flatnonzero(row):
            if k != column:
                sign, size = "-" if row[k] < 0.0 else "+", abs(row[k])
                factor = "" if abs(size - 1.0) < 1e-9 else f"{size:.6g} "
                text += f" {sign} {factor}{self.parameter_names[k]}"
        return text


class WrenchMapping(Mapping[str, Array]):
    """Wrenches by joint name, shape (..., 6) [N, N m]; unknown names raise `UnknownNameError`."""

    def __init__(self, names: tuple[str, ...], values: Array) -> None:
        self._names, self.values_array = names, values

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise UnknownNameError("joint", name, self._names)
        return np.asarray(self.values_array[..., self._names.index(name), :])

    def __repr__(self) -> str:
        of = (
            f" of each of {self.values_array.shape[:-2]} states"
            if self.values_array.ndim > 2
            else ""
        )
        return f"<{type(self).__name__}{of}: {', '.join(self._names)}>"

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class JointWrenches(WrenchMapping):
    """What each joint's parent exerts on its child, by joint name, and ``"base"``.

    Parameters
    ----------
    joints : tuple of str
    values : ndarray, shape (..., n, 6) [N, N m]
    parts : callable
        Makes the motor and passive parts, shape (..., n - 1, 6), when they are asked for.
    pose : callable
        ``(joint, frame)`` -> pose of the joint's child link in a frame; ``None``: the root.

    Attributes
    ----------
    base : ndarray, shape (..., 6) [N, N m]
        What is also called ``"base"``, unless a joint has that name.
    """

    def __init__(
        self,
        joints: tuple[str, ...],
        values: Array,
        parts: Callable[[], tuple[Array, Array]],
        pose: Callable[[str | None, str], Array],
    ) -> None:
        super().__init__((*joints, "base"), values)
        self.base = np.asarray(values[..., -1, :])
        self._make_parts, self._pose = parts, pose

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        return self._make_parts()

    @property
    def motor(self) -> WrenchMapping:
        """The part along the joint's freedoms that a motor gives, its rotor taken off."""
        return WrenchMapping(self._names[:-1], self._parts[0])

    @property
    def passive(self) -> WrenchMapping:
        """The part along the joint's freedoms of its damping, friction and springs."""
        return WrenchMapping(self._names[:-1], self._parts[1])

    @property
    def bearing(self) -> WrenchMapping:
        """The rest: it does no work."""
        motor, passive = self._parts
        return WrenchMapping(self._names[:-1], self.values_array[..., :-1, :] - motor - passive)

    def in_frame(self, frame: str) -> WrenchMapping:
        """The same wrenches about the origin of a link, in its axes (``"world"``: of the world).

        Raises
        ------
        UnknownNameError
            If there is no such link.
        """
        joints = (*self._names[:-1], None)
        rows = [
            _moved(self._pose(joint, frame), self.values_array[..., k, :])
            for k, joint in enumerate(joints)
        ]
        return WrenchMapping(self._names, np.stack(rows, axis=-2))


def _moved(X_FL: Array, wrench: Array) -> Array:
    force = np.einsum("...ij,...j->...i", X_FL[..., :3, :3], wrench[..., :3])
    moment = np.einsum("...ij,...j->...i", X_FL[..., :3, :3], wrench[..., 3:])
    return np.concatenate([force, moment + np.cross(X_FL[..., :3, 3], force)], axis=-1)


@dataclass(frozen=True)
class GroundContact:
    """A point of a link that may touch the ground.

    Attributes
    ----------
    force : ndarray, shape (..., 3) [N]
        Of the ground on the link, in world axes.
    depth : ndarray, shape (...) [m]
        Of the point in the ground; zero above it.
    slip : ndarray, shape (..., 3) [m/s]
        Velocity of the point along the ground, in world axes.
    """

    force: Array
    depth: Array
    slip: Array


class Impact:
    """What an impulse did to a robot.

    Parameters
    ----------
    make_joint_impulses : callable
        Makes `joint_impulses` when they are asked for.

    Attributes
    ----------
    v : ndarray, shape (..., nv) [rad/s, m/s]
        Speeds afterwards.
    impulse : ndarray, shape (..., 3) [N s]
        On the link, in world axes; zero where joints latch. Of several hits at once (..., k, 3),
        in their order.
    energy_loss : ndarray, shape (...) [J]
        What the contact, or the latches, took from the motion.
    against_v : ndarray or None
        Of what was hit, afterwards: the velocity of a point mass, shape (..., 3) [m/s], or the
        speeds of another robot, shape (..., nv); None for what has none of its own. Of several
        hits at once a tuple, one of these each.
    """

    def __init__(
        self,
        v: Array,
        impulse: Array,
        energy_loss: Array,
        against_v: Array | tuple[Array | None, ...] | None,
        make_joint_impulses: Callable[[], JointWrenches],
    ) -> None:
        self.v, self.impulse, self.energy_loss = v, impulse, energy_loss
        self.against_v = against_v
        self._make_joint_impulses = make_joint_impulses

    @cached_property
    def joint_impulses(self) -> JointWrenches:
        """Impulse and moment in every joint, shape (..., 6) [N s, N m s]; frames as of wrenches.

        By joint name, cut joints too; ``"base"``: what the ground or the carrier of the base gives.
        """
        return self._make_joint_impulses()

    def __repr__(self) -> str:
        batch = self.v.shape[:-1]
        if batch:
            return f"<Impact of each of {batch} states>"
        size = float(np.linalg.norm(self.impulse))
        return f"<Impact: {size:.6g} N s, {float(self.energy_loss):.6g} J lost>"


@dataclass(frozen=True, eq=False)
class ImpactDerivatives:
    """Speeds after a hit, and how they change with the state before it.

    Attributes
    ----------
    v : ndarray, shape (..., nv) [rad/s, m/s]
        Afterwards.
    by_q : ndarray, shape (..., nv, nv)
        Its derivative with respect to positions before, moved along the speeds.
    by_v : ndarray, shape (..., nv, nv)
        Its derivative with respect to speeds before.
    by_parameters : ndarray, shape (..., nv, 10 n), or None
        Its derivative with respect to ``robot.inertial_parameters``, if asked for.
    """

    v: Array
    by_q: Array
    by_v: Array
    by_parameters: Array | None = None


@dataclass(frozen=True, eq=False)
class IKResult:
    """Postures in which frames are where they are wanted, or as near to it as was found.

    Attributes
    ----------
    q : ndarray, shape (..., nq) [rad, m]
    residual : ndarray, shape (...) [m, rad]
        Root of the sum of squares of all distances and angles to the targets.
    converged : ndarray of bool, shape (...)
        The targets are reached: the residual is at most 1e-9.
    """

    q: Array
    residual: Array
    converged: Array
    _joints: Mapping[str, Any] = field(repr=False)

    @cached_property
    def at_limits(self) -> dict[str, Array]:
        """Joints that are at a limit of their position, each with where, of shape (...)."""
        found = {}
        for name, joint in self._joints.items():
            limits = joint.position_limits
            if limits is not None and joint.q.stop == joint.q.start + 1:
                x = self.q[..., joint.q.start]
                at = (x <= limits[0] + AT_LIMIT) | (x >= limits[1] - AT_LIMIT)
                if np.any(at):
                    found[name] = at
        return found

    def __repr__(self) -> str:
        reached, worst = np.mean(self.converged), np.max(self.residual, initial=0.0)
        limits = ", ".join(self.at_limits)
        return (
            f"<IKResult: q {self.q.shape}, {reached:.0%} converged, residual up to {worst:.3g}"
            + (f", at limits: {limits}>" if limits else ">")
        )


@dataclass(frozen=True, eq=False)
class LoopGap:
    """Where the two frames of a closure stand at a posture; where they agree, the loop is closed.

    Attributes
    ----------
    name, kind : str
        Of the joint or loop that was cut.
    links : (str, str)
        The predecessor, and the successor.
    poses : ndarray, shape (2, 4, 4) [1, m]
        The frame on each of them, in the world.
    residual : float [m, rad]
        How far the loop is from being closed: the largest of its rows in `Robot.loop_residual`.
    axis : (3,) or None
        In the axes of either frame, of a kind with one axis.
    """

    name: str
    kind: str
    links: tuple[str, str]
    poses: Array
    residual: float
    axis: tuple[float, float, float] | None = None

    @property
    def distance(self) -> float:
        """Between the origins of the frames [m]."""
        return float(np.linalg.norm(self.poses[1, :3, 3] - self.poses[0, :3, 3]))

    @property
    def angle(self) -> float:
        """By which one frame is turned away from the other, 0 to pi [rad]."""
        R = self.poses[0, :3, :3].T @ self.poses[1, :3, :3]
        sine = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return float(np.arctan2(np.linalg.norm(sine), np.trace(R) - 1.0))

    @property
    def tilt(self) -> float | None:
        """Angle between the axes of the two frames, 0 to pi [rad]; ``None`` without one axis."""
        if self.axis is None:
            return None
        a, b = self.poses[:, :3, :3] @ np.array(self.axis)
        return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))

    def __repr__(self) -> str:
        return f"<LoopGap of {self.name!r}: {self}>"

    def __str__(self) -> str:
        text = f"{self.distance:.3g} m apart and turned by {np.degrees(self.angle):.3g} degrees"
        if self.tilt is not None:
            text += f" (their axes by {np.degrees(self.tilt):.3g} degrees)"
        return text


@dataclass(frozen=True, eq=False)
class SteadyMotion:
    """A motion with constant speeds that stays as it is.

    Attributes
    ----------
    q : ndarray, shape (nq,) [rad, m]
        Where it starts.
    v : ndarray, shape (nv,) [rad/s, m/s]
    tau : ndarray, shape (nv,) [N m, N]
        Forces in all joints: those given, and what driven joints take.
    model : StateSpace
        Linear model of motions beside it. Its matrices do not depend on time.
    """

    q: Array
    v: Array
    tau: Array
    model: StateSpace

    @property
    def stability(self) -> str:
        """``"stable"``, ``"marginal"`` or ``"unstable"``: see `StateSpace.stability`.

        Without damping motions are marginal at best, and where and how fast a body that floats
        turns may always be changed a little for good.
        """
        return self.model.stability

    def __repr__(self) -> str:
        return f"<SteadyMotion: v = {np.array2string(self.v, precision=4)}, {self.stability}>"
