"""Planned motions against closed forms, a transcription by hand, and simulations."""

import math

import casadi
import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Mimic

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
    asked = {"start": [0.0], "goal": [2.0], "duration": 1.0, "nodes": 11}
    with pytest.raises(rd.PlanError, match=r"missed is goal by .* the limit of force of") as told:
        rd.plan_motion(_slider(4.0), **asked)
    assert told.value.conflict == ("goal", "the limit of force of 'slide'")
    assert told.value.residuals["goal"] > 0.1
    slow = [("slow", lambda x: x.v, -1.0, 1.0), ("idle", lambda x: x.v, -9.0, 9.0)]
    with pytest.raises(rd.PlanError) as told:
        rd.plan_motion(_slider(), **asked, constraints=slow)
    assert {*told.value.conflict} == {"goal", "constraint slow"}


def _by_hand(accelerations, n, start, goal, T, nodes, guess=None):
    """Hermite and Simpson with one motor, written in CasADi alone: the least cost.

    accelerations: From positions, speeds and the force, all rows, to rows of accelerations.
    """
    ca, h = casadi, T / (nodes - 1)
    x, u = ca.MX.sym("x", 2 * n, 2 * nodes - 1), ca.MX.sym("u", 1, 2 * nodes - 1)
    f = ca.vertcat(x[n:, :], *accelerations(ca.vertsplit(x[:n, :]), ca.vertsplit(x[n:, :]), u))
    a, m, b = slice(0, -1, 2), slice(1, None, 2), slice(2, None, 2)
    g = [
        x[:, b] - x[:, a] - h / 6 * (f[:, a] + 4 * f[:, m] + f[:, b]),
        x[:, m] - (x[:, a] + x[:, b]) / 2 - h / 8 * (f[:, a] - f[:, b]),
        x[:, 0] - ca.DM([*start, *[0.0] * n]),
        x[:, -1] - ca.DM([*goal, *[0.0] * n]),
    ]
    L = u**2
    cost = h / 6 * ca.sum2(L[:, a] + 4 * L[:, m] + L[:, b])
    problem = {"x": ca.veccat(x, u), "f": cost, "g": ca.veccat(*g)}
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    found = ca.nlpsol("p", "ipopt", problem, options)(
        x0=0 if guess is None else guess, lbg=0, ubg=0
    )
    return float(found["f"])


def _near(plan, rng):
    """Unknowns of the transcription by hand, near those of a plan."""
    found = np.concatenate([np.hstack([plan.q, plan.v]).ravel(), plan.forces.ravel()])
    return found + 1e-3 * rng.standard_normal(found.size)


def _rod():
    rod = rd.Link("rod", rd.Inertia(1.0, rd.Pose((0, 0, -0.5)), ixx=1 / 12, iyy=1 / 12))
    joint = rd.Joint("pivot", "continuous", "ground", "rod", axis=(0, -1, 0))
    return rd.load(rd.Mechanism("rod", (rd.Link("ground"), rod), (joint,)))


def test_a_pendulum_as_it_is_transcribed_by_hand():
    plan = rd.plan_motion(_rod(), start=[0.0], goal=[2.0], duration=1.5, nodes=16)
    known = _by_hand(
        lambda q, v, u: [3.0 * (u - 9.81 / 2.0 * casadi.sin(q[0]))], 1, [0.0], [2.0], 1.5, 16
    )
    assert plan.cost == pytest.approx(known, rel=1e-6)
    assert plan.deviation < 5e-3


def test_a_cart_with_a_pole_as_it_is_transcribed_by_hand():
    M, m, l, g = 1.0, 0.3, 0.5, 9.81
    cart, bob = rd.Link("cart", rd.Inertia(M)), rd.Link("bob", rd.Inertia(m, rd.Pose((0, 0, -l))))
    joints = (
        rd.Joint("slide", "prismatic", "ground", "cart", axis=(1, 0, 0)),
        rd.Joint("pole", "continuous", "cart", "bob", axis=(0, -1, 0)),
    )
    robot = rd.load(
        rd.Mechanism("cart", (rd.Link("ground"), cart, bob), joints),
        actuators={"slide": rd.Actuator()},
    )
    asked = {"start": [0.0, 0.0], "goal": [1.0, math.pi], "duration": 2.0, "nodes": 25}
    plan = rd.plan_motion(robot, **asked)

    def accelerations(q, v, u):  # [Kelly 2017, (6.1), (6.2)]
        s, c = casadi.sin(q[1]), casadi.cos(q[1])
        x = (l * m * s * v[1] ** 2 + u + m * g * c * s) / (M + m * (1 - c**2))
        turn = -(l * m * c * s * v[1] ** 2 + u * c + (M + m) * g * s) / (l * M + l * m * (1 - c**2))
        return [x, turn]

    guess = _near(plan, np.random.default_rng(0))
    known = _by_hand(accelerations, 2, asked["start"], asked["goal"], 2.0, 25, guess)
    assert plan.cost == pytest.approx(known, rel=1e-6)


