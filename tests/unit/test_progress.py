"""The line of progress: on a terminal, and where something takes long."""

import io
import time

import pytest

from robodyn import progress as module
from robodyn.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_terminal(monkeypatch):
    """A terminal; in the test itself, since pytest replaces stderr after fixtures."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    return stream


def test_what_takes_long_is_named_once_and_taken_away(monkeypatch):
    monkeypatch.setattr(module, "AFTER", 0.01)
    terminal = shown_terminal(monkeypatch)
    with progress("compiling a"), progress("compiling b"):
        deadline = time.monotonic() + 60.0
        while not terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.005)
    line = "robodyn: compiling a ..."
    assert terminal.getvalue() == f"\r{line}\r{' ' * len(line)}\r"


def test_what_is_short_is_not_named(monkeypatch):
    terminal = shown_terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError), progress("compiling a"):
        _ = 1 / 0
    assert not terminal.getvalue()


def test_nothing_is_written_where_no_terminal_is(monkeypatch):
    monkeypatch.setattr(module, "AFTER", 0.0)
    stream = io.StringIO()
    for there in (stream, None):
        monkeypatch.setattr("sys.stderr", there)
        with progress("compiling a"):
            time.sleep(0.02)
    assert not stream.getvalue()
