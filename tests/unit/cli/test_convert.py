"""``robodyn convert``: what was read stands in the new file, and what does not is told."""

import warnings

import numpy as np
import pytest
from support.mjcf_models import ARM, WELDED

import robodyn as rd
from robodyn.cli import main

pytest.importorskip("mujoco")

ROBOT = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="pin" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


def _load(source, **options):
    with warnings.catch_warnings(action="ignore", category=rd.errors.UrdfWarning):
        return rd.load(source, **options)


@pytest.mark.parametrize("text", [ARM, WELDED], ids=["arm", "welded"])
def test_a_converted_robot_moves_as_before(text, tmp_path, capsys):
    source, out = tmp_path / "model.xml", tmp_path / "model.urdf"
    source.write_text(text)
    assert main(["convert", str(source), str(out)]) == 0
    told = capsys.readouterr().out
    assert "MJCF: shapes, materials, cameras" in told
    before = _load(source)
    after = rd.load(out, near=dict(before.mechanism.start) if before.loops else None)
    rng = np.random.default_rng(0)
    q = before.assemble(before.random(rng))
    v = before.consistent_velocity(q, rng.normal(size=before.nv))
    tau = rng.normal(size=before.nv)
    for name, inputs in (
        ("mass_matrix", (q,)),
        ("bias_forces", (q, v)),
        ("forward_dynamics", (q, v, tau)),
    ):
        one, other = (getattr(robot, name)(*inputs) for robot in (before, after))
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12 * np.abs(one).max())
    if before.loops:
        assert "near= of robodyn.load): crank 0.4, rocker -0.2" in told
    else:
        assert f"{out}: 14 links, 13 joints, 3 motors, 1 spring" in told
        assert "contacts of" in told


def test_no_file_is_replaced_or_left_half_written(tmp_path, capsys):
    source, out = tmp_path / "one.urdf", tmp_path / "two.urdf"
    source.write_text(ROBOT)
    out.write_text("precious")
    assert main(["convert", str(source), str(out)]) == 2
    assert "is there already: --force replaces it" in capsys.readouterr().err
    source.write_text(ROBOT.replace("continuous", "wobbly"))
    assert main(["convert", str(source), str(out), "--force"]) == 2
    assert out.read_text() == "precious"
    source.write_text(ROBOT)
    assert main(["convert", str(source), str(out), "--force"]) == 0
    assert rd.load(out).mechanism == rd.load(source).mechanism
    assert {path.name for path in tmp_path.iterdir()} == {"one.urdf", "two.urdf"}
    for wrong in ("two.stl", "nowhere/two.urdf", "nowhere/two.xml"):
        assert main(["convert", str(source), str(tmp_path / wrong)]) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"one.urdf", "two.urdf"}


def test_what_is_read_leniently_is_told(tmp_path, capsys):
    source, out = tmp_path / "one.xml", tmp_path / "two.urdf"
    source.write_text(ARM.replace("<default>", '<option density="1"/><default>', 1))
    assert main(["convert", str(source), str(out)]) == 2
    assert not out.exists()
    assert main(["convert", "--lenient", str(source), str(out)]) == 0
    told = capsys.readouterr().out
    assert "<option>: the density of a medium" in told and "counterpart" in told
    assert "contacts of" in told
    assert len(rd.load(out).joint_names) == 7


@pytest.mark.parametrize(
    ("after", "wrong"),
    [
        ("</inertial>", "<visual><geometry><origin xyz='0 0 1'/></geometry></visual>"),
        ("</inertial>", "<axis xyz='0 0 1'/>"),
        ('<child link="arm"/>', "<velocity value='3'/>"),
        ("</joint>", "<inertial><mass value='2'/></inertial>"),
        ("</joint>", "<Link name='more'/>"),
        ("</joint>", "<xacro:sensor name='imu' xmlns:xacro='http://www.ros.org/wiki/xacro'/>"),
    ],
)
def test_what_is_left_out_is_not_in_the_new_file(after, wrong, tmp_path, capsys):
    source, out = tmp_path / "one.urdf", tmp_path / "two.urdf"
    source.write_text(ROBOT.replace(after, after + wrong))
    assert main(["convert", str(source), str(out)]) == 2
    assert main(["convert", "--lenient", str(source), str(out)]) == 0
    assert "-> left out" in capsys.readouterr().out
    plain, mechanism = rd.load(ROBOT).mechanism, rd.load(out).mechanism
    assert (mechanism.joints, mechanism.extras) == (plain.joints, ())
    assert [link.inertia for link in mechanism.links] == [link.inertia for link in plain.links]


def test_files_of_shapes_that_are_elsewhere_are_told(tmp_path, capsys):
    source = tmp_path / "one.urdf"
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    names = ("meshes/a.stl", "package://p/b.stl", "/c.stl")
    source.write_text(
        ROBOT.replace("</inertial>", "</inertial>" + "".join(map(mesh.format, names)))
    )
    (tmp_path / "new").mkdir()
    for out, told in (("two.urdf", False), ("new/two.urdf", True)):
        assert main(["convert", str(source), str(tmp_path / out)]) == 0
        line = "not copied, and looked for beside the new file: meshes/a.stl\n"
        assert (line in capsys.readouterr().out) == told


def test_xacro_is_expanded(tmp_path, capsys):
    pytest.importorskip("xacro")
    source, out = tmp_path / "one.xacro", tmp_path / "two.urdf"
    source.write_text(
        ROBOT.replace('name="one"', 'name="one" xmlns:xacro="http://ros.org/wiki/xacro"')
        .replace("<link", '<xacro:arg name="m" default="1"/><link', 1)
        .replace('mass value="1"', 'mass value="$(arg m)"')
    )
    assert main(["convert", str(source), str(out), "m:=3"]) == 0
    assert "xacro: properties, macros" in capsys.readouterr().out
    assert rd.load(out).total_mass == 3.0
