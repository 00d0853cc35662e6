"""From the text of a program to its machine code in memory."""

from __future__ import annotations

from typing import Any

from robodyn.codegen.llvm.cache.object_code import compiled, generator_key
from robodyn.codegen.llvm.target.lapack import add_routines
from robodyn.codegen.llvm.target.once import making
from robodyn.codegen.llvm.target.target import chosen_target, load_object, object_code, optimised

__all__ = ["load_program"]


def load_program(ir: str, name: str, *, long: bool = False) -> tuple[int, Any]:
    """Address of a function in the machine code of a program, and what owns the code.

    Object code is kept under a hash of the program, as that of all functions is.

    Parameters
    ----------
    ir : str
    name : str
        Of the function.
    long : bool
        Loops are of many rounds: they compute vectors.
    """
    key = generator_key("robodyn.codegen.llvm.target.target", chosen_target(), ir, long)
    with making():
        code = compiled(key, lambda: object_code(optimised(ir, loops=long)))
        if "@robodyn_" in ir:
            add_routines()
        engine = load_object(code)
    return int(engine.get_function_address(name)), engine
