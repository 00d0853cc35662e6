"""Inertias that other programs refuse, in files for them."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.comparison import close_within
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import Inertia, Pose
from robodyn.urdf.common.sound_inertias import with_sound_inertias

#: Rounding of poses and inertias that are multiplied up to the posture that is drawn.
close = close_within(1e-10, least=1e-3)

#: Of sensors and feet in public robots: a product of inertia too many, an axis too large, no mass.
REFUSED = {
    "products": Inertia(1e-4, ixx=1e-6, ixy=1e-6, ixz=1e-6, iyy=1e-6, iyz=1e-6, izz=1e-6),
    "triangle": Inertia(0.01, Pose((0.1, 0.2, 0.3), (1.0, 0.0, 2.0)), 1e-3, 0, 0, 1e-3, 0, 1e-2),
    "no mass": Inertia(0.0, Pose((0.1, 0.2, 0.3)), ixx=3e-3, iyy=2e-3, izz=4e-3),
}


def loaded(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rd.errors.UrdfWarning)
        return rd.load(source, **options)


def with_inertia(kinds, name, inertia):
    tree = random_mechanism(np.random.default_rng(1), kinds)
    joints = [dataclasses.replace(x, parent=f"link{k}") for k, x in enumerate(tree.joints)]
    links = [dataclasses.replace(x, inertia=inertia) if x.name == name else x for x in tree.links]
    return dataclasses.replace(tree, links=tuple(links), joints=tuple(joints))


@pytest.mark.parametrize("suffix", ["xml", "sdf", "usda"])
@pytest.mark.parametrize("inertia", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_fixed_to_a_body_moves_with_it(suffix, inertia, tmp_path):
    if suffix == "usda":
        pytest.importorskip("pxr")
    elif suffix == "xml":
        pytest.importorskip("mujoco")
    robot = loaded(with_inertia(["revolute", "fixed", "revolute"], "link2", inertia))
    conversion = rd.convert(robot, tmp_path / f"robot.{suffix}")
    assert any("(link2 to link1)" in line for line in conversion.lost)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = rd.load(conversion.path)
    q, v, tau = np.random.default_rng(0).normal(size=(3, robot.nv))
    if suffix == "sdf":
        q *= 0.0
    close(again.forward_dynamics(q, v, tau), robot.forward_dynamics(q, v, tau))


@pytest.mark.parametrize("suffix", ["xml", "sdf", "usda"])
def test_inertias_without_mass_that_are_fixed_to_nothing(suffix, tmp_path):
    if suffix == "usda":
        pytest.importorskip("pxr")
    elif suffix == "xml":
        pytest.importorskip("mujoco")
    robot = loaded(with_inertia(["revolute", "revolute"], "link2", REFUSED["no mass"]))
    conversion = rd.convert(robot, tmp_path / f"robot.{suffix}")
    assert "inertias without mass (link2) have 1e-09 kg" in conversion.lost
    again, zero = loaded(conversion.path), np.zeros(2)
    # a billionth of a kilogram, of bodies of some kilograms
    assert np.allclose(again.mass_matrix(zero), robot.mass_matrix(zero), rtol=1e-6, atol=0.0)


def test_what_no_other_link_makes_sound_stays():
    for kinds in (["revolute", "revolute"], ["revolute", "fixed"]):
        mechanism = with_inertia(kinds, "link2", dataclasses.replace(REFUSED["triangle"], izz=1e3))
        assert with_sound_inertias(mechanism) == (mechanism, [])


def test_moments_that_rounding_makes_too_large(tmp_path):
    """MuJoCo takes none, robodyn those of files with six digits."""
    pytest.importorskip("mujoco")
    inertia = Inertia(1.0, ixx=0.001, iyy=0.002, izz=0.003000003)
    robot = loaded(with_inertia(["revolute", "revolute"], "link2", inertia))
    conversion = rd.convert(robot, tmp_path / "robot.xml")
    assert any("(link2), which exceed" in line for line in conversion.lost)
    q = np.zeros(2)
    found, expected = loaded(conversion.path).mass_matrix(q), robot.mass_matrix(q)
    assert np.abs(found - expected).max() <= 3.1e-9
