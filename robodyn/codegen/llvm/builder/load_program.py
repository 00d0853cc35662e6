"""From the text of a program to its machine code in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robodyn.codegen.llvm.cache.object_code import generator_key
from robodyn.codegen.llvm.compilation.machine_code import MachineCode, machine_code
from robodyn.codegen.llvm.target.lapack import add_routines
from robodyn.codegen.llvm.target.once import making
from robodyn.codegen.llvm.target.target import Recipe, chosen_target


def load_program(ir: str, name: str, *, long: bool = False) -> tuple[int, MachineCode]:
    """Address of a function in the machine code of a program, and what owns the code.

    It is compiled in full at once. Arguments as for `program_code`, and the function's name.
    """
    code = program_code(ir, f"the program {name}", long=long, tiers=False)
    return code.address(name), code


def c_function(ir: str, name: str, kind: Callable[[int], Any], *, long: bool = False) -> Any:
    """What Python calls of such a function, which owns the code; ``kind`` as ``ctypes.CFUNCTYPE``.

    Calls do not hold the interpreter's lock.
    """
    address, code = load_program(ir, name, long=long)
    function = kind(address)
    function.code = code
    return function


def program_code(ir: str, what: str, *, long: bool = False, tiers: bool = True) -> MachineCode:
    """The machine code of a program.

    Object code is kept under a hash of the program, as that of all functions is.

    what: It does, in words.
    long: Loops are of many rounds: they compute vectors.
    tiers: A first tier may come before the full code.
    """
    key = generator_key("robodyn.codegen.llvm.target.target", chosen_target(), ir, long)
    with making():
        if "@robodyn_" in ir:
            add_routines()
        recipe = Recipe("loops" if long else "usual")
        return machine_code(key, lambda: ir, recipe, what, long=tiers)


class LoadedFunction:
    """A function in the machine code of a program: of the full code as soon as there is one.

    name: Of the function.
    what: It does, in words.
    kind: Makes what Python calls of an address, as ``ctypes.CFUNCTYPE`` does.
    """

    run: Any
    address: int

    def __init__(self, ir: str, name: str, what: str, kind: Callable[[int], Any]) -> None:
        self._name, self._kind = name, kind
        self._code = program_code(ir, what, long=True)
        with making():
            self._code.when_full(self._take)
            self._take()

    def _take(self) -> None:
        self.address = self._code.address(self._name)
        self.run = self._kind(self.address)
