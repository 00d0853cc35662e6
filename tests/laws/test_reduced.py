"""Closed linkages over independent joints, loops closed numerically [PyMbs (9)-(11)]."""

import dataclasses

import numpy as np
import pytest
from support.comparison import close_within

import robodyn as rd
from robodyn import urdf
from robodyn.model.speed_selection import speed_indices

close = close_within(1e-8)

#: Joints that determine the others, where they are not those of the motors.
CHOSEN = {
    "rod": None,
    "stephenson": ("dyad_pivot",),
    "bricard": None,
    "four_bar": ("rocker_pivot",),
    "five_bar": None,
    "stewart": None,
}


def rod():
    """A four-bar whose coupler has balls at both ends, and turns about their line."""
    mechanism = urdf.load_mechanism("four_bar")
    joints = tuple(
        dataclasses.replace(joint, kind="spherical", damping=0.0)
        if joint.name in ("crank_pin", "rocker_pin")
        else joint
        for joint in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


@pytest.mark.parametrize("name", CHOSEN)
def test_reduced_dynamics_are_those_with_constraints(name):
    robot = rd.load(rod() if name == "rod" else name)
    reduced = robot.reduced(CHOSEN[name])
    rng = np.random.default_rng(0)
    u = 0.05 + 0.02 * rng.normal(size=reduced.nu)
    du, ddu = rng.normal(size=(2, reduced.nu))
    q = reduced.expand(u)
    close(robot.loop_residual(q), 0.0)
    own = [k for name in reduced.independent_joints for k in speed_indices(robot.model, name)]
    assert len(own) == reduced.nu
    close(robot.difference(robot.neutral(), q)[own], u)
    v, a = reduced.expand_velocity(q, du), reduced.expand_acceleration(q, du, ddu)
    close(v[own], du)
    close(a[own], ddu)
    close(robot.loop_jacobian(q) @ v, 0.0)
    close(robot.loop_jacobian(q) @ a, -robot.loop_bias(q, v))
    tau = rng.normal(size=robot.nv)
    found = reduced.forward_dynamics(q, du, tau)
    close(found, robot.forward_dynamics(q, v, tau)[own], 1e-7)
    balance = reduced.mass_matrix(q) @ found + reduced.bias_forces(q, du)
    close(balance, reduced.torque_map(q) @ tau, 1e-7)
    energy = 0.5 * du @ reduced.mass_matrix(q) @ du
    close(energy, robot.kinetic_energy(q, v))


def test_the_branch_is_followed_all_the_way_round():
    minimal = rd.load("four_bar", coordinates="minimal")
    reduced = minimal.tree_form.reduced()
    q = None
    for u in np.linspace(0.0, 2 * np.pi, 9):
        q = reduced.expand([u], near=q)
        close(np.exp(1j * q), np.exp(1j * minimal.expand([u])))


def test_minimal_coordinates_need_no_reduction():
    robot = rd.load("watt", coordinates="minimal")
    reduced = robot.reduced()
    q, du = robot.neutral() + 0.2, np.array([1.5])
    close(reduced.expand([0.2]), q)
    close(reduced.mass_matrix(q), robot.mass_matrix(q))
    close(reduced.bias_forces(q, du), robot.bias_forces(q, du))
    close(reduced.torque_map(q), np.eye(1))


def test_batches(five_bar):
    reduced = five_bar.reduced()
    q = np.stack([reduced.expand([x, -x]) for x in (0.0, 0.1, 0.2)])
    du = np.ones((3, 2))
    M, h = reduced.mass_matrix(q), reduced.bias_forces(q, du)
    assert M.shape == (3, 2, 2)
    for k in range(3):
        close(M[k], reduced.mass_matrix(q[k]))
        close(h[k], reduced.bias_forces(q[k], du[k]))


def test_where_it_cannot_be(four_bar):
    with pytest.raises(rd.SingularError, match="1 degrees of freedom"):
        four_bar.reduced(("crank_drive", "crank_pin"))
    with pytest.raises(rd.UnknownNameError):
        four_bar.reduced(("crank",))
    with pytest.raises(rd.ShapeError, match="independent is 3, expected names"):
        four_bar.reduced(3)
    reduced = four_bar.reduced(("rocker_pivot",))
    with pytest.raises((rd.AssemblyError, rd.SingularError)):
        reduced.expand([3.0])


def test_speeds_that_a_constraint_drives():
    """One speed follows the other with a part of its own: 2 v0 - v1 = 0.3."""
    given = rd.Constraint("tie", lambda q, v: 2 * v[0] - v[1] - 0.3,
                          ("shoulder", "elbow"), "nonholonomic")  # fmt: skip
    robot = rd.load("double_pendulum", constraints=[given])
    reduced = robot.reduced(("shoulder",))
    q, du = np.array([0.3, -0.5]), np.array([0.7])
    v = reduced.expand_velocity(q, du)
    close(v, [0.7, 1.1])
    tau = np.array([1.0, 2.0])
    a = robot.forward_dynamics(q, v, tau)
    close(reduced.forward_dynamics(q, du, tau), a[:1])
    close(reduced.expand_acceleration(q, du, a[:1]), a)
