"""Couplings between links: eliminated where two joints suffice, else a linear constraint.

``ratio * (sum of joint positions from the nearest common ancestor to the predecessor) + offset``
equals the sum to the successor [Chignoli et al. 2024].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from robodyn.description import Coupling, Joint, Loop, Mechanism, Mimic
from robodyn.errors import TopologyError


def branches(mechanism: Mechanism, coupling: Coupling) -> tuple[list[str], list[str]]:
    """Joints from the nearest common ancestor to the successor and to the predecessor.

    Raises TopologyError: If one of the links does not move relative to the other by joints of its
        own.
    """
    joints = {joint.name: joint for joint in mechanism.joints}
    chains = sides(mechanism, coupling)
    over, under = ([joints[x] for x in chain if joints[x].nv] for chain in chains)
    if not over or not under:
        raise TopologyError(
            f"couples {coupling.successor!r} to {coupling.predecessor!r}, but one of them is not "
            "moved by a joint of its own beyond their common ancestor",
            **mechanism.where(coupling),
        )
    for joint in (*over, *under):
        if (joint.nq, joint.nv) != (1, 1):
            raise TopologyError(
                f"couples joint {joint.name!r}, which has more than one coordinate",
                **mechanism.where(coupling),
            )
    return [joint.name for joint in over], [joint.name for joint in under]


def sides(mechanism: Mechanism, item: Coupling | Loop) -> tuple[list[str], list[str]]:
    """Joints from the nearest common ancestor of two links to the successor, and predecessor."""
    above: dict[str, Joint] = {}
    for joint in mechanism.joints:
        above.setdefault(joint.child, joint)
    over, under = (_chain(above, link) for link in (item.successor, item.predecessor))
    while over and under and over[0] is under[0]:
        over, under = over[1:], under[1:]
    return [joint.name for joint in over], [joint.name for joint in under]


def _chain(above: Mapping[str, Joint], link: str) -> list[Joint]:
    chain: list[Joint] = []
    while link in above and len(chain) <= len(above):
        chain.append(above[link])
        link = above[link].parent
    return chain[::-1]


def with_couplings(mechanism: Mechanism) -> Mechanism:
    """Couplings of one joint to one other as mimic joints; the others stay couplings."""
    joints = {joint.name: joint for joint in mechanism.joints}
    following = {name for loop in mechanism.followers for name in loop.dependent}
    left = []
    for coupling in mechanism.couplings:
        over, under = branches(mechanism, coupling)
        follower = joints[over[0]]
        alone = len(over) == len(under) == 1 and follower.mimic is None
        alone = alone and follower.name not in following
        if alone and not leads_to(joints, under[0], over[0]):
            mimic = Mimic(under[0], coupling.ratio, coupling.offset)
            joints[over[0]] = dataclasses.replace(follower, mimic=mimic)
        else:
            left.append(coupling)
    return dataclasses.replace(mechanism, joints=tuple(joints.values()), couplings=tuple(left))


def leads_to(joints: Mapping[str, Joint], name: str, target: str) -> bool:
    """Whether a joint follows the target by way of others."""
    seen = set()
    while name not in seen:
        if name == target:
            return True
        seen.add(name)
        mimic = joints[name].mimic
        if mimic is None:
            return False
        name = mimic.joint
    return True
