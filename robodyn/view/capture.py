"""Images, videos and pages of what a viewer shows, their files, and the panel that makes them."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import MissingExtraError, RobodynError, SettingsError, ShapeError
from robodyn.files import as_path, replacing
from robodyn.view.drawing.scene import WINDOW, camera_of
from robodyn.view.pages import Pages, page_without_window

#: Longest time to wait for an image of a page [s].
TIMEOUT = 60.0
#: Largest number of images that are requested until two successive ones are equal.
TRIES = 8
#: Smallest and largest width and height [px].
SMALLEST, LARGEST = 16, 4096


def checked_size(size: Iterable[int]) -> tuple[int, int]:
    """Width and height of an image [px], both even, as videos need them."""
    try:
        width, height = (int(x) for x in size)
    except (TypeError, ValueError):
        raise SettingsError(f"size is {size!r}, expected width and height in pixels") from None
    if not all(SMALLEST <= x <= LARGEST for x in (width, height)):
        raise SettingsError(
            f"size is {width} x {height}, expected {SMALLEST} to {LARGEST} pixels each"
        )
    return width - width % 2, height - height % 2


def picture(viewer: Any, page: Any, size: tuple[int, int]) -> Array:
    """Image of what a page shows, shape (height, width, 3) of uint8.

    Numbers beside arrows are placed for the size of the image.

    Raises `RobodynError` if the page is closed, or does not answer.
    """
    with viewer.lock:
        viewer.drawing.arrows.camera = camera_of(page, size)
        viewer.redraw()
        return _settled(page, size)


def instants_of(viewer: Any, rate: float, speed: float) -> Array:
    """Times [s] of the frames of a video, from the start of the motion to its end.

    Raises `SettingsError` if there is no motion, or a number is not above zero.
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
    viewer: Any,
    page: Any,
    size: tuple[int, int],
    instants: Array,
    progress: Callable[[float], None],
) -> Iterator[Array]:
    """Images of a motion at times [s] from its start, each of shape (height, width, 3) of uint8.

    size [px]
    instants (n,) [s]
    progress: Called with the finished fraction, 0 to 1.
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


#: Endings of files.
IMAGES, VIDEOS = (".png", ".jpg", ".jpeg"), (".mp4", ".gif")


def video_path(path: str | os.PathLike[str]) -> Path:
    """A path for `write_video`.

    Raises `MissingExtraError` if PyAV is not installed (extra ``view``).
    """
    given = path_of(path, VIDEOS)
    if given.suffix.lower() == ".mp4":
        try:
            import av  # noqa: F401
        except ImportError:
            raise MissingExtraError("av", "view", "writing a video") from None
    return given


def path_of(path: str | os.PathLike[str], known: tuple[str, ...]) -> Path:
    """A path of a file with one of these endings."""
    given = as_path("path", path)
    if given.suffix.lower() not in known:
        raise ShapeError(
            f"path ends in {given.suffix!r}, expected {' or '.join(known)}", name="path", given=path
        )
    return given


def write_image(path: Path, image: Array) -> None:
    """Write an image, shape (height, width, 3) of uint8."""
    import imageio.v3

    with replacing(path) as unfinished:
        imageio.v3.imwrite(unfinished, image)


def write_video(path: Path, frames: Iterable[Array], rate: float) -> None:
    """Write frames, each of shape (height, width, 3) of uint8 with even sizes, as they come.

    path: ``.mp4`` (H.264) or ``.gif``.
    rate [1/s]
    """
    with replacing(path) as unfinished:
        if path.suffix.lower() == ".gif":
            _write_gif(unfinished, frames, rate)
        else:
            import imageio.v3

            with imageio.v3.imopen(unfinished, "w", plugin="pyav") as video:
                video.init_video_stream("libx264", fps=round(rate))
                for frame in frames:
                    video.write_frame(frame)


def _write_gif(path: Path, frames: Iterable[Array], rate: float) -> None:
    from PIL import Image

    def palettes() -> Iterator[Any]:
        few = Image.Quantize.MAXCOVERAGE  # keeps rare colours, such as those of joints
        for frame in frames:
            yield Image.fromarray(frame).quantize(
                256, method=few, kmeans=1, dither=Image.Dither.NONE
            )

    images = palettes()
    first = next(images)
    pause = max(round(1000.0 / rate), 20)  # browsers slow down GIFs with shorter pauses
    first.save(path, save_all=True, append_images=images, duration=pause, loop=0, optimize=False)


#: Frame rate of a motion in a page that needs no server [1/s].
HTML_RATE = 30.0

#: Called with the finished fraction, 0 to 1.
Progress = Callable[[float], None]


class Exports:
    """Writes what a viewer shows to files."""

    def __init__(self, viewer: Any, pages: Pages) -> None:
        self._viewer, self._pages = viewer, pages

    def screenshot(
        self,
        path: str | os.PathLike[str],
        size: tuple[int, int] | None = None,
        *,
        page: Any = None,
    ) -> None:
        """See `Viewer.screenshot`; ``page`` is a ``viser.ClientHandle``."""
        where = path_of(path, IMAGES)
        with self._viewer.paused(), self._drawn_by(page, size) as (drawing, shown):
            image = picture(self._viewer, drawing, shown)
        write_image(where, image)

    def video(
        self,
        path: str | os.PathLike[str],
        size: tuple[int, int] | None = None,
        *,
        rate: float = 30.0,
        speed: float = 1.0,
        page: Any = None,
        progress: Progress = lambda part: None,
    ) -> None:
        """See `Viewer.video`; ``progress`` is called with the finished fraction, 0 to 1."""
        where = video_path(path)
        instants = instants_of(self._viewer, rate, speed)
        with self._viewer.paused(), self._drawn_by(page, size) as (drawing, shown):
            write_video(where, frames(self._viewer, drawing, shown, instants, progress), rate)

    def html(self, path: str | os.PathLike[str], *, dark: bool = False) -> None:
        """See `Viewer.write_html`."""
        where, viewer = path_of(path, (".html",)), self._viewer
        with replacing(where) as unfinished, viewer.paused(), viewer.lock:
            if viewer.motion is None:
                recording = viewer.server.get_scene_serializer()
            else:
                recording = self._recorded()
            unfinished.write_text(recording.as_html(dark_mode=dark), encoding="utf-8")

    def _recorded(self) -> Any:
        viewer = self._viewer
        instants = instants_of(viewer, HTML_RATE, 1.0)
        viewer.show_time(0.0)
        recording = viewer.server.get_scene_serializer()
        for before, t in pairwise(instants):
            recording.insert_sleep(float(t - before))
            viewer.show_time(float(t))
        return recording

    @contextmanager
    def _drawn_by(
        self, page: Any, size: tuple[int, int] | None
    ) -> Iterator[tuple[Any, tuple[int, int]]]:
        """The page that draws, by default the one used last, or one without a window; its size."""
        asked = None if size is None else checked_size(size)
        page = page or self._pages.latest
        if page is not None:
            window = page.camera.image_width, page.camera.image_height
            yield page, asked or checked_size([min(max(x, SMALLEST), LARGEST) for x in window])
            return
        shown = asked or WINDOW
        with page_without_window(self._viewer.url, shown, lambda: self._pages.latest) as page:
            yield page, shown


class PicturesPanel:
    """Buttons that make files, which the browser of the page then saves."""

    def __init__(self, viewer: Any, exports: Exports) -> None:
        gui = viewer.server.gui
        name = re.sub(r"\W+", "_", viewer.robot.name) or "robot"
        moving = viewer.motion is not None
        with gui.add_folder("Pictures", expand_by_default=False):
            shot = gui.add_button("Screenshot", hint="what this page shows, as PNG")
            video = gui.add_button("Video", hint="the motion as this page shows it", visible=moving)
            html = gui.add_button("Web page", hint="one file to turn and play, without a server")
        for button, ending, write in (
            (shot, "png", lambda path, page, _: exports.screenshot(path, page=page)),
            (video, "mp4", lambda path, page, part: exports.video(path, page=page, progress=part)),
            (html, "html", lambda path, page, _: exports.html(path)),
        ):
            button.on_click(_saving(f"{name}.{ending}", write))


def _saving(name: str, write: Callable[[Path, Any, Progress], None]) -> Any:
    """The callback of a button, which writes a file and sends it to the page."""

    def clicked(event: Any) -> None:
        page = event.client
        note = page.add_notification(name, "is being made", loading=True, with_close_button=False)

        def progress(part: float) -> None:
            note.body = f"{round(100.0 * part)} % is made"

        try:
            with tempfile.TemporaryDirectory(prefix="robodyn-") as folder:
                path = Path(folder) / name
                write(path, page, progress)
                content = path.read_bytes()
        except RobodynError as error:
            page.add_notification(f"No {name}", str(error), color="red")
        else:
            page.send_file_download(name, content, save_immediately=True)
        finally:
            note.remove()

    return clicked
