"""Controllers of frames: errors decay as their equations say, springs are as stiff as asked for."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.bundled import bundled
from support.motions import heaving

import robodyn as rd
from robodyn import controllers as rc
from robodyn.controllers.support.frames import rotation_error
from robodyn.errors import SingularWarning
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.compile_controller import compile_controller

#: A tree, one with more motors than the frame needs, linkages, and bases that float or move.
CASES = {
    "puma560": ("puma560", "flange", (0, 1, 2, 3, 4, 5), "fixed"),
    "arm7": ("arm7", "tool", (0, 1, 2, 3, 4, 5), "fixed"),
    "points alone": ("arm7", "tool", (0, 2), "fixed"),
    "palletizer": ("palletizer", "flange", (0, 1, 2, 5), "fixed"),
    "five_bar": ("five_bar", "left_rod", (0, 4), "fixed"),
    "stewart": ("stewart", "platform", (0, 1, 2, 3, 4, 5), "fixed"),
    "floating": ("satellite", "camera", (3, 4), "floating"),
    "moving": ("pan_tilt", "lens", (3, 5), "moving"),
}
GAINS = np.array([90.0, 60.0, 120.0, 40.0, 75.0, 50.0])


def still(q, nv):
    """A reference that stays."""
    return lambda t: (q, np.zeros(nv), np.zeros(nv))


class Case:
    """A robot in a random state, and a reference that it is away from."""

    def __init__(self, name, frame, rows, base):
        self.robot = robot = rd.load(name, base=base)
        self.frame, self.rows = frame, list(rows)
        rng = np.random.default_rng(7)
        self.base = heaving if base == "moving" else None
        self.at = {"base": heaving(0.3)} if self.base else {}
        self.q, v = robot.random(rng), 0.3 * rng.normal(size=robot.nv)
        self.v = robot.consistent_velocity(self.q, v) if robot.nc else v
        way = 0.1 * rng.normal(size=robot.nv)
        if robot.nc:
            way = robot.consistent_velocity(self.q, 0.3 * way)
        self.goal = robot.integrate(self.q, way)
        if robot.nc:
            self.goal = robot.assemble(self.goal)
        speed, rate = 0.3 * rng.normal(size=(2, robot.nv))
        self.speed = robot.consistent_velocity(self.goal, speed) if robot.nc else speed
        self.rate = rate
        self.k = GAINS[: len(self.rows)]
        self.d = np.sqrt(self.k)

    def reference(self, t):
        return self.goal, self.speed, self.rate

    def motion(self, q, v, a):
        """Pose, velocity and acceleration of the frame."""
        robot, world = self.robot, {"axes": "world", **self.at}
        return (
            robot.frame_pose(q, self.frame, **self.at),
            robot.frame_twist(q, v, self.frame, **world)[self.rows],
            robot.frame_acceleration(q, v, a, self.frame, classical=True, **world)[self.rows],
        )

    def error(self, q, goal):
        """What scipy says of rotations, as twice the sine of half the angle."""
        from scipy.spatial.transform import Rotation

        X, Y = (self.robot.frame_pose(x, self.frame, **self.at) for x in (q, goal))
        turn = Rotation.from_matrix(Y[:3, :3] @ X[:3, :3].T).as_rotvec()
        angle = np.linalg.norm(turn)
        turn = turn * (2.0 * np.sin(angle / 2) / angle)
        return np.concatenate([Y[:3, 3] - X[:3, 3], turn])[self.rows]

    def options(self):
        return {"components": self.rows, "base": self.base}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return Case(*CASES[request.param])


def motors(robot):
    found = [robot.joints[n].v for n in robot.actuated_joints]
    return [k for at in found for k in range(at.start, at.stop)]


def test_half_a_turn_away_no_way_round_is_shorter():
    """There the error is none; next to it, twice the sine of half the angle and never more."""
    from scipy.spatial.transform import Rotation

    np.testing.assert_array_equal(rotation_error(np.eye(4), np.diag([1.0, -1.0, -1.0, 1.0])), 0.0)
    rng = np.random.default_rng(0)
    for less in np.logspace(-12, -2, 41):
        X, Y, axis = np.eye(4), np.eye(4), rng.normal(size=3)
        X[:3, :3] = Rotation.from_quat(rng.normal(size=4)).as_matrix()
        turn = Rotation.from_rotvec((np.pi - less) * axis / np.linalg.norm(axis))
        Y[:3, :3] = turn.as_matrix() @ X[:3, :3]
        size = np.linalg.norm(rotation_error(X, Y))
        assert size < 2.0 + 1e-6
        assert size > 1.99 or less < 1e-5


def test_a_frame_has_the_acceleration_of_its_gains(case):
    robot = case.robot
    controller = rc.OperationalSpace(
        robot, case.frame, case.reference, case.k, case.d, **case.options()
    )
    tau = controller(0.3, case.q, case.v)
    passive = np.setdiff1d(np.arange(robot.nv), motors(robot))
    assert not tau[passive].any()
    a = robot.forward_dynamics(case.q, case.v, tau, **case.at)
    _, twist, acceleration = case.motion(case.q, case.v, a)
    _, speed, wanted = case.motion(case.goal, case.speed, case.rate)
    wanted = wanted + case.d * (speed - twist) + case.k * case.error(case.q, case.goal)
    np.testing.assert_allclose(acceleration, wanted, atol=1e-8 * np.abs(wanted).max())
    assert controller.damped(0.3, case.q, case.v) == 0.0
    # beside its reference
    shift = np.arange(1.0, 1.0 + 3 * len(case.rows)).reshape(3, -1) * 0.1
    tau = controller.shifted(0.3, case.q, case.v, tuple(shift))
    a = robot.forward_dynamics(case.q, case.v, tau, **case.at)
    wanted = wanted + case.k * shift[0] + case.d * shift[1] + shift[2]
    acceleration = case.motion(case.q, case.v, a)[2]
    np.testing.assert_allclose(acceleration, wanted, atol=1e-8 * np.abs(wanted).max())


@pytest.fixture(scope="module", params=["arm7", "five_bar", "floating", "moving"])
def coded(request):
    """Those whose machine code is soon made."""
    return Case(*CASES[request.param])


@pytest.fixture(scope="module", params=[name for name in CASES if name != "floating"])
def held(request):
    """Those whose motors set all motions."""
    return Case(*CASES[request.param])


def test_a_frame_keeps_its_inertia_behind_a_spring(held):
    """``x'' - x_ref'' = A (D e' + K e + F)``, with A found by pushing."""
    robot = held.robot
    controller = rc.Impedance(robot, held.frame, held.reference, held.k, held.d, **held.options())
    tau = controller(0.3, held.q, held.v)
    a = robot.forward_dynamics(held.q, held.v, tau, **held.at)
    X, twist, acceleration = held.motion(held.q, held.v, a)
    _, speed, wanted = held.motion(held.goal, held.speed, held.rate)
    A = []
    for row in held.rows:  # accelerations by unit forces at the frame, along axes of the world
        force = np.zeros(6)
        force[row] = 1.0
        force = np.concatenate([force[:3] @ X[:3, :3], force[3:] @ X[:3, :3]])
        pushed = robot.forward_dynamics(
            held.q, held.v, tau, wrenches={held.frame: force}, **held.at
        )
        A.append(held.motion(held.q, held.v, pushed)[2] - acceleration)
    spring = held.d * (speed - twist) + held.k * held.error(held.q, held.goal)
    expected = wanted + np.transpose(A) @ spring
    np.testing.assert_allclose(acceleration, expected, atol=1e-7 * np.abs(expected).max())


def test_another_inertia_by_a_sensor(held):
    """``inertia (x'' - x_ref'') = D e' + K e + F`` under the wrench that the sensor tells."""
    robot, frame, pushes = held.robot, held.frame, np.array([3.0, -2.0, 5.0, 0.3, -0.2, 0.1])
    inertia = np.linspace(0.7, 2.5, len(held.rows))
    # what the sensor cannot say to components that do not count would move them
    X = robot.frame_pose(held.q, frame, **held.at)
    force = np.zeros(6)
    force[held.rows] = pushes[held.rows]
    wrench = np.concatenate([force[:3] @ X[:3, :3], force[3:] @ X[:3, :3]])
    controller = rc.Impedance(
        robot, frame, held.reference, held.k, held.d, inertia, lambda t: wrench, **held.options()
    )
    tau = controller(0.3, held.q, held.v)
    a = robot.forward_dynamics(held.q, held.v, tau, wrenches={frame: wrench}, **held.at)
    _, twist, acceleration = held.motion(held.q, held.v, a)
    _, speed, wanted = held.motion(held.goal, held.speed, held.rate)
    spring = held.d * (speed - twist) + held.k * held.error(held.q, held.goal)
    expected = wanted + (spring + force[held.rows]) / inertia
    np.testing.assert_allclose(acceleration, expected, atol=1e-8 * np.abs(expected).max())


def test_machine_code_is_python(coded):
    """Also of bases that move and float, whose motion is sampled with the reference."""
    robot, made = (
        coded.robot,
        [rc.OperationalSpace(coded.robot, coded.frame, coded.reference, **coded.options())],
    )
    if robot.base != "floating":
        made.append(rc.Impedance(robot, coded.frame, coded.reference, 50.0, 9.0, **coded.options()))
    for controller in made:
        law = compile_controller(robot, controller, gains_as_inputs=False)
        code = law.function(coded.q, coded.v, 0.3, *(x.at(0.3) for x in law.signals))
        expected = controller(0.3, coded.q, coded.v)
        np.testing.assert_allclose(code, expected, atol=1e-8 * np.abs(expected).max())


# -- motions --------------------------------------------------------------------------------------

START = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4])


