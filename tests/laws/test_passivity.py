"""Passivity-based control: the energy of the error falls as it says, whatever the motion."""

import numpy as np
import pytest
from support.bundled import bundled
from support.motions import heaving

import robodyn as rd
from robodyn.controllers import PassivityBased, SineReference

CASES = [
    ("puma560", "fixed"),
    ("five_bar", "fixed"),
    ("palletizer", "fixed"),
    ("palletizer, minimal", "fixed"),
    ("satellite", "floating"),
    ("four_bar", "floating"),
    ("pan_tilt", "moving"),
    ("five_bar", "moving"),
]


class Case:
    """A robot in a random state, and motors that are to swing."""

    def __init__(self, name, base):
        name, _, coordinates = name.partition(", ")
        self.robot = robot = rd.load(name, base=base, coordinates=coordinates or "tree")
        rng = np.random.default_rng(11)
        self.base = heaving if base == "moving" else None
        self.q, v = robot.random(rng), rng.normal(size=robot.nv)
        self.v = robot.consistent_velocity(self.q, v) if robot.nc else v
        joints = [robot.joints[n] for n in robot.actuated_joints]
        self.motors = [k for j in joints for k in range(j.v.start, j.v.stop)]
        self.places = [k for j in joints for k in range(j.q.start, j.q.stop)]
        count = len(self.motors)
        self.swing = SineReference(
            self.q[self.places] + 0.3, rng.uniform(0.2, 0.6, count), rng.uniform(0.3, 1.5, count)
        )
        self.gain, self.rate = rng.uniform(1.0, 4.0, (2, robot.nv))
        self.controller = PassivityBased(
            robot, self.reference, self.gain, self.rate, base=self.base
        )

    def reference(self, t):
        q, v, a = self.q.copy(), np.zeros(self.robot.nv), np.zeros(self.robot.nv)
        q[self.places], v[self.motors], a[self.motors] = self.swing(t)
        return q, v, a

    def sliding(self, t):
        """``v - v_ref - rate (q_ref - q)`` of motors, by hand."""
        q, v, _ = self.swing(t)
        error = q - self.q[self.places]
        return self.v[self.motors] - v - self.rate[self.motors] * error


@pytest.fixture(scope="module", params=CASES, ids=lambda p: f"{p[0]}, {p[1]} base")
def case(request):
    return Case(*request.param)


def test_energy_falls_by_what_the_gain_takes(case):
    """``d(s^T M s / 2)/dt = -s^T gain s`` along the motion, at a state that is nothing special."""
    robot, controller, t, h = case.robot, case.controller, 0.3, 1e-5
    base = {"base": case.base(t)} if case.base else {}
    tau = controller(t, case.q, case.v)
    passive = np.setdiff1d(np.arange(robot.nv), case.motors)
    assert not tau[passive].any()
    a = robot.forward_dynamics(case.q, case.v, tau, **base)

    def energy(by):
        way = by * case.v + 0.5 * by * by * a
        return controller.energy(t + by, robot.integrate(case.q, way), case.v + by * a)

    falls = (energy(h) - energy(-h)) / (2 * h)
    s = case.sliding(t)
    assert falls == pytest.approx(-s @ (case.gain[case.motors] * s), rel=1e-5)
    assert energy(0.0) > 0.0


def test_energy_of_the_error_of_a_tree():
    case = Case("puma560", "fixed")
    M, s = case.robot.mass_matrix(case.q), case.sliding(0.3)
    assert case.controller.energy(0.3, case.q, case.v) == pytest.approx(0.5 * s @ M @ s)


@pytest.mark.parametrize("name, base", [("puma560", "fixed"), ("pan_tilt", "moving")])
def test_at_the_reference_it_is_inverse_dynamics(name, base):
    case = Case(name, base)
    state = case.reference(0.3)
    moving = {"base": case.base(0.3)} if case.base else {}
    expected = case.robot.inverse_dynamics(*state, **moving)
    np.testing.assert_allclose(case.controller(0.3, *state[:2]), expected, atol=1e-9)


def test_it_never_rises_in_a_simulation(puma):
    """From far away, with a rate and gains that are not critical for anything."""
    swing = SineReference(np.zeros(6), np.full(6, 0.8), np.linspace(0.3, 1.2, 6))
    controller = PassivityBased(puma, swing, gain=[20, 25, 15, 2, 2, 2], rate=4.0)
    run = rd.simulate(
        puma, controller, q0=np.full(6, 0.5), duration=2.0, step=1e-3, limits="ignore", every=10
    )
    energy = np.array(
        [controller.energy(*state) for state in zip(run.t, run.q, run.v, strict=True)]
    )
    last = int(np.argmax(energy < 1e-4 * energy[0]))  # then forces held within steps are all
    assert last > 50
    assert (np.diff(energy[: last + 1]) < 0.0).all()
    assert energy[-1] < 1e-4 * energy[0]
    wanted = np.array([swing(t)[0] for t in run.t])
    assert np.abs(run.q - wanted)[-1].max() < 5e-3 < 0.4 < np.abs(run.q - wanted)[0].max()


def test_what_it_cannot_do():
    def make(robot, **more):
        rest = np.zeros(robot.nv)
        given = {"gain": 1.0, **more}
        return PassivityBased(robot, lambda t: (robot.neutral(), rest, rest), **given)

    with pytest.raises(rd.ActuationError, match=r"'caster_table' has 9 motions and motors at 1"):
        make(rd.load("caster_table"))
    with pytest.raises(rd.ActuationError, match=r"joint 'shoulder' of 'prosthesis' do not add"):
        make(rd.load("prosthesis"))
    with pytest.raises(rd.ActuationError, match=r"'two_feet' has 8 motions and motors at 9"):
        make(bundled("two_feet"))
    robot = bundled("pan_tilt")
    for name in ("gain", "rate"):
        for wrong in (-1.0, np.nan, np.ones(3), "much"):
            with pytest.raises(rd.ShapeError, match=f"{name} is") as caught:
                make(robot, **{name: wrong})
            assert caught.value.name == name
    with pytest.raises(rd.ShapeError, match="moving base: give the controller base="):
        make(rd.load("pan_tilt", base="moving"))
