"""What kind of document a text is, whatever its file is called."""

import re

import pytest

import robodyn as rd
from robodyn.errors import UrdfWarning
from robodyn.urdf.common.document_kind import EXTENDED_URDF, MJCF, SDF, URDF, XACRO, document_kind

SPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
OLD_SPACE = 'xmlns:xacro="http://ros.org/wiki/xacro"'


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (URDF, '<robot name="a"/>'),
        (URDF, '\ufeff<?xml version="1.0"?>\n<!-- <sdf> -->\n<!DOCTYPE robot>\n<robot name="a"/>'),
        (URDF, f'<robot name="a" {SPACE}><link name="b"/></robot>'),
        (URDF, f'<robot name="a" {SPACE}><!-- ${{x}} <xacro:if value="1"/> --></robot>'),
        # leftovers that nothing uses
        (URDF, f'<robot name="a" {SPACE}><xacro:property name="x" value="1"/></robot>'),
        (URDF, f'<robot name="a" {SPACE}><xacro:sensors/></robot>'),
        # without the name space, these are values that are none
        (URDF, '<robot name="a"><link name="${x}"/></robot>'),
        (URDF, "hello"),
        (URDF, '<robot name="a">'),
        (XACRO, f'<robot name="a" {SPACE}><link name="${{1}}"/></robot>'),
        (XACRO, f'<robot name="$(arg name)" {OLD_SPACE}/>'),
        (XACRO, f'<robot name="a" {SPACE}><xacro:include filename="b.xacro"/></robot>'),
        (XACRO, f'<sdf version="1.7" {SPACE}><model name="${{1}}"/></sdf>'),
        (MJCF, "<!-- arm --><mujoco><worldbody/></mujoco>"),
        (SDF, '<?xml version="1.0"?>\n<sdf version="1.7"><model name="a"/></sdf>'),
        (EXTENDED_URDF, "# legs\ntype: [6d]\nclosed_loop: [[a, b]]\n"),
        (EXTENDED_URDF, "{type: 6d}"),
    ],
)
def test_the_kind_is_read_from_the_text(kind, text):
    assert document_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"PXR-USDC\x00\x08\xff\xfe" + bytes(range(256)), "USD"),
        ('<% m = 2 %><sdf version="1.5"><model name="<%= m %>"/></sdf>', "Ruby (ERB)"),
        ('<sdf version="1.5"><model name="<%= m %>"/></sdf>', "Ruby (ERB)"),
        ('<gazebo version="1.0"><model name="m"/></gazebo>', "is SDF 1.0, which is not read"),
        ("<OpenSimDocument Version='4'/>", "OpenSim"),
        ("bodies: [BODY a]\njoints: []\nBODY a: {mass: 1}\n", "is an AMBF description"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_of_what_no_reader_reads_one_sentence_says_what_it_is(text, said, strict, tmp_path):
    path = tmp_path / "arm.any"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(rd.UrdfError, match=re.escape(said)) as caught:
        rd.load(path, strict=strict)
    assert caught.value.file == str(path)


def test_erb_in_a_comment_is_a_comment():
    text = '<!-- <%= x %> --><robot name="a"><link name="b"/></robot>'
    assert rd.load(text).link_names == ("b",)


HYPHENS = """<robot name="a"{}><!-- run it --verbose
  - -- ---><!-- fine -->{}
  <link name="b"/><mistake/></robot>"""


@pytest.mark.parametrize(
    ("space", "inside"),
    [("", ""), (f" {SPACE}", '<xacro:if value="1"><link name="c"/></xacro:if>')],
)
def test_hyphens_in_comments_are_told_and_change_nothing(space, inside):
    text = HYPHENS.format(space, inside).replace("<mistake/>", "")
    joint = '<joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint></robot>'
    text = text.replace("</robot>", joint if inside else "</robot>")
    with pytest.warns(UrdfWarning, match="-- in a comment") as told:
        robot = rd.load(text)
    assert "b" in robot.link_names
    assert told[0].message.line == 1
    with pytest.raises(rd.UrdfError, match="Opening and ending tag mismatch"):
        rd.load(text.replace("</robot>", "</mistake>"))


def test_the_name_of_the_file_does_not_matter(tmp_path):
    body = '<link name="base"/><xacro:if value="true"><link name="b"/></xacro:if>'
    joint = '<joint name="j" type="fixed"><parent link="base"/><child link="b"/></joint>'
    for name in ("a.urdf", "a.xml", "a.txt", "a.yaml"):
        path = tmp_path / name
        path.write_text(f'<robot name="a" {SPACE}>{body}{joint}</robot>')
        assert rd.load(path, xacro=True).link_names == ("base", "b")
    path = tmp_path / "a.xacro"
    path.write_text('<robot name="a"><link name="base"/></robot>')
    assert rd.load(path).link_names == ("base",)
