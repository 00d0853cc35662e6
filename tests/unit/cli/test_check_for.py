"""``robodyn check --for``: the places that another program reads otherwise, as it really does."""

import json
from pathlib import Path

import pytest
from lxml import etree

from robodyn.cli import main
from robodyn.urdf.other_readers import RULES

JOINT = """<robot name="r"{version}><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="{kind}"><parent link="a"/><child link="b"/><origin {origin}/>
<axis xyz="0 0 1"/>{more}</joint></robot>"""
GOOD = '<limit lower="-1" upper="1" effort="2" velocity="3"/>'


def joint(kind="revolute", more=GOOD, version="", origin='xyz="0 0 0"'):
    return JOINT.format(kind=kind, more=more, version=version, origin=origin)


def told(path, *programs, capsys):
    options = [word for program in programs for word in ("--for", program)]
    assert main(["check", *options, "--json", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    return [x for x in found if x["severity"] == "note"]


@pytest.mark.parametrize(
    ("program", "text", "line", "word"),
    [
        ("mujoco", joint(more='<limit upper="1" effort="2" velocity="3"/>'), 4, "unlimited"),
        ("pinocchio", joint(more=GOOD.replace('"2"', '"inf"')), 4, "urdfdom"),
        ("pinocchio", joint(more='<limit lower="-1" upper="1" velocity="1"/>'), 4, "urdfdom"),
        ("pinocchio", joint(origin='quat_xyzw="0 0 0 1"'), 3, "version"),
        ("drake", joint("planar", '<dynamics damping="1"/>'), 4, "three"),
        ("isaac", joint("planar", ""), 3, "two speeds"),
    ],
)  # fmt: skip
def test_places_are_named(program, text, line, word, tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    (found,) = [x for x in told(path, program, capsys=capsys) if word in x["message"]]
    assert (found["element"], found["line"]) == ("joint 'j'", line)
    path.write_text(joint(version=' version="1.1"'))
    assert not [x for x in told(path, program, capsys=capsys) if word in x["message"]]
    assert not told(path, capsys=capsys)


def test_what_only_robodyn_reads_is_listed(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    spring = '<dynamics spring_stiffness="2"/>'
    path.write_text(joint(more=GOOD + spring))
    assert any("springs of joints (j)" in x["message"] for x in told(path, "mujoco", capsys=capsys))


def test_mjcf(tmp_path, capsys):
    pytest.importorskip("mujoco")
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco><worldbody><body name="b"><joint name="s" type="slide" axis="1 0 0" armature="1"/>'
        '<joint name="h"/><geom size=".1" axisangle="0 0 2 90"/></body></worldbody></mujoco>'
    )
    words = {"drake": "armature", "isaac": "hinge after a slide", "pinocchio": "normalise"}
    for program, word in words.items():
        assert any(word in x["message"] for x in told(path, program, capsys=capsys))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.program} {rule.says[:30]}")
def test_every_rule_is_a_path_and_a_row_of_the_manual(rule):
    etree.XPath(rule.path)
    page = Path(__file__).parents[3] / "docs" / "coming_from" / "readers.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith("| " + rule.kind)]
    assert any(rule.program in row.rsplit("|", 2)[1] for row in rows)


@pytest.mark.parametrize(
    ("says", "told", "silent"),
    [
        (
            "one limit as unlimited",
            ('<joint type="revolute"><limit lower="0"/></joint>',
             '<joint type="prismatic"><limit upper="0"/></joint>'),
            ('<joint type="revolute"><limit lower="0" upper="1"/></joint>',
             '<joint type="prismatic"><limit/></joint>',
             '<joint type="continuous"><limit upper="0"/></joint>'),
        ),
        (
            "a gear ratio of 1",
            [f"<transmission><joint><mechanicalReduction>{x}</mechanicalReduction></joint>"
             "</transmission>" for x in ("50", "0.5", "-1")],
            ["<transmission><joint><mechanicalReduction>1.0</mechanicalReduction></joint>"
             "</transmission>"],
        ),
        (
            "an effort limit of 0",
            ['<joint><limit effort="0.0"/></joint>'],
            ['<joint><limit effort="1"/></joint>', "<joint><limit/></joint>"],
        ),
        (
            "the armature of a joint out",
            ['<mujoco><joint armature="1"/></mujoco>',
             '<mujoco><joint armature="1"/><actuator><motor tendon="t"/></actuator></mujoco>'],
            ['<mujoco><joint/></mujoco>',
             '<mujoco><joint armature="1"/><actuator><motor joint="j"/></actuator></mujoco>'],
        ),
        (
            "all but the last hinge",
            ['<body><joint/><joint type="hinge"/></body>'],
            ['<body><joint/><joint type="slide"/></body>',
             "<body><joint/><body><joint/></body></body>"],
        ),
        (
            "in capitals",
            ['<compiler eulerseq="xYz"/>'],
            ['<compiler eulerseq="zyx"/>', "<compiler/>"],
        ),
    ],
)  # fmt: skip
def test_rules_find_what_they_say_and_nothing_else(says, told, silent):
    (rule,) = (x for x in RULES if says in x.says)
    for texts, count in ((told, 1), (silent, 0)):
        for text in texts:
            assert len(etree.fromstring(text).xpath(rule.path)) == count, text


def test_mujoco_takes_one_limit_for_none():
    mujoco = pytest.importorskip("mujoco")
    text = joint(more='<limit upper="1" effort="2" velocity="3"/>')
    assert not mujoco.MjModel.from_xml_string(text).jnt_limited[0]
    assert mujoco.MjModel.from_xml_string(joint()).jnt_limited[0]


def test_pinocchio_refuses_limits_and_ignores_quaternions():
    pin = pytest.importorskip("pinocchio")
    for more in ("", '<limit lower="-1" upper="1"/>', GOOD.replace('"2"', '"inf"')):
        with pytest.raises(ValueError):
            pin.buildModelFromXML(joint(more=more))
    half = 'quat_xyzw="0 0 0.7071067811865476 0.7071067811865476"'
    turned = [
        abs(pin.buildModelFromXML(joint(origin=half, version=x)).jointPlacements[1].rotation[0, 0])
        for x in ("", ' version="1.0"', ' version="1.1"')
    ]
    assert turned[:2] == [1.0, 1.0]
    assert turned[2] < 1e-9


def test_what_is_not_looked_at_is_said(tmp_path, capsys):
    """Formats without rules, xacro before it is expanded, and files that MJCF includes."""
    pytest.importorskip("mujoco")
    pytest.importorskip("xacro")
    sdf, xacro, scene = (tmp_path / x for x in ("r.sdf", "r.urdf.xacro", "scene.xml"))
    assert main(["convert", "double_pendulum", str(sdf)]) == 0
    space = '<robot xmlns:xacro="http://ros.org/wiki/xacro"'
    value = '<xacro:property name="x" value="1"/><link name="a"/>'
    text = joint().replace("<robot", space).replace('<link name="a"/>', value)
    xacro.write_text(text.replace('xyz="0 0 1"', 'xyz="0 0 ${x}"'))
    (tmp_path / "arm.xml").write_text('<mujoco><worldbody><body name="b"/></worldbody></mujoco>')
    scene.write_text('<mujoco><include file="arm.xml"/></mujoco>')
    capsys.readouterr()
    for path, said in (
        (sdf, "how mujoco, drake read this format is not known"),
        (xacro, "xacro file that is not expanded"),
        (scene, "included file says is not looked at"),
    ):
        found = told(path, "mujoco", "drake", capsys=capsys)
        assert any(said in x["message"] for x in found), found
        assert not told(path, capsys=capsys)


def test_drake_does_not_read_words_of_robodyn(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    motor = '<motor joint="j" gear_ratio="3"/></robot>'
    path.write_text(joint().replace("</robot>", motor))
    assert any("only robodyn reads <motor>" in x["message"]
               for x in told(path, "drake", capsys=capsys))  # fmt: skip
