"""Images of what a page shows, and the frames of videos."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import RobodynError, SettingsError
from robodyn.view.drawing.camera import camera_of
from robodyn.view.panels.viewer import PanelViewer

__all__ = ["LARGEST", "SMALLEST", "checked_size", "frames", "instants_of", "picture"]

#: Longest time to wait for an image of a page [s].
TIMEOUT = 60.0
#: Largest number of images that are requested until two successive ones are equal.
TRIES = 8
#: Smallest and largest width and height [px].
SMALLEST, LARGEST = 16, 4096


def checked_size(size: Iterable[int]) -> tuple[int, int]:
    """Width and height of an image [px], both even, as videos need them.

    Raises
    ------
    SettingsError
    """
    try:
        width, height = (int(x) for x in size)
    except (TypeError, ValueError):
        raise SettingsError(f"size is {size!r}, expected width and height in pixels") from None
    if not all(SMALLEST <= x <= LARGEST for x in (width, height)):
        raise SettingsError(
            f"size is {width} x {height}, expected {SMALLEST} to {LARGEST} pixels each"
        )
    return width - width % 2, height - height % 2


def picture(viewer: PanelViewer, page: Any, size: tuple[int, int]) -> Array:
    """Image of what a page shows, shape (height, width, 3) of uint8.

    Numbers beside arrows are placed for the size of the image.

    Raises
    ------
    RobodynError
        If the page is closed, or does not answer.
    """
    with viewer.lock:
        viewer.drawing.arrows.camera = camera_of(page, size)
        viewer.redraw()
        return _settled(page, size)


def instants_of(viewer: PanelViewer, rate: float, speed: float) -> Array:
    """Times [s] of the frames of a video, from the start of the motion to its end.

    Raises
    ------
    SettingsError
        If there is no motion, or a number is not above zero.
    """
    if viewer.motion is None:
        raise SettingsError(
            "a video shows a motion, and there is none to show: give Viewer(robot, motion)"
        )
    for name, value in (("rate", rate), ("speed", speed)):
        if not (np.isfinite(value) and value > 0.0):
            raise SettingsError(f"{name} is {value!r}, expected a number above 0")
    duration = float(viewer.motion.t[-1] - viewer.motion.t[0])
    return np.append(np.arange(0.0, duration, speed / rate), duration)


def frames(
    viewer: PanelViewer,
    page: Any,
    size: tuple[int, int],
    instants: Array,
    progress: Callable[[float], None],
) -> Iterator[Array]:
    """Images of a motion at times [s] from its start, each of shape (height, width, 3) of uint8.

    Parameters
    ----------
    viewer : PanelViewer
    page : viser.ClientHandle
    size : (int, int) [px]
    instants : ndarray, shape (n,) [s]
    progress : callable
        Called with the finished fraction, 0 to 1.

    Raises
    ------
    RobodynError
    """
    camera = camera_of(page, size)
    for k, t in enumerate(instants):
        with viewer.lock:
            viewer.drawing.arrows.camera = camera
            viewer.show_time(float(t))
            image = _image(page, size, "jpeg") if k else _settled(page, size)
        progress((k + 1) / len(instants))
        yield image


def _settled(page: Any, size: tuple[int, int]) -> Array:
    """Request images until two are equal, as meshes and fonts load one after the other."""
    before = _image(page, size, "png")
    for _ in range(TRIES):
        image = _image(page, size, "png")
        if np.array_equal(image, before):
            break
        before = image
    return image


def _image(page: Any, size: tuple[int, int], transport: str) -> Array:
    try:
        image = page.get_render(size[1], size[0], transport_format=transport, timeout=TIMEOUT)
    except (RuntimeError, TimeoutError) as error:
        raise RobodynError(
            f"the page has sent no picture: {error} It has to be open, and its tab in front."
        ) from error
    if image.shape[-1] == 4:  # blend with a white background
        opacity = image[..., 3:].astype(np.float32) / 255.0
        image = np.round(opacity * image[..., :3] + 255.0 * (1.0 - opacity)).astype(np.uint8)
    return np.asarray(image)
