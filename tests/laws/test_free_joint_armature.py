"""An armature of a free joint is felt as a weightless ball that is welded to the body."""

import dataclasses

import numpy as np
import pytest
from support import chains

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Pose

A, PLACE = 0.7, Pose((0.3, -0.2, 0.1), (0.4, -0.3, 0.8))
MADE = {
    "short": lambda: chains.chain(2),
    "deep": lambda: chains.chain(18),
    "loops": lambda: chains.scissors(2),
    "many loops": lambda: chains.scissors(12),
}


def _pair(made):
    """A robot whose root moves freely with an armature, and its twin with a ball instead."""
    mechanism = made.mechanism
    root = mechanism.links[0].name
    free = Joint("free", "floating", "sky", root, PLACE, armature=A)
    links, joints = (Link("sky"), *mechanism.links), (free, *mechanism.joints)
    slow = dataclasses.replace(mechanism, links=links, joints=joints)
    ball = Inertia(A, ixx=A, iyy=A, izz=A)
    twin = dataclasses.replace(
        slow,
        links=(*links, Link("ball", ball)),
        joints=(
            dataclasses.replace(free, armature=0.0),
            *mechanism.joints,
            Joint("weld", "fixed", root, "ball"),
        ),
        link_elements=(rd.WeightCompensation("ball", (0.0, 0.0, 0.0), A),),
    )
    return rd.load(slow), rd.load(twin)


@pytest.mark.parametrize(
    "name",
    [
        "short",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("deep", "loops", "many loops")),
    ],
)
def test_it_is_a_ball_without_weight(name):
    slow, twin = _pair(MADE[name]())
    rng = np.random.default_rng(3)
    a, tau, v = rng.normal(size=(3, slow.nv))
    q = twin.integrate(twin.neutral(), 0.2 * v)
    q = twin.assemble(q) if twin.nc else q
    v = twin.consistent_velocity(q, v) if twin.nc else v

    def same(call):
        one, other = call(slow), call(twin)
        scale = max(1.0, float(np.abs(other).max()))
        np.testing.assert_allclose(one, other, rtol=0, atol=3e-9 * scale)

    same(lambda r: r.bias_forces(q, v))
    same(lambda r: r.forward_dynamics(q, v, tau))
    controlled, given = {"free": a[:6]}, np.r_[np.zeros(6), tau[6:]]
    same(lambda r: r.hybrid_dynamics(q, v, controlled=controlled, tau=given).a)
    same(lambda r: r.hybrid_dynamics(q, v, controlled=controlled, tau=given).tau[:6])
    if name in ("short", "loops"):
        same(lambda r: r.mass_matrix(q))
        same(lambda r: r.kinetic_energy(q, v))
        same(lambda r: r.coriolis_matrix(q, v) @ v)
        one, other = (r.coriolis_matrix(q, v) for r in (slow, twin))
        np.testing.assert_allclose(one + one.T, other + other.T, atol=1e-11)
    for wanted in ("q", "v") if name == "short" else ():
        same(lambda r, x=wanted: r.derivatives("forward_dynamics", q, v, tau)[x])
        same(lambda r, x=wanted: r.derivatives("inverse_dynamics", q, v, a)[x])
    assert abs(slow.total_mass - twin.total_mass + A) < 1e-12


def test_it_is_read_and_written_and_changed():
    slow, _ = _pair(MADE["short"]())
    free, *hinges = slow.mechanism.joints  # hinges without limits are written as continuous
    turning = [dataclasses.replace(hinge, kind="continuous") for hinge in hinges]
    assert rd.load(rd.urdf.write(slow.mechanism)).mechanism.joints == (free, *turning)
    more = slow.with_(parameters={"free.armature": 2.0})
    gained = more.mass_matrix(slow.neutral()) - slow.mass_matrix(slow.neutral())
    np.testing.assert_allclose(np.diag(gained)[:6], 1.3)
    with pytest.raises(rd.errors.SettingsError, match="armature"):
        rd.load(slow.mechanism, base="floating")
