"""Arguments of the wrong type say what was expected."""

import gc
import weakref

import numpy as np
import pytest

import robodyn as rd


@pytest.mark.parametrize("taken", [1.0, 2.0])
def test_a_payload_that_leaves_no_mass(puma, taken):
    (mass,) = (l.inertia.mass for l in puma.mechanism.links if l.name == "link6")
    with pytest.raises(rd.RobodynError, match="leaves the link"):
        puma.with_(payload={"link6": rd.Inertia(-taken * mass)})


@pytest.mark.parametrize(
    ("name", "meant"), [("payloads", "payload"), ("lock", "locked"), ("gravty", "gravity")]
)
def test_a_changed_copy_of_what_is_not_known(name, meant):
    with pytest.raises(rd.UnknownNameError, match=f"did you mean '{meant}'"):
        rd.load("puma560").with_(**{name: {}})


def test_a_payload_without_mass_turns_with_its_link():
    robot, q = rd.load("puma560"), np.linspace(0.1, 0.6, 6)
    wheel = rd.Inertia(0.0, ixx=0.1, iyy=0.1, izz=0.1)
    on_flange = robot.with_(payload={"flange": wheel}).mass_matrix(q)  # a link without mass
    np.testing.assert_allclose(on_flange, robot.with_(payload={"link6": wheel}).mass_matrix(q))
    assert on_flange[5, 5] - robot.mass_matrix(q)[5, 5] == pytest.approx(0.1)


def test_one_actuated_joint_of_a_tree(puma):
    with pytest.raises(rd.RobodynError, match="joints joint2, joint3"):
        puma.inverse_dynamics(*np.zeros((3, 6)), actuated="joint1")


def test_derivative_with_respect_to_something_else():
    with pytest.raises(rd.UnknownNameError, match="there are"):
        rd.load("arm7").function("inverse_dynamics").jacobian("x")


def test_the_name_of_one_motor(four_bar):
    q, v = four_bar.neutral(), np.zeros(3)
    a = four_bar.consistent_acceleration(q, v, [1.0, 0.0, 0.0])
    tau = four_bar.inverse_dynamics(q, v, a, actuated="rocker_pivot")
    assert tau[0] == tau[1] == 0.0
    np.testing.assert_allclose(four_bar.forward_dynamics(q, v, tau), a, atol=1e-9)


@pytest.mark.parametrize("method", [
    lambda r, q, v, x: r.constrained_dynamics(q, v, x),
    lambda r, q, v, x: r.inverse_dynamics(q, v, x, actuated=r.joint_names),
    lambda r, q, v, x: r.consistent_acceleration(q, v, x),
    lambda r, q, v, x: r.consistent_velocity(q, x),
    lambda r, q, v, x: r.closed_state(q, x),
    lambda r, q, v, x: r.integrate(q, x),
])  # fmt: skip
def test_states_of_linkages_that_are_not_as_many(five_bar, method):
    q, v = np.zeros((3, 4)), np.zeros((3, 4))
    with pytest.raises(rd.ShapeError, match="leading axes"):
        method(five_bar, q, v, np.zeros((2, 4)))


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


def test_functions_that_nobody_has_are_gone():
    function = rd.load("double_pendulum").function("gravity_forces")
    function(np.zeros(2))
    there = weakref.ref(function)
    del function
    gc.collect()
    assert there() is None


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


def test_what_an_argument_takes_is_said_whatever_was_given(double):
    words = "expected a mapping by name: {name: value} or an array of real numbers$"
    for given in (["elbow"], {"elbow"}, [None, 1.0]):
        with pytest.raises(rd.ShapeError, match=words):
            double.hybrid_dynamics(np.zeros(2), np.zeros(2), controlled=given)
    with pytest.raises(rd.ShapeError, match=r"gravity is 1, expected 3 numbers$"):
        double.with_(gravity=1)


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
