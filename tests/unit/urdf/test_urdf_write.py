"""What is written reads back equal: random mechanisms, bundled robots, public robots."""

import dataclasses
import math
import string
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.examples import examples

import robodyn as rd
from robodyn import urdf
from robodyn.description import (
    JOINT_KINDS,
    Actuator,
    Coupling,
    Inertia,
    Joint,
    Limits,
    Link,
    Loop,
    Mechanism,
    Mimic,
    Pose,
)
from robodyn.urdf.write import as_written, loop_element

WITHOUT_AXIS = ("fixed", "spherical", "floating")


def read(text):
    mechanism, problems, _ = urdf.parse(text)
    assert problems == []
    return mechanism


numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers)
poses = st.builds(Pose, vectors, vectors)
names = st.text(string.ascii_letters + string.digits + "_-. <>&\"'é漢\t", min_size=1).filter(
    lambda name: name.strip()
)
extras = st.lists(
    st.sampled_from(["<visual/>", '<a b="&lt;">\n  text &amp; <c/>\n</a>', "<x/>"]),
    max_size=2,
).map(tuple)


@st.composite
def units(draw):
    vector = np.array(draw(st.tuples(*[st.floats(-1, 1, allow_subnormal=False)] * 3)))
    length = math.hypot(*vector)
    if length < 1e-3:
        return 0.0, 1.0, 0.0
    return tuple(float(x) for x in vector / length)


@st.composite
def joints(draw, name, parent, child, others):
    kind = draw(st.sampled_from(sorted(JOINT_KINDS)))
    lower, upper = sorted(draw(st.tuples(numbers, numbers)))
    bounds = draw(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6) | st.just(math.inf)))
    if kind == "continuous" or draw(st.booleans()):
        lower, upper = -math.inf, math.inf
    mimic = None
    if others and kind != "fixed" and draw(st.booleans()):
        mimic = Mimic(draw(st.sampled_from(others)), draw(numbers), draw(numbers))
    return Joint(
        name,
        kind,
        parent,
        child,
        draw(poses),
        draw(units()) if kind not in WITHOUT_AXIS else (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0) if kind != "universal" else (0.0, 0.6, 0.8),
        draw(numbers) if kind == "helical" else 0.0,
        draw(st.none() | st.just(Limits(lower, upper, *bounds))),
        abs(draw(numbers)),
        abs(draw(numbers)),
        mimic,
        draw(st.sampled_from([None, True, False])),
        draw(extras),
    )


@st.composite
def loops(draw, name, links):
    kind = draw(st.sampled_from([*sorted(JOINT_KINDS.keys() - {"floating"}), "distance"]))
    lower, upper = sorted(draw(st.tuples(numbers, numbers)))
    if kind == "continuous" or lower == upper:  # exporters write zeros: none
        lower, upper = -math.inf, math.inf
    values = {"limits": draw(st.none() | st.just(Limits(lower, upper, 3.0)))}
    values |= {key: abs(draw(numbers)) for key in ("damping", "friction")}
    if JOINT_KINDS.get(kind) == (1, 1):
        values["stiffness"] = abs(draw(numbers))
        values["rest"] = draw(numbers) if values["stiffness"] else 0.0
    return Loop(
        name,
        kind,
        draw(st.sampled_from(links)),
        draw(st.sampled_from(links)),
        draw(poses),
        draw(poses | st.just(Pose())),
        draw(units()) if kind not in (*WITHOUT_AXIS, "distance") else (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0) if kind != "universal" else (0.0, 0.6, 0.8),
        draw(numbers) if kind == "helical" else 0.0,
        draw(numbers) if kind == "distance" else 0.0,
        **values,
    )


@st.composite
def mechanisms(draw):
    """Anything that a description can say, sense or not; universal axes are not parallel."""
    link_names = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    inertias = st.none() | st.builds(Inertia, numbers, poses, *[numbers] * 6)
    links = tuple(Link(name, draw(inertias), draw(extras)) for name in link_names)
    item_names = draw(st.lists(names, min_size=5, max_size=8, unique=True))
    count = draw(st.integers(1, 3))
    found = []
    for k in range(count):
        parent, child = draw(st.permutations(link_names))[:2]
        found.append(draw(joints(item_names[k], parent, child, item_names[:k])))
    found = [j for j in found if j.kind != "universal" or abs(np.dot(j.axis, j.axis2)) < 0.99]
    closures = [draw(loops(name, link_names)) for name in item_names[count : count + 2]]
    motor = st.builds(
        Actuator,
        numbers,
        numbers,
        st.none() | units(),
        st.none() | st.sampled_from(link_names),
        numbers,
        numbers,
        numbers | st.just(math.inf),
        st.just("") | names,
    )
    actuators = tuple((joint.name, draw(motor)) for joint in found if draw(st.booleans()))
    coupling = Coupling(item_names[-1], link_names[0], link_names[1], draw(numbers), draw(numbers))
    return Mechanism(
        draw(names),
        links,
        tuple(found),
        tuple(closures),
        (coupling,) if count + 2 < len(item_names) else (),
        actuators,
        draw(extras),
    )


@pytest.mark.slow
@examples(150)
@given(mechanisms())
def test_what_is_written_reads_back_equal(mechanism):
    assert read(urdf.write(mechanism)) == as_written(mechanism)


