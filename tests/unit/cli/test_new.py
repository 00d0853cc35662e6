"""``robodyn new``: starter projects that are right, and run."""

import runpy

import numpy as np
import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.cli.new.command import PROJECTS


@pytest.fixture(params=PROJECTS)
def project(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", request.param]) == 0
    return tmp_path / request.param


def test_the_robot_is_without_fault(project, capsys):
    capsys.readouterr()
    assert main(["check", str(project / f"{project.name}.urdf")]) == 0
    assert capsys.readouterr().out.endswith(f"{project.name}.urdf: ok\n")


@pytest.mark.slow
def test_the_program_runs(project):
    """It checks its robot itself, against formulas."""
    names = runpy.run_path(str(project / "run.py"))
    result = names["main"](project / "out")
    written = {path.suffix for path in (project / "out").iterdir()}
    assert written == {".png", ".csv"}
    if project.name == "four_bar":
        assert abs(result.v[-1, 0] - names["SPEED"]) < 0.05 * names["SPEED"]
        assert np.abs(result.loop_residual).max() < 1e-9
    else:
        errors = {name: np.abs(run.q[-1] - names["GOAL"]).max() for name, run in result.items()}
        assert max(errors.values()) < 0.1


def test_a_mistake_in_the_robot_is_found(project):
    """The checks of the program are checks: of a robot that is not the one meant they fail."""
    robot = rd.load(project / f"{project.name}.urdf")
    check = runpy.run_path(str(project / "run.py"))["check"]
    check(robot)
    with pytest.raises(AssertionError):
        if project.name == "arm":
            check(robot.with_(payload={"tool": rd.Inertia(0.1)}))
        else:
            check(robot.with_(locked={"drive": 0.0}))


def test_pictures_that_cannot_be_drawn_are_told_of(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("robodyn.cli.new.command.find_spec", lambda name: None)
    assert main(["new", "arm"]) == 0
    assert "its pictures need matplotlib: pip install" in capsys.readouterr().out


def test_a_folder_that_holds_files_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["new", "arm", str(tmp_path)]) == 2
    assert "holds other files (mine.txt)" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert main(["new", "arm", str(tmp_path / "none" / "arm")]) == 2
    assert "no such folder" in capsys.readouterr().err
