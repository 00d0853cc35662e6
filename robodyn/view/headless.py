"""A browser without a window, which draws images while no page is open."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robodyn.errors import RobodynError

__all__ = ["OPTIONS", "find_browser", "page_without_window"]

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
    """Path of a Chromium or a browser based on it, or the environment variable ``CHROMIUM``.

    Returns
    -------
    path : str or None
    """
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

    Parameters
    ----------
    url : str
    size : (int, int) [px]
        Width and height of the page.
    joined : callable
        Returns the page that has connected to the server, ``None`` before it has.

    Raises
    ------
    RobodynError
        If there is no browser, or it does not show the page.
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
