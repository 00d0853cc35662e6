"""Steps in machine code against the same steps called from Python, and many motions against one.

Whatever path is taken the numbers are the same, to the last bit: with and without machine code,
alone and among others, on one thread and on two. All of them share one text of a step, so that
some motions are compared with steps of the textbook, too; `test_one_step.py` does so for more.
"""

import ctypes
import dataclasses
from contextlib import contextmanager

import numpy as np
import pytest
from support.motions import STATES, circling, same, swing
from support.random_mechanisms import random_mechanism
from support.textbook_steps import TextbookStep

import robodyn as rd
from robodyn.simulation.integrators import EXPLICIT
from robodyn.simulation.loads.loads import Loads, functions_that_move
from robodyn.simulation.step.compiled_motion import TABLED
from robodyn.simulation.step.stepper import Stepper
from robodyn.tolerances import LOOP_APART

#: Limits and energies are not what is looked at here.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::robodyn.errors.{kind}Warning")
    for kind in ("Limit", "Energy")
]

#: Seven steps and a part of one.
SHORT = {"duration": 7.3e-3, "step": 1e-3}


@contextmanager
def patched(name, function):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stepper, name, function)
        yield


def by_python(run):
    """A motion whose steps are called from Python."""
    with patched("compiled", lambda *given: None):
        return run()


def by_machine_code(run):
    """A motion with no step from Python."""

    def refuse(*given):
        raise AssertionError("a step was done by Python")

    with patched("step", refuse):
        return run()


def both(run):
    """The motion, which is the same by machine code and by Python."""
    found = by_machine_code(run)
    same(found, by_python(run))
    return found


def push(t, q, v):
    """Forces that depend on everything, for one motion or many."""
    return 0.4 * np.cos(3.0 * t + np.arange(v.shape[-1])) - 0.1 * v + 0.05 * q[..., :1]


def starts(robot, n, seed=0):
    """States with closed loops, near the neutral posture."""
    rng = np.random.default_rng(seed)
    now = robot.at(0.0)
    q = np.tile(now.neutral(), (n, 1))
    if robot.nc:
        v = rng.uniform(-0.5, 0.5, (n, robot.nv))
        return q, np.array([now.consistent_velocity(*x) for x in zip(q, v, strict=True)])
    q = robot.integrate(q, rng.uniform(-0.5, 0.5, (n, robot.nv)))
    return q, rng.uniform(-0.5, 0.5, (n, robot.nv))


def alone_and_among_others(robot, n=3, **options):
    """Machine code, Python, and each motion of a rollout are the same."""
    options = SHORT | {"controller": push} | options
    q, v = starts(robot, n)
    many = by_machine_code(lambda: rd.rollout(robot, q0=q, v0=v, **options))
    for k in range(n):
        one = by_machine_code(lambda k=k: rd.simulate(robot, q0=q[k], v0=v[k], **options))
        same(many.motion(k), one)
    same(one, by_python(lambda: rd.simulate(robot, q0=q[-1], v0=v[-1], **options)))
    assert np.ptp(one.q, axis=0).max() > 1e-6, "nothing moves"
    return one


def as_in_the_textbook(robot, run, integrator="rk4", stabilization=None, **acting):
    """Each sample follows from the one before by a step of the textbook."""
    paths = dict(acting.get("controlled", {}))
    paths |= {name: lambda t: (None, 0.0, 0.0) for name in acting.get("locked", ())}
    step = TextbookStep(robot, paths, acting.get("base"), acting.get("wrenches"), stabilization)
    for k, t in enumerate(run.t[:-1]):
        found = step(integrator, t, run.q[k], run.v[k], run.tau[k], run.t[k + 1] - t)
        for x, y in zip(found, (run.q[k + 1], run.v[k + 1]), strict=True):
            np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-10 * (1.0 + np.abs(y).max()))


# -- robots and their bases -----------------------------------------------------------------------


@pytest.mark.parametrize("name", rd.robots())
def test_every_bundled_robot(name):
    alone_and_among_others(rd.load(name), n=2)


@pytest.mark.parametrize("name", ["arm7", "four_bar", "prosthesis"])
def test_floating_bases(name):
    alone_and_among_others(rd.load(name, base="floating"))


@pytest.mark.parametrize("name", ["arm7", "four_bar", "prosthesis"])
def test_moving_bases(name):
    alone_and_among_others(rd.load(name, base="moving"), base=circling)


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_minimal_coordinates(name):
    alone_and_among_others(rd.load(name, coordinates="minimal"))


