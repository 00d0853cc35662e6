"""`strict=False`: what the field's readers skip or accept is read, with one warning of it all."""

import math
import warnings

import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.errors import UrdfWarning

BODY = (
    '<inertial><origin xyz="0 0 0.5"/><mass value="2"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
ARM = f"""<robot name="r">
<link name="a"/>
<link name="b">{BODY}</link>
<link name="c"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5"/>
<dynamics damping="3"/></joint>
<joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>
</robot>"""


def arm(old="", new=""):
    assert old in ARM
    return ARM.replace(old, new, 1)


def leniently(text):
    """The mechanism of a text, and the only warning."""
    with warnings.catch_warnings(record=True, action="always") as heard:
        mechanism = rd.load(text, strict=False).mechanism
    assert [one.category for one in heard] == [UrdfWarning]
    return mechanism, heard[0].message


def body(mechanism):
    return mechanism.links[1].inertia


def joint(mechanism):
    return mechanism.joints[0]


# what is written -> line, what of it is read and what it is, and what of the robot it may change
MAY_CHANGE_THE_ROBOT = {
    "misspelt attribute": (arm('rpy="0 0 0"', 'rrpy="1 0 0"'), 6, joint, "origin.rpy", (0, 0, 0)),
    "exchanged letters": (arm('axis xyz="0 1 0"', 'axis xzy="0 1 0"'), 6, joint, "axis", (1, 0, 0)),
    "misspelt element": (arm("<dynamics", "<dynamic"), 7, joint, "damping", 0),
    "no ixy": (arm('ixy="0" '), 3, body, "ixy", 0),
    "another iyx": (arm('ixy="0" ', 'ixy="0" iyx="0.5" '), 3, body, "ixy", 0),
    "no inertia": (arm(BODY[BODY.index("<inertia ") : -11]), 3, body, "mass", 2),
    "no mass": (arm('<mass value="2"/>'), 3, body, "mass", 0),
    "mass in a link": (arm(BODY, '<mass value="2"/>'), 3, lambda m: m.links[1], "inertia", None),
    "density": (arm("<mass", '<density value="9"/><mass'), 3, body, "mass", 2),
    "decimal comma": (arm('value="2"', 'value="2,5"'), 3, body, "mass", 2.5),
    "unit": (arm('value="2"', 'value="2kg"'), 3, body, "mass", 2),
    "commas between": (arm('"0 1 0"', '"0, 1, 0"'), 6, joint, "axis", (0, 1, 0)),
    "four numbers": (arm('xyz="0 0 1"', 'xyz="0 0 1 9"'), 6, joint, "origin.xyz", (0, 0, 1)),
    "no direction": (arm('"0 1 0"', '"0 0 0"'), 6, joint, "axis", (1, 0, 0)),
    "second element": (
        arm("<dynamics", '<dynamics damping="9"/><dynamics'), 7, joint, "damping", 9,
    ),
    "negative damping": (arm('"3"', '"-3"'), 7, joint, "damping", 0),
    "negative effort": (arm('"5"', '"-5"'), 6, joint, "limits.effort", math.inf),
    "number of another kind": (
        arm("<dynamics", '<pitch value="1"/><dynamics'), 7, joint, "kind", "revolute",
    ),
    "mimics nothing": (arm("<dynamics", "<mimic/><dynamics"), 7, joint, "mimic", None),
    "mimics nobody": (
        arm("<dynamics", '<mimic joint="x"/><dynamics'), 5, joint, "mimic", None,
    ),
    "inertial in the robot": (
        arm('<link name="c"/>', f'<link name="c"/>{BODY}'), 4, body, "mass", 2,
    ),
    "second link": (
        arm('<link name="c"/>', '<link name="c"/><link name="b"/>'), 4, body, "mass", 2,
    ),
    "name space": (arm("<axis", '<axis xmlns="other"'), 6, joint, "axis", (0, 1, 0)),
    "prefix": (arm("<axis", '<x:axis xmlns:x="other"'), 6, joint, "axis", (1, 0, 0)),
    "prefix of an attribute": (arm("lower", "x:lower"), 6, joint, "limits.lower", 0),
    "within another tool's": (
        arm('<axis xyz="0 1 0"/>', '<x:y><axis xyz="0 1 0"/></x:y>'), 6, joint, "axis", (1, 0, 0),
    ),
    "origin within another tool's": (
        arm('<origin xyz="0 0 1" rpy="0 0 0"/>', '<gazebo><origin xyz="0 0 1"/></gazebo>'),
        6, joint, "origin.xyz", (0, 0, 0),
    ),
    "call of a macro": (arm("<dynamics", "<xacro:motor/><dynamics"), 7, joint, "damping", 3),
    "rest of a tag": (arm("<dynamics ", "dynamics "), 5, joint, "damping", 0),
    "impossible inertia": (arm('ixx="1"', 'ixx="9"'), 3, body, "ixx", 9),
    "no loop": (
        arm('<link name="c"/>', '<loop_thing name="l"/><link name="c"/>'), 4, body, "mass", 2,
    ),
    "after the end": (arm("</robot>", "</robot>\n<robot/>"), 10, body, "mass", 2),
    "ampersand": (arm('<robot name="r"', '<robot name="r & s"'), 1, body, "mass", 2),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "part", "path", "value"), MAY_CHANGE_THE_ROBOT.values(),
    ids=MAY_CHANGE_THE_ROBOT,
)  # fmt: skip
def test_what_may_change_the_robot_is_an_error_or_read_leniently(text, line, part, path, value):
    with pytest.raises((rd.UrdfError, rd.InertiaError)) as caught:
        rd.load(text)
    assert caught.value.line == line
    mechanism, warning = leniently(text)
    found = part(mechanism)
    for name in path.split("."):
        found = getattr(found, name)
    assert found == value
    assert line in [place.line for place in warning.places]
    assert urdf.problems(text, strict=False) == []


