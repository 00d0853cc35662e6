"""The fast way into machine code: the same results, errors and objects as the ordinary way."""

import functools
import itertools
import pickle
import sys
import weakref
from types import MethodType

import numpy as np
import pytest
from support.processes import python

import robodyn as rd
from robodyn.codegen import Function, MethodTable, method_table as methods_module
from robodyn.codegen.function import _vectorcall_type
from robodyn.codegen.vectorcall.table import COMMON, MAX_PORTS
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs, sqrt

needs_entry = pytest.mark.skipif(_vectorcall_type() is None, reason="this Python has no fast entry")


@pytest.fixture(scope="module")
def f():
    return rd.load("arm7").function("inverse_dynamics")


@pytest.fixture(scope="module")
def energy():
    return rd.load("arm7").function("kinetic_energy")


def ordinary(f, *args, **kwargs):
    return Function.__call__(f, *args, **kwargs)


@pytest.fixture
def past_the_caches():
    """Every result that is given is stored as if it were larger than all caches."""
    types = _vectorcall_type(), methods_module._vectorcall_type()
    tables, place = [x._common for x in types], COMMON.index("caches")
    before = [table[place] for table in tables]
    for table in tables:
        table[place] = 0
    yield
    for table, size in zip(tables, before, strict=True):
        table[place] = size


def state(*shape, dtype=float, seed=0):
    return np.random.default_rng(seed).normal(size=(3, *shape, 7)).astype(dtype)


def test_cpython_on_a_common_machine_has_the_entry():
    if sys.implementation.name == "cpython" and sys.platform in ("linux", "darwin"):
        if getattr(sys, "_is_gil_enabled", lambda: True)():
            assert _vectorcall_type() is not None


@pytest.mark.slow
def test_the_entry_is_made_while_an_exception_is_handled():
    """As where a robot is loaded because another one could not be."""
    code = (
        "from robodyn.codegen.function import _vectorcall_type\n"
        "try: raise ValueError\n"
        "except ValueError: print(_vectorcall_type() is not None)"
    )
    done = python("-c", code)
    assert done.stdout.strip() == str(_vectorcall_type() is not None)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (8,), (33,), (2, 5), (0,), (3, 0)])
def test_both_ways_agree(f, dtype, shape):
    x = state(*shape, dtype=dtype)
    want = ordinary(f, *x)
    for got in (f(*x), f(*x, None), f(*x, out=None)):
        assert type(got) is np.ndarray and got.dtype == dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    out = np.zeros_like(want)
    assert f(*x, out) is out and np.array_equal(out, want)
    out[...] = 0
    assert f(*x, out=out) is out and np.array_equal(out, want)


@needs_entry
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 15, 16, 17, 64, 129, 300])
def test_results_past_the_caches_are_the_same_wherever_they_begin(rows, dtype, past_the_caches):
    """And nothing beside them is written, on one thread or two."""
    f, x = roots(3, 201, beside=5), 1.0 + np.arange(3.0 * rows, dtype=dtype).reshape(rows, 3)
    expected, before = f(x), rd.get_num_threads()  # new arrays are stored the ordinary way
    for begin, count in itertools.product((0, 1, 3, 8), (1, 2)):
        sizes = [x.size for x in expected]
        room = [np.full(begin + size + 9, 77.0, dtype) for size in sizes]
        out = tuple(
            y[begin : begin + size].reshape(there.shape)
            for y, size, there in zip(room, sizes, expected, strict=True)
        )
        rd.set_num_threads(count)
        try:
            assert f(x, out=out) is out
        finally:
            rd.set_num_threads(before)
        for y, size, there in zip(room, sizes, expected, strict=True):
            np.testing.assert_array_equal(y[begin : begin + size], there.ravel())
            assert (y[:begin] == 77.0).all() and (y[begin + size :] == 77.0).all()


def test_scalars_come_back_as_numbers(energy):
    q, v, _ = state()
    assert type(energy(q, v)) is type(ordinary(energy, q, v)) is np.float64
    assert energy(q, v) == ordinary(energy, q, v)
    out = np.zeros(())
    assert energy(q, v, out) is out and out == energy(q, v)


