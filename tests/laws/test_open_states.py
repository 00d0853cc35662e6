"""No number for a posture whose loops are open, nor for speeds that open them."""

import functools
import pickle
import re

import numpy as np
import pytest
from support.closed_cases import CLOSED

import robodyn as rd
from robodyn import urdf


@functools.cache
def robot_of(name, **options):
    return rd.load(name, **options)


def zeros(q, robot):
    return np.zeros((*np.shape(q)[:-1], robot.nv))


def wrench(robot):
    return {"wrenches": {robot.link_names[-1]: np.arange(6.0)}}


#: Methods that need a closed state, of ``robot, q, v``.
METHODS = {
    "inverse": lambda r, q, v: r.inverse_dynamics(q, v, zeros(q, r)),
    "inverse, into": lambda r, q, v: r.inverse_dynamics(q, v, zeros(q, r), out=zeros(q, r)),
    "inverse, loaded": lambda r, q, v: r.inverse_dynamics(q, v, zeros(q, r), **wrench(r)),
    "inverse, all motors": lambda r, q, v: r.inverse_dynamics(
        q, v, zeros(q, r), actuated=r.joint_names
    ),
    "forward": lambda r, q, v: r.forward_dynamics(q, v, zeros(q, r)),
    "forward, into": lambda r, q, v: r.forward_dynamics(q, v, zeros(q, r), out=zeros(q, r)),
    "forward, loaded": lambda r, q, v: r.forward_dynamics(q, v, zeros(q, r), **wrench(r)),
    "hybrid": lambda r, q, v: r.hybrid_dynamics(q, v, controlled={r.actuated_joints[0]: 0.5}),
    "constrained": lambda r, q, v: r.constrained_dynamics(q, v, zeros(q, r)),
    "wrenches": lambda r, q, v: r.joint_wrenches(q, v, zeros(q, r)),
    "wrenches, of forces": lambda r, q, v: r.joint_wrenches(q, v),
    "motor torques": lambda r, q, v: r.motor_torques(q, v, zeros(q, r)),
    "motor power": lambda r, q, v: r.motor_power(q, v, zeros(q, r)),
    "impact": lambda r, q, v: r.impact(q, v, r.link_names[-1], np.zeros(3), None),
    "latch": lambda r, q, v: r.latch(q, v, r.actuated_joints[:1]),
    "acceleration": lambda r, q, v: r.consistent_acceleration(q, v, zeros(q, r)),
    "linear model": lambda r, q, v: r.linearize(q, v, zeros(q, r)),
}


def closed_state(robot, seed=0, count=None):
    rng = np.random.default_rng(seed)
    q = robot.random(rng) if count is None else np.array([robot.random(rng) for _ in range(count)])
    v = rng.normal(size=(*q.shape[:-1], robot.nv))
    return q, robot.consistent_velocity(q, v)


@pytest.mark.parametrize("name", CLOSED)
def test_open_postures_and_speeds_are_refused(name):
    robot = robot_of(name)
    q, v = closed_state(robot)
    rng = np.random.default_rng(1)
    apart = robot.integrate(q, 0.1 * rng.normal(size=robot.nv))
    wild = rng.normal(size=robot.nv)
    loops = {loop.rpartition("[")[0] for loop in robot.constraint_names}
    for ask in METHODS.values():
        ask(robot, q, zeros(q, robot))  # further calls go to machine code
        for _ in range(2):
            with pytest.raises(rd.InconsistentStateError, match="are open") as caught:
                ask(robot, apart, zeros(apart, robot))
            found = caught.value
            np.testing.assert_allclose(found.residual, robot.loop_residual(apart))
            np.testing.assert_array_equal(found.q, apart)
            assert found.loops and {*found.loops} <= loops and found.rows == ()
            assert all(repr(loop) in str(found) for loop in found.loops[:1])
            with pytest.raises(rd.InconsistentStateError, match="speeds open") as caught:
                ask(robot, q, wild)
            np.testing.assert_allclose(caught.value.rate, robot.loop_jacobian(q) @ wild, atol=1e-9)
            assert caught.value.loops
    with pytest.raises(rd.InconsistentStateError, match="are open"):
        robot.consistent_velocity(apart, v)


