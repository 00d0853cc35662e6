"""Closed mechanisms with known numbers, through the public API."""

import dataclasses
import functools

import numpy as np
import pytest
from support.interpreted import interpreted
from support.known_linkages import CUBE, EXAMPLES, by_lagrange, cube_state, four_bar_centers, state

import robodyn as rd
from robodyn import urdf

#: PyMbs prints the four-bar; its crank and slider is wrong but at u = 0: values by Lagrange.
ACCELERATIONS = [
    ("four_bar", np.pi / 2, 0.0, 0.90091837),
    ("four_bar", np.pi / 2, 1.3, 1.08845663),
    ("four_bar", 1.2, -0.7, 1.72904706),
    ("four_bar", -1.3, 0.5, -0.95104415),
    ("crank_slider", 0.0, 0.0, 29.43),
    ("crank_slider", 0.7, 0.0, 6.78476),
    ("crank_slider", 0.7, 2.0, 3.81523),
    ("crank_slider", -2.1, 3.0, -9.62491),
]


@functools.cache
def example(name):
    return interpreted(EXAMPLES[name][0]())


@pytest.mark.parametrize(("name", "u", "du", "expected"), ACCELERATIONS)
def test_linkages_of_pymbs(name, u, du, expected):
    robot = example(name)
    q, v = state(name, u, du)
    digits = 1e-8 if name == "four_bar" else 1e-5
    assert robot.forward_dynamics(q, v, np.zeros(3))[0] == pytest.approx(expected, abs=digits)
    for method in ("kkt", "schur", "nullspace", "partition"):
        a = robot.constrained_dynamics(q, v, np.zeros(3), method=method).a
        assert a[0] == pytest.approx(expected, abs=digits)
    assert expected == pytest.approx(by_lagrange(name, u, du), rel=1e-6)
    assert (robot.mobility(q), robot.dof, len(robot.redundant_constraints)) == (1, 1, 3)


def test_torque_of_a_crank_by_virtual_work():
    robot, h = example("four_bar"), 1e-5
    q, v = state("four_bar", 0.8, 0.0)
    tau = robot.inverse_dynamics(q, v, np.zeros(3), actuated=["A"])
    rise = four_bar_centers(0.8 + h) - four_bar_centers(0.8 - h)
    np.testing.assert_allclose(tau, [9.81 * rise[:, 1].sum() / (2 * h), 0.0, 0.0], atol=1e-7)


@functools.cache
def cube(gravity=0.0, springs=None):
    mechanism = urdf.load_mechanism("bricard")
    if springs:
        joints = tuple(dataclasses.replace(j, stiffness=springs) for j in mechanism.joints)
        mechanism = dataclasses.replace(mechanism, joints=joints)
    return interpreted(mechanism, gravity=(0.0, 0.0, -gravity), passive=bool(springs))


@pytest.mark.parametrize(("q2", "inertia", "torque", "weight", "_sprung"), CUBE)
def test_invertible_cube_of_wittenburg(q2, inertia, torque, weight, _sprung):
    """Effective inertia, motor torque and gravity of hinge 2."""
    (q, v), near = cube_state(q2, 0.7), {"rel": 0.0, "abs": 6e-10}
    robot, one = cube(), {"controlled": {"hinge2": 1.0}}
    assert np.abs(robot.loop_residual(q)).max() < 1e-12
    assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-12
    still = robot.hybrid_dynamics(q, 0.0 * v, **one)
    moving = robot.hybrid_dynamics(q, v, **one)
    assert still.tau[1] == pytest.approx(inertia, **near)
    assert moving.tau[1] == pytest.approx(torque, **near)
    assert robot.inverse_dynamics(q, v, moving.a)[1] == pytest.approx(torque, **near)
    half = 0.5 * inertia * 0.49
    assert robot.kinetic_energy(q, v) == pytest.approx(half, abs=1e-9)
    held = cube(9.81).inverse_dynamics(q, 0.0 * v, 0.0 * v)
    assert -held[1] == pytest.approx(weight, **near)


@pytest.mark.parametrize(("q2", "_inertia", "_torque", "_weight", "sprung"), CUBE)
def test_springs_in_the_hinges_of_the_cube(q2, _inertia, _torque, _weight, sprung):
    """Five joints of the tree have springs; that of the cut hinge, q6 = -q2, acts on hinge 2."""
    (q, v), robot = cube_state(q2, 0.7), cube(springs=1.0)
    # virtual work of the spring in hinge 6: -q6 dq6 = -q2 dq2
    a = robot.forward_dynamics(q, v, [0.0, -q2, 0.0, 0.0, 0.0])
    assert a[1] == pytest.approx(sprung, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("q2", np.radians([-25.0, -15.0, 20.0, 70.0, 120.0, 160.0, 200.0]))
def test_the_cube_keeps_one_freedom(q2):
    """Five rows of rank four along the whole range, -30 to 210 degrees."""
    q, _ = cube_state(q2, 0.0)
    robot = cube()
    assert np.abs(robot.loop_residual(q)).max() < 1e-12
    assert robot.mobility(q) == 1
    found = robot.constrained_dynamics(q, np.zeros(5), np.eye(5)[1])
    assert found.rank == 4
    # the pose from which q1 is found again
    assert robot.nc == 5 and len(robot.redundant_constraints) == 1
    again = robot.assemble(q + 0.01 * np.array([1.0, 0.0, -1.0, 1.0, 0.0]), hold=["hinge2"])
    np.testing.assert_allclose(again, q, atol=1e-9)


def test_a_cube_with_a_tilted_hinge_is_stiff():
    """Hinge 3 tilted by 0.01 rad: no freedom is left, and no row is redundant."""
    mechanism = urdf.load_mechanism("bricard")
    joints = list(mechanism.joints)
    joints[2] = dataclasses.replace(joints[2], axis=(np.sin(0.01), 0.0, np.cos(0.01)))
    robot = interpreted(dataclasses.replace(mechanism, joints=tuple(joints)))
    assert robot.mobility(np.zeros(5)) == robot.dof == 0
    assert robot.redundant_constraints == {}
    assert robot.independent_joints == ()
    a = robot.forward_dynamics(np.zeros(5), np.zeros(5), np.ones(5))
    np.testing.assert_allclose(a, 0.0, atol=1e-8)


def test_s3_mobility_of_a_crank_and_slider():
    """[W fig. 5.3]: one, also with a ball for a pin; none where pins are not parallel."""
    mechanism = rd.load("crank_slider").mechanism

    def with_other(name, **changed):
        joints = (
            dataclasses.replace(x, **changed) if x.name == name else x for x in mechanism.joints
        )
        return rd.load(dataclasses.replace(mechanism, joints=tuple(joints))).dof

    assert rd.load(mechanism).dof == 1
    for pin in ("crank_pin", "piston_pin"):
        assert with_other(pin, kind="spherical") == 1
        assert with_other(pin, axis=(np.sin(0.1), np.cos(0.1), 0.0)) == 0
