"""Hits by one function of machine code: as by the equations of contacts, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import ImpactError, RobodynError, SettingsError, ShapeError

ROBOTS = ("arm7", "palletizer", "bricard", "two_feet")


class Case:
    """A robot whose last link moves toward a wall."""

    def __init__(self, name: str, **options: object) -> None:
        self.robot = r = rd.load(name, **options)
        rng = np.random.default_rng(5)
        self.q = r.random(6)
        self.v = r.consistent_velocity(self.q, rng.uniform(-1.0, 1.0, r.nv))
        self.link, self.point = r.link_names[-1], np.array([0.1, -0.2, 0.3])
        J = r.frame_jacobian(self.q, self.link, axes="world")
        arm = r.frame_pose(self.q, self.link)[:3, :3] @ self.point
        self.J = J[:3] + np.cross(J[3:].T, arm).T
        way = np.array([1.0, 2.0, 0.5])
        self.direction = -way if way @ self.J @ self.v > 0.0 else way

    def hit(self, **other: object) -> rd.Impact:
        given = {"restitution": 0.3, **other}
        return self.robot.impact(self.q, self.v, self.link, self.point, self.direction, **given)


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    return Case(request.param)


def close(found, expected):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * scale)


def test_as_by_the_equations_of_contacts(case):
    # the same hit, of a wall that is a body with no end of mass
    wall = rd.PointMass(1e15, [0.0, 0.0, 0.0])
    expected = case.hit(against=wall)
    for _ in range(2):
        found = case.hit()
        for name in ("v", "impulse", "energy_loss"):
            close(getattr(found, name), getattr(expected, name))
        close(found.joint_impulses.values_array, expected.joint_impulses.values_array)
        assert found.against_v is None


def test_the_first_call_is_as_all_others():
    for name in ("arm7", "palletizer"):
        case = Case(name)
        hits = [case.hit() for _ in range(3)]
        for hit in hits:  # the same code, with the same numbers
            np.testing.assert_array_equal(hit.v, hits[0].v)
            np.testing.assert_array_equal(hit.impulse, hits[0].impulse)


def test_newtons_rebound(case):
    case.hit()
    n = case.direction / np.linalg.norm(case.direction)
    before, after = n @ case.J @ case.v, n @ case.J @ case.hit().v
    assert before < 0.0
    close(after, -0.3 * before)
    half = 0.5 * case.robot.mass_matrix(case.q)
    v = case.hit().v
    close(case.hit().energy_loss, case.v @ half @ case.v - v @ half @ v)


def test_batches(case):
    case.hit()
    Q, V = np.repeat(case.q[None], 3, 0), case.v * np.array([[1.0], [0.5], [2.0]])
    found = case.robot.impact(Q, V, case.link, case.point, case.direction, restitution=0.3)
    for k, factor in enumerate((1.0, 0.5, 2.0)):
        close(found.v[k], factor * case.hit().v)
        close(found.energy_loss[k], factor**2 * case.hit().energy_loss)
    assert found.impulse.shape == (3, 3)


def test_what_cannot_hit_is_refused(case):
    r, q, v = case.robot, case.q, case.v
    for _ in range(2):
        case.hit()
        with pytest.raises(ImpactError, match="behind it"):
            r.impact(q, v, case.link, case.point, -case.direction)
        with pytest.raises(ShapeError):
            r.impact(q, v, case.link, case.point, [0.0, 0.0, 0.0])
        with pytest.raises(RobodynError):
            r.impact(q, v * np.nan, case.link, case.point, case.direction)


@pytest.mark.parametrize("restitution", [-0.1, 1.1, np.nan, True, np.array([0.1, 0.2]), "all"])
def test_wrong_restitutions_are_refused(case, restitution):
    case.hit()
    with pytest.raises((SettingsError, ShapeError)):
        case.hit(restitution=restitution)


def test_other_numbers(case):
    for one in (1, 1.0, np.float64(1.0)):
        close(case.hit(restitution=one).energy_loss, 0.0)
    expected = case.robot.impact(case.q, case.v, case.link, case.point, case.direction)
    for zero in (0, 0.0, np.float32(0.0)):
        close(case.hit(restitution=zero).v, expected.v)


def test_a_moving_base():
    still, moving = Case("arm7"), Case("arm7", base="moving")
    expected = still.hit()
    for _ in range(2):
        found = moving.hit()
        close(found.v, expected.v)
        close(found.joint_impulses.base, expected.joint_impulses.base)


@pytest.mark.parametrize("how", ["particle", "simultaneous"])
def test_arrays_of_a_base_may_change_before_joint_impulses_are_asked_for(how):
    case = Case("pan_tilt", base="moving")
    r, ball = case.robot, rd.PointMass(1.0, [0.0, 0.0, 0.0])

    def hit(base):
        if how == "particle":
            return case.hit(against=ball, base=base)
        walls = [rd.Hit(case.link, case.point, case.direction)]
        return r.simultaneous_impacts(case.q, case.v, walls, base=base)

    base = rd.BaseMotion(np.eye(4), np.zeros(6), np.zeros(6))
    expected = hit(base).joint_impulses.in_frame("world").values_array
    found = hit(base)
    base.pose[:3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    close(found.joint_impulses.in_frame("world").values_array, expected)
