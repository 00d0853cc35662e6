"""Every way in which a description is known to be wrong: the error, its place, what to do."""

import re
import tracemalloc
from pathlib import Path

import pytest

from robodyn import urdf
from robodyn.errors import (
    InertiaError,
    RobodynError,
    TopologyError,
    UnknownNameError,
    UrdfError,
    UrdfWarning,
)


def body(mass=1, **moments):
    """An inertial of unit moments, but for those that are given."""
    given = dict(ixx=1, ixy=0, ixz=0, iyy=1, iyz=0, izz=1) | moments
    inertia = " ".join(f'{key}="{value}"' for key, value in given.items())
    return f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>'


BODY = body()

# A sound arm, one element a line, so that a test can name the line of what it breaks.
ARM = [
    '<robot name="arm">',
    '<link name="base"/>',
    f'<link name="upper">{BODY}</link>',
    f'<link name="lower">{BODY}</link>',
    '<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>'
    '<axis xyz="0 0 1"/></joint>',
    '<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>'
    '<axis xyz="0 1 0"/></joint>',
    "</robot>",
]


def arm(line=None, old="", new="", extra=""):
    """Text of the arm with a replacement in one line, counted from 1, or one more line."""
    lines = list(ARM)
    if line is not None:
        assert old in lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return "\n".join([*lines[:-1], *([extra] if extra else []), lines[-1]])


def test_the_sound_arm_has_no_problem():
    assert urdf.problems(arm()) == []


def told_at(line, element):
    """Cases whose error is of one line and element: what is replaced there, and words of it."""

    def case(old, new, *words, error=UrdfError):
        return arm(line, old, new), error, line, element, words

    return case


lower, shoulder = told_at(4, "link 'lower'"), told_at(5, "joint 'shoulder'")
elbow, text = told_at(6, "joint 'elbow'"), told_at(4, None)


def more(element, extra, *words, error=UrdfError):
    """A case with one more line, in which the error is."""
    return arm(extra=extra), error, 7, element, words


LOOP = '<loop name="c" type="revolute"><predecessor link="base"/><successor link="lower"/></loop>'
FIXED = '<joint name="{0}{1}" type="fixed"><parent link="{0}"/><child link="{1}"/></joint>'.format

