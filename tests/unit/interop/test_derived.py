"""Functions that other libraries differentiate with, against the derivatives of the function."""

import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn.interop.derived import pullback, pushforward, with_jacobians


@pytest.fixture(scope="module")
def given():
    """A function with two outputs, its inputs for three states, and its derivatives by two."""
    robot = rd.load("pan_tilt")
    function = robot.function("hybrid_dynamics", controlled=("tilt",))
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(3, *port.shape)) for port in function.inputs]
    names = ("v", "q")
    by_input = [function.jacobian(name, raw=True)(*arrays) for name in names]
    outputs = zip(*(by_input[k] for k in range(2)), strict=True)
    rows = [np.concatenate([x.reshape(3, -1, 2) for x in parts], 2) for parts in outputs]
    return function, names, arrays, np.concatenate(rows, 1)


def test_values_and_slopes(given):
    function, names, arrays, slopes = given
    *values, computed = with_jacobians(function, names)(*arrays)
    for value, expected in zip(values, function(*arrays), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(computed, slopes, rtol=1e-10, atol=1e-12)


def test_changes_of_outputs(given):
    function, names, arrays, slopes = given
    changes = [np.array([1.0, -2.0]), np.array([0.5, 3.0])]
    computed = pushforward(function, names)(*arrays, *changes)
    expected = slopes @ np.concatenate(changes)
    np.testing.assert_allclose(np.concatenate(computed, 1), expected, rtol=1e-10)


def test_slopes_of_a_weighted_sum(given):
    function, names, arrays, slopes = given
    weights = [np.full(port.shape, k + 2.0) for k, port in enumerate(function.outputs)]
    computed = pullback(function, names)(*arrays, *weights)
    expected = np.concatenate([w.ravel() for w in weights]) @ slopes
    np.testing.assert_allclose(np.concatenate(computed, 1), expected, rtol=1e-10)


def test_functions_without_numbers():
    """Of a tree, which has no loops."""
    function = rd.load("pan_tilt").function("loop_residual")
    value, slopes = with_jacobians(function, ["q"])(np.zeros(2))
    assert value.shape == (0,) and slopes.shape == (0, 2)
    assert pullback(function, ["q"])(np.zeros(2), np.zeros(0)).tolist() == [0.0, 0.0]
    assert pushforward(function, ["q"])(np.zeros(2), np.ones(2)).shape == (0,)


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_a_library_that_is_not_installed(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"robodyn.interop.{library}", raising=False)
    with pytest.raises(rd.MissingExtraError, match=rf"pip install .*\[{library}\]'"):
        __import__(f"robodyn.interop.{library}")
