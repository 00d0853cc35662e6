"""Random mechanisms with any mix of joint kinds, seeded; and one with what is easily forgotten."""

import dataclasses

import numpy as np
from support.interpreted import interpreted

from robodyn.description import Actuator, Inertia, Joint, Limits, Link, Loop, Mechanism, Mimic, Pose
from robodyn.description.joint import with_constants
from robodyn.joints import joint_kind


def _vector(rng, scale=1.0):
    return tuple(float(x) for x in rng.normal(size=3) * scale)


def _unit(rng):
    x = rng.normal(size=3)
    return tuple(float(y) for y in x / np.linalg.norm(x))


def random_inertia(rng):
    """A body that can exist: any second moment that is positive."""
    A = rng.normal(size=(3, 3))
    P = 0.1 * A @ A.T
    return Inertia.from_matrix(
        float(rng.uniform(0.5, 2.0)), _vector(rng, 0.3), np.trace(P) * np.eye(3) - P
    )


def random_constants(rng, kind):
    """Numbers that a joint of a kind may have."""
    return {parameter.name: float(rng.uniform(0.1, 0.4)) for parameter in kind.parameters}


def random_mechanism(rng, kinds, *, damping=0.0, friction=0.0):
    """A tree: joint ``i`` hangs on one of the last two links before it."""
    links = [Link(f"link{i}", random_inertia(rng)) for i in range(len(kinds) + 1)]
    joints = []
    for i, kind in enumerate(kinds):
        parent = int(rng.integers(max(0, i - 1), i + 1))
        joints.append(
            Joint(
                f"joint{i}",
                str(kind),
                f"link{parent}",
                f"link{i + 1}",
                Pose(_vector(rng), _vector(rng)),
                _unit(rng),
                _unit(rng),
                float(rng.normal()),
                damping=damping,
                friction=friction,
            )
        )
        if {parameter.name for parameter in joint_kind(kind).parameters} - {"pitch"}:
            joints[-1] = with_constants(joints[-1], random_constants(rng, joint_kind(kind)))
    return Mechanism("random", tuple(links), tuple(joints))


def awkward_mechanism(rng):
    """What a new quantity is easily wrong for, in one tree.

    Joints with turned origins, several freedoms and coordinates that do not add; limits on one side
    only; motors whose gears turn backwards, with rotors and friction; a joint that follows another
    one backwards, twice as fast.
    """
    kinds = ["revolute", "planar", "prismatic", "universal", "continuous", "spherical", "helical"]
    plain = random_mechanism(rng, [*kinds, "revolute"], damping=0.3, friction=0.2)
    changes = {
        "joint0": {"limits": Limits(lower=0.4)},
        "joint2": {"limits": Limits(upper=-0.2)},
        "joint6": {"limits": Limits(upper=-0.5)},
        "joint7": {"mimic": Mimic("joint0", -2.0, 0.3)},
    }
    joints = tuple(
        dataclasses.replace(joint, **changes.get(joint.name, {})) for joint in plain.joints
    )
    motors = tuple(
        (
            name,
            Actuator(
                -float(rng.uniform(5.0, 50.0)), float(rng.uniform(0.001, 0.01)),
                viscous=1e-4, coulomb=1e-3,
            ),
        )
        for name in ("joint0", "joint2", "joint4", "joint6")
    )  # fmt: skip
    links = (Link("link0"), *plain.links[1:])  # so that all mass is that of bodies that move
    return dataclasses.replace(plain, links=links, joints=joints, actuators=motors)


def awkward_linkage(rng):
    """The same for a closed chain: what drives it stands within the loop.

    Seven joints lead from the first link to a last one, which is welded to it in some posture: a
    prismatic joint with an upper limit alone, a continuous one and a screw have motors whose gears
    turn backwards, and the last joint follows the first one backwards, twice as fast. Comes with
    that posture.
    """
    kinds = ["revolute", "prismatic", "universal", "continuous", "spherical", "helical", "revolute"]
    plain = random_mechanism(rng, kinds, damping=0.3, friction=0.2)
    changes = {
        "joint0": {"limits": Limits(lower=-0.5)},
        "joint1": {"limits": Limits(upper=0.8)},
        "joint6": {"mimic": Mimic("joint0", -2.0, 0.3)},
    }
    joints = tuple(
        dataclasses.replace(
            joint, parent=f"link{k}", child=f"link{k + 1}", **changes.get(joint.name, {})
        )
        for k, joint in enumerate(plain.joints)
    )
    motors = tuple(
        (name, Actuator(-ratio, 0.004, viscous=1e-4, coulomb=1e-3))
        for name, ratio in (("joint1", 7.0), ("joint3", 20.0), ("joint5", 12.0))
    )
    links = (Link("link0"), *plain.links[1:])
    chain = dataclasses.replace(plain, links=links, joints=joints, actuators=motors)
    tree = interpreted(chain)
    q = tree.random(rng)
    there = Pose.from_matrix(tree.frame_pose(q, "link7"))
    return dataclasses.replace(chain, loops=(Loop("weld", "fixed", "link0", "link7", there),)), q
