"""Misspelt and misplaced elements and attributes are errors; what other tools write is accepted."""

import json
import warnings

import pytest

from robodyn import urdf
from robodyn.__main__ import main
from robodyn.errors import UrdfError, UrdfWarning

BODY = '<inertial><origin xyz="0 0 1"/><mass value="1"/>'
BODY += '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def robot(inner="", *, joint="", link="", attributes="", kind="revolute"):
    """Two links and a joint, with something more in one place, in line 4, 3 or 5."""
    return (
        '<robot name="r">\n'
        f'<link name="a">{BODY}</link>\n'
        f'<link name="b">{BODY}{link}</link>\n'
        f'<joint name="j" type="{kind}" {attributes}><parent link="a"/><child link="b"/>{joint}'
        "</joint>\n"
        f"{inner}\n"
        "</robot>"
    )


def test_the_robot_itself_is_sound():
    assert urdf.findings(robot()) == ([], [])


# text, line, words of the message, suggestion
MISTAKES = {
    "orgin": (robot(joint='<orgin xyz="0 0 1"/>'), 4, "<orgin> in <joint>", "origin"),
    "xzy": (robot(joint='<origin xzy="0 0 1"/>'), 4, "<origin> xzy=", "xyz"),
    "dynamic": (robot(joint='<dynamic damping="1"/>'), 4, "<dynamic>", "dynamics"),
    "dampping": (robot(joint='<dynamics dampping="1"/>'), 4, "dampping", "damping"),
    "multipler": (robot(joint='<mimic joint="j" multipler="2"/>'), 4, "multipler", "multiplier"),
    "mimics": (robot(joint='<mimics joint="j"/>'), 4, "<mimics>", "mimic"),
    "gearratio": (robot('<motor joint="j" gearratio="9"/>'), 5, "gearratio", "gear_ratio"),
    "lnk": (robot('<rotor name="w" lnk="b" inertia="1"/>'), 5, "lnk", "link"),
    "rotor without link": (robot('<rotor name="w" inertia="1"/>'), 5, "has no link", None),
    "spring without link": (robot('<spring link2="b" stiffness="1"/>'), 5, "has no link1", None),
    "loop in a joint": (robot(joint='<loop name="l"/>'), 4, "<loop> has no place in", None),
    "limit in a link": (robot(link='<limit lower="0"/>'), 3, "it belongs in <joint>", None),
    "inertial in a visual": (robot(link=f"<visual>{BODY}</visual>"), 3, "<inertial>", None),
    "xyz on a joint": (robot(attributes='xyz="0 0 1"'), 4, "belongs in <origin>", None),
    "case of an element": (robot(joint='<Origin xyz="0 0 1"/>'), 4, "<Origin>", "origin"),
    "case of an attribute": (robot(joint='<origin XYZ="0 0 1"/>'), 4, "XYZ", "xyz"),
    "unknown in origin": (robot(joint='<origin qqqq="0"/>'), 4, "the attributes quat_xyzw", None),
    "independent": (robot(attributes='independent="yes"'), 4, 'neither "true" nor', None),
    "Link": (robot('<Link name="c"/>'), 5, "<Link> in <robot>", "link"),
    "axis2 of a revolute joint": (robot(joint='<axis2 xyz="0 1 0"/>'), 4, "'universal'", None),
    "pitch of a revolute joint": (robot(joint='<pitch value="1"/>'), 4, "'helical'", None),
    "a lost bracket": (robot(joint='origin xyz="0 0 1"/>'), 4, "a bracket", None),
    "numbers as text": (robot(joint="<origin>0 0 1</origin>"), 4, "'0 0 1', which is not", None),
    "second inertial": (robot(link=BODY.replace("0 0 1", "0 0 2")), 3, "second <inertial>", None),
    "two reductions": (
        robot('<transmission name="t"><joint name="j"/><actuator name="m"><mechanicalReduction>2'
              "</mechanicalReduction><mechanicalReduction>2</mechanicalReduction></actuator>"
              "</transmission>"),
        5, "second <mechanicalReduction>", None,
    ),
    "rotor twice": (robot('<rotor name="w" link="b" inertia="1"/>' * 2), 5, "taken", None),
    "rotor of a joint's name": (
        robot('<rotor name="j" link="b" inertia="1"/>'), 5, "taken by a link, a joint", None,
    ),
    "spring twice": (
        robot('<spring link1="a" link2="b" stiffness="1"/>' * 2), 5, "written twice", None,
    ),
    "springs of one name": (
        robot('<spring name="s" link1="a" link2="b" stiffness="1"/>'
              '<spring name="s" link1="a" link2="b" stiffness="2"/>'),
        5, "written twice", None,
    ),
    "carrier of a motor": (
        robot('<motor joint="j" mounted_on="c"/>'), 5, "no link 'c'", None,
    ),
    "two axes of a constraint": (
        robot('<constraint name="c" type="revolute"><parent link="a"/><child link="b"/>'
              '<axis xyz="0 0 1"/><parent_axis xyz="0 1 0"/></constraint>'),
        5, "<axis> and <parent_axis>", None,
    ),
    "joint type": (robot(kind="revolut"), 4, "'revolut'", "revolute"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "words", "suggestion"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_an_error_with_its_place(text, line, words, suggestion):
    with pytest.raises(UrdfError) as caught:
        urdf.load_mechanism(text)
    error = caught.value
    assert words in str(error)
    assert (error.line, error.suggestion) == (line, suggestion)
    assert suggestion is None or f"did you mean {suggestion!r}" in str(error).replace(
        "<" + suggestion + ">", repr(suggestion)
    )


@pytest.mark.parametrize(
    "text",
    [
        robot('<gazebo><plugin name="p"/><self_collide/></gazebo><material name="m"/>'),
        robot('<gazebo reference="b"><mu1>1</mu1><dynamics><spring>0</spring></dynamics></gazebo>'),
        robot('<sensor name="s"><parent link="b"/><origin xyz="0 0 1"/></sensor>'),
        robot('<x:thing xmlns:x="y" a="1"><limit/></x:thing><disable_collisions link1="a"/>'),
        robot(link='<visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry>'
              '<material name="m"><color rgba="1 1 1 1"/></material></visual>'),
        robot(link='<collision><geometry/><max_contacts>1</max_contacts></collision>'
              '<contact><stiffness value="1"/></contact>'),
        robot(joint='<safety_controller k_velocity="1" soft_lower_limit="0"/>'
              '<calibration rising="1"/><limit effort="1" velocity="1" acceleration="3"/>'),
        robot(joint='<drake:controller_gains p="1"/>', attributes='drake:foo="1"'),
        robot('<transmission name="t"><type>x</type><joint name="j"><hardwareInterface>h'
              '</hardwareInterface></joint><actuator name="m"><hardwareInterface/></actuator>'
              "</transmission>"),
        robot('<ros2_control name="c" type="system"><hardware><plugin>p</plugin></hardware>'
              '<joint name="j"><command_interface name="position"><param name="min">0</param>'
              '</command_interface><state_interface name="velocity"/></joint></ros2_control>'),
    ],
)  # fmt: skip
def test_things_of_other_tools_are_accepted_in_silence(text):
    assert urdf.findings(text) == ([], [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (robot(joint='<heating power="3"/>'), "<heating> in <joint>"),
        (robot('<heating power="3"/>'), "<heating> in <robot>"),
        (robot(joint='<limit heat="3"/>'), "heat: not known"),
        (robot(link='<origin xyz="0 0 1"/>'), "<origin> in <link> is not read"),
        (robot(joint='<axis xyz="1 0 0" rpy="0 0 1"/>'), "rpy is not read"),
        (robot(joint='<origin/><x:origin xyz="0 0 1"/>'), "<x:origin> in <joint> is of another"),
        (
            robot('<ros2_control name="c"><joint name="i"><command_interface/></joint>'
                  "</ros2_control>"),
            "'i' is no joint",
        ),
    ],
)  # fmt: skip
def test_what_nobody_is_known_to_write_is_a_warning(text, words):
    errors, (warning,) = urdf.findings(text)
    assert not errors
    assert words in str(warning)
    with pytest.warns(UrdfWarning):
        urdf.load_mechanism(text)


def test_a_file_is_warned_of_once_in_one_line():
    text = robot("".join(f'<heating number="{i}"/>' for i in range(7)))
    with warnings.catch_warnings(record=True, action="always") as heard:
        urdf.load_mechanism(text)
    (warning,) = heard
    shown = str(warning.message)
    assert "\n" not in shown
    assert "7 x <heating> in <robot>" in shown and "robodyn check" in shown


# legal, and rarely meant
SUSPICIOUS = {
    "limits": (robot(joint='<limit lower="-180" upper="180"/>'), "degrees"),
    "angles": (robot(joint='<origin rpy="0 90 0"/>'), "degrees"),
    "angles of an inertia": (
        robot(link="").replace('<origin xyz="0 0 1"/>', '<origin rpy="0 0 90"/>', 1), "degrees",
    ),
    "inertia": (robot().replace('ixx="1"', 'ixx="9e5"').replace('yy="1"', 'yy="9e5"'), "kg mm^2"),
    "mass": (
        robot('<link name="c"/><joint name="k" type="fixed"><parent link="b"/><child link="c"/>'
              "</joint>").replace('mass value="1"', 'mass value="1000"', 1),
        "in grams",
    ),
    "length": (robot(joint='<origin xyz="0 100 0"/>'), "millimetres"),
    "equal limits": (robot(joint='<limit lower="1" upper="1"/>'), "both 1"),
    "no effort": (robot(joint='<limit lower="0" upper="1" effort="0"/>'), 'effort="0"'),
    "no velocity": (robot(joint='<limit lower="0" upper="1" velocity="0"/>'), 'velocity="0"'),
    "blanks": (robot().replace('"b"', '"b 1"'), "blanks"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), SUSPICIOUS.values(), ids=SUSPICIOUS)
def test_check_warns_of_what_is_legal_and_rarely_meant(text, words):
    errors, warned = urdf.findings(text)
    assert not errors
    assert any(words in str(warning) for warning in warned)
    with warnings.catch_warnings(action="error"):  # loading says nothing
        urdf.load_mechanism(text)


def test_bundled_robots_are_not_suspicious():
    for name in urdf.bundled_robots():
        assert urdf.findings(name) == ([], []), name


def test_check_prints_records_for_programs(tmp_path, capsys):
    bad, odd = tmp_path / "bad.urdf", tmp_path / "odd.urdf"
    bad.write_text(robot(joint='<orgin xyz="0 0 1"/>'))
    odd.write_text(robot(joint='<origin rpy="0 90 0"/>'))
    assert main(["check", "--json", str(odd)]) == 0
    (record,) = json.loads(capsys.readouterr().out)["findings"]
    assert record["severity"] == "warning" and record["line"] == 4
    assert main(["check", "--json", str(bad), str(odd), "pumma560"]) == 2
    first, second, third = json.loads(capsys.readouterr().out)["findings"]
    assert first == {
        "file": str(bad),
        "line": 4,
        "element": "joint 'j'",
        "severity": "error",
        "message": "<orgin> in <joint> is not read; did you mean <origin>?",
        "suggestion": "origin",
    }
    assert second["file"] == str(odd)
    assert (third["file"], third["suggestion"]) == ("pumma560", "puma560")
    assert main(["check", str(odd)]) == 0
    assert "ok, 1 warning" in capsys.readouterr().out
