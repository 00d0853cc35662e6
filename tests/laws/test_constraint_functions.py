"""Constraints that a user gives as functions of coordinates and speeds."""

import math
import pickle

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.urdf import write

G = 9.81


def text(*joints, mass=2.0, inertia=0.0):
    """A chain of joints ``(name, type, axis)``; only the last link has mass."""
    links, rows = ['<link name="base"/>'], []
    for k, (name, kind, axis) in enumerate(joints):
        J = "".join(f' {a}="{inertia}"' for a in ("ixx", "iyy", "izz"))
        own = f'<inertial><mass value="{mass}"/><inertia{J} ixy="0" ixz="0" iyz="0"/></inertial>'
        links.append(f'<link name="{name}">{own if k == len(joints) - 1 else ""}</link>')
        parent = joints[k - 1][0] if k else "base"
        rows.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}"/>'
            f'<axis xyz="{axis}"/></joint>'
        )
    return f'<robot name="chain">{"".join(links + rows)}</robot>'


X, Z = ("x", "prismatic", "1 0 0"), ("z", "prismatic", "0 0 1")
L = 0.7


def rod(q):
    return q[0] ** 2 + q[1] ** 2 - L**2


@pytest.fixture(scope="module")
def pendulum():
    return rd.load(text(X, Z), constraints=[rd.Constraint("rod", rod, ("x", "z"))])


def on_circle(angle, speed):
    s, c = np.sin(angle), np.cos(angle)
    return L * np.stack([s, -c], -1), L * speed[..., None] * np.stack([c, s], -1)


def test_a_point_on_a_circle_is_a_pendulum(pendulum):
    rng = np.random.default_rng(0)
    angle, w = rng.uniform(-3, 3, 20), rng.normal(size=20)
    q, v = on_circle(angle, w)
    s, c = np.sin(angle), np.cos(angle)
    dw = -G / L * s
    a = L * np.stack([dw * c - w**2 * s, dw * s + w**2 * c], -1)
    np.testing.assert_allclose(pendulum.forward_dynamics(q, v, 0 * v), a, rtol=1e-12)
    pull = pendulum.constrained_dynamics(q, v, 0 * v).multipliers[:, 0] * 2 * L
    np.testing.assert_allclose(-pull, 2.0 * (w**2 * L + G * c), rtol=1e-12)
    tau = pendulum.inverse_dynamics(q, v, a, actuated=["x"])
    np.testing.assert_allclose(tau, 0.0, atol=1e-12)
    assert (pendulum.nc, pendulum.dof, pendulum.constraint_names) == (1, 1, ("rod[0]",))
    for method in ("kkt", "schur", "nullspace", "partition"):
        found = pendulum.constrained_dynamics(q, v, 0 * v, method=method)
        np.testing.assert_allclose(found.a, a, rtol=1e-11)


def test_it_swings_as_a_pendulum(pendulum):
    hinge = rd.load(text(("x", "revolute", "0 -1 0"), ("z", "fixed", "1 0 0")).replace(
        '<joint name="z" type="fixed">', f'<joint name="z" type="fixed"><origin xyz="0 0 -{L}"/>'
    ))  # fmt: skip
    start = np.array(0.4), np.array(1.3)
    q, v = on_circle(*start)
    run = rd.simulate(pendulum, q0=q, v0=v, duration=1.0, step=2e-3)
    same = rd.simulate(hinge, q0=[0.4], v0=[1.3], duration=1.0, step=2e-3)
    np.testing.assert_allclose(run.q, on_circle(same.q[:, 0], same.v[:, 0])[0], atol=1e-9)
    assert run.loop_residual.max() < 1e-12
    assert np.ptp(run.energy) < 1e-8
    driven = pendulum.hybrid_dynamics(q, v, controlled={"x": 0.5})
    np.testing.assert_allclose(driven.a[0], 0.5)
    again = pendulum.forward_dynamics(q, v, driven.tau)
    np.testing.assert_allclose(again, driven.a, rtol=1e-12)


def test_positions_and_speeds_are_made_to_fit(pendulum):
    q = pendulum.assemble([0.3, -0.4], hold=["x"])
    assert q[0] == 0.3 and abs(rod(q)) < 1e-12
    v = pendulum.consistent_velocity(q, [1.0, 0.0], hold=["x"])
    np.testing.assert_allclose(v @ q, 0.0, atol=1e-12)
    assert abs(rod(pendulum.random(1))) < 1e-12 and pendulum.mobility(q) == 1


KINDS = ["planar", "spherical", "universal", "cylindrical", "revolute", "helical"]


def both(q, v=None):
    """Two expressions that use everything."""
    weights = np.linspace(0.3, 1.4, len(q))
    s = sum(w * x for w, x in zip(weights, q, strict=True))
    if v is None:
        return [np.sin(s) * q[0] + q[-1] ** 2, rd.sqrt(2.0 + rd.cos(s))]
    t = sum(w * x for w, x in zip(weights, v, strict=False))
    return [np.sin(s) * v[0] + v[-1] * q[1] - q[0], t / (2.0 + rd.cos(s))]


