"""Machine code against the plain interpreter: every way of calling a function."""

import ctypes
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.examples import examples
from support.processes import python

import robodyn as rd
from robodyn.codegen import Function
from robodyn.codegen.function import WIDE
from robodyn.codegen.llvm.cache.object_code import folder
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import by_precision, cos, edge_of, inputs, sin, sqrt


@pytest.fixture(scope="module")
def robot():
    return rd.load("puma560")


def states(robot, n, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-3, 3, (n, robot.nq))
    v, a = rng.normal(size=(2, n, robot.nv))
    return q, v, a


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40])
@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "kinetic_energy"])
def test_batches_of_any_size(robot, rows, name):
    f = robot.function(name)
    arrays = states(robot, rows)[: len(f.inputs)]
    got = f(*arrays)
    assert got.shape == (rows, *f.outputs[0].shape)
    if rows:
        expected = evaluate(f.program, *arrays)[0]
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())


def test_out_may_be_an_input(robot):
    q, v, a = (x[0] for x in states(robot, 1))
    expected = robot.inverse_dynamics(q, v, a)
    assert robot.inverse_dynamics(q, v, a, out=a) is a
    np.testing.assert_array_equal(a, expected)
    buffer = np.zeros((2, 6))
    shared = buffer.reshape(-1)[3:9]
    shared[:] = q
    np.testing.assert_array_equal(
        robot.gravity_forces(shared, out=buffer[0]), robot.gravity_forces(q)
    )


@pytest.mark.parametrize(
    "leading",
    [
        [(2, WIDE + 3), (WIDE + 3,), (2, 1)],
        [(3, 2, WIDE), (1, 1, WIDE), (1, 2, WIDE)],
        [(3, 1, WIDE), (3, 2, 1), ()],
    ],
)
def test_inputs_that_repeat_along_axes_of_large_batches(robot, leading):
    f, rng = robot.function("inverse_dynamics"), np.random.default_rng(4)
    given = [rng.normal(size=(*axes, 6)) for axes in leading]
    full = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*given)]
    found = f(*given)
    assert found.tolist() == f(*full).tolist()
    out = np.empty(found.shape)
    assert f(*given, out=out) is out
    assert out.tolist() == found.tolist()


BAD = [
    ((np.zeros(5), np.zeros(6), np.zeros(6)), "q has shape"),
    ((np.zeros(6), np.zeros((6, 1)), np.zeros(6)), "v has shape"),
    ((np.zeros(6), np.zeros(6), 0.0), "a has shape"),
    ((np.zeros(6), np.zeros(6)), "2 arrays given"),
    ((np.zeros(6), np.zeros(6), "six"), "'six', expected an array of real numbers"),
    ((np.zeros(6), np.zeros(6), np.zeros(6, complex)), "not an array of real numbers"),
    ((np.zeros(6), np.zeros(6), np.array([None] * 6)), "not an array of real numbers"),
    ((np.zeros(6), np.zeros(6), [[1.0], [1.0, 2.0]]), "not an array of real numbers"),
    ((np.zeros((2, 6)), np.zeros((3, 6)), np.zeros(6)), "do not broadcast"),
]


@pytest.mark.parametrize(("arrays", "message"), BAD)
def test_wrong_arrays(robot, arrays, message):
    with pytest.raises(rd.ShapeError, match=message):
        robot.function("inverse_dynamics")(*arrays)


@pytest.mark.parametrize(
    "out",
    [np.zeros(5), np.zeros((1, 6)), np.zeros(6, np.float32), np.zeros(12)[::2], [0.0] * 6, "out"],
)
def test_wrong_out(robot, out):
    with pytest.raises(rd.ShapeError):
        robot.function("inverse_dynamics")(np.zeros(6), np.zeros(6), np.zeros(6), out=out)
    with pytest.raises(rd.ShapeError):
        robot.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6), out=out)


def test_other_types_of_c_are_refused(robot):
    with pytest.raises(rd.UnknownNameError):
        robot.function("mass_matrix").c_source("f", "half")


def test_read_only_out(robot):
    out = np.zeros(6)
    out.flags.writeable = False
    with pytest.raises(rd.ShapeError, match="writeable"):
        robot.gravity_forces(np.zeros(6), out=out)


