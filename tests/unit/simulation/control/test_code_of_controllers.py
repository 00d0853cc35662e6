"""Machine code of controllers is compiled for their operations, and not for their numbers."""

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc
from robodyn.codegen import constants_as_inputs
from robodyn.codegen.constants_as_inputs import ConstantsAsInputs
from robodyn.simulation.control import compiled_controller as law_code
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import by_precision, inputs, sqrt

START = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4])
WAVE = rc.SineReference(START, 0.1 * np.ones(6), 2.0 * np.ones(6))

MAKE = {
    "joints": lambda r, k: rc.JointPD(
        r, WAVE, stiffness=100.0 + k, damping=7.0 + k * np.arange(6.0)
    ),
    "model": lambda r, k: rc.Saturated(rc.ComputedTorque(r, WAVE, stiffness=30.0 + k), 50.0 + k),
    "frame": lambda r, k: rc.OperationalSpace(r, "flange", WAVE, stiffness=200.0 + k),
    "memory": lambda r, k: rc.RateLimited(
        rc.Filtered(rc.JointPD(r, WAVE, 90.0 + k, 9.0), 100.0), 1e3 * k
    ),
}


@pytest.fixture
def made(monkeypatch):
    """Functions that are made, from nothing known on."""
    found = []

    class Counted(rd.Function):
        def __init__(self, program):
            super().__init__(program)
            found.append(program.name)

    code = ConstantsAsInputs(Counted, Counted, "constants", before="state")
    monkeypatch.setattr(law_code, "CODE", code)
    return found


def motions(robot, controllers, **options):
    options = {"q0": START + 0.02, "duration": 0.05, "limits": "ignore"} | options
    return [rd.simulate(robot, c, **options) for c in controllers]


def test_tolerances_of_each_precision_are_compiled_as_they_are():
    """A number that is another one in single precision is no input."""

    def least(double, single):
        graph = Graph()
        (x,) = inputs(graph, 0, 1)
        y = sqrt(x * x + by_precision(graph, double, single))
        return Program("least", (Port("x", (1,)),), (Port("y", (1,)),), graph, (y.edge,))

    for double, single in ((1e-4, 1e-2), (4e-4, 4e-2), (9e-4, 9e-2)):
        code = law_code.cached_code(least(double, single))
        assert not code.constants
        for dtype, square in ((np.float64, double), (np.float32, single)):
            assert code.function(np.zeros(1, dtype))[0] == pytest.approx(np.sqrt(square))


@pytest.mark.parametrize("kind", MAKE)
def test_a_motion_does_not_depend_on_those_before_it(puma, kind, monkeypatch):
    """To the last bit, whether the code of its controller holds its gains or is given them."""
    gains = [0.7, 1.3, 0.7, 3.7, 1.3]
    family = motions(puma, [MAKE[kind](puma, k) for k in gains])
    for k, run in zip(gains, family, strict=True):
        monkeypatch.setattr(law_code.CODE, "_kept", {})
        (alone,) = motions(puma, [MAKE[kind](puma, k)])
        for name in ("q", "v", "tau"):
            np.testing.assert_array_equal(getattr(run, name), getattr(alone, name))
        for name, x in run.controller_state.items():
            np.testing.assert_array_equal(x, alone.controller_state[name])


@pytest.mark.parametrize("kind", ["model", "memory"])
def test_so_do_many_motions_and_motions_with_events(puma, kind, monkeypatch):
    never = rd.Event(lambda t, q, v: t + 1.0, name="never")
    q0 = START + 0.01 * np.arange(9.0)[:, None]
    for k in (0.7, 1.3):
        controller = MAKE[kind](puma, k)
        many = rd.rollout(puma, controller, q0, 0.0 * q0, duration=0.02, limits="ignore")
        (alone,) = motions(puma, [controller], q0=q0[5], duration=0.02)
        (watched,) = motions(puma, [controller], q0=q0[5], duration=0.02, events=[never])
        np.testing.assert_allclose(many.q[:, 5], alone.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(watched.q, alone.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("most", [1, 256])
def test_other_payloads_are_other_motions(puma, made, monkeypatch, most):
    """Compiled each as it is where they differ in more numbers than may be given."""
    monkeypatch.setattr(constants_as_inputs, "MOST", most)
    payloads = [rd.Inertia.from_matrix(m, (0, 0, 0.1), np.eye(3) * m) for m in (1.0, 2.0, 3.0)]
    models = [puma.with_(payload={"link6": x}) for x in payloads]
    runs = motions(puma, [rc.ComputedTorque(model, WAVE) for model in models])
    assert len(made) == (3 if most == 1 else 2)
    light, medium, heavy = (run.tau[-1] for run in runs)
    assert np.abs(light - medium).max() > 0.1 and np.abs(medium - heavy).max() > 0.1


def test_functions_are_forgotten(puma, monkeypatch, made):
    monkeypatch.setattr(constants_as_inputs, "KEPT", 2)
    kinds = ["joints", "model", "frame"]
    motions(puma, [MAKE[kind](puma, 0.5) for kind in kinds], duration=0.002)
    assert len(law_code.CODE._kept) == 2
    monkeypatch.setattr(constants_as_inputs, "OPERATIONS", 1)
    motions(puma, [MAKE["model"](puma, 0.5)], duration=0.002)
    assert len(law_code.CODE._kept) == 1
