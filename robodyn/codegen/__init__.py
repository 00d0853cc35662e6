"""From an expression graph to code: machine code, C, CUDA, LaTeX."""

from robodyn.codegen.function import Function
from robodyn.codegen.llvm.once import Memo
from robodyn.codegen.llvm.threads import get_num_threads, set_num_threads
from robodyn.codegen.method_table import MethodTable

__all__ = ["Function", "Memo", "MethodTable", "get_num_threads", "set_num_threads"]
