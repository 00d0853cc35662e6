"""Kinds of joints as a registry: found in the folder, one object each, refused where wrong."""

import dataclasses
import shutil
from pathlib import Path

import pytest
from support.processes import python

import robodyn as rd
from robodyn.description import Joint, Link, Mechanism
from robodyn.equations.loops.closure_rows import closure
from robodyn.joints import KINDS, joint_kind
from robodyn.joints.common.kind import JointKind
from robodyn.urdf import bad_values

PACKAGE = Path(rd.__file__).parent


def test_every_file_of_the_folder_is_a_kind():
    files = {path.stem for path in (PACKAGE / "joints").glob("*.py")} - {"__init__"}
    assert files == {"joint_map" if name == "map" else name for name in KINDS}


def test_names_are_found_with_suggestions():
    assert joint_kind("helical") is KINDS["helical"]
    for name in ("helicle", None, ["helical"]):
        with pytest.raises(rd.UnknownNameError, match="helical"):
            joint_kind(name)


@pytest.mark.slow
def test_found_in_a_zipped_package(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "robodyn", ignore=shutil.ignore_patterns("__pycache__"))
    archive = shutil.make_archive(str(tmp_path / "zipped"), "zip", tmp_path, "robodyn")
    code = "import robodyn, robodyn.joints as j; print(robodyn.__file__, *j.KINDS)"
    done = python("-c", code, env={"PYTHONPATH": archive}, cwd=tmp_path.parent)
    file, *names = done.stdout.split()
    assert file.startswith(archive)
    assert names == list(KINDS)


def test_turns_without_parts_are_about_the_axis():
    with pytest.raises(ValueError, match=r"'universal'.*without parts"):
        dataclasses.replace(KINDS["universal"], parts=None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"state_at": KINDS["revolute"].state_at}, "both given"),
        ({"turning": (True,)}, "goes with turning"),
        ({"nq": 2}, "as many as speeds"),
        ({"axes": ()}, "need one"),
        ({"axes": ("axis2",)}, "axis, then axis2"),
    ],
)
def test_a_kind_that_contradicts_itself(changes, message):
    with pytest.raises(ValueError, match=f"'helical'.*{message}"):
        dataclasses.replace(KINDS["helical"], **changes)


def test_two_files_with_one_name(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "robodyn", ignore=shutil.ignore_patterns("__pycache__"))
    joints = tmp_path / "robodyn" / "joints"
    shutil.copy(joints / "planar.py", joints / "plane.py")
    done = python(
        "-c", "import robodyn.joints", check=False, env={"PYTHONPATH": str(tmp_path)}, cwd=tmp_path
    )
    assert "two joint kinds are called 'planar'" in done.stderr


def mechanism(**given):
    joint = Joint("slide", parent="a", child="b", axis=(0.0, 0.0, 1.0), **given)
    return Mechanism("two", (Link("a"), Link("b")), (joint,))


def test_numbers_that_the_kind_does_not_have():
    (error,) = bad_values(mechanism(kind="prismatic", parameters=(("lead", 0.1),)))
    assert "a prismatic joint has no parameter 'lead' (it has none)" in str(error)


def test_numbers_that_are_missing():
    joint = Joint("rod", "distance", "a", "b")
    with pytest.raises(rd.UnknownNameError, match="distance"):
        _ = joint.constants


def test_a_kind_that_cannot_be_cut():
    kind = JointKind("new", 1, 1, state=KINDS["helical"].state)
    assert not kind.closes_loops
    joint = mechanism(kind="map").joints[0]
    with pytest.raises(rd.TopologyError, match="a map joint cannot close a loop"):
        closure(None, joint, 0.0)
