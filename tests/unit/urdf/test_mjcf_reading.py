"""What MJCF says that is read, refused, left out with a warning, or wrong."""

import dataclasses
import os
import sys
import warnings

import numpy as np
import pytest
from support.mjcf_models import ARM, GRIPPER, LEG, WELDED

import robodyn as rd
from robodyn.urdf import parse, write

mujoco = pytest.importorskip("mujoco")

PENDULUM = """<mujoco model="pendulum">{0}<worldbody>
<body name="arm"><joint name="swing" axis="0 1 0"{1}/><geom name="bob" size="0.1" pos="0 0 -1"/>
 <site name="tip" pos="0 0 -1"/>
 <body name="fore" pos="0 0 -1"><joint name="elbow" axis="0 1 0"/><geom size="0.1" pos="0 0 -1"/>
 {2}</body></body></worldbody>{3}</mujoco>"""


def _text(top="", joint="", inner="", end=""):
    return PENDULUM.format(top, joint, inner, end)


def _told(*args, **kwargs):
    with warnings.catch_warnings(record=True, action="always") as caught:
        robot = rd.load(*args, **kwargs)
    return robot, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("text", [ARM, LEG, GRIPPER, WELDED], ids=["arm", "leg", "grip", "weld"])
@pytest.mark.filterwarnings("ignore::robodyn.errors.UrdfWarning")
def test_what_is_written_as_urdf_reads_back_equal(text):
    mechanism = rd.load(text).mechanism
    assert parse(write(mechanism))[0] == mechanism


@pytest.mark.parametrize(
    ("text", "element", "reason"),
    [
        (_text('<option density="1.2"/>'), "<option>", "the density of a medium"),
        (_text('<option viscosity="1" wind="1 0 0"/>'), "<option>", "wind has no counterpart"),
        (
            _text('<option viscosity="1"/>').replace('name="bob"', 'fluidshape="ellipsoid"'),
            "body 'arm'",
            "by the shape of a geom",
        ),
        (
            _text().replace('name="fore"', 'name="fore" gravcomp="-1"'),
            "body 'fore'",
            "a negative gravcomp",
        ),
        (
            _text().replace(
                'joint name="swing" axis="0 1 0"', 'joint name="swing" type="ball" stiffness="3"'
            ),
            "joint 'swing'",
            "a spring in a ball or free joint",
        ),
        (
            _text(
                end='<equality><joint joint1="swing" joint2="elbow" polycoef="0 1 2 0 0"/>'
                '<joint name="cam" joint1="elbow" joint2="swing" polycoef="0 1 2 0 0"/></equality>'
            ),
            "equality 'cam'",
            "or leads joint 'swing'",
        ),
        (
            _text(
                inner='<site name="a"/><site name="b" pos="0 0 -1"/>',
                end='<tendon><spatial name="cord" stiffness="3"><site site="a"/><site site="tip"/>'
                '<site site="b"/></spatial></tendon>',
            ),
            "tendon 'cord'",
            "straight from one site to another",
        ),
        (
            _text(
                end='<tendon><fixed name="cord" stiffness="3" springlength="0 1">'
                '<joint joint="swing" coef="1"/></fixed></tendon>'
            ),
            "tendon 'cord'",
            "slack over a range",
        ),
        (
            _text(
                end='<tendon><fixed name="cord"><joint joint="swing" coef="1"/>'
                '</fixed><fixed name="rope"><joint joint="elbow" coef="1"/></fixed></tendon>'
                '<equality><tendon name="tied" tendon1="cord" tendon2="rope"'
                ' polycoef="0 1 2 0 0"/></equality>'
            ),
            "equality 'tied'",
            "by a polynomial",
        ),
        (
            _text(
                end='<equality><joint name="one" joint1="swing" joint2="elbow"/>'
                '<joint name="two" joint1="elbow" joint2="swing"/></equality>'
            ),
            "equality 'two'",
            "in a circle",
        ),
    ],
)
def test_what_acts_on_bodies_and_has_no_counterpart_is_refused(text, element, reason):
    with pytest.raises(rd.UrdfError, match=reason) as caught:
        rd.load(text)
    assert caught.value.element == element
    robot, told = _told(text, strict=False)
    assert robot.nv >= 1
    assert len(told) == 1 and reason in told[0] and "left out" in told[0]