def test_the_error_of_a_frame_decays_as_its_equation_says(puma):
    """From rest: positions as ``(1 + w t) exp(-w t)``; of a small turn, the angle."""
    goal = puma.inverse_kinematics({"flange": moved(puma, [0.03, -0.02, 0.04], 0.02)}, START)
    controller = rc.OperationalSpace(puma, "flange", still(goal.q, 6), stiffness=100.0)
    run = rd.simulate(puma, controller, q0=START, duration=0.8, step=5e-4, limits="ignore")
    X, Y = puma.frame_pose(run.q, "flange"), puma.frame_pose(goal.q, "flange")
    decay = (1 + 10 * run.t) * np.exp(-10 * run.t)
    error = (Y - X)[:, :3, 3]
    np.testing.assert_allclose(error, decay[:, None] * error[0], atol=3e-5)
    E = Y[:3, :3] @ np.swapaxes(X[:, :3, :3], 1, 2)
    turn = np.arcsin(0.5 * (E[:, 1, 0] - E[:, 0, 1]))
    np.testing.assert_allclose(turn, decay * turn[0], atol=8e-5)


def moved(robot, step, angle):
    """Where the flange is from the start, moved and turned about an axis of the world."""
    X = robot.frame_pose(START, "flange")
    c, s = np.cos(angle), np.sin(angle)
    X[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ X[:3, :3]
    X[:3, 3] += step
    return X


def test_a_line_is_followed_to_integrator_accuracy(puma):
    X = puma.frame_pose(START, "flange")
    line = rc.TaskPath.line(puma, "flange", X, moved(puma, [0.0, -0.1, 0.1], 0.3), 0.4, START)
    controller = rc.OperationalSpace(puma, "flange", line, stiffness=400.0)
    worst = []
    for step in (2e-3, 1e-3):
        run = rd.simulate(puma, controller, q0=START, duration=0.4, step=step, limits="ignore")
        wanted = puma.frame_pose(np.array([line(t)[0] for t in run.t]), "flange")
        worst.append(np.abs(puma.frame_pose(run.q, "flange") - wanted).max())
    # forces are held within a step: what is left is of its order
    assert worst[1] < 2e-4
    assert 1.6 < worst[0] / worst[1] < 2.4


@pytest.mark.slow
def test_what_the_frame_leaves_free_goes_to_its_posture(arm):
    """The tool stays where it is, while joints come nearer to a posture."""
    q0 = np.array([0.3, 0.5, -0.2, 1.2, 0.4, 0.8, 0.1])
    posture = q0 + np.array([0.6, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0])
    controller = rc.OperationalSpace(arm, "tool", still(q0, 7), 400.0, posture=posture)
    run = rd.simulate(arm, controller, q0=q0, duration=2.0, limits="ignore", every=20)
    X = arm.frame_pose(run.q, "tool")
    np.testing.assert_allclose(X, np.broadcast_to(X[0], X.shape), atol=2e-3)
    away = np.linalg.norm(run.q - posture, axis=1)
    assert away[-1] < 0.85 * away[0]
    # nearest to the posture: what is left cannot be lessened by what leaves the tool at rest
    J, M = arm.frame_jacobian(run.q[-1], "tool"), arm.mass_matrix(run.q[-1])
    free = np.linalg.svd(J)[2][-1]
    assert abs(free @ M @ (posture - run.q[-1])) < 2e-2 * abs(free @ M @ (posture - q0))


def test_a_spring_is_as_stiff_as_asked_for(puma):
    """Under a constant wrench it comes to rest ``wrench / stiffness`` away."""
    k = np.array([2000.0, 1000.0, 1500.0, 60.0, 90.0, 80.0])
    inertia = np.array([8.0] * 3 + [0.4] * 3)
    wrench = np.array([20.0, -15.0, 30.0, 0.6, -0.5, 0.9])
    controller = rc.Impedance(
        puma, "flange", still(START, 6), k, 2.0 * np.sqrt(k * inertia), inertia, lambda t: wrench
    )
    run = rd.simulate(
        puma, controller, q0=START, duration=2.5, step=2e-3, wrenches={"flange": wrench},
        limits="ignore", every=100,
    )  # fmt: skip
    q = run.q[-1]
    R = puma.frame_pose(q, "flange")[:3, :3]
    acting = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    shift = -Case.error(pushed_case(puma), q, START)
    np.testing.assert_allclose(shift, acting / k, atol=2e-5)
    assert np.abs(run.v[-1]).max() < 1e-4


def pushed_case(robot):
    case = object.__new__(Case)
    case.robot, case.frame, case.rows, case.at = robot, "flange", [0, 1, 2, 3, 4, 5], {}
    return case


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "double_pendulum"])
def test_a_spring_without_a_sensor(name):
    """Of a linkage, and of a tree: no inertia is asked for, and nothing is measured."""
    pen = np.eye(4)
    pen[:3, 3] = [0.2, 0.0, 0.3]
    link = {"five_bar": "left_rod", "double_pendulum": "lower"}[name]
    robot = rd.load(name, passive=False).with_(frames={"pen": (link, pen)})
    q0, k = robot.neutral() if robot.nc else np.array([0.4, 0.9]), np.array([800.0, 500.0])
    force = np.array([4.0, 0.0, -3.0])

    def push(t, q, v):
        R = robot.frame_pose(q, "pen")[:3, :3]
        return {"pen": np.concatenate([R.T @ force, np.zeros(3)])}

    controller = rc.Impedance(robot, "pen", still(q0, robot.nv), k, 60.0, components=(0, 2))
    run = rd.simulate(
        robot, controller, q0=q0, duration=1.6, wrenches=push, limits="ignore", every=100
    )
    X = robot.frame_pose(run.q, "pen")[:, [0, 2], 3]
    np.testing.assert_allclose(X[-1] - X[0], force[[0, 2]] / k, atol=1e-6)


