"""Loops that are closed by a weld, cut at another joint.

Closed forms are known of loops that close in a hinge or a ball. A weld between two links is a joint
of the graph like any other, one that leaves no freedom; with it among the joints, of each loop the
freest joint is cut, which is a hinge or a ball.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from robodyn.description import Joint, Loop, Mechanism, Pose
from robodyn.description.pose import inverse_pose
from robodyn.joints import fixed
from robodyn.model.changes.edit import start_by_joint
from robodyn.model.model import Model, build_model


def recut(model: Model) -> Model:
    """The same robot in tree coordinates, in which no loop is cut at a weld."""
    mechanism = welds_as_joints(model.mechanism)
    if mechanism is model.mechanism:
        return model
    return build_model(mechanism, start_by_joint(model.settings, model.joints))


def welds_as_joints(mechanism: Mechanism) -> Mechanism:
    """The same mechanism, with fixed joints in place of loops that are welds."""
    welds = [loop for loop in mechanism.loops if loop.kind == fixed.KIND.name]
    if not welds:
        return mechanism
    joints = list(mechanism.joints)
    for weld in welds:  # a circle of parents and children would have no root
        backward = _leads(joints, weld.successor, weld.predecessor)
        joints.append(_joint(weld, backward=backward))
    others = tuple(loop for loop in mechanism.loops if loop not in welds)
    return dataclasses.replace(mechanism, joints=tuple(joints), loops=others)


def _joint(weld: Loop, *, backward: bool) -> Joint:
    """The weld as a joint from its predecessor to its successor, or the other way round."""
    X = weld.X_predecessor.matrix @ inverse_pose(weld.X_successor.matrix)
    ends = weld.predecessor, weld.successor
    if backward:
        X, ends = inverse_pose(X), ends[::-1]
    return Joint(weld.name, fixed.KIND.name, *ends, Pose.from_matrix(X), line=weld.line)


def _leads(joints: Iterable[Joint], one: str, other: str) -> bool:
    """Whether joints lead from one link to another, each from its parent to its child."""
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint.child)
    reached, waiting = {one}, [one]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    return other in reached