def test_what_acts_in_contacts_or_by_hand_is_left_out_with_one_warning():
    text = _text(
        top='<option gravity="0 0 -1.62"/>',
        inner='<site name="wrist" pos="0 0 -1"/>',
        end="""<tendon><spatial name="wire" range="0 3" limited="true"><site site="tip"/>
          <site site="wrist"/></spatial></tendon>
        <actuator><motor name="winch" tendon="wire"/><position name="servo" joint="elbow" kp="9"/>
          <muscle name="biceps" joint="swing" ctrlrange="0 1" lengthrange="0 1"/></actuator>
        <sensor><jointpos joint="swing"/></sensor>
        <equality><weld name="grasp" body1="fore" active="false"/></equality>""",
    )
    robot, told = _told(text, gravity=(0, 0, -1.62))
    assert len(told) == 1
    for part in (
        "contacts of 2 geoms",
        "1 sensor",
        "limits of tendons 'wire'",
        "drive no single joint: 'winch'",
        "follow their controls: 'servo', 'biceps'",
        "inactive equality constraints 'grasp'",
        "gravity of the file is (0, 0, -1.62)",
        "gravity=(0, 0, -1.62)",
    ):
        assert part in told[0], part
    assert robot.actuated_joints == ("swing", "elbow")
    quiet = _text(top='<option><flag contact="disable"/></option>')
    assert _told(quiet)[1] == []


def test_switches_of_the_file_are_obeyed():
    newer = hasattr(mujoco.mjtDisableBit, "mjDSBL_SPRING")
    what = ("spring", "damper") if newer else ("passive",)
    off = "".join(f' {word}="disable"' for word in (*what, "frictionloss", "gravity"))
    text = _text(
        top=f"<option><flag{off}/></option>",
        joint=' stiffness="3" damping="2" frictionloss="1" armature="0.5"',
    )
    robot, told = _told(text)
    (joint, _) = (j for j in robot.mechanism.joints if j.nv)
    assert (joint.stiffness, joint.damping, joint.friction, joint.armature) == (0, 0, 0, 0.5)
    assert "gravity of the file is (0, 0, 0)" in told[0]


def test_two_motors_of_a_joint_push_together():
    text = _text(
        end="""<actuator><motor name="a" joint="swing" gear="10" ctrlrange="-2 2"/>
        <motor name="b" joint="swing" gear="5" ctrlrange="-1 3"/></actuator>"""
    )
    robot, told = _told(text)
    ((name, motor),) = robot.mechanism.actuators
    assert (name, motor.gear_ratio, motor.torque_limit) == ("swing", 10.0, 3.5)
    assert robot.joints["swing"].limits.effort == 35.0
    assert "limits that differ by direction (the larger is taken) of 'b'" in told[0]


def test_motors_of_a_tendon_keep_its_limit():
    """With gears, one without a limit of its own, and together; MuJoCo clamps the sum."""
    text = _text(
        end="""<tendon><fixed name="cord" actuatorfrcrange="-3 3"><joint joint="swing" coef="2"/>
        <joint joint="elbow" coef="1"/></fixed></tendon><actuator>{}</actuator>"""
    )
    one = '<motor tendon="cord" gear="-2"{}/>'
    for given, limit in (("", 1.5), (' ctrlrange="-9 9"', 1.5), (' ctrlrange="-1 1"', 1.0)):
        robot = rd.load(text.format(one.format(given)))
        assert robot.actuators["cord"].torque_limit == limit
        assert robot.joints["cord"].limits.effort == 2.0 * limit
    both = rd.load(text.format(one.format("") + one.format(' ctrlrange="-1 1"')))
    assert both.joints["cord"].limits.effort == pytest.approx(3.0)


