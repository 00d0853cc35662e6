"""Poles in the complex plane: crosses, names, damping rays, scales, sampled models, many models."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.state_space import StateSpace

pytest.importorskip("matplotlib")


def oscillator(*rates, **options):
    """A model with these poles, each by two states (real and imaginary part)."""
    A = np.zeros((2 * len(rates), 2 * len(rates)))
    for k, s in enumerate(rates):
        A[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[s.real, s.imag], [-s.imag, s.real]]
    n = len(A)
    names = tuple(f"q:{'abcdef'[k]}" for k in range(n))
    return StateSpace(A, np.zeros((n, 1)), np.zeros((1, n)), [[0.0]], states=names, **options)


def crosses(axis):
    """Places of poles by colour."""
    found = [line for line in axis.get_lines() if line.get_marker() == "x"]
    return {
        line.get_color(): np.array([complex(x, y) for x, y in zip(*line.get_data(), strict=True)])
        for line in found
    }


def test_poles_that_grow_have_another_colour(tmp_path):
    model = oscillator(-1 + 3j, 0.5 + 1j)
    (axis,) = model.plot(tmp_path / "poles.png").axes
    decaying, growing = crosses(axis).values()
    assert sorted(decaying, key=np.imag) == pytest.approx([-1 - 3j, -1 + 3j])
    assert sorted(growing, key=np.imag) == pytest.approx([0.5 - 1j, 0.5 + 1j])
    assert axis.get_title(loc="left") == "poles: unstable"
    assert {"a", "c"} <= {text.get_text() for text in axis.texts}
    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    assert left < -1.1 and right > 0.6 and low == -high < -3.3


def test_poles_on_the_axis_do_not_grow(tmp_path):
    robot = rd.load("double_pendulum", passive=False)
    (axis,) = robot.linearize([0, 0], [0, 0], [0, 0]).plot(tmp_path / "poles.png").axes
    decaying, growing = crosses(axis).values()
    assert len(decaying) == 4 and not len(growing)


def test_rays_have_the_damping_ratios_that_are_beside_them(tmp_path):
    (axis,) = oscillator(-1 + 3j).plot(tmp_path / "poles.png").axes
    rays = {text.get_text(): text.get_position() for text in axis.texts if "ζ" in text.get_text()}
    assert len(rays) >= 3
    for text, (x, y) in rays.items():
        assert -x / np.hypot(x, y) == pytest.approx(float(text.removeprefix("ζ = ")))
        assert axis.get_xlim()[0] < x < 0.0 < y < axis.get_ylim()[1]


def test_poles_that_are_far_apart_can_be_told_apart(tmp_path):
    (axis,) = oscillator(-1000 + 1j, -0.1 + 0.1j).plot(tmp_path / "poles.png").axes
    assert axis.get_xscale() == axis.get_yscale() == "symlog"
    pixels = axis.transData.transform([[-1000.0, 1.0], [-0.1, 0.1], [0.0, 0.0]])[:, 0]
    assert np.diff(pixels).min() > 20.0
    assert len(axis.get_xticks()) <= 9
    names = {text.get_text(): text.get_window_extent() for text in axis.texts}
    assert all(axis.get_window_extent().overlaps(box) for box in names.values()) and names


def test_a_sampled_model_has_the_unit_circle(tmp_path):
    model = oscillator(-1 + 3j, 0.5 + 1j)
    (axis,) = model.sampled(0.1).plot(tmp_path / "poles.png").axes
    circle = max(axis.get_lines(), key=lambda line: len(line.get_xdata()))
    np.testing.assert_allclose(np.hypot(*circle.get_data()), 1.0)
    decaying, growing = crosses(axis).values()
    assert sorted(decaying, key=np.imag)[1] == pytest.approx(np.exp(0.1 * (-1 + 3j)))
    assert len(growing) == 2


def test_models_along_a_motion_are_points(tmp_path):
    robot = rd.load("double_pendulum")
    q, rest = np.linspace([0.0, 0.0], [1.0, 0.0], 5), np.zeros((5, 2))
    model = robot.linearize(q, rest, rest)
    axis, bar = model.plot(tmp_path / "poles.png").axes
    (points,) = axis.collections
    np.testing.assert_allclose(points.get_offsets()[:, 1].reshape(5, 4), model.poles.imag)
    assert points.get_array().tolist() == np.repeat(np.arange(5), 4).tolist()
    assert bar.get_ylabel() == "number of the state" and axis.get_title(loc="left").endswith(
        "5 models"
    )
