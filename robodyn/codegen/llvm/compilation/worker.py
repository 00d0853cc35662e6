"""The process that compiles in the background: orders from a file, object code into another.

What it makes is kept on disk as soon as it is made, so that nothing is lost if the process that
asked for it has ended.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
from queue import SimpleQueue

from robodyn.codegen.llvm.cache.object_code import folder, store
from robodyn.codegen.llvm.target.target import Recipe, Target, chosen_target

#: Key, IR and recipe of code that is wanted; or instead of the IR, pickled, what makes it.
Order = tuple[str, str | bytes, Recipe]

#: Niceness of the process.
NICE = 10


def ir_of(order: Order) -> str:
    """The IR of an order."""
    source = order[1]
    made: str = source if isinstance(source, str) else pickle.loads(source)()
    return made


def main() -> None:
    """Compile what ``stdin`` asks for until it ends or says so, and write it to ``stdout``."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    target: Target = pickle.load(sys.stdin.buffer)
    if chosen_target() != target:
        raise SystemExit("robodyn: the compiling process finds another CPU or ROBODYN_TARGET")
    orders: SimpleQueue[Order | None] = SimpleQueue()
    # who sends orders does not wait until earlier ones are done
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    while (order := orders.get()) is not None:
        key, _, recipe = order
        code = recipe.full(ir_of(order))
        where = folder()
        if where is not None and where.is_dir():  # it may be gone with the process that had it
            store(key, code)
        with contextlib.suppress(BrokenPipeError):  # nobody is there any more
            pickle.dump((key, code), sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _read(orders: SimpleQueue[Order | None]) -> None:
    """Read orders, and the end of them."""
    try:
        while (order := pickle.load(sys.stdin.buffer)) is not None:
            orders.put(order)
    except (EOFError, pickle.UnpicklingError):
        pass
    finally:
        orders.put(None)
