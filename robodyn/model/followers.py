"""A description with joints that are functions of others, each after those that it follows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from robodyn.description import Coupling, Joint, Mechanism
from robodyn.description.curve import Polynomial
from robodyn.description.explicit_loop import TracedExplicitLoop
from robodyn.description.graph_check import unknown_links
from robodyn.equations.closed_form.explicit_loop import ExplicitLoop, Follower
from robodyn.errors import ShapeError, TopologyError, UnknownNameError
from robodyn.joints import joint_kind
from robodyn.model.splitting import joint_of_loop

__all__ = ["AnyCoupling", "in_order", "mimics_as_followers", "with_couplings_added"]

#: What ``couplings=`` takes.
AnyCoupling: TypeAlias = Coupling | Follower | ExplicitLoop


def with_couplings_added(mechanism: Mechanism, couplings: Iterable[AnyCoupling]) -> Mechanism:
    """A description with more couplings between joints.

    Raises
    ------
    UnknownNameError
        For joints that do not exist.
    TopologyError
        For joints that cannot follow, or be followed.
    ShapeError
        For a name that is taken, or something else than a coupling.
    """
    taken = {x.name for x in (*mechanism.loops, *mechanism.couplings, *mechanism.constraints)}
    taken |= {x.name for x in mechanism.followers}
    linear, traced = [], []
    for coupling in couplings:
        if not isinstance(coupling, AnyCoupling):
            raise ShapeError(
                f"one of couplings is {type(coupling).__name__}, expected a robodyn.Coupling, "
                "robodyn.Follower or robodyn.ExplicitLoop",
                name="couplings",
                given=type(coupling).__name__,
            )
        if coupling.name in taken:
            raise ShapeError(
                f"the name of {coupling!r} is taken by a loop or another coupling",
                name="couplings",
            )
        taken.add(coupling.name)
        if isinstance(coupling, Coupling):
            linear.append(coupling)
        else:
            _check_names(mechanism, coupling)
            traced.append(coupling.traced())
    mechanism = dataclasses.replace(
        mechanism,
        couplings=(*mechanism.couplings, *linear),
        followers=(*mechanism.followers, *traced),
    )
    if linear:
        for error in unknown_links(mechanism):
            raise error
    return in_order(mechanism)


def _check_names(mechanism: Mechanism, given: Follower | ExplicitLoop) -> None:
    known = [mover.name for mover in mechanism.movers]
    for name in (*given.independent, *given.dependent):
        if name not in known:
            raise UnknownNameError("joint", name, known, repr(given))


def in_order(mechanism: Mechanism) -> Mechanism:
    """The same description, with every follower after those that it follows.

    Raises
    ------
    TopologyError
        If joints follow one another in a circle, follow twice, or cannot follow at all.
    """
    if not mechanism.followers:
        return mechanism
    movers = _movers(mechanism)
    following: dict[str, str] = {}
    for loop in mechanism.followers:
        for name in loop.joints:
            _check_joint(mechanism, loop, movers.get(name), name)
        for name in loop.dependent:
            if name in following:
                raise _error(
                    mechanism, loop, f"joint {name!r} follows others by {following[name]!r} already"
                )
            following[name] = loop.name
    left, done = list(mechanism.followers), list[TracedExplicitLoop]()
    while left:
        waiting = {name for loop in left for name in loop.dependent}
        ready = [loop for loop in left if waiting.isdisjoint(_leaders(loop, movers))]
        if not ready:
            names = ", ".join(sorted(waiting))
            raise _error(mechanism, left[0], f"joints {names} follow one another in a circle")
        done += ready
        left = [loop for loop in left if loop not in ready]
    return dataclasses.replace(mechanism, followers=tuple(done))


def _leaders(loop: TracedExplicitLoop, movers: Mapping[str, Joint]) -> set[str]:
    """Joints that a loop follows, and those that these mimic."""
    found: set[str] = set()
    for name in loop.independent:
        while name not in found:
            found.add(name)
            mimic = movers[name].mimic if name in movers else None
            name = name if mimic is None else mimic.joint
    return found


def _movers(mechanism: Mechanism) -> dict[str, Joint]:
    """Joints by name, with loops that can be joints."""
    movers = {joint.name: joint for joint in mechanism.joints}
    for loop in mechanism.loops:
        kind = joint_kind(loop.kind)
        if kind.in_tree and kind.nv:
            movers[loop.name] = joint_of_loop(mechanism, loop)
    return movers


def _check_joint(
    mechanism: Mechanism, loop: TracedExplicitLoop, joint: Joint | None, name: str
) -> None:
    """Refuse joints that have not one coordinate, or one of their own that they must keep."""
    if joint is None or (joint.nq, joint.nv) != (1, 1):
        what = "has no coordinate" if joint is None else f"is {joint.kind}"
        raise _error(mechanism, loop, f"joint {name!r} {what}, expected one with one coordinate")
    if name not in loop.dependent:
        return
    if joint.mimic is not None:
        raise _error(mechanism, loop, f"joint {name!r} mimics {joint.mimic.joint!r} already")
    if joint.independent:
        raise _error(mechanism, loop, f"joint {name!r} is marked as independent")
    if joint.map is not None and joint.map.rheonomic:
        raise _error(mechanism, loop, f"joint {name!r} is a map that depends on time")


def _error(mechanism: Mechanism, loop: TracedExplicitLoop, reason: str) -> TopologyError:
    return TopologyError(
        reason, file=mechanism.file, line=loop.line, element=f"follower {loop.name!r}"
    )


def mimics_as_followers(mechanism: Mechanism) -> Mechanism:
    """The same description, in which joints that mimic followers are followers."""
    following = {name for loop in mechanism.followers for name in loop.dependent}
    joints = {joint.name: joint for joint in mechanism.joints}
    added = []
    while more := [
        x for x in joints.values() if x.mimic is not None and x.mimic.joint in following
    ]:
        for joint in more:
            mimic = joint.mimic
            assert mimic is not None
            line = Polynomial((mimic.offset, mimic.multiplier))
            added.append(TracedExplicitLoop.of_curve(joint.name, mimic.joint, line))
            following.add(joint.name)
            joints[joint.name] = dataclasses.replace(joint, mimic=None)
    if not added:
        return mechanism
    return in_order(
        dataclasses.replace(
            mechanism,
            joints=tuple(joints.values()),
            followers=(*mechanism.followers, *added),
        )
    )