def test_a_position_gives_way_as_mass_spring_and_damper(puma):
    """A step of force: the closed solution of a critically damped oscillator."""
    m, w, force = 4.0, 12.0, np.array([10.0, -6.0, 8.0])
    k = m * w * w

    def pushed(t, q, v):
        R = puma.frame_pose(q, "flange")[..., :3, :3]
        return np.concatenate([np.einsum("...ji,j->...i", R, force), 0.0 * q[..., :3]], axis=-1)

    position = rc.OperationalSpace(puma, "flange", still(START, 6), 4e4, components=(0, 1, 2))
    controller = rc.Admittance(position, pushed, m, 2.0 * m * w, k)
    run = rd.simulate(
        puma, controller, q0=START, duration=0.6, step=2e-3, limits="ignore", every=5,
        wrenches=lambda t, q, v: {"flange": pushed(t, q, v)},
    )  # fmt: skip
    x = puma.frame_pose(run.q, "flange")[:, :3, 3]
    way = 1.0 - (1.0 + w * run.t) * np.exp(-w * run.t)
    np.testing.assert_allclose(run.controller_state["shift"], way[:, None] * force / k, atol=1e-9)
    # the position controller itself gives way by the force, over 4e4 times the inertia it feels
    np.testing.assert_allclose(x - x[0], way[:, None] * force / k, atol=4e-4)
    assert np.abs(x[-1] - x[0]).max() > 0.015
    # each motion begins anew
    again = rd.simulate(
        puma, controller, q0=START, duration=0.06, step=2e-3, limits="ignore",
        wrenches=lambda t, q, v: {"flange": pushed(t, q, v)},
    )  # fmt: skip
    np.testing.assert_array_equal(again.q[::5], run.q[: len(again.q[::5])])