def test_what_is_written_may_be_what_is_read(f):
    q, v, a = state(5)
    want = f(q, v, a)
    assert f(q, v, a, out=a) is a
    np.testing.assert_array_equal(a, want)
    block = np.random.default_rng(3).normal(size=(6, 7))
    q, v = block[:5].copy(), block[:5]
    want = f(q, v, v)
    f(q, v, v, out=block[1:])  # half a row later
    np.testing.assert_array_equal(block[1:], want)


def test_a_function_may_have_more_arrays_than_the_entry_takes():
    graph, count = Graph(), MAX_PORTS + 2
    x = inputs(graph, 0, count)
    ports = tuple(Port(f"x{k}", ()) for k in range(count))
    total = Function(Program("total", ports, (Port("y", ()),), graph, (edge_of(graph, sum(x)),)))
    again = pickle.loads(pickle.dumps(total))
    assert total(*range(count)) == again(*range(count)) == sum(range(count))
    assert total(*np.ones((count, 3))).tolist() == [count] * 3


def test_methods_take_the_short_cut_and_nothing_else_changes():
    robot = rd.load("arm7")
    q, v, a = state()
    first = robot.inverse_dynamics(q, v, a)
    method = robot.inverse_dynamics
    np.testing.assert_array_equal(method(q, v, a), first)
    out = np.zeros(7)
    assert method(q, v, a, out=out) is out
    np.testing.assert_array_equal(out, first)
    np.testing.assert_array_equal(method(q.tolist(), v, a=a), first)
    with pytest.raises(TypeError):
        method(q, v, a, out)  # by keyword only
    with pytest.raises(rd.ShapeError):
        method(q[:3], v, a)
    link = robot.link_names[-1]
    pushed = method(q, v, a, wrenches={link: np.ones(6)})
    assert not np.allclose(pushed, first)
    np.testing.assert_allclose(method(state(9)[0], v, a)[0], method(state(9)[0][0], v, a))
    assert method.__doc__ == rd.Robot.inverse_dynamics.__doc__
    again = pickle.loads(pickle.dumps(method))
    np.testing.assert_array_equal(again(q, v, a), first)


def test_an_overridden_method_stays():
    """Also one that is described as the one it wraps."""

    class Doubled(rd.Robot):
        @functools.wraps(rd.Robot.mass_matrix)
        def mass_matrix(self, q, *, out=None):
            return 2.0 * super().mass_matrix(q)

        gravity_forces = rd.Robot.bias_forces

        def coriolis_matrix(self, q, v, *, out=None):
            return 2.0 * super().coriolis_matrix(q, v)

    plain = rd.load("arm7")
    doubled = Doubled(plain.mechanism, plain.model.settings)
    q = np.ones(7)
    plain.gravity_forces(q)
    doubled.function("gravity_forces")
    doubled.potential_energy(q)
    for _ in range(3):
        for name, given in (("mass_matrix", [q]), ("coriolis_matrix", [q, q])):
            once, twice = (getattr(robot, name)(*given) for robot in (plain, doubled))
            np.testing.assert_allclose(twice, 2 * once)
        np.testing.assert_allclose(doubled.gravity_forces(q, q), plain.bias_forces(q, q))


def test_a_method_is_never_changed():
    robot = rd.load("arm7")
    expected = robot.mass_matrix(np.ones(7))
    method = robot.mass_matrix
    for name in list(vars(method)):
        with pytest.raises(AttributeError, match="never changed"):
            setattr(method, name, None)
        with pytest.raises(AttributeError, match="never changed"):
            delattr(method, name)
    np.testing.assert_array_equal(method(q=np.ones(7)), expected)
    assert method.__self__ is robot


@needs_entry
def test_arrays_are_given_out_again_only_when_nobody_holds_them():
    f = rd.load("arm7").function("mass_matrix")
    q = state(6)[0]
    want = [f(x, np.empty((7, 7))) for x in q]
    kept = [f(x) for x in q]  # all alive: none is another
    assert len({x.ctypes.data for x in kept}) == 6
    for got, expected in zip(kept, want, strict=True):
        np.testing.assert_array_equal(got, expected)
    del got, kept
    view = f(q[0])[2:, 1]
    column, known = view.copy(), memoryview(f(q[1]))
    for x in q:
        f(x)
    np.testing.assert_array_equal(view, column)
    np.testing.assert_array_equal(np.asarray(known), want[1])