@pytest.mark.parametrize("kind", ["holonomic", "nonholonomic"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_rows_are_derivatives_for_every_kind_of_joint(kind, base):
    mechanism = random_mechanism(np.random.default_rng(0), KINDS)
    names = [f"joint{k}" for k in (2, 0, 1, 5)] + ["floating_base"] * (base == "floating")
    robot = rd.load(mechanism, base=base, constraints=[rd.Constraint("c", both, names, kind)])
    free = rd.load(mechanism, base=base)
    rng = np.random.default_rng(1)
    q, v = free.random(rng), rng.normal(size=robot.nv)
    at = [robot.joints[name] for name in names]

    def g(q, v):
        own_q = [x for j in at for x in q[j.q]]
        return np.array(both(own_q, [x for j in at for x in v[j.v]]), float)

    h = 1e-5
    ahead, behind = (robot.integrate(q, s * h * v) for s in (1, -1))
    K, psi = robot.loop_jacobian(q), robot.loop_velocity_offset(q)
    if kind == "holonomic":
        rate = (robot.loop_residual(ahead) - robot.loop_residual(behind)) / (2 * h)
        assert not psi.any()
    else:
        rate = g(q, v)
        assert psi.any() and not robot.loop_residual(q).any()
    np.testing.assert_allclose(K @ v + psi, rate, atol=1e-8)
    after, before = (robot.loop_jacobian(x) @ v + robot.loop_velocity_offset(x)
                     for x in (ahead, behind))  # fmt: skip
    np.testing.assert_allclose(robot.loop_bias(q, v), (after - before) / (2 * h), atol=1e-8)
    many = robot.loop_jacobian(np.tile(q, (5, 1)))
    np.testing.assert_allclose(many[3], K, rtol=1e-12, atol=1e-14)


def test_mimicking_and_welded_joints():
    names = [("a", "revolute", "0 1 0"), ("b", "revolute", "0 1 0"), ("c", "revolute", "1 0 0")]
    source = text(*names, inertia=0.1)
    source = source.replace(
        '<joint name="b" type="revolute">',
        '<joint name="b" type="revolute"><mimic joint="a" multiplier="2" offset="0.1"/>',
    )
    f = rd.Constraint("f", lambda q: [q[0] * q[1] + q[2]], ("b", "a", "c"))
    robot = rd.load(source, constraints=[f])
    q, v = np.array([0.3, 0.2]), np.array([1.0, 0.5])
    np.testing.assert_allclose(robot.loop_residual(q), [(0.6 + 0.1) * 0.3 + 0.2])
    np.testing.assert_allclose(robot.loop_jacobian(q), [[4 * 0.3 + 0.1, 1.0]])
    np.testing.assert_allclose(robot.loop_bias(q, v), [4.0])
    welded = robot.with_(locked={"c": 0.2})
    np.testing.assert_allclose(welded.loop_residual(q[:1]), robot.loop_residual(q))
    np.testing.assert_allclose(welded.loop_jacobian(q[:1]), [[4 * 0.3 + 0.1]])


def test_a_knife_edge_on_an_incline():
    """It winds down across the slope along a cycloid and never gets lower than that."""
    pull, w = 3.0, 2.0
    blade = rd.Constraint("blade", lambda q, v: v[1], "body", "nonholonomic")
    robot = rd.load(
        text(("body", "planar", "0 0 1"), inertia=0.3), gravity=(pull, 0, 0), constraints=[blade]
    )
    run = rd.simulate(robot, v0=[0, 0, w], duration=3.0, step=2e-3)
    t, size = run.t, pull / (2 * w**2)
    path = np.stack([size * np.sin(w * t) ** 2, size * (w * t - np.sin(2 * w * t) / 2), w * t], -1)
    np.testing.assert_allclose(run.q, path, atol=1e-9)
    assert (robot.nc, robot.dof) == (1, 2)
    np.testing.assert_array_equal(robot.assemble([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])


def test_a_disc_that_rolls_upright():
    r, m, tau = 0.5, 2.0, 0.7
    joints = (X, ("y", "prismatic", "0 1 0"), ("yaw", "revolute", "0 0 1"))
    roll = rd.Constraint(
        "roll",
        lambda q, v: [v[0] - r * rd.cos(q[2]) * v[3], v[1] - r * rd.sin(q[2]) * v[3]],
        ("x", "y", "yaw", "spin"),
        kind="nonholonomic",
    )
    source = text(*joints, ("spin", "revolute", "0 1 0"), mass=m, inertia=m * r**2 / 2)
    robot = rd.load(source, constraints=[roll])
    v0 = robot.consistent_velocity(np.zeros(4), [0, 0, 1.5, 2.0], hold=["yaw", "spin"])
    np.testing.assert_allclose(v0, [2.0 * r, 0.0, 1.5, 2.0], atol=1e-12)
    run = rd.simulate(robot, v0=v0, duration=2.0, step=2e-3)
    circle = 2.0 * r / 1.5 * np.stack([np.sin(1.5 * run.t), 1 - np.cos(1.5 * run.t)], -1)
    np.testing.assert_allclose(run.q[:, :2], circle, atol=1e-9)
    a = robot.forward_dynamics(np.zeros(4), v0, [0, 0, 0, tau])
    np.testing.assert_allclose(a[3], tau / (m * r**2 / 2 + m * r**2))
    needed = robot.inverse_dynamics(np.zeros(4), v0, a, actuated=["yaw", "spin"])
    np.testing.assert_allclose(needed, [0, 0, 0, tau], atol=1e-12)


def test_a_point_that_sticks_to_a_turntable():
    """A nonholonomic constraint that asks for motion: the force is the centripetal one."""
    w = 3.0
    stick = rd.Constraint(
        "stick", lambda q, v: [v[0] + w * q[1], v[1] - w * q[0]], ("x", "y"), "nonholonomic"
    )
    robot = rd.load(text(X, ("y", "prismatic", "0 1 0")), constraints=[stick])
    q = np.array([0.3, 0.4])
    v = robot.consistent_velocity(q, [5.0, 5.0])
    np.testing.assert_allclose(v, [-w * 0.4, w * 0.3])
    np.testing.assert_allclose(robot.closed_state(q, 0 * v)[1], v)
    found = robot.constrained_dynamics(q, v, [0, 0])
    np.testing.assert_allclose(found.multipliers, -2.0 * w**2 * q)
    steered = robot.forward_dynamics(q, 0 * v, [0, 0], stabilization=(5.0, 0.0))
    np.testing.assert_allclose(steered, 10.0 * v)
    run = rd.simulate(robot, q0=q, v0=[0, 0], duration=1.0, step=2e-3)
    np.testing.assert_allclose(np.hypot(*run.q.T), 0.5, atol=1e-9)


def test_copies_know_their_constraints(pendulum):
    q, v = on_circle(np.array(0.4), np.array(1.0))
    again = pickle.loads(pickle.dumps(pendulum))
    np.testing.assert_array_equal(
        again.forward_dynamics(q, v, 0 * v), pendulum.forward_dynamics(q, v, 0 * v)
    )
    assert pendulum.with_(gravity=(0, 0, 0)).nc == 1
    single = pendulum.loop_jacobian(q.astype(np.float32))
    assert single.dtype == np.float32
    with pytest.raises(rd.UrdfError, match="rod"):
        write(pendulum.mechanism)


@pytest.mark.parametrize(
    ("function", "joints", "kind", "error"),
    [
        (rod, ("x", "zed"), "holonomic", rd.UnknownNameError),
        (rod, (), "holonomic", rd.ShapeError),
        (rod, ("x", "x"), "holonomic", rd.ShapeError),
        (rod, ("x", "z"), "rheonomic", rd.UnknownNameError),
        (lambda q: "none", ("x",), "holonomic", rd.ShapeError),
        (lambda q: [], ("x",), "holonomic", rd.ShapeError),
        (lambda q: 1.0, ("x",), "holonomic", rd.ShapeError),
        (lambda q: [q[0], 3.0], ("x",), "holonomic", rd.ShapeError),
        (lambda q: rd.sqrt(-1.0 - q[0] ** 2), ("x",), "holonomic", rd.ShapeError),
        (lambda q, v: v[0] * v[1], ("x", "z"), "nonholonomic", rd.ShapeError),
        (lambda q, v: rd.sin(v[0]), ("x", "z"), "nonholonomic", rd.ShapeError),
        (lambda q, v: q[0] / v[0], ("x", "z"), "nonholonomic", rd.ShapeError),
        (lambda q, v: q[0], ("x", "z"), "nonholonomic", rd.ShapeError),
        (None, ("x",), "holonomic", rd.ShapeError),
        (lambda: 0.0, ("x",), "holonomic", rd.ShapeError),
        (lambda q: q[7], ("x",), "holonomic", rd.ShapeError),
        (lambda q: math.sin(q[0]), ("x",), "holonomic", rd.ShapeError),
        (lambda q: q[0] if q[0] > 0 else 0.0, ("x",), "holonomic", rd.ShapeError),
    ],
)
def test_what_is_no_constraint_is_refused(function, joints, kind, error):
    with pytest.raises(error):
        rd.load(text(X, Z), constraints=[rd.Constraint("bad", function, joints, kind)])


def test_a_joint_that_a_constraint_is_about_is_not_cut():
    held = rd.load("four_bar", constraints=[rd.Constraint("c", lambda q: q[0], "rocker_pin")])
    assert "rocker_pin" in held.joint_names and held.dof == 0
