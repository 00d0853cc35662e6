"""Machine code in memory, in one tier or two."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable
from typing import Any

from robodyn.arguments import checked_arguments
from robodyn.codegen.llvm.cache.object_code import cached, store
from robodyn.codegen.llvm.compilation.background import background
from robodyn.codegen.llvm.compilation.mode import get_compilation
from robodyn.codegen.llvm.compilation.own_thread import in_own_thread
from robodyn.codegen.llvm.compilation.worker import Order, ir_of
from robodyn.codegen.llvm.target.once import making
from robodyn.codegen.llvm.target.target import Recipe, chosen_target, load_object, prepare
from robodyn.progress import progress

#: All that is in memory.
_loaded: weakref.WeakSet[MachineCode] = weakref.WeakSet()


class MachineCode:
    """Machine code in memory: that of the first tier until the full code replaces it.

    code: Object code.
    what: It computes, in words.
    later, optional: Of the full code, if this is the first tier.
    """

    def __init__(self, code: bytes, what: str, later: Order | None = None) -> None:
        self.what = what
        #: The first tier stays in memory: others may compute with it at any time.
        self._engines: list[Any] = [load_object(code)]
        self._addresses: dict[str, int] = {}
        self._later = later
        self._told: list[Callable[[], None]] = []

    def address(self, name: str) -> int:
        """Address of a symbol in the best code yet; it is valid as long as this object exists."""
        with making():
            if name not in self._addresses:  # which takes LLVM ten times as long
                self._addresses[name] = int(self._engines[-1].get_function_address(name))
            return self._addresses[name]

    @property
    def full(self) -> bool:
        """Whether this is the full code."""
        return self._later is None

    def when_full(self, tell: Callable[[], None]) -> None:
        """Call a function when the full code is available; not if it already is."""
        with making():
            if self._later is not None:
                self._told.append(tell)

    def replace(self, code: bytes) -> None:
        """Put the full code in place."""
        with making():
            if self._later is None:
                return
            self._engines.append(in_own_thread(lambda: load_object(code)))
            self._addresses = {}
            self._later = None
            told, self._told = self._told, []
            for tell in told:
                tell()

    def finish(self) -> None:
        """Wait for the full code."""
        with making():
            if self._later is not None:
                key, _, recipe = order = self._later
                self.replace(_full(key, lambda: ir_of(order), recipe))


def machine_code(
    key: str,
    make: Callable[[], str],
    recipe: Recipe,
    what: str,
    *,
    long: bool = True,
    first: Callable[[], str] | None = None,
) -> MachineCode:
    """Machine code of a key: from disk, or compiled.

    key: Of the full code: a hash of all that determines it.
    make: Gives IR.
    what: What is compiled, in words.
    long: It takes long enough that a first tier pays.
    first, optional: Gives IR of the first tier, where that is other IR; ``make`` is then pickled.
    Raises SettingsError: ``ROBODYN_COMPILATION`` is none of the ways to compile.
    """
    get_compilation()  # raises an error for a wrong environment variable
    code = cached(key)
    if code is None:
        with progress(f"compiling {what}"):
            early = first if long and background.takes(0) else None
            ir = (early or make)()
            if early or (long and background.takes(len(ir))):
                order = key, pickle.dumps(make) if early else ir, recipe
                quick = _in_memory(_compiled(recipe.first, ir), what, order)
                background.submit(order, quick.replace)
                return quick
            code = _full(key, lambda: ir, recipe)
    return _in_memory(code, what)


def _in_memory(code: bytes, what: str, later: Order | None = None) -> MachineCode:
    chosen_target()  # made here, not in the other thread
    made = in_own_thread(lambda: MachineCode(code, what, later))
    _loaded.add(made)
    return made


def _compiled(compile_: Callable[[str], bytes], ir: str) -> bytes:
    prepare()
    return in_own_thread(lambda: compile_(ir))


def _full(key: str, make: Callable[[], str], recipe: Recipe) -> bytes:
    """Object code of the second tier, which is stored on disk."""
    code = cached(key)
    if code is None:
        code = _compiled(recipe.full, make())
        store(key, code)
    return code


@checked_arguments
def compiled(*, wait: bool = False) -> dict[str, bool]:
    """Say which functions have their full machine code, and which still wait for it.

    Code that takes long to compile is made quickly at first, and another process makes the full
    code (`set_compilation`). Functions compute the same bits meanwhile, at about half the speed.

    Parameters
    ----------
    wait : bool
        Wait until all that was asked for is compiled, as what measures times does.

    Returns
    -------
    full : dict of str to bool
        Name of each function that has machine code in memory, and of programs that methods share
        -> whether it is the full code. Functions of several robots with one name are one entry,
        which is false as long as one of them waits, and so are a function's codes for one state
        and for batches.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.load("double_pendulum").mass_matrix([0.0, 0.5]).shape
    (2, 2)
    >>> rd.compiled(wait=True)["mass_matrix"]
    True
    """
    if wait:
        background.finish()
    found = dict[str, bool]()
    with making():
        for code in _loaded:
            found[code.what] = found.get(code.what, True) and code.full
    return dict(sorted(found.items()))
