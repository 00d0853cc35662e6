"""Code for narrower vectors than this CPU has: a wide CPU runs the code of all narrower ones."""

from dataclasses import replace

import numpy as np
import pytest
from support.kernels import run_kernel

import robodyn as rd
from robodyn.codegen.llvm.kernels import kernel_body as body, kernel_ir as llvm
from robodyn.codegen.llvm.kernels.kernel_ir import batch_ir, scalar_ir
from robodyn.codegen.llvm.target.target import chosen_target, load_object, object_code
from robodyn.symbolic.evaluate import evaluate

ROWS = 37
WIDTHS = [bits for bits in (64, 128, 256, 512) if bits <= max(chosen_target().bits, 128)]
#: Rounding of a thousand operations, enlarged by solving for accelerations.
EQUAL = {"double": 1e-12, "float": 1e-3}


@pytest.fixture(scope="module")
def program():
    return rd.load("arm7").function("forward_dynamics").program


@pytest.fixture(scope="module")
def matrix():
    return rd.load("arm7").function("mass_matrix").program


def run(program, make, symbol, target, dtype, arrays):
    engine = load_object(object_code(make(program, target, dtype)))
    x = [np.array(array, dtype="f8" if dtype == "double" else "f4") for array in arrays]
    return run_kernel(engine, symbol, program, x)[-1]


@pytest.mark.slow
@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("bits", WIDTHS)
def test_all_widths_compute_the_same(program, matrix, bits, dtype, fma):
    target = replace(chosen_target(), bits=bits, fma=fma and chosen_target().fma)
    arrays = np.random.default_rng(0).normal(size=(3, ROWS, 7))
    for p in (program, matrix):
        given = arrays[: len(p.inputs)]
        expected = evaluate(p, *given)[0]
        ways = [(scalar_ir, "rows")]
        if target.lanes(dtype) > 1:
            ways.append((batch_ir, "batch"))
        for make, symbol in ways:
            got = run(p, make, symbol, target, dtype, given)
            scale = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True)
            assert np.abs((got - expected) / scale).max() < EQUAL[dtype]


@pytest.mark.slow
def test_large_outputs_are_stored_in_order_and_in_blocks():
    program = rd.load("arm7", base="floating").function("coriolis_matrix").program
    assert program.outputs[0].size >= 169
    q = np.random.default_rng(0).normal(size=(ROWS, 14))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=-1, keepdims=True)
    v = np.random.default_rng(1).normal(size=(ROWS, 13))
    expected = evaluate(program, q, v)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llvm, "LARGE", 100)
        patch.setattr(body, "STORES", 20)
        for make, symbol in ((scalar_ir, "rows"), (batch_ir, "batch")):
            got = run(
                program, make, symbol, replace(chosen_target(), bits=max(WIDTHS)), "double", (q, v)
            )
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12 * abs(expected).max())