@pytest.mark.parametrize("name", CLOSED)
def test_closed_states_give_what_functions_give(name):
    """Functions do not look; nor do they change."""
    robot = robot_of(name)
    q, v = closed_state(robot, 2, 3)
    tau = np.random.default_rng(3).normal(size=v.shape)
    a = robot.forward_dynamics(q, v, tau)
    expected = robot.function("forward_dynamics")(q, v, tau)
    np.testing.assert_allclose(a, expected, rtol=1e-12, atol=1e-12 * np.abs(a).max())
    one = robot.forward_dynamics(q[0], v[0], tau[0])
    np.testing.assert_allclose(one, expected[0], rtol=1e-9, atol=1e-9 * np.abs(a).max())
    apart = robot.integrate(q, np.full(robot.nv, 0.1))
    assert np.isfinite(robot.function("forward_dynamics")(apart, v, tau)).all()


@pytest.mark.parametrize("base", ["floating", "moving"])
def test_on_a_base_that_moves(base):
    robot = rd.load("five_bar", base=base)
    q, v = closed_state(robot)
    a = robot.forward_dynamics(q, v, zeros(q, robot))
    back = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(back, 0.0, atol=1e-8)
    fast = v.copy()
    fast[:6] *= 1e6 if base == "floating" else 1.0  # how fast the base is does not count
    assert np.isfinite(robot.forward_dynamics(q, fast, zeros(q, robot))).all()
    fast[-1] += 1e-3
    for ask in METHODS.values():
        with pytest.raises(rd.InconsistentStateError):
            ask(robot, q, fast)


def test_an_angle_that_a_closed_posture_does_not_have():
    """What it is about: the number of an open tree, which was given for the four-bar."""
    robot = robot_of("four_bar")
    [gap] = robot.loop_gaps([0.5, 0.0, 0.0])
    told = rf"'rocker_pin' by {gap.distance:.3g} m; assemble"
    with pytest.raises(rd.InconsistentStateError, match=told):
        robot.inverse_dynamics([0.5, 0.0, 0.0], np.zeros(3), np.zeros(3))
    q = robot.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
    assert robot.inverse_dynamics(q, np.zeros(3), np.zeros(3))[0] == pytest.approx(-0.759, abs=1e-3)


def test_half_a_turn_off_is_open():
    """Rows of a weld vanish there; the loop is not closed."""
    weld = rd.Loop("weld", "fixed", "one", "other")
    hinge = (
        '<joint name="to_{0}" type="continuous"><parent link="base"/><child link="{0}"/>'
        '<axis xyz="0 0 1"/></joint><link name="{0}"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    hinges = hinge.format("one") + hinge.format("other")
    robot = rd.load(f'<robot name="welded"><link name="base"/>{hinges}</robot>', loops=[weld])
    still = np.zeros(2)
    assert np.isfinite(robot.forward_dynamics([0.4, 0.4], still, still)).all()
    for _ in range(2):
        with pytest.raises(rd.InconsistentStateError, match="'weld'"):
            robot.forward_dynamics([0.4, 0.4 + np.pi], still, still)


@pytest.mark.parametrize("name", CLOSED)
def test_what_robots_make_themselves_is_closed_enough(name):
    """Random, neutral and assembled postures, fast ones, and samples of a simulation."""
    robot = robot_of(name)
    q, v = closed_state(robot, 4)
    for speeds in (v, 1e6 * v, 1e-9 * v):
        assert np.isfinite(robot.forward_dynamics(q, speeds, zeros(q, robot))).all()
    neutral = robot.neutral()
    assert np.isfinite(
        robot.forward_dynamics(neutral, zeros(neutral, robot), zeros(q, robot))
    ).all()
    run = rd.simulate(robot, q0=q, v0=v, duration=0.02, step=2e-3, limits="ignore")
    robot.forward_dynamics(run.q, run.v, run.tau)
    single = [x.astype(np.float32) for x in (q, v, zeros(q, robot))]
    assert robot.forward_dynamics(*single).dtype == np.float32


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "stewart"])
def test_inverse_dynamics_in_single_precision(name):
    """Rounding opens no loops: neither the function nor the method finds so."""
    robot = robot_of(name)
    q, v = closed_state(robot, 5, 20)
    a = robot.forward_dynamics(q, v, zeros(q, robot))
    single = [x.astype(np.float32) for x in (q, v, a)]
    expected = robot.inverse_dynamics(q, v, a)
    for ask in (robot.function("inverse_dynamics"), robot.inverse_dynamics):
        np.testing.assert_allclose(ask(*single), expected, atol=1e-3 * (1.0 + np.abs(a).max()))


