"""Choices and functions in each target: the values of numpy, and bits alike where they can be."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from support import modelica
from support.functions_of_symbols import FUNCTIONS, both, expected_of, program_of
from support.octave import octave

import robodyn as rd
from robodyn.codegen import Function
from robodyn.codegen.llvm.kernels import kernel_ir
from robodyn.codegen.text.latex import latex
from robodyn.codegen.text.matlab import matlab_source
from robodyn.codegen.text.modelica import REAL_SQRT, modelica_function
from robodyn.codegen.text.python import python_function, python_prologue
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs

#: Functions of the C library: libraries differ in the last digits.
ROUNDED = {"arctan", "arctan2", "exp", "log", "sinh", "cosh", "tanh"}
KINDS = {"double": np.float64, "float": np.float32}


def check(found, expected, dtype="double"):
    """Choices have the bits of numpy, but for the sign of zero; functions its digits."""
    for name, x, y in zip(
        FUNCTIONS, np.moveaxis(found, -1, 0), np.moveaxis(expected, -1, 0), strict=True
    ):
        digits = {"double": 4e-16, "float": 2.5e-7}[dtype] if name in ROUNDED else 0.0
        np.testing.assert_allclose(x, y, rtol=digits, atol=0.0, err_msg=name)


@pytest.fixture(scope="module")
def f():
    return Function(program_of(FUNCTIONS))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("pieces", [False, True])
def test_machine_code_of_one_state_and_of_batches(dtype, pieces, monkeypatch):
    if pieces:
        monkeypatch.setattr(kernel_ir, "PIECES_FROM", {"scalar": 0, "batch": 0})
    f = Function(program_of(FUNCTIONS))
    x, y = (a.astype(KINDS[dtype]) for a in both())
    batch = f(x, y)
    assert batch.dtype == KINDS[dtype]
    check(batch, expected_of(FUNCTIONS, x, y), dtype)
    one = np.array([f(a, b) for a, b in zip(x, y, strict=True)])
    np.testing.assert_array_equal(one, batch)


def many_alike():
    """A program whose limbs are alike, so that operations are packed."""
    graph = Graph()
    x = inputs(graph, 0, 32)
    results = []
    for k in range(4):
        a, b, c, d, *rest = x[8 * k : 8 * k + 8]
        held = rd.where(a * b + c < d * 0.5, abs(a - b), np.exp(-rd.maximum(c, d)))
        for z in rest:
            held = rd.where(held > z, held * 0.5 + z * a, z - rd.sqrt(held * held + b * b))
        results.append(held)
    ports = (Port("x", (32,)),), (Port("y", (4,)),)
    return Program("alike", *ports, graph, tuple(edge_of(graph, z) for z in results))


def test_limbs_that_are_alike():
    f, x = Function(many_alike()), np.random.default_rng(0).normal(size=(50, 32))
    from robodyn.symbolic.evaluate import evaluate

    np.testing.assert_array_equal([f(row) for row in x], f(x))
    np.testing.assert_allclose(f(x), evaluate(f.program, x)[0], rtol=1e-13)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("language", ["c", "cuda"])
def test_c_and_cuda(f, dtype, language, tmp_path):
    compiler = shutil.which("cc" if language == "c" else "c++")
    assert compiler, "this test needs a compiler"
    arrays = ["x", "y"]
    if language == "c":
        text, name = f.c_source("f", dtype), "f.c"
        flags = ["-std=c99", "-pedantic", "-ffp-contract=off"]
    else:
        launch = f"void call(const {dtype} *x, const {dtype} *y, {dtype} *z) {{ f(1, x, y, z); }}"
        text = f.cuda_source("f", dtype).replace('extern "C"', "static")
        head = "#include <math.h>\n#define __global__\nstruct I { unsigned x; };\n"
        head += "static I gridDim{1}, blockDim{1}, blockIdx{0}, threadIdx{0};\n"
        text, name = f'{head}{text}\nextern "C" {launch}', "f.cpp"
        flags = ["-std=c++14", "-ffp-contract=off"]
    source, library = tmp_path / name, tmp_path / "f.so"
    source.write_text(text)
    flags += ["-Wall", "-Wextra", "-Wdouble-promotion", "-Werror", "-O2", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
    call = getattr(ctypes.CDLL(str(library)), "f" if language == "c" else "call")
    x, y = (a.astype(KINDS[dtype]) for a in both())
    found = np.full((len(x), len(FUNCTIONS)), np.nan, KINDS[dtype])
    for k in range(len(x)):
        arrays = (np.ascontiguousarray(a[k : k + 1]) for a in (x, y))
        call(*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, found[k])))
    check(found, expected_of(FUNCTIONS, x, y), dtype)
    same = [k for k, name in enumerate(FUNCTIONS) if name not in ROUNDED]
    np.testing.assert_array_equal(found[:, same], f(x, y)[:, same])
    if dtype == "double":  # the same library, one state and many
        np.testing.assert_array_equal(found, f(x, y))


@pytest.mark.parametrize("dtype", KINDS)
def test_python(f, dtype):
    names = {}
    exec(python_prologue(dtype) + python_function(f.program, "f", "about", dtype), names)
    x, y = (a.astype(KINDS[dtype]) for a in both())
    check(names["f"](x, y), expected_of(FUNCTIONS, x, y), dtype)
    check(names["f"](x[20], y[20]), expected_of(FUNCTIONS, x[20], y[20]), dtype)


def test_octave(f, tmp_path):
    (tmp_path / "f.m").write_text(matlab_source(f.program, "f", "about"))
    x, y = both()
    known = np.nan_to_num(expected_of(FUNCTIONS, x, y), posinf=1.0, neginf=1.0, nan=np.nan)
    lists = (f"[{' '.join(map(repr, a.tolist()))}]".replace("inf", "Inf") for a in (x, y))
    script = f"x = {next(lists)}; y = {next(lists)};\n"
    script += "for k = 1:numel(x) printf('%.17g ', f(x(k), y(k))); disp(''); end"
    found = np.array([row.split() for row in octave(tmp_path, script).splitlines()], float)
    expected = expected_of(FUNCTIONS, x, y)
    logs = [*FUNCTIONS].index("log")
    found[:, logs] = np.where(x < 0.0, np.nan, found[:, logs])
    assert known.shape == found.shape
    check(found, expected)


def test_modelica(f):
    text = ["package robot", REAL_SQRT, modelica_function(f.program, "f", "a"), "end robot;"]
    package = modelica.parsed("\n".join(text))
    x, y = np.random.default_rng(1).uniform(0.1, 2.0, (2, 20))
    for a, b in zip(x, y, strict=True):
        check(modelica.call(package, "f", a, b), expected_of(FUNCTIONS, a, b))


def test_modelica_says_why_a_root_is_no_number():
    graph = Graph()
    (x,) = inputs(graph, 0, 1)
    ports = (Port("x", ()),), (Port("y", ()),)
    program = Program("root", *ports, graph, (edge_of(graph, rd.sqrt(x)),))
    text = ["package robot", REAL_SQRT, modelica_function(program, "f", "a"), "end robot;"]
    package = modelica.parsed("\n".join(text))
    assert modelica.call(package, "f", 4.0) == 2.0
    with pytest.raises(ValueError, match="loops are open or the state is singular"):
        modelica.call(package, "f", -1.0)


def test_latex_shows_cases():
    graph = Graph()
    x, y = inputs(graph, 0, 2)
    z = rd.where(x <= y, np.exp(x), rd.arctan2(y, -x)) * abs(x - y)
    ports = (Port("x", ()), Port("y", ())), (Port("z", ()),)
    text = latex(Program("f", *ports, graph, (edge_of(graph, z),)))
    assert r"\begin{cases} \exp x & x \le y \\" in text
    assert r"\operatorname{atan2} \left(y,\, -x\right) & \text{otherwise} \end{cases}" in text
    assert r"\left|x - y\right|" in text


def test_operations_are_counted(f):
    counts = f.operations
    assert counts["function"] == 8 and counts["sqrt"] == 1 and counts["select"] > 10
    assert "select" not in rd.load("double_pendulum").function("mass_matrix").operations
