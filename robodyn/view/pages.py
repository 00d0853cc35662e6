"""The pages that are open in browsers, and their cameras."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.view.drawing.camera import Camera, camera_of

__all__ = ["Pages"]

#: Time [s] between updates of what depends on a moving camera.
SETTLED = 0.25

#: Width over height of a page below which panels cover the lower half of the scene.
NARROW = 0.8


class Pages:
    """The pages of a viewer.

    Parameters
    ----------
    server : viser.ViserServer
    moved : callable
        Called with a camera that has moved, at most a few times a second.
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