def test_an_acrobot_as_it_is_transcribed_by_hand():
    m, l, g = 1.0, 1.0, 9.81
    bobs = [rd.Link(name, rd.Inertia(m, rd.Pose((0, 0, -l)))) for name in ("upper", "lower")]
    joints = (
        rd.Joint("shoulder", "continuous", "ground", "upper", axis=(0, -1, 0)),
        rd.Joint("elbow", "continuous", "upper", "lower", rd.Pose((0, 0, -l)), axis=(0, -1, 0)),
    )
    robot = rd.load(
        rd.Mechanism("acrobot", (rd.Link("ground"), *bobs), joints),
        actuators={"elbow": rd.Actuator()},
    )
    asked = {"start": [0.0, 0.0], "goal": [1.2, 0.3], "duration": 2.0, "nodes": 31}
    plan = rd.plan_motion(robot, **asked)

    def accelerations(q, v, u):
        (a, b), (da, db), c, s = q, v, casadi.cos(q[1]), casadi.sin(q[1])
        M11, M12, M22 = m * l**2 * (3 + 2 * c), m * l**2 * (1 + c), m * l**2
        low = m * g * l * casadi.sin(a + b)
        r1 = m * l**2 * s * (2 * da * db + db**2) - 2 * m * g * l * casadi.sin(a) - low
        r2 = u - m * l**2 * s * da**2 - low
        det = M11 * M22 - M12**2
        return [(M22 * r1 - M12 * r2) / det, (M11 * r2 - M12 * r1) / det]

    guess = _near(plan, np.random.default_rng(1))
    known = _by_hand(accelerations, 2, asked["start"], asked["goal"], 2.0, 31, guess)
    assert plan.cost == pytest.approx(known, rel=1e-6)


def test_both_kinds_of_coordinates_give_the_same_motion():
    tree, minimal = rd.load("four_bar"), rd.load("four_bar", coordinates="minimal")
    u = minimal.neutral()
    goal = u + 0.6
    asked = {"duration": 0.4, "nodes": 9}
    small = rd.plan_motion(minimal, start=u, goal=goal, **asked)
    end = {"crank_drive": float(goal[0])}
    large = rd.plan_motion(tree, start=minimal.expand(u), goal=end, **asked)
    # at rest at the end, as all speeds follow from that of the crank
    assert large.cost == pytest.approx(small.cost, rel=1e-4)  # other cubics
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


def test_a_counterweight_of_a_table_is_the_best_of_it():
    m = rd.symbol("m", 1.0)

    def balance(m):
        beam = rd.Inertia(1.0, rd.Pose((0.5, 0, 0)), ixx=0.01, iyy=0.09, izz=0.09)
        weight = rd.Inertia(m, ixx=0.01, iyy=0.01, izz=0.01)
        links = rd.Link("w"), rd.Link("beam", beam), rd.Link("weight", weight)
        joints = (
            rd.Joint("pivot", "continuous", "w", "beam", axis=(0, 1, 0)),
            rd.Joint("weld", "fixed", "beam", "weight", rd.Pose((-0.4, 0, 0))),
        )
        return rd.load(rd.Mechanism("balance", links, joints))

    asked = {"start": [-0.4], "goal": [0.6], "duration": 1.0, "nodes": 7}
    table = [0.2, 0.8, 1.1, 1.6, 3.0]
    plan = rd.plan_motion(balance(m), **asked, parameters={"m": table})
    costs = [rd.plan_motion(balance(x), **asked).cost for x in table]
    assert plan.parameters["m"] == table[int(np.argmin(costs))]
    assert plan.cost == pytest.approx(min(costs), rel=1e-6)
    for wrong in (5.0, (1.0, 2.0, 3.0), []):
        with pytest.raises(rd.ShapeError, match="parameters"):
            rd.plan_motion(balance(m), **asked, parameters={"m": wrong})


