"""What ``robodyn check`` says of masses and inertias beside the shapes of links."""

import re
import sys

import numpy as np
import pytest
import trimesh
from support.processes import python

import robodyn as rd
from robodyn.cli import main
from robodyn.cli.shapes.solid import joined, solid
from robodyn.description import Inertia, Pose
from robodyn.shapes.geometry import Shape
from robodyn.shapes.meshes import triangles
from robodyn.urdf import bundled_robots

MASS, EDGES = 0.78, (0.3, 0.15, 0.1)
#: Where the bar lies in its link, and the link in the base.
BAR, LINK = Pose((0.24, 0.05, -0.03), (0.3, -0.4, 0.5)), Pose((0.4, -0.2, 0.7), (0.9, 0.2, -0.6))


def box_inertia(mass, edges):
    x, y, z = edges
    return mass / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])


def turned(R, J):
    return R @ J @ R.T


def about(mass, c, J):
    """Inertia about a point from that about the centre of mass, which is at c from it."""
    return J + mass * (c @ c * np.eye(3) - np.outer(c, c))


def text(mass, com, J, *, rpy=(0.0, 0.0, 0.0), shape=None, links=1, bar=None):
    """A robot whose links are all the same bar, with what their <inertial> says."""
    size = " ".join(map(str, EDGES))
    geometry = shape or f'<box size="{size}"/>'
    bar = bar or BAR
    place = f'<origin xyz="{" ".join(map(str, bar.xyz))}" rpy="{" ".join(map(str, bar.rpy))}"/>'
    moments = " ".join(
        f'{name}="{value!r}"'
        for name, value in zip(
            ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), J[np.triu_indices(3)].tolist(), strict=True
        )
    )
    inertial = (
        f'<inertial><origin xyz="{" ".join(map(repr, map(float, com)))}" '
        f'rpy="{" ".join(map(str, rpy))}"/><mass value="{mass}"/><inertia {moments}/></inertial>'
    )
    body = f"{inertial}<visual>{place}<geometry>{geometry}</geometry></visual>"
    at = f'<origin xyz="{" ".join(map(str, LINK.xyz))}" rpy="{" ".join(map(str, LINK.rpy))}"/>'
    rest = "".join(
        f'<link name="l{k}">{body}</link><joint name="j{k}" type="continuous">{at}'
        f'<axis xyz="0 1 0"/><parent link="base"/><child link="l{k}"/></joint>'
        for k in range(links)
    )
    return f'<robot name="r"><link name="base"/>{rest}</robot>'


def check(tmp_path, capsys, urdf, *options):
    file = tmp_path / "r.urdf"
    file.write_text(urdf)
    assert main(["check", str(file), *options]) == 0
    return capsys.readouterr().out.replace(str(file), "FILE")


RIGHT = np.array(BAR.xyz)
J_BAR = box_inertia(MASS, EDGES)
R_BAR = BAR.matrix[:3, :3]
J_LINK = turned(R_BAR, J_BAR)
R_WL, P_WL = LINK.matrix[:3, :3], LINK.matrix[:3, 3]
COM_W = R_WL @ RIGHT + P_WL