@needs_entry
@pytest.mark.parametrize("harm", ["fix", "reshape", "retype", "watch"])
def test_arrays_that_were_changed_are_not_given_out_again(harm):
    f = rd.load("arm7").function("mass_matrix")
    q = state()[0]
    f(q)
    changed, more = f(q), f(q)
    watching = []
    for x in (changed, more):
        if harm == "fix":
            x.flags.writeable = False
        elif harm == "reshape":
            x.shape = (49, 1)
        elif harm == "retype":
            x.dtype = np.int64
        else:
            watching.append(weakref.ref(x))
    addresses = {x.ctypes.data for x in (changed, more)}
    del x, changed, more
    new = f(q)
    assert new.ctypes.data not in addresses
    assert new.shape == (7, 7) and new.dtype == float and new.flags.writeable
    single = f(q.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(new, f(q, np.empty((7, 7))))


def roots(size=3, times=1, beside=0):
    """A function that is not a number for negative ones; its results may be repeated.

    ``beside``: how often it gives them a second time, as another result.
    """
    graph = Graph()
    edges = tuple(edge_of(graph, sqrt(x)) for x in inputs(graph, 0, size))
    outputs = [Port(f"y{k}", (n * size,)) for k, n in enumerate((times, beside)) if n]
    ports = (Port("x", (size,)),), tuple(outputs)
    return Function(Program("roots", *ports, graph, edges * (times + beside)))


def guarded(f, x, answer=lambda x: None, **options):
    """A method that goes to a function once it has answered, and what it is asked from then on."""

    def roots(self, x, *, out=None):
        if not known:
            methods.answered("roots", f, (x,), **options)
            known.append(True)
        asked.append(x)
        return answer(x)

    methods, known, asked = MethodTable(), [], []
    method = methods.add("roots", MethodType(roots, object()), ["x"])
    f(x)  # compiles it for this dtype and number of rows
    method(x)
    asked.clear()
    return method, asked


@needs_entry
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 11, 100, 128, 300])
@pytest.mark.parametrize("bad", [-1.0, np.inf])
def test_a_guarded_method_is_asked_wherever_a_number_is_missing(rows, dtype, bad):
    x = np.full((rows, 3), 4.0, dtype)
    method, asked = guarded(roots(), x, np.zeros_like)
    np.testing.assert_array_equal(method(x), np.full_like(x, 2.0))
    assert not asked
    for k in range(x.size):
        x.flat[k] = bad
        np.testing.assert_array_equal(method(x), np.zeros_like(x))
        assert len(asked) == k + 1
        x.flat[k] = 4.0


@needs_entry
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [2, 17])
def test_a_guarded_method_is_asked_for_what_goes_past_the_caches(rows, dtype, past_the_caches):
    """Wherever the number stands, also in the first and last line of the cache."""
    size = 257
    x = np.full((rows, size), 4.0, dtype)
    out = np.empty(rows * size + 1, dtype)[1:].reshape(rows, size)
    method, asked = guarded(roots(size), x)
    assert method(x, out=out) is out and (out == 2.0).all() and not asked
    for k in range(x.size):
        x.flat[k] = -1.0
        assert method(x, out=out) is None
        assert len(asked) == k + 1
        x.flat[k] = 4.0


@needs_entry
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("times", [1, 2])
def test_states_of_all_sizes_are_looked_at(dtype, bad, times):
    """Results; or arguments, if there are fewer and the results are finite where they are."""
    for size in range(1, 20):
        x = np.full(size, 4.0, dtype)
        method, asked = guarded(roots(size, times), x, finite=True)
        np.testing.assert_array_equal(method(x), np.full(times * size, 2.0))
        for k in range(size):
            x[k] = bad
            assert method(x) is None and len(asked) == 1
            asked.clear()
            x[k] = 4.0
        x[:] = np.finfo(dtype).max
        assert np.isfinite(method(x)).all() and not asked
