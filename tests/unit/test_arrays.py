"""Whatever is given where an array of numbers belongs is taken or refused by one rule."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.arrays import all_finite, checked, number, numbers, shaped, vector
from robodyn.controllers import PointToPoint
from robodyn.description import Pose

ROBOT = rd.load("arm7")
N = ROBOT.nq
ZERO = np.zeros(N)

NO_NUMBERS = {
    "complex": (ZERO + 1j, "complex numbers"),
    "text": (["1.5"] * N, "text"),
    "bytes": ([b"1"] * N, "text"),
    "objects": (np.array([None] * N), "objects"),
    "none": (None, "objects"),
    "ragged": ([[0.0], [0.0, 1.0]], "inhomogeneous"),
    "masked": (np.ma.masked_greater(np.arange(float(N)), 2.0), "masked"),
    "mapping": ({"joint": 1.0}, "objects"),
}

TAKERS = {
    "inverse_dynamics": lambda x: ROBOT.inverse_dynamics(x, ZERO, ZERO),
    "function": lambda x: ROBOT.function("inverse_dynamics")(ZERO, x, ZERO),
    "difference": lambda x: ROBOT.difference(ZERO, x),
    "hybrid_dynamics": lambda x: ROBOT.hybrid_dynamics(ZERO, ZERO, controlled={}, tau=x),
    "simulate": lambda x: rd.simulate(ROBOT, q0=x, duration=0.0),
    "BaseMotion": lambda x: rd.BaseMotion(np.eye(4), x, np.zeros(6)),
    "from_world": lambda x: rd.BaseMotion.from_world(x),
    "from_matrix": lambda x: rd.Inertia.from_matrix(1.0, (0, 0, 0), x),
    "PointToPoint": lambda x: PointToPoint(x, ZERO, 1.0),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("given", NO_NUMBERS)
def test_no_numbers_are_refused_by_our_error(taker, given):
    if (taker, given) in {("simulate", "none"), ("hybrid_dynamics", "none")}:
        return  # none given
    if (taker, given) == ("hybrid_dynamics", "mapping"):
        return  # forces by name
    value, words = NO_NUMBERS[given]
    with pytest.raises(rd.ShapeError, match=f"is not an array of real numbers: .*{words}"):
        TAKERS[taker](value)


@pytest.mark.parametrize("size", [1, 7, 64, 65, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite_is_what_numpy_says(size, dtype):
    x = np.full((1, size), np.finfo(dtype).max, dtype)  # no sum of them is finite
    assert all_finite(x)
    x[0, 0] *= -1.0
    assert all_finite(x)
    for bad in (np.nan, np.inf, -np.inf):
        for k in (0, size // 2, size - 1):
            y = np.zeros((size, 1), dtype)
            y[k] = bad
            assert not all_finite(y)
            y[-1 - k] = -bad
            assert not all_finite(y)


@pytest.mark.parametrize("dtype", [">f8", "<f8", ">f4", np.longdouble])
def test_numbers_of_any_byte_order_are_doubles(dtype):
    x = shaped("x", np.array([1.0, 2.0]).astype(dtype), 2)
    assert x.dtype is np.dtype(float)
    np.testing.assert_array_equal(x, [1.0, 2.0])


@pytest.mark.parametrize(
    "value", [[1, 2], (1.0, 2.0), np.array([1, 2], np.int8), np.ma.array([1.0, 2.0]), [True, 2]]
)
def test_numbers_of_all_sorts_become_doubles(value):
    x = numbers("x", value)
    assert x.dtype == np.float64 and type(x) is np.ndarray
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_single_precision_stays():
    assert numbers("x", np.float32([1.0])).dtype == np.float32
    assert shaped("x", np.float32([1.0]), 1).dtype == np.float64


def test_last_axes():
    assert shaped("x", np.zeros((4, 2, 3)), None, 3).shape == (4, 2, 3)
    for value, tail in ((1.0, (1,)), (np.zeros((2, 3)), (2,)), (np.zeros(3), (None, 3))):
        with pytest.raises(rd.ShapeError, match="x has shape") as error:
            shaped("x", value, *tail)
        assert (error.value.name, error.value.expected) == ("x", tail)
    with pytest.raises(rd.ShapeError, match=r"expected \(\.\.\., 2\) for 'arm'"):
        shaped("x", [1.0], 2, of="arm")


def test_where_a_number_is_missing():
    x = np.zeros((3, 2))
    x[1, 1] = np.nan
    with pytest.raises(rd.ShapeError, match=r"not finite: x\[1\] is nan in state \[1\]"):
        checked("x", x, 2)
    with pytest.raises(rd.ShapeError, match="x is inf"):
        checked("x", np.inf)


@pytest.mark.parametrize("value", ["1.5", None, [1.0, 2.0], 1j, {}])
def test_what_is_no_number(value):
    with pytest.raises(rd.ShapeError, match=r"m is .*, expected a number \[kg\]"):
        number("m", value, "kg")


@pytest.mark.parametrize("value", ["123", [1.0, 2.0], 3.0, None, {1.0: 1, 2.0: 2, 3.0: 3}])
def test_what_is_no_vector(value):
    with pytest.raises(rd.ShapeError, match=r"x is .*, expected three numbers"):
        vector("x", value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Pose("abc"), "xyz is 'abc'"),
        (lambda: Pose((0, 0, 0), (0, 0)), r"rpy is \(0, 0\)"),
        (lambda: Pose((0, 0, "z")), r"xyz\[2\] is 'z'"),
        (lambda: Pose.from_matrix(np.eye(3)), r"X has shape \(3, 3\)"),
        (lambda: rd.Limits("low", 1.0), "lower is 'low'"),
        (lambda: rd.Limits(0.0, None), "upper is None"),
        (lambda: rd.Actuator("fast"), "gear_ratio is 'fast'"),
        (lambda: rd.Actuator(torque_limit=[1.0, 2.0]), "torque_limit is"),
        (lambda: rd.Actuator(axis=(1.0, 0.0)), "axis is"),
        (lambda: rd.Inertia("1"), "mass is '1'"),
    ],
)
def test_parts_of_descriptions_are_checked_when_made(make, words):
    with pytest.raises(rd.ShapeError, match=words):
        make()


def test_parts_of_descriptions_take_lists_and_arrays():
    pose = Pose(np.array([1, 2, 3]), [0, 0, 1])
    assert pose == Pose((1.0, 2.0, 3.0), (0.0, 0.0, 1.0)) and hash(pose)
    assert rd.Limits(np.float32(-1), 1) == rd.Limits(-1.0, 1.0)
    assert rd.Actuator(100, axis=[0, 0, 1]) == rd.Actuator(100.0, axis=(0.0, 0.0, 1.0))


X = np.eye(4)
NO_POSES = {
    "stretched": np.diag([2.0, 1.0, 1.0, 1.0]),
    "sheared": X + 0.01 * np.eye(4, k=1) * [[1], [1], [0], [0]],
    "mirrored": np.diag([1.0, 1.0, -1.0, 1.0]),
    "zero": np.zeros((4, 4)),
    "transposed": X + np.outer([0, 0, 0, 1], [1.0, 2.0, 3.0, 0.0]),
    "scaled": np.diag([1.0, 1.0, 1.0, 2.0]),
    "missing": np.where(X == 1.0, np.nan, X),
    "far": np.where(np.eye(4, k=3) == 1.0, np.inf, X),
}


@pytest.mark.parametrize("name", NO_POSES)
def test_poses_of_no_rigid_body(name):
    wrong = NO_POSES[name]
    for pose in (wrong, np.array([X, wrong, X])):
        with pytest.raises(rd.ShapeError, match="pose is that of no rigid body") as error:
            rd.BaseMotion(pose, np.zeros(6), np.zeros(6))
        assert error.value.name == "pose"


def test_poses_in_single_precision():
    turned = rd.BaseMotion.from_world(quat_xyzw=np.random.default_rng(1).normal(size=(50, 4))).pose
    base = rd.BaseMotion(turned.astype(np.float32), np.zeros(6), np.zeros(6))
    np.testing.assert_array_equal(base.pose, turned.astype(np.float32))


@pytest.mark.parametrize("name", ["twist", "acceleration"])
def test_motions_of_the_base_are_finite(name):
    given = {"pose": X, "twist": np.zeros(6), "acceleration": np.zeros(6)}
    given[name] = [0, 0, 0, np.nan, 0, 0]
    with pytest.raises(rd.ShapeError, match=rf"{name}\[3\] is nan"):
        rd.BaseMotion(**given)


def test_names_with_values_are_no_names(double):
    """The values would not be used."""
    for ask in (
        lambda: double.latch([0.1, 0.2], [0.0, 1.0], {"elbow": 0.5}),
        lambda: double.hybrid_dynamics([0.1, 0.2], [0.0, 1.0], locked={"elbow": 0.5}),
        lambda: double.impact(
            [0.1, 0.2], [0.0, 1.0], "lower", (0, 0, 0), None, controlled={"elbow": 0.5}
        ),
    ):
        with pytest.raises(
            rd.ShapeError, match=r"gives values by name.* expected names of joints alone"
        ):
            ask()


class _Elsewhere:
    """An array of a library that shares memory by DLPack, and by that alone."""

    def __init__(self, array, device):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.device, 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_of_other_libraries_is_read_where_it_stands(dtype):
    array = np.full((5, N), 0.1, dtype)
    taken = numbers("q", _Elsewhere(array, 1))
    assert taken.dtype == dtype and np.shares_memory(taken, array)
    matrices = ROBOT.mass_matrix(_Elsewhere(array, 1))
    assert matrices.dtype == dtype
    np.testing.assert_allclose(matrices, ROBOT.mass_matrix(array), rtol=1e-6)


def test_memory_of_other_devices_is_refused():
    on_a_card = _Elsewhere(ZERO, 2)
    for call in (ROBOT.mass_matrix, ROBOT.function("mass_matrix")):
        with pytest.raises(
            rd.ShapeError, match=r"q .* memory of another device: copy it to the CPU"
        ):
            call(on_a_card)
