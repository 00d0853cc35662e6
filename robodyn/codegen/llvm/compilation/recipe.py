"""Compilation of IR to object code: optimisation passes, and level of the code generator.

Results are the same for all recipes, bit for bit: operations are those of the IR, in which fused
multiply-adds are explicit and nothing may be reordered. Recipes differ in where values are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robodyn.codegen.llvm.target.target import in_registers, object_code, optimised


@dataclass(frozen=True)
class Recipe:
    """Passes and level for compiling IR to object code.

    passes: Over the IR: none, those that put variables into registers, or LLVM's usual ones, with
        long loops unrolled and vectorised or without.
    level: Of the code generator, 0 to 2.
    """

    passes: Literal["none", "registers", "usual", "loops"] = "none"
    level: int = 2

    def full(self, ir: str) -> bytes:
        """Object code of the full tier."""
        if self.passes == "registers":
            ir = in_registers(ir)
        elif self.passes != "none":
            ir = optimised(ir, loops=self.passes == "loops")
        return object_code(ir, self.level)

    def first(self, ir: str) -> bytes:
        """Object code of the first tier, compiled several times faster but slower to run."""
        return object_code(ir, 0)
