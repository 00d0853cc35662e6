"""Where a description may come from: files, text, other libraries, xacro, the bundled robots."""

import math
import warnings

import numpy as np
import pytest

from robodyn import urdf
from robodyn.description import Actuator, Inertia, Joint, Limits, Link, Loop, Mechanism, Mimic, Pose
from robodyn.errors import MissingExtraError, UrdfError, UrdfWarning

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0 0 0.5"/><mass value="2"/>'
    '<inertia ixx="1" ixy="0.1" ixz="0" iyy="1" iyz="0" izz="1.5"/></inertial>'
)
TEXT = f"""<robot name="two">
  <link name="base"/>
  <link name="arm">{INERTIAL}</link>
  <link name="tool">{INERTIAL}</link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="arm"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="arm"/><child link="tool"/>
    <axis xyz="1 0 0"/>
    <limit lower="0" upper="0.1" velocity="1" effort="10"/>
    <mimic joint="turn" multiplier="0.5" offset="0.1"/>
  </joint>
  <transmission name="t"><type>Simple</type>
    <joint name="turn"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator>
  </transmission>
</robot>"""


def assert_same(found: Mechanism, expected: Mechanism):
    """Compare mechanisms whose poses went through matrices."""
    assert found.name == expected.name
    for a, b in zip(found.links, expected.links, strict=True):
        assert a.name == b.name
        assert (a.inertia is None) == (b.inertia is None)
        if a.inertia:
            assert a.inertia.mass == b.inertia.mass
            np.testing.assert_allclose(a.inertia.matrix, b.inertia.matrix, rtol=1e-15)
            np.testing.assert_allclose(a.inertia.origin.matrix, b.inertia.origin.matrix, atol=1e-15)
    for a, b in zip(found.joints, expected.joints, strict=True):
        for key in ("name", "kind", "parent", "child", "limits", "damping", "friction", "mimic"):
            assert getattr(a, key) == getattr(b, key)
        np.testing.assert_allclose(a.origin.matrix, b.origin.matrix, atol=1e-15)
        np.testing.assert_allclose(a.axis, b.axis, atol=1e-15)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "two.urdf"
    path.write_text(TEXT)
    return path


def test_path_name_text_and_bytes_give_the_same(path):
    expected = urdf.load_mechanism(path)
    assert expected.file == str(path)
    for source in (str(path), TEXT, "\n  " + TEXT, TEXT.encode(), bytearray(TEXT.encode())):
        assert urdf.load_mechanism(source) == expected


def test_a_mechanism_is_checked_and_returned(path):
    mechanism = urdf.load_mechanism(path)
    assert urdf.load_mechanism(mechanism) is mechanism


def test_urchin_model(path):
    urchin = pytest.importorskip("urchin")
    model = urchin.URDF.load(str(path))
    with pytest.warns(UserWarning, match="links base have mass 1 and inertia identity"):
        found = urdf.load_mechanism(model)
    expected = urdf.load_mechanism(path)
    assert found.links[0].inertia == Inertia(1.0, Pose(), 1.0, 0, 0, 1.0, 0, 1.0)
    assert found.actuators == expected.actuators
    links = (Link("base"), *found.links[1:])
    assert_same(Mechanism(found.name, links, found.joints), expected)


def test_yourdfpy_model(path):
    yourdfpy = pytest.importorskip("yourdfpy")
    model = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=False)
    with warnings.catch_warnings(action="error"):
        found = urdf.load_mechanism(model)
    assert_same(found, urdf.load_mechanism(path))


LINKS = (Link("a"), Link("b", Inertia(1.0)))


@pytest.mark.parametrize(
    ("mechanism", "element", "words"),
    [
        (Mechanism("r", (*LINKS, Link("a"))), "link 'a'", "twice"),
        (Mechanism("r", LINKS, (Joint("j", "revolut", "a", "b"),)), "joint 'j'", "did you mean"),
        (
            Mechanism("r", LINKS, (Joint("j", "revolute", "a", "b", axis=(0, 0, 2)),)),
            "joint 'j'",
            "not a unit vector",
        ),
        (
            Mechanism(
                "r",
                LINKS,
                (Joint("j", "revolute", "a", "b"),),
                (Loop("x", "fixed", "a", "b", Pose((math.inf, 0, 0))),),
            ),
            "loop 'x'",
            "predecessor",
        ),
        (
            Mechanism("r", (Link("a"), Link("b", Inertia(1.0, Pose((0, math.inf, 0)))))),
            "link 'b'",
            "origin",
        ),
    ],
)
def test_mechanisms_made_by_programs_are_checked(mechanism, element, words):
    with pytest.raises(UrdfError, match=words) as caught:
        urdf.load_mechanism(mechanism)
    assert caught.value.element == element


