"""Jumps under given impulses and couples, and how points give way to them [W 6.18-6.29]."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism

#: A tree, a planar linkage, one with rows that follow from others, one that stands.
ROBOTS = ("arm7", "palletizer", "bricard", "two_feet")


class State:
    """A robot in a state, with impulses and couples on two links."""

    def __init__(self, name: str) -> None:
        self.robot = r = rd.load(name)
        rng = np.random.default_rng(7)
        self.q = r.random(4)
        self.v = r.consistent_velocity(self.q, rng.uniform(-1.0, 1.0, r.nv))
        links = r.link_names
        self.links = links[-1], links[len(links) // 2]
        self.wrenches = {link: rng.normal(size=6) for link in self.links}
        self.points = dict(zip(self.links, rng.uniform(-0.2, 0.2, (2, 3)), strict=True))
        self.M, self.K = r.mass_matrix(self.q), r.loop_jacobian(self.q)
        self.free = list(range(r.nv))

    def jump(self, force, held=()):
        """By one dense system for all speeds."""
        free = [k for k in self.free if k not in held]
        M, K = self.M[np.ix_(free, free)], self.K[:, free]
        whole = np.block([[M, K.T], [K, np.zeros((len(K), len(K)))]])
        right = np.concatenate([force[free], np.zeros((len(K), *force.shape[1:]))])
        found = np.zeros(force.shape)
        found[free] = np.linalg.lstsq(whole, right, rcond=1e-11)[0][: len(free)]
        return found

    @property
    def force(self):
        J = {link: self.robot.frame_jacobian(self.q, link) for link in self.links}
        return sum(J[link].T @ x for link, x in self.wrenches.items())

    def columns(self, link):
        """Jacobian of the velocity of a point and of its link's angular velocity, world axes."""
        J = self.robot.frame_jacobian(self.q, link, axes="world")
        arm = self.robot.frame_pose(self.q, link)[:3, :3] @ self.points[link]
        return np.vstack([J[:3] + np.cross(J[3:].T, arm).T, J[3:]])

    def tensors(self, link, other=None, **given):
        place = None if other is None else (other, self.points[other])
        return self.robot.impact_tensors(self.q, link, self.points[link], place, **given)


@pytest.fixture(scope="module", params=ROBOTS)
def state(request):
    return State(request.param)


@pytest.fixture(params=["code", "solver"])
def way(request, state, monkeypatch):
    """By one function, and by the numerical way that is taken where that gives no numbers."""
    if request.param == "solver":
        monkeypatch.setattr(state.robot.impact_dynamics, "by_code", False)
        for name in ("impulses", "impact_tensors"):
            vars(state.robot).pop(name, None)
    return request.param


def close(found, expected):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * scale)


def test_jumps_energies_and_joints(state, way):
    x, r = state, state.robot
    for _ in range(2):
        found = r.impulses(x.q, x.v, x.wrenches)
        close(found.v, x.v + x.jump(x.force))
        close(found.energy_loss, 0.5 * (x.v @ x.M @ x.v - found.v @ x.M @ found.v))
        for k, (link, F) in enumerate(x.wrenches.items()):
            close(found.impulse[k], r.frame_pose(x.q, link)[:3, :3] @ F[:3])
        # what the base gives and the impulses are what momentum changes by
        change = r.momentum(x.q, found.v)[:3] - r.momentum(x.q, x.v)[:3]
        base = found.joint_impulses.in_frame("world")["base"][:3]
        close(base + found.impulse.sum(axis=0), change)
        assert found.against_v is None


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_speeds_that_have_drifted_are_those_of_closed_loops(state, size):
    """The energy is that between the speeds that fit the loops and those afterwards."""
    x, r = state, state.robot
    drift = 1e-7 * np.random.default_rng(9).normal(size=r.nv)
    strong = {link: size * F for link, F in x.wrenches.items()}
    found, still = (r.impulses(x.q, v, strong) for v in (x.v + drift, x.v))
    jump = still.v - x.v
    before = found.v - jump
    close(x.K @ before, np.zeros(r.nc))
    terms = 0.5 * jump * (x.M @ (before + found.v))  # of both signs, larger than their sum
    np.testing.assert_allclose(
        found.energy_loss, -terms.sum(), rtol=0.0, atol=1e-9 * np.abs(terms).sum()
    )


def test_impulses_at_points_and_along_axes_of_the_world(state, way):
    x, link, rng = state, state.links[0], np.random.default_rng(3)
    (f, n), at = rng.normal(size=(2, 3)), x.points[state.links[0]]
    R = x.robot.frame_pose(x.q, link)[:3, :3]
    for axes, f_L, n_L in (("body", f, n), ("world", R.T @ f, R.T @ n)):
        found = x.robot.impulses(x.q, x.v, rd.Wrench(link, f, n, at=at, axes=axes))
        same = x.robot.impulses(x.q, x.v, {link: [*f_L, *(n_L + np.cross(at, f_L))]})
        for name in ("v", "impulse", "energy_loss"):
            close(getattr(found, name), getattr(same, name))
        for joint, wrench in same.joint_impulses.items():
            close(found.joint_impulses[joint], wrench)


def test_tensors(state, way):
    x = state
    for link, other in ((x.links[0], None), x.links):
        for _ in range(2):
            J, there = x.columns(link), x.columns(link if other is None else other)
            whole, (U, V, W) = J @ x.jump(there.T), x.tensors(link, other)
            close(np.block([[U, V]]), whole[:3])
            close(W, whole[3:, 3:])


