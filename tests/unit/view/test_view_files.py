"""Files that the viewer writes, and motions that it refuses, without a browser."""

import sys
import threading

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import FileError
from robodyn.view import Viewer
from robodyn.view.capture import IMAGES, checked_size, path_of, video_path, write_image, write_video
from robodyn.view.pages import find_browser, page_without_window
from robodyn.view.recording import check_motion

pytest.importorskip("imageio", reason="imageio is not installed: extra view")

SHADES = (10, 90, 170, 250)


def frames():
    for shade in SHADES:
        yield np.full((48, 64, 3), shade, np.uint8)


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_videos_read_back(tmp_path, ending):
    import imageio.v3

    if ending == "mp4":
        pytest.importorskip("av", reason="PyAV is not installed: extra view")
    path = video_path(tmp_path / f"run.{ending}")
    write_video(path, frames(), 10.0)
    read = imageio.v3.imread(path)
    assert read.shape == (4, 48, 64, 3)
    assert np.allclose(read.mean(axis=(1, 2, 3)), SHADES, atol=4)  # compression and palettes
    assert list(tmp_path.iterdir()) == [path]


def test_small_things_keep_their_colours_in_a_gif(tmp_path):
    import imageio.v3

    rng = np.random.default_rng(0)
    image = np.repeat(rng.integers(0, 255, (200, 300, 1), np.uint8), 3, axis=2)
    image[100:104, 150:154] = orange = (225, 90, 30)
    write_video(tmp_path / "run.gif", iter([image, image[::-1].copy()]), 10.0)
    assert (
        np.abs(imageio.v3.imread(tmp_path / "run.gif")[0, 102, 152].astype(int) - orange).max() < 9
    )


def test_a_video_that_fails_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "run.gif"
    path.write_text("before")

    def broken():
        yield from frames()
        raise rd.RobodynError("the page has gone")

    with pytest.raises(rd.RobodynError, match="has gone"):
        write_video(path, broken(), 10.0)
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_images_read_back(tmp_path):
    import imageio.v3

    image = np.random.default_rng(0).integers(0, 255, (20, 30, 3), np.uint8)
    write_image(path_of(tmp_path / "robot.png", IMAGES), image)
    assert np.array_equal(imageio.v3.imread(tmp_path / "robot.png"), image)
    with pytest.raises(FileError, match="no such folder"):
        write_image(tmp_path / "none" / "robot.png", image)


def image_path(path):
    return path_of(path, IMAGES)


@pytest.mark.parametrize("of, name", [(image_path, "robot.mp4"), (video_path, "robot.png")])
def test_other_endings(of, name):
    with pytest.raises(rd.ShapeError, match="expected"):
        of(name)


def test_a_video_without_its_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(rd.MissingExtraError, match="view"):
        video_path("robot.mp4")


def test_sizes_are_even():
    assert checked_size((641, 480.0)) == (640, 480)
    for wrong in ((0, 480), (640, 5000), (640,), "large", (np.nan, 3), None):
        with pytest.raises(rd.errors.SettingsError, match="size is"):
            checked_size(wrong)


def test_no_page_and_no_browser(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr("robodyn.view.pages.PLACES", ())
    assert find_browser() is None
    with (
        pytest.raises(rd.RobodynError, match=r"no page is open.*http://here.*Chromium"),
        page_without_window("http://here", (640, 480), lambda: None),
    ):
        pass


@pytest.mark.parametrize(
    "path, said", [("/no/such/browser", "does not start"), (sys.executable, "does not show")]
)
def test_what_is_no_browser(monkeypatch, path, said):
    monkeypatch.setenv("CHROMIUM", path)
    with (
        pytest.raises(rd.RobodynError, match=said),
        page_without_window("http://here", (640, 480), lambda: None),
    ):
        pass


def test_several_motions_at_once(double):
    q0 = np.full((3, double.nq), 0.1)
    runs = rd.rollout(double, None, q0, np.zeros((3, double.nv)), duration=0.1, step=1e-2)
    with pytest.raises(rd.ShapeError, match=r"3 motions at once.*motion\(0\)"):
        check_motion(runs, double, "the motion")
    check_motion(runs.motion(2), double, "the motion")
    for part, said in ((slice(0), "no samples"), (3, "a single state")):
        with pytest.raises(rd.ShapeError, match=said):
            check_motion(runs.motion(2)[part], double, "the motion")
    with pytest.raises(rd.ShapeError, match="puma560"):
        check_motion(runs.motion(2), rd.load("puma560"), "the motion")


def test_web_pages_written_at_once_by_several_threads(double, tmp_path):
    """While the motion plays; afterwards it plays on."""
    pytest.importorskip("viser", reason="viser is not installed: extra view")
    run = rd.simulate(double, q0=[2.0, 0.5], duration=0.3, step=1e-2)
    with Viewer(double, run, port=8390) as viewer:
        viewer._playback.playing.value = True
        threads = [
            threading.Thread(target=viewer.write_html, args=(tmp_path / f"{k}.html",))
            for k in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert viewer._playback.playing.value
    sizes = {(tmp_path / f"{k}.html").stat().st_size for k in range(4)}
    assert min(sizes) > 500_000