def test_ranges_of_joints_and_tendons_that_differ_by_direction_are_told():
    text = _text(
        joint=' actuatorfrcrange="-2 3"',
        end="""<tendon><fixed name="cord" actuatorfrcrange="-4 3"><joint joint="swing" coef="2"/>
        <joint joint="elbow" coef="1"/></fixed></tendon>
        <actuator><motor tendon="cord"/><motor joint="swing"/></actuator>""",
    )
    robot, told = _told(text)
    assert any("(the larger is taken) of 'swing', 'cord'" in line for line in told)
    assert robot.actuators["cord"].torque_limit == 4.0
    assert robot.joints["swing"].limits.effort == 3.0


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_delay"), reason="an older mujoco")
def test_controls_that_act_later_are_told():
    text = _text(
        end='<actuator><motor name="a" joint="swing" delay="0.02" nsample="12"/></actuator>'
    )
    assert any("delays of the controls of 'a'" in line for line in _told(text)[1])


@pytest.mark.skipif(not hasattr(mujoco.mjtGain, "mjGAIN_DCMOTOR"), reason="an older mujoco")
@pytest.mark.parametrize("controls", ['ctrlrange="-24 12"', 'input="pos" controller="5 0 1"'])
def test_dc_motors_keep_their_constants(controls):
    text = _text(
        end=f"""<actuator><dcmotor name="a" joint="swing" gear="-5" motorconst="0.05 0.03"
        resistance="2" inductance="1e-3" armature="1e-4" saturation="3" {controls}/></actuator>"""
    )
    robot, told = _told(text)
    ((name, actuator),) = robot.actuators.items()
    motor = actuator.motor
    assert (name, actuator.gear_ratio, actuator.torque_limit) == ("swing", -5.0, 3.0)
    assert motor.voltage == (24.0 if "range" in controls else None)
    found = [motor.torque_constant, motor.resistance, motor.inductance]
    np.testing.assert_allclose(found, [np.sqrt(0.05 * 0.03), 2.0, 1e-3], rtol=1e-12)
    assert any("follow their controls: 'a'" in line for line in told)


@pytest.mark.skipif(not hasattr(mujoco.mjtGain, "mjGAIN_DCMOTOR"), reason="an older mujoco")
def test_dc_motors_whose_control_is_their_voltage_have_a_winding(tmp_path):
    motor = rd.Motor(0.05, 2.0, inductance=1e-3, voltage=24.0)
    given = '<dcmotor name="{}" joint="swing" gear="-5" motorconst="0.05" resistance="2" {}/>'
    plain = given.format("a", 'inductance="1e-3" ctrlrange="-24 24"')
    robot, told = _told(_text(end=f"<actuator>{plain}</actuator>"))
    assert robot.actuated_joints == ("swing_winding",)
    assert not any("follow their controls" in line for line in told)
    (actuator,) = dict(robot.mechanism.actuators).values()
    assert (actuator.gear_ratio, actuator.motor, actuator.command) == (-5.0, motor, "voltage")
    rd.convert(robot, tmp_path / "again.xml")
    again = rd.load(tmp_path / "again.xml")
    assert dict(again.mechanism.actuators)["swing"] == actuator
    for more in ({"torque_limit": 3.0}, {"motor": dataclasses.replace(motor, current=9.0)}):
        limited = rd.load(
            "double_pendulum", actuators={"elbow": dataclasses.replace(actuator, **more)}
        )
        lost = rd.convert(limited, tmp_path / "limited.xml").lost
        assert any("current" in line and "(elbow)" in line for line in lost)
    for other in (
        given.format("a", 'ctrlrange="-24 24"'),
        given.format("a", 'inductance="1e-3" ctrlrange="-24 12"'),
        given.format("a", 'inductance="1e-3" cogging="0.1 3 0"'),
        plain + '<motor name="b" joint="swing"/>',
    ):
        robot, told = _told(_text(end=f"<actuator>{other}</actuator>"))
        assert robot.actuated_joints == ("swing",)
        assert any("follow their controls: 'a'" in line for line in told)