def test_the_shift_of_an_admittance(puma):
    """An underdamped oscillator under a force that is held, asked at odd instants."""
    m, d, k, F = 2.0, 8.0, 300.0, np.array([3.0, -2.0, 4.0, 0.1, 0.2, -0.3])
    position = rc.OperationalSpace(puma, "flange", still(START, 6))
    admittance = rc.Admittance(position, lambda t, q, v: F, m, d, k)
    R, v = puma.frame_pose(START, "flange")[:3, :3], np.zeros(6)
    force = np.concatenate([R @ F[:3], R @ F[3:]])
    decay, last, state = d / (2 * m), 0.0, None
    w = np.sqrt(k / m - decay**2)
    for t in (0.0, 0.013, 0.1, 0.37):
        c, s, fade = np.cos(w * t), np.sin(w * t), np.exp(-decay * t)
        x = (1.0 - fade * (c + decay / w * s)) / k
        dx = fade * s / (m * w)
        ddx = (1.0 - d * dx - k * x) / m
        expected = position.shifted(t, START, v, (x * force, dx * force, ddx * force))
        sample, last = ControllerSample(t, START, v, t - last, v), t
        state = admittance.initial_state(sample) if state is None else state
        tau, state = admittance.update(sample, state)
        np.testing.assert_allclose(tau, expected, atol=1e-9)
        if t == 0.0:
            np.testing.assert_array_equal(tau, admittance(t, START, v))
    at_start = ControllerSample(0.0, START, v, 0.0, v)
    _, state = admittance.update(at_start, admittance.initial_state(at_start))
    _, state = admittance.update(ControllerSample(t, START, v, t, v), state)
    np.testing.assert_allclose(state["shift"], x * force, rtol=1e-12)