MIXED = ["spherical", "universal", "floating", "planar", "helical", "prismatic", "cylindrical"]


@pytest.mark.parametrize("seed", range(4))
def test_random_mechanisms(seed):
    rng = np.random.default_rng(seed)
    kinds = list(rng.choice(MIXED, 3))
    base = ("fixed", "floating", "moving")[seed % 3]
    mechanism = random_mechanism(rng, kinds, damping=0.2, friction=0.1)
    robot = rd.load(mechanism, base=base, friction_speed=0.5)
    link = f"link{rng.integers(4)}"
    options = {"base": circling} if base == "moving" else {}
    integrator = str(rng.choice(list(EXPLICIT)))
    options |= {"integrator": integrator, "wrenches": {link: rng.normal(size=6)}}
    as_in_the_textbook(robot, alone_and_among_others(robot, **options), **options)


# -- integrators and instants ---------------------------------------------------------------------


@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "prosthesis"])
def test_integrators(name, integrator):
    alone_and_among_others(rd.load(name), integrator=integrator)


@pytest.mark.parametrize("duration", [0.0, 1e-3, 4e-4, 5e-3, 5.5e-3])
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_durations(name, duration):
    robot = rd.load(name)
    for controller in (None, push):
        run = both(lambda c=controller: rd.simulate(robot, c, duration=duration, step=1e-3))
        assert run.t[-1] == duration


# -- what drives and loads ------------------------------------------------------------------------


def turning(t):
    """An orientation that turns about a tilted axis, as a spherical joint has it."""
    u, (x, dx, ddx) = np.array([0.6, 0.0, 0.8]), swing(t)
    return np.array([*(u * np.sin(x / 2.0)), np.cos(x / 2.0)]), dx * u, ddx * u


def two(t):
    """Two axes, each along its own path."""
    first, second = swing(t), swing(t, -0.3, 5.0)
    return tuple(np.array(pair) for pair in zip(first, second, strict=True))


DRIVEN_KINDS = ["revolute", "universal", "prismatic", "spherical", "helical"]
PATHS = {
    "one joint": ({"joint2": swing}, ()),
    "both axes": ({"joint1": two}, ()),
    "one axis": ({"joint1[1]": swing}, ()),
    "a speed without a coordinate": ({"joint3[2]": swing}, ()),
    "an orientation": ({"joint3": turning, "joint0": swing}, ()),
    "locked": ({}, ("joint2", "joint3")),
    "an axis locked, another driven": ({"joint4": swing}, ("joint1[0]",)),
    "all": (
        {f"joint{k}": path for k, path in enumerate((swing, two, swing, turning, swing))},
        (),
    ),
}


@pytest.fixture(scope="module")
def chain():
    rng = np.random.default_rng(11)
    mechanism = random_mechanism(rng, DRIVEN_KINDS, damping=0.3, friction=0.1)
    return rd.load(mechanism, base="moving", friction_speed=0.5)


@pytest.mark.parametrize("paths", PATHS)
def test_driven_and_locked_joints(chain, paths):
    controlled, locked = PATHS[paths]
    options = {"base": circling, "controlled": controlled, "locked": locked}
    run = alone_and_among_others(chain, **options)
    if paths != "a speed without a coordinate":
        as_in_the_textbook(chain, run, **options)
    for name, path in controlled.items():
        if not name.endswith("]"):
            own = run.q[:, chain.joints[name].q]
            expected = np.array([np.atleast_1d(path(t)[0]) for t in run.t])
            np.testing.assert_allclose(own, expected, atol=1e-15)


@pytest.mark.parametrize("how", ["driven", "locked", "stabilised"])
def test_driven_joints_of_linkages(five_bar, how):
    options = {
        "driven": {"controlled": {"left_drive": lambda t: swing(t, 0.3)}},
        "locked": {"locked": ["left_drive"]},
        "stabilised": {
            "controlled": {"left_drive": lambda t: swing(t, 0.3)},
            "stabilization": (30.0, 20.0),
        },
    }[how]
    as_in_the_textbook(five_bar, alone_and_among_others(five_bar, **options), **options)


@pytest.mark.parametrize("name", ["five_bar", "steering", "caster_table"])
def test_gains_that_hold_loops_closed(name):
    alone_and_among_others(rd.load(name), stabilization=(40.0, 30.0))


@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_constant_wrenches(base):
    robot = rd.load("arm7", base=base)
    options = {"base": circling} if base == "moving" else {}
    wrenches = {"link4": np.arange(6.0), "link7": -0.3 * np.arange(6.0)}
    alone_and_among_others(robot, wrenches=wrenches, **options)