def test_nan_goes_through_functions_and_harms_nothing(robot):
    f = robot.function("inverse_dynamics")
    q, v, a = states(robot, 20)
    expected = f(q, v, a)
    q[3, 1] = np.nan
    got = f(q, v, a)
    assert np.isnan(got[3]).any()
    rest = np.arange(20) != 3
    np.testing.assert_array_equal(got[rest], expected[rest])


def trig_program():
    graph = Graph()
    (x,) = inputs(graph, 0, 1)
    results = [sin(x), cos(x), sin(x * x + 0.5), cos(x * x + 0.5)]
    edges = tuple(edge_of(graph, y) for y in results)
    return Program("trig", (Port("x", ()),), (Port("y", (4,)),), graph, edges)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 10.0, 1e3, 1e6, 9e7, 1.1e8, 1e12, 1e200])
def test_sine_and_cosine_everywhere(scale):
    f = Function(trig_program())
    rng = np.random.default_rng(0)
    x = scale * rng.uniform(-1, 1, 1003)
    y = f(x)
    np.testing.assert_allclose(y[:, 0], np.sin(x), rtol=0, atol=3e-16)
    np.testing.assert_allclose(y[:, 1], np.cos(x), rtol=0, atol=3e-16)
    single = np.array([f(value) for value in x[:20]])
    np.testing.assert_allclose(single[:, :2], y[:20, :2], rtol=0, atol=3e-16)
    square = x[:20] * x[:20] + 0.5
    if scale <= 1e3:
        np.testing.assert_allclose(y[:20, 2], np.sin(square), rtol=0, atol=1e-9)


def test_sine_in_single_precision():
    x = np.linspace(-1e5, 1e5, 20001).astype(np.float32)
    y = Function(trig_program())(x)
    np.testing.assert_allclose(y[:, 0], np.sin(x.astype(float)), rtol=0, atol=2e-7)
    huge = np.array([1e7, 3e20, -2e9], np.float32)
    y = Function(trig_program())(huge)
    np.testing.assert_allclose(y[:, 1], np.cos(huge.astype(float)), rtol=0, atol=1e-6)


def test_infinite_angles_are_not_numbers():
    y = Function(trig_program())(np.array([np.inf, -np.inf, np.nan, 0.0]))
    assert np.isnan(y[:3, :2]).all()
    np.testing.assert_array_equal(y[3, :2], [0.0, 1.0])


STEP = st.tuples(st.integers(0, 5), st.integers(0, 40), st.integers(0, 40))


@examples(12)
@given(steps=st.lists(STEP, min_size=1, max_size=60), seed=st.integers(0, 99))
def test_random_programs(steps, seed):
    graph = Graph()
    known = [*inputs(graph, 0, 5), 0.0, 1.0, -0.7]
    for kind, i, j in steps:
        x, y = known[i % len(known)], known[j % len(known)]
        known.append(
            [
                lambda x, y: x + y,
                lambda x, y: x - y,
                lambda x, y: x * y * 0.5,
                lambda x, y: x / (y * y + 1.5),
                lambda x, y: sin(x) + cos(y),
                lambda x, y: sqrt(x * x + 0.1),
            ][kind](x, y)
        )
    edges = tuple(edge_of(graph, x) for x in known[-7:])
    program = Program("f", (Port("x", (2,)), Port("y", (3,))), (Port("z", (7,)),), graph, edges)
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(19, 2)), rng.normal(size=(19, 3))
    expected = evaluate(program, x, y)[0]
    if not np.abs(expected).max() < 1e6:
        return
    f = Function(program)
    np.testing.assert_allclose(f(x, y), expected, atol=1e-9 * max(1.0, np.abs(expected).max()))
    np.testing.assert_allclose(
        f(x[0], y[0]), expected[0], atol=1e-9 * max(1, np.abs(expected).max())
    )


def test_a_constant_that_depends_on_the_precision():
    """As tolerances do: two programs that differ in single precision alone are two."""

    def made(single):
        graph = Graph()
        (x,) = inputs(graph, 0, 1)
        y = x + by_precision(graph, 0.25, single)
        return Function(Program("f", (Port("x", ()),), (Port("y", ()),), graph, (y.edge,)))

    for single in (0.5, 0.75):
        f = pickle.loads(pickle.dumps(made(single)))
        assert f(1.0) == 1.25
        assert f(np.float32(1.0)) == 1.0 + single
        many = np.ones(20)
        np.testing.assert_array_equal(f(many), 1.25)
        np.testing.assert_array_equal(f(many.astype(np.float32)), 1.0 + single)
        assert "0.25" in f.c_source() and f"{single}f" in f.c_source(dtype="float")


