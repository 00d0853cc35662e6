"""Large programs in pieces: the same numbers as in one function, in code that hardly grows."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.chains import chain, tree
from support.kernels import run_kernel
from support.processes import python

import robodyn as rd
from robodyn.codegen.llvm.kernels import kernel_ir, piece_code, superword_pieces
from robodyn.codegen.llvm.kernels.kernel_ir import batch_ir, scalar_ir
from robodyn.codegen.llvm.target.target import chosen_target, load_object, object_code
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import by_precision, cos, edge_of, inputs, sin, sqrt

#: Calls machine code whose values between pieces take 300 kB, on a stack of 256 kB.
SMALL_STACK = """
import threading, numpy as np, robodyn as rd
from support.chains import chain
robot = chain(300)
zero, one = np.zeros((8, 300)), np.ones((8, 300))
expected = robot.inverse_dynamics(zero, zero, one)
found = []
threading.stack_size(256 * 1024)
thread = threading.Thread(target=lambda: found.append(robot.inverse_dynamics(zero, zero, one)))
thread.start()
thread.join()
np.testing.assert_allclose(found[0], expected)
"""

#: Rows of a batch: some vectors, and a part of one.
COUNT = 37


@pytest.fixture(autouse=True)
def no_packs(monkeypatch):
    """All programs are cut, those of bodies that are alike too."""
    for name in ("packs_for", "may_have_packs"):
        monkeypatch.setattr(kernel_ir, name, lambda *given: None)


def odd_program():
    """Every operation, results that are no operation, and an output that is zero but for few."""
    graph = Graph()
    x = inputs(graph, 0, 9)
    a = [sin(x[0]), cos(x[0] * -2.0), sin(1.5 - x[1]), cos(x[1] + 0.25), sin(x[2] + x[3])]
    b = [sqrt(x[k] * x[k] + 2.0) / (x[k + 1] * x[k + 1] + by_precision(graph, 1.0, 0.5))
         for k in range(8)]  # fmt: skip
    c = [u * v - w for u in a for v in b for w in (x[4], x[5], 0.125)]
    sparse = [0.0] * 300
    sparse[7], sparse[200], sparse[299] = c[3], -c[4], 3.0
    results = [*c, -x[6], 0.0, -2.5, a[0], -a[1], *(-y for y in b), *sparse, sum(c)]
    ports = (Port("x", (4,)), Port("y", (5,))), (Port("c", (len(c),)), Port("s", (5 + 8 + 301,)))
    return Program("odd", *ports, graph, tuple(edge_of(graph, y) for y in results))


PROGRAMS = {
    "odd": odd_program,
    "forward": lambda: rd.load("arm7").function("forward_dynamics").program,
    "matrix": lambda: tree(14).function("mass_matrix").program,
}


def run(ir, symbol, program, given):
    engine = load_object(object_code(ir, 1 if "@piece" in ir else 2))
    return run_kernel(engine, symbol, program, given)


def from_size(nodes):
    """Pieces of all programs that have as many nodes."""
    return dict.fromkeys(("scalar", "batch"), nodes)


@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize(
    "name", ["odd", *(pytest.param(x, marks=pytest.mark.slow) for x in ("forward", "matrix"))]
)
def test_pieces_compute_the_same_bits(name, dtype, fma, monkeypatch):
    program = PROGRAMS[name]()
    target = replace(chosen_target(), fma=fma and chosen_target().fma)
    rng, kind = np.random.default_rng(0), "f8" if dtype == "double" else "f4"
    given = [rng.uniform(-3, 3, (COUNT, *port.shape)).astype(kind) for port in program.inputs]
    given[0][3, 0], given[0][11] = 3e9, np.inf
    batch = [(batch_ir, "batch")] if target.lanes(dtype) > 1 else []
    for make, symbol in [(scalar_ir, "rows"), *batch]:
        monkeypatch.setattr(kernel_ir, "PIECES_FROM", from_size(10**9))
        whole = make(program, target, dtype)
        monkeypatch.setattr(kernel_ir, "PIECES_FROM", from_size(0))
        monkeypatch.setattr(piece_code, "MOST", 40)
        monkeypatch.setattr(piece_code, "MOST_OF_VECTORS", 60)
        if fma:
            monkeypatch.setattr(piece_code, "ON_STACK", 0)
        cut = make(program, target, dtype)
        assert cut.count("call void @piece") > 5 and "@piece" not in whole
        assert ("@robodyn_malloc" in cut) == fma
        expected = run(whole, symbol, program, given)
        for got, wanted in zip(run(cut, symbol, program, given), expected, strict=True):
            # both are the same operations in the same order, each rounded once
            assert got.tobytes() == wanted.tobytes()


def test_superwords_in_pieces_compute_the_same_bits(monkeypatch):
    """Also where there is no memory for what goes from one piece to the next."""
    program, target = chain(6).function("forward_dynamics_derivatives").program, chosen_target()
    rng = np.random.default_rng(0)
    given = [rng.uniform(-1, 1, (COUNT, *port.shape)) for port in program.inputs]
    found, expected = kernel_ir.superwords_for(program, target, "double"), []
    for least in (10**9, 0):
        monkeypatch.setattr(kernel_ir, "PIECES_FROM", from_size(least))
        monkeypatch.setattr(superword_pieces, "MOST", 30)
        ir = scalar_ir(program, target, "double")
        expected.append(run(ir, "rows", program, given))
    assert (ir.count("call void @words") > 5) == bool(found.order)
    for wanted, got in zip(*expected, strict=True):
        assert got.tobytes() == wanted.tobytes()  # the same operations in the same order
    monkeypatch.setattr(piece_code, "ON_STACK", 0)
    none = "define ptr @robodyn_malloc(i64 %n) { ret ptr null }"
    ir = scalar_ir(program, target, "double").replace("declare ptr @robodyn_malloc(i64)", none)
    assert all(np.isnan(x).all() for x in run(ir, "rows", program, given))


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_results_are_nan_where_there_is_no_memory_for_them(dtype, monkeypatch):
    monkeypatch.setattr(kernel_ir, "PIECES_FROM", from_size(0))
    monkeypatch.setattr(piece_code, "ON_STACK", 0)
    program, target = odd_program(), chosen_target()
    kind = "f8" if dtype == "double" else "f4"
    given = [np.ones((COUNT, *port.shape), kind) for port in program.inputs]
    batch = [(batch_ir, "batch")] if target.lanes(dtype) > 1 else []
    for make, symbol in [(scalar_ir, "rows"), *batch]:
        none = "define ptr @robodyn_malloc(i64 %n) { ret ptr null }"
        ir = make(program, target, dtype)
        assert "declare ptr @robodyn_malloc(i64)" in ir
        ir = ir.replace("declare ptr @robodyn_malloc(i64)", none)
        for found in run(ir, symbol, program, given):
            assert np.isnan(found).all()


@pytest.mark.slow
def test_long_chains_can_be_called_by_a_thread_with_a_small_stack():
    tests = Path(__file__).parents[2]
    path = os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": path}
    python("-c", SMALL_STACK, env=environment, timeout=250)
