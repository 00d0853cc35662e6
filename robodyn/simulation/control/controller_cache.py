"""Cache of the machine code of controllers; controllers with other gains share code."""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.codegen.constants_as_inputs import ConstantsAsInputs
from robodyn.symbolic.graph import Program

__all__ = ["CODE", "Code", "cached_code"]


class Code(NamedTuple):
    """A function, and the constants of the controller's program that are an input of it.

    function: Its input ``constants``, if there is one, is the last one, or comes before ``state``.
    constants (m,): Empty if the function has no such input.
    """

    function: Any
    constants: tuple[FloatArray, ...]


#: Functions of the controllers of earlier motions.
CODE: ConstantsAsInputs[Function] = ConstantsAsInputs(
    Function, Function, "constants", before="state"
)


def cached_code(program: Program) -> Code:
    """The function of a controller's program; machine code of earlier motions is used again."""
    function, constants = CODE.of(program)
    return Code(function, (constants,) if len(constants) else ())
