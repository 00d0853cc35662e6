"""Every form of a call gives what the plain one gives, and goes straight to machine code."""

import inspect
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.chains import chain
from support.examples import examples
from support.references import references_kept

import robodyn as rd
from robodyn.codegen import Function
from robodyn.codegen.vectorcall import signature as signatures
from robodyn.controllers import ComputedTorque, SineReference

RNG = np.random.default_rng(11)
Q, V, A = RNG.normal(size=(3, 7))
PUSH, PULL = RNG.normal(size=(2, 6))


@pytest.fixture
def robot():
    return rd.load("arm7")


@pytest.fixture
def moving():
    return rd.load("arm7", base="moving")


def motion(seed=0):
    rng = np.random.default_rng(seed)
    X = np.eye(4)
    X[:3, 3] = rng.normal(size=3)
    return rd.BaseMotion(X, rng.normal(size=6), rng.normal(size=6))


def reversed_twice(x):
    """The same numbers in an array that goes backwards in memory."""
    return x[::-1].copy()[::-1]


def column(x):
    return np.stack([x, x + 1.0], axis=1)[:, 0]


FORMS = {
    "by keyword": lambda r, tip: r.inverse_dynamics(q=Q, v=V, a=A),
    "in another order": lambda r, tip: r.inverse_dynamics(a=A, q=Q, v=V),
    "some by keyword": lambda r, tip: r.inverse_dynamics(Q, a=A, v=V),
    "defaults": lambda r, tip: r.inverse_dynamics(
        Q, V, A, wrenches=None, base=None, actuated=None, out=None
    ),
    "no wrenches": lambda r, tip: r.inverse_dynamics(Q, V, A, wrenches={}),
    "zero wrench": lambda r, tip: r.inverse_dynamics(Q, V, A, wrenches={tip: np.zeros(6)}),
    "into an array": lambda r, tip: r.inverse_dynamics(Q, V, A, out=np.empty(7)),
    "all by keyword": lambda r, tip: r.inverse_dynamics(q=Q, v=V, a=A, base=None, out=np.empty(7)),
    "lists": lambda r, tip: r.inverse_dynamics(Q.tolist(), V, A.tolist()),
    "tuples": lambda r, tip: r.inverse_dynamics(tuple(Q), V, tuple(A.tolist())),
    "backwards": lambda r, tip: r.inverse_dynamics(reversed_twice(Q), V, A),
    "a column": lambda r, tip: r.inverse_dynamics(Q, column(V), A),
    "long floats": lambda r, tip: r.inverse_dynamics(Q.astype(np.longdouble), V, A),
    "other byte order": lambda r, tip: r.inverse_dynamics(Q, V, A.astype(">f8")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_same(robot, form):
    expected = robot.function("inverse_dynamics")(Q, V, A, np.empty(7))
    for _ in range(3):
        np.testing.assert_allclose(
            FORMS[form](robot, robot.link_names[-1]), expected, rtol=1e-12, atol=1e-13
        )


def test_wrenches_by_link(robot):
    one, two = robot.link_names[-1], robot.link_names[3]
    for wrenches in ({one: PUSH}, {two: PUSH}, {one: PUSH, two: PULL}, {two: PULL, one: PUSH}):
        f = robot.function("inverse_dynamics", wrenches=tuple(wrenches))
        expected = f(Q, V, A, *wrenches.values())
        for _ in range(2):
            np.testing.assert_array_equal(
                robot.inverse_dynamics(Q, V, A, wrenches=wrenches), expected
            )
            as_lists = {link: list(F) for link, F in wrenches.items()}
            np.testing.assert_array_equal(
                robot.inverse_dynamics(Q, V, a=A.tolist(), wrenches=as_lists), expected
            )
    many = robot.inverse_dynamics(np.tile(Q, (5, 1)), V, A, wrenches={one: np.tile(PUSH, (5, 1))})
    pushed = robot.inverse_dynamics(Q, V, A, wrenches={one: PUSH})
    np.testing.assert_allclose(many, np.tile(pushed, (5, 1)), rtol=1e-12, atol=1e-12)
    with pytest.raises(rd.UnknownNameError):
        robot.inverse_dynamics(Q, V, A, wrenches={"no_such_link": PUSH})
    with pytest.raises(rd.ShapeError):
        robot.inverse_dynamics(Q, V, A, wrenches={one: PUSH[:5]})
    with pytest.raises(rd.ShapeError, match="a name in wrenches is 3"):
        robot.inverse_dynamics(Q, V, A, wrenches={3: PUSH})


def test_more_wrenches_than_the_entry_takes():
    robot = chain(signatures.MAX_LINKS + 1)
    names = robot.link_names[: signatures.MAX_LINKS + 1]
    assert len(names) > signatures.MAX_LINKS
    wrenches = {name: RNG.normal(size=6) for name in names}
    state = RNG.normal(size=(3, robot.nv))
    f = robot.function("inverse_dynamics", wrenches=names)
    for _ in range(2):
        np.testing.assert_array_equal(
            robot.inverse_dynamics(*state, wrenches=wrenches), f(*state, *wrenches.values())
        )


def test_motion_of_the_base(moving):
    f = moving.function("inverse_dynamics")
    rest = rd.BaseMotion.at_rest()
    still = f(Q, V, A, rest.pose, rest.twist, rest.acceleration)
    for k in range(3):
        m = motion(k)
        expected = f(Q, V, A, m.pose, m.twist, m.acceleration)
        np.testing.assert_array_equal(moving.inverse_dynamics(Q, V, A, base=m), expected)
        np.testing.assert_array_equal(moving.inverse_dynamics(Q, V, a=A, base=m), expected)
        np.testing.assert_array_equal(moving.inverse_dynamics(Q, V, A), still)
        np.testing.assert_array_equal(moving.inverse_dynamics(Q, V, A, base=None), still)
    assert not np.allclose(expected, still)
    with pytest.raises(rd.ShapeError, match="BaseMotion"):
        moving.inverse_dynamics(Q, V, A, base=np.eye(4))


def test_a_base_that_does_not_move_takes_no_motion(robot):
    for _ in range(2):
        robot.inverse_dynamics(Q, V, A)
        with pytest.raises(rd.ShapeError, match="moving"):
            robot.inverse_dynamics(Q, V, A, base=motion())


def test_options_choose_the_function(robot):
    names = robot.frame_names
    for _ in range(2):
        for name in names:
            for axes in ("body", "world"):
                f = robot.function("frame_jacobian", frame=name, relative_to="world", axes=axes)
                np.testing.assert_array_equal(robot.frame_jacobian(Q, name, axes=axes), f(Q))
                other = "".join(list(name))  # the same text, another object
                np.testing.assert_array_equal(
                    robot.frame_jacobian(axes="".join(list(axes)), q=Q, frame=other), f(Q)
                )
    A_body = robot.frame_acceleration(Q, V, A, names[-1])
    A_point = robot.frame_acceleration(Q, V, A, names[-1], classical=True)
    for _ in range(2):
        assert not np.allclose(A_body, A_point)
        np.testing.assert_array_equal(
            robot.frame_acceleration(Q, V, A, names[-1], classical=False), A_body
        )
        with pytest.raises(rd.ShapeError, match="classical is 1, expected True or False"):
            robot.frame_acceleration(Q, V, A, names[-1], classical=1)
        A_body = robot.frame_acceleration(Q, V, A, names[-1])
        A_point = robot.frame_acceleration(Q, V, A, names[-1], classical=True)
    with pytest.raises(rd.UnknownNameError):
        robot.frame_pose(Q, "no_such_link")
    for wrong in (None, 3, ("a",)):
        with pytest.raises(rd.ShapeError, match=r"frame is .*, expected a name"):
            robot.frame_pose(Q, wrong)
    with pytest.raises(rd.UnknownNameError):
        robot.frame_jacobian(Q, names[0], axes="sideways")


WRONG = {
    "unknown": lambda f: f(Q, V, A, wrong=1),
    "given twice": lambda f: f(Q, V, A, q=Q),
    "missing": lambda f: f(Q, V),
    "missing by keyword": lambda f: f(Q, a=A),
    "too many": lambda f: f(Q, V, A, None),
    "none": lambda f: f(),
    "not positional": lambda f: f(Q, V, A, None, None, None, None, None, None),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls_raise_what_python_raises(robot, case):
    def inverse_dynamics(q, v, a, *, wrenches=None, base=None, actuated=None, out=None):
        """A function of Python with the same parameters."""

    with pytest.raises(TypeError) as expected:
        WRONG[case](inverse_dynamics)
    for _ in range(2):
        with pytest.raises(TypeError) as raised:
            WRONG[case](robot.inverse_dynamics)
        said = str(raised.value).replace("Robot.", "")
        text = str(expected.value)
        text = text.split("<locals>.")[-1]
        # a bound method counts itself among its arguments
        assert said.split(" takes ")[0] == text.split(" takes ")[0]
        robot.inverse_dynamics(Q, V, A)


def test_a_method_that_has_no_out_never_takes_one():
    robot = rd.load("double_pendulum")
    q, v, a = np.ones((3, 2))
    for ask in (robot.motor_torques, robot.joint_wrenches):
        ask(q, v, a)
        with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
            ask(q, v, a, out=np.zeros(2))


@pytest.mark.slow
@examples(150)
@given(data=st.data())
def test_rows_anywhere_in_memory(data):
    """Batches of rows that are some distance apart, in any order of axes, in any dtype."""
    f = rd.load("double_pendulum").function("inverse_dynamics")
    shape = data.draw(st.sampled_from([(), (1,), (2,), (3,), (8,), (11,), (3, 4), (2, 1), (1, 5)]))
    single = data.draw(st.booleans())

    def array(name):
        rng = np.random.default_rng(data.draw(st.integers(0, 99), label=name))
        kind = "f4" if single else data.draw(st.sampled_from(["f8", "f4", "i4", ">f8"]))
        x = rng.normal(size=(*shape, 2)).astype(kind)
        how = data.draw(
            st.sampled_from(
                ["plain", "wide", "sparse", "backwards", "mirrored", "turned", "one", "repeated"]
            )
        )
        if how == "wide":
            return np.concatenate([x, x, x], axis=-1)[..., 2:4]
        if how == "sparse" and shape:
            return np.repeat(x, 3, axis=0)[::3]
        if how == "backwards" and shape:
            return x[::-1]
        if how == "mirrored":
            return x[..., ::-1]
        if how == "turned":
            return np.asfortranarray(x)
        if how == "one":
            return x.reshape(-1, 2)[0] if x.size else x
        if how == "repeated" and shape:
            return np.broadcast_to(x[:1], x.shape)
        return x

    x = [array(name) for name in "qva"]
    expected = Function.__call__(f, *(np.ascontiguousarray(y) for y in x))
    got = f(*x)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)
    flags = x[2].flags
    fits = got.shape == x[2].shape and x[2].dtype == got.dtype
    if fits and flags.c_contiguous and flags.writeable:
        assert f(*x, out=x[2]) is x[2]  # it may be what is read
        np.testing.assert_array_equal(x[2], expected)


NUMBERS = [1, True, 2.5, np.float64(0.5), np.float32(0.25), np.int8(3), 1 << 62, 1 << 63, 1 << 70]
NO_NUMBERS = [None, "1.0", 1j, [1.0], b"1", object()]


@examples(150)
@given(data=st.data())
def test_lists_of_anything(data):
    """Lists give what numpy makes of them, and the same error where that is no real numbers."""
    f = rd.load("double_pendulum").function("inverse_dynamics")

    def items():
        odd = data.draw(st.booleans())
        kinds = st.sampled_from([*NUMBERS, *NO_NUMBERS] if odd else NUMBERS)
        row = st.lists(kinds, min_size=2, max_size=3 if odd else 2)
        rows = data.draw(st.one_of(row, st.lists(row, min_size=3, max_size=3)))
        return tuple(rows) if data.draw(st.booleans()) else rows

    x = [items(), items(), data.draw(st.sampled_from([np.zeros(2), np.zeros(2, "f4")]))]
    try:
        expected = Function.__call__(f, *x)
    except rd.ShapeError as error:
        with pytest.raises(rd.ShapeError) as raised:
            f(*x)
        assert str(raised.value) == str(error)
        return
    got = f(*x)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_lists_in_single_precision():
    """Are all inputs single precision, as arrays or in lists, so is the result."""
    f = rd.load("double_pendulum").function("inverse_dynamics")
    x = [np.float32(0.5), np.float32(2.0)]
    array = np.array(x)
    for double in (np.zeros(2), np.zeros((3, 2))):
        f(double, double, double)  # its code is there
    for case in ((x, x, x), (array, x, array), ([x] * 3, array, array)):
        got = f(*case)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, np.broadcast_to(f(array, array, array), got.shape))
    assert f(x, [0.5, 2.0], array).dtype == float


def test_overlap_with_rows_between_others(robot):
    """What is written lies between the rows that are read, or on them."""
    f = robot.function("inverse_dynamics")
    block, none = RNG.normal(size=(120, 7)), np.zeros((60, 7))
    for rows in (block[::2], block[::-2], block[1::2][::-1], block[:60], block[59::-1]):
        expected = f(rows.copy(), none, none)
        for first in (0, 20, 60):
            whole = block.copy()
            offset = rows.__array_interface__["data"][0] - block.__array_interface__["data"][0]
            view = np.ndarray(rows.shape, float, whole, offset, rows.strides)
            f(view, none, none, out=whole[first : first + 60])
            np.testing.assert_array_equal(whole[first : first + 60], expected)


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_a_vector_is_filled_in_part(dtype):
    """Fewer rows than a vector has lanes, with memory of others on both sides."""
    f = rd.load("arm7").function("mass_matrix")
    for rows in range(1, 20):
        q = RNG.normal(size=(rows, 7)).astype(dtype)
        around = np.full((rows + 2, 7, 7), 5.0, dtype)
        f(q, out=around[1:-1])
        assert (around[0] == 5.0).all() and (around[-1] == 5.0).all()
        each = np.array([f(x) for x in q])
        np.testing.assert_allclose(around[1:-1], each, rtol=1e-11 if dtype is float else 1e-3)


def test_references_are_given_back_in_all_forms(robot, moving):
    tip, base = robot.link_names[-1], motion()
    f, nested = robot.function("inverse_dynamics"), [Q.tolist(), V.tolist()]
    q_list, narrow, wrenches = Q.tolist(), Q.astype(np.float32), {tip: PUSH}
    wide = np.zeros((9, 14))[:, :7]
    counted = [Q, V, A, q_list, q_list[0], narrow, PUSH, tip, base, base.pose, None, np.float64]
    counted += [np.dtype(float), wide, "world"]

    def calls():
        for _ in range(300):
            robot.inverse_dynamics(q=q_list, v=V, a=A, wrenches=wrenches)
            robot.inverse_dynamics(narrow, column(V), reversed_twice(A))
            robot.frame_jacobian(Q, tip, axes="world")
            moving.inverse_dynamics(Q, V, A, base=base)
            moving.inverse_dynamics(q_list, V, A)
            robot.inverse_dynamics(wide, wide, wide.T.copy().T)
            f(nested, V, nested)
            for wrong in (Q[:3], "text", [None] * 7, [1, 2, 1 << 80, 4, 5, 6, 7]):
                with pytest.raises(rd.ShapeError):
                    robot.inverse_dynamics(wrong, narrow, A)

    assert (references_kept(calls, counted) < 50).all()


def test_threads_that_ask_for_different_options(robot):
    names = robot.frame_names
    expected = {
        name: robot.function("frame_pose", frame=name, relative_to="world")(Q) for name in names
    }
    fresh, wrong = rd.load("arm7"), []

    def work(first):
        for k in range(300):
            name = names[(first + k) % len(names)]
            if not np.array_equal(fresh.frame_pose(Q, name), expected[name]):
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def scalar_function():
    """A function of the time, of positions and of speeds."""
    robot = rd.load("double_pendulum")
    law = ComputedTorque(robot, SineReference([0.1, 0.2], [0.3, 0.1], [1.0, 2.0]))
    return rd.closed_loop(robot, law)


TIMES = (0.3, 2, -1, True, np.float64(0.3), np.float32(0.3), np.int64(2), np.array(0.3))


@pytest.mark.parametrize("t", TIMES, ids=lambda t: f"{type(t).__name__} {t}")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_number_for_an_input_that_is_one(t, dtype):
    f = scalar_function()
    q, v = np.array([0.4, 0.1], dtype), np.array([1.0, -2.0], dtype)
    as_array = np.asarray(t) if isinstance(t, np.float32) else np.asarray(t, np.float64)
    wanted = f(as_array, q, v)
    np.testing.assert_array_equal(f(t, q, v), wanted)
    many = f(t, np.tile(q, (5, 1)), np.tile(v, (5, 1)))
    np.testing.assert_array_equal(many, np.tile(wanted, (5, 1)))


def test_what_is_no_number_is_refused():
    f, q = scalar_function(), np.array([0.4, 0.1])
    for wrong in (None, "now", 1j, 10**400):
        with pytest.raises((rd.ShapeError, TypeError)):
            f(wrong, q, q)
    assert np.isnan(f(float("nan"), q, q)).all()


def test_a_function_has_its_inputs_as_its_signature(moving):
    f = moving.function("inverse_dynamics", wrenches=("link3",))
    names = ["q", "v", "a", "base_pose", "base_twist", "base_acceleration", "wrench_link3", "out"]
    assert [*inspect.signature(f).parameters] == names
    assert [*inspect.signature(Function).parameters] == ["source"]
