"""Robots with rows of parameters compute for each row what a copy with that row does."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.bundled import bundled

import robodyn as rd
from robodyn.controllers import ComputedTorque, PointToPoint
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

ROBOTS = {
    "tree": ("arm7", {}),
    "floating": ("pan_tilt", {"base": "floating"}),
    "moving": ("double_pendulum", {"base": "moving"}),
    "linkage": ("four_bar", {}),
    "cut links": ("stephenson", {}),
    "minimal": ("four_bar", {"coordinates": "minimal"}),
    "two loops, minimal": ("palletizer", {"coordinates": "minimal"}),
}

ROWS = 3

#: The same moments about all axes, which products of inertia may not exceed by half.
ROUND = dict.fromkeys(("upper.Ixx", "upper.Iyy", "upper.Izz"), 10.0)


def some_rows(robot, rng):
    """Parameters of a body and of what resists; no two rows are alike."""
    own = dict(zip(robot.dynamic_parameter_names, robot.dynamic_parameters, strict=True))
    scale = rng.uniform(0.8, 1.5, ROWS)
    chosen = robot.body_names[-1] + "."
    found = {name: x * scale for name, x in own.items() if name.startswith(chosen)}
    beside = [x for x in own if x.endswith((".damping", ".friction", "_inertia", ".armature"))]
    return found | {name: rng.uniform(0.1, 0.2, ROWS) for name in beside}


def states(robot, rng):
    q = np.array([robot.random(rng) for _ in range(ROWS)])
    v = rng.normal(size=(ROWS, robot.nv))
    if robot.nc:
        v = robot.consistent_velocity(q, v)
    return q, v, rng.normal(size=(ROWS, robot.nv))


def close(x, y, named=""):
    assert_allclose(x, y, rtol=0.0, atol=1e-11 * max(1.0, np.abs(y).max()), err_msg=named)


@pytest.mark.parametrize("name", ROBOTS)
def test_methods_compute_with_the_parameters_of_each_row(name):
    source, choices = ROBOTS[name]
    rng, robot = np.random.default_rng(1), rd.load(source, **choices)
    robots = robot.with_(parameters=some_rows(robot, rng))
    q, v, tau = states(robot, rng)
    a = robots.forward_dynamics(q, v, tau)
    found = {
        "a": a,
        "tau": robots.inverse_dynamics(q, v, a),
        "M": robots.mass_matrix(q),
        "T": robots.kinetic_energy(q, v),
        "p": robots.passive_forces(q, v),
        "w": robots.joint_wrenches(q, v, a)[robot.joint_names[-1]],
        "of one posture": robots.gravity_forces(q[0]),
        "mass": robots.total_mass,
        "parameters": robots.dynamic_parameters,
    }
    for k in range(ROWS):
        one = robots.of_rows(k)
        state = q[k], v[k], a[k]
        known = {
            "a": one.forward_dynamics(q[k], v[k], tau[k]),
            "tau": one.inverse_dynamics(*state),
            "M": one.mass_matrix(q[k]),
            "T": one.kinetic_energy(q[k], v[k]),
            "p": one.passive_forces(q[k], v[k]),
            "w": one.joint_wrenches(*state)[robot.joint_names[-1]],
            "of one posture": one.gravity_forces(q[0]),
            "mass": one.total_mass,
            "parameters": one.dynamic_parameters,
        }
        for result, x in known.items():
            close(found[result][k], x, result)


def rubbing_pin(coordinates="tree"):
    """A four-bar whose pin that closes the loop has damping."""
    robot = bundled("four_bar")
    joints = robot.mechanism.joints
    cut = {x.name for x in robot.loops}
    joints = tuple(replace(x, damping=0.2) if x.name in cut else x for x in joints)
    return rd.load(replace(robot.mechanism, joints=joints), coordinates=coordinates)


def minimal_pin():
    """The same without constraints."""
    return rubbing_pin("minimal")


def slow_joint():
    """An arm of which one joint has an armature."""
    robot = bundled("double_pendulum")
    elbow = {"elbow": 0.3}
    joints = tuple(replace(x, armature=elbow.get(x.name, 0.0)) for x in robot.mechanism.joints)
    return rd.load(replace(robot.mechanism, joints=joints))


@pytest.mark.parametrize("make", [rubbing_pin, minimal_pin, slow_joint])
def test_each_number_beside_the_bodies_may_differ_alone(make):
    robot = make()
    rng, beside = np.random.default_rng(6), len(robot.inertial_parameters)
    q, v, _ = states(robot, rng)
    plain = robot.mass_matrix(q), robot.passive_forces(q, v)
    for name in robot.dynamic_parameter_names[beside:]:
        robots = robot.with_(parameters={name: [0.31, 0.42, 0.53]})
        found = robots.mass_matrix(q), robots.passive_forces(q, v)
        change = max(np.abs(x - y).max() for x, y in zip(found, plain, strict=True))
        assert change > 1e-3, name
        for k in range(ROWS):
            one = robots.of_rows(k)
            alone = one.mass_matrix(q[k]), one.passive_forces(q[k], v[k])
            for x, y in zip(found, alone, strict=True):
                close(x[k], y, name)


@pytest.mark.parametrize("name", ["tree", "minimal"])
def test_some_of_the_rows_in_any_order(name):
    source, choices = ROBOTS[name]
    rng, robot = np.random.default_rng(7), rd.load(source, **choices)
    robots = robot.with_(parameters=some_rows(robot, rng))
    q, v, tau = states(robot, rng)
    all_rows = robots.forward_dynamics(q, v, tau)
    wrenches = robots.joint_wrenches(q, v, all_rows).values_array if name == "minimal" else None
    for rows in ([2, 0], [1, 1, 1], np.array([True, False, True])):
        some = robots.of_rows(rows)
        found = some.forward_dynamics(q[rows], v[rows], tau[rows])
        assert found.tolist() == all_rows[rows].tolist()
        if wrenches is not None:  # in tree coordinates, of rows of their own
            own = some.joint_wrenches(q[rows], v[rows], found).values_array
            assert own.tolist() == wrenches[rows].tolist()
        assert some.dynamic_parameters.tolist() == robots.dynamic_parameters[rows].tolist()
        for x, y in robots.parameter_rows.items():
            assert some.parameter_rows[x].tolist() == y[rows].tolist()


def test_numbers_that_are_zero_in_some_rows(double):
    """Zero leaves products out where it is that of all; in single precision, too."""
    rows = {"elbow.damping": [0.0, 0.3, 0.0], "shoulder.friction": [0.0, 0.0, 0.2]}
    own = dict(zip(double.parameter_names, double.inertial_parameters, strict=True))
    rows |= {
        f"lower.{x}": own[f"lower.{x}"] * np.array([0.0, 1.0, 0.0]) for x in ("hx", "hy", "hz")
    }
    robots = double.with_(parameters=rows | {"lower.Ixx": 0.5, "lower.Iyy": 0.5, "lower.Izz": 0.5})
    q, v, tau = np.array([[0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])
    a, single = (
        robots.forward_dynamics(q, v, tau),
        robots.forward_dynamics(*np.float32([q, v, tau])),
    )
    assert single.dtype == np.float32
    for k in range(ROWS):
        one = robots.of_rows(k)
        known = type(one)(one.mechanism, one.model.settings).forward_dynamics(q, v, tau)
        close(a[k], known)
        assert_allclose(single[k], known, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["floating", "linkage", "minimal"])
@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
def test_motions_are_those_of_the_robots_alone(name, integrator):
    source, choices = ROBOTS[name]
    rng, robot = np.random.default_rng(2), rd.load(source, **choices)
    rows = some_rows(robot, rng)
    q, v, _ = states(robot, rng)
    options = {"duration": 0.02, "step": 2e-3, "integrator": integrator, "limits": "ignore"}
    run = rd.rollout(robot, None, q, v, parameters=rows, **options)
    for k in range(ROWS):
        own = robot.with_(parameters={x: y[k] for x, y in rows.items()})
        alone = rd.simulate(own, q0=q[k], v0=v[k], **options)
        motion = run.motion(k)
        for part in ("q", "v", "a", "tau", "energy"):
            close(getattr(motion, part), getattr(alone, part), part)
        close(run.energy[:, k], alone.energy)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["floating", "linkage", "minimal"])
def test_a_step_as_a_function_of_parameters(name):
    """As of the robot that has them, and derivatives by them are quotients of differences."""
    source, choices = ROBOTS[name]
    rng, robot = np.random.default_rng(8), rd.load(source, **choices)
    chosen = {"step": 2e-3, "tau": True, "wrenches": [robot.link_names[-1]]}
    f = rd.step_function(robot, parameters=True, **chosen)
    assert [x.name for x in f.inputs[4:]] == ["parameters", f"wrench:{robot.link_names[-1]}"]
    q, v, tau = states(robot, rng)
    wrench = rng.normal(size=6)
    rows = robot.inertial_parameters * rng.uniform(0.8, 1.2, (ROWS, 1))
    found = f(0.0, q, v, tau, rows, wrench)
    for k in range(ROWS):
        own = robot.with_(parameters=dict(zip(robot.parameter_names, rows[k], strict=True)))
        known = rd.step_function(own, **chosen)(0.0, q[k], v[k], tau[k], wrench)
        close(found[0][k], known[0])
        close(found[1][k], known[1])
    change = rng.normal(size=rows.shape[-1]) * robot.inertial_parameters
    slope = f.jacobian("parameters")(0.0, q[0], v[0], tau[0], rows[0], wrench)[1] @ change
    moved = f(0.0, q[0], v[0], tau[0], rows[0] + [[1e-4], [-1e-4]] * change, wrench)[1]
    assert np.abs(slope).max() > 1e-4
    # quotients are wrong by the square of the change
    assert_allclose((moved[0] - moved[1]) / 2e-4, slope, rtol=0.0, atol=1e-6 * np.abs(slope).max())


def test_gradients_by_parameters_are_differences_of_rows():
    rng, robot = np.random.default_rng(4), bundled("double_pendulum")
    change = 1e-4
    own = dict(zip(robot.parameter_names, robot.inertial_parameters, strict=True))
    direction = {name: x for name, x in own.items() if name.startswith("lower.")}
    steps = change * np.array([0.0, 1.0, -1.0, 2.0, -2.0])
    rows = {x: own[x] + y * steps for x, y in direction.items()}
    run = rd.simulate(robot, q0=robot.random(3), duration=0.05, parameters=rows, limits="ignore")
    weights = np.zeros(run.v.shape)
    weights[-1] = w = rng.normal(size=robot.nv)
    found = rd.trajectory_gradient(run, v=weights, parameters=True).parameters
    assert found.shape == (len(steps), len(own))
    value = run.v[-1] @ w
    slope = (8.0 * (value[1] - value[2]) - (value[3] - value[4])) / (12.0 * change)
    along = [direction.get(x, 0.0) for x in own]
    assert abs(slope) > 1e-3
    assert_allclose(found[0] @ along, slope, rtol=1e-6)
    alone = rd.trajectory_gradient(run.motion(3), v=weights[:, 3], parameters=True)
    close(found[3], alone.parameters)


def test_events_and_controllers_see_the_robot_of_their_motion(double):
    rows = {"upper.m": [3.0, 1.0], "elbow.damping": 0.1}
    masses = []

    def seen(state):
        masses.append(state)
        return rd.events.Change()

    end = rd.Event(lambda t, q, v: q[0] - 0.02, then=seen)

    def law(t, q, v):
        return np.array([20.0, 0.0]) + 0.0 * v

    run = rd.simulate(double, law, duration=0.2, parameters=rows, events=[end], limits="ignore")
    assert [x.robot.total_mass for x in masses] == pytest.approx(
        [run.motion(k).robot.total_mass for k in range(2)]
    )
    assert masses[0].robot.total_mass - masses[1].robot.total_mass == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("given", "error", "named"),
    [
        ({"upper.m": [1.0, -1.0]}, rd.InertiaError, r"parameters\['upper.m'\] .* row 1: mass -1"),
        ({"upper.Izz": [0.1, 9.0]}, rd.InertiaError, r"parameters\['upper.Izz'\] .* row 1"),
        ({"upper.hx": [0.0, 1e4]}, rd.InertiaError, r"row 1: principal moments"),
        ({"upper.Izz": [0.1, 0.8]}, rd.InertiaError, r"row 1: principal moments"),
        *(
            ({**ROUND, f"upper.{x}": [0.0, 6.0]}, rd.InertiaError, r"row 1: principal moments")
            for x in ("Ixy", "Ixz", "Iyz")
        ),
        ({"upper.m": [1.0, np.nan]}, rd.ShapeError, r"\[1\] is nan"),
        ({"elbow.damping": [0.1, -0.1]}, rd.SettingsError, "-0.1 in row 1"),
        ({"uper.m": [1.0, 2.0]}, rd.UnknownNameError, "upper.m"),
        ({"upper.m": [1.0, 2.0], "lower.m": [1.0]}, rd.ShapeError, r"\(2,\)"),
        ({"upper.m": []}, rd.ShapeError, r"\(0,\)"),
        ({"upper.m": [[1.0]]}, rd.ShapeError, r"\(1, 1\)"),
    ],
)
def test_a_row_that_cannot_be_is_refused_by_name(double, given, error, named):
    for call in (double.with_, lambda **x: rd.simulate(double, **x)):
        with pytest.raises(error, match=named):
            call(parameters=given)


def test_rows_without_mass_are_refused(double):
    own = dict(zip(double.parameter_names, double.inertial_parameters, strict=True))
    vanishing = {x: y * np.array([1.0, 0.0]) for x, y in own.items() if x.startswith("lower.")}
    with pytest.raises(rd.InertiaError, match=r"row 1 .*elbow"):
        double.with_(parameters=vanishing)


def test_a_row_that_moves_no_mass_in_its_posture_is_told():
    point = Inertia(1.0, Pose((1.0, 0.0, 0.0)))  # above the first axis where the other hinge is up
    links = Link("base"), Link("one"), Link("two", point)
    turn = Joint("turn", "continuous", "base", "one", axis=(0.0, 0.0, 1.0))
    lift = Joint("lift", "continuous", "one", "two", axis=(0.0, 1.0, 0.0))
    robot = rd.load(Mechanism("crane", links, (turn, lift)))
    own = dict(zip(robot.parameter_names, robot.inertial_parameters, strict=True))
    mass = np.arange(1.0, 4.0)
    robots = robot.with_(parameters={x: y * mass for x, y in own.items() if x.startswith("two.")})
    q, v = np.array([[0.0, 0.3], [0.0, -np.pi / 2], [0.0, 0.5]]), np.zeros((3, 2))
    for _ in range(2):
        with pytest.raises(rd.SingularError, match=r"joints turn .* in states 1 of the batch"):
            robots.forward_dynamics(q, v, v + 1.0)
        with pytest.raises(
            rd.SingularError, match=r"joints turn .* in states 1, 4, .* of the batch"
        ):
            robots.forward_dynamics(*np.broadcast_arrays([q] * 4, v, v + 1.0))
        M = robots.mass_matrix(q)
        close(M[:, 0, 0], mass * np.cos(q[:, 1]) ** 2)
        close(M[:, 1, 1], mass)


def test_what_rows_cannot_do_is_refused(double):
    robots = double.with_(parameters={"upper.m": [1.0, 2.0]})
    link, q = double.link_names[-1], np.zeros(2)
    calls = {
        "with_": lambda: robots.with_(gravity=(0, 0, 0)),
        "rows of parameters are given alone": lambda: double.with_(
            parameters={"upper.m": [1.0, 2.0]}, gravity=(0, 0, 0)
        ),
        "apparent_mass": lambda: robots.apparent_mass(q, link, (0, 0, 0), (1, 0, 0)),
        "impact_dynamics": lambda: robots.impact_dynamics,
        "no program in common": lambda: robots.function("mass_matrix").c_source(),
    }
    for named, call in calls.items():
        with pytest.raises(rd.SettingsError, match=named):
            call()
    with pytest.raises(rd.ShapeError, match="3 states, and parameters 2 rows"):
        rd.rollout(robots, None, np.zeros((3, 2)), np.zeros((3, 2)))
    for rows in (2, [0, 2], [], [False, False]):
        with pytest.raises(rd.ShapeError, match="no row"):
            robots.of_rows(rows)
    with pytest.raises(rd.ShapeError, match="broadcast"):
        robots.mass_matrix(np.zeros((3, 2)))


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_environments_with_masses_of_their_own_and_resets_are_those_alone(coordinates):
    """Four-bars under computed torque; after each step some begin anew, with other masses."""
    rng, robot = np.random.default_rng(9), rd.load("four_bar", coordinates=coordinates)
    count, steps, h = 64, 5, 5e-3
    goal = robot.random(3)
    controller = ComputedTorque(robot, PointToPoint(goal, goal, 1.0))
    f = rd.step_function(robot, controller, step=h, parameters=True)

    def begin(some):
        masses[some] = robot.inertial_parameters * rng.uniform(0.8, 1.2, (len(some), 1))
        q[some] = robot.random(rng, len(some))
        v[some] = rng.normal(size=(len(some), robot.nv))
        if robot.nc:
            v[some] = robot.consistent_velocity(q[some], v[some])

    masses = np.empty((count, len(robot.inertial_parameters)))
    q, v = np.empty((count, robot.nq)), np.empty((count, robot.nv))
    begin(np.arange(count))
    for _ in range(steps):
        before = q.copy(), v.copy()
        q, v = f(0.0, *before, masses)
        r = rng.integers(count)
        alone = f(0.0, *(x[r] for x in before), masses[r])
        assert [x.tolist() for x in alone] == [q[r].tolist(), v[r].tolist()]
        own = robot.with_(parameters=dict(zip(robot.parameter_names, masses[r], strict=True)))
        known = rd.step_function(own, controller, step=h)(0.0, *(x[r] for x in before))
        close(q[r], known[0])
        close(v[r], known[1])
        some = [r, *rng.choice(count, 7, replace=False)]
        rows = dict(zip(robot.parameter_names, masses[some].T, strict=True))
        options = {"duration": h, "step": h, "limits": "ignore"}
        run = rd.rollout(robot, controller, *(x[some] for x in before), parameters=rows, **options)
        one = rd.simulate(own, controller, q0=before[0][r], v0=before[1][r], **options)
        close(run.q[:, 0], one.q)
        close(run.v[:, 0], one.v)
        begin(rng.choice(count, 5, replace=False))
