"""Joints that stick and slide as modes, ``friction="exact"``: closed forms, and what must hold."""

from __future__ import annotations

import contextlib
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, linprog

import robodyn as rd
from robodyn.errors import SettingsError, SingularWarning, UnknownNameError
from robodyn.impacts.complementarity import bounded, evenly_shared

G, M, F = 9.81, 2.0, 3.0


def sliders(*joints, kind="prismatic", at=(0, 0, 0), **options):
    """Bodies of 2 kg: name, parent, axis and dry friction of the joint of each."""
    body = f'<mass value="{M}"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    root = f"<inertial>{body}</inertial>" if options.get("base") == "floating" else ""
    parts = [f'<link name="w">{root}</link>']
    for name, parent, axis, friction in joints:
        parts.append(
            f'<link name="{name}"><inertial><origin xyz="{at[0]} {at[1]} {at[2]}"/>'
            f'{body}</inertial></link><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{name}"/><axis xyz="{axis}"/>'
            '<limit lower="-100" upper="100" effort="1e9" velocity="1e9"/>'
            f'<dynamics damping="0" friction="{friction}"/></joint>'
        )
    return rd.load(f'<robot name="sliders">{"".join(parts)}</robot>', **options)


def rubbing(name, friction, only="", **options):
    """A bundled linkage, all of whose joints, or one, have dry friction and nothing else."""
    text = (Path(rd.__file__).parent / f"urdf/robots/{name}.urdf").read_text()
    text = re.sub(r"<(dynamics|motor)[^>]*/>", "", text)

    def rub(found):
        joint = found.group(0)
        if f'name="{only}' not in joint:
            return joint
        own = f'<dynamics damping="0" friction="{friction}"/></joint>'
        return joint if 'type="fixed"' in joint else joint.replace("</joint>", own)

    return rd.load(re.sub(r"<joint name.*?</joint>", rub, text, flags=re.S), **options)


def moved(robot, *given, **options):
    options = {"friction": "exact", "limits": "ignore", "duration": 1.0, **options}
    return rd.simulate(robot, *given, **options)


def stands(run, q):
    """Whether nothing moves, to the last digit."""
    return bool((run.q == q).all()) and not run.v.any() and not run.a.any()


def told(run):
    return [(event.name, event.time) for event in run.events]


BLOCK = sliders(("block", "w", "1 0 0", F))


