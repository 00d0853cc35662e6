"""Arguments of the wrong type say what was expected."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import robodyn as rd
from robodyn import robot as robot_module
from robodyn.closed_loops.assembly import rounded_linkage


@pytest.mark.parametrize(
    "given",
    [
        {"actuators": {"elbow_pitch": 3}},
        {"rotors": [3]},
        {"springs": [3]},
        {"springs": {"elbow_pitch": 3}},
        {"springs": {"elbow_pitch": (1.0, "x")}},
        {"springs": {"elbow_pitch": (np.nan, 0.0)}},
        {"springs": {"elbow_pitch": (-1.0, 0.0)}},
        lambda: {"springs": [rd.PointSpring("link1", (0.0, 1.0), "link7", (0.0, 0.0, 0.0), 1.0)]},
        lambda: {"springs": [rd.PointSpring("link1", "x", "link7", (0.0, 0.0, 0.0), 1.0)]},
        lambda: {
            "springs": [rd.PointSpring("link1", (0.0, 0.0, 1.0), "world", (0.0, 0.0, 0.0), np.nan)]
        },
        lambda: {"rotors": [rd.Rotor("wheel", "link7", (0.0, 0.0, 0.0), 1e-6)]},
        lambda: {"rotors": [rd.Rotor("wheel", "link7", "z", 1e-6)]},
        lambda: {"rotors": [rd.Rotor("wheel", "link7", (0.0, 0.0, 1.0), 0.0)]},
        {"joint_maps": {"elbow_pitch": 3}},
        {"loops": [3]},
        {"gravity": (1.0, 2.0)},
        {"gravity": (0.0, 0.0, np.nan)},
        {"friction_speed": 0.0},
        {"base": "float"},
        {"rotor_model": "none"},
        {"actuators": ["elbow_pitch"]},
        {"joint_maps": ["elbow_pitch"]},
        {"branches": [1]},
        {"loops": 3},
        {"rotors": 3},
        {"springs": 3},
        {"constraints": 3},
        {"constraints": [3]},
        {"friction_speed": "fast"},
        {"rigid": "x"},
        {"strict": "no"},
        lambda: {"actuators": {"elbow_pitch": rd.Actuator(torque_limit=-1.0)}},
        lambda: {"actuators": {"elbow_pitch": rd.Actuator(torque_limit=np.nan)}},
        {"merge_hinges": "no"},
        {"branches": {"pin": 1}},  # of the coordinates of a tree
    ],
)
def test_load(given):
    with pytest.raises(rd.RobodynError):
        rd.load("arm7", **(given() if callable(given) else given))


@pytest.mark.parametrize(
    "given",
    [
        {"locked": {"elbow_pitch": "x"}},
        {"locked": {"elbow_pitch": np.inf}},
        {"locked": {"nothing": 0.0}},
        {"payload": {"link7": 3}},
        {"payload": {"nothing": None}},
        {"unknown": 1},
        {"locked": ["elbow_pitch"]},
        {"payload": 3},
        lambda: {"payload": {"link7": rd.Inertia(np.nan)}},
        lambda: {"payload": {"link7": rd.Inertia(1.0, izz=np.inf)}},
        {"rigid": "x"},
        {"friction_speed": "x"},
        {"friction_speed": np.inf},
    ],
)
def test_with(given):
    with pytest.raises(rd.RobodynError):
        rd.load("arm7").with_(**(given() if callable(given) else given))


@pytest.mark.parametrize("taken", [1.0, 2.0])
def test_a_payload_that_leaves_no_mass(taken):
    robot = rd.load("puma560")
    (mass,) = (l.inertia.mass for l in robot.mechanism.links if l.name == "link6")
    with pytest.raises(rd.RobodynError, match="leaves the link"):
        robot.with_(payload={"link6": rd.Inertia(-taken * mass)})


@pytest.mark.parametrize(
    ("name", "meant"), [("payloads", "payload"), ("lock", "locked"), ("gravty", "gravity")]
)
def test_a_changed_copy_of_what_is_not_known(name, meant):
    with pytest.raises(rd.UnknownNameError, match=f"did you mean '{meant}'"):
        rd.load("puma560").with_(**{name: {}})


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: rd.load("four_bar", **given),
        lambda **given: rd.load("four_bar").with_(**given),
    ],
)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"near": {"crank_drive": "x"}}, r"near\['crank_drive'\] is 'x', expected"),
        ({"near": {"crank_drive": [[0.1], [0.2, 0.3]]}}, r"near\['crank_drive'\] is .*numbers"),
        ({"near": {"nobody": 0.3}}, "no joint 'nobody'"),
        ({"branches": 3, "coordinates": "minimal"}, "branches is "),
        ({"branches": "ab", "coordinates": "minimal"}, "branches is "),
    ],
)  # fmt: skip
def test_starts_and_branches_that_are_none(make, given, words):
    with pytest.raises(rd.RobodynError, match=words):
        make(**given).neutral()


def test_a_payload_without_mass_turns_with_its_link():
    robot, q = rd.load("puma560"), np.linspace(0.1, 0.6, 6)
    wheel = rd.Inertia(0.0, ixx=0.1, iyy=0.1, izz=0.1)
    on_flange = robot.with_(payload={"flange": wheel}).mass_matrix(q)  # a link without mass
    np.testing.assert_allclose(on_flange, robot.with_(payload={"link6": wheel}).mass_matrix(q))
    assert on_flange[5, 5] - robot.mass_matrix(q)[5, 5] == pytest.approx(0.1)


def test_one_actuated_joint_of_a_tree():
    robot = rd.load("puma560")
    with pytest.raises(rd.RobodynError, match="joints joint2, joint3"):
        robot.inverse_dynamics(*np.zeros((3, 6)), actuated="joint1")


@pytest.mark.parametrize("call", [rd.simulate, lambda r: rd.rollout(r, None, [[0.0]], [[0.0]])])
def test_simulation_of_something_else(call):
    with pytest.raises(rd.ShapeError, match="Robot"):
        call("arm7")


def test_lists_for_tuples():
    robot = rd.load("arm7")
    f = robot.function("hybrid_dynamics", controlled=["elbow_pitch", "link"][:1])
    assert [port.shape for port in f.inputs][2:] == [(1,), (6,)]
    assert robot.function("inverse_dynamics", wrenches=["link7"]).inputs[-1].shape == (6,)


def test_derivative_with_respect_to_something_else():
    with pytest.raises(rd.UnknownNameError, match="there are"):
        rd.load("arm7").function("inverse_dynamics").jacobian("x")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r, x: r.hybrid_dynamics(x, x, locked=3), "locked is 3"),
        (lambda r, x: r.hybrid_dynamics(x, x, locked=None), "locked is None"),
        (lambda r, x: r.joint_wrenches(x, x, x, joints=3), "joints is 3"),
        (lambda r, x: r.inverse_dynamics(x, x, x, actuated=3), "actuated is 3"),
        (lambda r, x: r.assemble(x, hold=3), "hold is 3"),
        (lambda r, x: rd.simulate(r, locked=3), "locked is 3"),
        (lambda r, x: rd.simulate(r, controlled=["left_drive"]), "controlled is list"),
        (lambda r, x: rd.simulate(r, 3), "controller is 3"),
        (
            lambda r, x: rd.simulate(r, events=[3]),
            r"events\[0\] is 3, expected a robodyn",
        ),
        (lambda r, x: rd.simulate(r, duration="long"), "duration is 'long'"),
        (lambda r, x: r.random("seed"), "rng is 'seed'"),
    ],
)
def test_what_is_no_name_no_function_no_number(call, words):
    with pytest.raises(rd.ShapeError, match=words):
        call(rd.load("five_bar"), np.zeros(4))


def test_the_name_of_one_motor():
    robot = rd.load("four_bar")
    q, v = robot.neutral(), np.zeros(3)
    a = robot.consistent_acceleration(q, v, [1.0, 0.0, 0.0])
    tau = robot.inverse_dynamics(q, v, a, actuated="rocker_pivot")
    assert tau[0] == tau[1] == 0.0
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-9)


@pytest.mark.parametrize("method", [
    lambda r, q, v, x: r.constrained_dynamics(q, v, x),
    lambda r, q, v, x: r.inverse_dynamics(q, v, x, actuated=r.joint_names),
    lambda r, q, v, x: r.consistent_acceleration(q, v, x),
    lambda r, q, v, x: r.consistent_velocity(q, x),
    lambda r, q, v, x: r.closed_state(q, x),
    lambda r, q, v, x: r.integrate(q, x),
])  # fmt: skip
def test_states_of_linkages_that_are_not_as_many(method):
    robot = rd.load("five_bar")
    q, v = np.zeros((3, 4)), np.zeros((3, 4))
    with pytest.raises(rd.ShapeError, match="leading axes"):
        method(robot, q, v, np.zeros((2, 4)))


@pytest.mark.parametrize("call", [
    lambda r, q, v: r.forward_dynamics(q, v, v),
    lambda r, q, v: r.inverse_dynamics(q, v, v),
    lambda r, q, v: r.hybrid_dynamics(q, v),
    lambda r, q, v: r.consistent_velocity(q, v),
    lambda r, q, v: r.closed_state(q, v),
    lambda r, q, v: r.loop_rank(q),
])  # fmt: skip
def test_postures_of_linkages_that_are_not_finite(call):
    robot = rd.load("five_bar")
    q, v = np.zeros((3, 4)), np.zeros((3, 4))
    q[1, 2] = np.nan
    with pytest.raises(rd.ShapeError, match=r"q holds .* in state \[1\]"):
        call(robot, q, v)


@pytest.mark.parametrize("name", ["_signature", "table", "name", "program", "_double", "anything"])
def test_functions_are_never_changed(name):
    """Machine code has the addresses of what they are made of."""
    f = rd.load("scara").function("gravity_forces")
    with pytest.raises(AttributeError, match=f"a Function is never changed \\('{name}'\\)"):
        setattr(f, name, None)
    with pytest.raises(AttributeError, match="never changed"):
        delattr(f, name)
    assert f(np.zeros(4)).shape == (4,)


def test_machine_code_outlives_an_emptied_dict():
    function, q = rd.load("scara").function("gravity_forces"), np.ones(4)
    expected = function(q).copy()
    function.__dict__.clear()
    gc.collect()
    for _ in range(50):
        np.testing.assert_array_equal(function(q), expected)


def test_machine_code_outlives_the_emptied_dict_of_a_method():
    robot, q = rd.load("four_bar"), np.zeros(3)
    wrenches = robot.joint_wrenches
    expected = [{name: x.copy() for name, x in wrenches(q, q, q).items()} for _ in range(2)][1]
    wrenches.__dict__.clear()
    gc.collect()
    for _ in range(50):
        found = wrenches(q, q, q)
        assert all((found[name] == x).all() for name, x in expected.items())


def test_functions_that_nobody_has_are_gone():
    function = rd.load("double_pendulum").function("gravity_forces")
    function(np.zeros(2))
    there = weakref.ref(function)
    del function
    gc.collect()
    assert there() is None


def test_one_name_where_several_are_taken():
    robot = rd.load("arm7")
    f = robot.function("inverse_dynamics", wrenches="link6")
    assert [port.name for port in f.inputs][-1] == "wrench:link6"
    assert f is robot.function("inverse_dynamics", wrenches=("link6",))
    with pytest.raises(rd.UnknownNameError, match="no link 'link60'"):
        robot.function("inverse_dynamics", wrenches="link60")


@pytest.mark.parametrize("name", ["passive", "allow_unphysical"])
def test_choices_of_two_are_true_or_false(name):
    for load in (lambda **given: rd.load("scara", **given), rd.load("scara").with_):
        with pytest.raises(rd.ShapeError, match=f"{name} is 'no', expected True or False"):
            load(**{name: "no"})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"limits": rd.Limits(1.0, -1.0, 1.0, 1.0)}, "lower limit 1 is above the upper limit -1"),
        ({"limits": rd.Limits(effort=-1.0)}, "the limit effort is -1: negative"),
        ({"damping": -1.0}, "the damping is -1.0: negative"),
        ({"friction": -1.0}, "the friction is -1.0: negative"),
    ],
)
def test_values_of_a_loop(given, words):
    loop = rd.Loop("pin", "revolute", "upper", "lower", axis=(0.0, 1.0, 0.0), **given)
    with pytest.raises(rd.UrdfError, match=words):
        rd.load("double_pendulum", loops=[loop])


def test_what_an_argument_takes_is_said_whatever_was_given():
    robot = rd.load("double_pendulum")
    words = "expected a mapping by name: {name: value} or an array of real numbers$"
    for given in (["elbow"], {"elbow"}, [None, 1.0]):
        with pytest.raises(rd.ShapeError, match=words):
            robot.hybrid_dynamics(np.zeros(2), np.zeros(2), controlled=given)
    with pytest.raises(rd.ShapeError, match=r"gravity is 1, expected 3 numbers$"):
        robot.with_(gravity=1)


@pytest.mark.parametrize(("name", "nv"), [("arm7", 7), ("four_bar", 3)])
def test_a_robot_is_modelled_once(monkeypatch, name, nv):
    made = []
    for module in (rounded_linkage, robot_module):
        build = module.build_model
        monkeypatch.setattr(
            module, "build_model", lambda *given, build=build: made.append(given) or build(*given)
        )
    assert rd.load(name).nv == nv
    assert len(made) == 1


def test_a_time_given_to_a_method():
    robot, x = rd.load("double_pendulum"), np.zeros(2)
    with pytest.raises(TypeError, match=r"forward_dynamics\(\) takes no 't': robot.at\(t\) is"):
        robot.forward_dynamics(x, x, x, t=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tt'"):
        robot.forward_dynamics(x, x, x, tt=1.0)
    assert robot.at(t=1.0) is robot


def test_several_wrenches_are_joined_not_listed():
    robot, z = rd.load("double_pendulum"), np.zeros(2)
    two = rd.Wrench("lower", (1, 0, 0)), rd.Wrench("upper", (1, 0, 0))
    for listed in (two, [*two]):
        with pytest.raises(rd.ShapeError, match=r"join several with \|"):
            robot.forward_dynamics(z, z, z, wrenches=listed)
    assert robot.forward_dynamics(z, z, z, wrenches=two[0] | two[1]).shape == (2,)
