"""The process that compiles in the background: orders from a file, object code into another.

What it makes is kept on disk as soon as it is made, so that nothing is lost if the process that
asked for it has ended.
"""

from __future__ import annotations

import os
import pickle
import sys

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
    """Compile what a file on ``stdin`` asks for, and write it to ``stdout``."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    target: Target
    orders: list[Order]
    target, orders = pickle.load(sys.stdin.buffer)
    if chosen_target() != target:
        raise SystemExit("robodyn: the compiling process finds another CPU or ROBODYN_TARGET")
    for order in orders:
        key, _, recipe = order
        code = recipe.full(ir_of(order))
        where = folder()
        if where is not None and where.is_dir():  # it may be gone with the process that had it
            store(key, code)
        pickle.dump((key, code), sys.stdout.buffer)
        sys.stdout.buffer.flush()