def test_reciprocity(state):
    """Maxwell's and Betti's laws [W 6.29], and a point gives way to what pushes it."""
    there, back = state.tensors(*state.links), state.tensors(*state.links[::-1])
    close(there.U, back.U.T)
    close(there.W, back.W.T)
    U, V, W = state.tensors(state.links[0])
    whole = np.block([[U, V], [V.T, W]])
    close(whole, whole.T)
    assert np.linalg.eigvalsh(whole)[0] > -1e-10 * np.abs(whole).max()


def test_a_hit_is_the_impulse_that_it_gives(state):
    x, link = state, state.links[0]
    n = -x.columns(link)[:3] @ x.v
    hit = x.robot.impact(x.q, x.v, link, x.points[link], n)
    force = x.robot.frame_pose(x.q, link)[:3, :3].T @ hit.impulse
    given = x.robot.impulses(x.q, x.v, {link: [*force, *np.cross(x.points[link], force)]})
    close(given.v, hit.v)
    close(given.energy_loss, hit.energy_loss)
    close(given.joint_impulses.values_array, hit.joint_impulses.values_array)


def test_a_base_that_moves():
    r = rd.load("arm7", base="moving")
    q, v, link = r.random(1), np.linspace(-1.0, 1.0, r.nv), r.link_names[-1]
    pose = rd.BaseMotion.from_world([1.0, 2.0, 3.0], [0.1, 0.2, 0.3, 0.9]).pose
    base = rd.BaseMotion(pose, np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1]), np.ones(6))
    F = np.array([3.0, -1.0, 2.0, 0.3, 0.4, -0.2])
    still = rd.load("arm7").impulses(q, v, {link: F})
    for _ in range(2):
        found = r.impulses(q, v, {link: F}, base=base)
        close(found.v, still.v)
        twists = [r.frame_twist(q, x, link, base=base) for x in (v, found.v)]
        close(found.energy_loss, -0.5 * F @ (twists[0] + twists[1]))
        close(found.impulse[0], pose[:3, :3] @ still.impulse[0])
        close(found.joint_impulses.base, still.joint_impulses.base)


def test_a_guided_body():
    """Illustrative example 6.1: one body, of which a point is guided along a line."""
    J = np.array([[0.5, 0.1, 0.0], [0.1, 0.7, 0.05], [0.0, 0.05, 0.6]])
    body = Link("body", Inertia.from_matrix(1.3, (0, 0, 0), J))
    free = rd.load(Mechanism("body", (body,)), base="floating")
    q, first, second = free.neutral(), np.array([0.3, -0.2, 0.4]), np.array([-0.1, 0.5, 0.2])

    def cross(x):
        return np.cross(x, np.eye(3), axisb=0, axisc=0)

    tensors = free.impact_tensors(q, "body", first, ("body", second))
    close(tensors.U, np.eye(3) / 1.3 - cross(first) @ np.linalg.inv(J) @ cross(second))
    close(tensors.V, -cross(first) @ np.linalg.inv(J))
    close(tensors.W, np.linalg.inv(J))
    F = np.array([2.0, -1.0, 0.7])
    U12, U22 = tensors.U, free.impact_tensors(q, "body", second).U
    N = np.eye(3)[:, 1:]
    guide = -N @ np.linalg.solve(N.T @ U22 @ N, N.T @ U12.T @ F)
    moment = np.cross(first, F) + np.cross(second, guide)
    hit = free.impulses(q, np.zeros(6), {"body": [*(F + guide), *moment]})
    close(np.cross(hit.v[3:], second)[1:] + hit.v[1:3], np.zeros(2))


def test_nothing_and_what_is_refused(state):
    x, r = state, state.robot
    none = r.impulses(x.q, x.v, {})
    close(none.v, x.v)
    assert none.impulse.shape == (0, 3) and none.energy_loss == 0.0
    for _ in range(2):
        r.impulses(x.q, x.v, x.wrenches)
        with pytest.raises(rd.errors.UnknownNameError):
            r.impulses(x.q, x.v, {"nothing": np.zeros(6)})
        for wrong in (np.zeros(5), [np.nan] * 6, [1e200] * 6, "all"):
            with pytest.raises(rd.errors.ShapeError):
                r.impulses(x.q, x.v, {x.links[0]: wrong})
        with pytest.raises(rd.errors.ShapeError):
            r.impulses(x.q, x.v, [1.0] * 6)
        with pytest.raises(rd.errors.ShapeError, match="other"):
            r.impact_tensors(x.q, x.links[0], np.zeros(3), "link")
        with pytest.raises(rd.errors.UnknownNameError):
            r.impact_tensors(x.q, x.links[0], np.zeros(3), ("nothing", np.zeros(3)))


def test_at_a_time():
    path = rd.JointMap(
        1, lambda q, t: [[1, 0, 0, q[0] + t], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    )
    body = Inertia.from_matrix(2.0, (0, 0, 0), np.eye(3))
    slide = Joint("slide", "map", "ground", "cart", map=path)
    robot = rd.load(Mechanism("cart", (Link("ground"), Link("cart", body)), (slide,))).at(0.5)
    hit = robot.impulses([0.0], [3.0], {"cart": [4.0, 0, 0, 0, 0, 0]})
    close(hit.v, [5.0])
    close(hit.energy_loss, -4.0 * 5.0)  # the cart goes at 4 m/s before and 6 after
    close(robot.impact_tensors([0.0], "cart", (0, 0, 0)).U, np.diag([0.5, 0.0, 0.0]))
