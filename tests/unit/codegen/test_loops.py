"""Programs with loops over matrices, and the routines of LAPACK that they call."""

import ctypes

import numpy as np
import pytest

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import load_program
from robodyn.codegen.llvm.builder.matrices import INFO, Indices, Matrix, call_routine
from robodyn.codegen.llvm.target import lapack

CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


def run(code, x, y=None):
    address, engine = load_program(code.ir(), "run")
    CALL(address)(x.ctypes.data, x.ctypes.data if y is None else y.ctypes.data, len(x))
    del engine


def program():
    code = Code("@run(ptr %x, ptr %y, i64 %n)")
    n = Indices(code, "%y", "i64").get(0)
    return code, Matrix(code, "%x", n), n


def test_loops_and_branches_run_as_python_does():
    code, A, n = program()
    total = code.variable(0.0)
    for j in code.each(n):
        for i in code.each(j + 1):
            with code.when(~(A.get(i, j) < 0.0) & ~i.equals(j)):
                total.add(code.root(A.get(i, j)) / 2)
            A.put(code.choose(i.equals(j) | (i > 1), -A.get(i, j), code.size(A.get(i, j))), i, j)
    A.put(total.value, n - 1, 0)
    x = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 5)))
    expected, total = x.copy(), 0.0
    for j in range(5):
        for i in range(j + 1):
            if not x[i, j] < 0.0 and i != j:
                total += np.sqrt(x[i, j]) / 2
            expected[i, j] = -x[i, j] if i == j or i > 1 else abs(x[i, j])
    expected[4, 0] = total
    run(code, x, np.array([5]))
    np.testing.assert_allclose(x, expected, rtol=1e-14)


def test_a_call_with_too_few_arguments_is_refused():
    code, A, n = program()
    for wrong in ((), ("N", "T", n, n, n, 2.0, A, A, 0.5)):
        with pytest.raises(TypeError, match="dgemm takes 13 arguments"):
            call_routine(code, "dgemm", *wrong)


def test_lapack_is_called_with_numbers_by_reference():
    code, A, n = program()
    info = call_routine(code, "dpotrf", "L", n, A, INFO)
    B, last = A.part(0, n), A.part(0, n + n)
    call_routine(code, "dgemm", "N", "T", n, n, n, 2.0, A, A, 0.5, B)
    last.put(code.choose(info.equals(0), A.get(0, 0), -1.0), 0)
    S = np.array([[4.0, 0.0], [2.0, 5.0]])
    x = np.asfortranarray(np.c_[S, np.ones((2, 3))])
    run(code, x, np.array([2]))
    np.testing.assert_allclose(x[:, :2], [[2.0, 0.0], [1.0, 2.0]])
    np.testing.assert_allclose(x[:, 2:4], 2.0 * np.array([[4.0, 2.0], [2.0, 5.0]]) + 0.5)
    assert x[0, 4] == 2.0
    x = np.asfortranarray(np.c_[-S, np.ones((2, 3))])
    run(code, x, np.array([2]))
    assert x[0, 4] == -1.0


def test_a_lapack_with_other_integers_is_refused():
    declared = "void (char *, int *, __pyx_t_5scipy_6linalg_13cython_lapack_d *, int *, int *)"
    lapack.check("dpotrf", lapack.SIGNATURES["dpotrf"], declared)
    for wrong in (
        declared.replace("int", "int64_t"),
        declared.replace("_d *", "_s *"),
        declared.replace(", int *)", ")"),
        declared.replace("void", "int"),
    ):
        with pytest.raises(ImportError, match="LP64"):
            lapack.check("dpotrf", lapack.SIGNATURES["dpotrf"], wrong)
