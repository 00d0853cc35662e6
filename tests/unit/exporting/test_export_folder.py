"""A folder of code: there as a whole, or not at all."""

import pytest

import robodyn as rd
from robodyn.errors import MissingFileError


@pytest.fixture(scope="module")
def robot():
    return rd.load("double_pendulum")


def test_a_folder_is_new_or_empty(robot, tmp_path):
    into = tmp_path / "code"
    assert rd.export(robot, ["mass_matrix"], "c", into) == into
    files = {x.name: x.read_text() for x in into.iterdir()}
    assert "double_pendulum.c" in files
    with pytest.raises(rd.SettingsError, match=r"holds other files \(.*double_pendulum.c"):
        rd.export(robot, ["gravity_forces"], "c", into)
    assert {x.name: x.read_text() for x in into.iterdir()} == files
    (tmp_path / "empty").mkdir()
    rd.export(robot, ["mass_matrix"], "c", tmp_path / "empty")
    assert {x.name for x in (tmp_path / "empty").iterdir()} == set(files)


@pytest.mark.parametrize(
    ("functions", "options", "error", "words"),
    [
        ([], {}, rd.SettingsError, "functions is empty"),
        (["nosuch"], {}, rd.UnknownNameError, "nosuch"),
        ([3], {}, rd.ShapeError, "functions holds 3"),
        (["mass_matrix", "mass_matrix"], {}, rd.SettingsError, "'mass_matrix' twice"),
        ({"a b": "mass_matrix", "a-b": "mass_matrix"}, {}, rd.SettingsError, "both become 'a_b'"),
        (
            ["mass_matrix"],
            {"target": "fortran"},
            rd.UnknownNameError,
            "'fortran' in target=",
        ),
        (["mass_matrix"], {"dtype": "half"}, rd.UnknownNameError, "half"),
    ],
)
def test_what_is_refused_leaves_nothing(robot, tmp_path, functions, options, error, words):
    with pytest.raises(error, match=words):
        rd.export(robot, functions, **({"target": "c", "folder": tmp_path / "code"} | options))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(robot, tmp_path):
    with pytest.raises(MissingFileError, match="no such folder"):
        rd.export(robot, ["mass_matrix"], "c", tmp_path / "no" / "code")
    (tmp_path / "file").touch()
    with pytest.raises(rd.SettingsError, match="is a file"):
        rd.export(robot, ["mass_matrix"], "c", tmp_path / "file")
