"""Methods that take numbers by joint, and return several arrays at once, called by machine code."""

import gc
import sys
import weakref

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd

ROBOTS = ("arm7", "four_bar", "palletizer", "bricard", "two_feet")


class Case:
    """A robot, a state, and a call with a controlled joint and a force at another one."""

    def __init__(self, name: str, **options: object) -> None:
        self.robot = rd.load(name, **options)
        rng = np.random.default_rng(3)
        self.q = self.robot.random(4)
        v = rng.uniform(-1.0, 1.0, self.robot.nv)
        self.v = self.robot.consistent_velocity(self.q, v)
        hinges = [n for n, j in self.robot.joints.items() if j.v.stop - j.v.start == 1]
        self.driven = next(n for n in self.robot.independent_joints if n in hinges)
        self.pushed = next(n for n in reversed(hinges) if n != self.driven)
        self.index = self.robot.joints[self.driven].v.start

    def arrays(self) -> dict[str, np.ndarray]:
        """The same roles as arrays over all speeds."""
        controlled, tau = np.full(self.robot.nv, np.nan), np.zeros(self.robot.nv)
        controlled[self.index] = 1.5
        tau[self.robot.joints[self.pushed].v.start] = 0.7
        return {"controlled": controlled, "tau": tau}

    def call(self, **other: object) -> rd.HybridDynamics:
        given = {"controlled": {self.driven: 1.5}, "tau": {self.pushed: 0.7}}
        return self.robot.hybrid_dynamics(self.q, self.v, **{**given, **other})


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    return Case(request.param)


def close(found, expected):
    for x, y in zip(found, expected, strict=True):
        scale = 1.0 + np.abs(y).max(initial=0.0)
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-10 * scale)


def test_by_joint_as_by_arrays(case):
    expected = case.call(**case.arrays())
    for _ in range(3):
        found = case.call()
        assert type(found) is rd.HybridDynamics
        close(found, expected)
    assert found.multipliers.shape == (case.robot.nc,)


def test_one_number_for_a_joint_of_several_axes_is_refused_however_often():
    r = rd.load(random_mechanism(np.random.default_rng(1), ["revolute", "spherical"]))
    hinge, ball = r.joint_names
    q, v = r.random(1), np.ones(r.nv)
    for tau in ([0.7, -0.2, 0.4], 0.7, [0.7, -0.2, 0.4], 0.7):
        given = {"controlled": {hinge: 1.5}, "tau": {ball: tau}}
        if tau == 0.7:
            with pytest.raises(rd.ShapeError, match=r"has shape \(\), expected \(..., 3\)"):
                r.hybrid_dynamics(q, v, **given)
        else:
            np.testing.assert_allclose(r.hybrid_dynamics(q, v, **given).tau[1:], tau, atol=1e-12)


def test_other_arrays_after_one_of_the_same_form(case):
    q, v, method = case.q, case.v, case.robot.hybrid_dynamics
    given, driven = case.arrays(), {case.driven: 1.5}
    a, tau = given["controlled"], given["tau"]
    rng = np.random.default_rng(2)
    for _ in range(2):
        other = rng.uniform(-1.0, 1.0, len(tau))
        other[case.index] = 0.0
        names = _by_joint(case.robot, other, case.index)
        found = method(q, v, controlled=2.0 * a, tau=other)
        close(found, method(q, v, controlled={case.driven: 3.0}, tau=names))
        close([found.tau[np.isnan(a)]], [other[np.isnan(a)]])
    free, forced, twice = tau.copy(), tau.copy(), a.copy()
    free[case.index - 1], forced[case.index] = np.nan, 1.0
    twice[case.index - 1] = 1.0
    for _ in range(2):
        with pytest.raises(rd.ShapeError, match="its tau is NaN"):
            method(q, v, controlled=driven, tau=free)
        with pytest.raises(rd.ActuationError, match="both controlled and given a torque"):
            method(q, v, controlled=driven, tau=forced)
        with pytest.raises(rd.ActuationError, match="both controlled and given a torque"):
            method(q, v, controlled=driven, tau=forced.tolist())
        for wrong in (tau[1:], np.append(tau, 0.0), np.where(tau, np.inf, 0.0), 0.0, "fast"):
            with pytest.raises(rd.ShapeError):
                method(q, v, controlled=driven, tau=wrong)
        with pytest.raises(rd.ShapeError, match="expected a name"):
            method(q, v, controlled=driven, tau=dict.fromkeys([True], 0.7))
        if not case.robot.nc:
            assert method(q, v, controlled=twice).a[case.index - 1] == 1.0


