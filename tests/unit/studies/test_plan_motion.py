"""Planned motions against closed forms, a transcription by hand, and simulations."""

import math

import casadi
import numpy as np
import pytest

import robodyn as rd

MASS = 2.0


def _slider(effort=math.inf, velocity=math.inf):
    block = rd.Link("block", rd.Inertia(MASS, ixx=0.1, iyy=0.1, izz=0.1))
    limits = rd.Limits(effort=effort, velocity=velocity)
    joint = rd.Joint("slide", "prismatic", "ground", "block", axis=(1, 0, 0), limits=limits)
    return rd.load(rd.Mechanism("slider", (rd.Link("ground"), block), (joint,)))


def test_the_least_force_from_rest_to_rest():
    """``u = 6 m d (1 - 2 t / T) / T^2``, which cubics hold exactly."""
    d, T = 1.5, 2.0
    plan = rd.plan_motion(_slider(), start=[0.0], goal=[d], duration=T, nodes=6)
    assert plan.cost == pytest.approx(12 * MASS**2 * d**2 / T**3, rel=1e-9)
    s = plan.times / T
    np.testing.assert_allclose(plan.forces[:, 0], 6 * MASS * d * (1 - 2 * s) / T**2, atol=1e-8)
    for t in (0.0, 0.33, 1.0, 1.7):
        q, v, a = plan.reference(t)
        x = t / T
        np.testing.assert_allclose(q, d * (3 * x**2 - 2 * x**3), atol=1e-9)
        np.testing.assert_allclose(v, 6 * d * (x - x**2) / T, atol=1e-9)
        np.testing.assert_allclose(a, 6 * d * (1 - 2 * x) / T**2, atol=1e-8)
    np.testing.assert_allclose(plan.reference(5.0)[0], d)
    assert plan.deviation < 1e-3 and abs(plan.trajectory.q[-1, 0] - d) < 1e-3


def test_the_least_time_is_that_of_full_force_both_ways():
    d, top = 2.0, 4.0
    plan = rd.plan_motion(
        _slider(top), start=[0.0], goal=[d], duration=(0.5, 5.0), cost="time", nodes=21
    )
    assert plan.times[-1] == pytest.approx(2 * math.sqrt(d * MASS / top), rel=1e-6)
    assert np.abs(plan.forces).max() <= top * (1 + 1e-6)


def test_what_fights_is_named():
    with pytest.raises(rd.PlanError, match="dynamics by") as told:
        rd.plan_motion(_slider(4.0), start=[0.0], goal=[2.0], duration=1.0, nodes=11)
    assert told.value.residuals["dynamics"] > 0.1


def _pendulum_by_hand(nodes, T, goal):
    """Hermite and Simpson for a rod of 1 kg and 1 m, written in CasADi alone."""
    ca, J, w, h = casadi, 1.0 / 3.0, 9.81 / 2.0, T / (nodes - 1)
    x, u = ca.MX.sym("x", 2, 2 * nodes - 1), ca.MX.sym("u", 1, 2 * nodes - 1)
    f = ca.vertcat(x[1, :], (u - w * ca.sin(x[0, :])) / J)
    a, m, b = slice(0, -1, 2), slice(1, None, 2), slice(2, None, 2)
    g = [
        x[:, b] - x[:, a] - h / 6 * (f[:, a] + 4 * f[:, m] + f[:, b]),
        x[:, m] - (x[:, a] + x[:, b]) / 2 - h / 8 * (f[:, a] - f[:, b]),
        x[:, 0],
        x[:, -1] - ca.DM([goal, 0.0]),
    ]
    L = u**2
    cost = h / 6 * ca.sum2(L[:, a] + 4 * L[:, m] + L[:, b])
    problem = {"x": ca.veccat(x, u), "f": cost, "g": ca.veccat(*g)}
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    found = ca.nlpsol("p", "ipopt", problem, options)(x0=0, lbg=0, ubg=0)
    return float(found["f"])


def _rod():
    rod = rd.Link("rod", rd.Inertia(1.0, rd.Pose((0, 0, -0.5)), ixx=1 / 12, iyy=1 / 12))
    joint = rd.Joint("pivot", "continuous", "ground", "rod", axis=(0, -1, 0))
    return rd.load(rd.Mechanism("rod", (rd.Link("ground"), rod), (joint,)))


def test_a_pendulum_as_it_is_transcribed_by_hand():
    plan = rd.plan_motion(_rod(), start=[0.0], goal=[2.0], duration=1.5, nodes=16)
    assert plan.cost == pytest.approx(_pendulum_by_hand(16, 1.5, 2.0), rel=1e-6)
    assert plan.deviation < 5e-3


