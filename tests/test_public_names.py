"""What a user finds by looking: names, docstrings, and what objects say they are.

`robodyn.Robot` has a test of its own, tests/test_robot_methods.py.
"""

import dataclasses
import functools
import importlib
import inspect
import re

import numpy as np
import pytest

import robodyn as rd
from robodyn import other_names
from robodyn.controllers import PointToPoint

PACKAGES = (
    "",
    ".controllers",
    ".ros",
    ".simulation",
    ".studies.compare",
    ".simulation.events",
    ".studies.sweep",
    ".urdf",
    ".view",
)
MODULES = [importlib.import_module(f"robodyn{name}") for name in PACKAGES]
PUBLIC = {f"{m.__name__}.{name}": getattr(m, name) for m in MODULES for name in m.__all__}
CLASSES = {
    name: thing
    for name, thing in PUBLIC.items()
    if inspect.isclass(thing) and thing is not rd.Robot
}
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}

#: More characters than a screen has lines for are no answer to "what is this?".
SHORT = 400


def test_dir_lists_the_public_names_and_only_those():
    packages = ["bags", "controllers", "ros", "simulation", "urdf", "view"]
    assert dir(rd) == sorted([*rd.__all__, *packages, "__version__"])
    for name in dir(rd):
        assert getattr(rd, name) is not None


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name):
    assert inspect.getdoc(PUBLIC[name])


def fields_of(kind):
    """Names of what a dataclass or a named tuple holds."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return list(getattr(kind, "_fields", ()))


def members_of(kind):
    """Public methods and properties that robodyn wrote, of a class and what it inherits from."""
    for base in kind.__mro__:
        if base.__module__.startswith("robodyn"):
            for name, member in vars(base).items():
                made = isinstance(member, property | classmethod | staticmethod)
                made = made or isinstance(member, functools.cached_property)
                if not name.startswith("_") and (made or inspect.isfunction(member)):
                    yield f"{base.__name__}.{name}", getattr(member, "__func__", member)


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_is_documented(name):
    kind = CLASSES[name]
    text = inspect.getdoc(kind)
    for field in fields_of(kind):
        if not field.startswith("_"):
            assert re.search(rf"\b{field}\b", text), f"{name} does not say what {field} is"
    for member, function in members_of(kind):
        assert inspect.getdoc(function), f"{member} has no docstring"


def described(text):
    """Parameters that the section of a docstring names; ``None`` where there is no section."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        return None
    lines = re.findall(r"^(\*{0,2}\w[\w, *]*?)(?= :|$)", section[1], re.MULTILINE)
    return {name.strip(" *") for line in lines for name in line.split(",")}


def undescribed(function):
    """Parameters that the docstring's section leaves out; none where it has no section."""
    names = described(inspect.getdoc(function) or "")
    parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
    return [] if names is None else [p for p in parameters if p not in names]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_describe_all_their_parameters(name):
    assert undescribed(FUNCTIONS[name]) == []


@pytest.mark.parametrize("name", CLASSES)
def test_methods_describe_all_their_parameters(name):
    for member, function in members_of(CLASSES[name]):
        if inspect.isfunction(function):
            left = undescribed(function)
            assert left == [], f"{member} does not describe {left}"


@pytest.fixture(scope="module")
def handed_out():
    """What users of a robot get into their hands, by name."""
    robot = rd.load("palletizer")
    q, zero = robot.neutral(), np.zeros(robot.nv)
    many = np.tile(q, (5, 1)), np.zeros((5, robot.nv))
    rest = rd.BaseMotion.at_rest()
    run = rd.simulate(robot, q0=q, duration=0.01, step=1e-3)
    return {
        "robot": robot,
        "joint": robot.joints["shoulder"],
        "joints": robot.joints,
        "mechanism": robot.mechanism,
        "link": robot.mechanism.links[1],
        "inertia": robot.mechanism.links[1].inertia,
        "actuator": robot.actuators["waist"],
        "function": robot.function("mass_matrix"),
        "hybrid": robot.hybrid_dynamics(q, zero, controlled={}),
        "hybrid of many": robot.hybrid_dynamics(*many, controlled={}),
        "constrained": robot.constrained_dynamics(q, zero, zero),
        "constrained of many": robot.constrained_dynamics(*many, many[1]),
        "wrenches": robot.joint_wrenches(q, zero, zero),
        "motor": robot.joint_wrenches(q, zero, zero).motor,
        "base at rest": rest,
        "base at many times": rd.BasePath.from_function(lambda t: rest).at(np.arange(1000.0)),
        "path of the base": rd.BasePath.from_function(lambda t: rest),
        "trajectory": run,
        "state": run[3],
        "base parameters": rd.load("puma560").base_parameters(),
        "reference": PointToPoint(q, q + 0.1, 1.0),
        "limits": robot.joints["shoulder"].limits,
    }


