"""The process in which xacro runs, with bounds on its time and its memory."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import resources
from typing import Any

from robodyn.errors import UrdfError

#: What the expansion of one file may take, in seconds and bytes.
TIME = 30.0
MEMORY = 2**30

#: How long a process waits for the next file before it ends [s].
PATIENCE = 20.0

Message = dict[str, Any]


def ask(order: Message, answer: Callable[[Message], Message], file: str | None) -> Message:
    """What comes of an order to `robodyn.urdf.xacro.worker`.

    Raises `UrdfError` if the process cannot be started, ends before it is done, or is ended.

    answer: Called with each question of the process, returns what it is told.
    file: The file that is expanded, for messages.
    """
    try:
        process = _take()
        said = process.said(order, answer)
        if said is None and process.used and not process.late:  # it had just ended, unused
            process = _Process()
            said = process.said(order, answer)
    except OSError as error:
        raise UrdfError(
            f"xacro needs a process of its own, which cannot be started: {error}; expand the file "
            "by the command xacro",
            file=file,
        ) from error
    if said is not None:
        return said
    why = f"xacro ended before it was done: it may have needed more than {MEMORY >> 20} MB"
    if process.late:
        why = f"xacro was ended after {TIME:g} s: its macros or expressions hardly come to an end"
    raise UrdfError(why, file=file)


class _Process:
    """A process that expands files one after the other."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.used = self.late = False
        program = resources.files("robodyn.urdf.xacro").joinpath("worker.py").read_text("utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def said(self, order: Message, answer: Callable[[Message], Message]) -> Message | None:
        """What comes of an order; ``None`` if the process ends before."""
        timer = threading.Timer(TIME, self._end_late)
        timer.daemon = True
        timer.start()
        found: Message | None = None
        order = order | {"path": sys.path, "memory": MEMORY, "patience": PATIENCE}
        try:
            while True:
                self._send(order)
                received = self._received()
                if received is None or "ended" in received:
                    return None
                if "said" in received:
                    found = received["said"]
                    return found
                order = answer(received)
        finally:
            timer.cancel()
            self.used = True
            if found is None or not hasattr(os, "fork"):
                self.end()
            else:
                _put(self)

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is no more, and answers nothing
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def _received(self) -> Message | None:
        assert self._process.stdout is not None
        try:
            received: Message = json.loads(self._process.stdout.readline())
        except ValueError:
            return None
        return received

    def _end_late(self) -> None:
        self.late = True
        self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg") and self.lives:
                os.killpg(self._process.pid, signal.SIGKILL)  # with the process of one file
            else:
                self._process.kill()

    def end(self) -> None:
        """End the process, if it has not ended."""
        self._kill()
        with contextlib.suppress(OSError, ValueError):
            self._process.communicate()


_LOCK = threading.Lock()

#: A process that waits for the next file, if there is one.
_WAITING: list[_Process] = []


def _take() -> _Process:
    """The process that waits, if it is still there; else another one."""
    with _LOCK:
        waiting = _WAITING.pop() if _WAITING else None
    if waiting is not None and waiting.owner == os.getpid():  # and no copy of its owner by fork
        if waiting.lives:
            return waiting
        waiting.end()
    return _Process()


def _put(process: _Process) -> None:
    """Let a process wait, or end it if another one waits."""
    with _LOCK:
        if not any(other.owner == os.getpid() for other in _WAITING):
            _WAITING[:] = [process]
            return
    process.end()


@atexit.register
def _end_waiting() -> None:
    for process in _WAITING:
        if process.owner == os.getpid():
            process.end()
