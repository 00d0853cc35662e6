"""Motions of least cost: no forces do better nearby, and a law along them holds the robot there."""

import math

import numpy as np
import pytest
from support.bundled import bundled
from support.cart_poles import cart_pole
from support.random_mechanisms import random_mechanism
from support.slides import slides

import robodyn as rd
from robodyn.controllers import LQR, QuadraticCost, SymbolicCost, TimeVaryingLQR
from robodyn.controllers.optimal.iterative_lqr import iterative_lqr, multistart_lqr
from robodyn.description import Pose
from robodyn.errors import ConvergenceWarning

UP = np.array([0.0, np.pi])
STEP = 0.04
LIMIT = 10.0


@pytest.fixture(scope="module")
def swing():
    """A pole swung up by a cart whose motor is too weak to do it at once."""
    robot = cart_pole(LIMIT)
    cost = QuadraticCost(
        robot, UP, state=[0.1, 0.1, 0.01, 0.01], effort=0.01, final=[200, 200, 20, 20]
    )
    plan = iterative_lqr(robot, cost, q0=[0.0, 0.0], duration=2.0, step=STEP, tolerance=1e-9)
    return robot, cost, plan


def gradient(robot, cost, plan):
    """How the cost of a plan changes with its forces, by the discrete adjoint."""
    run, nv = plan.run, robot.nv
    motors = [k for name in robot.actuated_joints for k in range(nv)[robot.joints[name].v]]
    tau = run.tau[:, motors]
    running = cost.running_cost(run.t[:-1], run.q[:-1], run.v[:-1], tau[:-1])
    h = np.diff(run.t)[:, None]
    by_x = np.zeros((len(run), 2 * nv))
    by_x[:-1] = h * running.slope[:, : 2 * nv]
    by_x[-1] = cost.final_cost(run.q[-1:], run.v[-1:]).slope[0]
    by_tau = np.zeros(run.tau.shape)
    by_tau[:-1, motors] = h * running.slope[:, 2 * nv :]
    found = rd.trajectory_gradient(run, q=by_x[:, :nv], v=by_x[:, nv:], tau=by_tau)
    return found.tau[:-1, motors] / h, tau[:-1]


def test_the_pole_swings_up_within_limits(swing):
    _, _, plan = swing
    assert plan.converged and "converged" in repr(plan)
    assert np.all(np.diff(plan.costs) < 0.0)
    assert np.abs(plan.run.q[-1] - UP).max() < 0.02
    assert np.abs(plan.run.v[-1]).max() < 0.05
    assert np.abs(plan.run.tau).max() == LIMIT
    assert np.all(plan.run.tau[:, 1] == 0.0)


def test_no_forces_nearby_cost_less(swing):
    """Free forces do not change the cost, those at a limit are pressed against it."""
    slope, tau = gradient(*swing)
    size = 1e-3
    free = np.abs(tau) < LIMIT
    assert 5 < free.sum() < free.size
    assert np.abs(slope[free]).max() < size
    assert np.all(slope[~free] * np.sign(tau[~free]) < size)
    assert np.abs(slope[~free]).max() > 30.0 * size


def test_the_law_along_it_repeats_it_to_the_last_bit(swing):
    robot, _, plan = swing
    law = TimeVaryingLQR(robot, plan.run)
    again = rd.simulate(robot, law, q0=[0.0, 0.0], duration=2.0, step=STEP, limits="ignore")
    np.testing.assert_array_equal(again.q, plan.run.q)
    np.testing.assert_array_equal(again.tau[:-1], plan.run.tau[:-1])


def test_the_law_along_it_tracks_and_then_balances(swing):
    """In shorter steps, from another start, with a heavier pole; forces alone do not do it."""
    robot, _, plan = swing
    after = LQR(robot, UP, state=[1.0, 1.0, 0.1, 0.1], effort=0.1)
    law = TimeVaryingLQR(robot, plan.run, state=[10, 10, 1, 1], effort=0.1, then=after)
    load = rd.Inertia(0.01, Pose((0.0, 0.0, -0.5)))
    heavier = robot.with_(payload={"pole": load})

    def simulated(law):
        return rd.simulate(
            heavier, law, q0=[0.05, -0.1], duration=7.0, step=2e-3, limits="ignore"
        )  # fmt: skip

    run = simulated(law)
    assert np.abs(run.q[-1] - UP).max() < 0.01
    table = plan.run.tau

    def blind(t, q, v):
        return table[min(int(t / STEP + 1e-9), len(table) - 1)]

    assert np.abs(simulated(blind).q[-1] - UP).max() > 0.3


