"""Random mechanisms with any mix of joint kinds, seeded."""

from __future__ import annotations

import numpy as np

from robodyn.description import Inertia, Joint, Link, Mechanism, Pose
from robodyn.description.constants import with_constants
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
