"""Functions inside loops that numba compiles."""

import gc
import sys
import weakref

import numpy as np
import pytest
from support.processes import python

import robodyn as rd
from robodyn.codegen import Function
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs

numba = pytest.importorskip("numba")


@pytest.fixture(scope="module")
def pendulum():
    return rd.load("double_pendulum")


def integrate(step, q, v, tau, a, n, h):
    """Semi-implicit Euler, in plain Python or compiled."""
    for _ in range(n):
        step(q, v, tau, a)
        for i in range(q.size):
            v[i] += h * a[i]
            q[i] += h * v[i]


def test_a_compiled_loop_equals_a_loop_in_python(pendulum):
    f = pendulum.function("forward_dynamics")
    q, v = np.array([1.0, -0.5]), np.array([0.3, 0.2])
    tau, a = np.array([0.1, -0.2]), np.full(2, np.nan)
    q_loop, v_loop = q.copy(), v.copy()
    numba.njit(integrate)(f.numba, q_loop, v_loop, tau, a, 500, 1e-3)
    interpreted = pendulum.function("forward_dynamics").program

    def step(q, v, tau, a):
        a[:] = evaluate(interpreted, q, v, tau)[0]

    integrate(step, q, v, tau, a, 500, 1e-3)
    np.testing.assert_allclose(q_loop, q, rtol=1e-11)
    np.testing.assert_allclose(v_loop, v, rtol=1e-11)


def test_rows_of_a_batch_in_parallel_threads(pendulum):
    f = pendulum.function("mass_matrix")
    step = f.numba

    @numba.njit(parallel=True)
    def rows(q, out):
        for i in numba.prange(len(q)):
            step(q[i], out[i])

    q = np.random.default_rng(0).uniform(-3, 3, (100, 2))
    out = np.full((100, 2, 2), np.nan)
    rows(q, out)
    np.testing.assert_allclose(out, evaluate(f.program, q)[0], rtol=1e-13, atol=1e-15)


def two_outputs():
    graph = Graph()
    x, y, z = inputs(graph, 0, 3)
    results = tuple(edge_of(graph, e) for e in (x * y, x + y * 2.0, z - x))
    ports = (Port("x", (2,)), Port("s", ())), (Port("p", ()), Port("u", (2,)))
    return Function(Program("two", *ports, graph, results))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_several_outputs_scalars_and_both_dtypes(dtype):
    f = two_outputs()
    step = f.numba

    @numba.njit
    def compute(x, s, p, u):
        step(x, s, p, u)
        return p[()] + u[0] + u[1]

    x, s = np.array([3.0, 4.0], dtype), np.array(0.5, dtype)
    p, u = np.empty((), dtype), np.empty(2, dtype)
    assert compute(x, s, p, u) == 12.0 + 11.0 - 2.5
    assert (p[()], *u) == (12.0, 11.0, -2.5)


def test_wrong_lengths_are_refused_where_they_occur(pendulum):
    step = pendulum.function("forward_dynamics").numba

    @numba.njit
    def compute(q, v, tau, a):
        step(q, v, tau, a)

    @numba.njit
    def guarded(q, v, tau, a):
        try:
            step(q, v, tau, a)
        except Exception:
            return False
        return True

    good = np.zeros(2)
    for k, name in enumerate(["q", "v", "tau", "a"]):
        arrays = [good, good, good, np.zeros(2)]
        assert guarded(*arrays)
        arrays[k] = np.zeros(3)
        with pytest.raises(rd.ShapeError, match=rf"^{name} "):
            compute(*arrays)
        assert not guarded(*arrays)


def test_overlapping_arrays_are_refused(pendulum):
    step = pendulum.function("forward_dynamics").numba
    memory = np.zeros(8)
    step(memory[0:2], memory[0:2], memory[4:6], memory[2:4])
    for first in (0, 3, 5):
        with pytest.raises(rd.ShapeError, match="overlaps"):
            step(memory[0:2], memory[0:2], memory[4:6], memory[first : first + 2])


def test_wrong_types_are_refused_when_compiled(pendulum):
    step = pendulum.function("forward_dynamics").numba
    z = np.zeros(2)
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    step(frozen, z, z, np.zeros(2))
    cases = [
        ((z, z, z), "3 arrays given, expected 4"),
        ((z, z, z, np.zeros(2, np.float32)), "expected a C-contiguous float64 array"),
        ((np.zeros(4)[::2], z, z, np.zeros(2)), "q is .* expected a C-contiguous"),
        ((z, z, z, np.zeros((2, 2))), "with 1 axes"),
        ((z, z, 1.0, np.zeros(2)), "tau is float64"),
        ((z, z, z, frozen), "read-only"),
    ]
    for arrays, message in cases:
        with pytest.raises(numba.TypingError, match=message):
            step(*arrays)


def test_compiled_loops_outlive_the_function():
    f = two_outputs()
    watched = weakref.ref(f)
    scope = {"step": f.numba}
    exec("def compute(x, s, p, u):\n    step(x, s, p, u)", scope)
    compute = numba.njit(scope["compute"])
    arrays = np.array([3.0, 4.0]), np.array(0.5), np.empty(()), np.empty(2)
    compute(*arrays)
    scope["step"] = None  # what is compiled does not look there again
    del f
    gc.collect()
    others = [two_outputs() for _ in range(5)]  # would take the place of freed code
    for other in others:
        other(*arrays[:2])
    arrays[3][:] = np.nan
    compute(*arrays)
    assert (arrays[2][()], *arrays[3]) == (12.0, 11.0, -2.5)
    assert watched() is not None


CACHED = """
import sys, warnings, numpy as np, robodyn as rd, numba
step = rd.load("double_pendulum").function("mass_matrix").numba

@numba.njit(cache=True)
def compute(q, out):
    step(q, out)

out = np.empty((2, 2))
with warnings.catch_warnings(record=True, action="always") as seen:
    compute(np.zeros(2), out)
assert any("dynamic globals" in str(w.message) for w in seen), seen
print(out.sum())
"""


@pytest.mark.slow
def test_no_address_gets_into_numbas_cache(tmp_path):
    script = tmp_path / "cached.py"
    script.write_text(CACHED)
    for _ in range(2):
        done = python(str(script))
        assert float(done.stdout) > 0
    assert not list(tmp_path.rglob("*.nbc"))


def test_the_error_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(rd.MissingExtraError, match="pip install numba"):
        two_outputs().numba  # noqa: B018