# what is wrong -> text, error, line, element, words of the message
CASES = {
    # numbers
    "decimal comma": shoulder("0 0 1", "0 0 1,5", "'1,5'", "comma", "1.5"),
    "letter O": lower('value="1"', 'value="1O"', "'1O'", "letter O"),
    "nan mass": lower('value="1"', 'value="nan"', "'nan'", "finite"),
    "infinite inertia": lower('ixx="1"', 'ixx="inf"', "ixx", "finite"),
    "overflow": lower('ixx="1"', 'ixx="1e999"', "ixx", "finite"),
    "word": lower('ixx="1"', 'ixx="one"', "'one'", "number"),
    "empty number": lower('ixx="1"', 'ixx=""', "ixx", "empty"),
    "digit groups": lower('ixx="1"', 'ixx="1_0"', "'1_0'", "number"),
    "two coordinates": shoulder("0 0 1", "0 1", "'0 1'", "three numbers"),
    "missing moment": lower('iyz="0"', "", "no iyz"),
    "missing mass value": lower(' value="1"', "", "no value"),
    "no inertia": lower(BODY, '<inertial><mass value="1"/></inertial>', "no <inertia>"),
    "no mass": lower('<mass value="1"/>', "", "no <mass>"),
    "negative damping": elbow(
        "</joint>", '<dynamics damping="-1"/></joint>', "damping", "negative"
    ),
    # masses and inertias
    "negative mass": lower(BODY, body("-1"), "-1 kg", "negative", error=InertiaError),
    "negative moment": lower(BODY, body(izz=-1), "moments", "negative", error=InertiaError),
    "triangle inequality": lower(
        BODY, body(izz=2.1), "1, 1, 2.1", "exceeds the sum", error=InertiaError
    ),
    # diagonal entries 1.5, 1.5, 1 pass; the principal moments are 0.2, 1 and 2.8
    "triangle inequality of turned axes": lower(
        BODY, body(ixx=1.5, iyy=1.5, ixy=1.3), "0.2, 1, 2.8", error=InertiaError
    ),
    # names
    "duplicate link": more("link 'upper'", '<link name="upper"/>', "taken", "line 3"),
    "duplicate joint": told_at(6, "joint 'shoulder'")('"elbow"', '"shoulder"', "taken", "line 5"),
    "nameless link": told_at(4, "<link>")(' name="lower"', "", "no name"),
    "nameless joint": told_at(6, "<joint>")(' name="elbow"', "", "no name"),
    "unknown parent": elbow(
        '"upper"', '"uper"', "parent", "'uper'", "did you mean 'upper'", error=TopologyError
    ),
    "unknown child": elbow(
        '"lower"', '"lowre"', "child", "'lowre'", "did you mean 'lower'", error=TopologyError
    ),
    "no parent": elbow('<parent link="upper"/>', "", "no <parent"),
    "no child": elbow('<child link="lower"/>', "", "no <child"),
    "unknown joint type": elbow('"revolute"', '"revolut"', "'revolut'", "did you mean 'revolute'"),
    "no joint type": elbow(' type="revolute"', "", "no type"),
    # joints
    "zero axis": elbow("0 1 0", "0 0 0", "no direction", "give an axis"),
    "two axes": elbow("</joint>", '<axis xyz="1 0 0"/></joint>', "second <axis>"),
    "parallel axes of a universal joint": elbow("revolute", "universal", "parallel"),
    "helical joint without pitch": elbow("revolute", "helical", "<pitch", "metres a radian"),
    "mimic of a missing joint": elbow(
        "</joint>", '<mimic joint="sholder"/></joint>',
        "mimics", "'sholder'", "did you mean 'shoulder'",
    ),
    "mimic of itself": elbow("</joint>", '<mimic joint="elbow"/></joint>', "mimics itself"),
    "mimic by a joint of three freedoms": elbow(
        ARM[5],
        ARM[5].replace("revolute", "spherical").replace("</j", '<mimic joint="shoulder"/></j'),
        "spherical", "no single coordinate",
    ),
    # graph
    "two roots": more(
        "link 'stray'", '<link name="stray"/>', "2 root links", "'base', 'stray'", "connect",
        error=TopologyError,
    ),
    "directed cycle": (
        arm(5, '"base"', '"lower"').replace('<link name="base"/>', ""),
        TopologyError, 6, "joint 'elbow'", ["directed cycle", "upper", "lower", "exchange"],
    ),
    "directed cycle below a root": more(
        "joint 'lowerupper'", FIXED("lower", "upper"),
        "directed cycle", "exchange parent and child", error=TopologyError,
    ),
    "island in a cycle": more(
        "joint 'ba'", f'<link name="a"/><link name="b"/>{FIXED(*"ab")}{FIXED(*"ba")}',
        "directed cycle a -> b -> a", error=TopologyError,
    ),
    "joint of a link with itself": elbow(
        '"upper"', '"lower"', "'lower' to itself", error=TopologyError
    ),
    "no links": ('<robot name="nothing"/>', TopologyError, None, None, ["no links"]),
    # closures
    "unknown closure": more(
        "closed_loop 'c'", '<closed_loop name="c"/>', "looks like the closure", "write it as <loop>"
    ),
    "equality of MuJoCo": more(
        "<mujoco>", '<mujoco><equality><connect body1="upper"/></equality></mujoco>',
        "looks like the closure",
    ),
    "unknown loop type": more(
        "loop 'c'", LOOP.replace("revolute", "revolut"), "'revolut'", "did you mean 'revolute'"
    ),
    "loop without successor": more(
        "loop 'c'", LOOP.replace('<successor link="lower"/>', ""), "no <successor"
    ),
    "loop to an unknown link": more(
        "loop 'c'", LOOP.replace("base", "bas"), "predecessor", "'bas'", "did you mean 'base'",
        error=TopologyError,
    ),
    # XML
    "unclosed XML": ("\n".join(ARM[:-1]), UrdfError, 6, None, ["not XML"]),
    "wrong closing tag": text("</link>", "</lnik>", "not XML", "lnik"),
    "external entity": (
        '<!DOCTYPE robot [<!ENTITY file SYSTEM "file:///etc/hostname">]>\n' + arm(),
        UrdfError, 1, None, ["entities"],
    ),
    "undefined entity": text('value="1"', 'value="&one;"', "one"),
    "cut that is no truth value": shoulder(
        'name="shoulder"', 'name="shoulder" cut="yes"', "yes", "true"
    ),
    "empty text": ("<", UrdfError, 1, None, ["not XML"]),
    "SDF": ('<sdf version="1.7"/>', UrdfError, 1, "<sdf>", ["has no <model>"]),
    "unexpanded xacro": lower('value="1"', 'value="${mass}"', "xacro", "extra xacro"),
    "unexpanded xacro in a vector": shoulder("0 0 1", "${a} 0 ${b}", "xacro"),
    "xacro element": (
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">\n<xacro:arm side="left"/>'
        "\n</robot>",
        UrdfError, 2, "<xacro:arm>", ["xacro", "extra xacro"],
    ),
    # bytes
    "no text": (b'<robot name="a">\n\xff\n</robot>', UrdfError, 2, None, ["not utf-8 text"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_its_place(name, tmp_path):
    text, error, line, element, words = CASES[name]
    path = tmp_path / "robot.urdf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(error) as caught:
        urdf.load_mechanism(path)
    raised = caught.value
    assert type(raised) is error
    assert raised.file == str(path)
    assert raised.line == line
    assert raised.element == element
    for word in words:
        assert word in str(raised)
    assert str(urdf.problems(path)[0]) == str(raised)


def test_all_problems_of_a_file_are_found():
    lines = arm().splitlines()
    lines[2] = lines[2].replace('value="1"', 'value="-1"')
    lines[3] = lines[3].replace('ixx="1"', 'ixx="9"')
    lines[4] = lines[4].replace("0 0 1", "0 0 0")
    lines[5] = lines[5].replace("</joint>", '<mimic joint="nobody"/></joint>')
    found = urdf.problems("\n".join(lines))
    assert {(type(problem), problem.line) for problem in found} == {
        (InertiaError, 3),
        (InertiaError, 4),
        (UrdfError, 5),
        (UrdfError, 6),
    }


def test_several_bad_numbers_of_one_element_are_all_found():
    found = urdf.problems(arm(4, 'ixx="1" ixy="0"', 'ixx="a" ixy="b"'))
    assert len(found) == 2
    assert "ixx" in str(found[0])
    assert "ixy" in str(found[1])


def test_a_joint_cannot_follow_one_that_closes_a_loop():
    cut = arm(
        6, "</joint>", '<mimic joint="pin"/></joint>',
        extra='<joint name="pin" type="revolute" cut="true"><parent link="base"/>'
        '<child link="lower"/></joint>',
    )  # fmt: skip
    (problem,) = urdf.problems(cut)
    assert "mimics 'pin', which closes a loop" in str(problem)


@pytest.mark.parametrize("kind", ["spherical", "universal", "cylindrical", "planar"])
def test_limits_of_several_coordinates_are_warned_of(kind):
    limit = '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="3"/></joint>'
    text = arm(6, '<axis xyz="0 1 0"/></joint>', limit).splitlines()
    text[5] = re.sub('type="[a-z]+"', f'type="{kind}"', text[5])
    with pytest.warns(UrdfWarning, match=f"upper do not limit a {kind} joint"):
        urdf.load_mechanism("\n".join(text))


def test_the_first_error_says_that_there_are_more():
    text = arm(4, 'ixx="1" ixy="0"', 'ixx="a" ixy="b"')
    with pytest.raises(UrdfError) as caught:
        urdf.load_mechanism(text)
    assert any("1 more" in note for note in caught.value.__notes__)


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (f'<!DOCTYPE robot [<!ENTITY l0 "ha">{LAUGHS}]>' + arm(3, "upper", "&l11;"), "entities"),
        ("<robot>" + " " * 50_000_000, "16 MB"),
        ("<robot>" + "<a>" * 100_000, "not XML"),
        ("nowhere/arm.urdf", r"nowhere/arm\.urdf.*No such file"),
        (Path(__file__).parent, "is a folder"),
        ("puma650", "did you mean 'puma560'"),
        *((text, "empty") for text in ("", " \n")),
        *((thing, "not a source of a robot") for thing in (None, 3, object(), ["puma560"])),
    ],
    ids=range(12),
)
def test_what_is_no_description_is_refused(source, words):
    """And a list of problems raises nothing."""
    with pytest.raises((UrdfError, UnknownNameError), match=words):
        urdf.load_mechanism(source)
    (problem,) = urdf.problems(source)
    assert isinstance(problem, RobodynError)


def test_a_comment_may_speak_of_document_types():
    assert urdf.problems("<!-- no <!DOCTYPE here -->" + arm()) == []


def test_a_file_of_50_megabytes_is_refused_unread(tmp_path):
    path = tmp_path / "huge.urdf"
    path.write_text("<robot>" + " " * 50_000_000 + "</robot>")
    tracemalloc.start()
    try:
        with pytest.raises(UrdfError, match=r"47\.7 MB.*16 MB") as caught:
            urdf.load_mechanism(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 5_000_000  # bytes: the file was not read
    assert caught.value.file == str(path)


ROD, POINT = {"iyy": 0}, {"ixx": 0, "iyy": 0, "izz": 0}  # a rod along y


@pytest.mark.parametrize(
    ("kind", "inertia", "sound"),
    [
        ("revolute", ROD, False),  # turned about its axis
        ("revolute", {"iyy": 0.1}, True),
        ("revolute", POINT, False),
        ("prismatic", POINT, True),
        ("spherical", ROD, False),
        ("cylindrical", {}, True),
        ("planar", POINT, False),
    ],
)
def test_a_leaf_needs_mass_for_every_motion_of_its_joint(kind, inertia, sound):
    text = arm(4, BODY, body(**inertia)).replace(
        'name="elbow" type="revolute"', f'name="elbow" type="{kind}"'
    )
    words = "moves nothing that has mass or inertia in its direction"
    assert [words in str(problem) for problem in urdf.problems(text)] == [True] * (not sound)


def test_an_impossible_link_fixed_to_a_sound_body_only_warns():
    impossible = body(0.001, **POINT | {"izz": 1e-6})
    extra = f'<link name="camera">{impossible}</link>'
    extra += '<joint name="mount" type="fixed"><parent link="lower"/><child link="camera"/></joint>'
    with pytest.warns(UserWarning, match="camera.*sound"):
        mechanism = urdf.load_mechanism(arm(extra=extra))
    assert mechanism.links[-1].name == "camera"


def test_an_impossible_link_can_be_taken_as_it_is():
    text = arm(4, BODY, body(izz=3))
    with pytest.warns(UserWarning, match="exceeds the sum"):
        mechanism = urdf.load_mechanism(text, allow_unphysical=True)
    assert mechanism.links[2].inertia.izz == 3.0


def test_rounded_inertias_are_accepted():
    flat = body(ixx=0.333333, iyy=0.666667, izz=1.0000003)
    assert urdf.problems(arm(4, BODY, flat)) == []


def test_a_second_joint_of_a_name_is_an_error_in_lenient_reading_too():
    """Without it, links are lost: only the author knows which joint has the wrong name."""
    text = arm(6, '"elbow"', '"shoulder"')
    for strict in (True, False):
        (problem,) = urdf.problems(text, strict=strict)
        assert "the name is taken by the joint in line 5" in str(problem)


def test_a_link_that_hangs_on_nothing_is_not_told_to_name_a_root():
    """root= helps where joints connect all links, and nowhere else."""
    link = '<link name="{}"/>'.format
    joint = '<joint name="{0}" type="fixed"><parent link="{1}"/><child link="{2}"/></joint>'.format
    links = "".join(map(link, "abc"))
    loose = f'<robot name="r">{links}{joint("j", "a", "b")}</robot>'
    with pytest.raises(TopologyError, match="no joint connects 'c' with 'a'; connect them") as told:
        urdf.load_mechanism(loose)
    assert "root=" not in str(told.value)
    two = f'<robot name="r">{links}{joint("j", "a", "b")}{joint("k", "c", "b")}</robot>'
    for root in "ac":
        assert urdf.load_mechanism(two, root=root).root == root


def test_elements_that_are_nested_too_deeply():
    """Without advice about options that only lxml has."""
    with pytest.raises(UrdfError, match=r"is not XML: Excessive depth in document: \d+$"):
        urdf.load_mechanism("<robot>" + 300 * "<link>" + 300 * "</link>" + "</robot>")
