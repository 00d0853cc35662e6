"""Every bundled closed mechanism against the oracle in maximal coordinates, at random states."""

import numpy as np
import pytest
from support.closed_cases import BASES, case, close, fit

METHODS = ("kkt", "schur", "nullspace", "partition")

every = pytest.mark.parametrize(("name", "base"), BASES)


@every
def test_accelerations(name, base):
    c = case(name, base)
    here = c.robot.forward_dynamics(c.q, c.v, c.tau, **c.loads)
    close(here, c.there(tau=c.tau).a)


@every
def test_methods_agree_and_satisfy_the_equations(name, base):
    c = case(name, base)
    r, expected = c.robot, c.robot.forward_dynamics(c.q, c.v, c.tau, **c.loads)
    M, K = r.mass_matrix(c.q), r.loop_jacobian(c.q)
    h, bias = r.bias_forces(c.q, c.v, **c.loads), r.loop_bias(c.q, c.v)
    found = {m: r.constrained_dynamics(c.q, c.v, c.tau, method=m, **c.loads) for m in METHODS}
    multipliers = found["kkt"].multipliers
    for method, x in found.items():
        assert x.method == method
        assert x.rank == r.nv - r.mobility(c.q)
        assert x.residual < 1e-10
        close(x.a, expected)
        close(x.multipliers, multipliers, 1e-8)
        close(M @ x.a + h, c.tau + K.T @ x.multipliers)
        close(K @ x.a, -bias)
    # of least norm: no part that the motion does not feel
    silent = fit(K.T)
    close(silent.T @ multipliers, 0.0, 1e-8 * max(1.0, np.abs(multipliers).max()))


@every
def test_motors_produce_the_motion(name, base):
    c = case(name, base)
    a = c.some_acceleration()
    tau = c.robot.inverse_dynamics(c.q, c.v, a, **c.loads)
    driven = np.zeros(c.robot.nv, bool)
    for joint in c.robot.actuated_joints:
        driven[c.robot.joints[joint].v] = True
    if base == "floating":
        driven[:6] = True
    np.testing.assert_array_equal(tau[~driven], 0.0)
    close(c.robot.forward_dynamics(c.q, c.v, tau, **c.loads), a, 1e-8)
    close(c.there(tau=tau).a, a, 1e-8)
    # and no torques of a smaller norm do
    Z = fit(c.robot.loop_jacobian(c.q))
    need = Z.T @ c.there(a=a, controlled=range(c.robot.nv)).tau
    close(tau[driven], np.linalg.pinv(Z[driven].T, 1e-9) @ need, 1e-8)


OTHERS = {
    "bricard": ("hinge5",),
    "crank_slider": ("cylinder",),
    "excavator": ("swing", "boom_pivot", "arm_pivot", "bucket_pivot"),
    "five_bar": ("right_elbow", "left_drive"),
    "four_bar": ("rocker_pivot",),
    "stephenson": ("crank_pin",),
    "watt": ("crank_pin",),
}


@pytest.mark.parametrize("name", OTHERS)
def test_motors_elsewhere_produce_the_motion(name):
    c = case(name)
    joints = OTHERS[name]
    a = c.some_acceleration()
    tau = c.robot.inverse_dynamics(c.q, c.v, a, actuated=joints, **c.loads)
    driven = [c.robot.joints[joint].v.start for joint in joints]
    np.testing.assert_array_equal(np.delete(tau, driven), 0.0)
    close(c.there(tau=tau).a, a, 1e-8)


@every
def test_one_joint_controlled(name, base):
    """R-CV5: any acceleration of one joint, torques elsewhere."""
    c = case(name, base)
    for joint in (c.robot.actuated_joints[0], c.robot.joint_names[-1]):
        k = c.robot.joints[joint].v.start
        name_of_axis = joint if c.robot.joints[joint].v.stop == k + 1 else f"{joint}[0]"
        a, tau = np.zeros(c.robot.nv), c.tau.copy()
        a[k], tau[k] = 2.5, np.nan
        here = c.robot.hybrid_dynamics(c.q, c.v, controlled={name_of_axis: 2.5}, tau=tau, **c.loads)
        there = c.there(a=a, tau=c.tau, controlled=(k,))
        close(here.a, there.a, 1e-8)
        close(here.tau, there.tau, 1e-8)


@every
def test_wrenches_in_all_joints(name, base):
    """Of the tree, fixed, and cut, where they are settled; and in the base."""
    c = case(name, base)
    joints = [j.name for j in (*c.robot.mechanism.joints, *c.robot.mechanism.loops)]
    here = c.robot.joint_wrenches(c.q, c.v, tau=c.tau, joints=joints, **c.loads)
    there = c.there(tau=c.tau)
    close(here["base"], there.base_wrench, 1e-8)
    for joint in joints:
        settled = there.unique[joint]
        close(here[joint][settled], there.joint_wrenches[joint][settled], 1e-8)


@pytest.mark.parametrize(("name", "base"), [x for x in BASES if x[1] != "moving"])
def test_power_is_the_rate_of_energy(name, base):
    c, h = case(name, base), 1e-4
    r, a = c.robot, c.robot.forward_dynamics(c.q, c.v, c.tau, **c.loads)

    def energy(t):
        q, v = r.integrate(c.q, t * c.v + 0.5 * t * t * a), c.v + t * a
        return r.kinetic_energy(q, v) + r.potential_energy(q)

    rate = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h)
    power = c.tau @ c.v + sum(
        wrench @ r.frame_twist(c.q, c.v, link) for link, wrench in c.wrenches.items()
    )
    assert rate == pytest.approx(power, rel=1e-6, abs=1e-6 * np.abs(c.tau * c.v).sum())
    lam = r.constrained_dynamics(c.q, c.v, c.tau, **c.loads).multipliers
    assert abs(lam @ r.loop_jacobian(c.q) @ c.v) < 1e-9 * np.abs(lam).max()