def test_the_tolerance():
    """Of the longest link, 0.4 m here; an argument of `load` that copies and pickles keep."""
    robot = robot_of("four_bar")
    q, still = robot.neutral(), np.zeros(3)
    off = np.array([1.0, 0.0, 0.0])
    assert np.isfinite(robot.forward_dynamics(q + 1e-7 * off, still, still)).all()
    for size in (1e-5, 1e-3):
        with pytest.raises(rd.InconsistentStateError, match="closure_tolerance is 1e-06"):
            robot.forward_dynamics(q + size * off, still, still)
    loose = rd.load("four_bar", closure_tolerance=1e-4)
    loose = pickle.loads(pickle.dumps(loose.with_(gravity=(0.0, 0.0, -1.62))))
    assert np.isfinite(loose.forward_dynamics(q + 1e-5 * off, still, still)).all()
    with pytest.raises(rd.InconsistentStateError, match=r"closure_tolerance is 0\.0001"):
        loose.forward_dynamics(q + 1e-3 * off, still, still)
    single = (q + 1e-3 * off).astype(np.float32), *np.zeros((2, 3), np.float32)
    with pytest.raises(rd.InconsistentStateError, match=r"0\.0001 in single"):
        robot.forward_dynamics(*single)
    for wrong in (0.0, -1e-6, 2.0, np.nan):
        with pytest.raises((rd.SettingsError, rd.ShapeError), match="closure_tolerance"):
            rd.load("four_bar", closure_tolerance=wrong)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_lengths_are_compared_with_the_longest_link(scale):
    """A linkage of millimetres is as open, or closed, as one of kilometres of the same shape."""
    text = urdf.write(urdf.load_mechanism("four_bar"))
    robot = rd.load(_scaled(text, scale))
    q, still, off = robot.neutral(), np.zeros(3), np.array([1.0, 0.0, 0.0])
    robot.inverse_dynamics(q + 1e-7 * off, still, robot.consistent_acceleration(q, still, still))
    with pytest.raises(rd.InconsistentStateError):
        robot.forward_dynamics(q + 1e-5 * off, still, still)


def _scaled(text, scale):
    def larger(found):
        return 'xyz="' + " ".join(str(float(x) * scale) for x in found[1].split()) + '"'

    lines = [
        re.sub(r'xyz="([^"]*)"', larger, line) if "<origin" in line else line
        for line in text.splitlines()
    ]
    return "\n".join(lines)


def test_stabilised_constraints_may_be_open():
    """What stabilisation is for: it drives the gaps to zero."""
    robot = robot_of("four_bar")
    q = np.array([0.01, 0.0, 0.0])
    v = tau = np.zeros(3)
    for ask in (robot.forward_dynamics, robot.constrained_dynamics):
        a = ask(q, v, tau, stabilization=(10.0, 10.0))
        a = getattr(a, "a", a)
        K, gap = robot.loop_jacobian(q), robot.loop_residual(q)
        np.testing.assert_allclose(K @ a + robot.loop_bias(q, v), -100.0 * gap, atol=1e-9)


