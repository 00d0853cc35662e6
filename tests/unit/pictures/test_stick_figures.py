"""Pictures of postures: planes, plates, arrows, gaps, frames, and labels that can be read."""

import dataclasses

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn.description import Pose

pytest.importorskip("matplotlib")


def at_rest(name):
    robot = rd.load(name)
    q, rest = robot.neutral(), np.zeros(robot.nv)
    return robot, q, robot.joint_wrenches(q, rest, rest)


def drawn(name, path, **options):
    robot, q, wrenches = at_rest(name)
    figure = robot.plot(q, path, wrenches=wrenches, **options)
    return figure, figure.axes[0]


def legend(figure):
    return {text.get_text() for text in figure.legends[0].get_texts()}


@pytest.mark.parametrize("name, dimensions", [("two_feet", 2), ("stewart", 3), ("excavator", 2)])
def test_a_posture_with_its_forces(name, dimensions, tmp_path):
    """The excavator has a hinge about z, and stands in the plane y = 0; feet stand beside it."""
    figure, axis = drawn(name, tmp_path / "q.png")
    assert hasattr(axis, "set_zlim") == (dimensions == 3)
    assert legend(figure) == {
        "joint with a motor", "passive joint", "joint that closes a loop", "fixed base",
        "force on the child link",
    }  # fmt: skip


def test_one_posture_is_drawn(four_bar, tmp_path):
    with pytest.raises(rd.ShapeError, match="one posture"):
        four_bar.plot(np.stack([four_bar.neutral()] * 2), tmp_path / "q.png")


def test_wrenches_of_one_posture_are_drawn(tmp_path):
    """Those of a single state of a motion have an axis for it."""
    robot, q, wrenches = at_rest("four_bar")
    state = rd.simulate(robot, duration=0.01)[0]
    drawn = [
        robot.plot(q, tmp_path / "q.png", wrenches=x) for x in (state.joint_wrenches(), wrenches)
    ]
    arrows = [{text.get_text() for text in figure.axes[0].texts} for figure in drawn]
    assert arrows[0] and len(arrows[0]) == len(arrows[1])
    with pytest.raises(rd.ShapeError, match="one posture"):
        robot.plot(
            q, tmp_path / "q.png", wrenches=rd.simulate(robot, duration=0.01).joint_wrenches()
        )


def test_a_base_that_moves_stands_on_no_ground(tmp_path):
    robot = rd.load("arm7", base="floating")
    assert "base" in legend(robot.plot(robot.neutral(), tmp_path / "q.png"))


def test_arrows_are_as_the_forces(tmp_path):
    """In the four-bar, which moves in the plane y = 0: drawn to the right is x, upwards is z."""
    robot, q, wrenches = at_rest("four_bar")
    _, axis = drawn("four_bar", tmp_path / "q.png")
    quivers = [x for x in axis.collections if hasattr(x, "U")]
    arrows = {tuple(np.round(x.get_offsets()[0], 6)): x for x in quivers}
    texts = {text.get_text() for text in axis.texts}
    for name, link in (("crank_pin", "coupler"), ("rocker_pivot", "rocker")):
        place = robot.frame_pose(q, link)[:3, 3]
        arrow = arrows[tuple(np.round(place[[0, 2]], 6))]
        force = wrenches.in_frame("world")[name][:3]
        step = np.array([arrow.U[0], arrow.V[0]])
        np.testing.assert_allclose(
            step / np.linalg.norm(step), force[[0, 2]] / np.linalg.norm(force), atol=1e-9
        )
        assert f"{np.linalg.norm(force):.3g} N" in texts


def box_of(text):
    """Where a text stands [pixels]; matplotlib tells only the size of one in space."""
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d import proj3d

    box = text.get_window_extent()
    if not hasattr(text, "get_position_3d"):
        return box
    *place, _ = proj3d.proj_transform(*text.get_position_3d(), text.axes.get_proj())
    x, y = text.axes.transData.transform(place)
    return Bbox.from_bounds(x - box.width / 2, y - box.height / 2, box.width, box.height)


@pytest.mark.slow
def test_the_legend_of_a_tall_picture_is_whole(double, tmp_path):
    from PIL import Image

    run = rd.simulate(double, q0=[0.1, 0.05], duration=0.1, step=0.01)
    run.animate(tmp_path / "tall.gif", fps=10, forces=True)
    image = Image.open(tmp_path / "tall.gif")
    assert image.width < image.height
    shades = np.asarray(image.convert("L"))
    edges = shades[int(0.9 * image.height) :, [0, 1, -2, -1]]
    background = shades[0, 0]  # white, but for what the palette of a GIF makes of it
    assert background > 250
    assert (edges == background).all()


@pytest.mark.slow
def test_links_with_many_joints_are_plates(tmp_path):
    """The platform of the Stewart platform is welded to a link of a leg: it has six corners."""
    _, axis = drawn("stewart", tmp_path / "q.png")
    plates = [x for x in axis.collections if type(x).__name__ == "Poly3DCollection"]
    corners = [{tuple(x.round(6)) for x in plate.get_paths()[0].vertices} for plate in plates]
    assert [len(x) for x in corners] == [6, 6]


