"""Hinges with one to six degrees of freedom [Wittenburg 1977, fig. 5.34 and p. 151-153]: S29.

For each: the slide of the hinge point (k) and the axes of rotation (p) against differences of
poses; what is left of linear and angular acceleration where no speed changes (s and w), against
those of k and p.
"""

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
GUIDE = (0.48, 0.6, 0.64)
STEP = 1e-4

#: By degrees of freedom: kinds and axes of the joints that make up the hinge.
HINGES = {
    "a pin": [("revolute", Z)],
    "a sleeve on a shaft": [("cylindrical", GUIDE)],
    "a plane on a plane": [("planar", Z)],
    "a pendulum on a guide": [("prismatic", GUIDE), ("spherical", X)],
    "two guides that slip on each other": [
        ("prismatic", X),
        ("universal", Y),
        ("revolute", GUIDE),
        ("prismatic", Z),
    ],
    "no contact": [("floating", X)],
}


def hinge(parts):
    """Joints one after the other over massless links, the first one somewhere."""
    body = Inertia(1.2, Pose((0.1, 0.2, -0.1)), 0.1, 0.01, 0.0, 0.12, 0.02, 0.15)
    links, joints, parent = [Link("ground")], [], "ground"
    for k, (kind, axis) in enumerate(parts):
        child = "body" if k == len(parts) - 1 else f"between{k}"
        links.append(Link(child, body if child == "body" else None))
        origin = Pose() if k else Pose((0.3, -0.2, 0.1), (0.2, 0.5, -0.4))
        joints.append(Joint(f"part{k}", kind, parent, child, origin, axis, axis2=X))
        parent = child
    return rd.load(Mechanism("hinge", tuple(links), tuple(joints)))


def unskew(A):
    return 0.5 * np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])


@pytest.mark.parametrize("name", HINGES)
def test_s29_hinges_by_differences_of_their_poses(name):
    robot = hinge(HINGES[name])
    assert robot.nv == 1 + list(HINGES).index(name)
    rng = np.random.default_rng(3)
    q, v = robot.random(rng), rng.normal(size=robot.nv)

    def pose(u):
        return robot.frame_pose(robot.integrate(q, u), "body")

    R = pose(np.zeros(robot.nv))[:3, :3]
    slides, axes = np.zeros((2, 3, robot.nv))
    for k, e in enumerate(np.eye(robot.nv)):
        ahead, behind = pose(STEP * e), pose(-STEP * e)
        slides[:, k] = (ahead[:3, 3] - behind[:3, 3]) / (2 * STEP)
        axes[:, k] = unskew((ahead[:3, :3] - behind[:3, :3]) @ R.T) / (2 * STEP)
    J = robot.frame_jacobian(q, "body", axes="world")
    np.testing.assert_allclose(J[:3], slides, atol=1e-7)
    np.testing.assert_allclose(J[3:], axes, atol=1e-7)

    # the speeds stay as they are
    ahead, behind = (
        robot.frame_jacobian(robot.integrate(q, s * STEP * v), "body", axes="world")
        for s in (1.0, -1.0)
    )
    left = robot.frame_acceleration(q, v, np.zeros(robot.nv), "body", axes="world", classical=True)
    np.testing.assert_allclose(left, (ahead - behind) @ v / (2 * STEP), atol=1e-6)


def test_s29_a_pendulum_on_a_guide_in_eulers_angles():
    """The answers of [W problem 5.16], in axes of the body."""
    parts = [("prismatic", GUIDE), ("revolute", Z), ("revolute", X), ("revolute", Z)]
    robot = hinge(parts)
    q, v = np.random.default_rng(5).uniform(-1, 1, (2, 4))
    (s3, s4), (c3, c4) = np.sin(q[2:]), np.cos(q[2:])
    J = robot.frame_jacobian(q, "body")
    axes = np.array([[0.0, 0.0, 0.0], [s3 * s4, s3 * c4, c3], [c4, -s4, 0.0], [0.0, 0.0, 1.0]]).T
    np.testing.assert_allclose(J[3:], axes, atol=1e-15)
    first = robot.frame_pose(np.zeros(4), "between0")[:3, :3]
    slides = robot.frame_jacobian(q, "body", axes="world")[:3]
    np.testing.assert_allclose(slides, np.outer(first @ GUIDE, [1, 0, 0, 0]), atol=1e-15)
    _, r2, r3, r4 = v
    w = (
        r2 * r3 * c3 * s4 + r2 * r4 * s3 * c4 - r3 * r4 * s4,
        r2 * r3 * c3 * c4 - r2 * r4 * s3 * s4 - r3 * r4 * c4,
        -r2 * r3 * s3,
    )
    left = robot.frame_acceleration(q, v, np.zeros(4), "body", classical=True)
    np.testing.assert_allclose(left, (0.0, 0.0, 0.0, *w), atol=1e-15)
