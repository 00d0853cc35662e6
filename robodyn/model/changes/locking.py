"""A description with locked joints, and those that follow them or are coupled to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arrays import numbers
from robodyn.description import Coupling, Joint, Link, Loop, Mechanism, Pose
from robodyn.description.couplings import branches
from robodyn.description.graph_check import find_root
from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.equations.loops.constraint import Constraint, TracedConstraint
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.force_elements import relaxed
from robodyn.joints import fixed, floating, joint_kind
from robodyn.joints.common.described import described_pose
from robodyn.model.actuators import with_rotor_axes
from robodyn.model.splitting import joint_of_loop
from robodyn.tolerances import QUATERNION_NORM, SAME_POSITION
from robodyn.topology.spanning_tree import FLOATING_BASE

#: Position of a joint, one number for each coordinate.
Position = tuple[float, ...]
#: ``sum of factor * position = constant`` over joints.
Tie = tuple[dict[str, float], float]


def with_locked(
    mechanism: Mechanism, locked: Mapping[str, ArrayLike], *, floating: bool
) -> Mechanism:
    """A description with joints welded, and what is said of them left out or taken there.

    A floating base that is welded stands on a world.
    """
    joints = {joint.name: joint for joint in mechanism.joints}
    if floating:  # in place of a fixed joint that has its name
        joints[FLOATING_BASE] = free_base(mechanism)
    closing = joints_of_loops(mechanism)
    positions, movers = {}, {**joints, **closing}
    for name, value in locked.items():
        if name not in movers:
            raise UnknownNameError("joint", name, movers, repr(mechanism.name))
        positions[name] = locked_position(movers[name], value)
    if floating and FLOATING_BASE in locked:
        mechanism = on_a_world(
            mechanism, welded_joint(joints[FLOATING_BASE], positions[FLOATING_BASE])
        )
    welded = _all_locked(mechanism, positions)
    if mechanism.transmissions:
        _refuse_coupled(mechanism, {*closing} & {*welded})
        mechanism = with_rotor_axes(mechanism, welded)
    joints = {joint.name: joint for joint in mechanism.joints}
    for name, position in welded.items():
        if name in joints and joints[name].nv:
            joints[name] = welded_joint(joints[name], position)
    couplings, rows = _couplings_left(mechanism, welded)
    constraints = list(mechanism.constraints)
    for k, given in enumerate(constraints):
        for name in given.joints:
            if name in welded:
                constraints[k] = constraints[k].locking(name, welded[name])
    return dataclasses.replace(
        mechanism,
        joints=tuple(joints.values()),
        loops=tuple(
            welded_loop(loop, closing[loop.name], welded[loop.name])
            if loop.name in welded
            else loop
            for loop in mechanism.loops
        ),
        couplings=couplings,
        constraints=(*constraints, *rows),
        forces=tuple(force for force in mechanism.forces if force.joint not in welded),
        actuators=tuple(
            (name, x)  # a motor with a joint of its own turns none that is locked
            for name, x in mechanism.actuators
            if name not in welded or (x.elastic is None and x.command == "torque")
        ),
        followers=_followers_left(mechanism, welded),
    )


def _refuse_coupled(mechanism: Mechanism, locked: Collection[str]) -> None:
    """Check that no locked joint of a loop has a motor that a transmission couples to others."""
    for x in mechanism.transmissions:
        for name in sorted({*x.joints} & {*locked}):
            raise SettingsError(
                f"joint {name!r} closes a loop, and transmission {x.name!r} couples its motor to "
                "others: it cannot be locked; let another joint close the loop"
            )


def _all_locked(mechanism: Mechanism, locked: Mapping[str, Position]) -> dict[str, Position]:
    """Positions of the locked joints, and of the joints that these determine.

    Raises SettingsError: If positions contradict the couplings between joints, or joints that
        follow others by a function are locked without these.
    """
    ties = {f"the mimic of {j.name!r}": _mimicry(j) for j in mechanism.joints if j.mimic}
    ties |= {f"coupling {c.name!r}": _coupled(mechanism, c) for c in mechanism.couplings}
    found: dict[str, float] = {name: x[0] for name, x in locked.items() if len(x) == 1}
    given, known = dict(found), -1
    while known < len(found):
        known = len(found)
        for what, tie in ties.items():
            free = [name for name, factor in tie[0].items() if factor and name not in found]
            rest = _rest(tie, found)
            if len(free) == 1:
                found[free[0]] = rest / tie[0][free[0]]
            elif not free and abs(rest) > SAME_POSITION:
                raise _contradiction(given, what, abs(rest))
        for loop in mechanism.followers:
            if found.keys() >= {*loop.independent}:
                _hold(loop, found, given)
    for loop in mechanism.followers:
        for name in loop.dependent:
            if name in found and not found.keys() >= {*loop.independent}:
                raise SettingsError(
                    f"joint {name!r} cannot be locked: it follows {', '.join(loop.independent)} by "
                    f"the function of {loop.name!r}; lock these"
                )
    return {**locked, **{name: (x,) for name, x in found.items()}}


def _hold(loop: TracedExplicitLoop, found: dict[str, float], given: Mapping[str, float]) -> None:
    """Add the positions of the joints of a loop that follow locked joints."""
    at = np.array([[found[name] for name in loop.independent]])
    for name, x in zip(loop.dependent, loop.positions(at)[0].tolist(), strict=True):
        if not np.isfinite(x):
            raise SettingsError(
                f"locked={given}: the function of {loop.name!r}, by which {name!r} follows, is no "
                "number there"
            )
        if not abs(found.setdefault(name, x) - x) <= SAME_POSITION:
            raise _contradiction(given, repr(loop.name), abs(found[name] - x))


def _contradiction(given: Mapping[str, float], what: str, gap: float) -> SettingsError:
    return SettingsError(
        f"locked={given} contradicts {what}, by {gap:.3g} (rad or m): leave one of its joints out"
    )


def _followers_left(
    mechanism: Mechanism, positions: Mapping[str, Position]
) -> tuple[TracedExplicitLoop, ...]:
    """Joints that are functions of others, of which some are locked."""
    locked = {name: x[0] for name, x in positions.items() if len(x) == 1}
    left = (x for x in mechanism.followers if not {*x.dependent} <= locked.keys())
    return tuple(loop.locking(locked) for loop in left)


def _couplings_left(
    mechanism: Mechanism, positions: Mapping[str, Position]
) -> tuple[tuple[Coupling, ...], tuple[TracedConstraint, ...]]:
    """Couplings between the remaining joints, and rows for those with a locked side."""
    couplings, rows = [], []
    locked = {name: x[0] for name, x in positions.items() if len(x) == 1}
    kinds = {joint.name: (joint.kind, joint.nq, joint.nv) for joint in mechanism.joints}
    for coupling in mechanism.couplings:
        factors, constant = _coupled(mechanism, coupling)
        if not locked.keys() & factors.keys():
            couplings.append(coupling)
            continue
        rest = _rest((factors, constant), locked)
        left = {name: factor for name, factor in factors.items() if name not in locked}
        if not left:
            continue
        over, under = ([name for name in side if name in left]
                       for side in branches(mechanism, coupling))  # fmt: skip
        if over and under:
            couplings.append(dataclasses.replace(coupling, offset=rest))
        else:
            given = Constraint(coupling.name, _linear([*left.values()], rest), left)
            rows.append(given.traced(kinds))
    return tuple(couplings), tuple(rows)


def _linear(factors: list[float], constant: float) -> Any:
    return lambda q: sum(f * x for f, x in zip(factors, q, strict=True)) - constant


def _rest(tie: Tie, locked: Mapping[str, float]) -> float:
    """The constant of a linear relation between the joints that are not locked."""
    factors, constant = tie
    return constant - sum(factor * locked[n] for n, factor in factors.items() if n in locked)


def _mimicry(joint: Joint) -> Tie:
    assert joint.mimic is not None
    return {joint.name: 1.0, joint.mimic.joint: -joint.mimic.multiplier}, joint.mimic.offset


def _coupled(mechanism: Mechanism, coupling: Coupling) -> Tie:
    over, under = branches(mechanism, coupling)
    return dict.fromkeys(over, 1.0) | dict.fromkeys(under, -coupling.ratio), coupling.offset


def locked_position(joint: Joint, given: ArrayLike) -> tuple[float, ...]:
    """Where a joint is to be locked: one number a coordinate, quaternions of unit norm."""
    if not joint.nv:
        raise UnknownNameError("joint with a degree of freedom", joint.name, ())
    quaternion = joint_kind(joint.kind).coordinates.quaternion
    expected = "a finite number" if joint.nq == 1 else f"{joint.nq} finite numbers"
    expected += ", the last four a unit quaternion x, y, z, w" if quaternion else ""
    wrong = SettingsError(f"locked[{joint.name!r}] is {given!r}, expected {expected}")
    try:
        position = numbers("position", given)
    except ShapeError:
        raise wrong from None
    if position.shape not in ((joint.nq,), *([()] if joint.nq == 1 else [])):
        raise wrong
    position = position.ravel()
    if not np.isfinite(position).all():
        raise wrong
    if quaternion:
        norm = np.linalg.norm(position[-4:])
        if not abs(norm - 1.0) <= QUATERNION_NORM:
            raise wrong
        position = np.concatenate([position[:-4], position[-4:] / norm])
    return tuple(position.tolist())


def joints_of_loops(mechanism: Mechanism) -> dict[str, Joint]:
    """Loops that have coordinates, as the joints that they are, by name."""
    kinds = {loop.name: joint_kind(loop.kind) for loop in mechanism.loops}
    movable = [x for x in mechanism.loops if kinds[x.name].in_tree and kinds[x.name].nv]
    return {loop.name: joint_of_loop(mechanism, loop) for loop in movable}


def welded_loop(loop: Loop, joint: Joint, position: tuple[float, ...]) -> Loop:
    """A loop without degrees of freedom, and without forces along them."""
    X_JB = described_pose(joint_kind(joint.kind), joint, position)
    X_predecessor = Pose.from_matrix(loop.X_predecessor.matrix @ X_JB)
    return dataclasses.replace(
        loop,
        kind=fixed.KIND.name,
        X_predecessor=X_predecessor,
        armature=0.0,
        limits=None,
        parameters=(),
        **relaxed(loop),
    )


def free_base(mechanism: Mechanism) -> Joint:
    """The joint that a floating base has."""
    taken = {link.name for link in mechanism.links}
    world = next(name for name in ("world", "ground", "inertial_frame") if name not in taken)
    return Joint(FLOATING_BASE, floating.KIND.name, world, find_root(mechanism))


def on_a_world(mechanism: Mechanism, welded: Joint) -> Mechanism:
    """A description with a new root, to which the former root is welded."""
    if any(joint.name == welded.name for joint in mechanism.joints):
        welded = dataclasses.replace(welded, name=f"{welded.parent}_to_{welded.child}")
    links = (Link(welded.parent), *mechanism.links)
    joints, root = (welded, *mechanism.joints), mechanism.root and welded.parent
    return dataclasses.replace(mechanism, links=links, joints=joints, root=root)


def welded_joint(joint: Joint, position: tuple[float, ...]) -> Joint:
    """A joint without degrees of freedom; one that depends on time still does."""
    if joint.map is not None and joint.map.rheonomic:
        return dataclasses.replace(joint, map=joint.map.locked(position), mimic=None)
    X_JB = described_pose(joint_kind(joint.kind), joint, position)
    origin = Pose.from_matrix(joint.origin.matrix @ X_JB)
    weld = Joint(joint.name, fixed.KIND.name, joint.parent, joint.child, origin)
    kept = ("limits", "damping", "friction", "independent", "extras", "line", "merged")
    return dataclasses.replace(weld, **{name: getattr(joint, name) for name in kept})
