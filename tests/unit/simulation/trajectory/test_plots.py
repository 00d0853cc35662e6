"""Pictures of motions: panels by name, names and units in legends, limits as dashed lines."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import MissingExtraError, SettingsError, ShapeError, UnknownNameError
from robodyn.simulation.trajectory.pictures import plots

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def run():
    robot = rd.load("palletizer")
    push = np.arange(robot.nv) * [name in robot.actuated_joints for name in robot.joint_names]
    return rd.simulate(robot, lambda t, q, v: push, duration=0.05, step=1e-3, limits="ignore")


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draws, and gives the coordinate systems by the label of their vertical axis."""
    figures = []
    save = plots.save_figure
    monkeypatch.setattr(
        plots, "save_figure", lambda figure, path: (figures.append(figure), save(figure, path))
    )

    def draw(run, *panels, **options):
        run.plot(tmp_path / "run.png", panels=panels or None, **options)
        assert (tmp_path / "run.png").stat().st_size > 5_000
        return {axis.get_ylabel(): axis for axis in figures.pop().axes}

    return draw


def curves(axis):
    return {line.get_label(): line for line in axis.get_lines() if line.get_linestyle() == "-"}


def dashed(axis):
    return sorted(
        float(line.get_ydata()[0]) for line in axis.get_lines() if line.get_linestyle() == "--"
    )


def test_what_is_drawn_unless_asked(drawn, run):
    axes = drawn(run)
    assert [*axes] == [
        "position [rad, m]", "velocity [rad/s, m/s]", "torque [N m, N]", "energy [J]",
    ]  # fmt: skip
    assert axes["energy [J]"].get_xlabel() == "time [s]"


def test_curves_have_names_and_units(drawn, run):
    axis = drawn(run, "velocities")["velocity [rad/s, m/s]"]
    lines = curves(axis)
    k = run.joint_names.index("shoulder")
    np.testing.assert_array_equal(lines["shoulder [rad/s]"].get_ydata(), run.v[:, k])
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [*lines]


@pytest.mark.parametrize(
    "name, label, values",
    [
        ("accelerations", "acceleration [rad/s^2, m/s^2]", lambda run: run.a),
        ("torques", "torque [N m, N]", lambda run: run.tau),
        ("motor torques", "motor torque [N m, N]", lambda run: run.motor_torques),
        ("power", "power [W]", lambda run: run.power),
        ("positions", "position [rad, m]", lambda run: run.q),
        ("closure", "largest gap [m, rad]", lambda run: run.loop_residual[:, None]),
        ("wrench of elbow", "wrench of elbow [N, N m]", lambda run: run.joint_wrenches()["elbow"]),
        ("wrench of base", "wrench of base [N, N m]", lambda run: run.joint_wrenches()["base"]),
        ("audit", "energy since the start [J]", lambda run: np.stack(
            [run.audit.stored - run.audit.stored[0], run.audit.forces, run.audit.dissipated,
             run.audit.unexplained], axis=1)),
        ("energy", "energy [J]", lambda run: np.stack(
            [run.energy, run.kinetic_energy, run.potential_energy], axis=1)),
    ],
)  # fmt: skip
def test_panels_show_what_they_say(drawn, run, name, label, values):
    lines = curves(drawn(run, name)[label])
    np.testing.assert_allclose(
        np.stack([line.get_ydata() for line in lines.values()], axis=1), values(run)
    )


def test_limits_are_dashed(drawn, run):
    robot = run.robot
    axes = drawn(run, "positions", "velocities", "torques", "motor torques")
    bounds = np.r_[robot.lower_limits, robot.upper_limits]
    assert dashed(axes["position [rad, m]"]) == sorted(bounds[np.isfinite(bounds)])
    top = robot.velocity_limits[np.isfinite(robot.velocity_limits) & (robot.velocity_limits > 0)]
    assert dashed(axes["velocity [rad/s, m/s]"]) == sorted([*top, *-top])
    assert dashed(axes["torque [N m, N]"]) and dashed(axes["motor torque [N m, N]"])


def test_a_cut_joint_bears_something(drawn, run):
    (cut, *_) = [name for name, joint in run.robot.joints.items() if joint.cut]
    (axis,) = drawn(run, f"wrench of {cut}").values()
    assert any(line.get_ydata().any() for line in curves(axis).values())


def test_elastic_energy_is_shown_where_there_are_springs(drawn):
    robot = rd.load("double_pendulum", springs={"elbow": (5.0, 0.1)})
    run = rd.simulate(robot, duration=0.05)
    assert "elastic" in curves(drawn(run, "energy")["energy [J]"])


def test_many_motions_in_one_panel(drawn):
    robot = rd.load("double_pendulum")
    q0, v0 = np.random.default_rng(1).normal(size=(2, 3, 2))
    run = rd.rollout(robot, None, q0, v0, duration=0.05, limits="ignore")
    axis = drawn(run, "velocities")["velocity [rad/s, m/s]"]
    assert len([line for line in axis.get_lines() if line.get_linestyle() == "-"]) == 6
    assert len(axis.get_legend().get_texts()) == 2
    drawn(run, "closure")


def test_motions_of_unknown_robots(drawn, run):
    bare = dataclasses.replace(run, robot=None)
    axes = drawn(bare)
    assert "shoulder" in curves(axes["position [rad, m]"])
    with pytest.raises(SettingsError, match="robot"):
        drawn(bare, "wrench of elbow")


@pytest.mark.slow
def test_without_a_path_it_is_shown(monkeypatch, run):
    from matplotlib import pyplot

    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.get_fignums()))
    pyplot.switch_backend("Agg")
    run.plot()
    assert len(shown) == 1 and len(shown[0]) == 1 and not pyplot.get_fignums()


def test_a_picture_in_a_file_leaves_no_window(tmp_path, run):
    from matplotlib import pyplot

    run.plot(tmp_path / "run.svg", panels="energy")
    assert not pyplot.get_fignums()


def test_panels_that_are_not_there(tmp_path, run):
    with pytest.raises(UnknownNameError) as caught:
        run.plot(tmp_path / "x.png", panels=["posititons"])
    assert caught.value.suggestions[0] == "positions"
    with pytest.raises(UnknownNameError) as caught:
        run.plot(tmp_path / "x.png", panels=["wrench of elbw"])
    assert "elbow" in caught.value.suggestions
    with pytest.raises(UnknownNameError, match="no panel 3"):
        run.plot(tmp_path / "x.png", panels=[3])
    for nothing in ([], ()):
        with pytest.raises(ShapeError, match="nothing to draw"):
            run.plot(tmp_path / "x.png", panels=nothing)
    with pytest.raises(UnknownNameError, match="no panel"):
        run.plot(tmp_path / "x.png", panels=[["torques"]])
    with pytest.raises(ShapeError, match="there are no samples"):
        run[:0].plot(tmp_path / "x.png")
    with pytest.raises(ShapeError, match="nothing to draw"):
        run[3].plot(tmp_path / "x.png")
    assert not [*tmp_path.iterdir()]


def test_without_matplotlib(tmp_path, monkeypatch, run):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"robodyn\[plot\]"):
        run.plot(tmp_path / "x.png")
