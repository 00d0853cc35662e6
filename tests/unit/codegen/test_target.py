"""Which machine code is made for: this CPU, or the level that ROBODYN_TARGET names."""

import os
import platform

import pytest
from support.processes import python

from robodyn.codegen.llvm.target.target import target_named
from robodyn.errors import SettingsError

SSE = dict.fromkeys(["sse", "sse2"], True)
AVX2 = SSE | dict.fromkeys("avx avx2 bmi bmi2 f16c fma lzcnt movbe".split(), True)
AVX512 = AVX2 | dict.fromkeys("avx512f avx512bw avx512cd avx512dq avx512vl".split(), True)
LINUX = "x86_64-unknown-linux-gnu"


@pytest.mark.parametrize(
    ("features", "bits", "fma"), [(SSE, 64, False), (AVX2, 256, True), (AVX512, 512, True)]
)
def test_a_cpu_is_used_to_its_full_width(features, bits, fma):
    target = target_named("native", LINUX, "some", features | {"xop": False})
    assert (target.cpu, target.bits, target.fma) == ("some", bits, fma)
    assert target.features == ",".join(
        [f"+{key}" if has else f"-{key}" for key, has in sorted((features | {"xop": 0}).items())]
    )


@pytest.mark.parametrize("name", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_the_target_of_a_level_is_the_same_on_all_cpus_that_can_run_it(name):
    other = AVX512 | {"gfni": True}
    assert target_named(name, LINUX, "one", AVX512) == target_named(name, LINUX, "two", other)


def test_arm_has_vectors_of_128_bits():
    for triple in ("aarch64-unknown-linux-gnu", "arm64-apple-darwin23"):
        assert target_named("native", triple, "apple-m1", {}).bits == 128
        assert target_named("armv8-a", triple, "apple-m1", {}).cpu == "generic"


def test_a_level_that_the_cpu_lacks_is_refused_with_what_it_lacks():
    with pytest.raises(
        SettingsError, match=r"no avx512bw, .*; take one of native, x86-64, x86-64-v3"
    ):
        target_named("x86-64-v4", LINUX, "haswell", AVX2)


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(SettingsError, match=r"'haswell', expected one of native, x86-64, "):
        target_named("haswell", LINUX, "haswell", AVX2)


PROGRAM = """
import numpy as np, robodyn as rd
from robodyn.codegen.llvm.target.target import chosen_target
tree, linkage = rd.load("puma560"), rd.load("four_bar")
q = np.linspace(-1.0, 1.0, 6)
batch = tree.inverse_dynamics(np.tile(q, (9, 1)), q, q)
a = linkage.forward_dynamics(linkage.neutral(), np.zeros(3), np.ones(3))
print(chosen_target().cpu, *map(repr, map(float, [*tree.inverse_dynamics(q, q, q), *batch[8], *a])))
"""


def results(target):
    environment = {"ROBODYN_TARGET": target}
    run = python("-c", PROGRAM, env=environment)
    cpu, *numbers = run.stdout.split()
    return cpu, [float(number) for number in numbers]


@pytest.mark.slow
def test_an_unknown_name_is_all_that_is_told():
    program = "import robodyn as rd; rd.load('pan_tilt').mass_matrix([0.0, 0.0])"
    given = {**os.environ, "ROBODYN_TARGET": "haswell"}
    run = python("-c", program, check=False, env=given)
    assert run.returncode == 1
    assert run.stderr.count("Traceback") == 1
    assert "SettingsError: ROBODYN_TARGET is 'haswell'" in run.stderr.splitlines()[-1]


@pytest.mark.slow
def test_every_level_that_runs_here_computes_the_same_to_rounding():
    _, expected = results("native")
    cpu, plain = results("x86-64" if platform.machine() in ("x86_64", "AMD64") else "armv8-a")
    assert cpu in ("x86-64", "generic")
    assert plain == pytest.approx(expected, rel=1e-12, abs=1e-12)