@pytest.mark.slow
def test_a_length_of_a_linkage_is_found():
    bar = lambda name, m: rd.Link(  # noqa: E731
        name, rd.Inertia(m, rd.Pose((0.4, 0, 0)), ixx=0.01, iyy=0.05, izz=0.05)
    )
    joints = (
        rd.Joint("crank", "revolute", "ground", "a", axis=(0, 1, 0)),
        rd.Joint("knee", "revolute", "a", "b", rd.Pose((0.4, 0, 0)), axis=(0, 1, 0)),
        rd.Joint("rocker", "revolute", "ground", "c", rd.Pose((0.9, 0, 0)), axis=(0, 1, 0)),
    )
    links = (rd.Link("ground"), bar("a", 1.0), bar("b", 1.0), bar("c", 2.0))

    def robot(length):
        at = rd.Pose((0.9, 0, 0)), rd.Pose((length, 0, 0))
        pin = rd.Loop("pin", "revolute", "b", "c", *at, axis=(0, 1, 0))
        mechanism = rd.Mechanism("linkage", links, joints, loops=(pin,))
        return rd.load(mechanism, actuators={"crank": rd.Actuator()})

    asked = {"start": {"crank": 0.3}, "goal": {"crank": 0.8}, "duration": 1.0, "nodes": 9}
    named = robot(rd.symbol("length", 0.8))
    plan = rd.plan_motion(named, **asked, parameters={"length": (0.6, 1.0)})
    found = plan.parameters["length"]
    assert plan.deviation < 1e-2
    for x in np.clip([found - 0.02, found, found + 0.02], 0.6, 1.0):
        cost = rd.plan_motion(robot(float(x)), **asked, initial=plan).cost
        assert cost >= plan.cost * (1 - 1e-6)
        if x == found:
            assert cost == pytest.approx(plan.cost, rel=1e-6)


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


def _bearing(robot, plan, joint):
    by_motor = dict(zip(robot.actuated_joints, plan.forces.T, strict=True))
    found = robot.joint_wrenches(plan.q, plan.v, tau=by_motor)
    return np.linalg.norm(found[joint][:, :3], axis=1)


@pytest.mark.slow
def test_a_bearing_is_spared():
    robot, joint = rd.load("palletizer"), "lower_tie_pin"
    q = robot.neutral()
    steps = zip(robot.actuated_joints, (0.6, 0.2, 0.3, 0.15), strict=True)
    goal = {name: float(q[robot.joints[name].q][0] + x) for name, x in steps}
    asked = {"start": q, "goal": goal, "duration": 0.8, "nodes": 11}
    plain = rd.plan_motion(robot, **asked)
    top = 0.8 * _bearing(robot, plain, joint).max()
    spared = rd.plan_motion(
        robot, **asked, initial=plain,
        constraints=[("pin", lambda x: casadi.sumsqr(x.joint_wrench(joint)[:3]), 0.0, top**2)],
    )  # fmt: skip
    assert _bearing(robot, spared, joint).max() <= top * (1 + 1e-6)
    assert spared.cost > plain.cost and np.abs(spared.multipliers["constraint pin"]).max() > 0.0


def test_quantities_of_points_are_those_of_the_robot():
    robot, tip = rd.load("double_pendulum"), rd.load("double_pendulum").link_names[-1]
    height = lambda x: x.quantity("frame_pose", frame=tip)[2, 3]  # noqa: E731
    asked = {"start": [0, 0], "goal": [1.0, -0.5], "duration": 0.6, "nodes": 7}
    start = robot.frame_pose(np.zeros(2), tip)[2, 3]
    with pytest.raises(rd.SettingsError, match=r"constraint 'height' is .* at the start"):
        rd.plan_motion(robot, **asked, constraints=[("height", height, start + 0.1, 9.0)])
    work = rd.plan_motion(
        robot, **asked, constraints=[("load", lambda x: x.joint_wrench("elbow")[2], -99.0, 12.0)]
    )
    by_joint = dict(zip(robot.actuated_joints, work.forces.T, strict=True))
    assert robot.joint_wrenches(work.q, work.v, tau=by_joint)["elbow"][:, 2].max() <= 12.0 + 1e-5