def test_several_outputs():
    graph = Graph()
    x, y = inputs(graph, 0, 2)
    edges = tuple(edge_of(graph, e) for e in (x + y, x - y, x * y, 2.0))
    f = Function(Program("f", (Port("x", (2,)),), (Port("s", ()), Port("t", (3,))), graph, edges))
    s, t = f([3.0, 4.0])
    assert s == 7.0
    np.testing.assert_array_equal(t, [-1.0, 12.0, 2.0])
    s, t = np.empty(5), np.empty((5, 3))
    assert f(np.ones((5, 2)), out=(s, t))[1] is t
    np.testing.assert_array_equal(s, 2.0)


def test_pickle(robot):
    q, v, a = (x[0] for x in states(robot, 1))
    f = pickle.loads(pickle.dumps(robot.function("inverse_dynamics")))
    np.testing.assert_array_equal(f(q, v, a), robot.inverse_dynamics(q, v, a))
    again = pickle.loads(pickle.dumps(robot))
    np.testing.assert_array_equal(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))


def test_address_is_a_c_function(robot):
    f = robot.function("gravity_forces")
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(f.address)
    q, tau = np.linspace(0, 1, 6), np.zeros(6)
    kernel(q.ctypes.data, tau.ctypes.data)
    np.testing.assert_array_equal(tau, f(q))


CHILD = """
import numpy as np, robodyn as rd
robot = rd.load("puma560")
print(repr(robot.inverse_dynamics(np.ones(6), np.ones(6), np.ones(6)).tolist()))
"""


def run_child(folder, **environment):
    done = python("-c", CHILD, env={"ROBODYN_CACHE_DIR": str(folder), **environment})
    return done.stdout


@pytest.mark.slow
def test_cache_with_concurrent_writers(tmp_path):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(run_child(tmp_path))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert len(results) == 3


@pytest.mark.slow
def test_no_cache(tmp_path, monkeypatch):
    assert run_child(tmp_path, ROBODYN_CACHE="0")
    assert not list(tmp_path.iterdir())
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run_child(blocked)  # cannot be written to: works all the same
    monkeypatch.setenv("ROBODYN_CACHE", "0")
    assert folder() is None


FORK = """
import os, numpy as np, robodyn as rd
rd.set_num_threads(2)
f = rd.load("puma560").function("inverse_dynamics")
x = np.ones((3, 4096, 6))
expected = f(*x)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(f(*x), expected) and np.array_equal(f(*x), expected) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert np.array_equal(f(*x), expected)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_starts_threads_of_its_own():
    command = [sys.executable, "-W", "ignore", "-c", FORK]
    subprocess.run(command, check=True, timeout=250)


FORKS = """
import os, signal, threading, numpy as np, robodyn as rd
rd.set_num_threads(2)
robot = rd.load("double_pendulum")
x = np.ones((20000, 2))
expected = robot.forward_dynamics(x, x, x)
begun, enough = threading.Event(), threading.Event()

def compiles():
    k = 0
    while not enough.is_set():
        k += 1
        other = rd.load("double_pendulum", gravity=(0, 0, -9 - 1e-3 * k))
        other.forward_dynamics(*np.zeros((3, 2)))
        begun.set()

thread = threading.Thread(target=compiles)
thread.start()
begun.wait()
ends = []
for k in range(4):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that waits for ever is ended
        same = np.array_equal(robot.forward_dynamics(x, x, x), expected)
        rd.load("double_pendulum", gravity=(0, 0, -3.0 - k)).forward_dynamics(*np.zeros((3, 2)))
        os._exit(0 if same else 1)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
enough.set()
thread.join()
assert ends == [0] * 4, ends
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_can_fork_while_another_thread_compiles():
    command = [sys.executable, "-W", "ignore", "-c", FORKS]
    environment = {"ROBODYN_CACHE": "0"}
    subprocess.run(command, check=True, timeout=250, env=environment)
