"""Controllers as machine code: the same motions as by Python, and robot and controller in one."""

import dataclasses
import warnings

import numba
import numpy as np
import pytest
from support.compiled_c import c_library, pointers
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn import controllers as rc
from robodyn.simulation.control import controller as callbacks, running_controller
from robodyn.simulation.control.compile_controller import NumbaCode, compile_controller
from robodyn.simulation.control.controller import Stateless
from robodyn.simulation.step import compiled_motion
from robodyn.simulation.step.stepper import Stepper

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.EnergyWarning")

ROBOTS = ("arm7", "four_bar", "five_bar", "palletizer", "cart_arms", "crank_slider")


def smooth(robot):
    """A reference that starts at rest at the neutral posture."""
    q0 = robot.neutral()
    return rc.SineReference(q0, 0.1 * np.ones(robot.nq), 0.7 * np.ones(robot.nq))


def controllers(robot):
    q0 = robot.neutral()
    away = rc.PointToPoint(q0, q0 + 0.1, 0.03)
    return {
        "computed torque": rc.ComputedTorque(robot, smooth(robot)),
        "one that ends": rc.ComputedTorque(robot, away, stiffness=400.0),
        "sampled reference": rc.ComputedTorque(robot, lambda t: smooth(robot)(t)),
        "pd": rc.JointPD(robot, away, 50.0, 3.0),
        "pd without gravity": rc.JointPD(robot, smooth(robot), 50.0, 3.0, gravity=False),
        "weight": rc.GravityCompensation(robot),
    }


def run(robot, controller, **options):
    start = {"q0": robot.neutral(), "duration": 0.05, "limits": "ignore"}
    return rd.simulate(robot, controller, **{**start, **options})


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("kind", list(controllers(rd.load("arm7"))))
def test_a_motion_is_the_same_by_machine_code_and_by_python(name, kind, monkeypatch):
    robot = rd.load(name)
    is_the_same(robot, controllers(robot)[kind], monkeypatch)