def test_limits_that_are_enforced(arm):
    bound = arm.effort_limits

    def strong(t, q, v):
        return 3.0 * bound * np.cos(400.0 * t + np.arange(7.0)) + 0.0 * v

    run = alone_and_among_others(arm, controller=strong, limits="enforce")
    np.testing.assert_array_equal(np.abs(run.tau).max(axis=0), bound)
    limits = rd.MotorLimits(0.5)
    alone_and_among_others(arm, controller=strong, limits=limits)


# -- time -----------------------------------------------------------------------------------------


def cam(q, t):
    """Along an ellipse that grows, on a table that turns ever faster."""
    angle = 0.7 * q[0] + 0.3 * t * t
    c, s = rd.cos(angle), rd.sin(angle)
    place = 0.4 * rd.cos(q[0] + t), 0.2 * rd.sin(q[0]) * (1.0 + t), 0.1 * q[0] * t * t
    rows = ((c, -s, 0), (s, c, 0), (0, 0, 1))
    return [*([*row, x] for row, x in zip(rows, place, strict=True)), [0, 0, 0, 1]]


def rheonomic(kind):
    if kind == "map":
        mechanism = random_mechanism(np.random.default_rng(1), ["revolute"] * 3, damping=0.2)
        return rd.load(mechanism, joint_maps={"joint1": rd.JointMap(1, cam)})
    law = rd.Constraint("clock", lambda q, t: q[0] - 0.4 * rd.sin(1.5 * t), "left_drive")
    return rd.load("five_bar", constraints=[law])


@pytest.mark.parametrize("gains", [None, (40.0, 30.0)])
@pytest.mark.parametrize("integrator", ["rk4", "heun", "euler"])
@pytest.mark.parametrize("kind", ["map", "constraint"])
def test_robots_that_depend_on_time(kind, integrator, gains):
    robot, options = rheonomic(kind), {"integrator": integrator, "stabilization": gains}
    as_in_the_textbook(robot, alone_and_among_others(robot, **options), **options)


@pytest.mark.parametrize("rows", [2, 3, 16, 2048])
@pytest.mark.parametrize("controller", [None, push])
def test_more_steps_than_tables_hold(monkeypatch, rows, controller):
    """Paths are given to machine code for so many instants at once."""
    monkeypatch.setattr("robodyn.simulation.step.compiled_motion.TABLED", rows)
    robot = rd.load("double_pendulum", base="moving")
    given = {"duration": 0.0505, "step": 1e-3, "integrator": "midpoint"}
    paths = {"shoulder": swing}
    both(lambda: rd.simulate(robot, controller, base=circling, controlled=paths, **given))
    robot = rheonomic("map")
    run = both(lambda: rd.simulate(robot, controller, every=5, **given))
    assert len(run) == 1 + 50 // 5 + 1


def test_more_steps_than_tables_hold_by_themselves(double):
    given = {"duration": 2.1005, "step": 1e-3, "integrator": "euler"}
    assert 2.1005 / 1e-3 > TABLED
    both(lambda: rd.simulate(double, controlled={"shoulder": swing}, every=10, **given))


# -- samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("controller", [None, push])
def test_every_so_many_steps(double, every, controller):
    for steps in (20, 21, 22):
        given = {"duration": steps * 1e-3, "step": 1e-3}
        all_of_them = rd.simulate(double, controller, **given)
        run = both(lambda given=given: rd.simulate(double, controller, every=every, **given))
        kept = sorted({*range(0, steps + 1, every), steps})
        for name in STATES:
            np.testing.assert_array_equal(getattr(run, name), getattr(all_of_them, name)[kept])


@pytest.mark.parametrize("controller", [None, push])
@pytest.mark.parametrize("every", [1, 3])
def test_to_a_folder(tmp_path, monkeypatch, controller, every):
    """Room for a few samples at a time, which is used again and again."""
    monkeypatch.setattr("robodyn.simulation.motion.record.NUMBERS_IN_MEMORY", 200)
    robot = rd.load("double_pendulum")
    q, v = starts(robot, 3)
    given = {"duration": 0.1015, "step": 1e-3, "every": every}
    expected = by_python(lambda: rd.rollout(robot, controller, q, v, **given))
    for n, path in ((3, "many"), (1, "one")):
        to = tmp_path / path
        run = by_machine_code(
            lambda n=n, to=to: rd.rollout(robot, controller, q[:n], v[:n], to=to, **given)
        )
        for name in STATES:
            x, y = np.asarray(getattr(run, name)), getattr(expected, name)
            np.testing.assert_array_equal(x, y[:, :n] if name != "t" else y)


