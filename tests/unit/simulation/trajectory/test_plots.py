"""Pictures: panels by name, limits where they are near, bands, sweeps."""

import dataclasses
import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn.pictures.curves import SINGLE, Panel, draw

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def run():
    robot = rd.load("palletizer")
    push = np.arange(robot.nv) * [name in robot.actuated_joints for name in robot.joint_names]
    return rd.simulate(robot, lambda t, q, v: push, duration=0.05, step=1e-3, limits="ignore")


@pytest.fixture
def drawn(tmp_path):
    """Draws, and gives the coordinate systems by the label of their vertical axis."""

    def draw(run, *panels, **options):
        figure = run.plot(tmp_path / "run.png", panels=panels or None, **options)
        assert (tmp_path / "run.png").stat().st_size > 5_000
        return {axis.get_ylabel(): axis for axis in figure.axes}

    return draw


def curves(axis):
    return {line.get_label(): line for line in axis.get_lines() if line.get_linestyle() != "--"}


def names(axis):
    legend = axis.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def motors(run):
    return sorted(run.joint_names.index(name) for name in run.robot.actuated_joints)


def dashed(axis):
    return sorted(
        float(line.get_ydata()[0]) for line in axis.get_lines() if line.get_linestyle() == "--"
    )


def test_what_is_drawn_unless_asked(drawn, run):
    axes = drawn(run)
    assert [*axes] == [
        "position [rad]", "velocity [rad/s]", "torque [N m]", "torque, of its limit [%]",
        "energy [J]",
    ]  # fmt: skip
    assert axes["energy [J]"].get_xlabel() == "time [s]"


