"""The command line, as a person calls it."""

import io
import sys

import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.cli.command_line import COMMANDS

GOOD = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="pin" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


def test_check_prints_all_problems(tmp_path, capsys):
    good, bad = tmp_path / "good.urdf", tmp_path / "bad.urdf"
    good.write_text(GOOD)
    bad.write_text(GOOD.replace('ixx="1"', 'ixx="9"').replace("continuous", "wobbly"))
    assert main(["check", str(good)]) == 0
    assert main(["check", str(good), str(bad)]) == 2
    out = capsys.readouterr().out
    assert "good.urdf: ok" in out
    assert "wobbly" in out
    assert "bad.urdf:" in out


def test_near_names_a_joint_once(capsys):
    assert main(["info", "four_bar", "--near=crank_drive=0.5", "--near=crank_drive=0.7"]) == 2
    assert "--near gives 'crank_drive' twice" in capsys.readouterr().err
    assert main(["info", "four_bar"]) == 0
    assert "1 degree of freedom" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["info", "pumma560"], ["sim", "nowhere.urdf"], ["sim", "puma560", "--step", "0"]]
)
def test_mistakes_are_one_line_and_status_2(arguments, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("robodyn: ")
    assert "Traceback" not in error


def test_names_that_the_output_cannot_show(tmp_path, monkeypatch):
    """As where Windows writes into a pipe in its own encoding."""
    file, pipe = tmp_path / "arm.urdf", io.BytesIO()
    file.write_text(GOOD.replace('"pin"', '"дверь"'), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding="cp1252"))
    assert main(["info", str(file)]) == 0
    assert b"\\u0434" in pipe.getvalue()


def test_every_command_is_named_as_its_module_says(capsys):
    for line in ([], ["--help"], ["chek", "robot.urdf"]):
        with pytest.raises(SystemExit):
            main(line)
        said = "".join(capsys.readouterr())
        assert line == [] or all(name in said for name in COMMANDS)


def test_an_interrupt_that_other_code_renames_is_still_one(monkeypatch, capsys):
    def load(*args, **options):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise RuntimeError("something went wrong") from error

    monkeypatch.setattr(rd, "load", load)
    assert main(["info", "puma560"]) == 130
    assert capsys.readouterr().err.endswith("robodyn: interrupted\n")


def test_the_page_that_needs_no_browser_is_written_first(capsys):
    """Without a browser neither file was written."""
    from types import SimpleNamespace

    from robodyn.cli.view import _written

    def screenshot(path):
        raise rd.RobodynError("no browser")

    written = []
    viewer = SimpleNamespace(screenshot=screenshot, video=screenshot, write_html=written.append)
    with pytest.raises(rd.RobodynError, match="no browser"):
        _written(viewer, SimpleNamespace(screenshot="a.png", video=None, html="a.html"))
    assert written == ["a.html"]
    assert capsys.readouterr().out == "wrote a.html\n"


@pytest.mark.parametrize("command", ["check", "info", "sim", "view", "publish"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--package", "nowhere"], "expected DIR or NAME=DIR"),
        (["--package", "=nowhere"], "expected DIR or NAME=DIR"),
        (["--package", "arm="], "expected DIR or NAME=DIR"),
        (["--package", "arm=nowhere"], "there is no folder 'nowhere'"),
        (["--closure-tolerance", "near"], "--closure-tolerance is 'near', expected a number"),
        (["--near", "elbow"], "expected JOINT=POSITION"),
        (["name:=a", "name:=b"], "name:= is given twice"),
        (["name:=a"], "xacro_args gives name"),
    ],
)
def test_wrong_ways_to_read_a_robot_are_one_line(command, options, words, capsys):
    assert main([command, "puma560", *options]) == 2
    told = "".join(capsys.readouterr())
    assert words in told
    assert len(told.strip().splitlines()) == 1


def test_ways_to_read_a_robot(tmp_path, capsys):
    heavy = GOOD.replace('izz="1"', 'izz="9"')  # no body has such inertias
    path = tmp_path / "one.urdf"
    path.write_text(heavy)
    assert main(["check", str(path)]) == 2
    assert main(["info", str(path)]) == 2
    for option in ("--allow-unphysical", "--lenient"):
        assert main(["check", str(path), option]) == 0
        assert main(["info", str(path), option]) == 0
    told = capsys.readouterr()
    assert told.out.count("moving mass 1 kg") == 2
    assert told.err.count("robodyn: warning: ") == 2


def test_an_error_says_how_many_follow_and_which_option_reads_the_file(tmp_path, capsys):
    file = tmp_path / "arm.urdf"
    file.write_text(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" ixy="0" izz="1" iyz="0" ixz="0"/></inertial></link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<origin xyz="0,1 0 0,5"/></joint></robot>'
    )
    assert main(["info", str(file)]) == 2
    told = capsys.readouterr().err
    assert "'0,1'" in told
    assert "1 more" in told
    assert "with --lenient" in told
    assert main(["info", "--lenient", str(file)]) == 0
    assert "taken as 0.1" in capsys.readouterr().err
    file.write_text(file.read_text().replace(",", ".").replace('ixx="1"', 'ixx="9"'))
    assert main(["info", str(file)]) == 2
    assert "--allow-unphysical" in capsys.readouterr().err
    assert main(["info", "--allow-unphysical", str(file)]) == 0
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"robodyn: warning: {file}:") and "moments" in told


def test_compile_fills_the_cache_of_other_processes(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path / "kept"))
    robot = tmp_path / "one.urdf"
    robot.write_text(GOOD.replace('<mass value="1"/>', '<mass value="1.5"/>'))
    assert main(["compile", str(robot), "mass_matrix", "--derivatives"]) == 0
    assert "derivative of mass_matrix by q: " in capsys.readouterr().out
    kept = {file.name for file in (tmp_path / "kept" / "robodyn").iterdir()}
    again = rd.load(robot)
    again.mass_matrix([0.2])
    again.mass_matrix([[0.2]] * 64)
    again.function("mass_matrix").jacobian("q")([0.2])
    assert {file.name for file in (tmp_path / "kept" / "robodyn").iterdir()} == kept


def test_compile_says_that_nothing_could_be_kept(tmp_path, monkeypatch, capsys):
    taken = tmp_path / "file"
    taken.write_text("no folder")
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(taken))
    robot = tmp_path / "robot.urdf"
    robot.write_text(GOOD.replace('<mass value="1"/>', '<mass value="1.75"/>'))
    assert main(["compile", str(robot), "mass_matrix"]) == 2
    printed = capsys.readouterr()
    assert f"could not be kept in {taken}" in printed.err and "kept in" not in printed.out


def test_commands_run_without_a_standard_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["info", "double_pendulum"]) == 0


def test_compile_says_what_it_cannot_do(monkeypatch, capsys):
    monkeypatch.setenv("ROBODYN_CACHE", "0")
    assert main(["compile", "double_pendulum"]) == 2
    assert "ROBODYN_CACHE=0 keeps no code" in capsys.readouterr().err
