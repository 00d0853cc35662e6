"""How IR becomes object code: which passes, and how much the code generator looks for.

Every recipe computes the same bits: operations are those of the IR, in which fused products are
written out and nothing may be reordered, and the first tier differs in where values are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robodyn.codegen.llvm.target.target import in_registers, object_code, optimised

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """From IR to object code.

    Attributes
    ----------
    passes : str
        Over the IR: none, those that put variables into registers, or LLVM's usual ones, with
        long loops unrolled and vectorised or without.
    level : int
        Of the code generator, 0 to 2.
    """

    passes: Literal["none", "registers", "usual", "loops"] = "none"
    level: int = 2

    def full(self, ir: str) -> bytes:
        """Object code as it stays."""
        if self.passes == "registers":
            ir = in_registers(ir)
        elif self.passes != "none":
            ir = optimised(ir, loops=self.passes == "loops")
        return object_code(ir, self.level)

    def first(self, ir: str) -> bytes:
        """Object code that is made several times faster, and takes longer to run."""
        return object_code(ir, 0)