def test_wrenches_and_locked_joints(case):
    r, link = case.robot, case.robot.link_names[-1]
    push = np.arange(1.0, 7.0)
    for _ in range(2):
        found = case.call(wrenches={link: push})
        close(found, case.call(**case.arrays(), wrenches={link: push}))
    for _ in range(2):
        found = r.hybrid_dynamics(case.q, case.v, locked=(case.driven,))
        assert found.a[case.index] == 0.0
        close(found, r.hybrid_dynamics(case.q, case.v, controlled={case.driven: 0.0}))


def test_batches_of_arrays_over_all_speeds(case):
    method, k, n = case.robot.hybrid_dynamics, case.index, case.robot.nv
    Q, V = np.repeat(case.q[None], 3, 0), np.repeat(case.v[None], 3, 0)
    rng, values = np.random.default_rng(2), np.array([0.5, -1.0, 2.0])
    T = rng.uniform(-1.0, 1.0, (3, n))
    T[:, k] = 0.0
    A = np.full((3, n), np.nan)
    A[:, k] = values
    ones = [
        method(case.q, case.v, controlled={case.driven: x}, tau=_by_joint(case.robot, tau, k))
        for x, tau in zip(values, T, strict=True)
    ]
    expected = [np.stack(x) for x in zip(*ones, strict=True)]
    for _ in range(2):
        for controlled in (A, {case.driven: values}):
            for tau in (T, T[::-1][::-1], np.where(np.arange(n) == k, np.nan, T)):
                close(method(Q, V, controlled=controlled, tau=tau), expected)
        close(method(case.q, case.v, controlled=A, tau=T), expected)
        close([x[1] for x in method(Q, V, controlled=A[1], tau=T[1])], [x[1] for x in expected])
    for row, column, value in ((2, k, 0.5), (2, k, np.nan), (2, k - 1, np.nan)):
        wrong = T.copy()
        wrong[row, column] = value
        for _ in range(2):
            with pytest.raises((rd.ShapeError, rd.ActuationError)):
                method(Q, V, controlled={case.driven: values}, tau=wrong)
    mixed = A.copy()
    mixed[2, k - 1] = 1.0
    for _ in range(2):
        with pytest.raises(rd.ShapeError, match="in some rows and a number in others"):
            method(Q, V, controlled=mixed)
        with pytest.raises(rd.ShapeError):
            method(Q, V, controlled=A, tau=T[:2])


def test_single_precision_stays(case):
    case.call()
    q, v = case.q.astype(np.float32), case.v.astype(np.float32)
    try:
        found = case.robot.hybrid_dynamics(q, v, controlled={case.driven: 1.5})
    except rd.RobodynError:
        return  # a posture that single precision cannot tell from a singular one
    assert {x.dtype for x in found} == {np.dtype(np.float32)}


def test_references_are_counted():
    case = Case("four_bar")
    value, names = 1.25, {case.driven: 1.25}
    case.call(controlled=names)
    before = [sys.getrefcount(x) for x in (value, names, case.q, case.driven)]
    for _ in range(100):
        case.call(controlled=names)
    after = [sys.getrefcount(x) for x in (value, names, case.q, case.driven)]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) <= 2