# -- singular postures ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planar():
    """Two joints, and a tip in a plane."""
    robot = bundled("double_pendulum")
    rows = [
        k
        for k in range(3)
        if np.abs(robot.frame_jacobian([0.3, 0.5], "tip", axes="world")[k]).max() > 1e-9
    ]
    return robot, rows


def test_near_a_singular_posture_it_damps_and_says_so(planar):
    robot, rows = planar
    controller = rc.OperationalSpace(
        robot, "tip", still([0.4, 0.9], 2), components=rows, least=0.05
    )
    stretched, rest = np.array([0.4, 0.0]), np.zeros(2)
    with pytest.warns(SingularWarning, match="frame 'tip' of 'double_pendulum'"):
        tau = controller(0.0, stretched, rest)
    assert np.abs(tau).max() < 1e3
    assert controller.damped(0.0, stretched, rest) == pytest.approx(1.0)
    with warnings.catch_warnings(action="error"):
        controller(0.0, np.array([0.4, 0.9]), rest)
    # from a step on either side of where damping begins, torques are nearly the same
    angles = np.linspace(0.01, 0.6, 2000)
    poses = np.stack([np.full(2000, 0.4), angles], axis=-1)
    with warnings.catch_warnings(action="ignore", category=SingularWarning):
        taus = controller(0.0, poses, np.zeros((2000, 2)))
        part = controller.damped(0.0, poses, np.zeros((2000, 2)))
        alone = np.array([controller(0.0, q, np.zeros(2)) for q in poses[::100]])
    np.testing.assert_allclose(taus[::100], alone, rtol=1e-9)
    edge = int(np.argmax(part == 0.0))
    assert 5 < edge < 1995
    jumps = np.abs(np.diff(taus, axis=0)).max(axis=1)
    assert jumps[edge - 1] < 3.0 * max(jumps[edge - 3], jumps[edge + 1])