def test_a_motor_of_a_joint_that_follows_stays_there():
    motors = '<actuator><motor joint="wheel" gear="4" ctrlrange="-1 1"/><motor joint="latch"/>'
    robot = rd.load(WELDED.replace("</equality>", f"</equality>{motors}</actuator>"))
    ((name, motor),) = robot.mechanism.actuators
    assert (name, motor.gear_ratio, motor.torque_limit) == ("wheel", 4.0, 1.0)
    assert robot.actuated_joints == ("wheel",)


def test_what_is_held_holds_what_follows():
    held = '<joint name="stop" joint1="{}" polycoef="{} 0 0 0 0"/></equality>'
    for joint, position in (("right_driver", 0.1), ("left_driver", 0.1)):
        joints = rd.load(GRIPPER.replace("</equality>", held.format(joint, position))).joints
        kinds = {name: joints[name].kind.name for name in ("left_driver", "right_driver")}
        assert set(kinds.values()) == {"fixed"}
    twice = held.format("right_driver", 0.1).replace("</equality>", held.format("left_driver", 0.2))
    twice = twice.replace('"stop"', '"first"', 1)
    with pytest.raises(rd.UrdfError, match="equality 'stop': joint 'left_driver' is held at two"):
        rd.load(GRIPPER.replace("</equality>", twice))


def test_polynomials_hold_what_follows_and_not_what_leads():
    curve = 'polycoef="0 1 0 0 0"', 'polycoef="0.1 1 0.5 0 0"'
    bent = GRIPPER.replace(*curve)
    assert bent != GRIPPER and rd.load(bent).mechanism.followers[0].curve.coefficients[2] == 0.5
    held = '<joint name="stop" joint1="{}" polycoef="0.2 0 0 0 0"/></equality>'
    robot = rd.load(bent.replace("</equality>", held.format("right_driver")))
    assert {robot.joints[f"{side}_driver"].kind.name for side in ("left", "right")} == {"fixed"}
    with pytest.raises(rd.UrdfError, match="follows 'right_driver' by a polynomial, and is held"):
        rd.load(bent.replace("</equality>", held.format("left_driver")))
    first = held.format("right_driver").replace("</equality>", "")
    before = bent.replace('<joint name="together"', first + '<joint name="together"')
    robot = rd.load(before)
    assert {robot.joints[f"{side}_driver"].kind.name for side in ("left", "right")} == {"fixed"}
    first = held.format("left_driver").replace("</equality>", "")
    before = bent.replace('<joint name="together"', first + '<joint name="together"')
    with pytest.raises(rd.UrdfError, match="leads joint 'left_driver', which is held"):
        rd.load(before)


@pytest.mark.filterwarnings("ignore::robodyn.errors.UrdfWarning")
def test_names_that_nobody_gave_or_that_are_given_twice():
    text = """<mujoco><worldbody><body><joint/><geom size="1"/><site name="hand"/>
    <body name="hand" pos="0 0 1"><joint name="joint_0" pos="0 0.1 0"/><geom size="1"/></body>
    </body></worldbody></mujoco>"""
    robot = rd.load(text)
    assert robot.joint_names == ("joint_0_", "joint_0")
    assert set(robot.frame_names) >= {"world", "body_1", "hand", "hand_site", "joint_0_frame"}


