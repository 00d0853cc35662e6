"""Controllers at the borders of what they are for: what they refuse, and what holds there."""

import pickle

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc


@pytest.mark.parametrize("rows", [(0, 1, 2), (3, 5), (2,)])
def test_an_impedance_of_some_components_bears_what_is_measured_in_the_others(puma, rows):
    q, rest = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4]), np.zeros(6)
    push = np.array([3.0, 4.0, 20.0, 1.5, -2.0, 1.0])
    law = rc.Impedance(
        puma, "flange", rc.PointToPoint(q, q, 1.0), stiffness=1000.0, damping=200.0, inertia=10.0,
        wrench=lambda t: push, components=rows,
    )  # fmt: skip
    a = puma.forward_dynamics(q, rest, law(0.0, q, rest), wrenches={"flange": push})
    found = puma.frame_acceleration(q, rest, a, "flange", axes="world", classical=True)
    turn = puma.frame_pose(q, "flange")[:3, :3]
    felt = np.concatenate([turn @ push[:3], turn @ push[3:]])
    np.testing.assert_allclose(found[list(rows)], felt[list(rows)] / 10.0, atol=1e-12)


class Forgetful(dict):
    """A dictionary that another motion empties whenever it gets something."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.clear()


def test_two_motions_with_steps_of_their_own_share_an_admittance(puma):
    q = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4])
    position = rc.OperationalSpace(puma, "flange", rc.PointToPoint(q, q, 1.0))
    law = rc.Admittance(position, lambda t, q, v: np.ones(6), 1.0, 2.0, 3.0)
    alone = rc.Admittance(position, lambda t, q, v: np.ones(6), 1.0, 2.0, 3.0)
    object.__setattr__(law, "_steps", Forgetful())
    np.testing.assert_array_equal(law._over(np.array([0.01])), alone._over(np.array([0.01])))


def test_forces_at_a_joint_without_a_motor_do_not_hold_a_posture(acrobot):
    q = np.array([0.5, 0.3])
    with pytest.raises(rd.ActuationError, match=r"'shoulder'.*no motor") as caught:
        rc.LQR(acrobot, q, tau=acrobot.gravity_forces(q))
    assert caught.value.direction == "shoulder"
    with pytest.raises(rd.ShapeError, match="tau has shape"):
        rc.LQR(acrobot, [np.pi, 0.0], tau=np.zeros((2, 2)))


def test_a_reference_of_another_robot_is_refused_in_words_where_it_is_compiled_too(double):
    law = rc.JointPD(double, rc.PointToPoint(np.zeros(6), np.ones(6), 1.0), 20.0, 5.0)
    for use in (
        lambda: rd.closed_loop(double, law),
        lambda: rd.simulate(double, law, duration=0.1),
    ):
        with pytest.raises(rd.ShapeError, match=r"positions of shape \(6,\), expected \(2,\)$"):
            use()


def test_weights_too_far_apart_are_said_to_be(acrobot):
    with pytest.raises(rd.SettingsError, match="too far apart"):
        rc.LQR(acrobot, [np.pi, 0.0], state=1e12, effort=1e-12)


def test_a_law_of_another_robot_does_not_take_over(double, acrobot):
    still = rc.GravityCompensation(double)
    run = rd.simulate(double, still, q0=[0.3, 0.2], duration=0.05, step=0.01)
    with pytest.raises(
        rd.ShapeError, match=r"motors at elbow, expected.*motors at shoulder, elbow"
    ):
        rc.TimeVaryingLQR(double, run, then=rc.LQR(acrobot, [np.pi, 0.0]))
    with pytest.raises(rd.ShapeError, match="then"):
        rc.TimeVaryingLQR(double, run, then=still)


def spun(q, t):
    """A slide across an arm that turns ever faster."""
    c, s = rd.cos(q[0] + t * t), rd.sin(q[0] + t * t)
    return [[c, -s, 0, c], [s, c, 0, s], [0, 0, 1, 0]]


def test_laws_that_do_not_count_what_time_adds_refuse_robots_that_depend_on_it():
    spinning = rd.load("double_pendulum", joint_maps={"shoulder": rd.JointMap(1, spun)})
    with pytest.raises(rd.SettingsError, match="depends on time"):
        rc.LQR(spinning, np.zeros(2))


def test_controllers_travel_to_other_processes(double):
    still, q, v = rc.PointToPoint(np.zeros(2), np.ones(2), 1.0), np.array([0.3, 0.2]), np.ones(2)
    passive = rc.PassivityBased(double, still, 5.0, rate=2.0)
    task = double, "lower", still
    run = rd.simulate(double, q0=q, duration=0.02, step=0.01)
    for law in (
        rc.JointPD(double, still, 20.0, 5.0, gravity=False),
        rc.ComputedTorque(double, still, controlled=["elbow", "shoulder"]),
        passive,
        rc.Adaptive(passive, "upper.m", 1.0),
        rc.OperationalSpace(*task, components=(0,), posture=q),
        rc.Impedance(*task, 10.0, 2.0, components=(0,)),
        rc.LQR(double, np.zeros(2), effort=0.1),
        rc.TimeVaryingLQR(double, run, effort=0.1),
        rc.Saturated(rc.DisturbanceObserver(passive, 10.0), 3.0),
    ):
        again = pickle.loads(pickle.dumps(law))
        np.testing.assert_array_equal(again(0.3, q, v), law(0.3, q, v))


def test_states_may_be_lists(double):
    still, q, v = rc.PointToPoint(np.zeros(2), np.ones(2), 1.0), [0.3, 0.2], [1.0, 0.0]
    passive = rc.PassivityBased(double, still, 5.0, rate=2.0)
    pd = rc.JointPD(double, still, 20.0, 5.0)
    run = rd.simulate(double, q0=q, duration=0.02, step=0.01)
    for law in (
        pd,
        rc.ComputedTorque(double, still),
        passive,
        rc.Adaptive(passive, "upper.m", 1.0),
        rc.OperationalSpace(double, "lower", still, components=(0,)),
        rc.GravityCompensation(double),
        rc.LQR(double, np.zeros(2)),
        rc.TimeVaryingLQR(double, run),
        rc.Saturated(pd, 3.0),
        rc.DisturbanceObserver(pd, 10.0),
        rc.Filtered(pd, 10.0, signal="speed"),
        rc.RateLimited(pd, 10.0),
        rc.Sampled(pd, 0.1, quantum=0.01),
        rc.Noisy(pd, position=0.1),
    ):
        np.testing.assert_array_equal(law(0.3, q, v), law(0.3, np.array(q), np.array(v)))


class Free:
    """A cost that is no expansion."""

    def running_cost(self, t, q, v, tau):
        return 1.0

    def final_cost(self, q, v):
        return 1.0


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"iterations": 1.5}, rd.ShapeError, "iterations is 1.5"),
        ({"iterations": -1}, rd.SettingsError, "iterations is -1"),
        ({"tolerance": np.nan}, rd.ShapeError, "tolerance is nan"),
        ({"tolerance": "a"}, rd.ShapeError, "tolerance is 'a'"),
        ({"cost": None}, rd.ShapeError, "cost is NoneType"),
        ({"cost": Free()}, rd.ShapeError, "running_cost returned float"),
    ],
)
def test_a_plan_refuses_what_makes_no_sense(double, wrong, error, text):
    given = {"cost": rc.QuadraticCost(double, np.zeros(2)), "q0": np.zeros(2), "duration": 0.04}
    with pytest.raises(error, match=text):
        rc.iterative_lqr(double, **{**given, **wrong})


def test_a_cost_of_other_motors_is_refused(double, acrobot):
    cost = rc.QuadraticCost(double, np.zeros(2))
    with pytest.raises(rd.ShapeError, match="whose coordinates or motors"):
        rc.iterative_lqr(acrobot, cost, q0=np.zeros(2), duration=0.04)


def test_weights_of_other_units_may_be_far_apart(double):
    cost = rc.QuadraticCost(double, np.zeros(2), effort=[1e-13, 1.0])
    np.testing.assert_array_equal(cost.effort, [1e-13, 1.0])
    with pytest.raises(rd.ShapeError, match="smallest weight 0"):
        rc.QuadraticCost(double, np.zeros(2), effort=[0.0, 1.0])


@pytest.mark.filterwarnings("error")
def test_a_robot_that_cannot_move_stays():
    rock = rd.load('<robot name="rock"><link name="rock"/></robot>')
    assert rc.LQR(rock, np.zeros(0))(0.0, np.zeros(0), np.zeros(0)).shape == (0,)


def test_an_encoder_does_not_round_quaternions():
    arm = rd.load("prosthesis")
    q, rest = arm.random(3), np.zeros(arm.nv)
    seen = []

    def look(t, q, v):
        seen.append(q)
        return np.zeros(arm.nv)

    rc.Sampled(look, 0.1, quantum=0.1, robot=arm)(0.0, q, rest)
    np.testing.assert_array_equal(seen[0][:4], q[:4])
    np.testing.assert_allclose(seen[0][4:], np.round(q[4:], 1), atol=1e-15)
    with pytest.raises(rd.ShapeError, match="quaternions"):
        rc.Sampled(look, 0.1, quantum=0.1)(0.0, q, rest)
    with pytest.raises(rd.ShapeError, match="the controller's model 'stewart'"):
        rc.Sampled(look, 0.1, quantum=0.1, robot=rd.load("stewart"))(0.0, q, rest)


class Own:
    """A user's controller with a state, which returns what it is told to."""

    recorded = ("x",)

    def __init__(self, update):
        self.update = update

    def initial_state(self, sample):
        return {}


