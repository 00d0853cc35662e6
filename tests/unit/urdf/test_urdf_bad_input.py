"""Every way in which a description is known to be wrong: the error, its place, what to do."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from robodyn import urdf
from robodyn.errors import (
    InertiaError,
    RobodynError,
    TopologyError,
    UnknownNameError,
    UrdfError,
    UrdfWarning,
)

BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
BODY += "</inertial>"

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


def body(mass="1", inertia=("1", "0", "0", "1", "0", "1")):
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    moments = " ".join(f'{key}="{value}"' for key, value in zip(keys, inertia, strict=True))
    return f'<inertial><mass value="{mass}"/><inertia {moments}/></inertial>'


def test_the_sound_arm_has_no_problem():
    assert urdf.problems(arm()) == []


# what is wrong -> text, error, line, element, words of the message
CASES = {
    # numbers
    "decimal comma": (
        arm(5, "0 0 1", "0 0 1,5"), UrdfError, 5, "joint 'shoulder'", ["'1,5'", "comma", "1.5"],
    ),
    "letter O": (
        arm(4, 'value="1"', 'value="1O"'), UrdfError, 4, "link 'lower'", ["'1O'", "letter O"],
    ),
    "nan mass": (
        arm(4, 'value="1"', 'value="nan"'), UrdfError, 4, "link 'lower'", ["'nan'", "finite"],
    ),
    "infinite inertia": (
        arm(4, 'ixx="1"', 'ixx="inf"'), UrdfError, 4, "link 'lower'", ["ixx", "finite"],
    ),
    "overflow": (
        arm(4, 'ixx="1"', 'ixx="1e999"'), UrdfError, 4, "link 'lower'", ["ixx", "finite"],
    ),
    "word": (arm(4, 'ixx="1"', 'ixx="one"'), UrdfError, 4, "link 'lower'", ["'one'", "number"]),
    "empty number": (arm(4, 'ixx="1"', 'ixx=""'), UrdfError, 4, "link 'lower'", ["ixx", "empty"]),
    "digit groups": (
        arm(4, 'ixx="1"', 'ixx="1_0"'), UrdfError, 4, "link 'lower'", ["'1_0'", "number"],
    ),
    "two coordinates": (
        arm(5, "0 0 1", "0 1"), UrdfError, 5, "joint 'shoulder'", ["'0 1'", "three numbers"],
    ),
    "missing moment": (arm(4, 'iyz="0"', ""), UrdfError, 4, "link 'lower'", ["no iyz"]),
    "missing mass value": (arm(4, ' value="1"', ""), UrdfError, 4, "link 'lower'", ["no value"]),
    "inertial without inertia": (
        arm(4, BODY, '<inertial><mass value="1"/></inertial>'),
        UrdfError, 4, "link 'lower'", ["no <inertia>"],
    ),
    "inertial without mass": (
        arm(4, '<mass value="1"/>', ""), UrdfError, 4, "link 'lower'", ["no <mass>"],
    ),
    "negative damping": (
        arm(6, "</joint>", '<dynamics damping="-1"/></joint>'),
        UrdfError, 6, "joint 'elbow'", ["damping", "negative"],
    ),
    # masses and inertias
    "negative mass": (
        arm(4, BODY, body(mass="-1")), InertiaError, 4, "link 'lower'", ["-1 kg", "negative"],
    ),
    "negative moment": (
        arm(4, BODY, body(inertia=("1", "0", "0", "1", "0", "-1"))),
        InertiaError, 4, "link 'lower'", ["moments", "negative"],
    ),
    "triangle inequality": (
        arm(4, BODY, body(inertia=("1", "0", "0", "1", "0", "2.1"))),
        InertiaError, 4, "link 'lower'", ["1, 1, 2.1", "exceeds the sum"],
    ),
    "triangle inequality of turned axes": (
        # Diagonal entries 1.5, 1.5, 1 pass; the principal moments are 0.2, 1 and 2.8.
        arm(4, BODY, body(inertia=("1.5", "1.3", "0", "1.5", "0", "1"))),
        InertiaError, 4, "link 'lower'", ["0.2, 1, 2.8"],
    ),
    # names
    "duplicate link": (
        arm(extra='<link name="upper"/>'), UrdfError, 7, "link 'upper'", ["taken", "line 3"],
    ),
    "duplicate joint": (
        arm(6, '"elbow"', '"shoulder"'), UrdfError, 6, "joint 'shoulder'", ["taken", "line 5"],
    ),
    "nameless link": (arm(4, ' name="lower"', ""), UrdfError, 4, "<link>", ["no name"]),
    "nameless joint": (arm(6, ' name="elbow"', ""), UrdfError, 6, "<joint>", ["no name"]),
    "unknown parent": (
        arm(6, '"upper"', '"uper"'),
        TopologyError, 6, "joint 'elbow'", ["parent", "'uper'", "did you mean 'upper'"],
    ),
    "unknown child": (
        arm(6, '"lower"', '"lowre"'),
        TopologyError, 6, "joint 'elbow'", ["child", "'lowre'", "did you mean 'lower'"],
    ),
    "no parent": (
        arm(6, '<parent link="upper"/>', ""), UrdfError, 6, "joint 'elbow'", ["no <parent"],
    ),
    "no child": (arm(6, '<child link="lower"/>', ""), UrdfError, 6, "joint 'elbow'", ["no <child"]),
    "unknown joint type": (
        arm(6, '"revolute"', '"revolut"'),
        UrdfError, 6, "joint 'elbow'", ["'revolut'", "did you mean 'revolute'"],
    ),
    "no joint type": (arm(6, ' type="revolute"', ""), UrdfError, 6, "joint 'elbow'", ["no type"]),
    # joints
    "zero axis": (
        arm(6, "0 1 0", "0 0 0"), UrdfError, 6, "joint 'elbow'", ["no direction", "give an axis"],
    ),
    "two axes": (
        arm(6, "</joint>", '<axis xyz="1 0 0"/></joint>'),
        UrdfError, 6, "joint 'elbow'", ["second <axis>"],
    ),
    "parallel axes of a universal joint": (
        arm(6, "revolute", "universal"), UrdfError, 6, "joint 'elbow'", ["parallel"],
    ),
    "helical joint without pitch": (
        arm(6, "revolute", "helical"), UrdfError, 6, "joint 'elbow'", ["<pitch", "metres a radian"],
    ),
    "mimic of a missing joint": (
        arm(6, "</joint>", '<mimic joint="sholder"/></joint>'),
        UrdfError, 6, "joint 'elbow'", ["mimics", "'sholder'", "did you mean 'shoulder'"],
    ),
    "mimic of itself": (
        arm(6, "</joint>", '<mimic joint="elbow"/></joint>'),
        UrdfError, 6, "joint 'elbow'", ["mimics itself"],
    ),
    "mimic by a joint of three freedoms": (
        arm(6, "revolute", "spherical").replace("</joint>\n</robot>", '<mimic joint="shoulder"/>'
            "</joint>\n</robot>"),
        UrdfError, 6, "joint 'elbow'", ["spherical", "no single coordinate"],
    ),
    # graph
    "two roots": (
        arm(extra='<link name="stray"/>'),
        TopologyError, 7, "link 'stray'", ["2 root links", "'base', 'stray'", "connect"],
    ),
    "directed cycle": (
        arm(5, '"base"', '"lower"').replace('<link name="base"/>', ""),
        TopologyError, 6, "joint 'elbow'", ["directed cycle", "upper", "lower", "exchange"],
    ),
    "directed cycle below a root": (
        arm(extra='<joint name="back" type="revolute"><parent link="lower"/><child link="upper"/>'
            "</joint>"),
        TopologyError, 7, "joint 'back'", ["directed cycle", "exchange parent and child"],
    ),
    "island in a cycle": (
        arm(extra='<link name="a"/><link name="b"/>'
            '<joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>'
            '<joint name="ba" type="fixed"><parent link="b"/><child link="a"/></joint>'),
        TopologyError, 7, "joint 'ba'", ["directed cycle a -> b -> a"],
    ),
    "joint of a link with itself": (
        arm(6, '"upper"', '"lower"'), TopologyError, 6, "joint 'elbow'", ["'lower' to itself"],
    ),
    "no links": ('<robot name="nothing"/>', TopologyError, None, None, ["no links"]),
    # closures
    "unknown closure": (
        arm(extra='<closed_loop name="c"/>'),
        UrdfError, 7, "closed_loop 'c'", ["looks like the closure", "write it as <loop>"],
    ),
    "equality of MuJoCo": (
        arm(extra='<mujoco><equality><connect body1="upper"/></equality></mujoco>'),
        UrdfError, 7, "<mujoco>", ["looks like the closure"],
    ),
    "unknown loop type": (
        arm(extra='<loop name="c" type="revolut"><predecessor link="base"/>'
            '<successor link="lower"/></loop>'),
        UrdfError, 7, "loop 'c'", ["'revolut'", "did you mean 'revolute'"],
    ),
    "loop without successor": (
        arm(extra='<loop name="c" type="revolute"><predecessor link="base"/></loop>'),
        UrdfError, 7, "loop 'c'", ["no <successor"],
    ),
    "loop to an unknown link": (
        arm(extra='<loop name="c" type="revolute"><predecessor link="bas"/>'
            '<successor link="lower"/></loop>'),
        TopologyError, 7, "loop 'c'", ["predecessor", "'bas'", "did you mean 'base'"],
    ),
    # XML
    "unclosed XML": (
        "\n".join(ARM[:-1]), UrdfError, 6, None, ["not XML"],
    ),
    "wrong closing tag": (
        arm(4, "</link>", "</lnik>"), UrdfError, 4, None, ["not XML", "lnik"],
    ),
    "external entity": (
        '<!DOCTYPE robot [<!ENTITY file SYSTEM "file:///etc/hostname">]>\n' + arm(),
        UrdfError, 1, None, ["entities"],
    ),
    "undefined entity": (arm(4, 'value="1"', 'value="&one;"'), UrdfError, 4, None, ["one"]),
    "cut that is no truth value": (
        arm(5, 'name="shoulder"', 'name="shoulder" cut="yes"'),
        UrdfError, 5, "joint 'shoulder'", ["yes", "true"],
    ),
    "empty text": ("<", UrdfError, 1, None, ["not XML"]),
    "SDF": ('<sdf version="1.7"/>', UrdfError, 1, "<sdf>", ["has no <model>"]),
    "unexpanded xacro": (
        arm(4, 'value="1"', 'value="${mass}"'),
        UrdfError, 4, "link 'lower'", ["xacro", "extra xacro"],
    ),
    "unexpanded xacro in a vector": (
        arm(5, "0 0 1", "${a} 0 ${b}"), UrdfError, 5, "joint 'shoulder'", ["xacro"],
    ),
    "xacro element": (
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">\n<xacro:arm side="left"/>'
        "\n</robot>",
        UrdfError, 2, "<xacro:arm>", ["xacro", "extra xacro"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_its_place(name, tmp_path):
    text, error, line, element, words = CASES[name]
    path = tmp_path / "robot.urdf"
    path.write_text(text)
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


def test_an_axis_that_is_no_number_is_one_problem():
    found = urdf.problems(arm(5, "0 0 1", "0 0 1,5"))
    assert ["1,5" in str(problem) for problem in found] == [True]


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


def test_billion_laughs_are_refused():
    entities = ['<!ENTITY l0 "ha">']
    entities += [f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12)]
    text = f"<!DOCTYPE robot [{''.join(entities)}]>" + arm(3, "upper", "&l11;")
    with pytest.raises(UrdfError, match="entities"):
        urdf.load_mechanism(text)


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


def test_text_of_50_megabytes_is_refused():
    with pytest.raises(UrdfError, match="16 MB"):
        urdf.load_mechanism("<robot>" + " " * 50_000_000)


def test_deep_nesting_is_refused():
    with pytest.raises(UrdfError, match="not XML"):
        urdf.load_mechanism("<robot>" + "<a>" * 100_000)


def test_bytes_that_are_no_text_are_refused_with_their_line():
    with pytest.raises(UrdfError, match="not utf-8 text") as caught:
        urdf.load_mechanism(b'<robot name="a">\n\xff\n</robot>')
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("kind", "inertia", "sound"),
    [
        ("revolute", ("1", "0", "0", "0", "0", "1"), False),  # a rod along y, turned about y
        ("revolute", ("1", "0", "0", "0.1", "0", "1"), True),
        ("prismatic", ("0", "0", "0", "0", "0", "0"), True),
        ("spherical", ("1", "0", "0", "0", "0", "1"), False),
        ("cylindrical", ("1", "0", "0", "1", "0", "1"), True),
        ("planar", ("0", "0", "0", "0", "0", "0"), False),
    ],
)
def test_a_leaf_needs_mass_for_every_motion_of_its_joint(kind, inertia, sound):
    text = arm(4, BODY, body(inertia=inertia)).replace(
        'name="elbow" type="revolute"', f'name="elbow" type="{kind}"'
    )
    assert (urdf.problems(text) == []) is sound


def test_an_impossible_link_fixed_to_a_sound_body_only_warns():
    impossible = body(mass="0.001", inertia=("0", "0", "0", "0", "0", "1e-6"))
    extra = f'<link name="camera">{impossible}</link>'
    extra += '<joint name="mount" type="fixed"><parent link="lower"/><child link="camera"/></joint>'
    with pytest.warns(UserWarning, match="camera.*sound"):
        mechanism = urdf.load_mechanism(arm(extra=extra))
    assert mechanism.links[-1].name == "camera"


def test_an_impossible_link_can_be_taken_as_it_is():
    text = arm(4, BODY, body(inertia=("1", "0", "0", "1", "0", "3")))
    with pytest.warns(UserWarning, match="exceeds the sum"):
        mechanism = urdf.load_mechanism(text, allow_unphysical=True)
    assert mechanism.links[2].inertia.izz == 3.0


def test_rounded_inertias_are_accepted():
    flat = ("0.333333", "0", "0", "0.666667", "0", "1.0000003")
    assert urdf.problems(arm(4, BODY, body(inertia=flat))) == []


def test_an_unknown_name_lists_the_bundled_robots():
    with pytest.raises(UnknownNameError, match="did you mean 'puma560'"):
        urdf.load_mechanism("puma650")


def test_a_path_that_does_not_exist_is_named():
    with pytest.raises(UrdfError, match=r"nowhere/arm\.urdf.*No such file"):
        urdf.load_mechanism("nowhere/arm.urdf")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UrdfError, match="is a folder"):
        urdf.load_mechanism(tmp_path)


@pytest.mark.parametrize("source", ["", " \n"])
def test_an_empty_text_is_refused(source):
    with pytest.raises(UrdfError, match="empty"):
        urdf.load_mechanism(source)


@pytest.mark.parametrize("source", [None, 3, object(), ["puma560"]])
def test_other_objects_are_refused(source):
    with pytest.raises(UrdfError, match="not a source of a robot"):
        urdf.load_mechanism(source)


WHOLE = (
    arm(6, "</joint>", '<limit lower="-1" upper="1"/><dynamics damping="1"/>'
        '<mimic joint="shoulder"/></joint>',
        '<loop name="x" type="revolute"><predecessor link="base"><origin xyz="1 0 0"/>'
        '</predecessor><successor link="lower"/></loop>\n'
        '<coupling name="y"><predecessor link="base"/><successor link="lower"/></coupling>\n'
        '<constraint name="z" type="universal"><parent link="base"/><child link="lower"/>'
        '<child_axis xyz="0 1 0"/></constraint>\n'
        '<gazebo><joint name="g" type="revolute"><parent>base</parent><child>lower</child>'
        "<pose>0 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></gazebo>\n"
        '<transmission name="t"><joint name="elbow"/><actuator name="m">'
        "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>\n"
        '<motor joint="shoulder" gear_ratio="10" axis="0 0 1"/>')
)  # fmt: skip


PIECES = sorted({*re.findall(r"[\w:]+|\"[^\"]*\"|[<>/=\n ]", WHOLE), "", "nan", "0", "&", "\x00"})


@examples(300)
@given(
    st.lists(
        st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 12), st.sampled_from(PIECES)),
        min_size=1,
        max_size=3,
    )
)
def test_damaged_files_raise_nothing_foreign(damages):
    text = WHOLE
    for start, length, piece in damages:
        text = text[:start] + piece + text[start + length :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(isinstance(problem, RobodynError) for problem in urdf.problems(text or "<"))


WORDS = [match.span() for match in re.finditer(r'(?<=")[^"]*(?=")|(?<=<)\w+', WHOLE)]


@examples(300)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=3))
def test_exchanged_words_raise_nothing_foreign(exchanges):
    """Well-formed for the most part: attributes with other attributes' values."""
    text = WHOLE
    for (start, end), (other, last) in sorted(exchanges, reverse=True):
        text = text[:start] + WHOLE[other:last] + text[end:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(isinstance(problem, RobodynError) for problem in urdf.problems(text))


def test_problems_never_raises():
    for source in ("puma650", "nowhere/arm.urdf", b"\xff", None):
        found = urdf.problems(source)
        assert found and all(isinstance(problem, RobodynError) for problem in found)


def test_a_mass_on_the_axis_of_its_joint_is_not_called_none():
    (problem,) = urdf.problems(arm(4, BODY, body(inertia=("0", "0", "0", "0", "0", "0"))))
    assert "moves nothing that has mass or inertia in its direction" in str(problem)


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
