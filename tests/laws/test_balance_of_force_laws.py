"""Newton's and Euler's laws for every link of robots on which functions exert forces.

The forces follow from poses of frames alone: twists and rates are their finite differences.
"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.interpreted import interpreted
from support.newton_euler import imbalance, in_world
from support.random_mechanisms import random_mechanism

import robodyn as rd

GRAVITY = (0.3, -0.2, -9.81)
KINDS = ("revolute", "spherical", "universal")
EARTH = rd.InverseSquareGravity(40.0, (1.0, -2.0, -4.0))


def drag(X, V, t):
    """Air at the frame, and a force and a moment that depend on where it is."""
    v = V[:3]
    along = X[:3, :3].T @ np.array([1.0, 2.0, 3.0])
    return [*(along - 0.5 * np.sqrt(v @ v + 0.01) * v), *(-0.3 * X[2, 3] * V[3:])]


def bushing(x, w, t):
    """With parts across axes, which no bushing has, so that none can be forgotten."""
    return 3.0 * x[[4, 3, 1, 2, 5, 0]] - w[[3, 1, 5, 0, 4, 2]] + (x[3:] @ w[3:]) * x


def pose(rng):
    X = np.eye(4)
    X[:3, :3] = Rotation.from_rotvec(0.4 * rng.normal(size=3)).as_matrix()
    X[:3, 3] = 0.3 * rng.normal(size=3)
    return X


def moved(twist):
    """Pose after a body twist for a second."""
    body = np.zeros((4, 4))
    body[:3, :3], body[:3, 3] = np.cross(np.eye(3), twist[3:]), twist[:3]
    return expm(body)


def rate(function, h=1e-3):
    near, far = (function(s * h) - function(-s * h) for s in (1, 2))
    return (8.0 * near - far) / (12.0 * h)


def exerted(force, poses):
    """Links that a force acts on, and its wrenches about the origin of the world, at time zero."""

    def frame(k, t):
        link, X = force.places[k]
        return ({"world": np.eye(4)} | poses(t))[link] @ X

    if len(force.places) == 1:
        X = frame(0, 0.0)
        turning = np.linalg.inv(X) @ rate(lambda t: frame(0, t))
        twist = np.r_[turning[:3, 3], turning[2, 1], turning[0, 2], turning[1, 0]]
        return [(force.places[0][0], in_world(X, np.array(force.law(X, twist, 0.0), float)))]

    def seen(t):
        X = np.linalg.inv(frame(0, t)) @ frame(1, t)
        return np.r_[X[:3, 3], Rotation.from_matrix(X[:3, :3]).as_rotvec()]

    F = force.law(seen(0.0), rate(seen), 0.0)
    R, p = frame(0, 0.0)[:3, :3], frame(1, 0.0)[:3, 3]
    on = np.r_[R @ F[:3], R @ F[3:] + np.cross(p, R @ F[:3])]
    (one, _), (other, _) = force.places
    return [(one, -on), (other, on)]


def attracted(link, X):
    """Gravity of a planet on a link, about the origin of the world [W 5.69]."""
    body = link.inertia
    C = X @ body.origin.matrix
    J = C[:3, :3] @ body.matrix @ C[:3, :3].T
    r = C[:3, 3] - EARTH.center
    d, e = np.linalg.norm(r), r / np.linalg.norm(r)
    spread = (0.5 * np.trace(J) * np.eye(3) - J) @ e  # second moment along the line of sight
    f = -EARTH.mu * body.mass * e / d**2
    f = f + 1.5 * EARTH.mu / d**4 * (2.0 * spread + (0.5 * np.trace(J) - 5.0 * (e @ spread)) * e)
    return np.r_[f, 3.0 * EARTH.mu / d**3 * np.cross(e, J @ e) + np.cross(C[:3, 3], f)]


@pytest.mark.parametrize(
    ("base", "root", "driven"),
    [
        *[("fixed", None, ()), ("fixed", "link2", ()), ("floating", "link1", ())],
        *[("moving", "link2", ()), ("fixed", None, ("joint1",))],
        *[("floating", "link1", ("joint2", "joint1")), ("moving", None, ("joint0",))],
    ],
)
def test_every_link_is_balanced(base, root, driven):
    """Forces on frames, between links and to the world, either way round, in a joint; a planet.

    A driven joint follows its acceleration, whatever acts on it.
    """
    rng = np.random.default_rng(7)
    mechanism = random_mechanism(rng, [*KINDS], damping=0.2)
    pairs = ("link1", "link3"), ("world", "link2"), ("link3", "world"), ("link2", "link2")
    laws = [rd.Force(drag, on=(link, pose(rng))) for link in ("link2", "link0")]
    laws += [rd.Force(bushing, between=[(x, pose(rng)) for x in pair]) for pair in pairs]
    hinge = rd.Force(lambda q, v, t: q[0] - 2.0 * v, joint="joint1")
    chosen = {} if root is None else {"root": root}
    robot = interpreted(
        mechanism, base=base, gravity=GRAVITY, forces=[*laws, hinge, EARTH], **chosen
    )
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    V, acceleration = rng.normal(size=(2, 6))

    def deck(t):
        if base != "moving":
            return {}
        return {"base": rd.BaseMotion(moved(t * V + 0.5 * t * t * acceleration), V, acceleration)}

    if driven:
        wanted = rng.normal(size=robot.nv)
        of_joints = {x: np.squeeze(wanted[robot.joints[x].v]) for x in driven}
        for name in driven:
            tau[robot.joints[name].v] = 0.0
        a, tau, _ = robot.hybrid_dynamics(q, v, controlled=of_joints, tau=tau, **deck(0.0))
        for name in driven:
            own = robot.joints[name].v
            np.testing.assert_allclose(a[own], wanted[own], rtol=1e-12)
        found = robot.inverse_dynamics(q, v, a, **deck(0.0))
        np.testing.assert_allclose(found, tau, atol=1e-10)
    else:
        a = robot.forward_dynamics(q, v, tau, **deck(0.0))

    def poses(t):
        x = robot.integrate(q, t * v + 0.5 * t * t * a)
        return dict(zip(robot.frame_names, robot.frame_poses(x, **deck(t)), strict=True))

    now, outside = poses(0.0), {link.name: np.zeros(6) for link in mechanism.links}
    for force in laws:
        for link, on in exerted(force, poses):
            if link != "world":
                outside[link] += on
    for link in mechanism.links:
        outside[link.name] += attracted(link, now[link.name])
    loads = robot.joint_wrenches(q, v, a, **deck(0.0))
    assert imbalance(robot, loads, poses, GRAVITY, outside) < 1e-8


def test_every_link_of_a_driven_linkage_is_balanced():
    """The crank of a four-bar is driven against forces on its coupler and between its links."""
    rng = np.random.default_rng(3)
    places = [("coupler", pose(rng)), ("rocker", pose(rng)), ("world", pose(rng))]
    laws = [rd.Force(drag, on=places[0]), rd.Force(bushing, between=places[1:])]
    laws.append(rd.Force(bushing, between=[places[1], places[0]]))
    robot = rd.load("four_bar", gravity=GRAVITY, forces=laws)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    a, tau, _ = robot.hybrid_dynamics(q, v, controlled={"crank_drive": 2.0}, tau=np.zeros(robot.nv))
    assert a[robot.joints["crank_drive"].v] == pytest.approx(2.0, rel=1e-12)
    at_rest = rd.load("four_bar", gravity=GRAVITY)
    assert np.abs(tau - at_rest.inverse_dynamics(q, v, a)).max() > 1e-3  # the forces do count

    def poses(t):
        x = robot.integrate(q, t * v + 0.5 * t * t * a)
        return dict(zip(robot.frame_names, robot.frame_poses(x), strict=True))

    outside = {link.name: np.zeros(6) for link in robot.mechanism.links}
    for force in laws:
        for link, on in exerted(force, poses):
            if link != "world":
                outside[link] += on
    names = [joint.name for joint in robot.mechanism.joints]
    loads = robot.joint_wrenches(q, v, controlled={"crank_drive": 2.0}, joints=names)
    assert imbalance(robot, loads, poses, GRAVITY, outside) < 1e-8
