"""Machine code of programs, called as the library calls it."""

import ctypes

import numpy as np

ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ROWS = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def run_kernel(engine, symbol, program, given):
    """What a program computes of one state, as ``packed``, or of rows, as ``rows`` or ``batch``."""
    rows = () if symbol == "packed" else (len(given[0]),)
    x = [np.ascontiguousarray(array) for array in given]
    made = [np.full((*rows, *port.shape), np.nan, x[0].dtype) for port in program.outputs]
    x += made
    pointers = (ctypes.c_void_p * len(x))(*(array.ctypes.data for array in x))
    address = engine.get_function_address(symbol)
    if symbol == "packed":
        ONE(address)(pointers)
    else:
        strides = (ctypes.c_int64 * len(x))(*(array[0].size for array in x))
        ROWS(address)(0, *rows, pointers, strides)
    return made