def test_robots_are_not_kept():
    robot = rd.load("four_bar")
    q = robot.random(1)
    v = robot.consistent_velocity(q, np.full(3, 0.1))
    for _ in range(2):
        robot.joint_wrenches(q, v, robot.consistent_acceleration(q, v, v))
        robot.linearize(q, v, v)
        robot.motor_torques(q, v, robot.consistent_acceleration(q, v, v))
        robot.hybrid_dynamics(q, v, controlled={"crank_drive": 1.0})
    kept = weakref.ref(robot)
    del robot
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("name", ["pan_tilt", "four_bar"])
def test_wrenches_in_joints_of_which_one_is_driven(name):
    case = Case(name)
    r, q, v = case.robot, case.q, case.v
    roles = {"controlled": {case.driven: 1.5}, "tau": {case.pushed: 0.7}}
    push = {r.link_names[-1]: np.arange(1.0, 7.0)}
    Q, V = np.repeat(q[None], 3, 0), np.repeat(v[None], 3, 0)
    for other in ({}, {"wrenches": push}, {"joints": [case.driven]}):
        expected = r.joint_wrenches(q, v, **case.arrays(), **other)
        for _ in range(2):
            found = r.joint_wrenches(q, v, **roles, **other)
            many = r.joint_wrenches(Q, V, **roles, **other)
            close([found.values_array], [expected.values_array])
            for part in ("motor", "passive", "bearing"):
                x, y = getattr(found, part), getattr(expected, part)
                close([x.values_array], [y.values_array])
            close([many.values_array[2]], [expected.values_array])
    assert r.joint_wrenches(q, v, locked=(case.driven,)).base.shape == (6,)
    with pytest.raises(rd.ShapeError, match="both given"):
        r.joint_wrenches(q, v, case.call().a, **roles)


def test_roles_by_index(case):
    r, k = case.robot, case.index
    given = (case.q, case.v, np.array([1.5]), np.linspace(-1.0, 1.0, r.nv - 1))
    tau = np.insert(given[3], k, 0.0)
    expected = r.hybrid_dynamics(
        case.q, case.v, controlled={case.driven: 1.5}, tau=_by_joint(r, tau, k)
    )
    speeds = (k,)
    for _ in range(3):
        found = r.driven_dynamics(*given, speeds)
        assert type(found) is tuple
        close(found, expected[:2])
    many = r.driven_dynamics(*(np.repeat(x[None], 3, 0) for x in given), speeds)
    close([x[2] for x in many], found)
    single = tuple(x.astype(np.float32) for x in given)
    kinds = [{x.dtype for x in r.driven_dynamics(*single, speeds)} for _ in range(2)]
    assert kinds == [{np.dtype(np.float32)}] * 2
    with pytest.raises(rd.ShapeError):
        r.driven_dynamics(case.q, case.v, [1.0, 2.0], given[3], speeds)


def _by_joint(robot, tau, driven):
    """Forces of all joints but a driven one, by name."""
    return {
        name: tau[joint.v] if joint.v.stop - joint.v.start > 1 else tau[joint.v.start]
        for name, joint in robot.joints.items()
        if joint.v.stop > joint.v.start and joint.v.start != driven
    }


@pytest.mark.parametrize("name", ["arm7", "four_bar"])
def test_arrays_by_joint_are_rows(name):
    robot = rd.load(name)
    q, rng = robot.random(1), np.random.default_rng(2)
    v = robot.consistent_velocity(q, np.ones(robot.nv))
    first, last = robot.independent_joints[0], robot.joint_names[-1]
    a, tau = rng.normal(size=5), rng.normal(size=5)
    Q, V = np.repeat(q[None], 5, 0), np.repeat(v[None], 5, 0)
    for given in ({last: tau}, {last: 0.5}, None):
        rows = []
        for k in range(5):
            force = given and {last: np.broadcast_to(given[last], 5)[k]}
            rows.append(robot.hybrid_dynamics(q, v, controlled={first: a[k]}, tau=force))
        for states in ((Q, V), (q, v), (Q, v)):
            for _ in range(2):
                found = robot.hybrid_dynamics(*states, controlled={first: a}, tau=given)
                for values, expected in zip(found, zip(*rows, strict=True), strict=True):
                    np.testing.assert_allclose(values, np.array(expected), rtol=0.0, atol=1e-9)
    for wrong in (a[:3], np.zeros((5, 2)), a * np.nan):
        for _ in range(2):
            with pytest.raises(rd.ShapeError):
                robot.hybrid_dynamics(Q, V, controlled={first: wrong})
    for other in (a[::-1][::-1], list(a), np.repeat(a, 2)[::2], a.astype(np.float32)):
        found = robot.hybrid_dynamics(Q, V, controlled={first: other})
        np.testing.assert_allclose(found.a[:, robot.joints[first].v][:, 0], a, rtol=1e-6)
