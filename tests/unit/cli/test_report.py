"""``--json``: every report is one object, in one style."""

import json
import math
import re

import numpy as np
import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.cli.options.output import print_json

#: Numbers without a unit: counts, indices, ratios.
PLAIN = re.compile(
    "dof|nq|nv|line|motions?|steps|real_time_factor|constraints|redundant|ratio|share|batch|threads"
    "|lower|upper|velocity|effort|bound|worst"  # beside a "unit"
)
UNITS = re.compile(".*_(kg|s|ns|J|m_or_rad)|rad|m|N m|N")


def report(capsys, *arguments, status=0):
    assert main([*arguments, "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == arguments[0]
    assert found["version"] == rd.__version__
    return found


def unknown_units(x, key=""):
    """Keys of numbers that say no unit."""
    if isinstance(x, dict):
        for name, value in x.items():
            yield from unknown_units(value, name)
    elif isinstance(x, list):
        for value in x:
            yield from unknown_units(value, key)
    elif isinstance(x, int | float) and not isinstance(x, bool):
        if not (PLAIN.fullmatch(key) or UNITS.fullmatch(key)):
            yield key


@pytest.mark.slow
def test_numbers_have_units(tmp_path, capsys):
    out = str(tmp_path / "out")
    for arguments in (
        ["check", "four_bar"],
        ["info", "four_bar"],
        ["info", "puma560"],
        ["sim", "four_bar", "--duration", "0.05", "--no-plot", "--out", out],
        ["bench", "double_pendulum", "--seconds", "1e-3", "--batch", "8"],
        ["doctor"],
        ["export", "double_pendulum", "mass_matrix"],
        ["new", "arm", str(tmp_path / "arm")],
    ):
        assert not list(unknown_units(report(capsys, *arguments))), arguments


def test_info(capsys):
    found = report(capsys, "info", "four_bar")
    robot = rd.load("four_bar")
    assert found["moving_mass_kg"] == robot.total_mass
    assert [x["name"] for x in found["links"]] == list(robot.link_names)
    assert found["independent"] == list(robot.independent_joints)
    assert [x["name"] for x in found["cuts"]] == [cut.name for cut in robot.loops]
    assert sum(x["constraints"] - x["redundant"] for x in found["cuts"]) == robot.nv - robot.dof
    joints = {x["name"]: x for x in report(capsys, "info", "puma560")["joints"]}
    limits = rd.load("puma560").joints["joint2"].limits
    assert joints["joint2"]["unit"] == "rad" and joints["joint2"]["effort_unit"] == "N m"
    assert joints["joint2"]["upper"] == limits.upper


def test_info_of_a_robot_with_a_graph_prints_nothing_else(tmp_path, capsys):
    report(capsys, "info", "four_bar", "--graph", str(tmp_path / "graph.svg"))
    assert (tmp_path / "graph.svg").exists()


def test_sim_reports_what_it_prints(tmp_path, capsys):
    arguments = ["sim", "puma560", "--duration", "0.1", "--npz", "--out", str(tmp_path)]
    found = report(capsys, *arguments)
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"largest torque          {found['torque']['N m']:.4g} N m" in printed
    assert f"{found['energy_unexplained_J']:.1e} J unexplained" in printed
    assert found["steps"] == 100 and found["problem"] is None
    run = rd.Trajectory.load(found["files"][0])
    assert found["torque"]["N m"] == pytest.approx(np.abs(run.tau).max())
    low, high = found["energy_gained_J"]
    assert low == high == pytest.approx(run.energy[-1] - run.energy[0])
    part = np.abs(run.tau).max(axis=0) / rd.load("puma560").effort_limits
    largest = found["largest_share_of_limit"]
    assert largest["share"] == pytest.approx(part.max())
    assert largest["joint"] == run.joint_names[part.argmax()]
    assert found["real_time_factor"] == pytest.approx(0.1 / found["computing_time_s"])
    assert "loops_open_m_or_rad" not in found


def test_sim_of_many_motions_reports_the_range(tmp_path, capsys):
    batch = ["--batch", "3", "--seed", "1", "--npz", "--out", str(tmp_path)]
    found = report(capsys, "sim", "double_pendulum", "--duration", "0.1", *batch)
    run = rd.Trajectory.load(found["files"][0])
    gained = run.energy[-1] - run.energy[0]
    assert found["energy_gained_J"] == pytest.approx([gained.min(), gained.max()])
    assert found["motions"] == 3
    assert found["real_time_factor"] == pytest.approx(0.3 / found["computing_time_s"])


def test_sim_that_fails_reports_how_far_it_came(tmp_path, capsys):
    options = ["--controller", "none", "--out", str(tmp_path), "--no-plot", "--duration", "9"]
    speed = ["--speed", "shoulder=1e7", "--step", "0.1"]
    found = report(capsys, "sim", "double_pendulum", *options, *speed, status=2)
    assert found["problem"]
    assert found["duration_s"] < 9.0


def test_convert_and_export(tmp_path, capsys):
    found = report(capsys, "convert", "four_bar", str(tmp_path / "four_bar.urdf"))
    assert found["counts"]["link"] == 5 and found["files"] == [str(tmp_path / "four_bar.urdf")]
    code = str(tmp_path / "code")
    found = report(capsys, "export", "four_bar", "mass_matrix", "--target", "python", "--out", code)
    assert found["files"] == [f"{code}/four_bar.py"]
    found = report(capsys, "export", "four_bar", "mass_matrix")
    assert "void mass_matrix(" in found["source"]


def test_export_lists_functions_that_there_are(capsys):
    found = report(capsys, "export", "four_bar", "--list")["functions"]
    names = {x["name"] for x in found}
    assert {"inverse_dynamics", "frame_pose", "step", "assemble"} <= names
    assert "operational_inertia" not in names  # of a linkage it is not defined
    assert "loop_corrections" not in names  # it is a part of others
    assert all(x["summary"] for x in found)
    for name in names & {"inverse_dynamics", "mass_matrix", "loop_jacobian", "momentum"}:
        assert rd.load("four_bar").function(name).name == name


@pytest.mark.slow
def test_compile(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path / "cache"))
    found = report(capsys, "compile", "double_pendulum", "mass_matrix")
    assert found["kept"] is True and found["folder"] == str(tmp_path / "cache" / "robodyn")
    assert {x["name"] for x in found["compiled"]} == {"mass_matrix", "robot.mass_matrix"}


def test_what_is_no_number_is_null(capsys):
    print_json("x", a=math.inf, b=[math.nan, 1], c=np.array([[1.0, np.nan]]), d=np.float32(2))
    found = json.loads(capsys.readouterr().out)
    assert (found["a"], found["b"], found["c"], found["d"]) == (None, [None, 1], [[1, None]], 2.0)
