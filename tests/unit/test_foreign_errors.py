"""Mistakes that once ended in an exception of numpy, of the system, or in no answer at all."""

import copy
import os
import pickle
import time

import numpy as np
import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.errors import FileError, MissingFileError
from robodyn.ros.bag import read_bag

ARM = "puma560"


def test_a_pointer_of_git_lfs(tmp_path):
    pointer = tmp_path / "arm.urdf"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1f\nsize 12\n")
    with pytest.raises(
        rd.UrdfError, match="is a pointer to a file in Git LFS: fetch it by git lfs"
    ):
        rd.load(pointer)


def test_yaml_where_a_urdf_is_expected(tmp_path):
    misnamed = tmp_path / "arm.urdf"
    misnamed.write_text('{"links": []}')
    with pytest.raises(rd.UrdfError, match="is YAML, or JSON, where a URDF is expected"):
        rd.load(misnamed)


@pytest.mark.parametrize("name", ["undefined", "punycode", "rot13", "no-such-code"])
def test_encodings_that_are_none(name):
    data = f'<?xml version="1.0" encoding="{name}"?><robot name="r"/>'.encode()
    # Python 3.13 takes the file for bad punycode, older ones say that punycode is no code of files
    said = f"(unknown encoding '{name}'|is not {name} text: .*); save it as UTF-8"
    with pytest.raises(rd.UrdfError, match=said):
        rd.load(data)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
@pytest.mark.parametrize("name", ["arm.urdf", "arm.yaml", "arm.mcap"])
def test_pipes_are_not_waited_for(tmp_path, name):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    read = (lambda p: read_bag(p, rd.load(ARM))) if name.endswith("mcap") else rd.load
    with pytest.raises(rd.RobodynError, match="is a pipe or a device"):
        read(pipe)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")
def test_devices_are_not_read():
    with pytest.raises(rd.UrdfError, match="is a pipe or a device"):
        rd.load("/dev/zero")


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ('<limit lower="-1e308" upper="1e308"/>', "write inf, or leave it out"),
        ('<limit effort="1e308"/>', "write inf, or leave it out"),
        ('<origin xyz="1e308 0 0"/>', r"larger than any number of a robot \(1e\+50\)$"),
        ('<origin rpy="0 -1e60 0"/>', "larger than any number"),
        ('<dynamics damping="1e200"/>', "larger than any number"),
    ],
)
def test_numbers_that_overflow_are_refused(inner, words):
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        f'<parent link="a"/><child link="b"/>{inner}</joint></robot>'
    )
    with pytest.raises(rd.UrdfError, match=words):
        rd.load(text)


def test_descriptions_with_numbers_that_overflow_are_refused():
    joint = rd.Joint("j", "revolute", "a", "b", limits=rd.Limits(-1e308, 1e308))
    links = (rd.Link("a"), rd.Link("b", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0)))
    with pytest.raises(rd.UrdfError, match="the limit lower is -1e\\+308, expected a number up to"):
        rd.load(rd.Mechanism("m", links, (joint,)))


@pytest.mark.slow
def test_a_thousand_unknown_names_are_told_soon():
    links = "".join(f'<link name="link_number_{i}"/>' for i in range(1000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="lnik_number_{i - 1}"/>'
        f'<child link="link_number_{i}"/></joint>'
        for i in range(1, 1000)
    )
    start = time.process_time()
    found = urdf.problems(f'<robot name="r">{links}{joints}</robot>')
    assert time.process_time() - start < 5.0
    assert "did you mean" in str(found[0]) and found[0].suggestion == "link_number_0"
    assert len(found) == 999 and "no link 'lnik_number_998'" in str(found[-1])


def test_a_chain_of_mimics_is_followed_once():
    count = 2000
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        + (f'<mimic joint="j{i - 1}"/>' if i else "")
        + "</joint>"
        for i in range(count)
    )
    start = time.process_time()
    urdf.load_mechanism(f'<robot name="r">{links}{joints}</robot>')
    assert time.process_time() - start < 3.0


@pytest.mark.parametrize(
    ("com", "inertia"), [([0, 0], np.eye(3)), ([0, 0, 0], np.eye(2)), ("x", np.eye(3))]
)
def test_inertias_of_arrays_have_their_shapes(com, inertia):
    with pytest.raises(rd.ShapeError):
        rd.Inertia.from_matrix(1.0, com, inertia)


def test_inertias_of_other_numbers_are_floats():
    inertia = rd.Inertia(np.float32(2), ixx=1, iyy=np.array(1.0), izz=True)
    assert inertia == rd.Inertia(2.0, ixx=1.0, iyy=1.0, izz=1.0)
    assert all(type(x) is float for x in (inertia.mass, inertia.ixx, inertia.iyy, inertia.izz))


def motion():
    return rd.simulate(rd.load("double_pendulum"), duration=0.002, step=0.001)


@pytest.mark.parametrize("ending", ["csv", "npz", "mcap", "png"])
def test_folders_that_are_not_there(tmp_path, ending):
    run, target = motion(), tmp_path / "absent" / f"run.{ending}"
    save = run.plot if ending == "png" else run.save
    with pytest.raises(MissingFileError, match=r"no such folder: .*absent.*make it first"):
        save(target)
    assert isinstance(MissingFileError("x"), FileNotFoundError)


def test_what_the_system_refuses_is_our_error(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError, match=r"run\.csv.*No space left on device"):
        motion().save(tmp_path / "run.csv")
    assert not list(tmp_path.iterdir())


def test_paths_that_are_none(tmp_path):
    run = motion()
    for call in (run.save, run.plot, lambda p: read_bag(p, rd.load(ARM))):
        with pytest.raises(rd.ShapeError, match="path is int, expected the path of a file"):
            call(3)
    with pytest.raises(rd.ShapeError, match=r"run\.xyz.* ending"):
        run.plot(tmp_path / "run.xyz")
    with pytest.raises(rd.ShapeError, match=r"srdf is 3, expected a name or a pathlib\.Path"):
        rd.load(ARM, srdf=3)
    with pytest.raises(rd.ShapeError, match="package_dirs"):
        rd.load(ARM, package_dirs=3)


def test_a_bag_that_is_not_there():
    with pytest.raises(MissingFileError, match=r"no such bag: .*nowhere\.mcap"):
        read_bag("nowhere.mcap", rd.load(ARM))


def test_unknown_names_can_be_copied():
    """Errors cross processes: from a pool of workers, say."""
    error = rd.UnknownNameError("joint", "elbw", ["elbow"], "'arm'")
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(twin) == str(error) == "no joint 'elbw' in 'arm'; did you mean 'elbow'?"
        assert twin.suggestions == ("elbow",)