#: Mass, centre of mass, inertia and angles that a file has; what the message says; what is meant.
MISTAKES = {
    "grams": ((1e3 * MASS, RIGHT, J_LINK), "in grams?", {"mass": MASS}),
    "all in grams": (
        (1e3 * MASS, RIGHT, 1e3 * J_LINK), "g and g m\\^2", {"mass": MASS, "J": J_LINK},
    ),
    "g, mm": (
        (1e3 * MASS, 1e3 * RIGHT, 1e9 * J_LINK), "millimetres|g, mm", None,
    ),
    "kg mm^2": ((MASS, RIGHT, 1e6 * J_LINK), "kg mm\\^2", None),
    "millimetres": ((MASS, 1e3 * RIGHT, J_LINK), "millimetres", {"com": RIGHT}),
    "about the origin": (
        (MASS, RIGHT, about(MASS, RIGHT, J_LINK)), "about the origin of the link", {"J": J_LINK},
    ),
    "turned twice": (
        (MASS, RIGHT, J_LINK, BAR.rpy), "in the axes of the link", {"J": J_BAR},
    ),
    "centre in the base": ((MASS, COM_W, J_LINK), "in the frame of the base", {"com": RIGHT}),
    "axes of the base": (
        (MASS, RIGHT, turned(R_WL, J_LINK)), "in the axes of the base", {"J": J_LINK},
    ),
    "z upwards": (
        (MASS, RIGHT, turned(np.eye(3)[[0, 2, 1]] * (1, -1, 1), J_LINK)), "turned by 90 degrees",
        {"J": J_LINK},
    ),
    "all in the base": (
        (MASS, COM_W, about(MASS, COM_W, turned(R_WL, J_LINK))), "about its origin",
        {"com": RIGHT, "J": J_LINK},
    ),
    "nowhere": ((MASS, RIGHT + np.array([0.0, 0.0, 1.15]), J_LINK), "outside of the shapes", None),
    "left out": ((MASS, np.zeros(3), J_LINK), "left out", {"com": RIGHT}),
    "tonnes": ((1e-3 * MASS, RIGHT, J_LINK), "in tonnes", {"mass": MASS}),
    "t, mm": (
        (1e-3 * MASS, 1e3 * RIGHT, 1e3 * J_LINK), "t, mm and t mm\\^2",
        {"mass": MASS, "com": RIGHT, "J": J_LINK},
    ),
    "lb in^2": (
        (MASS / 0.45359237, RIGHT, J_LINK / 0.45359237 / 0.0254**2), "lb and lb in\\^2",
        {"mass": MASS, "J": J_LINK},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "words", "meant"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_of_a_cad_export_are_found_and_corrected(tmp_path, capsys, given, words, meant):
    mass, com, J, *rest = given
    urdf = text(mass, com, J, rpy=rest[0] if rest else (0, 0, 0), links=2)
    out = check(tmp_path, capsys, urdf)
    assert out.count("(warning)") == 2
    assert re.search(words, out), out
    if meant is None:
        return
    number = r'"([^"]*)"'
    if "mass" in meant:
        (value,) = set(re.findall(f"mass value={number}|Then it is ([0-9.]+) kg", out))
        assert float(value[0] or value[1]) == pytest.approx(meant["mass"])
    if "com" in meant:
        (value,) = set(re.findall(f"xyz={number}", out))
        assert np.allclose([float(x) for x in value.split()], meant["com"], atol=1e-6)
    if "J" in meant:
        found = [float(re.search(f"{n}={number}", out)[1]) for n in
                 ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]  # fmt: skip
        assert np.allclose(found, meant["J"][np.triu_indices(3)], atol=1e-5 * J_BAR.max())


def test_signs_of_the_products_of_inertia(tmp_path, capsys):
    bar = Pose(BAR.xyz, (0.0, 0.0, 0.6))
    J = turned(bar.matrix[:3, :3], J_BAR)
    assert check(tmp_path, capsys, text(MASS, RIGHT, J, bar=bar)) == "FILE: ok\n"
    out = check(tmp_path, capsys, text(MASS, RIGHT, 2.0 * np.diag(np.diag(J)) - J, bar=bar))
    assert "sign of the products" in out
    assert f'ixy="{J[0, 1]:.6g}"' in out


def test_what_is_right_is_not_warned_of(tmp_path, capsys):
    for links in (1, 3):
        assert check(tmp_path, capsys, text(MASS, RIGHT, J_LINK, links=links)) == "FILE: ok\n"
        assert (
            check(tmp_path, capsys, text(MASS, RIGHT, J_BAR, rpy=BAR.rpy, links=links))
            == "FILE: ok\n"
        )
    # hollow, thin, with a heavy end, a point mass: bodies that a shape can be
    for J in (1.9 * J_LINK, 0.05 * J_LINK, 0.0 * J_LINK):
        assert check(tmp_path, capsys, text(MASS, RIGHT, J)) == "FILE: ok\n"
    end = RIGHT + R_BAR @ (0.14, 0.0, 0.0)
    assert check(tmp_path, capsys, text(MASS, end, 0.1 * J_LINK)) == "FILE: ok\n"


@pytest.mark.slow
def test_bundled_robots_fit_their_shapes(capsys):
    assert main(["check", "--shapes", *bundled_robots()]) == 0
    assert "outside" not in (out := capsys.readouterr().out) and "is the" not in out


def mesh_file(folder, scale=1.0):
    box = trimesh.creation.box(np.array(EDGES) * scale)
    box.export(folder / "bar.stl")
    return '<mesh filename="bar.stl"/>'


def test_meshes_are_compared_if_asked_for(tmp_path, capsys, monkeypatch):
    mesh = mesh_file(tmp_path)
    wrong = text(MASS, RIGHT, about(MASS, RIGHT, J_LINK), shape=mesh)
    assert "ok\n" in check(tmp_path, capsys, wrong)
    assert "about the origin of the link" in check(tmp_path, capsys, wrong, "--shapes")
    right = text(MASS, RIGHT, J_LINK, shape=mesh)
    assert check(tmp_path, capsys, right, "--shapes") == "FILE: ok\n"
    mesh_file(tmp_path, 1000.0)
    assert 'scale="0.001 0.001 0.001"' in check(tmp_path, capsys, right, "--shapes")
    (tmp_path / "bar.stl").write_text("solid nothing")
    assert "not compared" in check(tmp_path, capsys, right, "--shapes")
    (tmp_path / "bar.stl").unlink()
    assert "not compared" in check(tmp_path, capsys, right, "--shapes")
    bare = re.sub("<visual>.*?</visual>", "", right)
    assert "no link with a mass has a shape" in check(tmp_path, capsys, bare, "--shapes")


def test_trimesh_that_is_missing_is_named(tmp_path, capsys, monkeypatch):
    mesh = mesh_file(tmp_path)
    (tmp_path / "r.urdf").write_text(text(MASS, RIGHT, J_LINK, shape=mesh))
    monkeypatch.setitem(sys.modules, "trimesh", None)
    assert main(["check", "--shapes", str(tmp_path / "r.urdf")]) == 2
    assert "trimesh" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "r.urdf")]) == 0


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("box", (0.1, 0.2, 0.3)),
        ("cylinder", (0.1, 0.5)),
        ("sphere", (0.3,)),
        ("capsule", (0.1, 0.4)),
    ],
)
def test_filled_shapes_are_those_of_their_triangles(kind, size):
    shape = Shape(kind, size, LINK.matrix)
    mesh = triangles(shape)
    mesh.apply_transform(LINK.matrix)
    own, rel = solid(shape), 0.01  # flat triangles cut a little off
    J = mesh.mass_properties["inertia"] / mesh.volume
    assert own.volume == pytest.approx(mesh.volume, rel=rel)
    assert np.allclose(own.center, mesh.center_mass)
    assert np.allclose(own.spread, 0.5 * np.trace(J) * np.eye(3) - J, atol=rel * np.abs(J).max())
    both = joined([own, own])
    assert both.volume == 2.0 * own.volume and np.allclose(both.spread, own.spread)


