"""Export of images, videos, and web pages that need no server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import Any, Protocol

from robodyn.errors import ShapeError
from robodyn.files import as_path, replacing
from robodyn.view.capture import LARGEST, SMALLEST, checked_size, frames, instants_of, picture
from robodyn.view.drawing.camera import WINDOW
from robodyn.view.headless import page_without_window
from robodyn.view.movie import image_path, video_path, write_image, write_video
from robodyn.view.pages import Pages
from robodyn.view.panels.viewer import PanelViewer

__all__ = ["Exports"]

#: Frame rate of a motion in a page that needs no server [1/s].
HTML_RATE = 30.0


class Exporting(PanelViewer, Protocol):
    """The part of the viewer's interface that exports use."""

    @property
    def url(self) -> str:
        """Address of the page."""

    def paused(self) -> AbstractContextManager[None]:
        """Context in which playback is paused; at its end the posture is the same as before."""


class Exports:
    """Writes what a viewer shows to files.

    Parameters
    ----------
    viewer : Exporting
    pages : Pages
    """

    def __init__(self, viewer: Exporting, pages: Pages) -> None:
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
        progress: Callable[[float], None] = lambda part: None,
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
