"""Columns of one state in the lanes of a vector: the same numbers, in fewer operations."""

from dataclasses import replace

import numpy as np
import pytest
from support.kernels import run_kernel

from robodyn.codegen.llvm.kernels import superwords as worth
from robodyn.codegen.llvm.kernels.kernel_ir import batch_ir, scalar_ir
from robodyn.codegen.llvm.kernels.superwords import superwords
from robodyn.codegen.llvm.target.target import chosen_target, load_object, object_code
from robodyn.equations.tree import composite_body
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs

#: Of vectors. A wide CPU runs the code of all narrower ones.
WIDTHS = [bits for bits in (128, 256, 512) if bits <= max(chosen_target().bits, 128)]
#: Parent of each row: a trunk of two with three branches, and a leaf on the first of them.
TREE = (-1, 0, 1, 2, 3, 1, 5, 6, 1, 8, 2)


def ancestors(k):
    """The row and those on its way to the root."""
    found = []
    while k >= 0:
        found.append(k)
        k = TREE[k]
    return found


def tree_solve(columns):
    """``X = M^-1 B``, ``-X`` and ``M^-1``, where M and B have the zeros of the tree."""
    n, graph = len(TREE), Graph()
    numbers = inputs(graph, 0, n * n + n * columns)
    related = {(i, j) for k in range(n) for i in ancestors(k) for j in (k,)}
    related |= {(j, i) for i, j in related}
    M = [[numbers[n * i + j] if (i, j) in related else 0.0 for j in range(n)] for i in range(n)]
    B = [
        [numbers[n * n + columns * i + j] if (i, j % n) in related else 0.0 for j in range(columns)]
        for i in range(n)
    ]
    factors = composite_body.factorize(M)
    X = [composite_body.solve(factors, [row[j] for row in B]) for j in range(columns)]
    inverse = [composite_body.solve(factors, [float(i == j) for i in range(n)]) for j in range(n)]
    for j in range(n):  # one half is enough
        for i in range(j + 1, n):
            inverse[j][i] = inverse[i][j]
    results = [X[j][i] for i in range(n) for j in range(columns)]
    results += [-x for x in results] + [inverse[j][i] for i in range(n) for j in range(n)]
    given = Port("M", (n, n)), Port("B", (n, columns))
    wanted = Port("X", (n, columns)), Port("-X", (n, columns)), Port("W", (n, n))
    mask = np.array([[(i, j) in related for j in range(n)] for i in range(n)])
    edges = tuple(edge_of(graph, x) for x in results)
    return Program("solve", given, wanted, graph, edges), mask


def numbers_of(mask, columns, rng):
    n = len(mask)
    M = np.where(mask, rng.normal(size=(n, n)), 0.0)
    M = M + M.T + 20.0 * np.eye(n)
    return M, np.where(mask[:, np.arange(columns) % n], rng.normal(size=(n, columns)), 0.0)


def compiled(program, target, dtype):
    """The program, and machine code of it for one state."""
    return program, load_object(object_code(scalar_ir(program, target, dtype)))


def run(code, arrays, dtype="f8"):
    """All outputs of one state."""
    program, engine = code
    return run_kernel(engine, "packed", program, [np.array(array, dtype) for array in arrays])


def words(program, lanes):
    return superwords(program, lanes)


@pytest.fixture
def always(monkeypatch):
    """Superwords wherever there can be any."""
    monkeypatch.setattr(worth, "WORTH", np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("bits", WIDTHS)
def test_lanes_are_what_scalars_are_to_the_last_bit(bits, dtype, always):
    program, mask = tree_solve(19)
    target, rng = replace(chosen_target(), bits=bits), np.random.default_rng(0)
    lanes = target.lanes(dtype)
    assert words(program, lanes).order
    states = [numbers_of(mask, 19, rng) for _ in range(lanes)]
    code = compiled(program, target, dtype)
    batch = load_object(object_code(batch_ir(program, target, dtype)))
    x = [np.array(y, "f8" if dtype == "double" else "f4") for y in zip(*states, strict=True)]
    rows = run_kernel(batch, "batch", program, x)
    for k, given in enumerate(states):
        found = run(code, given, x[0].dtype)
        for y, many in zip(found, rows, strict=True):
            np.testing.assert_array_equal(y, many[k])
        if dtype == "double":
            X, negative, inverse = found
            np.testing.assert_allclose(X, np.linalg.solve(*given), atol=1e-15, rtol=1e-12)
            np.testing.assert_array_equal(negative, -X)
            np.testing.assert_allclose(inverse, np.linalg.inv(given[0]), atol=1e-15, rtol=1e-12)


def test_a_factor_that_is_no_number_meets_the_lanes_that_have_it(always):
    """``S X``, where some numbers of X are zero: not even their products with infinity are."""
    n, m, graph, rng = 9, 8, Graph(), np.random.default_rng(1)
    there = rng.random((n, m)) < 0.6
    S, X = rng.normal(size=(n, n)), np.where(there, rng.normal(size=(n, m)), 0.0)
    numbers = inputs(graph, 0, n * n + n * m)
    s, x = np.array(numbers[: n * n]).reshape(n, n), np.array(numbers[n * n :]).reshape(n, m)
    edges = tuple(
        edge_of(graph, sum((s[i, k] * x[k, j] for k in range(n) if there[k, j]), 0.0))
        for i in range(n)
        for j in range(m)
    )
    given = Port("S", (n, n)), Port("X", (n, m))
    program = Program("product", given, (Port("SX", (n, m)),), graph, edges)
    target = replace(chosen_target(), bits=max(chosen_target().bits, 128))
    assert words(program, target.lanes("double")).order
    code = compiled(program, target, "double")
    for value in (np.inf, np.nan):
        for k in range(n):
            S[:, k] = value
            found = run(code, (S, X))[0]
            np.testing.assert_array_equal(np.isfinite(found), [~there[k]] * n)
            S[:, k] = rng.normal(size=n)
    np.testing.assert_allclose(run(code, (S, X))[0], S @ X, atol=1e-14)
