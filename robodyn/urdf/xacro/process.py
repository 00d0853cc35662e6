"""The process in which xacro runs, with bounds on its time and its memory."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import resources
from typing import Any

from robodyn.errors import UrdfError

__all__ = ["Process"]

#: What the expansion of one file may take, in seconds and bytes.
TIME = 30.0
MEMORY = 2**30


class Process:
    """A process of `robodyn.urdf.xacro.worker`, which ends with the ``with`` block.

    Parameters
    ----------
    file : str or None
        The file that is expanded, for messages.
    """

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._late = False
        program = resources.files("robodyn.urdf.xacro").joinpath("worker.py").read_text("utf-8")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="ascii",
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise UrdfError(
                f"xacro needs a process of its own, which cannot be started: {error}; expand the "
                "file by the command xacro",
                file=file,
            ) from error
        self._timer = threading.Timer(TIME, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Process:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()

    def _end(self) -> None:
        self._late = True
        self._process.kill()

    def said(
        self, order: dict[str, Any], answer: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        """What comes of an order.

        Parameters
        ----------
        order : dict
        answer : callable
            Called with each question of the process, returns what it is told.

        Raises
        ------
        UrdfError
            If the process ends before, or is ended.
        """
        sent: dict[str, Any] = order | {"path": sys.path, "memory": MEMORY}
        while True:
            line = self._exchange(json.dumps(sent))
            try:
                received: dict[str, Any] = json.loads(line)
            except ValueError:
                raise self._ended() from None
            if "said" in received:
                said: dict[str, Any] = received["said"]
                return said
            sent = answer(received)

    def _exchange(self, line: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except OSError:  # it is no more
            return ""

    def _ended(self) -> UrdfError:
        if self._late:
            why = (
                f"xacro was ended after {TIME:g} s: its macros or expressions hardly come to an end"
            )
        else:
            why = f"xacro ended before it was done: it may have needed more than {MEMORY >> 20} MB"
        return UrdfError(why, file=self._file)