def is_the_same(robot, controller, monkeypatch, **options):
    assert compile_controller(robot, controller).function_program is not None
    fast = run(robot, controller, **options)
    monkeypatch.setattr(Stepper, "compiled", lambda *given: None)
    slow = run(robot, controller, **options)
    for x in ("q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(fast, x), getattr(slow, x))
    monkeypatch.setattr(
        running_controller, "compile_controller", lambda *given: None
    )  # as it is written, in numbers
    plain = run(robot, controller, **options)
    np.testing.assert_allclose(fast.q, plain.q, atol=1e-12)
    np.testing.assert_allclose(fast.tau, plain.tau, atol=1e-8 * np.abs(plain.tau).max())


#: Robot, and a controller of frames, of energy, or of joints that other motors move.
MORE = {
    "operational space": ("arm7", lambda r, x: rc.OperationalSpace(r, "tool", x, 300.0)),
    "linkage's frame": (
        "five_bar",
        lambda r, x: rc.OperationalSpace(r, "left_rod", x, 300.0, components=(0, 4)),
    ),
    "sampled task": (
        "arm7",
        lambda r, x: rc.OperationalSpace(r, "tool", lambda t: x(t), posture=np.ones(7)),
    ),
    "impedance": ("arm7", lambda r, x: rc.Impedance(r, "tool", x, 300.0, 30.0)),
    "impedance with a sensor": (
        "arm7",
        lambda r, x: rc.Impedance(r, "tool", x, 300.0, 30.0, 2.0, lambda t: np.full(6, t)),
    ),
    "passivity": ("arm7", lambda r, x: rc.PassivityBased(r, x, 3.0)),
    "passivity of a linkage": ("palletizer", lambda r, x: rc.PassivityBased(r, x, 30.0)),
    "other joints": (
        "five_bar",
        lambda r, x: rc.ComputedTorque(r, x, controlled=("left_elbow", "left_drive")),
    ),
}


def bent(name):
    """A posture in which nothing is stretched, and a reference that starts there at rest."""
    robot = rd.load(name)
    q = np.array([0.3, 0.5, -0.2, 1.2, 0.4, 0.8, 0.1]) if name == "arm7" else robot.neutral()
    return robot, q, rc.SineReference(q, 0.1 * np.ones(robot.nq), 0.7 * np.ones(robot.nq))


@pytest.mark.filterwarnings("error::robodyn.errors.SingularWarning")
@pytest.mark.parametrize("kind", MORE)
def test_motions_of_frames_are_the_same(kind, monkeypatch):
    name, make = MORE[kind]
    robot, q, reference = bent(name)
    is_the_same(robot, make(robot, reference), monkeypatch, q0=q)


@pytest.mark.slow
def test_a_controller_in_c(tmp_path):
    """All of it, redundancy and guards too; where nothing can be trusted, it gives no numbers."""
    robot, q, reference = bent("arm7")
    f = rd.closed_loop(robot, rc.OperationalSpace(robot, "tool", reference, 300.0))
    call = c_library(tmp_path, f.c_source("loop")).loop
    a, v = np.empty(7), 0.1 * np.arange(7.0)
    for posture in (q, q + 0.1, np.zeros(7)):
        call(*pointers(0.2, posture, v, a))
        np.testing.assert_allclose(a, f(0.2, posture, v), atol=1e-9)
    assert np.isnan(a).any()


def test_a_moving_base_and_its_controller(monkeypatch):
    robot = rd.load("arm7", base="moving")

    def ship(t):
        return rd.BaseMotion.from_world(
            (0.0, 0.0, 0.1 * np.sin(2.0 * t)), (0.0, 0.0, 0.0, 1.0),
            (0.0, 0.0, 0.2 * np.cos(2.0 * t)),
            (0.0, 0.0, 0.0), (0.0, 0.0, -0.4 * np.sin(2.0 * t)), (0.0, 0.0, 0.0),
        )  # fmt: skip

    controller = rc.ComputedTorque(robot, smooth(robot), base=ship)
    law = compile_controller(robot, controller)
    assert [signal.size for signal in law.signals] == [28]
    fast = run(robot, controller, base=ship)
    monkeypatch.setattr(running_controller, "compile_controller", lambda *given: None)
    np.testing.assert_allclose(fast.q, run(robot, controller, base=ship).q, atol=1e-12)
    assert np.abs(fast.q[-1] - smooth(robot)(0.05)[0]).max() < 1e-4


def test_chunks_of_tables_join_without_a_seam(monkeypatch):
    """Paths of more instants than a table has: the same motion for tables of any size."""
    robot = rd.load("double_pendulum")
    paths = {"controlled": {"shoulder": lambda t: (np.sin(t), np.cos(t), -np.sin(t))}}
    controller = rc.ComputedTorque(robot, lambda t: smooth(robot)(t))
    whole = run(robot, controller, duration=0.2, **paths)
    monkeypatch.setattr(compiled_motion, "TABLED", 7)
    parts = run(robot, controller, duration=0.2, **paths)
    for x in ("t", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(parts, x), getattr(whole, x))


def test_what_has_a_state_is_no_function_and_what_does_not_say_so_is_called(arm):
    controller = rc.ComputedTorque(arm, smooth(arm))
    times = np.linspace(0.0, 0.1, 101)
    assert not compile_controller(arm, rc.Sampled(controller, 0.01), times).is_function
    assert not compile_controller(arm, rc.Sampled(controller, 0.01)).is_function
    assert compile_controller(arm, lambda t, q, v: -v) is None


def test_where_the_code_gives_no_numbers_the_controller_is_asked(arm):
    law = compile_controller(arm, rc.GravityCompensation(arm))

    def refuses(t, q, v):
        raise rd.ActuationError("asked")

    asked = dataclasses.replace(law, controller=Stateless(refuses))
    q = arm.neutral()
    np.testing.assert_array_equal(asked(0.0, q, np.zeros(7)), arm.gravity_forces(q))
    with pytest.raises(rd.ActuationError, match="asked"):
        asked(0.0, np.full(7, np.inf), np.zeros(7))


@pytest.mark.slow
def test_a_controller_that_numba_has_compiled(monkeypatch):
    robot = rd.load("double_pendulum")

    def law(t, q, v):
        return -3.0 * v - 5.0 * np.sin(q) + 0.1 * t

    compiled = numba.njit(law)
    q0 = np.array([[0.3, 0.2], [1.0, -0.5], [0.1, 0.1]])
    plain = [run(robot, law, q0=q) for q in q0]
    assert isinstance(compile_controller(robot, compiled).code.function, NumbaCode)
    monkeypatch.setattr(callbacks, "checked_forces", None)  # Python is not asked
    many = rd.rollout(robot, compiled, q0, 0.0 * q0, duration=0.05, limits="ignore")
    for k in range(3):
        one = run(robot, compiled, q0=q0[k])
        np.testing.assert_array_equal(one.q, plain[k].q)
        np.testing.assert_array_equal(one.tau, plain[k].tau)
        np.testing.assert_array_equal(many.q[:, k], plain[k].q)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")  # nor do they come out twice
def test_errors_of_a_compiled_controller_come_out(double):

    @numba.njit
    def raises(t, q, v):
        if t > 0.02:
            raise ValueError("too late")
        return -v

    @numba.njit
    def short(t, q, v):
        return -v[:1]

    with pytest.raises(ValueError, match="too late"):
        run(double, raises)
    with pytest.raises(rd.ShapeError, match=r"shape \(1,\)"):
        run(double, short)


# -- functions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROBOTS)
def test_robot_and_controller_are_one_function(name):
    robot = rd.load(name)
    controller = rc.ComputedTorque(robot, smooth(robot))
    f = rd.closed_loop(robot, controller)
    assert [port.name for port in f.inputs] == ["t", "q", "v"]
    q = robot.random(np.random.default_rng(3))
    v = np.random.default_rng(4).normal(size=robot.nv)
    v = robot.consistent_velocity(q, v) if robot.nc else v
    a = robot.forward_dynamics(q, v, controller(0.2, q, v))
    np.testing.assert_allclose(f(0.2, q, v), a, atol=1e-9 * (1.0 + np.abs(a).max()))


def test_slopes_of_a_step_are_those_of_differences(double):
    f = rd.step_function(double, rc.ComputedTorque(double, smooth(double)), step=5e-3)
    q, v, e = np.array([0.3, -0.2]), np.array([1.0, 2.0]), 1e-6
    slopes = f.jacobian("v")(0.1, q, v)
    for k, direction in enumerate(np.eye(2)):
        up, down = f(0.1, q, v + e * direction), f(0.1, q, v - e * direction)
        for slope, x, y in zip(slopes, up, down, strict=True):
            np.testing.assert_allclose(slope[:, k], (x - y) / (2 * e), atol=1e-8)


def test_a_step_in_c(tmp_path):
    robot = rd.load("four_bar")
    f = rd.step_function(robot, rc.ComputedTorque(robot, smooth(robot)))
    call = c_library(tmp_path, f.c_source("step")).step
    q, v = robot.neutral(), np.zeros(3)
    for k in range(20):
        given = (1e-3 * k, q, v, np.empty(3), np.empty(3))
        call(*pointers(*given))
        q, v = given[3:]
    done = run(robot, rc.ComputedTorque(robot, smooth(robot)), duration=0.02)
    np.testing.assert_allclose(q, done.q[-1], atol=1e-12)


def test_what_is_no_function(arm):
    with pytest.raises(rd.SettingsError, match="symbolic = True"):
        rd.closed_loop(arm, lambda t, q, v: -v)
    with pytest.raises(rd.SettingsError, match="implicit"):
        rd.step_function(arm, integrator="implicit")
    with pytest.raises(rd.UnknownNameError, match="hand9"):
        rd.step_function(arm, wrenches=["hand9"])
    for step in (0.0, -1e-3, np.nan):
        with pytest.raises((rd.SettingsError, rd.ShapeError), match="step is"):
            rd.step_function(arm, step=step)


class Damper:
    """A controller with a gain that may be changed."""

    symbolic = True

    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t, q, v):
        return -self.gain * v


