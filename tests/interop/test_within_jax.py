"""Functions of robots as operations of JAX."""

import re
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import robodyn as rd  # noqa: E402
from robodyn.arrays import numbers  # noqa: E402
from robodyn.interop.jax import operation  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs/guides/code/interop.md"


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module", params=["scara", "four_bar", "satellite"])
def function(request):
    """Of a tree, a closed linkage, and a body with a quaternion."""
    robot = rd.load(request.param)
    function = robot.function("forward_dynamics")
    rng = np.random.default_rng(2)
    q = robot.start() + 0.01 * rng.normal(size=(4, 3, robot.nq))
    v, tau = rng.normal(size=(3, robot.nv)), rng.normal(size=robot.nv)
    return function, (q, v, tau)


def test_the_same_numbers(function):
    function, arrays = function
    expected, call = function(*arrays), operation(function)
    np.testing.assert_allclose(call(*arrays), expected, rtol=1e-12)
    np.testing.assert_allclose(jax.jit(call)(*arrays), expected, rtol=1e-12)


def test_batches(function):
    function, (q, v, tau) = function
    expected, call = function(q, v, tau), operation(function)
    over_all = jax.jit(jax.vmap(jax.vmap(call, (0, 0, None)), (0, None, None)))
    np.testing.assert_allclose(over_all(q, v, tau), expected, rtol=1e-12)
    over_some = jax.vmap(lambda q: call(q, v, tau))
    np.testing.assert_allclose(over_some(q), expected, rtol=1e-12)
    over_speeds = jax.vmap(lambda v: call(q[:, 0], v, tau), out_axes=1)
    expected = function(q[:, :1], v, tau)
    np.testing.assert_allclose(over_speeds(v), expected, rtol=1e-12)
    assert call(q[:0], v, tau).shape == (0, 3, len(tau))


def test_derivatives(function):
    function, (q, v, tau) = function
    call, state = operation(function), (q[0, 0], v[0], tau)
    order = 2 if len(q[0, 0]) > len(v[0]) else 1  # the least to compile has a quaternion
    check_grads(call, state, order=order, modes=["fwd", "rev"], rtol=1e-4, atol=1e-4)
    slopes = jax.jit(jax.jacrev(call, argnums=(0, 2)))(*state)
    for name, slope in zip(("q", "tau"), slopes, strict=True):
        expected = function.jacobian(name, raw=True)(*state)
        np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
    over_states = jax.vmap(jax.grad(lambda v: call(q[0, 0], v, tau).sum()))
    expected = function.jacobian("v")(q[0, 0], v, tau).sum(-2)
    np.testing.assert_allclose(over_states(v), expected, rtol=1e-8, atol=1e-9)


def test_single_precision(function):
    function, arrays = function
    single = [np.float32(x) for x in arrays]
    result = operation(function)(*single)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, function(*single), rtol=1e-4)
    with jax.enable_x64(False):
        assert operation(function)(*arrays).dtype == np.float32
    assert operation(function)(*single[:2], arrays[2]).dtype == np.float64


def test_parameters_and_several_outputs():
    robot = rd.load("pan_tilt")
    call = operation(robot.function("inverse_dynamics", parameters=True))
    state = [jnp.full(2, 0.1 * k) for k in range(1, 4)]
    torques = jax.jacobian(call, argnums=3)(*state, robot.inertial_parameters)
    expected = robot.regressor(*state)
    np.testing.assert_allclose(torques, expected, rtol=1e-9, atol=1e-12)
    both = operation(robot.function("hybrid_dynamics", controlled=("tilt",)))
    a, tau = both(*state[:2], jnp.ones(1), jnp.ones(1))
    expected = robot.function("hybrid_dynamics", controlled=("tilt",))(*state[:2], [1.0], [1.0])
    np.testing.assert_allclose(np.hstack([a, tau]), np.hstack(expected), rtol=1e-12)


def test_steps_within_a_scan():
    """The slope of where a motion ends, by the speeds that it begins with."""
    robot = rd.load("double_pendulum")
    step = operation(rd.step_function(robot, step=0.01))
    q0, v0 = jnp.array([0.3, -0.2]), jnp.array([0.1, 0.4])

    def end(v):
        state, _ = jax.lax.scan(lambda x, _: (step(0.0, *x), None), (q0, v), length=20)
        return state[0]

    check_grads(jax.jit(end), (v0,), order=1, modes=["rev"], rtol=1e-5)


def test_wrong_arguments():
    call = operation(rd.load("pan_tilt").function("mass_matrix"))
    with pytest.raises(rd.ShapeError, match="q has shape"):
        call(jnp.zeros(3))
    with pytest.raises(rd.ShapeError, match=r"0 arrays given, expected 1"):
        call()
    with pytest.raises(rd.ShapeError, match="complex"):
        call(jnp.zeros(2, complex))
    with pytest.raises(rd.ShapeError, match="function"):
        operation(lambda q: q)


def test_arrays_in_calls_of_robots():
    robot = rd.load("pan_tilt")
    expected = robot.mass_matrix([0.1, 0.2])
    np.testing.assert_allclose(robot.mass_matrix(jnp.array([0.1, 0.2])), expected, rtol=1e-12)
    assert robot.mass_matrix(jnp.zeros(2, np.float32)).dtype == np.float32
    with pytest.raises(rd.ShapeError, match=r"(?s)q is not .*robodyn\.interop\.jax\.operation"):
        jax.jit(robot.function("mass_matrix"))(jnp.zeros(2))
    q = jnp.zeros((100, 2))
    assert numbers("q", q).ctypes.data == q.unsafe_buffer_pointer()


def test_the_page():
    """The code for JAX on the page of this."""
    (code,) = re.findall(r"```python\n([^`]*robodyn\.interop\.jax[^`]*)```", PAGE.read_text())
    exec(code, {})
