"""Machine code of controllers, which is kept for those that differ from them by numbers alone."""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.codegen.alike import AlikeCode
from robodyn.symbolic.graph import Program

__all__ = ["CODE", "Code", "cached_code"]


class Code(NamedTuple):
    """A function, and the numbers that it gets besides its program's inputs.

    Attributes
    ----------
    function : Function or NumbaCode
        Its input ``constants``, if there is one, comes last, but for ``state``.
    constants : tuple of ndarray, shape (m,)
        One, or none.
    """

    function: Any
    constants: tuple[FloatArray, ...]


#: Of earlier motions.
CODE: AlikeCode[Function] = AlikeCode(Function, Function, "constants", before="state")


def cached_code(program: Program) -> Code:
    """The function of a controller's program, with machine code of earlier motions."""
    function, constants = CODE.of(program)
    return Code(function, (constants,) if len(constants) else ())
