"""Pages open in browsers, their cameras, and a browser without a window where none is open."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import RobodynError
from robodyn.view.drawing.scene import Camera, camera_of

#: Time [s] between updates of what depends on a moving camera.
SETTLED = 0.25

#: Width over height of a page below which panels cover the lower half of the scene.
NARROW = 0.8


class Pages:
    """The pages of a viewer.

    ``moved`` is called with a camera that has moved, at most a few times a second.
    """

    def __init__(self, server: Any, moved: Callable[[Camera], None]) -> None:
        self._server, self._moved = server, moved
        self._camera: Camera | None = None
        self._follower: threading.Thread | None = None
        self._lock, self._closed = threading.Lock(), threading.Event()
        server.on_client_connect(self._joined)

    @property
    def latest(self) -> Any:
        """The page whose camera moved last, as ``viser.ClientHandle``; ``None`` if none is open."""
        pages = self._server.get_clients().values()
        return max(pages, key=lambda page: float(page.camera.update_timestamp), default=None)

    def _joined(self, client: Any) -> None:
        if client.camera.aspect < NARROW:
            camera = self._server.initial_camera
            away = np.asarray(camera.position) - np.asarray(camera.look_at)
            lower = 0.45 * np.linalg.norm(away) * np.array([0.0, 0.0, 1.0])
            client.camera.position = camera.look_at + 1.6 * away - lower
            client.camera.look_at = camera.look_at - lower
        client.camera.on_update(lambda _: self._turned(client))
        self._turned(client)

    def _turned(self, client: Any) -> None:
        with self._lock:
            self._camera = camera_of(client)
            if self._follower is None and not self._closed.is_set():
                self._follower = threading.Thread(target=self._follow, daemon=True)
                self._follower.start()

    def _follow(self) -> None:
        """Call ``moved`` until the cameras stand still."""
        camera = None
        while not self._closed.wait(SETTLED):
            with self._lock:
                if self._camera is camera:
                    self._follower = None
                    return
                camera = self._camera
            assert camera is not None
            self._moved(camera)

    def close(self) -> None:
        """Stop following cameras."""
        with self._lock:
            self._closed.set()
            follower = self._follower
        if follower is not None:
            follower.join(2.0)


#: Names of the programs of Chromium and of browsers based on it.
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
#: Paths of browsers on systems that do not put them on the path.
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
#: Options with which WebGL works without a graphics card.
OPTIONS = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
#: Longest time to wait for the browser to start, on a busy machine [s].
TIMEOUT = 180.0


def find_browser() -> str | None:
    """Path of a Chromium or a browser based on it, or the environment variable ``CHROMIUM``."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    on_path = filter(None, map(shutil.which, NAMES))
    return next(on_path, None) or next(filter(os.path.isfile, PLACES), None)


@contextmanager
def page_without_window(
    url: str, size: tuple[int, int], joined: Callable[[], Any]
) -> Iterator[Any]:
    """Context in which a page is open in a browser without a window.

    Raises `RobodynError` if there is no browser, or it does not show the page.

    size [px]: Width and height of the page.
    joined: Returns the page that has connected to the server, ``None`` before it has.
    """
    browser = find_browser()
    if browser is None:
        raise RobodynError(
            "no page is open that could draw, and there is no browser to draw without a window: "
            f"open {url} and ask again, or install Chromium (environment variable CHROMIUM: its "
            "path)"
        )
    with tempfile.TemporaryDirectory(prefix="robodyn-", ignore_cleanup_errors=True) as folder:
        command = [
            browser, "--headless", *OPTIONS, f"--window-size={size[0]},{size[1]}",
            f"--user-data-dir={folder}", "--no-first-run", "--hide-scrollbars", "--mute-audio",
            "--disable-extensions", "--disable-background-networking", "--no-proxy-server",
        ]  # fmt: skip
        if getattr(os, "geteuid", lambda: 1)() == 0:  # its sandbox does not work for root
            command.append("--no-sandbox")
        said = Path(folder) / "said.txt"
        with said.open("wb") as log, _started([*command, url], log) as process:
            yield _wait_for(joined, process, browser, said)


@contextmanager
def _started(command: list[str], log: Any) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
        )
    except OSError as error:
        raise RobodynError(f"{command[0]} does not start: {error.strerror or error}") from error
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(joined: Callable[[], Any], process: Any, browser: str, said: Path) -> Any:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        page = joined()
        if page is not None:
            return page
        time.sleep(0.05)
    last = said.read_text(errors="replace").strip().splitlines()[-1:]
    why = f": {last[0]}" if last else ""
    raise RobodynError(f"{browser} does not show the page without a window{why}")
