"""From an expression graph to code: machine code, C, CUDA, LaTeX."""

from robodyn.codegen.function import Function
from robodyn.codegen.llvm.threads import get_num_threads, set_num_threads
from robodyn.codegen.method import fast_method, shorten

__all__ = ["Function", "fast_method", "get_num_threads", "set_num_threads", "shorten"]
