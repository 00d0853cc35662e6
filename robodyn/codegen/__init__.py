"""From an expression graph to code: machine code, C, CUDA, LaTeX."""

from robodyn.codegen.function import Function
from robodyn.codegen.llvm.batches.threads import get_num_threads, set_num_threads
from robodyn.codegen.llvm.target.once import Memo, making
from robodyn.codegen.method_table import CallForm, MethodTable

__all__ = [
    "CallForm",
    "Function",
    "Memo",
    "MethodTable",
    "get_num_threads",
    "making",
    "set_num_threads",
]
