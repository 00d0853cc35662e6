"""Joints that are functions of others, each after those that it follows."""

from __future__ import annotations

import dataclasses

from robodyn.description.joint import Joint, Loop
from robodyn.description.mechanism import Mechanism
from robodyn.description.traced_explicit_loop import Polynomial, TracedExplicitLoop
from robodyn.errors import TopologyError
from robodyn.joints import joint_kind


def in_order(mechanism: Mechanism) -> Mechanism:
    """The same description, with every follower after those that it follows.

    Raises TopologyError: If joints follow one another in a circle, follow twice, or cannot follow
        at all.
    """
    if not mechanism.followers:
        return mechanism
    movers = {mover.name: mover for mover in mechanism.movers}
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
        ready = [loop for loop in left if waiting.isdisjoint(loop.independent)]
        if not ready:
            names = ", ".join(sorted(waiting))
            raise _error(mechanism, left[0], f"joints {names} follow one another in a circle")
        done += ready
        left = [loop for loop in left if loop not in ready]
    return dataclasses.replace(mechanism, followers=tuple(done))


def _check_joint(
    mechanism: Mechanism, loop: TracedExplicitLoop, joint: Joint | Loop | None, name: str
) -> None:
    """Refuse joints that have not one coordinate, or one of their own that they must keep."""
    if joint is None:
        raise _error(mechanism, loop, f"there is no joint {name!r}")
    given = joint.map if isinstance(joint, Joint) else None
    kind = joint_kind(joint.kind)
    if not kind.in_tree or (given.n if given is not None else kind.nv) != 1:
        reason = f"joint {name!r} is {joint.kind}, expected one with one coordinate"
        raise _error(mechanism, loop, reason)
    if name not in loop.dependent or not isinstance(joint, Joint):
        return
    if joint.mimic is not None:
        raise _error(mechanism, loop, f"joint {name!r} mimics {joint.mimic.joint!r} already")
    if joint.independent:
        raise _error(mechanism, loop, f"joint {name!r} is marked as independent")
    if given is not None and given.rheonomic:
        raise _error(mechanism, loop, f"joint {name!r} is a map that depends on time")


def _error(mechanism: Mechanism, loop: TracedExplicitLoop, reason: str) -> TopologyError:
    return TopologyError(
        reason, file=mechanism.file, line=loop.line, element=f"follower {loop.name!r}"
    )


def mimics_as_followers(mechanism: Mechanism) -> Mechanism:
    """The same description in order, in which joints that mimic followers are followers.

    Raises TopologyError: As `in_order`.
    """
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
            added.append(TracedExplicitLoop.of_curve(joint.name, (mimic.joint,), line))
            following.add(joint.name)
            joints[joint.name] = dataclasses.replace(joint, mimic=None)
    return in_order(
        dataclasses.replace(
            mechanism,
            joints=tuple(joints.values()),
            followers=(*mechanism.followers, *added),
        )
    )