class Bag:
    """An object with the attributes given, as urdfpy's are."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def urdfpy_model(kind="revolute", axis=(0.0, 0.0, 2.0), **joint):
    inertial = Bag(mass=2.0, inertia=np.diag([1.0, 1.0, 1.5]), origin=np.eye(4))
    motor = Bag(name="m", mechanicalReduction=50.0)
    attributes = {
        "name": "j",
        "joint_type": kind,
        "parent": "a",
        "child": "b",
        "origin": None,
        "axis": np.array(axis),
        "limit": None,
        "dynamics": None,
        "mimic": None,
    }
    return Bag(
        name="r",
        links=[Bag(name="a", inertial=None), Bag(name="b", inertial=inertial)],
        joints=[Bag(**attributes | joint)],
        transmissions=[Bag(name="t", joints=[Bag(name="j")], actuators=[motor])],
    )


def test_couplings_of_urdfpy_models_are_left_out_with_a_warning():
    model = urdfpy_model()
    (transmission,) = model.transmissions
    transmission.joints.append(Bag(name="k"))
    with pytest.warns(UrdfWarning, match="transmission 't'.*couples the joints 'j', 'k'"):
        assert not urdf.load_mechanism(model).actuators


def test_urdfpy_model_by_its_looks():
    limit = Bag(lower=None, upper=0.5, velocity=1.0, effort=None)
    mechanism = urdf.load_mechanism(urdfpy_model(limit=limit))
    assert mechanism == Mechanism(
        "r",
        (Link("a"), Link("b", Inertia(2.0, Pose(), 1.0, 0.0, 0.0, 1.0, 0.0, 1.5))),
        (
            Joint(
                "j",
                "revolute",
                "a",
                "b",
                axis=(0.0, 0.0, 1.0),
                limits=Limits(0.0, 0.5, 1.0, math.inf),
            ),
        ),
        actuators=(("j", Actuator(50.0, name="m")),),
    )


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (urdfpy_model("revolut"), "unknown joint type 'revolut'"),
        (urdfpy_model(axis=(0.0, 0.0, 0.0)), "not a unit vector"),
        (urdfpy_model(axis=(0.0, math.nan, 0.0)), r"axis\[0\] is nan"),
        (urdfpy_model(origin=np.full((4, 4), math.inf)), "origin"),
        (urdfpy_model(mimic=Bag(joint="k", multiplier=None, offset=None)), "no joint 'k'"),
        (urdfpy_model(parent="c"), "no link 'c'"),
    ],
)
def test_models_are_checked_as_files_are(model, words):
    with pytest.raises(ValueError, match=words) as caught:
        urdf.load_mechanism(model)
    assert caught.value.element == "joint 'j'"


def test_mimic_of_a_model():
    model = urdfpy_model()
    model.links.append(Bag(name="c", inertial=model.links[1].inertial))
    mimic = Bag(joint="j", multiplier=None, offset=0.5)
    model.joints.append(
        Bag(**vars(model.joints[0]) | {"name": "k", "parent": "b", "child": "c", "mimic": mimic})
    )
    assert urdf.load_mechanism(model).joints[1].mimic == Mimic("j", 1.0, 0.5)


XACRO = f"""<?xml version="1.0"?>
<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="height" value="0.5"/>
  <xacro:macro name="arm" params="side">
    <link name="${{side}}_arm">{INERTIAL}</link>
    <joint name="${{side}}_turn" type="revolute">
      <parent link="base"/><child link="${{side}}_arm"/>
      <origin xyz="0 0 ${{2 * height}}"/>
    </joint>
  </xacro:macro>
  <link name="base"/>
  <xacro:arm side="left"/>
  <xacro:arm side="right"/>
</robot>"""


def test_xacro_files_are_expanded(tmp_path):
    pytest.importorskip("xacro")
    path = tmp_path / "two.urdf.xacro"
    path.write_text(XACRO)
    mechanism = urdf.load_mechanism(path)
    assert [joint.name for joint in mechanism.joints] == ["left_turn", "right_turn"]
    assert mechanism.joints[1].origin.xyz == (0.0, 0.0, 1.0)


def test_xacro_is_an_extra(tmp_path, monkeypatch):
    path = tmp_path / "two.xacro"
    path.write_text(XACRO)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"\[xacro\]"):
        urdf.load_mechanism(path)