# -- many motions ---------------------------------------------------------------------------------


@contextmanager
def on_threads(n):
    before = rd.get_num_threads()
    rd.set_num_threads(n)
    try:
        yield
    finally:
        rd.set_num_threads(before)


COUNTS = (1, 2, 3, 7, 31, 32, 33, 64, 65, 100)


def shoves(n):
    """Wrenches, other ones for each motion."""
    return np.random.default_rng(5).normal(size=(n, 6))


@pytest.mark.parametrize("name", ["arm7", "four_bar", "prosthesis"])
def test_any_number_of_motions_on_any_number_of_threads(name):
    """With forces, and wrenches of each motion."""
    robot = rd.load(name)
    n, link = max(COUNTS), robot.link_names[-1]
    q, v = starts(robot, n)
    wrenches, given = shoves(n), {"duration": 0.0615, "step": 3e-3}
    expected = [
        rd.simulate(robot, push, q0=q[k], v0=v[k], wrenches={link: wrenches[k]}, **given)
        for k in range(n)
    ]
    for threads in (1, 2):
        for count in COUNTS:
            with on_threads(threads):
                run = by_machine_code(
                    lambda m=count: rd.rollout(
                        robot, push, q[:m], v[:m], wrenches={link: wrenches[:m]}, **given
                    )
                )
            for k in range(count):
                same(run.motion(k), expected[k])


# -- motions that break down ----------------------------------------------------------------------


def broken(run):
    with pytest.raises(rd.SimulationError) as caught:
        run()
    return caught.value


def breaks_down_alike(robot, bad, n=40, controller=None, **options):
    """One motion of many breaks down as it does alone, whatever the threads, and others go on.

    ``bad``: the number of that motion.
    """
    q, v = options.pop("q0"), options.pop("v0")
    alone = {"wrenches": {link: x[bad] for link, x in options.get("wrenches", {}).items()}}
    alone = {**options, **alone}
    one = broken(lambda: rd.simulate(robot, controller, q0=q[bad], v0=v[bad], **alone))
    found = []
    for threads in (1, 2):
        with on_threads(threads):
            found.append(broken(lambda: rd.rollout(robot, controller, q, v, **options)))
    found.append(by_python(lambda: broken(lambda: rd.rollout(robot, controller, q, v, **options))))
    k = len(one.trajectory)
    for error in found:
        assert error.time == one.time
        assert str(error).startswith(f"motion {bad}: {str(one)[:60]}")
        assert f"t = {one.time:.6g} s" in str(error)
        same(error.trajectory.motion(bad)[:k], one.trajectory)
        assert np.isnan(error.trajectory.motion(bad)[k:].q).all()
        same(error.trajectory, found[0].trajectory)
    alone = {"wrenches": {link: x[-1] for link, x in options.get("wrenches", {}).items()}}
    last = rd.simulate(robot, controller, q0=q[-1], v0=v[-1], **{**options, **alone})
    same(found[0].trajectory.motion(n - 1), last)
    assert 3 < k < len(last)
    return one


@pytest.mark.parametrize("bad", [0, 31, 32, 38])
@pytest.mark.parametrize("controller", [None, push])
def test_one_of_many_diverges(arm, bad, controller):
    q, v = starts(arm, 40)
    wrenches = np.zeros((40, 6))
    wrenches[bad] = 3e5
    breaks_down_alike(
        arm, bad, controller=controller, q0=q, v0=v, wrenches={"link7": wrenches},
        duration=0.2, step=2e-3, integrator="euler",
    )  # fmt: skip


def test_the_first_of_several_that_break_down_is_told(arm):
    """In the order of time, not of motions or threads."""
    q, v = starts(arm, 70)
    wrenches = np.zeros((70, 6))
    wrenches[3], wrenches[40], wrenches[66] = 3e4, 3e5, 3e4
    given = {"duration": 0.2, "step": 2e-3, "integrator": "euler"}
    times = [
        broken(
            lambda k=k: rd.simulate(arm, q0=q[k], v0=v[k], wrenches={"link7": wrenches[k]}, **given)
        ).time
        for k in (3, 40, 66)
    ]
    assert times[1] < times[0]
    for threads in (1, 2):
        with on_threads(threads):
            error = broken(
                lambda: rd.rollout(arm, None, q, v, wrenches={"link7": wrenches}, **given)
            )
        assert error.time == times[1]