def test_where_nothing_moves_the_frame_nothing_is_asked_of_it():
    """A pendulum cannot leave its circle: sideways where it hangs, up and down where it lies."""
    robot = bundled("double_pendulum").with_(locked={"elbow": 0.0})
    for row, angles in ((0, [0.0, np.pi / 2]), (2, [0.0, np.pi / 2])):
        J = [abs(robot.frame_jacobian([x], "tip", axes="world")[row, 0]) for x in angles]
        stuck = np.array([angles[int(np.argmin(J))]])
        controller = rc.OperationalSpace(robot, "tip", still([0.7], 1), components=(row,))
        with pytest.warns(SingularWarning):
            tau = controller(0.0, stuck, np.zeros(1))
        free = robot.bias_forces(stuck, np.zeros(1)) + robot.mass_matrix(stuck)[0] * 25.0 * (
            0.7 - stuck
        )
        np.testing.assert_allclose(tau, free, atol=1e-9)


def test_damping_by_hand(planar):
    """``F = (A + d I)^-1 x``, where d grows from zero as mobility falls below the least."""
    robot, rows = planar
    q, least, goal = np.array([0.4, 0.05]), 0.05, np.array([0.5, 0.3])
    controller = rc.OperationalSpace(
        robot, "tip", still(goal, 2), 60.0, components=rows, least=least
    )
    J = robot.frame_jacobian(q, "tip", axes="world")[rows]
    M, h = robot.mass_matrix(q), robot.bias_forces(q, np.zeros(2))
    mobility = np.sum(np.linalg.svd(J)[1] ** -2.0) ** -0.5
    A = J @ np.linalg.inv(M) @ J.T
    d = (least - mobility) ** 2 * np.trace(A) / np.trace(J @ J.T)
    way = (robot.frame_pose(goal, "tip") - robot.frame_pose(q, "tip"))[rows, 3]
    p = 25.0 * (goal - q)
    F = np.linalg.solve(A + d * np.eye(2), 60.0 * way - J @ p)
    with pytest.warns(SingularWarning):
        tau = controller(0.0, q, np.zeros(2))
    np.testing.assert_allclose(tau, J.T @ F + M @ p + h, rtol=1e-9)
    part = controller.damped(0.0, q, np.zeros(2))
    assert part == pytest.approx(1.0 - (mobility / least) ** 2)
    assert 0.0 < part < 1.0


def test_machine_code_asks_python_there(planar):
    robot, rows = planar
    controller = rc.OperationalSpace(
        robot, "tip", still([0.4, 0.9], 2), components=rows, least=0.05
    )
    code = rd.closed_loop(robot, dataclasses.replace(controller, reference=Held([0.4, 0.9])))
    assert np.isnan(code(0.0, [0.4, 0.0], [0.0, 0.0])).any()
    angles = np.linspace(0.01, 0.6, 500)
    poses = np.stack([np.full(500, 0.4), angles], axis=-1)
    lost = np.isnan(code(0.0, poses, 0.0 * poses)).any(axis=-1)
    np.testing.assert_array_equal(lost, controller.damped(0.0, poses, 0.0 * poses) > 0.0)
    assert 5 < lost.sum() < 250
    for around in (controller, rc.Saturated(dataclasses.replace(controller), limits=50.0)):
        with warnings.catch_warnings(record=True, action="default") as told:
            run = rd.simulate(robot, around, q0=[0.4, 0.0], duration=0.05, limits="ignore")
        assert [warning.category for warning in told] == [SingularWarning]
        assert np.isfinite(run.q).all()


