"""Linear models by themselves: sampling, stability, names, other packages."""

import importlib.util
import pickle
import sys

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import cont2discrete

import robodyn as rd
from robodyn.state_space import StateSpace

A = np.array([[0.0, 1.0, 0.0], [-4.0, -0.4, 1.0], [0.0, 0.0, -2.0]])
B, C, D = np.array([[0.0], [1.0], [0.5]]), np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 1))
MODEL = StateSpace(A, B, C, D)


def test_sampling_is_exact():
    model = MODEL.sampled(0.3)
    Ad, Bd, Cd, Dd, _ = cont2discrete((A, B, C, D), 0.3)
    for ours, theirs in zip((model.A, model.B, model.C, model.D), (Ad, Bd, Cd, Dd), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)
    np.testing.assert_allclose(model.A, expm(0.3 * A), atol=1e-14)
    assert model.dt == 0.3 and repr(model).endswith("every 0.3 s>")
    np.testing.assert_allclose(model.natural_frequencies, MODEL.natural_frequencies)
    np.testing.assert_allclose(model.damping_ratios, MODEL.damping_ratios)
    for ours, theirs in zip(model.modes, MODEL.modes, strict=True):
        assert ours.pole == pytest.approx(theirs.pole)
        np.testing.assert_allclose(ours.shape, theirs.shape, atol=1e-12)
    with pytest.raises(rd.ShapeError, match="sampled already"):
        model.sampled(0.1)
    with pytest.raises(rd.ShapeError, match="dt is 0"):
        MODEL.sampled(0.0)


def test_poles_frequencies_and_modes_stand_in_one_order():
    np.testing.assert_allclose(MODEL.poles, [-2.0, -0.2 + 1.98997487j, -0.2 - 1.98997487j])
    np.testing.assert_allclose(MODEL.natural_frequencies, [2.0, 2.0, 2.0])
    np.testing.assert_allclose(MODEL.damping_ratios, [1.0, 0.1, 0.1])
    assert [mode.pole for mode in MODEL.modes] == pytest.approx(MODEL.poles[:2])
    for mode in MODEL.modes:
        np.testing.assert_allclose(A @ mode.shape, mode.pole * mode.shape, atol=1e-12)
    assert MODEL.states == ("x[0]", "x[1]", "x[2]") and MODEL.inputs == ("u[0]",)


JORDAN = np.diag(np.ones(3), 1)
STABILITY = {
    "decays": (-np.eye(2), "stable"),
    "decays slowly": (np.diag([-1e-6, -1.0]), "stable"),
    "grows slowly": (np.diag([1e-6, -1.0]), "unstable"),
    "swings": (np.array([[0.0, 1.0], [-9.0, 0.0]]), "marginal"),
    "drifts": (np.array([[0.0, 1.0], [0.0, 0.0]]), "marginal"),
    "critically damped": (np.array([[0.0, 1.0], [-1.0, -2.0]]), "stable"),
    "drifts, seen askew": (None, "marginal"),
    "drifts but for rounding": (np.array([[0.0, 1.0], [1e-17, 0.0]]), "marginal"),
}


@pytest.mark.parametrize("case", STABILITY)
def test_stability(case):
    """Poles that are there several times are found inexactly, and called by what is sure."""
    matrix, verdict = STABILITY[case]
    if matrix is None:
        turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
        matrix = turn @ JORDAN @ turn.T
        assert np.abs(np.linalg.eigvals(matrix).real).max() > 1e-6
    n = len(matrix)
    model = StateSpace(matrix, np.zeros((n, 0)), np.eye(n), np.zeros((n, 0)))
    assert model.stability == model.sampled(0.1).stability == verdict


def test_units_of_states_do_not_decide_what_inputs_reach():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    A[4:, :4], B[4:] = 0.0, 0.0
    turn = rng.normal(size=(6, 6))
    wild = np.array([1e-4, 1e5, 1.0, 1e3, 1e-3, 1e4])
    for unit in (np.ones(6), wild):
        T = np.diag(unit) @ turn
        given = T @ A @ np.linalg.inv(T), T @ B
        model = StateSpace(*given, np.eye(6), np.zeros((6, 2)))
        modes = model.uncontrollable_modes()
        found = {complex(np.round(mode.pole, 6)) for mode in modes}
        wanted = {complex(np.round(x, 6)) for x in np.linalg.eigvals(A[4:, 4:]) if x.imag >= 0.0}
        assert found == wanted
        for mode in modes:
            left, size = mode.shape @ model.A, np.abs(mode.shape) @ np.abs(model.A)
            assert (np.abs(left - mode.pole * mode.shape) <= 1e-9 * size).all()


def test_rounding_does_not_hide_what_inputs_reach():
    """A mass that is free, but for a stiffness that is nothing but rounding."""
    A = np.array([[0.0, 0, 1, 0], [0, 0, 0, 1], [-1e-19, 0, 0, 0], [0, -90.0, 0, 0]])
    B = np.eye(4, 2, k=-2)
    assert StateSpace(A, B, np.eye(4), np.zeros((4, 2))).uncontrollable_modes() == ()
    weak = StateSpace(np.diag([-1.0, -2.0]), np.diag([1e-11, 1e3]), np.eye(2), np.zeros((2, 2)))
    assert weak.uncontrollable_modes() == ()  # an input in other units is one all the same