@pytest.mark.parametrize("integrator", ["rk4", "euler", "adaptive", "implicit", "scipy:RK45"])
def test_a_block_slides_to_rest_and_stays_there(integrator):
    step = 1e-3 if integrator == "euler" else 7e-2
    run = moved(BLOCK, v0=[3.0], duration=2.5, step=step, integrator=integrator)
    (event,) = run.events
    assert event.name == "block sticks"
    assert event.time == pytest.approx(M * 3.0 / F, abs=1e-9)
    at_rest = run.t > event.time
    tolerance = 1e-2 if integrator == "euler" else 1e-8
    np.testing.assert_allclose(run.q[at_rest], M * 3.0**2 / (2 * F), rtol=tolerance)
    np.testing.assert_array_equal(run.q[at_rest], run.q[-1, 0])
    np.testing.assert_array_equal(run.v[at_rest], 0.0)
    np.testing.assert_array_equal(run.a[at_rest], 0.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_mass_on_an_incline_sticks_below_the_friction_angle_and_slides_above(sign):
    for slope in (0.9, 1.1):
        angle = math.asin(slope * F / (M * G))
        robot = sliders(("block", "w", f"{sign * math.cos(angle)} 0 {-sign * math.sin(angle)}", F))
        run = moved(robot, step=0.01)
        if slope < 1.0:
            np.testing.assert_array_equal(run.q, 0.0)
            assert told(run) == [("block sticks", 0.0)]
        else:
            np.testing.assert_allclose(sign * run.q[:, 0], 0.05 * F / M * run.t**2, atol=1e-12)
            assert not run.events
        uphill = -sign * min(slope, 1.0) * F
        np.testing.assert_allclose(run.friction_forces["block"], uphill, rtol=1e-12)
        assert abs(run.audit.unexplained).max() < 1e-12


def on_belt(law, speed=0.1, stiffness=50.0, **options):
    """A block on a belt, held by a spring from the world."""
    belt = sliders(("belt", "w", "1 0 0", 0.0), ("block", "belt", "1 0 0", F))

    def spring(t, q, v):
        return {"block": [-stiffness * (q[0] + q[1]), 0, 0, 0, 0, 0]}

    path = {"belt": lambda t: (speed * t, speed, 0.0)}
    options = {"duration": 4.0, "step": 4e-3, **options}
    start = {"q0": [0.0, 0.0], "v0": [speed, 0.0]}
    return moved(belt, controlled=path, wrenches=spring, friction=law, **start, **options)


@pytest.mark.slow
def test_the_period_of_a_block_on_a_belt():
    """It sticks up to static friction of the spring, then swings about kinetic friction."""
    run = on_belt(rd.DryFriction(static=1.5))
    w, over = math.sqrt(50.0 / M), 0.5 * F / 50.0
    slides, sticks = 2.0 / w * (math.pi - math.atan(w * over / 0.1)), 2.0 * over / 0.1
    assert [name for name, _ in told(run)[:4]] == ["block sticks", "block slides"] * 2
    first, *others = np.array([at for _, at in told(run)[1:]])
    assert first == pytest.approx(1.5 * F / 50.0 / 0.1, rel=1e-10)
    wanted = np.resize([slides, sticks], len(others))
    np.testing.assert_allclose(np.diff([first, *others]), wanted, rtol=1e-7)
    assert len(others) >= 4
    assert abs(run.audit.unexplained).max() < 1e-7


@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_stribecks_fall_is_that_of_its_law(base):
    """Sliding to rest against an independent integration of the scalar equation."""
    law = rd.DryFriction(static={"block": 1.8}, stribeck_speed={"block": 0.4})
    run = moved(BLOCK.with_(base=base), v0=[1.0], step=1e-3, friction=law)

    def slope(t, x):
        return [-F / M * (1.0 + 0.8 * math.exp(-((x[0] / 0.4) ** 2)))]

    def rest(t, x):
        return x[0]

    rest.terminal = True
    found = solve_ivp(slope, (0.0, 2.0), [1.0], events=rest, rtol=1e-12, atol=1e-14)
    assert run.events[0].time == pytest.approx(found.t_events[0][0], rel=1e-9)
    assert abs(run.audit.unexplained).max() < 1e-9 * run.audit.exchanged


def test_two_stacked_blocks_stick_together_or_slip():
    """The lower one is pulled: both rest, both move as one, or the upper one is left behind."""
    upper, lower = 1.0, 4.0
    stack = sliders(("lower", "w", "1 0 0", lower), ("upper", "lower", "1 0 0", upper))
    most = lower + 2 * M * upper / M  # beyond it the upper one is too slow
    for pull in (0.9 * lower, 0.5 * (lower + most), 1.5 * most):
        run = moved(stack, lambda t, q, v, pull=pull: [pull, 0.0], duration=0.5, step=0.01)
        if pull < lower:
            np.testing.assert_array_equal(run.q, 0.0)
            a, carried = 0.0, 0.0
        elif pull < most:
            a = (pull - lower) / (2 * M)
            carried = M * a
            np.testing.assert_array_equal(run.q[:, 1], 0.0)
        else:
            a, carried = (pull - lower - upper) / M, upper
            relative = upper / M - a
            np.testing.assert_allclose(run.q[:, 1], 0.5 * relative * run.t**2, atol=1e-12)
        np.testing.assert_allclose(run.q[:, 0], 0.5 * a * run.t**2, atol=1e-12)
        np.testing.assert_allclose(run.friction_forces["upper"], carried, rtol=1e-10, atol=1e-12)


def test_the_upper_block_catches_up_and_sticks():
    """Thrown onto the lower one it rubs, both reach one speed, and go on to rest as one."""
    upper, lower = 5.0, 1.0
    stack = sliders(("lower", "w", "1 0 0", lower), ("upper", "lower", "1 0 0", upper))
    run = moved(stack, v0=[0.0, 2.0], duration=8.0, step=0.01)
    a = (upper - lower) / M, -upper / M
    together = 2.0 / (a[0] - a[1])
    names, times = zip(*told(run), strict=True)
    assert names == ("upper sticks", "lower sticks")
    assert times[0] == pytest.approx(together, rel=1e-9)
    assert times[1] == pytest.approx(together + a[0] * together * 2 * M / lower, rel=1e-9)
    assert abs(run.audit.unexplained).max() < 1e-9


def test_a_pendulum_swings_into_the_friction_band():
    """Each half swing loses the friction times its angle; it stops where friction holds it."""
    arm = sliders(("arm", "w", "0 1 0", 0.8), kind="revolute", at=(0, 0, -0.5))
    run = moved(arm, q0=[1.5], duration=10.0, step=2e-3)
    weight, angle, turns = M * G * 0.5, 1.5, []
    while weight * math.sin(abs(angle)) > 0.8:
        way = -np.sign(angle)

        def left(x, angle=angle, way=way):
            return weight * (math.cos(x) - math.cos(angle)) - 0.8 * abs(x - angle)

        angle = brentq(left, angle + 1e-6 * way, way * abs(angle), xtol=1e-14)
        turns.append(angle)
    assert len(turns) > 3
    q = run.q[np.append(np.diff(run.t) > 0.0, True), 0]
    extremes = q[1:-1][np.diff(q)[:-1] * np.diff(q)[1:] < 0.0]
    np.testing.assert_allclose(run.q[-1], turns[-1], atol=1e-7)
    np.testing.assert_allclose(extremes, turns[:-1], atol=1e-8)
    np.testing.assert_array_equal(run.q[run.t > run.events[-1].time], run.q[-1, 0])
    assert abs(run.audit.unexplained).max() < 1e-8 * run.audit.exchanged


@pytest.mark.slow
def test_a_double_pendulum_sticks_as_mujocos_does():
    """There friction is a soft constraint: a stiff one with short steps is nearly Coulomb's."""
    mujoco = pytest.importorskip("mujoco")

    stiff = 'solreffriction="2e-4 1" solimpfriction="0.9999 0.9999 0.001 0.5 2"'
    text = f"""<mujoco><option timestep="1e-4"/><compiler angle="radian"/><worldbody>
        <body name="upper"><joint name="shoulder" axis="0 1 0" frictionloss="0.6" {stiff}/>
        <inertial pos="0 0 -0.5" mass="1" diaginertia="0.02 0.02 0.001"/>
        <body name="lower" pos="0 0 -0.6"><joint name="elbow" axis="0 1 0" frictionloss="0.3"
        {stiff}/><inertial pos="0 0 -0.3" mass="0.7" diaginertia="0.01 0.01 0.001"/>
        </body></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data, times, states = mujoco.MjData(model), [], []
    data.qpos[:] = [1.2, -0.4]
    for k in range(40000):
        mujoco.mj_step(model, data)
        if k % 100 == 0:
            times.append(data.time)
            states.append(data.qpos.copy())
    run = moved(rd.load(text), q0=[1.2, -0.4], duration=4.0)
    assert sum(name.endswith("sticks") for name, _ in told(run)) >= 4
    np.testing.assert_allclose(run.resample(np.array(times)).q, states, atol=1e-3)


@pytest.mark.slow
def test_an_arm_without_torque_stays_where_friction_holds_it():
    robot = rd.load("arm7")
    q = np.array([0.3, 0.02, -0.2, 0.01, 0.4, 0.01, 0.2])  # nearly upright
    held = moved(robot.with_(gravity=(0, 0, -0.5)), q0=q, duration=3.0)
    assert stands(held, q)
    weight = held.robot.gravity_forces(q)
    for name, force in held.friction_forces.items():
        np.testing.assert_allclose(force, weight[robot.joints[name].v][0], atol=1e-12)


@pytest.mark.slow
def test_what_sticks_and_slides_in_a_falling_arm_obeys_coulomb():
    robot = rd.load("arm7")
    v = [0.05, 0.1, -0.2, 0.02, 0.5, 0.7, -0.3]
    run = moved(robot, q0=[0, 0.3, 0, 0.6, 0.2, -0.4, 0.1], v0=v)
    assert len(run.events) >= 6
    friction = {joint.name: joint.friction for joint in robot.mechanism.joints}
    for name, force in run.friction_forces.items():
        most, speed = friction[name], run[name].v
        assert (abs(force) <= most * (1 + 1e-9)).all()
        slides = speed != 0.0
        np.testing.assert_array_equal(force[slides], -most * np.sign(speed[slides]))
    assert abs(run.audit.unexplained).max() < 1e-6 * run.audit.exchanged
    for integrator in ("adaptive", "implicit"):
        other = moved(robot, q0=run.q[0], v0=v, step=5e-3, integrator=integrator, tolerance=1e-10)
        assert [name for name, _ in told(other)] == [name for name, _ in told(run)]
        np.testing.assert_allclose(*([at for _, at in told(x)] for x in (other, run)), atol=1e-7)
        np.testing.assert_allclose(other.q[-1], run.q[-1], atol=1e-7)
    smooth = rd.simulate(
        robot.with_(friction_speed=1e-6), q0=run.q[0], v0=v, integrator="implicit",
        tolerance=1e-9, limits="ignore",
    )  # fmt: skip
    np.testing.assert_allclose(run.q[-1], smooth.q[-1], atol=2e-5)


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_a_four_bar_is_held_by_all_its_joints_together(coordinates):
    """By virtual work: up to the sum of each friction times its speed over the crank's."""
    robot = rubbing("four_bar", 0.02, coordinates=coordinates)
    q, v = robot.neutral(), np.ones(1)
    if robot.nc:
        v = robot.consistent_velocity(q, [1.0, 0, 0], hold=["crank_drive"])
    ratios = {name: float(x / v[0]) for name, x in robot.joint_velocities(q, v).items()}
    assert len(ratios) == 4
    most = 0.02 * sum(map(abs, ratios.values()))
    weight = float(robot.gravity_forces(q) @ v / v[0])
    law = rd.DryFriction(static=1.5)
    for part in (-0.999, 0.999, 1.001):
        torque = np.zeros(robot.nv)
        torque[0] = weight + 1.5 * part * most
        run = moved(robot, lambda t, q, v, torque=torque: torque, q0=q, duration=0.02, friction=law)
        assert stands(run, run.q[0]) == (abs(part) < 1.0)
        told = pytest.warns(SingularWarning, match="not determined: ")
        with told if abs(part) < 1.0 else contextlib.nullcontext():
            forces = run.friction_forces
        if abs(part) < 1.0:
            work = sum(forces[name] * ratio for name, ratio in ratios.items())
            np.testing.assert_allclose(work, -1.5 * part * most, rtol=1e-9)
        assert all((abs(x) <= 0.03 * (1 + 1e-9)).all() for x in forces.values())
    with pytest.raises(SettingsError, match="how its joints share friction"):
        run.joint_wrenches()


@pytest.mark.slow
def test_a_four_bar_that_swings_is_the_same_in_all_coordinates():
    """Through dead centres, where joints turn back while all move, and until friction holds it."""
    runs = []
    for coordinates in ("tree", "minimal"):
        robot = rubbing("four_bar", 0.05, coordinates=coordinates)
        q, v = robot.neutral(), np.array([8.0])
        if robot.nc:
            v = robot.consistent_velocity(q, [8.0, 0, 0], hold=["crank_drive"])
        run = moved(robot, q0=q, v0=v, duration=6.0, step=2e-3)
        assert abs(run.audit.unexplained).max() < 1e-6 * run.audit.exchanged
        runs.append((run["crank_drive"].q, told(run)))
        crank, rocker = (np.sign(run[name].v) for name in ("crank_drive", "rocker_pivot"))
        turned = np.diff(rocker) != 0.0
        assert (turned & (crank[1:] == crank[:-1])).any(), "a dead centre"
    (tree, in_tree), (minimal, in_minimal) = runs
    assert [name for name, _ in in_tree] == [name for name, _ in in_minimal] != []
    np.testing.assert_allclose(tree[-1], minimal[-1], atol=1e-5)
    assert tree[-1] == tree[-2]


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
@pytest.mark.parametrize("sticks", ["left_drive", "right_elbow"])
def test_much_friction_in_one_joint_of_a_linkage_locks_it(sticks, coordinates):
    """It moves as one whose joint is locked, and friction is the torque that locking takes."""
    robot = rubbing("five_bar", 50.0, only=sticks, coordinates=coordinates)
    q = robot.assemble(robot.neutral()) if robot.nc else robot.neutral()
    run = moved(robot, q0=q, duration=0.2, step=1e-3)
    assert told(run) == [(f"{sticks} sticks", 0.0)]
    assert abs(run.v).max() > 0.1
    np.testing.assert_allclose(run[sticks].q, run[sticks].q[0], atol=1e-9)
    assert abs(run.audit.dissipated).max() < 1e-7 * run.audit.exchanged
    if sticks not in robot.joint_names:
        return
    assert (run[sticks].q == run[sticks].q[0]).all()
    assert not run[sticks].v.any()
    held = moved(robot, q0=q, duration=0.2, step=1e-3, locked=[sticks], friction="smooth")
    np.testing.assert_allclose(run.q, held.q, atol=1e-8)
    np.testing.assert_allclose(run.friction_forces[sticks], held[sticks].tau, atol=1e-6)


@pytest.mark.slow
def test_a_driven_linkage_rubs_against_its_drive():
    """What drives a joint against its friction is part of the energy audit."""
    robot = rubbing("five_bar", 0.1)
    q = robot.assemble(robot.neutral())
    drive = robot.joint_names[0]

    def path(t):
        x, w = 0.3 * math.sin(3 * t) ** 2, 6.0
        return q[0] + x, 0.9 * math.sin(w * t), 5.4 * math.cos(w * t)

    run = moved(robot, q0=q, duration=0.8, step=1e-3, controlled={drive: path})
    np.testing.assert_allclose(
        run.friction_forces[drive][1:], -0.1 * np.sign(run.v[1:, 0]), atol=1e-12
    )
    assert abs(run.audit.unexplained).max() < 1e-5 * run.audit.exchanged


def test_complementarity_of_bounded_forces():
    rng = np.random.default_rng(0)
    for n, rank in ((1, 1), (3, 3), (5, 2), (6, 4)):
        for _ in range(20):
            J = rng.normal(size=(rank, n))
            A, b, most = J.T @ J, J.T @ rng.normal(size=rank) * 3.0, rng.uniform(0.1, 2.0, n)
            p = bounded(A, b, most)
            rate = A @ p + b
            assert (abs(p) <= most).all()
            inside = abs(p) < most * (1 - 1e-12)
            np.testing.assert_allclose(rate[inside], 0.0, atol=1e-9)
            assert (p[~inside] * rate[~inside] <= 1e-9).all()
            shared = evenly_shared(A, b, most)
            np.testing.assert_allclose(A @ shared, -b, atol=1e-9)
            bounds = [(None, None)] * n + [(0.0, None)]
            pairs = np.c_[np.vstack([np.eye(n), -np.eye(n)]), -np.r_[most, most]]
            wanted = linprog(
                np.r_[np.zeros(n), 1.0], pairs, np.zeros(2 * n), np.c_[J, np.zeros(rank)],
                -np.linalg.lstsq(J.T, b, rcond=None)[0], bounds,
            )  # fmt: skip
            assert max(abs(shared) / most) == pytest.approx(wanted.fun, rel=1e-7)


class Waving:
    """Torques that machine code computes; called by Python where it is wrapped in a function."""

    symbolic = True

    def __init__(self, amplitude):
        self.amplitude = np.asarray(amplitude, float)

    def __call__(self, t, q, v):
        return self.amplitude * np.sin(7.0 * t) - 0.2 * v


@pytest.mark.slow
@pytest.mark.parametrize("driven", [False, True])
def test_machine_code_and_python_find_the_same_modes(driven):
    """A controller in Python, and machine code between the same events."""
    stack = sliders(("lower", "w", "1 0 0", 4.0), ("upper", "lower", "1 0 0", 1.0))
    law = Waving([9.0, 2.0])
    options = {"step": 1e-3, "friction": rd.DryFriction(1.3, 0.1), "duration": 2.0}
    if driven:
        options |= {"controlled": {"upper": lambda t: (0.1 * t**2, 0.2 * t, 0.2)}}
    fast = moved(stack, law, **options)
    slow = moved(stack, lambda t, q, v: law(t, q, v), **options)
    assert len(fast.events) >= 4
    assert [name for name, _ in told(fast)] == [name for name, _ in told(slow)]
    np.testing.assert_allclose(*([at for _, at in told(x)] for x in (fast, slow)), atol=1e-10)
    np.testing.assert_allclose(fast.q, slow.q, atol=1e-11)
    np.testing.assert_allclose(fast.tau, slow.tau, atol=1e-9)


@pytest.mark.slow
def test_friction_within_a_floating_body_gives_it_no_momentum():
    robot = sliders(
        ("a", "w", "1 0 0", F), ("b", "a", "0 1 0", 2 * F), base="floating", gravity=(0, 0, 0)
    )
    v = np.r_[0.1, 0.2, -0.1, 0.3, -0.2, 0.1, 1.0, -2.0]
    run = moved(robot, q0=robot.neutral(), v0=v, duration=2.5, step=5e-3)
    assert {name for name, _ in told(run)} >= {"a sticks", "b sticks"}
    momentum = robot.momentum(run.q, run.v)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-9)
    assert abs(run.audit.unexplained).max() < 1e-9