def test_no_singular_posture_slips_through():
    """Where two axes of the wrist are one, or the arm is stretched, up to rounding."""
    robot, rng = bundled("arm7"), np.random.default_rng(2)
    q = rng.uniform(-1.5, 1.5, (200, 7))
    q[:100, [2, 5]] = 0.0
    q[100:, [1, 5]] = 0.0
    q += 1e-9 * rng.normal(size=q.shape)
    controller = rc.OperationalSpace(robot, "tool", Held(np.full(7, 0.4)))
    J = robot.frame_jacobian(q, "tool")
    singular = np.linalg.svd(J, compute_uv=False)[:, -1] < 1e-7
    assert singular.sum() > 90
    found = rd.closed_loop(robot, controller)(0.0, q, 0.0 * q)
    assert np.isnan(found[singular]).any(axis=-1).all()


class Held:
    """A reference that stays, of symbols too."""

    symbolic = True

    def __init__(self, q):
        self.q = np.array(q, float)

    def __call__(self, t):
        return self.q, np.zeros(len(self.q)), np.zeros(len(self.q))


# -- what is refused ------------------------------------------------------------------------------


def test_gains_and_frames_that_make_no_sense(puma):
    def make(kind=rc.OperationalSpace, frame="flange", **more):
        given = {"stiffness": 100.0, "damping": 20.0, **more}
        return kind(puma, frame, still(START, 6), **given)

    for name in ("stiffness", "damping", "posture_stiffness", "posture_damping"):
        for wrong in (-1.0, np.nan, np.ones(5), "stiff"):
            with pytest.raises(rd.ShapeError, match=f"{name} is") as caught:
                make(**{name: wrong})
            assert caught.value.name == name
    for wrong in (0.0, -2.0, np.ones(3)):
        with pytest.raises(rd.ShapeError, match="inertia is"):
            make(rc.Impedance, inertia=wrong, wrench=lambda t: np.zeros(6))
    with pytest.raises(rd.SettingsError, match="inertia= is given without wrench="):
        make(rc.Impedance, inertia=1.0)
    with pytest.raises(rd.SettingsError, match="wrench= is given without inertia="):
        make(rc.Impedance, wrench=lambda t: np.zeros(6))
    for given in (np.zeros(5), None, "push"):
        with pytest.raises(rd.ShapeError, match=r"wrench returned .* at t = 0.5 s"):
            make(rc.Impedance, inertia=1.0, wrench=lambda t, x=given: x)(0.5, START, np.zeros(6))
    with pytest.raises(rd.UnknownNameError, match=r"'flang'.*did you mean 'flange'"):
        make(frame="flang")
    for wrong in ((), (0, 0), (6,), 3):
        with pytest.raises(rd.ShapeError, match="components is"):
            make(components=wrong)
    with pytest.raises(rd.ShapeError, match="posture"):
        make(posture=np.zeros(3))
    for wrong in (0.0, -1.0, np.inf):
        with pytest.raises(rd.SettingsError, match="least is"):
            make(least=wrong)
    with pytest.raises(rd.ShapeError, match="reference is"):
        rc.OperationalSpace(puma, "flange", None)
    with pytest.raises(rd.ShapeError, match=r"position is float, expected.*OperationalSpace"):
        rc.Admittance(1.0, lambda t, q, v: np.zeros(6), 1.0, 1.0, 1.0)
    for name in ("inertia", "damping", "stiffness"):
        with pytest.raises(rd.ShapeError, match=f"{name} is"):
            rc.Admittance(make(), lambda t, q, v: 0.0, **{
                "inertia": 1.0, "damping": 1.0, "stiffness": 1.0, name: -1.0,
            })  # fmt: skip


def test_a_frame_that_motors_cannot_move():
    with pytest.raises(rd.SettingsError, match=r"4 motors of 'scara' cannot move frame 'tool'"):
        rc.OperationalSpace(
            bundled("scara"), "tool", rc.PointToPoint(np.zeros(4), np.zeros(4), 1.0)
        )
    floating = rd.load("satellite", base="floating")
    with pytest.raises(rd.ActuationError, match=r"'satellite' has 10 motions and motors at 4"):
        rc.Impedance(floating, "camera", Held(floating.neutral()), 1.0, 1.0, components=(3, 4))
    with pytest.raises(rd.ActuationError, match="more motors than motions"):
        rc.OperationalSpace(bundled("two_feet"), "trunk", still(np.zeros(10), 10))
