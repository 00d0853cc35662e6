"""What limbs that are alike compute, in lanes of a vector: the same bits, in fewer operations."""

from dataclasses import replace

import numpy as np
import pytest
from support.kernels import run_kernel

import robodyn as rd
from robodyn.codegen.llvm.kernels import packs
from robodyn.codegen.llvm.kernels.kernel_ir import scalar_ir
from robodyn.codegen.llvm.kernels.sums import products_in_sums
from robodyn.codegen.llvm.kernels.superwords import Superwords
from robodyn.codegen.llvm.target.target import chosen_target, load_object, object_code
from robodyn.symbolic.graph import ByPrecision, Graph, Port, Program
from robodyn.symbolic.scalar import Scalar, cos, edge_of, inputs, sin, sqrt

#: Of vectors. A wide CPU runs the code of all narrower ones.
WIDTHS = [bits for bits in (128, 256, 512) if bits <= max(chosen_target().bits, 128)]
SIZES = {"double": "f8", "float": "f4"}


@pytest.fixture
def always(monkeypatch):
    """Packs wherever there can be any."""
    monkeypatch.setattr(packs, "WORTH", np.inf)


def limbs(rng, count):
    """Limbs that do the same with other numbers, signs and constants, and what they do together."""
    graph, size = Graph(), 5
    numbers = inputs(graph, 0, count * size)
    recipe = rng.integers(0, 8, 40)
    picks = rng.integers(0, 10**6, (40, 2))
    together, results, ends = 0.0, [], []
    for limb in range(count):
        known = [*numbers[size * limb : size * (limb + 1)]]
        known += [sin(known[0]), cos(known[0]), sin(known[1] + float(rng.normal()))]
        known += [float(x) for x in rng.normal(size=3)]
        known.append(Scalar(graph, graph.by_precision(ByPrecision(1e-3, 1e-2))))
        for k, (i, j) in zip(recipe, picks, strict=True):
            x, y = known[i % len(known)], known[j % len(known)]
            x, y = (z if rng.random() < 0.5 else -z for z in (x, y))
            known.append(
                (x + y, x - y, x * y, x * y + known[j % 5], x * y - together, sqrt(x * x + 1.0))[k]
                if k < 6
                else x / (y * y + 2.0)
                if k == 6
                else x * together
            )
        together = together + known[-1] * known[-2]
        x = known[-1] * known[0]
        ends.append(known[1] + (x if rng.random() < 0.5 else -x))
        x = known[-1] if rng.random() < 0.5 else -known[-1]
        y, z = rng.permutation([numbers[0] + numbers[1], numbers[2] + numbers[3]])
        results += [*(-x for x in known[-20:]), sqrt(x), y / z]
    neighbours = zip(ends, ends[1:] + ends[:1], numbers[::size], numbers[1::size], strict=True)
    results += [x * z + y * w for x, y, z, w in neighbours]  # of other lanes
    results += [together, numbers[0], 1.5]
    edges = tuple(edge_of(graph, x) for x in results)
    return Program("limbs", (Port("x", (count, size)),), (Port("y", (len(edges),)),), graph, edges)


def bits(program, target, dtype, arrays, packed=True):
    """All outputs of one state."""
    engine = load_object(object_code(scalar_ir(program, target, dtype, packed=packed)))
    x = [np.asarray(array, SIZES[dtype]) for array in arrays]
    return np.concatenate([y.ravel() for y in run_kernel(engine, "packed", program, x)])


@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize(
    "width", [WIDTHS[0], *(pytest.param(x, marks=pytest.mark.slow) for x in WIDTHS[1:])]
)
def test_lanes_are_what_scalars_are_to_the_last_bit(width, dtype, always):
    target = replace(chosen_target(), bits=width)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(2, 8))
        program = limbs(rng, count)
        x = [rng.normal(size=program.inputs[0].shape)]
        expected = bits(program, target, dtype, x, packed=False)
        np.testing.assert_array_equal(bits(program, target, dtype, x), expected)
        if target.fma:
            words = Superwords([], {}, products_in_sums(program))
            found = packs.packs_for(program, words, target, dtype)
            assert found is not None


@pytest.mark.parametrize("name", ["dual_arm", "stewart"])
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_zeros_have_the_same_sign_without_packs(name, dtype):
    """At rest many sums are zero: which sign they have must not hang on the tier."""
    robot = rd.load(name)
    program, target = robot.function("forward_dynamics").program, chosen_target()
    still = np.zeros(robot.nv)
    state = [x.astype("f4" if dtype == "float" else float) for x in (robot.neutral(), still, still)]
    one, other = (bits(program, target, dtype, state, packed=x) for x in (True, False))
    assert np.signbit(one).tobytes() == np.signbit(other).tobytes()
    assert one.tobytes() == other.tobytes()
