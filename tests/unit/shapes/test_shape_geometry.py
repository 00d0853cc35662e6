"""What the viewer draws, without a browser."""

import nturl2path  # of Windows
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.description.stick_figure import sticks
from robodyn.shapes.geometry import find_file, link_geometry
from robodyn.urdf.common.packages import Packages
from robodyn.view.drawing.scene import LinkPlaces, extent, marks_of

URDF = """<robot name="shapes">
<material name="blue"><color rgba="0 0 1 0.5"/></material>
<link name="base">
  <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
    <geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>
  <visual><geometry><cylinder radius="0.1" length="2"/></geometry>
    <material name="own"><color rgba="1 0 0 1"/></material></visual>
  <visual><geometry><sphere radius="0.2"/></geometry><material name="own"/></visual>
  <collision><geometry><box size="9 9 9"/></geometry></collision>
</link>
<link name="arm">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="%s" scale="2 2 2"/></geometry></visual>
  <visual><geometry><sphere radius="-1"/></geometry></visual>
  <visual><geometry><mesh filename="https://example.org/a.stl"/></geometry></visual>
  <visual><geometry><box size="1 2"/></geometry></visual>
</link>
<joint name="pin" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>"""

STL = """solid s
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid s
"""


def shapes(tmp_path, mesh="package://parts/meshes/tip.stl"):
    folder = tmp_path / "parts" / "meshes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tip.stl").write_text(STL)
    (tmp_path / "parts" / "urdf").mkdir(exist_ok=True)
    file = tmp_path / "parts" / "urdf" / "robot.urdf"
    file.write_text(URDF % mesh)
    return link_geometry(rd.load(file).mechanism)


def test_primitives_with_poses_and_colors(tmp_path):
    box, cylinder, sphere = shapes(tmp_path).shapes["base"]
    assert (box.kind, box.size, box.color) == ("box", (1, 2, 3), (0, 0, 1, 0.5))
    assert np.allclose(box.X_LS @ [1, 0, 0, 1], [1, 3, 3, 1])
    assert (cylinder.kind, cylinder.size, cylinder.color) == ("cylinder", (0.1, 2), (1, 0, 0, 1))
    assert (sphere.kind, sphere.size, sphere.color) == ("sphere", (0.2,), (1, 0, 0, 1))


@pytest.mark.parametrize("name", ["package://parts/meshes/tip.stl", "../meshes/tip.stl"])
def test_meshes_are_found(tmp_path, name):
    (mesh,) = shapes(tmp_path, name).shapes["arm"]
    assert mesh.file.resolve() == tmp_path / "parts" / "meshes" / "tip.stl"
    assert mesh.size == (2, 2, 2)


def test_what_cannot_be_shown_is_said(tmp_path):
    found = shapes(tmp_path, "package://elsewhere/tip.stl")
    assert found.shapes["arm"] == ()
    text = "\n".join(found.notes)
    assert len(found.notes) == 4
    for words in ("package 'elsewhere'", "nothing is fetched", "<sphere>", "3 finite numbers"):
        assert words in text


def test_packages_by_name(tmp_path):
    (tmp_path / "a.stl").write_text(STL)
    assert find_file("package://p/a.stl", None, Packages({"p": tmp_path})) == tmp_path / "a.stl"
    with pytest.raises(ValueError, match="not found"):
        find_file("package://p/b.stl", None, Packages({"p": tmp_path}))


def test_a_file_by_its_address(tmp_path, monkeypatch):
    file = tmp_path / "a tip.stl"
    file.write_text(STL)
    assert find_file(file.as_uri(), None, Packages({})) == file
    looked = []
    monkeypatch.setattr("robodyn.shapes.geometry.url2pathname", nturl2path.url2pathname)
    monkeypatch.setattr(Path, "is_file", lambda path: looked.append(str(path)))
    with pytest.raises(ValueError, match="not found"):
        find_file("file:///C:/parts/a%20tip.stl", None, Packages({}))
    assert looked == ["C:\\parts\\a tip.stl"]


def test_packages_of_ros(tmp_path, monkeypatch):
    (tmp_path / "share" / "p").mkdir(parents=True)
    (tmp_path / "share" / "p" / "a.stl").write_text(STL)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert find_file("package://p/a.stl", None, Packages()).read_text() == STL


def test_triangles_have_the_size_of_the_shape(tmp_path):
    pytest.importorskip("trimesh")
    from robodyn.shapes.meshes import triangles

    found = shapes(tmp_path).shapes
    box, cylinder, sphere = (triangles(shape) for shape in found["base"])
    assert np.allclose(box.extents, [1, 2, 3])
    assert np.allclose(cylinder.extents, [0.2, 0.2, 2], atol=1e-3)
    assert np.allclose(sphere.extents, 0.4, atol=1e-3)
    assert np.allclose(triangles(found["arm"][0]).extents, [2, 2, 0])


def test_a_file_that_is_no_mesh(tmp_path):
    pytest.importorskip("trimesh")
    from robodyn.shapes.meshes import triangles

    (shape,) = shapes(tmp_path).shapes["arm"]
    shape.file.write_text("nothing")
    with pytest.raises(ValueError, match=r"tip\.stl"):
        triangles(shape)


@pytest.mark.parametrize("name", ["palletizer", "excavator", "prosthesis", "satellite"])
def test_places_are_those_of_frames(name):
    robot = rd.load(name)
    q = robot.random(0)
    places = LinkPlaces(robot).at(q)
    assert places.keys() == set(robot.link_names)
    for link, X in places.items():
        assert np.allclose(X, robot.frame_pose(q, link), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["palletizer", "four_bar", "stewart"])
def test_both_sides_of_a_cut_joint_meet(name):
    robot = rd.load(name)
    places = LinkPlaces(robot).at(robot.random(1))
    cut = [mark for mark in marks_of(robot) if mark.cut]
    assert {mark.name for mark in cut} == {closure.name for closure in robot.loops}
    for mark in cut:
        one = places[mark.predecessor] @ mark.X_predecessor
        other = places[mark.successor] @ mark.X_successor
        assert np.allclose(one[:3, 3], other[:3, 3], atol=1e-9)


def test_sticks_lead_from_joint_to_joint(four_bar):
    lines = sticks(four_bar.mechanism)
    places = LinkPlaces(four_bar).at(four_bar.neutral())
    marks = marks_of(four_bar)
    ends = np.concatenate(
        [part.reshape(-1, 3) @ places[n][:3, :3].T + places[n][:3, 3] for n, part in lines.items()]
    )
    for mark in marks:
        point = (places[mark.predecessor] @ mark.X_predecessor)[:3, 3]
        assert np.linalg.norm(ends - point, axis=1).min() < 1e-9
    assert extent(four_bar, places)[1] > 0.1