def test_friction_holds_a_joint_at_its_stop_beside_the_stop():
    """It slides into a plastic stop, is pulled off less than friction holds, and then more."""
    robot = rd.load(
        '<robot name="r"><link name="w"/><link name="b"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="b" type="prismatic"><parent link="w"/><child link="b"/><axis xyz="1 0 0"/>'
        '<limit lower="0" upper="9" effort="0" velocity="0"/>'
        '<dynamics damping="0" friction="3"/></joint></robot>'
    )
    run = moved(
        robot, lambda t, q, v: [2.0 if t < 1.5 else 5.0], q0=[0.5], v0=[-3.0], duration=2.0,
        step=0.01, stops=rd.RigidStops(),
    )  # fmt: skip
    slows = 5.0 / M
    hit = (3.0 - math.sqrt(9.0 - slows)) / slows
    assert told(run)[0] == ("b at its lower stop", pytest.approx(hit, rel=1e-9))
    later = run.t >= 1.5
    held = run[(run.t > hit + 1e-9) & ~later]
    assert stands(held, held.q[0])
    assert abs(held.q[0]) < 1e-12
    np.testing.assert_allclose(run.q[later, 0], 0.5 * (run.t[later] - 1.5) ** 2, atol=1e-12)


def test_a_motion_that_another_event_changes_goes_on_with_its_friction():
    catch = rd.Event(
        0.5, rd.events.grasp("block", rd.Inertia.from_matrix(2.0, (0, 0, 0), np.eye(3)))
    )
    run = moved(BLOCK, v0=[3.0], duration=3.0, step=0.01, events=[catch])
    v = (3.0 - 0.5 * F / M) / 2.0 if run.v[-1, 0] else None
    names = [name for name, _ in told(run)]
    assert names[-1] == "block sticks"
    assert v is None
    np.testing.assert_array_equal(run.v[run.t > run.events[-1].time], 0.0)


