"""Compiling in another process, while this one goes on.

A process rather than a thread: LLVM holds a lock while it compiles, which would hold up the next
function here, and a thread within LLVM could neither be interrupted nor outlive the interpreter.
It is started when something is wanted, gets what else comes meanwhile, and ends when nothing has
come for a while. One thread here sends orders, another one receives the code.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
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


#: Time [s] for which the first order waits: shorter programs leave all to a process that outlives
#: them.
GATHER = 0.1

#: Time [s] after which a process ends that has nothing to do.
IDLE = 2.0

#: Largest number of characters of IR that may wait; beyond it, code is compiled in full at once.
MOST = 64 << 20

#: The same of orders whose objects are gone.
MOST_GIVEN_UP = 2 << 20

#: What `subprocess` needs of shared libraries, where it has them.
_SHARED_LIBRARIES = ("_posixsubprocess", "fcntl", "select")

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
    begun: bool = False  # it was sent

    @property
    def given_up(self) -> bool:
        """Whether nobody is left who would get it."""
        return not (self.begun or any(method() for method in self.install))


class Background:
    """Orders, and the threads that send them to another process and receive the code."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset: initially, and in a forked process, which does not have its parent's threads.

        Orders of the parent are left to the parent.
        """
        self._lock = threading.Condition()
        self._wanted: dict[str, _Wanted] = {}
        #: Orders that were given up. They go to disk when the process ends, for the next one.
        self._given_up: dict[str, Order] = {}
        self._thread: threading.Thread | None = None
        self._process: Popen[bytes] | None = None
        self._hurry = False
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
                _load_shared_libraries()
                thread = threading.Thread(target=self._run, name="robodyn compile", daemon=True)
                thread.start()
                self._thread = thread
            self._lock.notify_all()

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
        with self._lock:
            self._hurry, thread = True, self._thread
            self._lock.notify_all()
        if thread is not None:
            thread.join()
        self._hurry = False

    def _run(self) -> None:
        """Have orders compiled until there have been none for a while."""
        with self._lock:
            self._lock.wait_for(lambda: self._hurry, GATHER)
        if not (orders := self._unsent(None)):
            return
        try:
            with _nameless_file() as said:
                self._serve(orders, said)
        except Exception as error:  # code of the first tier works in any case
            self._fail(error)
            with self._lock:
                self._wanted.clear()
                self._thread = None

    def _serve(self, orders: list[_Wanted], said: IO[bytes]) -> None:
        """Start a process, send it orders as they come, and end it.

        said: Where it says what goes wrong.
        """
        from subprocess import PIPE  # takes a while to import

        self._process = process = _started(PIPE, PIPE, said)
        assert process.stdin is not None and process.stdout is not None
        receiver = threading.Thread(target=self._receive, args=(process.stdout,), daemon=True)
        receiver.start()
        sent = list[_Wanted]()
        with contextlib.suppress(OSError), process.stdin:  # it may have ended
            pickle.dump(chosen_target(), process.stdin)
            while orders:
                for wanted in orders:
                    pickle.dump(wanted.order, process.stdin)
                    process.stdin.flush()
                    wanted.begun = True
                sent += orders
                orders = self._unsent(receiver)
            pickle.dump(None, process.stdin)  # a forked process may hold the other end open
        receiver.join()
        with process.stdout, self._lock:
            lost = any(self._wanted.get(x.order[0]) is x for x in sent + orders)
        if lost:
            process.kill()
        status = process.wait()
        if lost:
            said.seek(0)
            reason = said.read().decode(errors="replace").strip()[-2000:]
            raise RuntimeError(f"the process that compiles ended with {status}: {reason}")

    def _unsent(self, receiver: threading.Thread | None) -> list[_Wanted]:
        """Orders that were not sent; none when there have been none for a while.

        receiver, optional: Alive as long as the process that has the others.
        """

        def ended() -> bool:
            return receiver is None or not receiver.is_alive()

        with self._lock:
            while True:
                self._give_up()
                found = [x for x in self._wanted.values() if not x.begun]
                if not found and not ended() and self._wanted:
                    self._lock.wait(IDLE)  # for what is being compiled
                elif found or self._hurry or ended() or not self._lock.wait(IDLE):
                    break
            if not found:
                self._thread = None
            return found

    def _receive(self, made: IO[bytes]) -> None:
        """Put code in place as it comes."""
        for key, code in _all_of(made):
            with self._lock:
                wanted = self._wanted.pop(key, None)
                self._lock.notify_all()
            for method in wanted.install if wanted else ():
                install = method()
                if install is not None:
                    install(code)
        with self._lock:
            self._lock.notify_all()

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
                with _nameless_file() as file:  # not a pipe, which would have to be filled
                    for each in (chosen_target(), *orders):
                        pickle.dump(each, file)
                    file.seek(0)
                    process = _started(file, None, None)
            except Exception:  # as Python may refuse to start a process so late
                return
            process.returncode = 0  # nobody waits for it


def _interpreter() -> str | None:
    """Path of the Python interpreter; ``None`` in a program that embeds Python."""
    program = sys.executable or ""
    plain = os.path.basename(program).lower().startswith("python")
    return program if plain and not getattr(sys, "frozen", False) else None


def _load_shared_libraries() -> None:
    """Load the shared libraries that the threads need, in the thread that wants code.

    A thread that loads one waits for the dynamic linker and does not let others run. The libraries
    of USD do let others run while they are loaded, and the linker waits for them: if both were
    loaded at once, both would wait for ever.
    """
    for name in _SHARED_LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _started(given: Any, made: Any, said: Any) -> Popen[bytes]:
    """A process that compiles; Ctrl-C does not reach it. Its files are as of `subprocess.Popen`."""
    import subprocess  # takes a while to import

    where = folder()
    if where is not None:
        with contextlib.suppress(OSError):  # then nothing is kept there
            where.mkdir(mode=0o700, parents=True, exist_ok=True)
    program = [_interpreter() or "", "-c", _PROGRAM.format(path=sys.path)]
    hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return subprocess.Popen(
        program, stdin=given, stdout=made or subprocess.DEVNULL,
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
