"""CUDA source: compiled as C++ with loops for threads; on a device where there is one."""

import ctypes
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest
from support.overconstrained_linkages import ring

import robodyn as rd
from robodyn.codegen import Function
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs

PRELUDE = """
#include <math.h>
#define __global__ static
struct Index { unsigned x; };
static Index gridDim, blockDim, blockIdx, threadIdx;
"""
LAUNCH = """
extern "C" void launch(unsigned blocks, unsigned threads, long long n, void **p) {
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
            NAME(n, ARGUMENTS);
}
"""


@pytest.fixture(scope="module")
def robot():
    return rd.load("puma560")


class Emulated:
    """What stands in for ``cupy.RawKernel``."""

    def __init__(self, source, name, folder):
        compiler = shutil.which("g++") or shutil.which("c++")
        if compiler is None:
            pytest.skip("this test needs a C++ compiler")
        signature = source[source.index("(\n") : source.index(")\n")]
        kinds = [line.split("*")[0].strip() for line in signature.splitlines() if "*" in line]
        arguments = ", ".join(f"({kind} *)p[{k}]" for k, kind in enumerate(kinds))
        # extern "C" static is not C++: names need no linkage here
        text = PRELUDE + source.replace('extern "C" ', "")
        text += LAUNCH.replace("NAME", name).replace("ARGUMENTS", arguments)
        # a library that is loaded must not be written over
        stem = f"{name}{len(list(folder.iterdir()))}"
        path, library = folder / f"{stem}.cpp", folder / f"{stem}.so"
        path.write_text(text)
        flags = ["-std=c++14", "-Wall", "-Wextra", "-Wdouble-promotion", "-Werror", "-O1"]
        flags += ["-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(path), "-o", str(library), "-lm"], check=True)
        self.launch = ctypes.CDLL(str(library)).launch

    def __call__(self, grid, block, arguments):
        count, *arrays = arguments
        assert isinstance(count, np.int64)
        assert all(x.flags.c_contiguous for x in arrays)
        pointers = (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
        self.launch(*grid, *block, ctypes.c_longlong(int(count)), pointers)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_overconstrained_linkages_keep_groups_of_rows(name, tmp_path):
    mechanism, motors = ring("line_symmetric", 0)
    robot = rd.load(mechanism, actuators={m: rd.Actuator() for m in motors}, passive=False)
    assert robot.loops_analysis.choice.groups
    f, rng = robot.function(name), np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(9)])
    v = robot.consistent_velocity(q, rng.normal(size=q.shape))
    x = robot.consistent_acceleration(q, v, rng.normal(size=q.shape))
    out = np.zeros_like(q)
    kernel = Emulated(f.cuda_source("k"), "k", tmp_path)
    kernel((3,), (4,), (np.int64(len(q)), q, v, x, out))
    np.testing.assert_allclose(out, f(q, v, x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_every_thread_computes_its_states(robot, name, dtype, tmp_path):
    f = robot.function(name)
    kernel = Emulated(f.cuda_source("k", dtype), "k", tmp_path)
    kind = np.dtype(np.float64 if dtype == "double" else np.float32)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, (37, *port.shape)).astype(kind) for port in f.inputs]
    expected = evaluate(f.program, *(x.astype(float) for x in arrays))[0]
    tolerance = (1e-12 if dtype == "double" else 1e-4) * np.abs(expected).max()
    for grid, block in [(1, 1), (1, 64), (5, 8), (3, 4)]:  # fewer, more and other than states
        out = np.full((40, *f.outputs[0].shape), np.nan, kind)
        kernel((grid,), (block,), (np.int64(37), *arrays, out))
        np.testing.assert_allclose(out[:37], expected, atol=tolerance)
        assert np.isnan(out[37:]).all()


def test_each_element_is_read_once(robot):
    source = robot.function("inverse_dynamics").cuda_source()
    for name in "qva":
        reads = [part.split("]")[0] for part in source.split(f" {name}[")[1:]]
        assert len(reads) == len(set(reads)) <= 6


def awkward():
    """Ports whose names the kernel has other uses for; a scalar; several outputs."""
    graph = Graph()
    x = inputs(graph, 0, 4)
    results = (x[0] * x[1] - x[2], x[3] + x[0], x[1] * 2.0)
    ports = (
        (Port("n", (2,)), Port("t1", ()), Port("wrench:a", (1,))),
        (Port("i", ()), Port("wrench_a", (2,))),
    )
    return Function(Program("class-1", *ports, graph, tuple(edge_of(graph, y) for y in results)))


class OnDevice(np.ndarray):
    """What stands in for ``cupy.ndarray``."""

    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__

    @property
    def device(self):
        return memoryview(b"")  # a context that does nothing


