"""Loops in Python as machine code that does without numba."""

from __future__ import annotations

import ctypes
import sys

import pytest

from robodyn.closed_loops.solvers import compiled_algebra
from robodyn.codegen.llvm import ahead_of_time as plain_loops
from robodyn.codegen.llvm.ahead_of_time import load_loops
from robodyn.errors import MissingExtraError


def total(n, x):
    return compiled_algebra.dot(x, 0, n, n)


SIGNATURE = "f8(i8, CPointer(f8))"


def test_code_is_compiled_once_and_found_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path))
    x = (ctypes.c_double * 4)(1.0, 2.0, 3.0, 4.0)
    for _ in range(2):
        address, engine = load_loops(total, SIGNATURE, [compiled_algebra])
        call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_void_p)(address)
        assert call(2, x) == 1.0 * 3.0 + 2.0 * 4.0
        del engine
        monkeypatch.setitem(sys.modules, "numba", None)  # the second time without


def test_without_numba_there_is_an_error_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match="numba"):
        load_loops(total, SIGNATURE, [compiled_algebra])


def test_code_that_needs_numba_when_it_runs_is_refused():
    """It would end the next process that finds it on disk."""
    ir = "declare double @llvm.sqrt.f64(double)\ndeclare double @log(double)\n"
    assert plain_loops._self_contained(ir) == ir
    with pytest.raises(RuntimeError, match="NRT_Allocate"):
        plain_loops._self_contained(ir + "declare noalias ptr @NRT_Allocate(i64) nounwind\n")