def test_what_does_not_fit():
    with pytest.raises(rd.ShapeError, match=r"B has shape \(2, 1\), expected \(..., 3, 1\)"):
        StateSpace(A, B[:2], C, D)
    with pytest.raises(rd.ShapeError, match="states has 1 names, expected 3"):
        StateSpace(A, B, C, D, states=("x",))
    many = StateSpace(np.stack([A, A]), np.stack([B, B]), np.stack([C, C]), np.stack([D, D]))
    assert many.poles.shape == (2, 3) and repr(many).startswith("<StateSpace at (2,) states")
    with pytest.raises(rd.ShapeError, match=r"model.at\(k\)"):
        _ = many.modes
    np.testing.assert_array_equal(many.at(1).A, A)
    shared = StateSpace(np.stack([A, 2 * A]), B, C, D).at(1)
    np.testing.assert_array_equal(shared.A, 2 * A)
    np.testing.assert_array_equal(shared.B, B)
    with pytest.raises(rd.ShapeError, match=r"leading axes of A \(2,\), B \(3,\)"):
        StateSpace(np.stack([A, A]), np.stack([B, B, B]), C, D)
    for index in (0, 2, (0, 1), "x"):
        with pytest.raises(rd.ShapeError, match="no model"):
            (MODEL if index == 0 else many).at(index)
    with pytest.raises(rd.ShapeError, match="dt is inf"):
        MODEL.sampled(np.inf)
    with pytest.raises(rd.ShapeError, match=r"states\[0\] is 1, expected a name"):
        StateSpace(A, B, C, D, states=(1, 2, 3))


@pytest.mark.filterwarnings("error")
def test_models_without_states():
    nothing = StateSpace(*(np.zeros(shape) for shape in ((0, 0), (0, 1), (1, 0), (1, 1))))
    assert nothing.modes == nothing.uncontrollable_modes() == nothing.unobservable_modes() == ()
    assert nothing.poles.shape == (0,) and nothing.stability == "stable"
    assert nothing.sampled(0.1).A.shape == (0, 0)


def test_other_forms():
    theirs = MODEL.to_scipy()
    np.testing.assert_array_equal(theirs.A, A)
    sampled = MODEL.sampled(0.2).to_scipy()
    assert sampled.dt == 0.2
    again = pickle.loads(pickle.dumps(MODEL))
    np.testing.assert_array_equal(again.A, A)
    assert again.states == MODEL.states


def test_python_control_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(rd.MissingExtraError, match=r"\[control\]"):
        MODEL.to_control()


@pytest.mark.skipif(
    importlib.util.find_spec("control") is None, reason="python-control is not installed"
)
def test_python_control_gets_the_same():
    model = rd.load("double_pendulum").linearize([0, 0], [0, 0], None, inputs=["elbow"])
    theirs = model.to_control()
    np.testing.assert_array_equal(theirs.A, model.A)
    assert theirs.state_labels == list(model.states)
    assert theirs.input_labels == ["tau:elbow"]
    assert model.sampled(0.1).to_control().dt == 0.1
    with pytest.raises(rd.ShapeError, match="inputs="):
        StateSpace(A, B[:, :0], C, D[:, :0]).to_control()


def test_names_that_python_control_would_take_for_one_stay_apart():
    pytest.importorskip("control", reason="python-control is an extra")
    names = {"states": ("q:a.b", "q:a_b"), "inputs": ("tau:a.b", "tau:a_b", "tau:a_b_2")}
    theirs = StateSpace(
        np.eye(2), np.ones((2, 3)), np.eye(2), np.ones((2, 3)), outputs=names["states"], **names
    ).to_control()
    assert theirs.state_labels == theirs.output_labels == ["q:a_b", "q:a_b_2"]
    assert len(set(theirs.input_labels)) == 3


def test_a_picture_of_a_mode(tmp_path):
    """Of the fast mode of two rods, which move against one another; and of a fall."""
    robot = rd.load("double_pendulum", passive=False)
    mode = robot.linearize([0, 0], [0, 0], None).modes[1]
    (axis,) = mode.plot(tmp_path / "mode.png").axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["shoulder", "elbow"]
    shoulder, elbow = (bar.get_width() for bar in axis.patches)
    assert (shoulder, elbow) == pytest.approx((mode.shape[0].real, 1.0)) and shoulder < 0.0
    assert axis.get_title(loc="left") == "7.189 rad/s = 1.14 Hz, damping ratio 0"
    fall = robot.linearize([np.pi, 0], [0, 0], None).modes[0]
    (axis,) = fall.plot(tmp_path / "fall.png").axes
    assert axis.get_title(loc="left") == "decays as exp(-2.68 t), time constant 0.373 s"
    with pytest.raises(
        rd.ShapeError, match=r"cannot draw .*mode\.doc.*: expected a name ending in"
    ):
        mode.plot(tmp_path / "mode.doc")
