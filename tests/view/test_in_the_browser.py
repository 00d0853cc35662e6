"""The viewer in a real browser."""

import functools
import http.server
import io
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from importlib import resources

import numpy as np
import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.view import Viewer

pytestmark = pytest.mark.slow

viser = pytest.importorskip("viser", reason="viser is not installed: extra view")

CLOSED = 1e-9


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def gap(viewer):
    return np.abs(viewer.robot.loop_residual(viewer.q)).max()


@pytest.fixture(scope="module")
def palletizer():
    with Viewer(rd.load("palletizer"), port=8230) as viewer:
        yield viewer


def test_page_without_errors_or_outside_requests(visit, palletizer):
    visit.open(palletizer)
    assert visit.errors == []
    assert visit.outside == []
    assert any(url.startswith("ws://127.0.0.1") for url in visit.asked)


def test_slider_moved_by_a_hand_keeps_the_linkage_closed(visit, palletizer):
    robot = palletizer.robot
    palletizer.show(robot.neutral())
    visit.open(palletizer)
    shoulder, elbow = robot.joints["shoulder"].q.start, robot.joints["elbow"].q.start
    before = palletizer.q.copy()
    thumb = visit.page.get_by_role("slider").nth(1)
    thumb.focus()
    for _ in range(3):
        thumb.press("ArrowRight")
    until(lambda: palletizer.q[shoulder] > before[shoulder] + 2e-4)
    box = visit.page.locator("input[inputmode=decimal]").nth(1)
    box.fill("0.6")
    box.press("Enter")
    until(lambda: abs(palletizer.q[shoulder] - 0.6) < 1e-9)
    assert palletizer.q[elbow] != before[elbow]
    assert gap(palletizer) < CLOSED
    assert visit.errors == []


def test_slider_moved_by_its_handle(visit, palletizer):
    palletizer.show(palletizer.robot.neutral())
    visit.open(palletizer)
    palletizer.pose_panel.handles["crank_drive"].value = 0.3
    assert palletizer.q[palletizer.robot.joints["crank_drive"].q] == pytest.approx(0.3)
    assert gap(palletizer) < CLOSED
    visit.page.wait_for_function(
        "[...document.querySelectorAll('input')].some(box => box.value === '0.3')"
    )
    assert visit.errors == []


def test_plays_a_motion(visit):
    robot = rd.load("four_bar")
    run = rd.simulate(robot, q0=robot.neutral(), duration=1.0, step=1e-2)
    with Viewer(robot, run, port=8240) as viewer:
        visit.open(viewer)
        visit.page.get_by_label("play").first.check(force=True)
        until(lambda: viewer._sample not in (0, None))
        assert gap(viewer) < 1e-6
        viewer.show_arrows("forces")
        visit.drawn()
        assert visit.errors == []


def test_a_stick_figure(visit):
    with Viewer(rd.load("bricard"), port=8250) as viewer:
        visit.open(viewer)
        assert visit.errors == [] and visit.outside == []


def test_a_linkage_that_does_not_close(visit):
    text = (resources.files("robodyn.urdf") / "robots" / "four_bar.urdf").read_text()
    robot = rd.load(text.replace('xyz="0.28 0 0.12"', 'xyz="1.8 0 0.12"'))
    with Viewer(robot, port=8290) as viewer:
        visit.open(viewer)
        visit.page.get_by_role("button", name="Close the loops").click()
        box = visit.page.locator("textarea").first
        box.wait_for()
        assert "do not close" in box.input_value()
        visit.drawn()
        assert visit.errors == [] and visit.outside == []


def test_only_this_machine_may_connect(palletizer):
    assert palletizer.server.get_host() == "127.0.0.1"
    assert palletizer.server.request_share_url() is None
    with urllib.request.urlopen(palletizer.url) as answer:
        assert answer.status == 200


def test_beyond_this_machine_with_a_token(visit):
    with Viewer(rd.load("four_bar"), host="0.0.0.0", port=8280) as viewer:
        visit.open(viewer)
        sockets = [url for url in visit.asked if url.startswith("ws:")]
        assert sockets and all(viewer.url.split("/")[3] in url for url in sockets)
        assert visit.errors == [] and visit.outside == []


@pytest.fixture
def other_site(tmp_path):
    """Address of an empty page."""
    (tmp_path / "index.html").write_text("<title>another</title>")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_page_of_another_site_does_not_get_in(visit, palletizer, other_site):
    """Its browser sends where it comes from, and cannot be told otherwise."""
    visit.page.goto(other_site)
    said = visit.page.evaluate(
        """([url, protocol]) => new Promise(done => {
            const socket = new WebSocket(url, [protocol]);
            socket.onopen = () => done("open");
            socket.onerror = () => done("refused");
        })""",
        [palletizer.url.replace("http", "ws"), f"viser-v{viser.__version__}"],
    )
    assert said == "refused"


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"port": 99999}, "expected a number from 0 to 65535"),
        ({"host": "203.0.113.1"}, "no address of this machine"),
        ({"host": "no host"}, "no address of this machine"),
    ],
)
def test_where_nothing_can_be_served(wrong, said):
    with pytest.raises(rd.RobodynError, match=said):
        Viewer(rd.load("double_pendulum"), **wrong)