def test_a_tool_reaches_a_place_at_the_end():
    robot = rd.load("puma560", passive=False)
    start = np.array([0.0, -0.6, 0.4, 0.2, 0.7, 0.0])
    target = robot.frame_pose(start, "flange")[:3, 3] + [0.05, 0.1, 0.05]
    place = lambda x: x.quantity("frame_pose", frame="flange")[:3, 3]  # noqa: E731
    rest = ("rest", lambda x: x.v, 0.0, 0.0, "goal")
    plan = rd.plan_motion(
        robot, start=start, duration=0.5, nodes=7,
        constraints=[("reach", place, target, target, "goal"), rest],
    )  # fmt: skip
    np.testing.assert_allclose(robot.frame_pose(plan.q[-1], "flange")[:3, 3], target, atol=1e-6)
    assert np.abs(plan.v[-1]).max() < 1e-8
    assert plan.multipliers["constraint reach"].shape == (1, 3)
    # of all postures that reach there, none is cheaper
    other = rd.plan_motion(robot, start=start, goal=plan.q[-1], duration=0.5, nodes=7)
    assert other.cost == pytest.approx(plan.cost, rel=1e-6)


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
        ({"constraints": [("x", lambda x: x.q, 0, 9, "end")]}, rd.ShapeError, "'start' or 'goal'"),
        ({"constraints": [("x", lambda x: x.q, 0, 9)] * 2}, rd.SettingsError, "two constraints"),
        ({"parameters": {"m": (0, 1)}}, rd.UnknownNameError, "symbol"),
        ({"nodes": 2}, rd.SettingsError, "3 at least"),
        ({"constraints": [("x", lambda x: x.q, 1.0, 0.0)]}, rd.SettingsError, "the lesser first"),
        ({"constraints": [("x", lambda x: x.q, -0.5, 0.5)]}, rd.SettingsError, "at the goal"),
        ({"constraints": [("x", lambda x: x.q, [0, 0], 9)]}, rd.ShapeError, "a bound has 2"),
        ({"phases": [{}]}, rd.ShapeError, "one for each of 1 phases"),
        (
            {"constraints": [("x", lambda x: x.q, -9, 9)] * 2},
            rd.SettingsError,
            "two constraints .* 'x'",
        ),
        ({"phases": []}, rd.SettingsError, "phases is empty"),
    ],
)
def test_what_cannot_be_planned_is_refused(given, error, said):
    asked = {"start": [0.0], "goal": [1.0], "duration": 1.0} | given
    with pytest.raises(error, match=said):
        rd.plan_motion(_slider(), **asked)


@pytest.mark.parametrize("between", [0.5, (0.5, 1.0, 2.0), "little"])
def test_parameters_are_each_between_two_values(between):
    masses = rd.symbol("m1", 1.0), rd.symbol("m2", 1.0)
    links = [
        rd.Link(name, rd.Inertia(m, ixx=1.0, iyy=1.0, izz=1.0))
        for name, m in zip(("cart", "load"), masses, strict=True)
    ]
    joints = [
        rd.Joint("slide", "prismatic", "ground", "cart", axis=(1, 0, 0)),
        rd.Joint("weld", "fixed", "cart", "load"),
    ]
    robot = rd.load(rd.Mechanism("parts", (rd.Link("ground"), *links), joints))
    asked = {"start": [0.0], "goal": [1.0], "duration": 1.0, "nodes": 5}
    with pytest.raises(rd.ShapeError, match=r"parameters\['m1'\] is .* expected two values"):
        rd.plan_motion(robot, **asked, parameters={"m1": between, "m2": between})


def test_what_limits_of_velocity_forbid_is_told_before_the_search():
    with pytest.raises(rd.PlanError, match=r"'slide' has 1 rad or m to go, .* needs 2 s") as told:
        rd.plan_motion(_slider(velocity=0.5), start=[0.0], goal=[1.0], duration=1.5)
    assert told.value.residuals == {"duration": 0.5}
    with pytest.raises(rd.SettingsError, match="start is beyond limits of velocity"):
        rd.plan_motion(_slider(velocity=0.5), start=([0.0], [1.0]), goal=[1.0], duration=9.0)


