"""Compiling in another process, while this one goes on.

A process rather than a thread: LLVM holds a lock while it compiles, which would hold up the next
function here, and a thread within LLVM could neither be interrupted nor outlive the interpreter.
It is started when something is wanted, compiles what has come together, and ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import field
from typing import IO, TYPE_CHECKING, Any

from robodyn.codegen.llvm.cache.object_code import folder
from robodyn.codegen.llvm.compilation.mode import get_compilation
from robodyn.codegen.llvm.compilation.worker import Order
from robodyn.codegen.llvm.target.target import chosen_target
from robodyn.quick_dataclass import dataclass

if TYPE_CHECKING:
    from subprocess import Popen


#: Time [s] during which orders are collected, so that one process compiles them.
GATHER = 0.5

#: Largest number of characters of IR that may wait; beyond it, code is compiled in full at once.
MOST = 64 << 20

#: The same of orders whose objects are gone.
MOST_GIVEN_UP = 2 << 20

#: What the process runs, with the folders that modules are found in.
_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; "
    "from robodyn.codegen.llvm.compilation.worker import main; main()"
)


@dataclass
class _Wanted:
    """An order of code, and the methods that get it, as long as their objects exist."""

    order: Order
    install: list[weakref.WeakMethod[Callable[[bytes], None]]] = field(default_factory=list)
    begun: bool = False

    @property
    def given_up(self) -> bool:
        """Whether nobody is left who would get it."""
        return not (self.begun or any(method() for method in self.install))


class Background:
    """Orders, and the thread that sends them to another process and receives the code."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset: initially, and in a forked process, which does not have its parent's threads.

        Orders of the parent are left to the parent.
        """
        self._lock = threading.Lock()
        self._wanted: dict[str, _Wanted] = {}
        #: Orders that were given up. They go to disk when the process ends, for the next one.
        self._given_up: dict[str, Order] = {}
        self._thread: threading.Thread | None = None
        self._process: Popen[bytes] | None = None
        self._hurry = threading.Event()
        self._usable = True

    def takes(self, size: int) -> bool:
        """Whether code with this number of characters of IR may be compiled in the background."""
        if not self._usable or get_compilation() == "eager" or _interpreter() is None:
            return False
        with self._lock:
            self._give_up()
            return size + sum(len(x.order[1]) for x in self._wanted.values()) <= MOST

    def submit(self, order: Order, install: Callable[[bytes], None]) -> None:
        """Have code compiled; the method ``install`` is called with it, from another thread.

        If its object is gone before, nothing is compiled in this process.
        """
        with self._lock:
            wanted = self._wanted.setdefault(order[0], _Wanted(order))
            wanted.install.append(weakref.WeakMethod(install))
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="robodyn compile", daemon=True)
                thread.start()
                self._thread = thread

    def _give_up(self) -> None:
        """Take back orders of objects that are gone; of their text, a little is kept."""
        for key in [key for key, wanted in self._wanted.items() if wanted.given_up]:
            self._given_up[key] = self._wanted.pop(key).order
        size = sum(len(order[1]) for order in self._given_up.values())
        while size > MOST_GIVEN_UP:
            key = next(iter(self._given_up))
            size -= len(self._given_up.pop(key)[1])

    def finish(self) -> None:
        """Wait until there are no orders."""
        self._hurry.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        self._hurry.clear()

    def _run(self) -> None:
        """Process orders until there are none."""
        while True:
            self._hurry.wait(GATHER)
            with self._lock:
                self._give_up()
                batch = list(self._wanted.values())
                if not batch:
                    self._thread = None
                    return
                for wanted in batch:
                    wanted.begun = True
            try:
                self._compile(batch)
            except Exception as error:  # code of the first tier works in any case
                self._fail(error)
                batch = list(self._wanted.values())
            with self._lock:
                for wanted in batch:
                    self._wanted.pop(wanted.order[0], None)

    def _compile(self, batch: list[_Wanted]) -> None:
        with _nameless_file() as made, _nameless_file() as said:
            self._process = _started([x.order for x in batch], made, said)
            status = self._process.wait()
            self._process = None
            made.seek(0)
            found: dict[str, bytes] = dict(_all_of(made))
            for wanted in batch:
                if wanted.order[0] in found:
                    for method in wanted.install:
                        install = method()
                        if install is not None:
                            install(found[wanted.order[0]])
            if len(found) < len(batch):
                said.seek(0)
                reason = said.read().decode(errors="replace").strip()[-2000:]
                raise RuntimeError(f"the process that compiles ended with {status}: {reason}")

    def _fail(self, error: Exception) -> None:
        """Log the reason, and compile in full from now on."""
        self._usable = False
        import logging  # takes a while to import, and is hardly ever needed

        logging.getLogger(__name__).warning(
            "compiling in the background failed, so functions keep the code that was made quickly, "
            "and others are compiled in full when they are first called: %s",
            error,
        )

    # -- the end of the process, and its copies -----------------------------------------------

    def leave(self) -> None:
        """Send the remaining orders to a process that outlives this one."""
        self._usable = False
        with self._lock:
            orders = [x.order for x in self._wanted.values() if not x.begun]
            orders += [x for key, x in self._given_up.items() if key not in self._wanted]
            self._wanted.clear()
            self._given_up.clear()
        if folder() is None:  # without a cache, the code would be lost
            process = self._process
            if process is not None:
                process.kill()
        elif orders:
            try:
                process = _started(orders, None, None)
            except Exception:  # as Python may refuse to start a process so late
                return
            process.returncode = 0  # nobody waits for it


def _interpreter() -> str | None:
    """Path of the Python interpreter; ``None`` in a program that embeds Python."""
    program = sys.executable or ""
    plain = os.path.basename(program).lower().startswith("python")
    return program if plain and not getattr(sys, "frozen", False) else None


def _started(orders: list[Order], made: IO[bytes] | None, said: IO[bytes] | None) -> Popen[bytes]:
    """A process that compiles; Ctrl-C does not reach it."""
    import subprocess  # takes a while to import

    where = folder()
    if where is not None:
        with contextlib.suppress(OSError):  # then nothing is kept there
            where.mkdir(mode=0o700, parents=True, exist_ok=True)
    program = [_interpreter() or "", "-c", _PROGRAM.format(path=sys.path)]
    hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    with _nameless_file() as file:  # not a pipe, which would have to be filled
        pickle.dump((chosen_target(), orders), file)
        file.seek(0)
        return subprocess.Popen(
            program, stdin=file, stdout=made or subprocess.DEVNULL,
            stderr=said or subprocess.DEVNULL, start_new_session=True, creationflags=hidden | group,
        )  # fmt: skip


def _nameless_file() -> IO[bytes]:
    """A file to write and read, in memory if the system can."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("robodyn"), "w+b")
    from tempfile import TemporaryFile  # takes a while to import

    return TemporaryFile()


def _all_of(file: IO[bytes]) -> Any:
    """All complete records of a file."""
    while True:
        try:
            yield pickle.load(file)
        except (EOFError, pickle.UnpicklingError):
            return


#: The orders of this process.
background = Background()
atexit.register(background.leave)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=background.forget)