@pytest.mark.parametrize("bad", [0, 33])
@pytest.mark.parametrize(("gains", "speed"), [(None, 20.0), ((20.0, 20.0), 5.0)])
def test_loops_of_one_of_many_cannot_close(bad, gains, speed):
    """It moves much faster than its steps are made for."""
    robot, rng = rd.load("steering"), np.random.default_rng(1)
    q0, v0 = starts(robot, 40)
    q0[bad] = robot.random(1)
    v0[bad] = robot.consistent_velocity(q0[bad], speed * rng.normal(size=robot.nv))
    error = breaks_down_alike(
        robot, bad, q0=q0, v0=v0, duration=0.4, step=5e-3, integrator="euler", stabilization=gains
    )
    assert "come apart" in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("many", [False, True])
def test_loops_are_closed_until_they_come_apart(many):
    """Also by steps of which machine code gives no corrections.

    The last one may leave what a motion goes on with: it ends beside a singular posture.
    """
    robot, rng = rd.load("delta"), np.random.default_rng(1)
    q = robot.neutral()
    speeds = rng.normal(size=(12, robot.nv))[6:] * np.logspace(-1, 2, 6)[:, None]
    v = np.array([robot.consistent_velocity(q, x) for x in speeds])
    given = {"duration": 0.05, "integrator": "semi_implicit", "limits": "ignore"}
    with pytest.raises(rd.SimulationError) as raised:
        if many:
            rd.rollout(robot, None, np.tile(q, (6, 1)), v, **given)
        else:
            rd.simulate(robot, q0=q, v0=v[-1], **given)
    gaps = raised.value.trajectory.loop_residual.reshape(-1, 6 if many else 1)
    for gap in gaps.T:  # those of motions that broke down are not known from there on
        *before, last = gap[np.isfinite(gap)]
        assert np.max(before) < 1e-12 and last < LOOP_APART


ROWS = ctypes.CFUNCTYPE(
    None, *(ctypes.c_int64,) * 2, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64)
)


class Failing:
    """Dynamics that have no numbers at some speeds, as straight-line code near singular ones."""

    def __init__(self, f, fails):
        self._f, self._fails = f, fails
        self.failed, self._kept = 0, []

    def __getattr__(self, name):
        return getattr(self._f, name)

    def rows_address(self, batch, dtype, **numbers):
        rows = ROWS(self._f.rows_address(batch, dtype, **numbers))
        ports, (nv,) = len(self._f.inputs), self._f.inputs[1].shape
        out = ports  # accelerations

        def failing(begin, end, pointers, strides):
            rows(begin, end, pointers, strides)
            for k in range(begin, end):
                v, a = (
                    np.ctypeslib.as_array(
                        ctypes.cast(
                            pointers[p] + 8 * k * strides[p], ctypes.POINTER(ctypes.c_double)
                        ),
                        (nv,),
                    )
                    for p in (1, out)
                )
                if self._fails(v):
                    a[0] = np.nan
                    self.failed += 1

        self._kept.append(ROWS(failing))
        return ctypes.cast(self._kept[-1], ctypes.c_void_p).value


@pytest.mark.parametrize("controller", [None, push])
@pytest.mark.parametrize("n", [1, 5, 70])
@pytest.mark.parametrize("name", ["arm7", "four_bar"])
def test_steps_that_machine_code_cannot_do(monkeypatch, name, n, controller):
    """Python does them, and the motion goes on as if nothing had been."""
    robot = rd.load(name)
    q, v = starts(robot, n)
    given = {"duration": 0.0415, "step": 1e-3, "every": 2}
    given["wrenches"] = {robot.link_names[-1]: shoves(n)}
    expected = rd.rollout(robot, controller, q, v, **given)
    low, high = np.quantile(expected.v[..., 0], [0.4, 0.6])
    own = functions_that_move(robot, (), (robot.link_names[-1],))
    failing = Failing(own.dynamics, lambda v: low < v[0] < high)

    functions = dataclasses.replace(own, dynamics=failing)
    monkeypatch.setattr(Loads, "functions", property(lambda self: functions))
    done = []
    step = Stepper.step
    monkeypatch.setattr(Stepper, "step", lambda *given: done.append(given[1]) or step(*given))
    for threads in (1, 2):
        failing.failed = 0
        with on_threads(threads):
            same(rd.rollout(robot, controller, q, v, **given), expected)
        assert failing.failed
    assert len(done) > 4
