"""Derivatives of speeds after a hit, against differences of hits."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Pose

STEP = 1e-5
UP = np.array([0.2, -0.3, 0.9])


def differences(robot, hit, q, v, directions):
    """Central differences of speeds afterwards along (dq, dv)."""
    return np.array(
        [
            (hit(robot.integrate(q, STEP * dq), v + STEP * dv).v
             - hit(robot.integrate(q, -STEP * dq), v - STEP * dv).v) / (2.0 * STEP)
            for dq, dv in directions
        ]
    )  # fmt: skip


def follows_a_load(found, robot, link, hit, h=1e-5):
    """Speeds after a hit change by the parameters of a load as differences of hits do."""

    def loaded(mass):
        central = 0.02 * mass, 0.0, 0.0, 0.03 * mass, 0.0, 0.04 * mass
        load = rd.Inertia(mass, Pose((0.1, 0.2, -0.1)), *central)
        return robot.with_(payload={link: load}) if mass else robot

    dp = (loaded(2 * h).inertial_parameters - robot.inertial_parameters) / (2 * h)
    none, one, two = (hit(loaded(k * h)).v for k in range(3))
    wanted = (4.0 * one - two - 3.0 * none) / (2 * h)
    slope = found.by_parameters @ dp
    np.testing.assert_allclose(slope, wanted, atol=1e-6 * max(1.0, np.abs(wanted).max()))
    return wanted


def sway():
    return rd.BaseMotion.from_world(
        position=(0.1, 0.2, 0.0), linear_velocity=(0.5, 0.1, -0.4), angular_velocity=(0.3, 0.2, 1.0)
    )


CASES = {
    "the world": {"restitution": 0.4},
    "sticking": {"direction": None},
    "a particle": {"against": rd.PointMass(0.7, (-0.5, 0.2, -9.0)), "restitution": 0.8},
    "itself": {"against": ("upper_arm", (0.02, 0.0, 0.1)), "restitution": 0.2},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("base", ["fixed", "floating", "moving"])
def test_trees(case, base):
    robot = rd.load("puma560", base=base)
    names = robot.link_names
    options = {"direction": UP, **CASES[case]}
    if base == "moving":
        options["base"] = sway()
    if case == "itself":
        options["against"] = (names[2], (0.02, 0.0, 0.1))
    rng = np.random.default_rng(1)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    place = (names[-1], (0.03, 0.01, 0.1))

    def hit(q, v):
        return robot.impact(q, v, *place, **options)

    try:
        hit(q, v)
    except rd.ImpactError:  # it parts: the other way it approaches
        options["direction"] = -UP
    found = robot.impact_derivatives(q, v, *place, **options)
    eye, none = np.eye(robot.nv), np.zeros((robot.nv, robot.nv))
    np.testing.assert_allclose(found.v, hit(q, v).v, atol=1e-12)
    for analytic, moved in ((found.by_q, (eye, none)), (found.by_v, (none, eye))):
        wanted = differences(robot, hit, q, v, zip(*moved, strict=True)).T
        np.testing.assert_allclose(analytic, wanted, atol=2e-7 * (1.0 + np.abs(wanted).max()))


def rough(seed, base="floating"):
    """An arm that hits a floor somehow."""
    robot = rd.load("puma560", base=base)
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    place = (robot.link_names[-1], (0.03, 0.01, 0.1))
    try:
        robot.impact(q, v, *place, UP)
    except rd.ImpactError:
        v = -v
    return robot, q, v, place


#: How the slip goes on: seeds and coefficients with which it does.
SLIPS = {"slides": (0, 0.15), "ends": (4, 0.75), "turns back": (44, 0.15), "sticks": (0, 3.0)}


@pytest.mark.parametrize("way", SLIPS)
@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_hits_with_friction(way, restitution):
    seed, friction = SLIPS[way]
    robot, q, v, place = rough(seed)
    options = {"restitution": restitution, "friction": friction}

    def hit(q, v, robot=robot):
        return robot.impact(q, v, *place, UP, **options)

    assert slip_of(robot, hit(q, v), q, v, place, friction) == way
    found = robot.impact_derivatives(q, v, *place, UP, **options, parameters=True)
    np.testing.assert_allclose(found.v, hit(q, v).v, atol=1e-12)
    eye, none = np.eye(robot.nv), np.zeros((robot.nv, robot.nv))
    for analytic, moved in ((found.by_q, (eye, none)), (found.by_v, (none, eye))):
        wanted = differences(robot, hit, q, v, zip(*moved, strict=True)).T
        np.testing.assert_allclose(analytic, wanted, atol=3e-7 * (1.0 + np.abs(wanted).max()))
    follows_a_load(found, robot, place[0], lambda robot: hit(q, v, robot))


def slip_of(robot, hit, q, v, place, friction):
    """What became of a slip."""
    n = UP / np.linalg.norm(UP)
    before, after = (sliding(robot, q, speeds, place, n) for speeds in (v, hit.v))
    if np.linalg.norm(after) < 1e-9:
        return "sticks"
    along = before / np.linalg.norm(before)
    if abs(after @ along) < 1e-9:
        return "ends"
    push = hit.impulse - n * (hit.impulse @ n)
    assert np.linalg.norm(push) == pytest.approx(friction * (hit.impulse @ n))
    return "slides" if push @ along < 0.0 else "turns back"


def sliding(robot, q, v, place, n):
    """Velocity of the point along the floor."""
    V, X = robot.frame_twist(q, v, place[0], axes="world"), robot.frame_pose(q, place[0])
    u = V[:3] + np.cross(V[3:], X[:3, :3] @ place[1])
    return u - n * (u @ n)


def test_a_slip_that_begins_in_a_hit_has_no_derivative():
    """An arm that falls without turning: its hand slides off, to where it did not go before."""
    robot, q, _, place = rough(0)
    v = np.zeros(robot.nv)
    v[:3] = 0.3, -0.5, 0.8
    normal = -sum(v[k] * robot.frame_pose(q, robot.link_names[0])[:3, k] for k in range(3))
    assert np.linalg.norm(robot.impact(q, v, *place, normal, friction=0.01).v[3:6]) > 0.1
    with pytest.raises(rd.ImpactError, match="does not slip before the hit"):
        robot.impact_derivatives(q, v, *place, normal, friction=0.01)


DRIVEN = {
    "a tree": ("puma560", ["joint2", "joint5"], {"restitution": 0.4, "direction": UP}),
    "sticking": ("puma560", ["joint1"], {"direction": None}),
    "on a base": ("scara", ["elbow"], {"direction": (0.1, 0.2, 0.0)}),
    **{
        f"{name}, {driven}": (name, driven, {"direction": (1, 0, 0.5), "restitution": 0.5})
        for name, driven in (("four_bar", []), ("five_bar", []), ("five_bar", ["left_drive"]))
    },
}


@pytest.mark.parametrize("case", DRIVEN)
def test_driven_joints_do_not_jump(case):
    """Differences of hits with the same joints driven, or none; and by the parameters of a load.

    Along changes of the state that keep loops closed, with the speeds that then fit.
    """
    name, driven, options = DRIVEN[case]
    robot = rd.load(name, base="moving" if case == "on a base" else "fixed")
    given = {"controlled": driven, **options}
    if robot.base == "moving":
        given["base"] = sway()
    rng = np.random.default_rng(3)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    place = robot.link_names[-1], (0.03, 0.01, 0.1)
    direction = given.pop("direction")

    def hit(q, v, robot=robot):
        return robot.impact(q, v, *place, direction, **given)

    try:
        hit(q, v)
    except rd.ImpactError:
        v = -v
        given |= {"base": rd.BaseMotion.at_rest()} if robot.base == "moving" else {}
    found = robot.impact_derivatives(q, v, *place, direction, **given, parameters=True)
    still = [robot.joints[x].v.start for x in driven]
    np.testing.assert_allclose(found.v, hit(q, v).v, atol=1e-12)
    assert not found.by_q[still].any() and not found.by_parameters[still].any()
    dq = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    h = 1e-5

    def state(s):
        near = robot.integrate(q, s * h * dq)
        x = robot.closed_state(near, np.zeros(robot.nv))[0] if robot.nc else near
        return x, robot.consistent_velocity(x, v + s * h * dv)

    dv = rng.normal(size=robot.nv)
    ends = [state(s) for s in (1.0, -1.0)]
    wanted = (hit(*ends[0]).v - hit(*ends[1]).v) / (2 * h)
    moved = robot.difference(ends[1][0], ends[0][0]) / (2 * h)
    changed = (ends[0][1] - ends[1][1]) / (2 * h)
    analytic = found.by_q @ moved + found.by_v @ changed
    np.testing.assert_allclose(analytic, wanted, atol=1e-6 * (1.0 + np.abs(wanted).max()))
    follows_a_load(found, robot, place[0], lambda robot: hit(q, v, robot))


HEAVIER = {
    "a hit": ("scara", (0.1, 0.2, 0.3), {"restitution": 0.4}),
    "sticking": ("scara", None, {}),
    "floating": ("pan_tilt", (0.3, 0.5, 0.8), {}),
    "a linkage": ("four_bar", (1.0, 0.0, 0.5), {"against": rd.PointMass(2.0, (0.0, 0.0, 0.0))}),
}


@pytest.mark.parametrize("case", HEAVIER)
def test_by_inertial_parameters(case):
    """Along a load on the link that is hit, whose parameters grow with its mass."""
    name, direction, options = HEAVIER[case]
    robot = rd.load(name, base="floating" if case == "floating" else "fixed")
    rng = np.random.default_rng(4)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    place = robot.link_names[-1], (0.02, 0.03, -0.2), direction
    try:
        robot.impact(q, v, *place, **options)
    except rd.ImpactError:
        v = -v
    found = robot.impact_derivatives(q, v, *place, **options, parameters=True)
    assert robot.impact_derivatives(q, v, *place, **options).by_parameters is None
    wanted = follows_a_load(
        found, robot, place[0], lambda robot: robot.impact(q, v, *place, **options)
    )
    assert np.abs(wanted).max() > 1e-4