def test_both_kinds_of_coordinates_give_the_same_motion():
    tree, minimal = rd.load("four_bar"), rd.load("four_bar", coordinates="minimal")
    u = minimal.neutral()
    goal = u + 0.6
    asked = {"duration": 0.4, "nodes": 9}
    small = rd.plan_motion(minimal, start=u, goal=goal, **asked)
    end = {"crank_drive": float(goal[0])}
    large = rd.plan_motion(tree, start=minimal.expand(u), goal=end, **asked)
    # at rest at the end, as all speeds follow from that of the crank
    assert large.cost == pytest.approx(small.cost, rel=1e-2)
    assert max(small.deviation, large.deviation) < 1e-2
    assert np.abs(tree.loop_residual(large.q)).max() < 1e-9


def test_a_counterweight_is_found():
    m = rd.symbol("m", 1.0)
    beam = rd.Inertia(1.0, rd.Pose((0.5, 0, 0)), ixx=0.01, iyy=0.09, izz=0.09)
    weight = rd.Inertia(m, ixx=0.01, iyy=0.01, izz=0.01)
    links = rd.Link("w"), rd.Link("beam", beam), rd.Link("weight", weight)
    joints = (
        rd.Joint("pivot", "continuous", "w", "beam", axis=(0, 1, 0)),
        rd.Joint("weld", "fixed", "beam", "weight", rd.Pose((-0.4, 0, 0))),
    )
    robot = rd.load(rd.Mechanism("balance", links, joints))
    plan = rd.plan_motion(
        robot, start=[-0.1], goal=[0.1], duration=10.0, nodes=9, parameters={"m": (0.1, 4.0)}
    )
    assert plan.parameters["m"] == pytest.approx(0.5 / 0.4, rel=1e-4)
    assert plan.robot.total_mass == pytest.approx(1.0 + plan.parameters["m"])
    assert plan.deviation < 1e-4


def test_constraints_hold_between_nodes_and_have_prices():
    robot, d, T = _slider(), 1.0, 1.0
    free = rd.plan_motion(robot, start=[0.0], goal=[d], duration=T, nodes=11)
    top = 0.8 * np.abs(free.v).max()
    slow = rd.plan_motion(
        robot, start=[0.0], goal=[d], duration=T, nodes=11,
        constraints=[("top speed", lambda x: x.v[0], -top, top)],
    )  # fmt: skip
    assert np.abs(slow.v).max() <= top + 1e-7 and slow.cost > free.cost
    assert np.abs(slow.multipliers["constraint top speed"]).max() > 0.1
    same = rd.plan_motion(_slider(velocity=top), start=[0.0], goal=[d], duration=T, nodes=11)
    assert same.cost == pytest.approx(slow.cost, rel=1e-6)


def test_a_cycle_closes():
    robot = _rod()
    plan = rd.plan_motion(
        robot, start={}, duration=1.0, nodes=11, periodic=True,
        constraints=[("swing", lambda x: x.q[0], -1.0, 1.0)],
        cost=lambda x: x.forces.T @ x.forces - 5.0 * x.v[0] ** 2,
    )  # fmt: skip
    np.testing.assert_allclose(plan.q[-1], plan.q[0], atol=1e-7)
    np.testing.assert_allclose(plan.v[-1], plan.v[0], atol=1e-7)


def test_the_mesh_is_refined_to_a_tolerance():
    robot = rd.load("double_pendulum")
    asked = {"start": [0, 0], "goal": [1.0, -0.5], "duration": 0.6, "nodes": 5}
    coarse = rd.plan_motion(robot, **asked)
    fine = rd.plan_motion(robot, **asked, tolerance=coarse.deviation / 3)
    assert len(fine.times) > len(coarse.times) and fine.deviation <= coarse.deviation / 3
    again = rd.plan_motion(robot, **asked, initial=fine)
    assert again.cost == pytest.approx(coarse.cost, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"goal": [1.0, 2.0]}, rd.ShapeError, "goal"),
        ({"goal": {"nosuch": 1.0}}, rd.UnknownNameError, "slide"),
        ({"duration": 0.0}, rd.SettingsError, "duration"),
        ({"duration": (2.0, 1.0)}, rd.SettingsError, "duration"),
        ({"cost": "money"}, rd.SettingsError, "torque, time"),
        ({"constraints": [("x", 1.0)]}, rd.ShapeError, "name, function, lower, upper"),
        ({"parameters": {"m": (0, 1)}}, rd.UnknownNameError, "symbol"),
        ({"nodes": 2}, rd.SettingsError, "3 at least"),
    ],
)
def test_what_cannot_be_planned_is_refused(given, error, said):
    asked = {"start": [0.0], "goal": [1.0], "duration": 1.0} | given
    with pytest.raises(error, match=said):
        rd.plan_motion(_slider(), **asked)


def test_a_start_beyond_limits_is_refused():
    robot = rd.load("puma560")
    q = robot.neutral()
    q[1] = robot.upper_limits[1] + 0.1
    with pytest.raises(rd.SettingsError, match=r"start is beyond limits of position in q\[1\]"):
        rd.plan_motion(robot, start=q, goal=robot.neutral(), duration=1.0)
