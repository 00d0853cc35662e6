"""C source: compiled by the system's compiler and run."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import UnknownNameError


@pytest.fixture(scope="module", params=["free", "on the ground"])
def robot(request):
    arm = rd.load("puma560")
    if request.param == "free":
        return arm
    tip = {"tip": (arm.link_names[-1], (0.0, 0.0, 0.1))}
    law = {"stiffness": 100.0, "damping": 0.1, "friction": 0.5, "friction_speed": 0.1}
    return arm.with_(ground=rd.Ground(tip, normal=(0.1, 0.0, 1.0), height=2.0, **law))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_c_equals_machine_code(robot, name, dtype, tmp_path):
    compiler = shutil.which("cc")
    assert compiler, "this test needs a C compiler named cc"
    f = robot.function(name)
    source, library = tmp_path / "f.c", tmp_path / "f.so"
    source.write_text(f.c_source("f", dtype))
    flags = ["-std=c99", "-Wall", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
    kind = np.dtype(np.float64 if dtype == "double" else np.float32)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, port.shape).astype(kind) for port in f.inputs]
    out = np.full(f.outputs[0].shape, np.nan, kind)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, out)]
    ctypes.CDLL(str(library)).f(*pointers)
    expected = f(*(x.astype(float) for x in arrays))
    tolerance = 1e-12 if dtype == "double" else 1e-4
    np.testing.assert_allclose(out, expected, atol=tolerance * np.abs(expected).max())


def test_other_types_are_refused(robot):
    with pytest.raises(UnknownNameError):
        robot.function("mass_matrix").c_source("f", "half")
