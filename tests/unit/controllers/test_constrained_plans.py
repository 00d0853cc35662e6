"""iLQR with the costs, constraints and goals of `plan_motion`, beside its plans."""

import numpy as np
import pytest

import robodyn as rd
import robodyn.controllers as rc
from robodyn.errors import ConvergenceWarning

pytest.importorskip("casadi", reason="casadi is not installed")

START, GOAL = [0.0, 0.0], [0.5, 0.2]
SLOW = ("slow", lambda x: x.v[1], -0.1, 0.25)


@pytest.fixture(scope="module")
def robot():
    return rd.load("double_pendulum")


def _spent(run):
    """Integral of the squares of forces, which are held within steps."""
    return float(np.diff(run.t) @ np.sum(run.tau[:-1] ** 2, axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("constraints", [(), (SLOW,)], ids=["free", "slow"])
def test_motions_are_those_of_collocation(robot, constraints):
    """But for forces that are held, whose cost comes nearer with the square of the step."""
    plan = rd.plan_motion(
        robot, start=START, goal=GOAL, duration=1.0, nodes=41, constraints=constraints
    )
    found = [
        rc.iterative_lqr(
            robot, "torque", q0=START, duration=1.0, step=step, goal=GOAL, tau=plan,
            constraints=constraints,
        )
        for step in (0.02, 0.01)
    ]  # fmt: skip
    for one in found:
        assert one.converged
        np.testing.assert_allclose(one.run.q[-1], GOAL, atol=1e-5)
        np.testing.assert_allclose(one.run.v[-1], 0.0, atol=1e-5)
        if constraints:
            assert -0.1 - 1e-5 <= one.run.v[:-1, 1].min() < one.run.v[:-1, 1].max() <= 0.25 + 1e-5
    far, near = (_spent(one.run) - plan.cost for one in found)
    assert 0.0 < near < 0.4 * far < 2e-3 * plan.cost


def test_a_cost_of_ones_own_takes_constraints(robot):
    cost = rc.QuadraticCost(robot, GOAL, effort=1e-3, final=1000.0)
    given = {"q0": START, "duration": 0.6, "step": 0.03}
    free = rc.iterative_lqr(robot, cost, **given)
    kept = rc.iterative_lqr(robot, cost, **given, constraints=[("calm", lambda x: x.v, -0.8, 0.8)])
    assert np.abs(free.run.v[:-1]).max() > 1.0
    assert kept.converged and np.abs(kept.run.v[:-1]).max() < 0.8 + 1e-5


def test_forces_of_a_plan_are_where_a_search_begins(robot):
    plan = rd.plan_motion(robot, start=START, goal=GOAL, duration=0.5, nodes=9)
    with pytest.warns(ConvergenceWarning, match="0 iterations"):
        found = rc.iterative_lqr(
            robot, "torque", q0=START, duration=0.5, step=0.05, tau=plan, iterations=0
        )
    middle = np.arange(0.025, 0.5, 0.05)
    expected = [np.interp(middle, plan.times, f) for f in plan.forces.T]
    np.testing.assert_allclose(found.run.tau[:-1].T, expected, atol=1e-12)


def test_what_cannot_be_kept_is_told(robot):
    still = ("still", lambda x: x.v, 0.0, 0.0)
    with pytest.warns(ConvergenceWarning, match=r"(constraint 'still'|the goal) is missed by"):
        found = rc.iterative_lqr(
            robot, "torque", q0=START, duration=0.2, step=0.05, goal=GOAL, constraints=[still],
            iterations=20,
        )  # fmt: skip
    assert not found.converged and "missed" in found.reason


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"cost": "speed"}, rd.SettingsError, "expected torque, time"),
        ({"constraints": [("a", 1.0, 0.0, 0.0)]}, rd.ShapeError, "name, function, lower, upper"),
        ({"constraints": [("a", lambda x: x.q, [0.0] * 3, 1.0)]}, rd.ShapeError, "returns 2"),
        ({"constraints": [("a", lambda x: x.q, 0, 1, "goal")]}, rd.SettingsError, "the goal alone"),
        ({"goal": [0.1]}, rd.ShapeError, "goal"),
        ({"cost": 3.0}, rd.ShapeError, "expected a name or a function"),
    ],
)
def test_what_is_no_cost_or_constraint_is_refused(robot, given, error, said):
    with pytest.raises(error, match=said):
        rc.iterative_lqr(
            robot, **{"cost": "torque", "q0": START, "duration": 0.1, "goal": GOAL, **given}
        )


def test_contacts_are_refused():
    robot = rd.load("satellite", base="floating").with_(contacts={"bus": rd.Contact("grip")})
    with pytest.raises(rd.SettingsError, match="whose forces iterative_lqr does not know"):
        rc.iterative_lqr(robot, "torque", q0=robot.neutral(), duration=0.1)


def test_slopes_of_terms_are_those_of_differences():
    """Of a robot with quaternions, in the middle of a search."""
    from robodyn.controllers.optimal.augmented_cost import AugmentedCost

    robot = rd.load("satellite", base="floating", gravity=(0, 0, 0))
    q, v = robot.random(1), np.random.default_rng(1).normal(size=robot.nv)
    goal, m = robot.random(2), 4
    high = ("high", lambda x: x.quantity("frame_pose", frame="bus")[2, 3] + x.a[7], -0.1, 0.1)
    times = np.array([0.0, 0.1])
    cost = AugmentedCost(robot, "torque", [high], goal, times)
    tau, t, h = np.random.default_rng(2).normal(size=(1, m)), np.zeros(1), 1e-6

    def both(dz):
        moved = robot.integrate(q, dz[: robot.nv])[None]
        speed = (v + dz[robot.nv : 2 * robot.nv])[None]
        return cost.running_cost(t, moved, speed, tau + dz[2 * robot.nv :]), cost.final_cost(
            moved, speed
        )

    running, final = both(np.zeros(2 * robot.nv + m))
    for k, dz in enumerate(h * np.eye(2 * robot.nv + m)):
        ahead, behind = both(dz), both(-dz)
        for one, there, here in zip((running, final), ahead, behind, strict=True):
            slope = (there.value[0] - here.value[0]) / (2 * h)
            own = one.slope[0, k] if k < one.slope.shape[1] else 0.0
            assert own == pytest.approx(slope, rel=1e-6, abs=1e-6 * np.abs(one.slope).max())