def test_what_is_handed_out_says_what_it_is(handed_out):
    for name, thing in handed_out.items():
        text = repr(thing)
        kind = "State" if name == "state" else type(thing).__name__
        assert text.startswith((f"<{kind}", f"{kind}(")), f"{name}: {text[:80]}"
        assert len(text) < SHORT, f"{name} takes {len(text)} characters"
        assert f"{kind} object at" not in text, text


def test_results_show_shapes(handed_out):
    nv = handed_out["robot"].nv
    assert f"a ({nv},), tau ({nv},)" in repr(handed_out["hybrid"])
    assert f"a (5, {nv}), tau (5, {nv})" in repr(handed_out["hybrid of many"])
    assert "(1000,) instants" in repr(handed_out["base at many times"])
    assert "of each of (5,) states" in repr(handed_out["constrained of many"])
    assert repr(handed_out["mechanism"]) == "<Mechanism 'palletizer': 11 links, 10 joints, 3 loops>"
    assert repr(handed_out["joint"]) == (
        "<JointInfo 'shoulder': revolute, column -> lower_arm, q[1:2], v[1:2]>"
    )


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("gravity_torque", "gravity_forces(q)"),
        ("coriolis", "coriolis_matrix(q, v)"),
        ("jacobian", "frame_jacobian(q, frame)"),
        ("computeJointJacobians", "frame_jacobian(q, frame)"),
        ("forward_kinematics", "frame_pose(q, frame)"),
        ("fk", "frame_pose(q, frame)"),
        ("rnea", "inverse_dynamics(q, v, a)"),
        ("aba", "forward_dynamics(q, v, tau)"),
        ("crba", "mass_matrix(q)"),
        ("M", "mass_matrix(q)"),
        ("links", "link_names, or mechanism.links"),
    ],
)
def test_names_that_others_use_are_answered_with_ours(name, own):
    robot = rd.load("double_pendulum")
    with pytest.raises(AttributeError, match=re.escape(f"robodyn calls this {own}")):
        getattr(robot, name)
    assert not hasattr(robot, name)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("M", "robot.mass_matrix(q)"),
        ("rnea", "robot.inverse_dynamics(q, v, a)"),
        ("gravity_forces", "robot.gravity_forces, of a robot"),
        ("buildModelFromUrdf", "robodyn.load(path)"),
        ("SE3", "robodyn.Pose"),
    ],
)
def test_names_that_others_use_of_a_package_are_answered_with_ours(name, own):
    with pytest.raises(AttributeError, match=re.escape(f"robodyn calls this {own}")):
        getattr(rd, name)


def test_a_robot_shows_its_public_names():
    robot = rd.load("double_pendulum")
    assert dir(robot) == sorted(name for name in dir(rd.Robot) if not name.startswith("_"))
    robot.gravity_forces([0.0, 0.0])
    assert dir(robot) == [name for name in dir(rd.Robot) if not name.startswith("_")]


def test_all_names_that_are_answered_with_exist():
    robot = rd.load("double_pendulum")
    for own, others in other_names._OF_PACKAGE.items():
        assert hasattr(rd, re.match(r"\w+", own)[0]), own
        for other in others.split():
            assert not hasattr(rd, other), other
    for own, others in other_names._NAMES.items():
        named = re.match(r"\w+", own)[0]
        assert hasattr(robot, named), own
        for other in others.split():
            assert not hasattr(robot, other), other


def test_what_is_missing_and_known_by_no_other_name():
    robot = rd.load("double_pendulum")
    with pytest.raises(AttributeError, match="a Robot has no 'gravitate'"):
        _ = robot.gravitate
    with pytest.raises(TypeError, match=r"gravity is \(0.0, 0.0, -9.81\).*gravity_forces\(q\)"):
        robot.gravity(robot.neutral())
    assert robot.gravity == (0.0, 0.0, -9.81)


def test_a_property_says_itself_which_attribute_is_missing():
    class Broken(rd.Robot):
        @property
        def reach(self):
            return None.length

    robot = rd.load("double_pendulum")
    with pytest.raises(AttributeError, match="'length'"):
        _ = Broken(robot.mechanism, robot.model.settings).reach


def test_names_that_are_missing_are_answered_with_where_they_are():
    with pytest.raises(AttributeError, match=r"it is robodyn\.controllers\.LQR"):
        _ = rd.LQR
    with pytest.raises(AttributeError, match="module 'robodyn' has no attribute 'nonsense'"):
        _ = rd.nonsense


#: Nodes of ROS, which tests/ros runs behind a real rclpy, the viewer, which tests/view runs in a
#: real browser, and names that are no class or function.
WITHOUT_EXAMPLE = {
    "robodyn.ros.RelayNode",
    "robodyn.ros.SimLifecycleNode",
    "robodyn.ros.SimNode",
    "robodyn.ros.StateListener",
    "robodyn.simulation.Controller",
    "robodyn.simulation.INTEGRATORS",
    "robodyn.view.Viewer",
}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_has_an_example(name):
    """Which tests/test_documentation.py runs."""
    thing = PUBLIC[name]
    if not inspect.ismodule(thing) and name not in WITHOUT_EXAMPLE:
        assert ">>>" in (inspect.getdoc(thing) or "")