@dataclasses.dataclass
class Unhashable(Damper):
    gain: float


class Slotted:
    symbolic = True
    __slots__ = ("gain",)

    def __init__(self, gain):
        self.gain = gain

    __call__ = Damper.__call__


@pytest.mark.parametrize("before", [1.0, 2.0])
@pytest.mark.parametrize("kind", [Damper, Unhashable, Slotted])
def test_gains_that_change_between_motions(double, kind, before):
    options = {"v0": [1.0, 1.0], "duration": 0.05}
    controller = kind(before)
    first = rd.simulate(double, controller, **options)
    again = rd.simulate(double, controller, **options)
    controller.gain = 50.0
    other = rd.simulate(double, controller, **options)
    np.testing.assert_array_equal(again.q, first.q)
    np.testing.assert_array_equal(other.q, rd.simulate(double, kind(50.0), **options).q)
    assert (other.q != first.q).any()
    accelerations = rd.closed_loop(double, controller)(0.0, first.q[0], first.v[0])
    np.testing.assert_allclose(accelerations, other.a[0], rtol=1e-12)


class Changing:
    """A controller whose equations may change."""

    symbolic = True
    law = staticmethod(lambda t, q, v: -v)

    def __call__(self, t, q, v):
        return self.law(t, q, v)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda t, q, v: [np.sin(q[0]), 0.0], lambda t, q, v: [np.cos(q[0]), 0.0]),
        (lambda t, q, v: [q[0] + v[0], 0.0], lambda t, q, v: [q[0] - v[0], 0.0]),
        (lambda t, q, v: [q[0] * v[0], 0.0], lambda t, q, v: [q[1] * v[1], 0.0]),
        (lambda t, q, v: [q[0] - v[0], 0.0], lambda t, q, v: [v[0] - q[0], 0.0]),
        (lambda t, q, v: [q[0] + t, 0.0], lambda t, q, v: [0.0, q[0] + t]),
    ],
)
def test_equations_that_change_between_motions(one, other):
    """Of as many operations, with as many numbers: each time they are what is written."""
    robot, controller = rd.load("double_pendulum"), Changing()
    options = {"q0": [0.3, 0.8], "v0": [1.0, 0.5], "duration": 0.02, "limits": "ignore"}
    for law in (one, other, one):
        controller.law = law
        found = rd.simulate(robot, controller, **options)
        states = zip(found.t, found.q, found.v, strict=True)
        np.testing.assert_allclose(found.tau, [law(*x) for x in states], rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    "given",
    [None, "a", 3.0, np.nan, [1, 2, 3], [[1, 2]], {}, [1j, 0], ["1", "2"], [[1], [2, 3]], object(),
     np.ma.masked_array([1, 2], [True, False]), np.zeros(3), [None, 0.0]],
)  # fmt: skip
def test_what_a_symbolic_controller_may_not_return(given):
    robot = rd.load("double_pendulum")

    def controller(t, q, v):
        return given

    controller.symbolic = True
    for use in (rd.simulate, rd.closed_loop, rd.step_function):
        with pytest.raises(
            rd.ShapeError, match=r"symbolic, returned.*expected symbols and numbers"
        ):
            use(robot, controller)


