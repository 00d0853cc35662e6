"""What kind of document a text is, whatever its file is called."""

from __future__ import annotations

import pytest

import robodyn as rd
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