def test_a_linear_robot_takes_one_iteration():
    """A cart alone: the cost to go of its sampled model is what the motion costs."""
    robot, h = slides(2.0, joint="slide", link="cart"), 0.02
    cost = QuadraticCost(robot, [0.0], state=[3.0, 0.2], effort=0.5, final=[10.0, 1.0])
    plan = iterative_lqr(robot, cost, q0=[1.0], v0=[0.3], duration=1.0, step=h, limits=1e9)
    A, B = np.array([[1.0, h], [0.0, 1.0]]), np.array([[h * h / 2.0], [h]]) / 2.0
    S = np.diag([10.0, 1.0])
    for _ in range(50):
        H, G = 0.5 * h + B.T @ S @ B, B.T @ S @ A
        S = h * np.diag([3.0, 0.2]) + A.T @ S @ A - G.T @ np.linalg.solve(H, G)
    x = np.array([1.0, 0.3])
    assert len(plan.costs) <= 4
    assert abs(plan.costs[-1] - 0.5 * x @ S @ x) < 1e-6 * plan.costs[-1]


OTHERS = {
    "linkage": lambda rng: rd.load("four_bar", passive=False),
    "quaternions": lambda rng: rd.load(random_mechanism(rng, ("spherical", "revolute"))),
}


@pytest.mark.parametrize("case", OTHERS)
def test_closed_linkages_and_quaternions(case):
    """There, too, no forces nearby cost less; what is left to the goal is the cost of the end."""
    rng = np.random.default_rng(3)
    robot = OTHERS[case](rng)
    q0 = robot.random(rng)
    goal = robot.integrate(q0, 0.4 * np.ones(robot.nv))
    if robot.nc:
        goal = robot.assemble(goal, hold=robot.independent_joints, beyond_limits=True)
    cost = QuadraticCost(robot, goal, state=0.1, effort=1e-3, final=30.0)
    plan = iterative_lqr(robot, cost, q0=q0, duration=0.6, limits=1e6, tolerance=1e-10)
    start = np.abs(robot.difference(goal, q0)).max()
    assert np.abs(robot.difference(goal, plan.run.q[-1])).max() < 0.2 * start
    slope, _ = gradient(robot, cost, plan)
    assert np.abs(slope).max() < 1e-3
    law = TimeVaryingLQR(robot, plan.run)
    again = rd.simulate(robot, law, q0=q0, duration=0.6, step=0.02, limits="ignore")
    np.testing.assert_allclose(again.q, plan.run.q, atol=1e-12)
    fine = rd.simulate(robot, law, q0=q0, duration=0.6, step=0.0025, limits="ignore")
    off = robot.difference(plan.run.q, fine.q[::8])
    assert np.abs(off).max() < 2e-3


@pytest.mark.parametrize("name", ["puma560", "palletizer"])
def test_the_search_begins_with_forces_that_hold_the_robot(name):
    """Without an iteration, the plan is a robot at rest."""
    robot = rd.load(name, passive=False)
    q0 = robot.random(np.random.default_rng(0))
    cost = QuadraticCost(robot, q0, state=1.0, effort=1e-3)
    with pytest.warns(ConvergenceWarning):
        plan = iterative_lqr(robot, cost, q0=q0, duration=0.2, limits=1e6, iterations=0)
    np.testing.assert_allclose(plan.run.q, np.tile(q0, (len(plan.run), 1)), atol=1e-10)
    assert np.abs(plan.run.tau).max() > 10.0