@pytest.mark.parametrize("name", urdf.bundled_robots())
def test_bundled_robots_read_back_equal(name):
    mechanism = urdf.load_mechanism(name)
    assert read(urdf.write(mechanism)) == as_written(mechanism)


def public_urdfs():
    """Files of example-robot-data and pybullet, as far as they are installed."""
    found = []
    for package in ("cmeel.prefix/share/example-robot-data/robots", "pybullet_data"):
        for folder in map(Path, sys.path):
            found += sorted((folder / package).glob("*.urdf"))
            found += sorted((folder / package).glob("[!r]*/**/*.urdf"))  # not random_urdfs
    return found


@pytest.mark.slow
@pytest.mark.skipif(not public_urdfs(), reason="example-robot-data is not installed")
def test_public_robots_read_back_equal():
    checked = 0
    for path in public_urdfs():
        with warnings.catch_warnings(action="ignore"):
            mechanism, problems, _ = urdf.parse(path.read_text(errors="ignore"))
            if not problems:
                assert read(urdf.write(mechanism)) == as_written(mechanism), path
                checked += 1
    assert checked > 0.9 * len(public_urdfs())


TRANSMISSION = '<transmission name="t"><joint name="{}"/><actuator name="m">'
TRANSMISSION += "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>"


def two_joints(actuators, texts):
    links = tuple(Link(name) for name in "abc")
    chain = (Joint("j", "revolute", "a", "b"), Joint("k", "revolute", "b", "c"))
    return Mechanism("r", links, chain, actuators=actuators, extras=texts)


@pytest.mark.parametrize(
    "actuators",
    [
        (("j", Actuator(50.0, name="m")),),  # as the text says
        (("j", Actuator(60.0, name="m")),),  # changed since
        (("j", Actuator(50.0, name="m")), ("k", Actuator(2.0))),
        (("k", Actuator(2.0)), ("j", Actuator(50.0, name="m"))),
    ],
)
def test_actuators_beside_kept_transmissions_read_back_equal(actuators):
    mechanism = two_joints(actuators, ("<x/>", TRANSMISSION.format("j"), "<y/>"))
    assert read(urdf.write(mechanism)) == as_written(mechanism)


def test_actuators_that_the_text_says_are_not_written_twice():
    mechanism = two_joints((("j", Actuator(50.0, name="m")),), (TRANSMISSION.format("j"),))
    assert "<motor" not in urdf.write(mechanism)


def test_a_loop_at_the_link_frame_is_written_as_the_joint_it_is():
    links = tuple(Link(name) for name in "abc")
    chain = (Joint("j", "revolute", "a", "b"), Joint("k", "revolute", "a", "c"))
    at_link = Loop("x", "revolute", "b", "c", Pose((1.0, 0.0, 0.0)))
    beside = dataclasses.replace(at_link, name="y", X_successor=Pose((0.0, 1.0, 0.0)))
    text = urdf.write(Mechanism("r", links, chain, (at_link, beside)))
    assert '<joint name="x" type="revolute" cut="true">' in text
    assert '<loop name="y" type="revolute">' in text


def test_a_closure_to_be_pasted_has_all_that_the_joint_has():
    values = {"damping": 0.1, "friction": 0.2, "stiffness": 5.0, "rest": 0.4}
    joint = Joint(
        "x", "revolute", "a", "b", Pose((1.0, 2.0, 3.0), (0.1, 0.2, 0.3)), (0.0, 0.6, 0.8),
        limits=Limits(-1.0, 2.0, 3.0, 4.0), **values,
    )  # fmt: skip
    element = loop_element(joint)
    tree = '<joint name="j" type="floating"><parent link="a"/><child link="b"/></joint>'
    text = f'<robot name="r"><link name="a"/><link name="b"/>{tree}{element}</robot>'
    (loop,) = urdf.load_mechanism(text, allow_unphysical=True).loops
    assert {name: getattr(loop, name) for name in values} == values
    assert (loop.kind, loop.predecessor, loop.successor) == ("revolute", "a", "b")
    assert (loop.X_predecessor, loop.limits) == (joint.origin, joint.limits)
    np.testing.assert_allclose(loop.axis, joint.axis)


def test_numbers_keep_every_digit():
    mechanism = Mechanism("r", (Link("a", Inertia(0.1 + 0.2, Pose((1 / 3, np.pi, 1e-300)))),))
    assert read(urdf.write(mechanism)) == mechanism


def test_names_that_xml_cannot_hold_are_refused():
    with pytest.raises(rd.UrdfError, match="cannot be written"):
        urdf.write(Mechanism("r", (Link("a\x00b"),)))


def test_writing_into_a_folder_that_does_not_exist_names_it(tmp_path):
    with pytest.raises(rd.errors.MissingFileError, match=r"missing/robot\.urdf.*no such folder"):
        urdf.write(urdf.load_mechanism("puma560"), tmp_path / "missing" / "robot.urdf")


def test_locked_joints_read_back_equal():
    robot = rd.load("double_pendulum", springs={"elbow": (3.0, 0.1)}).with_(locked={"elbow": 0.2})
    described = dataclasses.replace(robot.mechanism, file=None)
    assert dataclasses.replace(urdf.load_mechanism(urdf.write(described)), file=None) == described


@pytest.mark.parametrize("path", [5, b"arm.urdf"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(rd.ShapeError, match="expected the path of a file"):
        urdf.write(urdf.load_mechanism("four_bar"), path)
