"""Methods of closed linkages that go straight to machine code still see what goes wrong."""

import numpy as np
import pytest
from support.planar_linkages import flat_bars

import robodyn as rd
from robodyn.closed_loops.rank import probes


@pytest.fixture(scope="module")
def robot():
    return rd.load("five_bar")


@pytest.mark.parametrize("size", [None, 1, 3, 200])
def test_accelerations_that_open_loops_are_refused(robot, size):
    q = robot.neutral() if size is None else np.tile(robot.neutral(), (size, 1))
    v = np.zeros((*q.shape[:-1], robot.nv))
    a = robot.forward_dynamics(q, v, v)
    robot.inverse_dynamics(q, v, a)
    robot.inverse_dynamics(q, v, a)
    a.reshape(-1)[-1] += 1e-3 * np.abs(a).max()
    out = np.zeros_like(a)
    for more in ({}, {"out": out}):
        with pytest.raises(rd.ActuationError, match="open the loops"):
            robot.inverse_dynamics(q, v, a, **more)


@pytest.mark.parametrize("size", [None, 1, 3, 200])
def test_singular_postures_are_refused_and_solved_as_they_stand(size):
    flat = flat_bars((0.5, 1.0, 1.0, 0.5), at=np.pi / 2)  # a parallelogram
    robot = rd.load(flat, actuators={"drive": rd.Actuator()})
    q = robot.neutral() if size is None else np.tile(robot.neutral(), (size, 1))
    v = np.zeros((*q.shape[:-1], robot.nv))
    upright = robot.forward_dynamics(q, v, v)
    robot.forward_dynamics(q, v, v)
    flat = q.copy()
    flat.reshape(-1, 3)[-1] = [np.pi / 2, -np.pi / 2, np.pi / 2]  # drive, pin, pivot
    assert np.abs(robot.loop_residual(flat)).max() < 1e-15
    for more in ({}, {"out": np.zeros_like(v)}):
        with pytest.raises(rd.SingularError, match="singular posture") as caught:
            robot.forward_dynamics(flat, v, v, **more)
        assert caught.value.rows == (() if size is None else (size - 1,))
    found = robot.constrained_dynamics(flat, v, v)
    assert np.ravel(found.rank)[-1] == 1
    np.testing.assert_allclose(found.a.reshape(-1, 3)[:-1], upright.reshape(-1, 3)[:-1], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "base"),
    [(name, base) for name in ("four_bar", "five_bar", "excavator") for base in ("fixed", "moving")]
    + [("delta", "fixed"), ("palletizer", "moving")],
)
def test_straight_line_code_of_driven_joints_gives_what_the_solve_gives(name, base):
    robot = rd.load(name, base=base)
    rng = np.random.default_rng(1)
    q = np.array([robot.random(rng) for _ in range(3)])
    v = robot.consistent_velocity(q, rng.normal(size=(3, robot.nv)))
    speeds = [k for joint in robot.independent_joints for k in _speeds(robot, joint)]
    for controlled in (tuple(speeds), tuple(reversed(speeds[:1]))):
        free = [k for k in range(robot.nv) if k not in controlled]
        given = rng.normal(size=(3, len(controlled))), rng.normal(size=(3, len(free)))
        assert robot._parts.evaluator.programs.beside(controlled) is not None
        a, tau = robot.driven_dynamics(q, v, *given, controlled)
        whole = np.zeros((3, robot.nv))
        whole[:, controlled], whole[:, free] = given
        driven = [robot.joint_names[_joint(robot, k)] for k in controlled]
        parts = {joint: np.squeeze(whole[:, robot.joints[joint].v]) for joint in robot.joint_names}
        told = {
            "controlled": {joint: parts[joint] for joint in driven},
            "tau": {joint: x for joint, x in parts.items() if joint not in driven},
        }
        expected = robot.hybrid_dynamics(q, v, **told)  # reveals the rank
        scale = np.abs(expected.tau).max(initial=1.0)
        np.testing.assert_allclose(a, expected.a, rtol=1e-7, atol=1e-7 * np.abs(expected.a).max())
        np.testing.assert_allclose(tau, expected.tau, rtol=1e-7, atol=1e-7 * scale)


def _speeds(robot, joint):
    return range(robot.joints[joint].v.start, robot.joints[joint].v.stop)


def _joint(robot, speed):
    return next(n for n, joint in enumerate(robot.joint_names) if speed in _speeds(robot, joint))


def test_hybrid_dynamics_as_a_function(robot):
    f = robot.function("hybrid_dynamics", controlled=["left_drive"])
    q = robot.neutral()
    v = robot.consistent_velocity(q, np.ones(robot.nv))
    a, tau = f(q, v, [2.0], np.zeros(robot.nv - 1))
    assert a[0] == 2.0
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-9, atol=1e-9)
    with pytest.raises(rd.ActuationError, match="tie the controlled joints"):
        robot.function("hybrid_dynamics", controlled=robot.joint_names)


def test_joints_that_are_tied_are_solved_for_all_the_same(robot):
    """All joints controlled, as the loops let them move: only the forces are left."""
    q = robot.neutral()
    v = robot.consistent_velocity(q, np.ones(robot.nv))
    a = robot.consistent_acceleration(q, v, np.ones(robot.nv))
    found, tau = robot.driven_dynamics(q, v, a, np.zeros(0), tuple(range(robot.nv)))
    np.testing.assert_allclose(found, a)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_states_that_are_looked_at_alone_are_those_of_a_batch(kind, monkeypatch):
    monkeypatch.setattr(probes, "CHECKED_POSTURE", 1.0)  # so that a few of the states are looked at
    robot = rd.load("five_bar", passive=False)
    rng = np.random.default_rng(4)
    q = np.array([robot.random(rng) for _ in range(40)])
    v, tau = rng.normal(size=(2, 40, robot.nv))
    v = robot.consistent_velocity(q, v)
    a = robot.forward_dynamics(q, v, tau)
    state = tuple(x.astype(kind) for x in (q, v, a))
    alone = [robot.inverse_dynamics(*x) for x in zip(*state, strict=True)]
    np.testing.assert_allclose(robot.inverse_dynamics(*state), alone, rtol=0, atol=0)
    assert robot.inverse_dynamics(*state).dtype == kind