def test_the_search_by_machine_code_and_by_python():
    """Wrenches that are functions of the state have Python do each step."""

    def nothing(t, q, v):
        return {"pole": np.zeros((*v.shape[:-1], 6))}

    nothing.symbolic = True
    robot = cart_pole(8.0)
    cost = QuadraticCost(robot, UP, effort=1e-2, final=100.0)
    plans = []
    for wrenches in (None, nothing):
        with pytest.warns(ConvergenceWarning):
            plan = iterative_lqr(
                robot, cost, q0=[0.0, 0.1], duration=0.8, step=STEP, iterations=6, wrenches=wrenches
            )
        plans.append(plan)
    np.testing.assert_allclose(plans[1].costs, plans[0].costs, rtol=1e-8)
    np.testing.assert_allclose(plans[1].run.q, plans[0].run.q, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_searches_side_by_side_find_what_each_finds_alone(threads):
    robot = cart_pole(LIMIT)
    cost = QuadraticCost(robot, UP, state=0.1, effort=0.01, final=200)
    given = {"duration": 1.0, "step": STEP, "iterations": 12}
    rng = np.random.default_rng(0)
    q0, v0 = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    tau = np.zeros((3, 25, 2))
    tau[:, :, 0] = rng.normal(size=(3, 25))
    before = rd.get_num_threads()
    rd.set_num_threads(threads)
    try:
        with pytest.warns(ConvergenceWarning, match="from start 2: not converged in 12 iter"):
            plans = multistart_lqr(robot, cost, q0=q0, v0=v0, tau=tau, **given)
            from_one = multistart_lqr(robot, cost, q0=q0[0], v0=v0[0], tau=tau, **given)
            alone = [iterative_lqr(robot, cost, q0=q0[0], v0=v0[0], tau=x, **given) for x in tau]
            alone += [
                iterative_lqr(robot, cost, q0=q, v0=v, tau=x, **given)
                for q, v, x in zip(q0[1:], v0[1:], tau[1:], strict=True)
            ]
    finally:
        rd.set_num_threads(before)
    assert len({plan.costs[-1] for plan in plans}) == 3
    for found, expected in zip([plans[0], *from_one[1:], *plans[1:]], alone, strict=True):
        np.testing.assert_allclose(found.costs, expected.costs, rtol=1e-9)
        np.testing.assert_allclose(found.run.q, expected.run.q, atol=1e-8)
        np.testing.assert_allclose(found.gains, expected.gains, rtol=1e-6, atol=1e-6)
        assert (found.converged, found.reason) == (expected.converged, expected.reason)


def test_a_base_that_moves_evenly_changes_nothing():
    """A robot on a train plans as one that stands."""
    given = {"q0": [0.0, 2.5], "duration": 0.5, "step": 0.0125}
    plans = []
    for base in ("fixed", "moving"):
        robot = cart_pole(base=base)
        if base == "moving":
            given["base"] = lambda t: rd.BaseMotion.from_world(
                [t, 0.0, 1.0], linear_velocity=[1.0, 0.0, 0.0]
            )
        plans.append(iterative_lqr(robot, QuadraticCost(robot, UP), **given))
    np.testing.assert_allclose(plans[1].run.q, plans[0].run.q, atol=1e-7)
    assert np.abs(plans[0].run.q[-1] - plans[0].run.q[0]).max() > 0.3


def test_slopes_of_a_quadratic_cost_where_joints_turn_by_quaternions():
    rng = np.random.default_rng(1)
    robot = rd.load("pan_tilt", base="floating")
    nv, q, v = robot.nv, robot.random(rng)[None], rng.normal(size=(1, robot.nv))
    tau, W = rng.normal(size=(1, 2)), rng.normal(size=(2 * nv, 2 * nv))
    cost = QuadraticCost(robot, robot.random(rng), state=W @ W.T, effort=0.3, final=W.T @ W)
    assert np.linalg.norm(robot.difference(cost.goal, q)[0, 3:6]) > 0.5
    change, h = rng.normal(size=2 * nv + 2), 1e-6

    def at(s):
        moved = robot.integrate(q, s * change[None, :nv]), v + s * change[nv : 2 * nv]
        return moved, tau + s * change[2 * nv :]

    def difference(value):
        return (value(*at(h))[0] - value(*at(-h))[0]) / (2 * h)

    time = np.zeros(1)
    slope = cost.running_cost(time, q, v, tau).slope[0] @ change
    wanted = difference(lambda x, u: cost.running_cost(time, *x, u).value)
    assert abs(slope - wanted) < 1e-7 * abs(wanted)
    slope = cost.final_cost(q, v).slope[0] @ change[: 2 * nv]
    wanted = difference(lambda x, u: cost.final_cost(*x).value)
    assert abs(slope - wanted) < 1e-7 * abs(wanted)


def test_formulas_of_a_cost_and_weights_say_the_same():
    robot = cart_pole()
    W = np.array([[2.0, 0.3, 0.1, 0], [0.3, 1.0, 0, 0.2], [0.1, 0, 0.5, 0], [0, 0.2, 0, 0.7]])

    def squared(q, v):
        x = np.concatenate([q - UP, v])
        return 0.5 * (x @ (W @ x))

    formulas = SymbolicCost(robot, lambda t, q, v, tau: squared(q, v) + 0.2 * tau[0] ** 2, squared)
    weights = QuadraticCost(robot, UP, state=W, effort=0.4, final=W)
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    for one, other in (
        (formulas.running_cost(np.zeros(5), q, v, tau), weights.running_cost(0.0, q, v, tau)),
        (formulas.final_cost(q, v), weights.final_cost(q, v)),
    ):
        for name in ("value", "slope", "curvature"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)


def test_formulas_of_a_floating_base_are_moved_along_its_speeds():
    """By time as well; where a cost bends down, it counts as not bent."""
    robot = rd.load("pan_tilt", base="floating")
    rng = np.random.default_rng(1)

    def running(t, q, v, tau):
        return t * q[2] + q[3] * q[4] + np.cos(q[7]) * v[0] ** 2 + tau @ tau

    cost = SymbolicCost(robot, running, lambda q, v: q[6] ** 2)
    q, v, tau, t = robot.random(rng), rng.normal(size=8), rng.normal(size=2), 0.7
    found = cost.running_cost(np.full(1, t), q[None], v[None], tau[None])
    dq, h = rng.normal(size=8), 1e-6
    wanted = running(t, robot.integrate(q, h * dq), v, tau)
    wanted = (wanted - running(t, robot.integrate(q, -h * dq), v, tau)) / (2 * h)
    assert abs(found.slope[0, :8] @ dq - wanted) < 1e-8
    assert found.value[0] == pytest.approx(running(t, q, v, tau), rel=1e-12)
    assert np.linalg.eigvalsh(found.curvature[0]).min() > -1e-12
    np.testing.assert_allclose(found.curvature[0, 16:, 16:], 2.0 * np.eye(2), atol=1e-12)


def test_a_swing_up_by_formulas():
    """However often the pole has turned; the cart is kept from an end of its rails.

    Without forces to begin with, it would hang: no small change of them makes that cheaper.
    """
    robot = cart_pole(LIMIT)

    def running(t, q, v, tau):
        return 0.02 * tau[0] ** 2 + 0.1 * q[0] ** 2 + 0.02 * (v @ v) + (q[0] / 0.9) ** 8

    def final(q, v):
        return 200.0 * (1.0 + np.cos(q[1])) + 100.0 * q[0] ** 2 + 20.0 * (v @ v)

    cost = SymbolicCost(robot, running, final)
    state = {"q0": [0.0, 0.0], "duration": 2.4, "step": STEP}
    assert np.all(iterative_lqr(robot, cost, **state).run.tau == 0.0)
    push = np.zeros((60, 2))
    push[:, 0] = np.sin(0.2 * np.arange(60))
    plan = iterative_lqr(robot, cost, **state, tau=push)
    assert plan.converged
    assert np.cos(plan.run.q[-1, 1]) < -0.999
    assert np.abs(plan.run.q[:, 0]).max() < 1.2
    slope, tau = gradient(robot, cost, plan)
    assert np.abs(slope[np.abs(tau) < LIMIT]).max() < 0.2


def test_what_no_cost_is_made_of():
    robot = cart_pole()

    def nothing(q, v):
        return 0.0

    with pytest.raises(
        rd.ShapeError, match=r"running returned an array of shape \(2,\) for symbols"
    ):
        SymbolicCost(robot, lambda t, q, v, tau: q, nothing)
    with pytest.raises(rd.ShapeError, match=r"final is 3\.0, expected a function"):
        SymbolicCost(robot, lambda t, q, v, tau: tau[0] ** 2, 3.0)


def test_a_cost_without_derivatives_at_a_state_is_refused():
    cost = SymbolicCost(
        cart_pole(), lambda t, q, v, tau: tau[0] ** 2, lambda q, v: np.linalg.norm(v) ** 2
    )
    moving = np.array([[0.0, 0.0], [0.0, 0.5]])
    assert np.isfinite(cost.final_cost(moving[1:], moving[1:]).curvature).all()
    with pytest.raises(rd.ShapeError, match=r"the cost 'final' .* sample 0 of 2: a root"):
        cost.final_cost(moving, moving)


@pytest.mark.parametrize(
    "formula",
    [
        lambda t, q, v, tau: tau[0] ** 2 if q[0] else 0.0,
        lambda t, q, v, tau: 0.0 if q[1] == 3.0 else tau[0] ** 2,
        lambda t, q, v, tau: tau[0] ** 2 if q[0] > 1.0 else 0.0,
        lambda t, q, v, tau: 0.0 if 1.0 >= q[0] else tau[0] ** 2,
        lambda t, q, v, tau: tau[0] ** 2 + max(q[0], 0.0),
        lambda t, q, v, tau: tau[0] ** 2 + math.sin(q[0]),
    ],
)
def test_formulas_that_decide_by_numbers_are_refused(formula):
    """Written down once, they would hold for what was decided then."""
    with pytest.raises(TypeError, match="symbols stand for all numbers at once"):
        SymbolicCost(cart_pole(), formula, lambda q, v: 0.0)


def test_what_no_plan_is_made_of():
    robot = cart_pole()
    cost = QuadraticCost(robot, UP)
    state = {"q0": [0.0, 0.0], "duration": 0.1, "step": 0.02}
    with pytest.raises(rd.ShapeError, match=r"tau has shape \(3, 2\), expected \(5, 2\)"):
        iterative_lqr(robot, cost, **state, tau=np.zeros((3, 2)))
    with pytest.raises(rd.ShapeError, match="where there is no motor"):
        iterative_lqr(robot, cost, **state, tau=np.ones((5, 2)))
    with pytest.raises(rd.ShapeError, match="limits is -1"):
        iterative_lqr(robot, cost, **state, limits=-1.0)
    with pytest.raises(rd.SettingsError, match="'implicit' has no derivative"):
        iterative_lqr(robot, cost, **state, integrator="implicit")
    with pytest.raises(rd.ShapeError, match="cost is NoneType, expected"):
        iterative_lqr(robot, None, **state)
    with pytest.raises(rd.ShapeError, match="cost is one of 'scara'"):
        scara = bundled("scara")
        iterative_lqr(robot, QuadraticCost(scara, scara.neutral()), **state)
    still = rd.simulate(robot, q0=UP, duration=0.1, step=0.02)
    with pytest.raises(rd.ShapeError, match="then is a law for 'scara'"):
        TimeVaryingLQR(robot, still, then=LQR(scara, scara.neutral()))
    run = rd.simulate(robot, lambda t, q, v: np.ones(2), duration=0.1, step=0.02, limits="ignore")
    with pytest.raises(rd.ActuationError, match="without motors, up to 1"):
        TimeVaryingLQR(robot, run)
    with pytest.raises(rd.SettingsError, match="away from the next sample"):
        TimeVaryingLQR(robot, rd.simulate(robot, q0=[0.0, 1.0], duration=0.1, step=0.02)[::2])
    with pytest.raises(rd.ShapeError, match="expected one motion of 'arm7'"):
        TimeVaryingLQR(bundled("arm7"), run)
