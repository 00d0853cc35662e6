"""Pictures of motions that move."""

import numpy as np
import pytest

import robodyn as rd

animation = pytest.importorskip("matplotlib.animation")
image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def run():
    return rd.simulate(rd.load("four_bar"), duration=0.3, step=1e-3, limits="ignore")


@pytest.fixture
def frames(monkeypatch):
    """What each picture shows: title, places of marks, ways, arrows, limits of the axes."""
    shown = []

    def grab(writer, **options):
        (axis,) = writer.fig.axes
        marks = [x.get_data() for x in axis.get_lines() if x.get_marker() in ("o", "D")]
        ways = [np.transpose(x.get_data()) for x in axis.get_lines() if x.get_zorder() == 3.6]
        arrows = [x for x in axis.collections if hasattr(x, "U")]
        limits = (*axis.get_xlim(), *axis.get_ylim())
        shown.append((axis.get_title(loc="left"), np.squeeze(marks), ways, arrows, limits))

    monkeypatch.setattr(animation.PillowWriter, "grab_frame", grab)
    monkeypatch.setattr(animation.PillowWriter, "finish", lambda writer: None)
    return shown


@pytest.mark.slow
def test_a_gif_takes_as_long_as_the_motion(run, tmp_path):
    run.animate(tmp_path / "slow.gif", fps=10.0, speed=0.5)
    with image.open(tmp_path / "slow.gif") as film:
        assert film.n_frames == 7 and film.info["duration"] == 100


def test_joints_are_where_they_are_then(run, frames, tmp_path):
    run.animate(tmp_path / "run.gif", fps=10.0)
    assert [title for title, *_ in frames] == [f"four_bar   t = 0.{k}0 s" for k in range(4)]
    for k, (_, marks, _, arrows, limits) in enumerate(frames):
        pin = run.robot.frame_pose(run.q[100 * k], "coupler")[[0, 2], 3]
        assert np.linalg.norm(marks - pin, axis=1).min() < 1e-6
        assert not arrows and limits == frames[0][4]


def test_ways_end_where_frames_are(run, frames, tmp_path):
    run.animate(tmp_path / "run.gif", fps=10.0, trace=["coupler"])
    for k, (_, _, ways, _, _) in enumerate(frames):
        places = run.robot.frame_poses(run.q[: 100 * k + 1 : 20], ["coupler"])[:, 0, [0, 2], 3]
        np.testing.assert_allclose(ways[0], places, atol=1e-6)


def test_arrows_have_one_scale_over_the_motion(run, frames, tmp_path):
    run.animate(tmp_path / "run.gif", fps=10.0, forces=True)
    world = run.joint_wrenches().in_frame("world")
    largest = [
        max(np.linalg.norm(world[x][100 * k, :3]) for x in world if x != "base") for k in range(4)
    ]
    lengths = [max(np.hypot(x.U[0], x.V[0]) for x in arrows) for *_, arrows, _ in frames]
    np.testing.assert_allclose(np.divide(lengths, largest), lengths[0] / largest[0], rtol=1e-3)


def test_a_motion_with_another_robot_is_drawn_in_phases(double, tmp_path, frames):
    from robodyn.simulation import events

    at = rd.Event(lambda t, q, v: t - 0.1, events.become(double.with_(locked={"elbow": 0.0})))
    run = rd.simulate(double, q0=[1.0, 0.0], duration=0.2, events=[at])
    assert run.phases
    run.animate(tmp_path / "run.gif", fps=20.0)
    assert len(frames) == 5


def test_what_cannot_be_drawn(run, tmp_path, monkeypatch):
    for name in ("run.png", "run", "run.gi"):
        with pytest.raises(rd.ShapeError, match=r"\.gif, \.webp, \.mp4"):
            run.animate(tmp_path / name)
    monkeypatch.setattr(animation.FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(rd.ShapeError, match="ffmpeg is not there"):
        run.animate(tmp_path / "run.mp4")
    with pytest.raises(rd.UnknownNameError, match="cupler"):
        run.animate(tmp_path / "run.gif", trace=["cupler"])
    with pytest.raises(rd.ShapeError, match="1 samples"):
        run[5].animate(tmp_path / "run.gif")
    for options in ({"speed": 0.0}, {"fps": -1.0}):
        with pytest.raises(rd.ShapeError, match="expected a positive number"):
            run.animate(tmp_path / "run.gif", **options)
    many = rd.rollout(run.robot, None, np.tile(run.q[0], (2, 1)), np.zeros((2, 3)), duration=0.01)
    with pytest.raises(rd.ShapeError, match="several motions"):
        many.animate(tmp_path / "run.gif")
    assert not [*tmp_path.iterdir()]