def test_motors_of_transmissions_keep_their_own_limits():
    drive, belt = rd.Actuator(10.0, 1e-3, torque_limit=0.8), np.array([[1.0, 0.0], [1.0, 1.0]])
    robot = rd.load(
        "double_pendulum",
        actuators={"shoulder": drive, "elbow": drive},
        transmissions=[rd.Transmission("belt", ("shoulder", "elbow"), belt)],
    )
    plan = rd.plan_motion(robot, start=[0, 0], goal=[0.3, -0.6], duration=0.4, nodes=25)
    torques = np.linalg.solve(10.0 * belt.T, plan.forces.T)
    assert abs(torques).max() == pytest.approx(0.8, rel=1e-6)


def test_motors_of_joints_that_follow_keep_their_limits():
    """The quickest way of two masses, of which one goes twice as far: all force, then the other."""
    links = [rd.Link(name, rd.Inertia(MASS)) for name in ("slow", "fast")]
    joints = [
        rd.Joint("lead", "prismatic", "ground", "slow", axis=(1, 0, 0)),
        rd.Joint("follow", "prismatic", "ground", "fast", axis=(1, 0, 0), mimic=Mimic("lead", 2.0)),
    ]
    robot = rd.load(
        rd.Mechanism("sledges", (rd.Link("ground"), *links), joints),
        actuators={"follow": rd.Actuator(5.0, torque_limit=0.6)},
    )
    plan = rd.plan_motion(robot, start=[0], goal=[1], duration=(0.5, 9.0), cost="time", nodes=21)
    assert abs(plan.forces).max() <= 3.0 + 1e-6
    assert plan.times[-1] == pytest.approx(2.0 * (5.0 * MASS / 6.0) ** 0.5, rel=0.01)


def test_a_limit_of_velocity_of_zero_counts_as_not_given():
    asked = {"goal": [1.0], "duration": 1.5, "nodes": 7}
    free = rd.plan_motion(_slider(), start=[0.0], **asked)
    found = rd.plan_motion(_slider(velocity=0.0), start=([0.0], [0.0]), **asked)
    assert found.cost == pytest.approx(free.cost)


def test_forces_in_joints_are_not_known_in_minimal_coordinates():
    robot = rd.load("four_bar", coordinates="minimal")
    with pytest.raises(rd.SettingsError, match="coordinates='tree'"):
        rd.plan_motion(
            robot, start=robot.neutral(), duration=1.0,
            constraints=[("pin", lambda x: x.joint_wrench("crank_drive"), -1.0, 1.0)],
        )  # fmt: skip


def test_a_start_beyond_limits_is_refused():
    robot = rd.load("puma560")
    q = robot.neutral()
    q[1] = robot.upper_limits[1] + 0.1
    with pytest.raises(rd.SettingsError, match=r"start is beyond limits of position in q\[1\]"):
        rd.plan_motion(robot, start=q, goal=robot.neutral(), duration=1.0)


def test_motors_that_do_not_hold_a_robot_are_named():
    rod = rd.Link("rod", rd.Inertia(1.0, rd.Pose((0, 0, -0.5)), ixx=1 / 12, iyy=1 / 12))
    limits = rd.Limits(lower=1.0, upper=2.0, effort=3.0)
    joint = rd.Joint("pivot", "revolute", "ground", "rod", axis=(0, -1, 0), limits=limits)
    robot = rd.load(rd.Mechanism("rod", (rd.Link("ground"), rod), (joint,)))
    with pytest.raises(rd.PlanError, match="missed is the limit of force of 'pivot'") as told:
        rd.plan_motion(robot, start=[1.2], goal=[1.8], duration=4.0, nodes=9)
    # at least what holds it at the lower limit
    least = 9.81 / 2.0 * math.sin(1.0) - 3.0
    assert told.value.residuals["the limit of force of 'pivot'"] > least
    assert "the limit of position of 'pivot'" in told.value.conflict


def test_floating_bases_turn_with_momentum():
    craft = rd.load("satellite", base="floating", passive=False, gravity=(0, 0, 0))
    goal = {name: 0.4 for name in ("clock", "camera")}
    asked = {"start": craft.neutral(), "duration": 2.0, "nodes": 9}
    plan = rd.plan_motion(craft, **asked, goal=goal)
    assert plan.deviation < 1e-3
    np.testing.assert_allclose(np.linalg.norm(plan.q[:, 3:7], axis=1), 1.0, atol=1e-12)
    assert np.abs(craft.momentum(plan.q, plan.v)).max() < 1e-3
    turned = rd.plan_motion(craft, **asked, goal=plan.q[-1])  # all coordinates of a quaternion
    np.testing.assert_allclose(turned.q[-1], plan.q[-1], atol=1e-6)