@pytest.mark.parametrize(
    "name, label, values",
    [
        ("accelerations", "acceleration [rad/s^2]", lambda run: run.a),
        ("torques", "torque [N m]", lambda run: run.tau[:, motors(run)]),
        ("motor torques", "motor torque [N m]", lambda run: run.motor_torques[:, motors(run)]),
        ("power", "power [W]", lambda run: run.power[:, motors(run)]),
        ("torque utilisation", "torque, of its limit [%]", lambda run: 100.0 * np.abs(
            run.tau / run.robot.effort_limits)[:, motors(run)]),
        ("positions", "position [rad]", lambda run: run.q),
        ("closure", "largest gap [m, rad]", lambda run: run.loop_residual[:, None]),
        ("wrench of elbow", "wrench of elbow [N]", lambda run:
            run.joint_wrenches()["elbow"][:, :3]),
        ("wrench of base", "wrench of base [N m]", lambda run:
            run.joint_wrenches()["base"][:, 3:]),
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


def test_a_limit_is_dashed_where_its_own_curve_comes_near(tmp_path):
    t = np.linspace(0.0, 1.0, 50)
    swing, rest = np.sin(6.0 * t), np.zeros(50)
    bounds = np.array([[-1.5, -0.4, -np.inf], [1.1, 0.4, 1.05]])
    shown = Panel("x", np.stack([swing, rest, rest], axis=1), "m", ("a", "b", "c"), bounds)
    (axis,) = draw(tmp_path / "x.png", t, [shown]).axes
    assert dashed(axis) == [1.1], "of a, which is far from -1.5; b and c stand still"
    assert names(axis) == ["a", "b", "c", "limit"]


def test_what_others_should_meet_is_broad_beneath_them(tmp_path):
    t = np.linspace(0.0, 1.0, 20)
    panel = Panel("x", np.stack([t, t], axis=1), "m", ("measured", "found"), beneath=("measured",))
    lines = curves(draw(tmp_path / "x.png", t, [panel]).axes[0])
    measured, found = lines["measured"], lines["found"]
    assert measured.get_linewidth() > found.get_linewidth() + 2.0
    assert measured.get_zorder() < found.get_zorder()


def test_a_cut_joint_bears_something(drawn, run):
    (cut, *_) = [name for name, joint in run.robot.joints.items() if joint.cut]
    axis = drawn(run, f"wrench of {cut}")[f"wrench of {cut} [N]"]
    assert any(line.get_ydata().any() for line in curves(axis).values())


def test_elastic_energy_is_shown_where_there_are_springs(drawn):
    robot = rd.load("double_pendulum", springs={"elbow": (5.0, 0.1)})
    run = rd.simulate(robot, duration=0.05)
    assert "elastic" in curves(drawn(run, "energy")["energy [J]"])


def test_many_motions_in_one_panel(double, drawn):
    q0, v0 = np.random.default_rng(1).normal(size=(2, 3, 2))
    run = rd.rollout(double, None, q0, v0, duration=0.05, limits="ignore")
    axis = drawn(run, "velocities")["velocity [rad/s]"]
    assert len([line for line in axis.get_lines() if line.get_linestyle() == "-"]) == 6
    assert len(axis.get_legend().get_texts()) == 2
    drawn(run, "closure")


def test_motions_of_unknown_robots(drawn, run):
    bare = dataclasses.replace(run, robot=None)
    axes = drawn(bare)
    assert "shoulder" in curves(axes["position [rad, m]"])
    with pytest.raises(rd.SettingsError, match="robot"):
        drawn(bare, "wrench of elbow")


def test_more_motions_are_a_median_in_a_band(double, drawn):
    q0, v0 = np.random.default_rng(1).normal(size=(2, SINGLE + 3, 2))
    run = rd.rollout(double, None, q0, v0, duration=0.05, limits="ignore")
    axis = drawn(run, "velocities")["velocity [rad/s]"]
    assert len(curves(axis)) == len(axis.collections) == 2
    np.testing.assert_allclose(
        curves(axis)["elbow"].get_ydata(), np.median(run.v[:, :, 1], axis=1), rtol=1e-15
    )
    (band, _) = axis.collections
    low, high = np.percentile(run.v[:, :, 0], [5, 95], axis=1)
    there = band.get_paths()[0].vertices[:, 1]
    assert (there.min(), there.max()) == pytest.approx((low.min(), high.max()))
    assert f"{SINGLE + 3} motions" in axis.get_legend().get_title().get_text()


def test_a_joint_has_one_colour_and_axes_can_be_given(run):
    from matplotlib.figure import Figure

    axes = Figure().subplots(3)
    figure = run.plot(panels=["positions", "torques", "energy"], axes=axes)
    assert figure is axes[0].figure
    positions, torques = (curves(axis) for axis in axes[:2])
    for name in torques:
        assert torques[name].get_color() == positions[name].get_color()
    with pytest.raises(rd.ShapeError, match="axes: 2 given, expected 1"):
        run.plot(panels=["energy"], axes=axes[:2])


def test_joints_of_several_units_have_colours_of_their_own_in_one_panel(drawn):
    run = rd.simulate(rd.load("scara"), lambda t, q, v: np.ones(4), duration=0.05, limits="ignore")
    axes = drawn(run, "positions", "torques", "power")
    assert {"torque [N m]", "force [N]"} < axes.keys()
    power = curves(axes["power [W]"])
    assert len({line.get_color() for line in power.values()}) == len(power) == 4


def test_limits_that_are_not_known():
    run = rd.simulate(rd.load("double_pendulum"), duration=0.05)
    with pytest.raises(rd.SettingsError, match="leave 'torque utilisation' out"):
        run.plot(panels=["torque utilisation"])


@pytest.mark.slow
def test_pictures_of_sweeps(tmp_path):
    table = rd.sweep(_study, {"gain": [1.0, 2.0, 3.0], "mass": [*range(9)]})
    figure = table.plot(path=tmp_path / "map.png")
    assert [x for axis in figure.axes for x in axis.collections]
    figure = table.isel(mass=[0, 1]).plot("peak", tmp_path / "curves.png")
    (axis,) = figure.axes
    np.testing.assert_allclose(axis.get_lines()[1].get_ydata(), [1.0, 2.0, 3.0])
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("gain", "peak")
    with pytest.raises(rd.UnknownNameError, match="peek"):
        table.plot("peek")
    with pytest.raises(rd.ShapeError, match="not one number a row"):
        table.plot("path")
    with pytest.raises(rd.ShapeError, match="a sweep over 0 arguments"):
        table.isel(gain=0, mass=0).plot()


def _study(gain, mass):
    return {"peak": gain * mass, "path": np.zeros((2, 2))}


@pytest.mark.slow
def test_without_a_path_it_is_shown_where_there_is_a_display(monkeypatch, run):
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.get_fignums()))
    pyplot.switch_backend("Agg")
    assert run.plot().axes and not shown and not pyplot.get_fignums()
    monkeypatch.setattr(FigureCanvasAgg, "required_interactive_framework", "some", raising=False)
    run.plot()
    assert len(shown) == 1 and len(shown[0]) == 1 and not pyplot.get_fignums()


def test_a_picture_in_a_file_leaves_no_window(tmp_path, run):
    from matplotlib import pyplot

    run.plot(tmp_path / "run.svg", panels="energy")
    assert not pyplot.get_fignums()


def test_panels_that_are_not_there(tmp_path, run):
    with pytest.raises(rd.UnknownNameError) as caught:
        run.plot(tmp_path / "x.png", panels=["posititons"])
    assert caught.value.suggestions[0] == "positions"
    with pytest.raises(rd.UnknownNameError) as caught:
        run.plot(tmp_path / "x.png", panels=["wrench of elbw"])
    assert "elbow" in caught.value.suggestions
    with pytest.raises(rd.UnknownNameError, match="no panel 3"):
        run.plot(tmp_path / "x.png", panels=[3])
    for nothing in ([], ()):
        with pytest.raises(rd.ShapeError, match="nothing to draw"):
            run.plot(tmp_path / "x.png", panels=nothing)
    with pytest.raises(rd.UnknownNameError, match="no panel"):
        run.plot(tmp_path / "x.png", panels=[["torques"]])
    with pytest.raises(rd.ShapeError, match="there are no samples"):
        run[:0].plot(tmp_path / "x.png")
    with pytest.raises(rd.ShapeError, match="nothing to draw"):
        run[3].plot(tmp_path / "x.png")
    assert not [*tmp_path.iterdir()]


def test_without_matplotlib(tmp_path, monkeypatch, run):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(rd.MissingExtraError, match=r"\[plot\]"):
        run.plot(tmp_path / "x.png")
