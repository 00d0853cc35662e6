"""O10, O11: bodies tied down in the plane [Wittenburg 1977, problems 3.5 and 3.6]."""

import numpy as np
import pytest
from scipy.integrate import quad

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Loop, Mechanism, Pose

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)

# -- O10: a cylinder with its mass centre off its axis rolls on a plane ----------------------------

R, OFFSET, MASS, CENTRAL, GRAVITY = 0.5, 0.2, 3.0, 0.4, 9.81


def rolling(kind):
    """The axis moves along x, the cylinder turns about z, gravity is along -y; lowest at zero."""
    inertia = Inertia(MASS, Pose((0.0, -OFFSET, 0.0)), CENTRAL, 0, 0, CENTRAL, 0, CENTRAL)
    links = Link("ground"), Link("axle"), Link("cylinder", inertia)
    joints = (
        Joint("way", "prismatic", "ground", "axle", axis=X),
        Joint("turn", "continuous", "axle", "cylinder", axis=Z),
    )
    if kind == "holonomic":
        rule = rd.Constraint("rolls", lambda q: q[0] + R * q[1], ("way", "turn"))
    else:
        rule = rd.Constraint(
            "rolls", lambda q, v: v[0] + R * v[1], ("way", "turn"), kind="nonholonomic"
        )
    mechanism = Mechanism("cylinder", links, joints)
    return rd.load(mechanism, gravity=(0, -GRAVITY, 0), constraints=[rule])


def inertia_at(f):
    return CENTRAL + MASS * (R**2 + OFFSET**2 - 2 * R * OFFSET * np.cos(f))


@pytest.mark.parametrize("kind", ["holonomic", "nonholonomic"])
def test_o10_a_cylinder_rolls_by_the_equation_of_the_book(kind):
    robot = rolling(kind)
    for f, rate in ((0.3, 0.0), (2.0, 1.5), (-1.0, -4.0)):
        q, v = np.array([-R * f, f]), np.array([-R * rate, rate])
        a = robot.forward_dynamics(q, v, np.zeros(2))
        pull = MASS * OFFSET * np.sin(f) * (R * rate**2 + GRAVITY)
        assert a[1] == pytest.approx(-pull / inertia_at(f), abs=1e-12)
        assert a[0] == pytest.approx(-R * a[1], abs=1e-12)


@pytest.mark.parametrize("kind", ["holonomic", "nonholonomic"])
@pytest.mark.parametrize(("start", "period"), [(2.0, 3.671840404716), (1e-3, 2.119859808021)])
def test_o10_the_period_of_a_rolling_cylinder(kind, start, period):
    """From rest far off, and of small oscillations; a quarter is over where it is lowest."""
    k = np.sin(start / 2)

    def slope(x):
        s = k * np.sin(x)
        return np.sqrt(inertia_at(2 * np.arcsin(s)) / (MASS * GRAVITY * OFFSET * (1 - s**2)))

    assert 4 * quad(slope, 0.0, np.pi / 2, epsabs=1e-12)[0] == pytest.approx(period, rel=1e-6)
    run = rd.simulate(
        rolling(kind),
        q0=[-R * start, start],
        duration=2.0,
        step=1e-3,
        events=[lambda t, q, v: q[1]],
    )
    assert 4 * run.t[-1] == pytest.approx(period, abs=1e-9 if start == 2.0 else 1e-6)
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-9)


# -- O11: a body with two pegs in two straight guides ----------------------------------------------

APART, ANGLE, ARM, LEAN = 0.5, 1.1, 0.35, 0.4


def pegged():
    """Pegs slide on guides through the origin, one along x, one at ``ANGLE`` to it.

    The mass centre is at ``ARM`` from the first peg, turned back by ``LEAN`` from the line to the
    second.
    """
    centre = (ARM * np.cos(LEAN), -ARM * np.sin(LEAN), 0.0)
    inertia = Inertia(MASS, Pose(centre), CENTRAL, 0, 0, CENTRAL, 0, CENTRAL)
    links = Link("ground"), Link("slider1"), Link("body", inertia), Link("slider2")
    guide = (np.cos(ANGLE), np.sin(ANGLE), 0.0)
    joints = (
        Joint("guide1", "prismatic", "ground", "slider1", axis=X),
        Joint("peg1", "revolute", "slider1", "body", axis=Z),
        Joint("guide2", "prismatic", "ground", "slider2", axis=guide),
    )
    peg = Loop("peg2", "revolute", "body", "slider2", Pose((APART, 0.0, 0.0)), Pose(), Z)
    mechanism = Mechanism("pegged", links, joints)
    near = {"guide1": 0.4, "guide2": 0.5, "peg1": 1.5}
    return rd.load(mechanism, loops=[peg], gravity=(0, 0, 0), near=near)


def test_o11_a_body_on_two_guides_moves_by_the_equation_of_the_book():
    robot = pegged()
    c = APART / np.sin(ANGLE)
    at = {name: robot.joints[name].v for name in ("guide1", "peg1", "guide2")}
    rng = np.random.default_rng(0)
    for f in (0.2, 0.7, 1.4, 2.3):
        rate, force1, force2 = rng.normal(size=3)
        q, v, tau = np.zeros((3, 3))
        for name, position, speed in (
            ("guide1", c * np.sin(f), c * np.cos(f) * rate),
            ("peg1", f + ANGLE, rate),
            ("guide2", c * np.sin(f + ANGLE), c * np.cos(f + ANGLE) * rate),
        ):
            q[at[name]], v[at[name]] = position, speed
        assert np.abs(robot.loop_residual(q)).max() < 1e-14
        tau[at["guide1"]], tau[at["guide2"]] = force1, force2
        a = robot.forward_dynamics(q, v, tau)
        lean = f + ANGLE - LEAN
        inertia = CENTRAL + MASS * (
            ARM**2 + (c * np.cos(f)) ** 2 - 2 * c * ARM * np.cos(f) * np.sin(lean)
        )
        swing = MASS * c * (c * np.sin(f) * np.cos(f) + ARM * np.cos(f + lean))
        push = c * (force1 * np.cos(f) + force2 * np.cos(f + ANGLE))
        assert a[at["peg1"]][0] == pytest.approx((push + swing * rate**2) / inertia, abs=1e-11)