DECISIONS = {
    "equal": lambda t, q, v: [1.0 if q[0] == 0.0 else 2.0, 0.0],
    "other": lambda t, q, v: [1.0 if v[0] != 0.0 else 2.0, 0.0],
    "true": lambda t, q, v: [1.0 if q[0] else 2.0, 0.0],
    "larger": lambda t, q, v: [1.0 if q[0] > 0.0 else 2.0, 0.0],
    "time": lambda t, q, v: [1.0 if t == 0.0 else 2.0, 0.0],
    "array": lambda t, q, v: np.where(q == 0.0, v, -v),
    "any": lambda t, q, v: -v if np.any(q) else v,
    "not": lambda t, q, v: [0.0 if not t else 1.0, 0.0],
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_symbols_decide_nothing(double, decision):
    """It would be taken as it was at the one call with symbols, which is wrong elsewhere."""

    def controller(t, q, v):
        return DECISIONS[decision](t, q, v)

    controller.symbolic = True
    for use in (rd.simulate, rd.closed_loop):
        with pytest.raises(TypeError):
            use(double, controller)


@pytest.mark.parametrize("made", [rc.JointPD, rc.ComputedTorque])
@pytest.mark.parametrize("symbolic", [True, False])
def test_references_of_many_motions_are_each_followed_by_its_own(double, made, symbolic):
    centers = np.array([[0.0, 0.0], [0.5, -0.3], [1.0, 0.2]])

    def sine(center):
        reference = rc.SineReference(center, np.full(2, 0.2), np.ones(2))
        return reference if symbolic else lambda t: reference(t)

    options = {"duration": 0.1, "limits": "ignore"}
    gains = {"stiffness": 50.0, "damping": 10.0}
    many = made(double, sine(centers), **gains)
    together = rd.rollout(double, many, centers, np.zeros((3, 2)), **options)
    for k, center in enumerate(centers):
        alone = rd.simulate(double, made(double, sine(center), **gains), q0=center, **options)
        np.testing.assert_allclose(together.q[:, k], alone.q, atol=1e-12)
    with pytest.raises(rd.ShapeError, match=r"the controller returned shape \(3, 2\)"):
        rd.simulate(double, many, **options)
    with pytest.raises(rd.SettingsError, match="no straight-line code"):
        rd.closed_loop(double, many)


def turning(seed):
    """Motors that turn a ball, slide a plate and turn a hinge."""
    mechanism = random_mechanism(
        np.random.default_rng(seed), ("spherical", "revolute", "planar"), damping=0.3
    )
    robot = rd.load(mechanism)
    goal = robot.random(np.random.default_rng(2))
    rest = np.zeros(robot.nv)
    return robot, goal, lambda t: (goal, rest, rest)


BALLS = {
    "PD": lambda robot, goal, still: rc.JointPD(robot, still, 30.0, 6.0),
    "computed torque": lambda robot, goal, still: rc.ComputedTorque(robot, still),
    "a frame": lambda robot, goal, still: rc.OperationalSpace(
        robot, robot.link_names[-1], still, components=(0, 1, 2)
    ),
    "a spring": lambda robot, goal, still: rc.Impedance(
        robot, robot.link_names[-1], still, 20.0, 5.0, components=(0, 1, 2)
    ),
    "LQR": lambda robot, goal, still: rc.LQR(robot, goal),
}


@pytest.mark.parametrize("kind", BALLS)
def test_motors_that_turn_balls_have_a_law_in_machine_code(kind):
    robot, goal, still = turning(0)
    controller = BALLS[kind](robot, goal, still)
    law = compile_controller(robot, controller)
    rng = np.random.default_rng(5)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    right = controller(0.0, q, v)
    np.testing.assert_allclose(law(0.0, q, v), right, atol=1e-11 * np.abs(right).max())
    start = {"q0": robot.integrate(goal, 0.3 * rng.normal(size=robot.nv)), "limits": "ignore"}
    run = rd.simulate(robot, controller, duration=0.05, step=1e-3, **start)
    slow = rd.simulate(
        robot, lambda t, q, v: controller(t, q, v), duration=0.05, step=1e-3, **start
    )
    np.testing.assert_allclose(run.q, slow.q, atol=1e-11)
    f = rd.closed_loop(robot, controller)
    signals = [signal.at(0.0) for signal in law.signals]
    wanted = robot.forward_dynamics(q, v, right)
    np.testing.assert_allclose(f(0.0, q, v, *signals), wanted, atol=1e-10 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_forces_are_inputs_of_a_step(name):
    """Beside those of a controller, in one state and in many."""
    robot = rd.load(name)
    q, rng = robot.random(1), np.random.default_rng(2)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    tau = np.zeros((3, robot.nv))
    motors = [robot.joints[joint].v.start for joint in robot.actuated_joints]
    tau[:, motors] = rng.normal(size=(3, len(motors)))
    step = rd.step_function(robot, step=2e-3, tau=True)
    assert [port.name for port in step.inputs] == ["t", "q", "v", "tau"]
    for row in tau:
        run = rd.simulate(
            robot,
            lambda t, q, v, row=row: row,
            q0=q,
            v0=v,
            duration=2e-3,
            step=2e-3,
            limits="ignore",
        )
        np.testing.assert_allclose(step(0.0, q, v, row)[0], run.q[-1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(step(0.0, q, v, row)[1], run.v[-1], rtol=0, atol=1e-10)
    many = step(np.zeros(3), np.tile(q, (3, 1)), np.tile(v, (3, 1)), tau)
    np.testing.assert_allclose(many[1][2], step(0.0, q, v, tau[2])[1], rtol=0, atol=1e-12)
    law = rc.GravityCompensation(robot)
    both = rd.step_function(robot, law, step=2e-3, tau=True)
    beside = step(0.0, q, v, tau[0] + law(0.0, q, v))
    np.testing.assert_allclose(both(0.0, q, v, tau[0])[1], beside[1], rtol=0, atol=1e-10)


def test_a_delay_that_lasts_until_the_next_call_is_told(tmp_path):
    robot, h = rd.load("double_pendulum"), 1e-3
    law = rc.GravityCompensation(robot)
    with pytest.warns(rd.errors.SampleWarning, match="Give delay=0.002") as told:
        late = rd.control_law(robot, rc.Sampled(law, h, delay=1.3e-3), step=h)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = rd.control_law(robot, rc.Sampled(law, h, delay=2e-3), step=h)
        rd.control_law(robot, rc.Sampled(law, h), step=h)
    run = rd.simulate(robot, rc.Sampled(law, h, delay=2e-3), q0=[0.5, 0.2], duration=0.01, step=h)
    for functions in (late, whole):
        tau, state = functions.first(0.0, run.q[0], run.v[0])
        for k in range(1, len(run)):
            tau, state = functions.update(run.t[k], run.q[k], run.v[k], tau, state)
            np.testing.assert_allclose(tau, run.tau[k], atol=1e-12)
    with pytest.warns(rd.errors.SampleWarning) as told:
        digital = rc.Sampled(law, h, delay=0.2e-3)
        rd.export(robot, ["control", "step"], "c", tmp_path / "c", controller=digital, step=h)
    assert len(told) == 1
