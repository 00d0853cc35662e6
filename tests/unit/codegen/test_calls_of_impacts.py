"""Hits by one function of machine code: as by the equations of contacts, and refusals."""

import numpy as np
import pytest

import robodyn as rd

ROBOTS = ("arm7", "palletizer", "bricard", "two_feet")


class Case:
    """A robot whose last link moves toward a wall."""

    def __init__(self, name: str, **options: object) -> None:
        self.robot = r = rd.load(name, **options)
        rng = np.random.default_rng(5)
        self.q = r.random(6)
        self.v = r.consistent_velocity(self.q, rng.uniform(-1.0, 1.0, r.nv))
        self.link, self.point = r.link_names[-1], np.array([0.1, -0.2, 0.3])
        self.J = self.jacobian(self.link, self.point)
        way = np.array([1.0, 2.0, 0.5])
        self.direction = -way if way @ self.J @ self.v > 0.0 else way

    def jacobian(self, link, point):
        """Of the velocity of a point, in world axes."""
        return jacobian(self.robot, self.q, link, point)

    def response(self, force, held=()):
        """Jumps under generalised impulses by one dense system, with speeds that do not jump."""
        return response(self.robot, self.q, force, held)

    def hit(self, **other: object) -> rd.Impact:
        given = {"restitution": 0.3, **other}
        return self.robot.impact(self.q, self.v, self.link, self.point, self.direction, **given)


def jacobian(robot, q, link, point):
    J = robot.frame_jacobian(q, link, axes="world")
    arm = robot.frame_pose(q, link)[:3, :3] @ point
    return J[:3] + np.cross(J[3:].T, arm).T


def response(robot, q, force, held=()):
    free = [k for k in range(robot.nv) if k not in held]
    M, K = robot.mass_matrix(q)[np.ix_(free, free)], robot.loop_jacobian(q)[:, free]
    whole = np.block([[M, K.T], [K, np.zeros((len(K), len(K)))]])
    right = np.concatenate([force[free], np.zeros((len(K), *force.shape[1:]))])
    jump = np.zeros(force.shape)
    jump[free] = np.linalg.lstsq(whole, right, rcond=1e-11)[0][: len(free)]
    return jump


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    return Case(request.param)


def close(found, expected):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * scale)


class Partner:
    """What a case may meet: its mobility, its velocity and the Jacobian at which both part."""

    def __init__(self, kind: str, case: Case) -> None:
        self.case, self.J, self.mobility = case, case.J, np.zeros((3, 3))
        self.velocity, self.joints = np.array([0.2, -0.1, 0.3]), ()
        self.against = None
        if "particle" in kind:
            self.against, self.mobility = rd.PointMass(0.7, self.velocity), np.eye(3) / 0.7
        elif "robot" in kind:
            arm, q, v = rd.load("scara"), np.array([0.1, 0.4, 0.2, 0.3]), np.array([1, -1, 2, 0.5])
            place = arm.link_names[-1], np.array([0.1, 0.0, 0.05])
            J = jacobian(arm, q, *place)
            self.against = rd.RobotPoint(arm, q, v, *place)
            self.velocity, self.mobility = J @ v, J @ response(arm, q, J.T)
        else:
            self.velocity = np.zeros(3)
        if "link" in kind:
            names = case.robot.link_names
            self.against = names[len(names) // 3], np.array([0.0, 0.3, 0.1])
            self.J = case.J - case.jacobian(*self.against)
        if "controlled" in kind:
            self.joints = case.robot.independent_joints[:1]
        joints = case.robot.joints
        self.held = [k for x in self.joints for k in range(joints[x].v.start, joints[x].v.stop)]
        self.u = self.J @ case.v - self.velocity

    def hit(self, direction, **other):
        given = {"against": self.against, "controlled": self.joints, **other}
        case = self.case
        return case.robot.impact(case.q, case.v, case.link, case.point, direction, **given)


PARTNERS = (
    "particle", "robot", "link", "controlled", "controlled particle", "controlled link",
    "controlled robot",
)  # fmt: skip


@pytest.mark.parametrize("kind", PARTNERS)
def test_partners_and_driven_joints(case, kind):
    x = Partner(kind, case)
    n = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
    n = -n if n @ x.u > 0.0 else n
    jump = case.response(x.J.T @ n, x.held)
    A = n @ x.J @ jump + n @ x.mobility @ n
    if A < 1e-9:  # driven joints leave the point no way
        return
    p = -1.4 * (n @ x.u) / A
    for _ in range(2):
        found = x.hit(n, restitution=0.4)
        close(found.v, case.v + p * jump)
        close(found.impulse, p * n)
        close(found.energy_loss, 0.5 * (1.0 - 0.4**2) * (n @ x.u) ** 2 / A)
        if "particle" in kind:
            close(found.against_v, x.velocity - p * n / 0.7)
        if "robot" in kind:
            other, J = x.against, x.against.v
            J = jacobian(other.robot, other.q, other.link, other.point)
            close(found.against_v, other.v - response(other.robot, other.q, J.T @ n) * p)


@pytest.mark.parametrize("kind", ["particle", "link", "controlled particle"])
def test_points_that_stick_or_slide_on_partners(case, kind):
    x = Partner(kind, case)
    W = x.J @ case.response(x.J.T, x.held) + x.mobility
    for _ in range(2):
        stuck = x.hit(None)
        close(W @ stuck.impulse, -x.u)
        close(stuck.v, case.v + case.response(x.J.T @ stuck.impulse, x.held))
        n = -x.u / np.linalg.norm(x.u)
        n = n + 0.4 * np.cross(n, [0.0, 0.0, 1.0])
        n /= np.linalg.norm(n)
        rubs = x.hit(n, friction=0.1, restitution=0.2)
        p_n = n @ rubs.impulse
        assert np.linalg.norm(rubs.impulse - p_n * n) <= 0.1 * p_n * (1.0 + 1e-9)
        close(n @ (x.u + W @ rubs.impulse), -0.2 * (n @ x.u))
        close(rubs.v, case.v + case.response(x.J.T @ rubs.impulse, x.held))


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
