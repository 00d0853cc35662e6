"""Copies with other numbers share the code of their shape, and compute what a loaded robot does."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose
from robodyn.symbolic.evaluate import evaluate

#: A load without symmetry.
LOAD = Inertia(1.3, Pose((0.02, 0.05, -0.1)), 0.01, 0.001, 0.002, 0.02, 0.003, 0.015)

ROBOTS = {
    "minimal": ("four_bar", {"coordinates": "minimal"}),
    "floating": ("pan_tilt", {"base": "floating"}),
    "moving": ("double_pendulum", {"base": "moving"}),
    "linkage": ("four_bar", {}),
    "tree": ("double_pendulum", {}),
    "cut links": ("stephenson", {}),
}


def loaded(copy):
    """The robot that a file with these numbers would give, with the numbers in its code."""
    return type(copy)(copy.mechanism, copy.model.settings)


def results(robot, rng):
    """Of a state that is the same for robots of one geometry."""
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    tau = rng.normal(size=robot.nv)
    if robot.nc:
        v = robot.consistent_velocity(q, v)
    a = robot.forward_dynamics(q, v, tau)
    found = {
        "a": a,
        "tau": robot.inverse_dynamics(q, v, a),
        "g": robot.gravity_forces(q),
    }
    if robot.dependent_joints:  # of the tree form, which is another copy
        found["w"] = robot.joint_wrenches(q, v, a).values_array
    return found


def assert_alike(copy, seed):
    known = results(loaded(copy), np.random.default_rng(seed))
    for name, x in results(copy, np.random.default_rng(seed)).items():
        size = max(1.0, np.abs(known[name]).max())
        assert_allclose(x, known[name], rtol=0.0, atol=1e-12 * size, err_msg=name)


@pytest.mark.parametrize("name", ROBOTS)
def test_they_compute_what_a_loaded_robot_does(name):
    source, choices = ROBOTS[name]
    robot = rd.load(source, **choices)
    link = robot.link_names[-1]
    resisting = [x for x in robot.dynamic_parameter_names if x.endswith((".damping", ".friction"))]
    copy = robot.with_(
        payload={link: LOAD},
        parameters=dict.fromkeys(resisting, 0.2),
        gravity=(0.3, 0.2, -9.0),
        friction_speed=0.02,
    )
    assert_alike(copy, 1)
    heavier = copy.with_(payload={link: LOAD})  # a copy of a copy
    assert_alike(heavier, 2)
    assert heavier.total_mass == pytest.approx(robot.total_mass + 2 * LOAD.mass)


def plane(robot, **choices):
    """Soft ground, into which the last link dips at many postures."""
    points = {
        "tip": (robot.link_names[-1], (0.0, 0.03, 0.1)),
        "root": (robot.link_names[1], (0.1, 0, 0)),
    }
    return rd.Ground(points, stiffness=choices.pop("stiffness", 300.0), **choices)


@pytest.mark.parametrize("name", [x for x in ROBOTS if x != "minimal"])
def test_ground_and_stops_are_numbers(name):
    source, choices = ROBOTS[name]
    robot = rd.load(source, **choices)
    rubbing = plane(robot, normal=(0.1, 0.2, 1.0), height=0.1, damping=0.3, friction=0.4)
    copies = [
        robot.with_(ground=plane(robot, height=0.2)),
        robot.with_(
            ground=(rubbing, rd.Ground({"other": (robot.link_names[-1], (0.0, 0.2, 0.0))}))
        ),
        robot.with_(ground=rubbing, gravity=(0.0, 0.0, -1.0)).with_(ground=()),
    ]
    if robot.with_(stops=rd.CompliantStops(50.0)).mechanism != robot.mechanism:
        copies.append(robot.with_(stops=rd.CompliantStops(50.0, damping=0.1), ground=rubbing))
    rng = np.random.default_rng(3)
    for copy in copies:
        assert copy._made.programs is robot._made.programs
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        assert_same_equations(copy, "bias_forces", q, v)


def assert_same_equations(copy, name, *arrays):
    """That programs of a copy and of a robot with its numbers give the same."""
    f = copy.function(name)
    given = [*arrays, np.eye(4), *np.zeros((2, 6))][: len(f.inputs)]
    programs = f.program, loaded(copy).function(name).program
    for a, b in zip(*(evaluate(x, *given) for x in programs), strict=True):
        assert np.isfinite(b).all()
        assert_allclose(a, b, rtol=1e-11, atol=1e-11, err_msg=name)


def random_motor(rng, ratios):
    """On the base, a link or where motors are by default."""
    axis, place = rng.normal(size=3).tolist(), (None, "base", "upper")[rng.integers(0, 3)]
    return rd.Actuator(
        float(rng.choice([*ratios, -rng.uniform(2.0, 9.0), rng.uniform(2.0, 9.0)])),
        float(rng.choice([0.0, 0.02, 0.05])),
        axis if place else (None, axis)[rng.integers(0, 2)],
        place,
        *(rng.integers(0, 2, 2) * 0.02).tolist(),
        torque_limit=3.0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("coupled", [False, True])
def test_motors_are_numbers_but_for_where_they_are(coupled):
    rng = np.random.default_rng(11)
    names = "shoulder", "elbow"
    belts = [rd.Transmission.belts("belts", names)] if coupled else []
    motors = dict.fromkeys(names, rd.Actuator(3.0, 0.01))
    robot = rd.load("double_pendulum", actuators=motors, transmissions=belts)
    ratios = (1.0,) if coupled else (0.0, 1.0)
    for _ in range(12):
        copy = robot.with_(actuators={str(rng.choice(names)): random_motor(rng, ratios)})
        copy = copy.with_(actuators={str(rng.choice(names)): random_motor(rng, ratios)})
        assert copy._made.programs is robot._made.programs
        q, v, a = rng.normal(size=(3, 2))
        for name in ("forward_dynamics", "kinetic_energy", "dynamic_regressor"):
            assert_same_equations(copy, name, *(q, v, a)[: 2 if "energy" in name else 3])
        known = loaded(copy)
        assert_array_equal(copy.gear_ratios, known.gear_ratios)
        assert_array_equal(copy.motor_torque_limits, known.motor_torque_limits)
        if copy.gear_ratios.all():
            found, expected = (x.motor_torques(q, v, a) for x in (copy, known))
            assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("gear", [7.0, -7.0])
def test_friction_that_is_set_is_that_of_joint_and_motor_together(gear):
    """Where it is less than that of the motor alone, this gives way."""
    motor = rd.Actuator(gear, 0.01, viscous=0.01, coulomb=0.02)
    robot = rd.load("double_pendulum", actuators={"elbow": motor})
    for total in (5.0, 0.05):
        given = {"elbow.damping": total, "elbow.friction": 0.9 * total}
        copy = robot.with_(parameters=given)
        found = dict(zip(copy.dynamic_parameter_names, copy.dynamic_parameters, strict=True))
        assert {name: found[name] for name in given} == pytest.approx(given)
        force = copy.passive_forces([0.0, 0.0], [0.0, 100.0])[1]
        assert force == pytest.approx(-100.9 * total, rel=1e-6)


def test_motors_and_springs_that_change_the_shape():
    pendulum = rd.load("double_pendulum")
    driven = pendulum.with_(actuators={"elbow": rd.Actuator(4.0, 1e-3)})
    assert driven.actuated_joints == ("elbow",) and driven.dynamic_parameters.size > 20
    linkage = rd.load("four_bar")
    (cut,) = (name for name, joint in linkage.joints.items() if joint.cut)
    assert not linkage.with_(springs={cut: (2.0, 0.1)}).joints[cut].cut
    assert linkage.with_(springs={"crank_pin": (2.0, 0.1)})._made.programs is linkage._made.programs
    with pytest.raises(rd.SettingsError, match=r"'elbow.damping'.* and actuators.'elbow'"):
        driven.with_(actuators={"elbow": rd.Actuator()}, parameters={"elbow.damping": 1.0})
    with pytest.raises(rd.SettingsError, match="rows of parameters"):
        driven.with_(actuators={"elbow": rd.Actuator()}, parameters={"lower.m": [1.0, 2.0]})
    with pytest.raises(rd.UnknownNameError, match="elbow"):
        driven.with_(actuators={"elbo": rd.Actuator()})


def random_load(rng):
    """Of any shape: a point in the origin, on an axis, a symmetric body, any."""
    m = rng.uniform(0.1, 3.0)
    d = rng.normal(size=3) * 0.1 * rng.integers(0, 2, size=3)
    J = np.diag(rng.choice([0.0, 0.01, 0.02]) + np.array([0.01, 0.01, 0.01]) * rng.integers(0, 2))
    if rng.integers(0, 2):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J = R @ np.diag([0.02, 0.025, 0.03]) @ R.T
    return Inertia.from_matrix(m, d, J)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_copy_without_a_change_is_the_robot_itself(name):
    source, choices = ROBOTS[name]
    robot = rd.load(source, **choices)
    assert robot.with_() is robot
    assert robot.with_(payload={}, locked={}, parameters={}, springs=(), sensors=None) is robot
    settings = robot.model.settings
    assert robot.with_(gravity=np.array(robot.gravity), base=settings.base) is robot
    assert robot.with_(coordinates=settings.coordinates, friction_speed=0.01) is robot
    copy = robot.with_(gravity=(0.0, 1.0, -2.0))
    assert copy is not robot and copy.with_(gravity=(0.0, 1.0, -2.0)) is copy
    with pytest.raises(rd.SettingsError, match="gravity"):
        robot.with_(gravity=(0.0, 1.0, np.inf))


def test_no_code_serves_a_robot_of_another_shape(double):
    rng = np.random.default_rng(7)
    links = "upper", "lower"
    copies = []
    for _ in range(20):
        emptied = {}
        link = str(rng.choice(links))
        if rng.integers(0, 3) == 0:  # a symmetric body, or a point
            names = ("hx", "hy", "hz", "Ixy", "Ixz", "Iyz")
            emptied = {f"{link}.{x}": 0.0 for x in names} | {
                f"{link}.{x}": 0.02 for x in ("m", "Ixx", "Iyy", "Izz")
            }
        gravity = rng.normal(size=3) * rng.integers(0, 2, size=3)
        loads = {str(rng.choice(links)): random_load(rng)}
        copies.append(double.with_(payload=loads, parameters=emptied, gravity=gravity.tolist()))
    for k in rng.permutation(len(copies)):
        q, v, tau = rng.normal(size=(3, double.nv))
        for name, arrays in (("forward_dynamics", (q, v, tau)), ("potential_energy", (q,))):
            programs = (x.function(name).program for x in (copies[k], loaded(copies[k])))
            (a,), (b,) = (evaluate(program, *arrays) for program in programs)
            assert_allclose(a, b, rtol=1e-11, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("what", ["rotors", "place", "exponent"])
def test_code_of_as_many_numbers_elsewhere_is_other_code(what):
    """No number is zero in one copy that is not in the other."""
    motors = {name: rd.Actuator(5.0, 1e-3) for name in ("shoulder", "elbow")}
    robot = rd.load("double_pendulum", actuators=motors)

    def ground(link="upper", exponent=1.0):
        point = {"point": (link, (0.1, 0.2, 0.3))}
        return {"ground": rd.Ground(point, height=2.0, stiffness=30.0, exponent=exponent)}

    def rotor(joint):
        inertias = {"shoulder.rotor_inertia": 0.0, "elbow.rotor_inertia": 0.0}
        return {"parameters": inertias | {f"{joint}.rotor_inertia": 2e-3}}

    changes = {
        "rotors": (rotor("shoulder"), rotor("elbow")),
        "place": (ground("upper"), ground("lower")),
        "exponent": (ground(exponent=1.0), ground(exponent=1.5)),
    }[what]
    state = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    for change in changes:
        assert_same_equations(robot.with_(**change), "forward_dynamics", *state)


def test_the_same_copy_gives_the_same_bits_whatever_came_before():
    def one(robot):
        return robot.with_(payload={"coupler": LOAD})

    first, second = rd.load("four_bar"), rd.load("four_bar")
    heavy = second.with_(payload={"coupler": Inertia.from_matrix(80.0, (1.0, 2.0, 0.1), np.eye(3))})
    results(heavy, np.random.default_rng(3))
    known, again = (results(one(x), np.random.default_rng(3)) for x in (first, second))
    for name, x in again.items():
        assert_array_equal(x, known[name], err_msg=name)


@pytest.mark.parametrize("name", [*ROBOTS, "light"])
def test_copies_know_what_mass_their_speeds_move(name):
    source, choices = ROBOTS.get(name, ("double_pendulum", {"base": "floating"}))
    copy = rd.load(source, **choices, allow_unphysical=name == "light")
    for mass in (0.5, 1e-9, 1e9, 2.0):
        J = 1e-3 * mass
        load = Inertia(mass, LOAD.origin, J, 0.0, 0.0, J, 0.0, J)
        copy = copy.with_(payload={copy.link_names[-1]: load})
        known, own = copy.model.joint_inertias, loaded(copy).model
        assert_allclose(known.diagonal, own.joint_inertias.diagonal, rtol=1e-12)
        assert_allclose(known.own, own.joint_inertias.own, rtol=1e-9, atol=1e-12)
        assert copy.model.bodies.light.keys() == own.bodies.light.keys()
        M = own.some_mass_matrix
        assert_allclose(copy.model.some_mass_matrix, M, atol=1e-12 * np.abs(M).max())
        assert_allclose(copy.model.some_diagonal, np.diag(M), rtol=1e-12)


def test_a_joint_that_comes_to_move_no_mass_is_refused(double):
    nothing = {x: 0.0 for x in double.dynamic_parameter_names if x.startswith("lower.")}
    with pytest.raises(rd.InertiaError, match="lower"):
        double.with_(parameters=nothing)


def test_a_joint_that_loses_the_armature_that_it_moved_is_refused():
    links = Link("base"), Link("hub")
    joint = Joint("spin", "revolute", "base", "hub", armature=0.3)
    robot = rd.load(Mechanism("wheel", links, (joint,)))
    assert robot.with_(parameters={"spin.armature": 0.2}).mass_matrix([0.0]) == 0.2
    for none in (0.0, [0.3, 0.0]):
        with pytest.raises(rd.InertiaError, match="spin"):
            robot.with_(parameters={"spin.armature": none})


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_friction_of_a_joint_that_closes_a_loop_is_a_number(coordinates):
    pin, known = rd.load("four_bar").loops[0].name, rd.load("four_bar").mechanism
    rubbing = [replace(x, damping=0.2) if x.name == pin else x for x in known.joints]
    robot = rd.load(replace(known, joints=tuple(rubbing)), coordinates=coordinates)
    q = robot.neutral()
    v = robot.consistent_velocity(q, np.ones(robot.nv))
    plain = robot.passive_forces(q, v)
    for damping, friction in ((0.0, 0.4), (0.5, 0.0)):
        copy = robot.with_(parameters={f"{pin}.damping": damping, f"{pin}.friction": friction})
        assert_same_equations(copy, "passive_forces", q, v)
        assert np.abs(copy.passive_forces(q, v) - plain).max() > 0.05


def test_a_fixed_joint_with_the_name_of_the_free_base_stays_fixed():
    def link(name, mass):
        return Link(name, Inertia(mass, ixx=0.1, iyy=0.1, izz=0.1) if mass else None)

    joints = (
        Joint("floating_base", "fixed", "base", "trunk"),
        Joint("hip", "revolute", "trunk", "leg"),
    )
    links = link("base", 0.0), link("trunk", 3.0), link("leg", 1.0)
    robot = rd.load(Mechanism("quadruped", links, joints), base="floating")
    copy = robot.with_(parameters={"hip.damping": 0.5})
    assert copy.dynamic_parameter_names == robot.dynamic_parameter_names
    assert copy.with_(parameters={"base.m": 5.0}).total_mass == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"parameters": {"crank.m": -1.0}}, r"parameters\['crank.m'\].*mass -1 kg"),
        ({"parameters": {"crank.Ixx": 9.0, "rocker.m": 2.0}}, r"^.*parameters\['crank.Ixx'\] make"),
        ({"payload": {"coupler": Inertia(1.0, ixx=3.0)}}, r"payload\['coupler'\] make"),
    ],
)
def test_an_impossible_body_is_refused_with_the_name_of_what_makes_it(given, named):
    with pytest.raises(rd.InertiaError, match=named):
        rd.load("four_bar").with_(**given)


def test_bodies_that_were_taken_as_they_are_are_refused_where_they_no_longer_are():
    robot = rd.load("four_bar").with_(parameters={"crank.m": -1.0}, allow_unphysical=True)
    for beside in ({}, {"gravity": (0.0, 0.0, 0.0)}, {"parameters": {"rocker.m": 2.0}}):
        with pytest.raises(rd.InertiaError, match=r"body 'crank' .*mass -1 kg.*unphysical=False"):
            robot.with_(allow_unphysical=False, **beside)
    assert robot.with_(parameters={"rocker.m": 2.0}).model.settings.allow_unphysical
    mended = robot.with_(parameters={"crank.m": 1.0}, allow_unphysical=False)
    assert not mended.model.settings.allow_unphysical