def test_the_command_serves_until_interrupted(tmp_path):
    robot = rd.load("double_pendulum")
    run = rd.simulate(robot, q0=[1.0, 0.5], duration=0.2, step=1e-2)
    run.save(tmp_path / "run.npz")
    command = [sys.executable, "-m", "robodyn", "view", "double_pendulum", "--port", "8260"]
    command += ["--trajectory", str(tmp_path / "run.npz")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
        try:
            lines = iter(served.stdout.readline, "")
            line = next(line for line in lines if line.startswith("double_pendulum: "))
            with urllib.request.urlopen(line.split()[1], timeout=30) as answer:
                assert answer.status == 200
            served.send_signal(signal.SIGINT)
            assert served.wait(30) == 0
        finally:
            served.kill()


def test_the_command_writes_files_and_ends(tmp_path, capsys):
    command = ["view", "four_bar", "--port", "8320", "--arrows", "forces"]
    command += ["--screenshot", str(tmp_path / "bar.jpg"), "--html", str(tmp_path / "bar.html")]
    assert main(command) == 0
    assert (tmp_path / "bar.jpg").stat().st_size > 5_000
    assert "__VISER_EMBED_DATA__" in (tmp_path / "bar.html").read_text(encoding="utf-8")
    assert "bar.jpg" in capsys.readouterr().out
    assert main(["view", "four_bar", "--port", "8320", "--video", str(tmp_path / "b.mp4")]) == 2
    assert "--trajectory" in capsys.readouterr().err


class Impatient(io.StringIO):
    """A terminal whose user presses Ctrl-C as soon as the address of the page is there."""

    def write(self, text):
        super().write(text)
        if "Ctrl-C ends" in text:
            raise KeyboardInterrupt
        return len(text)


def test_an_interrupt_before_the_command_waits(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Impatient())
    assert main(["view", "double_pendulum", "--port", "8270"]) == 0
    address = re.search(r"http://\S+", sys.stdout.getvalue())[0]
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=30)


def saved(visit, button, folder):
    """What the browser saves when a button is pressed."""
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name=button).click()
    download.value.save_as(folder / download.value.suggested_filename)
    return folder / download.value.suggested_filename


@pytest.fixture(scope="module")
def swinging():
    robot = rd.load("double_pendulum")
    run = rd.simulate(robot, q0=[2.0, 0.5], duration=0.4, step=1e-2)
    with Viewer(robot, run, port=8300) as viewer:
        yield viewer


def test_pictures_that_the_page_saves(visit, swinging, tmp_path):
    import imageio.v3

    visit.page.set_viewport_size({"width": 500, "height": 360})
    visit.open(swinging)
    q = swinging.q.copy()
    visit.page.get_by_text("Pictures").first.click()
    image = imageio.v3.imread(saved(visit, "Screenshot", tmp_path))
    assert image.shape[2] == 3 and image.std() > 1.0
    page = saved(visit, "Web page", tmp_path)
    frames = imageio.v3.imread(saved(visit, "Video", tmp_path))
    assert frames.shape[0] == 13  # 0.4 s, 30 a second, the first and the last
    assert all(np.abs(frames[0].astype(float) - frame).mean() > 0.05 for frame in frames[1:])
    assert np.array_equal(swinging.q, q)
    assert visit.errors == []

    visit.asked.clear()
    visit.page.goto(page.as_uri())
    visit.drawn()
    visit.page.wait_for_timeout(500)
    assert visit.errors == [] and visit.asked == [page.as_uri()]


def test_a_picture_without_a_page(swinging, tmp_path):
    """Forces are red, and nothing else is as red."""
    import imageio.v3

    until(lambda: swinging.server.get_clients() == {})
    for kinds, red in (((), False), (("forces",), True)):
        swinging.show_arrows(*kinds)
        swinging.screenshot(tmp_path / "robot.png", size=(401, 300))
        image = imageio.v3.imread(tmp_path / "robot.png").astype(int)
        assert image.shape == (300, 400, 3)
        assert (image[..., 0] - image[..., 1:].max(axis=-1) > 60).any() == red


def test_numbers_follow_the_camera(visit, palletizer):
    palletizer.show(palletizer.robot.neutral())
    visit.open(palletizer)
    palletizer.show_arrows("forces")
    before = palletizer.drawing.arrows.camera
    (page,) = palletizer.server.get_clients().values()
    page.camera.position = page.camera.look_at + 3.0 * (page.camera.position - page.camera.look_at)
    until(lambda: palletizer.drawing.arrows.camera is not before)
    palletizer.show_arrows()
    assert visit.errors == []


def test_closing_while_a_motion_plays_and_a_video_is_made(visit, tmp_path):
    robot = rd.load("double_pendulum")
    run = rd.simulate(robot, q0=[2.0, 0.5], duration=20.0, step=1e-2)
    viewer = Viewer(robot, run, port=8310)
    visit.open(viewer)
    viewer._playback.playing.value = True
    raised = []

    def record():
        try:
            viewer.video(tmp_path / "run.mp4", size=(200, 100))
        except rd.RobodynError as error:
            raised.append(error)

    recording = threading.Thread(target=record)
    recording.start()
    until(lambda: list(tmp_path.iterdir()))
    time.sleep(1.0)
    viewer.close()
    viewer.close()
    recording.join(60)
    assert not recording.is_alive() and len(raised) == 1
    assert list(tmp_path.iterdir()) == []
