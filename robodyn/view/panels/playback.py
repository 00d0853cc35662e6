"""The panel that plays a motion."""

from __future__ import annotations

import threading
import time
from typing import Any

#: Largest frame rate of playback [1/s].
RATE = 30.0


class PlaybackPanel:
    """Play, pause, time and speed of a recorded motion."""

    def __init__(self, viewer: Any) -> None:
        self._viewer, gui = viewer, viewer.server.gui
        assert viewer.motion is not None
        self._stop = threading.Event()
        end = max(float(viewer.motion.t[-1] - viewer.motion.t[0]), 1e-3)
        with gui.add_folder("Motion"):
            self.playing = gui.add_checkbox("play", False)
            self.time = gui.add_slider("time [s]", min=0.0, max=end, step=1e-3, initial_value=0.0)
            self.speed = gui.add_slider("speed", min=0.1, max=4.0, step=0.1, initial_value=1.0)
            self.repeat = gui.add_checkbox("repeat", True)
        self.time.on_update(lambda _: viewer.show_time(self.time.value))
        self._thread = threading.Thread(target=self._run, name="robodyn playback", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        before = time.monotonic()
        while not self._stop.wait(1.0 / RATE):
            now = time.monotonic()
            passed, before = now - before, now
            if self.playing.value:
                self._advance(passed * self.speed.value)

    def _advance(self, passed: float) -> None:
        end, t = float(self.time.max), float(self.time.value) + passed
        if t >= end:
            t = 0.0 if self.repeat.value and self.time.value >= end else end
            if not self.repeat.value:
                self.playing.value = False
        self.time.value = t

    def close(self) -> None:
        """Stop playing."""
        self._stop.set()
        self._thread.join(2.0)
