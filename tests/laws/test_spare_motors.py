"""Closed linkages with more motors than motions: they share forces in the least squares."""

import numpy as np
import pytest
from support.interpreted import interpreted

import robodyn as rd
from robodyn.closed_loops.dynamics.constrained import LoopMotors

HOLDS = {
    "distance": rd.FrameConstraint("held", "distance", ("world", "link6"), distance=0.6),
    "translation": rd.FrameConstraint("held", "translation", (("world", (0.4, 0.1, 0.4)), "link6")),
    "rolling": rd.Rolling("held", "link6", (0, 0, 0), 0.05, on=("world", (0, 0, 0.2))),
}
I3 = np.diag([0.02, 0.02, 0.02])


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    return q, v, robot.consistent_acceleration(q, v, rng.normal(size=robot.nv))


def shared(robot, q, v, a, motors):
    """By the motions that the loops leave, and a pseudo-inverse."""
    K = robot.loop_jacobian(q)
    motions = np.linalg.svd(K)[2][np.linalg.matrix_rank(K, 1e-9) :]
    needed = motions @ (robot.mass_matrix(q) @ a + robot.bias_forces(q, v))
    tau = np.zeros(robot.nv)
    tau[motors] = np.linalg.lstsq(motions[:, motors], needed, rcond=None)[0]
    return tau


def loaded(kind, base):
    if kind == "two_feet":
        return rd.load(kind, base=base)
    return rd.load("puma560", base=base, constraints=[HOLDS[kind]])


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        ("distance", "fixed"),
        pytest.param("translation", "floating", marks=pytest.mark.slow),
        pytest.param("rolling", "fixed", marks=pytest.mark.slow),
        ("two_feet", "floating"),
    ],
)
def test_forces_are_least(kind, base, monkeypatch):
    robot = loaded(kind, base)
    motors = np.arange(robot.nv)
    if kind == "two_feet":
        own = [x for j in robot.actuated_joints for x in motors[robot.joints[j].v]]
        motors = np.array([*(range(6) if base == "floating" else ()), *own])
    assert len(motors) > robot.dof
    monkeypatch.setattr(LoopMotors, "solve", None)  # straight-line code does it
    for seed in range(2):
        q, v, a = state(robot, seed)
        tau = robot.inverse_dynamics(q, v, a)
        wanted = shared(robot, q, v, a, motors)
        np.testing.assert_allclose(tau, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(robot.function("inverse_dynamics")(q, v, a), tau, atol=1e-9)
        single = robot.inverse_dynamics(*(x.astype(np.float32) for x in (q, v, a)))
        np.testing.assert_allclose(single, tau, rtol=0, atol=1e-3 * np.abs(tau).max())
        loads = robot.joint_wrenches(q, v, a)
        given = robot.joint_wrenches(q, v, tau=tau)
        for name in ("base", *robot.joint_names[-2:]):
            np.testing.assert_allclose(loads[name], given[name], atol=1e-7)


def test_derivatives_of_the_function():
    robot = loaded("translation", "fixed")
    q, v, a = state(robot)
    f = robot.function("inverse_dynamics")
    found, step = f.jacobian("v")(q, v, a), 1e-5
    # along speeds that keep the loops closed, with the accelerations that then do so
    u = robot.consistent_velocity(q, np.random.default_rng(1).normal(size=6))

    def moved(h):
        w = v + h * u
        return f(q, w, robot.consistent_acceleration(q, w, a))

    slope = (robot.consistent_acceleration(q, v + step * u, a)
             - robot.consistent_acceleration(q, v - step * u, a)) / (2 * step)  # fmt: skip
    expected = (moved(step) - moved(-step)) / (2 * step)
    np.testing.assert_allclose(
        found @ u + f.jacobian("a")(q, v, a) @ slope, expected, atol=1e-5 * np.abs(expected).max()
    )
    together = robot.derivatives("inverse_dynamics", q, v, a)
    np.testing.assert_allclose(together["v"], found, atol=1e-9)


def test_impossible_accelerations_and_motors_that_hold_little():
    """Two driven slides follow a third one, which they hardly move near the middle of its way."""
    body = rd.Inertia.from_matrix(1.0, (0.0, 0.0, 0.0), I3)
    links = [rd.Link(name, body) for name in ("rail", "a", "b", "c")]
    axes = np.eye(3)[[0, 1, 2]]
    joints = [
        rd.Joint(x, "prismatic", "rail", x, axis=tuple(e)) for x, e in zip("abc", axes, strict=True)
    ]
    ties = [
        rd.Constraint(
            "ties",
            lambda q: [q[0] - 0.5 * rd.cos(q[2]), q[1] - 0.3 * rd.cos(q[2])],
            ("a", "b", "c"),
        )
    ]
    motors = {x: rd.Actuator() for x in "ab"}
    robot = interpreted(
        rd.Mechanism("slides", tuple(links), tuple(joints)), constraints=ties, actuators=motors,
        gravity=(0.3, 0.2, -9.81), near={"c": 0.7},
    )  # fmt: skip
    assert (robot.dof, robot.actuated_joints) == (1, ("a", "b"))
    for c in (0.7, 0.01, 1e-6):
        q = np.array([0.5 * np.cos(c), 0.3 * np.cos(c), c])
        v = robot.consistent_velocity(q, [0.0, 0.0, 0.2])
        a = robot.consistent_acceleration(q, v, [0.0, 0.0, 0.4])
        wanted = shared(robot, q, v, a, [0, 1])
        found = robot.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(wanted).max())
        by_code = robot.function("inverse_dynamics")(q, v, a)
        assert np.isnan(by_code).any() == (c < 1e-3)
        with pytest.raises(rd.ActuationError, match="open the loops"):
            robot.inverse_dynamics(q, v, a + np.eye(3)[0])
    rest = np.zeros(3)
    with pytest.raises(rd.ActuationError, match="cannot produce"):
        robot.inverse_dynamics([0.5, 0.3, 0.0], rest, rest)
