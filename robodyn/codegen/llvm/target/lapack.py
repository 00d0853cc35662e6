"""Routines of BLAS and LAPACK that machine code calls.

scipy comes with a LAPACK and says where its routines are in memory. It is imported when the first
program is loaded that calls one.
"""

from __future__ import annotations

import ctypes
import re

#: Arguments of the routines, all by reference: a letter c, an integer #, a real number or a vector
#: of them r, a matrix M, which its leading dimension follows, integers i.
SIGNATURES = {
    "dgemm": "cc###rM#M#rM#",
    "dgeqp3": "##M#irr##",
    "dorgqr": "###M#rr##",
    "dorm2r": "cc###M#rM#r#",
    "dpotrf": "c#M##",
    "dsytrf": "c#M#ir##",
    "dsytrs": "c##M#iM##",
    "dgemv": "c##rM#r#rr#",
    "dtrsm": "cccc##rM#M#",
    "dtrsv": "ccc#M#r#",
}

#: What scipy says of an argument, by its kind here.
_DECLARED = {"c": "char", "#": "int", "i": "int", "r": "d", "M": "d"}


def add_routines() -> None:
    """Tell LLVM the addresses of all of `SIGNATURES`, as ``robodyn_`` and the name."""
    import llvmlite.binding as llvm
    from scipy.linalg import cython_blas, cython_lapack

    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    for routine, kinds in SIGNATURES.items():
        home = cython_lapack if routine in cython_lapack.__pyx_capi__ else cython_blas
        capsule = home.__pyx_capi__[routine]
        declared = name_of(capsule)
        check(routine, kinds, declared.decode())
        llvm.add_symbol(f"robodyn_{routine}", pointer_of(capsule, declared))


def check(routine: str, kinds: str, declared: str) -> None:
    """Raise if a routine takes other arguments than it should, of other sizes say.

    routine, kinds: Of `SIGNATURES`.
    declared: What scipy says, in C.
    """
    there = re.findall(r"[(,] *(?:\w*_)?(\w+) \*", declared)
    if there != [_DECLARED[kind] for kind in kinds] or not declared.startswith("void ("):
        raise ImportError(
            f"the LAPACK of this scipy declares {routine} as {declared!r}, which robodyn cannot "
            "call: install another build of scipy, with 32-bit integers (LP64)"
        )
