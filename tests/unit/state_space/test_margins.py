"""Margins, frequency responses, steps and their pictures, against other libraries."""

import numpy as np
import pytest
from scipy.signal import dstep, freqresp, step

import robodyn as rd
from robodyn.controllers import LQR, Filtered, Sampled
from robodyn.state_space import StateSpace

UP = np.array([np.pi, 0.0])


@pytest.fixture(scope="module")
def models(acrobot):
    law = LQR(acrobot, UP)
    return {
        "law": rd.closed_loop_model(acrobot, law, UP),
        "late": rd.closed_loop_model(acrobot, law, UP, delay=0.02),
        "filtered": rd.closed_loop_model(acrobot, Filtered(law, 200.0, order=2), UP),
        "sampled": rd.closed_loop_model(acrobot, Sampled(law, 0.01, delay=0.013), UP),
    }


@pytest.mark.parametrize("kind", ["law", "late", "filtered"])
def test_margins_are_those_of_python_control(models, kind):
    control = pytest.importorskip("control")
    model = models[kind]
    found = model.margins()["tau:elbow"]
    loop = model.broken_at("tau:elbow").to_control()
    gains, phases, distances, _, crossovers, _ = control.stability_margins(loop, returnall=True)
    assert found.gain[0] == pytest.approx(gains[gains < 1.0].max(initial=0.0), rel=1e-6)
    assert found.gain[1] == pytest.approx(gains[gains > 1.0].min(initial=np.inf), rel=1e-6)
    k = np.abs(phases).argmin()
    assert found.phase == pytest.approx(np.deg2rad(abs(phases[k])), rel=1e-6)
    assert found.crossover == pytest.approx(crossovers[k], rel=1e-6)
    worst = 1.0 / distances.min() if len(distances) else 1.0
    assert found.sensitivity == pytest.approx(max(worst, 1.0), rel=1e-6)


def test_margins_of_a_sampled_loop_are_those_of_python_control(models):
    """By its frequency response: polynomials of sampled models lose digits."""
    control = pytest.importorskip("control")
    model = models["sampled"]
    found = model.margins()["tau:elbow"]
    loop = model.broken_at("tau:elbow")
    w = np.geomspace(1.0, np.pi / 0.01, 5_000)
    data = control.frd(loop.frequency_response(w)[:, 0, 0], w)
    gains, phases, distances, *_ = control.stability_margins(data, returnall=True)
    assert found.gain[1] == pytest.approx(gains[gains > 1.0].min(), rel=1e-5)
    assert found.phase == pytest.approx(np.deg2rad(np.abs(phases).min()), rel=1e-5)
    assert found.sensitivity == pytest.approx(1.0 / distances.min(), rel=1e-5)


@pytest.mark.parametrize("kind", ["law", "late", "filtered", "sampled"])
def test_a_gain_at_the_margin_brings_a_pole_to_the_edge(models, kind):
    model = models[kind]
    found = model.margins()["tau:elbow"]
    loop = model.broken_at("tau:elbow")
    for factor in found.gain:
        if 0.0 < factor < np.inf:
            poles = np.linalg.eigvals(loop.A - factor * loop.B @ loop.C)
            growth = poles.real.max() if model.dt is None else np.abs(poles).max() - 1.0
            assert abs(growth) < 1e-6
    poles = np.linalg.eigvals(loop.A - loop.B @ loop.C)
    np.testing.assert_allclose(np.sort_complex(poles), np.sort_complex(model.poles), atol=1e-7)


def test_a_delay_at_the_margin_brings_a_pole_to_the_edge(acrobot, models):
    law = LQR(acrobot, UP)
    found = models["law"].margins()["tau:elbow"]
    late = rd.closed_loop_model(acrobot, law, UP, delay=found.delay)
    nearest = late.poles[np.abs(late.poles.real).argmin()]
    assert abs(nearest.real) < 1e-4 and late.margins()["tau:elbow"].phase < 1e-4
    lost = rd.closed_loop_model(acrobot, law, UP, delay=1.1 * found.delay)
    assert lost.margins()["tau:elbow"].gain == (1.0, 1.0)
    assert lost.margins()["tau:elbow"].sensitivity == np.inf


def test_responses_are_those_of_scipy(models):
    model, w = models["law"], np.array([0.1, 2.0, 30.0])
    for k, name in enumerate(model.outputs):
        own = StateSpace(model.A, model.B, model.C[[k]], model.D[[k]])
        _, expected = freqresp(own.to_scipy(), w)
        np.testing.assert_allclose(model.frequency_response(w)[:, k, 0], expected, rtol=1e-9)
        t, y = model.step_response(2.0)
        _, expected = step(own.to_scipy(), T=t)
        np.testing.assert_allclose(y[:, k, 0], expected, atol=1e-9, err_msg=name)
    sampled = models["sampled"]
    t, y = sampled.step_response(0.5)
    _, (expected,) = dstep((sampled.A, sampled.B, sampled.C, sampled.D, 0.01), n=len(t))
    np.testing.assert_allclose(y[:, :, 0], expected, atol=1e-12)
    assert t[-1] == pytest.approx(0.5)


def test_pictures_name_joints(models, tmp_path):
    pytest.importorskip("matplotlib")
    loop = models["sampled"].broken_at("tau:elbow")
    above, below = loop.plot_bode(tmp_path / "bode.png").axes
    assert [x.get_text() for x in above.get_legend().get_texts()] == ["tau:elbow"]
    assert below.get_ylabel() == "phase [deg]"
    (axis,) = models["sampled"].plot_nyquist(tmp_path / "nyquist.png").axes
    assert [x.get_text() for x in axis.get_legend().get_texts()] == ["elbow"]
    figure = models["law"].plot_step(tmp_path / "step.png", duration=1.0)
    assert "step of tau:elbow" in figure.axes[0].get_ylabel()
    assert {x.name for x in tmp_path.iterdir()} == {"bode.png", "nyquist.png", "step.png"}


def test_loops_that_there_are_not(acrobot, models):
    with pytest.raises(rd.UnknownNameError, match="elbow"):
        models["law"].broken_at("tau:shoulder")
    plain = acrobot.linearize(UP, [0.0, 0.0], [0.0, 0.0])
    assert plain.margins() == {}
    with pytest.raises(rd.ShapeError, match="no loop to break"):
        plain.plot_nyquist()