@pytest.mark.parametrize(
    ("update", "text"),
    [
        (lambda sample, state: np.zeros(2), "Own.update returned"),
        (lambda sample, state: None, "Own.update returned None"),
        (lambda sample, state: (np.zeros(2), None), "Own.update returned"),
        (lambda sample, state: (["a", "b"], {"x": 1.0}), "the controller returned"),
        (lambda sample, state: (np.zeros(2), {}), "has 'x' in its attribute recorded.*shape"),
        (lambda sample, state: (np.zeros(2), {"x": "a"}), "has 'x' in its attribute recorded"),
        (lambda sample, state: (np.zeros(2), {"x": np.zeros(2 if state else 1)}), "has 'x' in its"),
        (lambda sample, state: (np.zeros(2), {"x": np.zeros(1 if state else 2)}), "has 'x' in its"),
    ],
)
def test_an_update_without_a_state_is_shown(double, update, text):
    with pytest.raises(rd.ShapeError, match=text):
        rd.simulate(double, Own(update), duration=0.003)


@pytest.mark.parametrize("given", [None, (0.0,), 1.0, "sum"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_an_initial_state_that_is_no_mapping_is_shown(double, given, wrapped):
    class Begun(Own):
        def initial_state(self, sample):
            return given

    controller = Begun(lambda sample, state: (0.0 * sample.v, {"x": 0.0}))
    controller = rc.Sampled(controller, 0.002) if wrapped else controller
    with pytest.raises(rd.ShapeError, match=r"Begun\.initial_state returned .*a mapping"):
        rd.simulate(double, controller, duration=0.003)


def test_a_class_in_place_of_a_controller_is_refused(double):
    with pytest.raises(
        rd.ShapeError, match=r"the class Own, expected one of its objects: Own\(\.\.\.\)"
    ):
        rd.simulate(double, Own, duration=0.003)


def test_a_controller_with_one_of_two_functions_is_refused(double):
    class Half:
        def update(self, sample, state):
            return np.zeros(2), state

    for use in (
        lambda: rd.simulate(double, Half(), duration=0.003),
        lambda: rc.Saturated(Half(), 1.0),
    ):
        with pytest.raises(
            rd.ShapeError, match="a function or an object with initial_state and upd"
        ):
            use()
    with pytest.raises(rd.ShapeError, match=r"which has no initial_state, expected a function"):
        rd.closed_loop(double, Half())


def test_a_memory_may_be_one_number(double):
    class Clock(Own):
        recorded = "time"

    clock = Clock(lambda sample, state: (0.0 * sample.v, {"time": sample.t}))
    run = rd.simulate(double, clock, duration=0.003)
    np.testing.assert_array_equal(run.controller_state["time"], run.t[:, None])
    many = rd.rollout(double, clock, np.zeros((3, 2)), np.zeros((3, 2)), duration=0.003)
    np.testing.assert_array_equal(
        many.controller_state["time"], np.tile(run.t[:, None, None], (1, 3, 1))
    )


def test_a_seed_has_128_bits():
    with pytest.raises(rd.SettingsError, match="seed is"):
        rc.Noisy(lambda t, q, v: q, 0.1, seed=2**128)


@pytest.mark.filterwarnings(
    "error::robodyn.errors.LimitWarning", "ignore::robodyn.errors.ConvergenceWarning"
)
def test_a_plan_asks_of_motors_behind_gears_what_they_can_do():
    motors = {
        "shoulder": rd.Actuator(gear_ratio=10.0, torque_limit=0.5),
        "elbow": rd.Actuator(gear_ratio=10.0, torque_limit=0.2),
    }
    robot = rd.load("double_pendulum", actuators=motors)
    cost = rc.QuadraticCost(robot, [0.5, 0.0], effort=1e-3)
    plan = rc.iterative_lqr(robot, cost, q0=np.zeros(2), duration=0.4, iterations=5)
    assert (np.abs(plan.run.tau) <= [5.0, 2.0]).all()


def test_one_velocity_may_go_with_many_positions(double):
    still = rc.ComputedTorque(double, rc.PointToPoint(np.zeros(2), np.ones(2), 1.0))
    q, v = np.array([[0.3, 0.2], [0.1, -0.4]]), np.array([1.0, 0.0])
    found = rc.Saturated(still, 5.0)(0.3, q, v)
    np.testing.assert_array_equal(found, rc.Saturated(still, 5.0)(0.3, q, np.stack([v, v])))
