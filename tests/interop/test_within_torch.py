"""Functions of robots as operations of PyTorch."""

import re
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import robodyn as rd  # noqa: E402
from robodyn.arrays import numbers  # noqa: E402
from robodyn.interop.torch import operation  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs/guides/code/interop.md"


@pytest.fixture(scope="module", params=["scara", "four_bar", "satellite"])
def function(request):
    """Of a tree, a closed linkage, and a body with a quaternion."""
    robot = rd.load(request.param)
    function = robot.function("forward_dynamics")
    rng = np.random.default_rng(2)
    q = robot.start() + 0.01 * rng.normal(size=(2, 1, robot.nq))
    v, tau = rng.normal(size=(3, robot.nv)), rng.normal(size=robot.nv)
    return function, tuple(torch.tensor(x) for x in (q, v, tau))


def test_the_same_numbers(function):
    function, tensors = function
    expected = function(*(x.numpy() for x in tensors))
    np.testing.assert_allclose(operation(function)(*tensors), expected, rtol=1e-12)


def test_batches(function):
    function, (q, v, tau) = function
    expected, call = function(q.numpy(), v.numpy(), tau.numpy()), operation(function)
    over_all = torch.func.vmap(torch.func.vmap(call, (None, 0, None)), (0, None, None))
    np.testing.assert_allclose(over_all(q[:, 0], v, tau), expected, rtol=1e-12)
    over_speeds = torch.func.vmap(lambda v: call(q[:, 0], v, tau), out_dims=1)
    np.testing.assert_allclose(over_speeds(v), expected, rtol=1e-12)
    assert call(q[:0], v, tau).shape == (0, 3, len(tau))


def test_derivatives(function):
    function, tensors = function
    call = operation(function)
    given = [x.clone().requires_grad_() for x in tensors]
    assert torch.autograd.gradcheck(call, given, check_forward_ad=True)
    if given[0].shape[-1] > given[1].shape[-1]:  # the least to compile has a quaternion
        assert torch.autograd.gradgradcheck(call, given)
    state = [x.reshape(-1, x.shape[-1])[0] for x in tensors]
    for how in (torch.func.jacrev, torch.func.jacfwd):
        slope = how(call, argnums=2)(*state)
        expected = function.jacobian("tau")(*(x.numpy() for x in state))
        np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-12)


def test_single_precision(function):
    function, tensors = function
    single = [x.float().requires_grad_() for x in tensors]
    result = operation(function)(*single)
    result.sum().backward()
    assert result.dtype == single[0].grad.dtype == torch.float32
    assert operation(function)(*single[:2], tensors[2]).dtype == torch.float64


def test_memory_is_read_where_it_stands(monkeypatch):
    function = rd.load("pan_tilt").function("mass_matrix")
    seen, call = [], operation(function)
    monkeypatch.setattr(torch, "from_numpy", lambda x, f=torch.from_numpy: seen.append(x) or f(x))
    result = call(torch.zeros(5, 2, dtype=torch.float64))
    assert result.numpy().ctypes.data == seen[0].ctypes.data


def test_parameters():
    robot = rd.load("pan_tilt")
    call = operation(robot.function("inverse_dynamics", parameters=True))
    state = [torch.full((2,), 0.1 * k, dtype=torch.float64) for k in range(1, 4)]
    parameters = torch.tensor(robot.inertial_parameters)
    slope = torch.func.jacrev(call, argnums=3)(*state, parameters)
    expected = robot.regressor(*(x.numpy() for x in state))
    np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-12)


def test_wrong_arguments():
    call = operation(rd.load("pan_tilt").function("mass_matrix"))
    with pytest.raises(rd.ShapeError, match="q has shape"):
        call(torch.zeros(3))
    with pytest.raises(rd.ShapeError, match=r"0 arrays given, expected 1"):
        call()
    with pytest.raises(rd.ShapeError, match="complex"):
        call(torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(rd.ShapeError, match=r"q is on the device meta.*q\.cpu\(\)"):
        call(torch.zeros(2, device="meta"))
    with pytest.raises(rd.ShapeError, match="function"):
        operation(lambda q: q)


def test_tensors_in_calls_of_robots():
    robot = rd.load("pan_tilt")
    q = torch.tensor([0.1, 0.2], dtype=torch.float64)
    np.testing.assert_allclose(robot.mass_matrix(q), robot.mass_matrix([0.1, 0.2]), rtol=1e-12)
    assert robot.mass_matrix(q.float()).dtype == np.float32
    assert numbers("q", q).ctypes.data == q.data_ptr()
    with pytest.raises(rd.ShapeError, match=r"(?s)q is not .*robodyn\.interop\.torch\.operation"):
        robot.mass_matrix(q.requires_grad_())


def test_the_page():
    """The code for PyTorch on the page of this."""
    (code,) = re.findall(r"```python\n([^`]*robodyn\.interop\.torch[^`]*)```", PAGE.read_text())
    exec(code, {})
