"""From an expression graph to code: machine code, C, CUDA, LaTeX."""

from robodyn.codegen.function import Function
from robodyn.codegen.threads import get_num_threads, set_num_threads

__all__ = ["Function", "get_num_threads", "set_num_threads"]