def test_a_saved_motion_knows_that_its_joints_stick(tmp_path):
    run = moved(BLOCK, v0=[1.0], step=0.01, friction=rd.DryFriction({"block": 1.5}, 0.2))
    run.save(tmp_path / "run.npz")
    read = rd.Trajectory.load(tmp_path / "run.npz", BLOCK)
    assert read.friction == run.friction
    np.testing.assert_array_equal(read.audit.dissipated, run.audit.dissipated)
    np.testing.assert_array_equal(read.friction_forces["block"], run.friction_forces["block"])
    run.save(tmp_path / "run.csv")
    with pytest.raises(SettingsError, match="that joints stick"):
        _ = rd.Trajectory.load(tmp_path / "run.csv", BLOCK).friction_forces


def test_a_locked_joint_takes_no_friction_and_leaves_that_of_others_determined():
    arm = sliders(("a", "w", "1 0 0", F), ("b", "a", "1 0 0", F))
    run = moved(arm, lambda t, q, v: [0.0, 1.0], locked=["a"], duration=0.1)
    assert stands(run, 0.0)
    with warnings.catch_warnings(action="error"):
        np.testing.assert_array_equal(run.friction_forces["a"], 0.0)
    np.testing.assert_allclose(run.friction_forces["b"], -1.0, atol=1e-12)


