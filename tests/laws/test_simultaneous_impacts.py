"""Several hits at one instant: closed forms of free bodies, and laws on trees and linkages."""

import numpy as np
import pytest

import robodyn as rd
from robodyn import Hit, ImpactError, Inertia, Link, Mechanism, SettingsError, ShapeError

MASS, TURNING, UP = 6.0, 0.5, (0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def board():
    inertia = Inertia.from_matrix(MASS, (0, 0, 0), np.diag([0.02, TURNING, TURNING]))
    return rd.load(Mechanism("board", (Link("board", inertia),), ()), base="floating")


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_a_board_falls_flat_on_two_ends(board, e):
    ends = [Hit("board", (x, 0, 0), UP) for x in (-0.5, 0.5)]
    found = board.simultaneous_impacts(board.neutral(), [0, 0, -2, 0, 0, 0], ends, restitution=e)
    np.testing.assert_allclose(found.impulse[:, 2], (1 + e) * MASS, rtol=1e-12)
    np.testing.assert_allclose(found.v, [0, 0, 2 * e, 0, 0, 0], atol=1e-12)
    assert found.energy_loss == pytest.approx(0.5 * MASS * 4 * (1 - e * e), abs=1e-12)


def test_a_tilting_board_lifts_one_end(board):
    """The right end sinks, the left one rises: the one that parts already is pulled by none."""
    ends = [Hit("board", (x, 0, 0), UP) for x in (-0.5, 0.5)]
    v = [0, 0, -0.1, 0, 1.0, 0]  # turning about y lowers what is at positive x
    found = board.simultaneous_impacts(board.neutral(), v, ends)
    alone = board.impact(board.neutral(), v, "board", (0.5, 0, 0), UP)
    np.testing.assert_allclose(found.impulse, [[0, 0, 0], alone.impulse], atol=1e-12)
    np.testing.assert_allclose(found.v, alone.v, atol=1e-12)


def test_three_particles_each_with_its_own_velocity(board):
    balls = [rd.PointMass(0.5, (0, 0, s)) for s in (1.0, 2.0, 4.0)]
    hits = [Hit("board", (x, 0, 0), UP, b) for x, b in zip((-0.5, 0, 0.5), balls, strict=True)]
    q, v = board.neutral(), np.zeros(6)
    found = board.simultaneous_impacts(q, v, hits, restitution=1.0)
    momentum = sum(0.5 * np.asarray(b.velocity) for b in balls)
    after = sum(0.5 * w for w in found.against_v) + MASS * found.v[:3]
    np.testing.assert_allclose(after, momentum, atol=1e-12)
    before = sum(0.25 * (np.asarray(b.velocity) ** 2).sum() for b in balls)
    left = sum(0.25 * (w**2).sum() for w in found.against_v) + board.kinetic_energy(q, found.v)
    assert left == pytest.approx(before, rel=1e-12)  # elastic hits lose nothing


@pytest.mark.parametrize("e", [0.0, 0.6, 0.95])
def test_what_is_caught_between_two_walls_comes_to_rest(board, e):
    """It goes back and forth between them at one instant: a geometric series of impulses."""
    walls = [Hit("board", (0, 0, 0), (0, 0, s)) for s in (1, -1)]
    found = board.simultaneous_impacts(board.neutral(), [0, 0, -2, 0, 0, 0], walls, restitution=e)
    np.testing.assert_allclose(found.v, 0.0, atol=1e-12)
    down, up = found.impulse[:, 2]
    assert (down, up) == pytest.approx((2 * MASS / (1 - e), -2 * MASS * e / (1 - e)), rel=1e-9)
    with pytest.raises(ImpactError, match="rebounds without end"):
        board.simultaneous_impacts(board.neutral(), [0, 0, -2, 0, 0, 0], walls, restitution=1.0)


ROBOTS = [("scara", "fixed"), ("arm7", "fixed"), ("four_bar", "fixed"), ("arm7", "floating")]


@pytest.mark.parametrize(("name", "base"), ROBOTS)
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_laws(name, base, e):
    """Pushes, speeds of parting and their complement, energy, and one hit as `impact` has it."""
    robot = rd.load(name, base=base)
    rng = np.random.default_rng(0)
    q = robot.random(rng) if not robot.nc else robot.neutral()
    v = rng.normal(size=robot.nv)
    if robot.nc:
        v = robot.consistent_velocity(q, v)
    links = [x for x in robot.link_names if np.abs(robot.frame_jacobian(q, x)[:3]).max() > 0.01]
    hits = [Hit(x, rng.normal(size=3) * 0.1, rng.normal(size=3)) for x in links[-3:]]
    speeds = np.array([_speed(robot, q, v, hit) for hit in hits])
    hits = [  # all approach
        Hit(x.link, x.point, -np.sign(u) * x.direction) for x, u in zip(hits, speeds, strict=True)
    ]
    speeds = -np.abs(speeds)
    found = robot.simultaneous_impacts(q, v, hits, restitution=e)
    axes = np.array([np.asarray(h.direction) / np.linalg.norm(h.direction) for h in hits])
    p = np.einsum("ki,ki->k", found.impulse, axes)
    np.testing.assert_allclose(found.impulse, p[:, None] * axes, atol=1e-12)
    parting = np.array([_speed(robot, q, found.v, hit) for hit in hits])
    rest = parting + e * speeds
    size = np.abs(speeds).max()
    assert (p >= 0.0).all() and (p > 0.0).any()
    assert (rest >= -1e-9 * size).all()
    assert np.abs(p * rest).max() <= 1e-9 * p.max() * size
    energy = [robot.kinetic_energy(q, x) for x in (v, found.v)]
    assert found.energy_loss == pytest.approx(energy[0] - energy[1], abs=1e-9 * energy[0])
    assert found.energy_loss >= -1e-12
    one = next(hit for hit, u in zip(hits, speeds, strict=True) if u < 0)
    alone = robot.impact(q, v, one.link, one.point, one.direction, restitution=e)
    same = robot.simultaneous_impacts(q, v, [one], restitution=e)
    np.testing.assert_allclose(same.v, alone.v, atol=1e-10 * np.abs(v).max())
    for name in (x for x in ("base", *robot.joint_names) if x != "floating_base"):
        np.testing.assert_allclose(same.joint_impulses[name], alone.joint_impulses[name], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
def test_points_that_part_are_pushed_back_without_a_gain_of_energy(board, e):
    """One end is hit so that the middle, which parts, would come back: none approach at the end."""
    hits = [Hit("board", (0.5, 0, 0), UP), Hit("board", (-0.5, 0, 0), UP)]
    rng = np.random.default_rng(3)
    heavy = [*hits, Hit("board", (-0.1, 0, 0), UP), Hit("board", (0, 0, 0), (0, 0, -1))]
    for v in rng.normal(size=(8, 6)):
        found = board.simultaneous_impacts(board.neutral(), v, heavy, restitution=e)
        energy = [board.kinetic_energy(board.neutral(), x) for x in (v, found.v)]
        assert energy[1] <= energy[0] * (1 + 1e-12)
        assert min(_speed(board, board.neutral(), found.v, hit) for hit in heavy) > -1e-8


def _speed(robot, q, v, hit):
    """How fast a point moves along the direction of a hit, from poses a little later."""
    h, d = 1e-6, np.asarray(hit.direction) / np.linalg.norm(hit.direction)
    at = [robot.frame_pose(robot.integrate(q, s * h * v), hit.link) for s in (-1, 1)]
    x = [X[:3, :3] @ hit.point + X[:3, 3] for X in at]
    return d @ (x[1] - x[0]) / (2 * h)


def test_joint_impulses_balance(double):
    """The base carries what the walls give, less what the momentum of the arm changes by."""
    q, v = np.array([0.3, 0.4]), np.array([1.0, 2.0])
    walls = [Hit(link, (0, 0, -1), (1, 0, 0)) for link in ("upper", "lower")]
    found = double.simultaneous_impacts(q, v, walls, restitution=0.3)
    jump = double.momentum(q, found.v) - double.momentum(q, v)
    given = found.joint_impulses["base"][:3] + found.impulse.sum(axis=0)
    np.testing.assert_allclose(given, jump[:3], atol=1e-12)


def test_batches_are_their_rows(board):
    ends = [Hit("board", (x, 0, 0), UP) for x in (-0.5, 0.5)]
    v = np.array([[0, 0, -2, 0, 0.3, 0], [0, 0, -1, 0, -0.5, 0.2]], float)
    many = board.simultaneous_impacts(board.neutral(), v, ends, restitution=0.2)
    assert many.impulse.shape == (2, 2, 3)
    for k in range(2):
        one = board.simultaneous_impacts(board.neutral(), v[k], ends, restitution=0.2)
        np.testing.assert_array_equal(many.v[k], one.v)
        np.testing.assert_array_equal(many.impulse[k], one.impulse)


def test_what_is_refused(double, board):
    q, v = board.neutral(), np.array([0, 0, 1.0, 0, 0, 0])
    end, ball = Hit("board", (0.5, 0, 0), UP), rd.PointMass(1.0, (0, 0, 0))
    with pytest.raises(ImpactError, match="no two points of the hits of 'board'"):
        board.simultaneous_impacts(q, v, [end])
    with pytest.raises(ShapeError, match=r"hits is \[\]"):
        board.simultaneous_impacts(q, v, [])
    with pytest.raises(ShapeError, match=r"hits\[0\] is tuple, expected a robodyn\.Hit"):
        board.simultaneous_impacts(q, v, [("board", (0, 0, 0), UP)])
    with pytest.raises(SettingsError, match="restitution is 2"):
        board.simultaneous_impacts(q, -v, [end], restitution=2)
    with pytest.raises(ShapeError, match=r"hits\[1\] meets a body that an earlier one meets"):
        hits = [Hit("board", (x, 0, 0), UP, ball) for x in (0, 1)]
        board.simultaneous_impacts(q, -v, hits)
    with pytest.raises(ImpactError, match="cannot give way"):
        along = Hit("lower", (0, 0, -1), UP, rd.PointMass(1.0, (0, 0, 5)))
        wall = Hit("upper", (0, 0, -1), (1, 0, 0))
        double.simultaneous_impacts([0, 0], [1, 0], [along, wall], controlled=["shoulder", "elbow"])
