"""Export of images, videos, and web pages that need no server, and the panel that does it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from robodyn.errors import RobodynError, ShapeError
from robodyn.files import as_path, replacing
from robodyn.view.capture import (
    LARGEST,
    SMALLEST,
    checked_size,
    frames,
    image_path,
    instants_of,
    picture,
    video_path,
    write_image,
    write_video,
)
from robodyn.view.drawing.camera import WINDOW
from robodyn.view.pages import Pages, page_without_window
from robodyn.view.panels.viewer import PanelViewer

#: Frame rate of a motion in a page that needs no server [1/s].
HTML_RATE = 30.0

#: Called with the finished fraction, 0 to 1.
Progress = Callable[[float], None]


class Exports:
    """Writes what a viewer shows to files."""

    def __init__(self, viewer: PanelViewer, pages: Pages) -> None:
        self._viewer, self._pages = viewer, pages

    def screenshot(
        self,
        path: str | os.PathLike[str],
        size: tuple[int, int] | None = None,
        *,
        page: Any = None,
    ) -> None:
        """See `Viewer.screenshot`; ``page`` is a ``viser.ClientHandle``."""
        where = image_path(path)
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
        where, viewer = as_path("path", path), self._viewer
        if where.suffix.lower() != ".html":
            raise ShapeError(f"path ends in {where.suffix!r}, expected .html", name="path")
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

    def __init__(self, viewer: PanelViewer, exports: Exports) -> None:
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