@pytest.fixture
def cupy(monkeypatch, tmp_path):
    """What stands in for cupy: numpy, and kernels run by loops."""
    module = types.ModuleType("cupy")
    module.asarray = lambda x: np.asarray(x).view(OnDevice)
    module.empty_like, module.may_share_memory = np.empty_like, np.may_share_memory
    module.broadcast_to = lambda x, shape: np.broadcast_to(x, shape, subok=True)
    module.ascontiguousarray = lambda x, dtype: np.array(x, dtype, order="C", copy=None, subok=True)
    module.empty = lambda shape, dtype: np.empty(shape, dtype).view(OnDevice)
    module.RawKernel = lambda source, name: Emulated(source, name, tmp_path)
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_batches_broadcast(robot, cupy):
    f = robot.function("inverse_dynamics")
    g = f.cuda()
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(-2, 2, shape) for shape in [(3, 1, 6), (4, 6), (6,)]]
    got = g(*map(cupy.asarray, arrays))
    assert got.shape == (3, 4, 6)
    np.testing.assert_allclose(got, f(*arrays), rtol=1e-11, atol=1e-11)
    assert g(*(cupy.asarray(x[:0]) for x in arrays[:2]), cupy.asarray(arrays[2])).size == 0
    single = g(*(cupy.asarray(np.ones(6, np.float32)) for _ in range(3)))
    assert single.shape == (6,) and single.dtype == np.float64
    assert f.cuda("float")(*map(cupy.asarray, arrays)).dtype == np.float32


def test_many_outputs_and_awkward_names(cupy):
    f = awkward()
    arrays = [np.random.default_rng(2).normal(size=shape) for shape in [(300, 2), (300,), (1,)]]
    got = f.cuda()(*map(cupy.asarray, arrays))
    expected = evaluate(f.program, *arrays)
    assert [x.shape for x in got] == [(300,), (300, 2)]
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-14)


def test_arrays_to_write_into(robot, cupy):
    f = robot.function("inverse_dynamics")
    g = f.cuda()
    arrays = [cupy.asarray(x) for x in np.random.default_rng(3).normal(size=(3, 50, 6))]
    expected = evaluate(f.program, *(x.copy() for x in arrays))[0]
    out = cupy.empty((50, 6), np.float64)
    assert g(*arrays, out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-10)
    assert g(*arrays, out=arrays[1]) is arrays[1]  # what is read is not lost
    np.testing.assert_allclose(arrays[1], expected, rtol=1e-11, atol=1e-10)


def test_what_does_not_fit_is_refused(robot, cupy):
    g = robot.function("inverse_dynamics").cuda()
    good = cupy.asarray(np.zeros((5, 6)))
    cases = [
        ((good, good), None, "2 arrays given, expected 3: q, v, a"),
        ((good, good, np.zeros((5, 6))), None, "a is ndarray, expected an array on the device"),
        ((good, cupy.asarray(np.zeros((5, 7))), good), None, "v has shape"),
        ((good, good, cupy.asarray(np.zeros((4, 6)))), None, "do not broadcast"),
        ((good, good, cupy.asarray(np.zeros((5, 6), complex))), None, "complex128"),
        ((good, good, good), cupy.empty((4, 6), np.float64), "out for tau is"),
        ((good, good, good), cupy.empty((5, 6), np.float32), "out for tau is"),
        ((good, good, good), cupy.empty((5, 12), np.float64)[:, ::2], "C-contiguous"),
        ((good, good, good), (good, good), "2 arrays for out given, expected 1: tau"),
    ]
    for arrays, out, message in cases:
        with pytest.raises(rd.ShapeError, match=message):
            g(*arrays, out=out)


def test_the_error_without_cupy(robot, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(rd.MissingExtraError, match=r"cupy.*\[cuda\]") as caught:
        robot.function("mass_matrix").cuda()
    assert caught.value.extra == "cuda"


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_cuda_s_own_compiler_takes_it(robot, dtype, tmp_path):
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("this test needs nvcc")
    source = tmp_path / "f.cu"
    source.write_text(robot.function("forward_dynamics").cuda_source("f", dtype))
    flags = ["-ptx", "-Werror", "all-warnings", "-o", str(tmp_path / "f.ptx")]
    subprocess.run([compiler, *flags, str(source)], check=True)
    assert ".entry f(" in (tmp_path / "f.ptx").read_text()


def device_is_present():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # without a driver, every package and version raises its own
        return False


@pytest.mark.skipif(not device_is_present(), reason="needs cupy and a CUDA device")
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_on_a_device(robot, name, dtype):
    import cupy

    f = robot.function(name)
    rng = np.random.default_rng(4)
    arrays = [rng.uniform(-1, 1, (10000, *port.shape)) for port in f.inputs]
    expected = evaluate(f.program, *arrays)[0]
    got = f.cuda(dtype)(*(cupy.asarray(x) for x in arrays))
    tolerance = (1e-11 if dtype == "double" else 1e-4) * np.abs(expected).max()
    np.testing.assert_allclose(got.get(), expected, atol=tolerance)
    inside = [cupy.asarray(x) for x in arrays]
    shape = got.shape
    if inside[-1].shape == shape and dtype == "double":
        f.cuda()(*inside, out=inside[-1])
        np.testing.assert_allclose(inside[-1].get(), expected, atol=tolerance)