def test_the_last_link_reaches_to_its_farthest_frame(double, tmp_path):
    """The tip of the double pendulum is welded to its lower rod, whose centre of mass is nearer."""
    q = [0.4, 0.5]
    (axis,) = double.plot(q, tmp_path / "q.png").axes
    ends = [np.transpose(x.get_data()) for x in axis.get_lines() if len(x.get_xdata()) == 2]
    bars = {tuple(np.round(point, 6)) for line in ends for point in line}
    places = double.frame_poses(q, ["upper", "lower", "tip"])[:, [0, 2], 3]
    assert {tuple(np.round(place, 6)) for place in places} <= bars


def test_an_open_loop_is_seen(four_bar, tmp_path):
    q = four_bar.neutral()
    figure = four_bar.plot(q, tmp_path / "q.png")
    assert "open loop" not in legend(figure)
    q[0] += 0.2
    figure = four_bar.plot(q, tmp_path / "q.png")
    (gap,) = four_bar.loop_gaps(q)
    assert "open loop" in legend(figure)
    (line,) = [x for x in figure.axes[0].get_lines() if x.get_linestyle() == ":"]
    np.testing.assert_allclose(np.transpose(line.get_data()), gap.poses[:, [0, 2], 3], atol=1e-9)
    assert f"open by {gap.distance:.3g} m" in {x.get_text() for x in figure.axes[0].texts}


def test_frames_of_joints_on_both_sides_of_a_cut(four_bar, tmp_path):
    """Axes x and z are seen in the plane y = 0: of all five joints, and twice of the cut one."""
    q = four_bar.neutral()
    figure = four_bar.plot(q, tmp_path / "q.png", frames=True)
    axis = figure.axes[0]
    assert {"x axis", "z axis"} <= legend(figure) and "y axis" not in legend(figure)
    red = [np.transpose(x.get_data()) for x in axis.get_lines() if x.get_color() == "#CC3311"]
    starts = {tuple(line[0].round(6)) for line in red}
    assert len(red) == 6 and len(starts) == 4
    figure.draw_without_rendering()
    for line in red:
        points = axis.transData.transform(np.linspace(*line, 50))
        boxes = [box_of(text) for text in axis.texts]
        assert not any(box.contains(*point) for box in boxes for point in points)


def test_axes_of_two_dimensions_may_be_given(tmp_path):
    from matplotlib.figure import Figure

    robot, q, wrenches = at_rest("palletizer")
    axis = Figure().subplots()
    robot.plot(q, wrenches=wrenches, axes=axis)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("x [m]", "z [m]")
    assert axis.get_legend() is not None


def test_axes_beside_others_keep_their_size():
    from matplotlib.figure import Figure

    robot, q, _ = at_rest("four_bar")
    figure = Figure((9, 5), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis in axes:
        robot.plot(q, axes=axis)
    figure.draw_without_rendering()
    assert min(axis.get_position().width for axis in axes) > 0.3


def test_a_linkage_that_cannot_close_is_drawn(tmp_path):
    mechanism = bundled("five_bar").mechanism
    (loop,) = mechanism.loops
    away = dataclasses.replace(loop, X_predecessor=Pose((9.0, 0.0, 0.0)))
    robot = rd.load(dataclasses.replace(mechanism, loops=(away,)))
    assert "open loop" in legend(robot.plot(np.zeros(robot.nq), tmp_path / "q.png"))


def test_an_end_beyond_the_joints_is_drawn(tmp_path):
    """A point of the rocker that lies twice as far from its pivot as the pin."""
    robot = bundled("four_bar")
    X = np.eye(4)
    X[:3, 3] = 2.0 * robot.frame_pose(robot.neutral(), "rocker_end", relative_to="rocker")[:3, 3]
    robot = robot.with_(frames={"handle": ("rocker", X)})
    q = robot.neutral()
    axis = robot.plot(q, tmp_path / "q.png").axes[0]
    ends = np.concatenate([np.transpose(x.get_data()) for x in axis.get_lines()])
    end = robot.frame_pose(q, "handle")[[0, 2], 3]
    assert np.linalg.norm(ends - end, axis=1).min() < 1e-9


def test_a_part_that_slides_reaches_back_to_its_guide(tmp_path):
    robot = rd.load(
        '<robot name="lift"><link name="ground"/><link name="mast"/><link name="arm"><inertial>'
        '<origin xyz="1 0 0"/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" '
        'izz="1"/></inertial></link><joint name="lift" type="prismatic"><parent link="ground"/>'
        '<child link="mast"/><origin xyz="2 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
        '<joint name="hinge" type="continuous"><parent link="mast"/><child link="arm"/>'
        '<axis xyz="0 1 0"/></joint></robot>'
    )
    axis = robot.plot([3.0, 0.0], tmp_path / "q.png").axes[0]
    lines = [np.transpose(line.get_data()).round(9).tolist() for line in axis.get_lines()]
    assert any([2.0, 0.0] in line and [2.0, 3.0] in line for line in lines)