# what is written -> line of the warning
CANNOT_CHANGE_THE_ROBOT = {
    "property of xacro": (arm("<dynamics", "<xacro:property name='p'/><dynamics"), 7),
    "macro of xacro": (arm('<link name="c"/>', '<link name="c"/><xacro:macro name="m"/>'), 4),
    "words of other tools": (arm('effort="5"', 'effort="5" effort_max="7"'), 6),
    "the other triangle": (arm('ixy="0"', 'ixy="0" iyx="0.0" izx="0" izy="0"'), 3),
    "text": (arm("<dynamics", "and then <dynamics"), 5),
    "bracket": (arm("</joint>", "></joint>"), 5),
    "text of limits": (arm("</joint>", "<limit>text</limit></joint>").replace(
        '<limit lower="-1" upper="1" effort="5"/>', ""), 7),
    "type of the parent": (arm('<parent link="a"', '<parent type="link" link="a"'), 5),
    "world": (arm("</robot>", '<joint name="w" type="fixed"><parent link="world"/><child link="a"/>'
                  "</joint></robot>"), 9),
    "motor of a transmission": (
        arm("</robot>", '<transmission name="t"><joint name="j"/><actuator name="m"><motorInertia>1'
            "</motorInertia></actuator></transmission></robot>"), 9,
    ),
    "capitals": (arm('type="revolute"', 'type="revolute" independent="TRUE"'), 5),
    "no gear": (
        arm("</robot>", '<transmission name="t"><joint name="j"/><actuator name="m">'
            "<mechanicalReduction>0</mechanicalReduction></actuator></transmission></robot>"), 9,
    ),
    "too small": (arm('damping="3"', 'damping="1.76e-400"'), 7),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"), CANNOT_CHANGE_THE_ROBOT.values(), ids=CANNOT_CHANGE_THE_ROBOT
)
def test_what_cannot_change_the_robot_is_a_warning(text, line):
    with pytest.warns(UrdfWarning) as told:
        rd.load(text)
    assert len(told) == 1
    found = told[0].message
    assert line in [place.line for place in found.places or (found,)]


def test_one_warning_lists_each_place_with_its_line_and_what_was_done():
    text = arm('ixx="1"', 'ixx="9"').replace('type="fixed"', 'type="revolute"')
    with pytest.raises(rd.InertiaError) as caught:
        rd.load(text)
    assert "strict=False" in "".join(caught.value.__notes__)
    mechanism, warning = leniently(text)
    assert body(mechanism).ixx == 9.0
    assert [place.line for place in warning.places] == [3, 8]
    for place in warning.places:
        assert f"line {place.line}" in str(warning)
        assert place.leniently in str(warning)


def test_all_that_is_wrong_comes_in_one_go():
    lines = arm().splitlines()
    lines[2] = lines[2].replace('value="2"', 'value="2,0"').replace('ixx="1"', 'ixx="9"')
    lines[5] = lines[5].replace("rpy", "rrpy").replace("0 1 0", "0 0 0")
    lines[6] = (
        lines[6].replace("<dynamics", "<dynamic").replace("</joint>", "<mimic joint='x'/></joint>")
    )
    lines[7] = lines[7].replace('child link="c"', 'child link="e"')
    text = "\n".join(lines)
    found = urdf.problems(text)
    assert sorted(problem.line for problem in found) == [3, 3, 5, 6, 6, 7, 8]
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(text)
    notes = "\n".join(caught.value.__notes__)
    assert "6 more" in notes
    for problem in found[1:]:
        assert str(problem) in notes


@pytest.mark.parametrize(
    "text",
    [
        arm("</robot>"),
        arm('"0 1 0"', '"0 ${y} 0"'),
        arm('value="2"', 'value="nan"'),
        arm('parent link="a"', 'parent link="x"'),
        arm('type="revolute"', 'type="hinge"'),
    ],
)
def test_what_leaves_the_robot_in_doubt_is_an_error_in_any_case(text):
    with pytest.raises((rd.UrdfError, rd.TopologyError)):
        rd.load(text, strict=False)


def test_letters_of_another_encoding_are_read(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(arm("</robot>", "<!-- é -->\n</robot>").encode("latin-1"))
    with pytest.raises(rd.UrdfError, match="utf-8"):
        rd.load(path)
    mechanism, warning = leniently(path)
    assert body(mechanism).mass == 2.0
    assert warning.places[0].line == 9


def test_a_document_type_that_defines_nothing_is_passed_over():
    assert body(rd.load("<!DOCTYPE robot>\n" + ARM).mechanism).mass == 2.0


def test_elements_that_xml_cannot_write_canonically_are_compared():
    twice = '<dynamics damping="3" xmlns:x="relative/space"/>'
    text = arm("<dynamics", f"{twice}<dynamics")
    with pytest.raises(rd.UrdfError, match="second <dynamics>"):
        rd.load(text.replace('damping="3"', 'damping="4"', 1))
    rd.load(text)


def test_of_many_unknown_attributes_the_first_are_told_and_the_others_counted():
    names = " ".join(f'a{i}="1"' for i in range(20_000))
    (error,), warned = urdf.findings(arm('<link name="c"', f'<link name="c" {names}'))
    assert "19900 more" in str(error)
    assert len(warned) == 100