def test_a_constraint_of_the_user():
    """The blade of a skate does not slip sideways."""
    skate = rd.Constraint(
        "blade",
        lambda q, v: v[1] * rd.cos(q[2]) - v[0] * rd.sin(q[2]),
        ("x", "y", "turn"),
        "nonholonomic",
    )
    slide = (
        '<joint name="{0}" type="{2}"><parent link="{1}"/><child link="{0}_link"/>'
        '<axis xyz="{3}"/></joint><link name="{0}_link"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    parts = [
        slide.format("x", "base", "prismatic", "1 0 0"),
        slide.format("y", "x_link", "prismatic", "0 1 0"),
        slide.format("turn", "y_link", "continuous", "0 0 1"),
    ]
    text = f'<robot name="skate"><link name="base"/>{"".join(parts)}</robot>'.replace(
        'type="prismatic">',
        'type="prismatic"><limit lower="-9" upper="9" effort="1" velocity="1"/>',
    )
    robot = rd.load(text, constraints=[skate])
    q, along = [0.0, 0.0, 0.5], [np.cos(0.5), np.sin(0.5), 0.3]
    assert np.isfinite(robot.forward_dynamics(q, along, np.zeros(3))).all()
    with pytest.raises(rd.InconsistentStateError, match="'blade'") as caught:
        robot.forward_dynamics(q, [1.0, 0.0, 0.0], np.zeros(3))
    assert caught.value.loops == ("blade",)


def test_numbers_that_are_none_are_not_open_loops():
    robot = robot_of("four_bar")
    q, still = robot.neutral(), np.zeros(3)
    for state in ((q * np.nan, still), (q, still + np.inf)):
        for ask in METHODS.values():
            with pytest.raises(rd.ShapeError, match="not finite"):
                ask(robot, *state)


def test_minimal_coordinates_are_always_closed():
    robot = rd.load("four_bar", coordinates="minimal")
    assert np.isfinite(robot.inverse_dynamics([0.5], [1.0], [0.0])).all()
    q, v = robot.expand([0.5]), robot.expand_velocity([0.5], [1.0])
    assert np.isfinite(robot.tree_form.forward_dynamics(q, v, np.zeros(3))).all()


# -- the start of a motion ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four_bar", "stewart", "five_bar"])
def test_no_motion_starts_with_speeds_that_open_loops(name):
    """The error has the nearest speeds that do not; they, and what rounding leaves, are fine."""
    robot = robot_of(name)
    q = robot.neutral()
    v = np.random.default_rng(0).normal(size=robot.nv)
    fits = robot.consistent_velocity(q, v)
    given = {"q0": q, "duration": 3e-3, "limits": "ignore"}
    for scale in (1.0, 1e-3):
        with pytest.raises(
            rd.InconsistentStateError, match="the nearest speeds that fit"
        ) as caught:
            rd.simulate(robot, v0=scale * v, **given)
        np.testing.assert_allclose(caught.value.v, scale * fits, atol=1e-9 * scale)
        assert np.abs(caught.value.rate).max() > 1e-6
        nearest = rd.simulate(robot, v0=caught.value.v, **given)
        np.testing.assert_allclose(nearest.v[0], scale * fits, atol=1e-9 * scale)
    for events in ((), [lambda t, q, v: 1.0]):
        with pytest.raises(rd.InconsistentStateError, match="at the start"):
            rd.simulate(robot, v0=v, events=events, **given)
        almost = fits + 1e-9 * v
        run = rd.simulate(robot, v0=almost, events=events, **given)
        np.testing.assert_allclose(run.v[0], fits, atol=1e-7)


def test_a_small_gap_at_the_start_explains_speeds_that_fit_it():
    """A state from a file with few digits: speeds fit the posture as it is given."""
    robot = robot_of("four_bar")
    q = robot.random(3)
    v = robot.consistent_velocity(q, [1.0, 0.0, 0.0])
    assert np.abs(robot.loop_residual(q.round(4))).max() > 1e-6
    run = rd.simulate(robot, q0=q.round(4), v0=v.round(4), duration=2e-3)
    np.testing.assert_allclose(run.v[0], v, atol=2e-3)


def test_where_joints_are_driven_speeds_follow_them():
    robot = robot_of("four_bar")

    def turn(t):
        return 1.0 * t, 1.0, 0.0

    run = rd.simulate(robot, controlled={"crank_drive": turn}, duration=2e-3)
    assert run.v[0, 0] == 1.0
    assert np.abs(robot.loop_jacobian(run.q[0]) @ run.v[0]).max() < 1e-12