def test_mujoco_says_what_is_wrong(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text('<mujoco>\n<worldbody>\n<body><joint tpe="x"/></body></worldbody></mujoco>')
    with pytest.raises(rd.UrdfError, match=r"arm.xml:3: MuJoCo cannot read it: .*tpe") as caught:
        rd.load(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    with pytest.raises(rd.UrdfError, match="mass and inertia of moving bodies"):
        rd.load("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(rd.UrdfError, match="load the file with <mujoco> that includes it"):
        rd.load("<mujocoinclude><worldbody/></mujocoinclude>")


MESHES = """<mujoco><asset><mesh name="hull" file="hull.stl"/>
<texture name="wood" type="2d" file="wood.png"/><material name="wood" texture="wood"/></asset>
<worldbody><geom type="plane" size="1 1 1" material="wood"/>
<body name="stand"><geom type="mesh" mesh="hull"/>
 <body name="arm">{}<joint name="swing" axis="0 1 0"/><geom type="mesh" mesh="hull"/></body>
</body></worldbody></mujoco>"""


def test_files_of_shapes_may_be_missing_where_inertias_are_given():
    inertial = '<inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/>'
    robot, told = _told(MESHES.format(inertial))
    np.testing.assert_allclose(robot.mass_matrix([0.0]), [[3.0]])
    assert len(told) == 1 and "mass of body 'stand', which stands still" in told[0]
    with pytest.raises(
        rd.UrdfError, match=r"hull.stl.*the mass of body 'arm', which has no <inertial>"
    ):
        rd.load(MESHES.format(""))


@pytest.mark.filterwarnings("ignore::robodyn.errors.UrdfWarning")
def test_includes_are_read_beside_the_file(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "body.xml").write_text(
        '<mujocoinclude><body name="arm"><joint name="j"/><geom size="1"/></body></mujocoinclude>'
    )
    scene = tmp_path / "scene.xml"
    scene.write_text('<mujoco><worldbody><include file="parts/body.xml"/></worldbody></mujoco>')
    robot = rd.load(scene)
    assert robot.joint_names == ("j",)
    assert robot.name == "scene"


def test_without_mujoco_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(rd.MissingExtraError, match=r"\[mjcf\]"):
        rd.load(_text())


def test_a_root_with_mass_floats_itself_beside_what_moves_freely_on_it():
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        "</inertial>"
    )
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in "abc")
    joints = "".join(
        f'<joint name="{kind}" type="{kind}"><parent link="a"/><child link="{child}"/></joint>'
        for kind, child in (("floating", "b"), ("continuous", "c"))
    )
    text = f'<robot name="r">{links}{joints}</robot>'
    assert rd.load(text).nv == 7
    assert rd.load(text, base="floating").nv == 13


@pytest.mark.parametrize(
    "asset",
    [
        '<asset><mesh name="m" file="PIPE.stl"/></asset>',
        '<compiler meshdir="parts"/><asset><mesh name="m" file="PIPE.stl"/></asset>',
        '<asset><texture name="t" type="cube" fileright="PIPE.png"/></asset>',
        '<asset><hfield name="h" file="PIPE.png"/></asset>',
        '<include file="PIPE.xml"/>',
        "<include file='more.xml'/>",
        '<asset><mesh name="m" file="&#47;dev/zero"/></asset>',
        '<asset><mesh name="m" file="/dev/../dev/zero"/></asset>',
    ],
)
def test_pipes_and_devices_are_refused_before_they_are_opened(asset, tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    for name in ("PIPE.stl", "PIPE.png", "PIPE.xml", "parts/PIPE.stl"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "more.xml").write_text(
        '<mujocoinclude>\n<asset><mesh name="m" file="PIPE.stl"/></asset></mujocoinclude>'
    )
    text = f'<mujoco>\n{asset}<worldbody><body><geom size="1"/></body></worldbody></mujoco>'
    path = tmp_path / "model.xml"
    path.write_text(text)
    with pytest.raises(rd.UrdfError, match="a pipe or a device") as caught:
        rd.load(path)
    assert caught.value.line == 2
    assert caught.value.file == str(tmp_path / ("more.xml" if "more" in asset else "model.xml"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rd.UrdfError, match="a pipe or a device"):
        rd.load(text)
