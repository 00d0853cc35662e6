"""The panel with buttons that save images and videos on the machine of the browser."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from robodyn.errors import RobodynError
from robodyn.view.panels.viewer import PanelViewer

__all__ = ["PicturesPanel"]


#: Called with the finished fraction, 0 to 1.
Progress = Callable[[float], None]


class Exports(Protocol):
    """Interface of `robodyn.view.exports.Exports` that the buttons use."""

    def screenshot(self, path: Path, *, page: Any) -> None:
        """Write what a page shows."""

    def video(self, path: Path, *, page: Any, progress: Progress) -> None:
        """Write the motion as a page shows it, and report progress."""

    def html(self, path: Path) -> None:
        """Write a page that needs no server."""


class PicturesPanel:
    """Buttons that make files, which the browser of the page then saves."""

    def __init__(self, viewer: PanelViewer, exports: Exports) -> None:
        self._exports, gui = exports, viewer.server.gui
        name = re.sub(r"\W+", "_", viewer.robot.name) or "robot"
        moving = viewer.motion is not None
        with gui.add_folder("Pictures", expand_by_default=False):
            shot = gui.add_button("Screenshot", hint="what this page shows, as PNG")
            video = gui.add_button("Video", hint="the motion as this page shows it", visible=moving)
            html = gui.add_button("Web page", hint="one file to turn and play, without a server")
        shot.on_click(self._saving(f"{name}.png", self._screenshot))
        video.on_click(self._saving(f"{name}.mp4", self._video))
        html.on_click(self._saving(f"{name}.html", self._html))

    def _screenshot(self, path: Path, page: Any, progress: Progress) -> None:
        self._exports.screenshot(path, page=page)

    def _video(self, path: Path, page: Any, progress: Progress) -> None:
        self._exports.video(path, page=page, progress=progress)

    def _html(self, path: Path, page: Any, progress: Progress) -> None:
        self._exports.html(path)

    def _saving(self, name: str, write: Callable[[Path, Any, Progress], None]) -> Any:
        """The callback of a button, which writes a file and sends it to the page."""

        def clicked(event: Any) -> None:
            page = event.client
            note = page.add_notification(
                name, "is being made", loading=True, with_close_button=False
            )

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