def test_what_cannot_be():
    for name, wrong in (("static", 0.9), ("static", {}), ("stribeck_speed", -1.0)):
        with pytest.raises(SettingsError, match=f"{name} is "):
            rd.DryFriction(**{name: wrong})
    with pytest.raises(UnknownNameError, match="no joint with dry friction"):
        moved(BLOCK, friction=rd.DryFriction(static={"blok": 1.5}))
    with pytest.raises(SettingsError, match="simulate each by itself"):
        moved(BLOCK, parameters={"block.friction": [1.0, 2.0]})
    with pytest.raises(SettingsError, match="takes friction='smooth'"):
        moved(BLOCK, integrator="variational")
    ball = rd.load(
        rd.Mechanism(
            "ball",
            (rd.Link("w"), rd.Link("b", rd.Inertia.from_matrix(1.0, (0, 0, 0), np.eye(3)))),
            (rd.Joint("b", "floating", "w", "b", friction=1.0),),
        )
    )
    with pytest.raises(SettingsError, match="does not stick, take friction='smooth'"):
        moved(ball)


def test_ground_and_contacts_that_do_not_stick_and_slide_exactly_are_told():
    floor = rd.Ground({"tip": ("b", (0, 0, -1))}, friction=0.5)
    rubs, free = (sliders(("b", "w", "1 0 0", f)) for f in (F, 0.0))
    with pytest.warns(UserWarning, match="friction of the ground is smooth") as told:
        moved(rubs, duration=0.01, ground=floor)
    assert len(told) == 1
    with pytest.raises(SettingsError, match="have no dry friction; friction of the ground"):
        moved(free, duration=0.01, ground=floor)
    touching = free.with_(contacts={"b": rd.Contact("point")})
    with pytest.raises(SettingsError, match=r"contacts \(b\) hold whatever"):
        moved(touching, duration=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved(rubs, duration=0.01, ground=rd.Ground({"tip": ("b", (0, 0, -1))}))
        moved(rubs.with_(contacts={"b": rd.Contact("grip")}), duration=0.01)