def test_a_body_denser_than_osmium_is_told_without_shapes():
    def of(mass, moment):
        arm = rd.Link(
            "arm", rd.Inertia(mass, Pose((0.1, 0, 0)), ixx=moment, iyy=moment, izz=moment)
        )
        far = rd.Link("far", Inertia(1.0, Pose((0.1, 0, 0)), ixx=0.01, iyy=0.01, izz=0.01))
        joints = (
            rd.Joint("j", "revolute", "base", "arm", axis=(0, 0, 1)),
            rd.Joint("k", "revolute", "arm", "far", origin=Pose((0.5, 0, 0)), axis=(0, 0, 1)),
        )
        robot = rd.Mechanism("r", (rd.Link("base"), arm, far), joints)
        return [str(warning) for warning in rd.urdf.findings(robot)[1]]

    steel = 0.4 * 5.0 * (5.0 / 7850.0 / (4.0 / 3.0 * np.pi)) ** (2.0 / 3.0)  # of a ball
    assert of(5.0, steel) == of(5.0, 0.0) == []
    (told,) = of(5.0, 0.05 * steel)
    assert "osmium" in told
    (told,) = of(5000.0, 50.0 * steel)
    assert "Then it is 5 kg" in told


@pytest.mark.slow
def test_check_needs_no_viewer():
    code = (
        "import sys; from robodyn.cli import main; main(['check', 'double_pendulum']); "
        "print(any(name.startswith('robodyn.view') for name in sys.modules))"
    )
    said = python("-c", code)
    assert said.stdout.splitlines()[-1] == "False"
