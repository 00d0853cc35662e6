"""Derivatives of steps and of costs of motions equal differences between simulated motions."""

import dataclasses

import numpy as np
import pytest
from support.bundled import bundled
from support.motions import heaving
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.controllers import JointPD, PointToPoint
from robodyn.description import Pose

STEP = 0.01


def chain(rng, **options):
    kinds = ("spherical", "planar")
    return rd.load(random_mechanism(rng, kinds, damping=0.3), **options)


ROBOTS = {
    "tree": lambda rng: rd.load(random_mechanism(rng, ("revolute", "prismatic", "revolute"))),
    "quaternions": lambda rng: chain(rng, base="floating"),
    "rotors": lambda rng: rd.load("satellite", base="floating"),
    "linkage": lambda rng: bundled("four_bar"),
    "minimal": lambda rng: rd.load("five_bar", coordinates="minimal"),
    "moving base": lambda rng: rd.load("pan_tilt", base="moving", passive=False),
}


def start(robot, rng):
    q = robot.neutral() if robot.coordinates == "minimal" else robot.random(rng)
    v = robot.consistent_velocity(q, 0.5 * rng.normal(size=robot.nv))
    return q, v


def moved(robot, q, v, dq, dv):
    """A state near another one; loops are closed again."""
    near = robot.integrate(q, dq)
    if not robot.nc:
        return near, v + dv
    held = robot.independent_joints
    near = robot.assemble(near, hold=held, beyond_limits=True)
    return near, robot.consistent_velocity(near, v + dv, hold=held)


class Held:
    """Forces from a table, a row a step."""

    def __init__(self, tau):
        self.tau = tau

    def __call__(self, t, q, v):
        return self.tau[round(t / STEP)]


def simulated(robot, q, v, tau, integrator="rk4"):
    base = rd.BasePath.from_function(heaving) if robot.base == "moving" else None
    return rd.simulate(
        robot, Held(tau), q0=q, v0=v, duration=STEP * (len(tau) - 1), step=STEP, base=base,
        integrator=integrator, limits="ignore",
    )  # fmt: skip


class Cost:
    """Heights, energies and forces of a motion, weighed differently at each sample."""

    def __init__(self, robot, size, rng):
        self.robot = robot
        self.weights = rng.normal(size=(3, size))
        self.forces = rng.normal(size=(size, robot.nv))
        self.still = rd.BaseMotion.at_rest() if robot.base == "moving" else None

    def __call__(self, run):
        given = {} if self.still is None else {"base": self.still}
        U = self.robot.potential_energy(run.q, **given)
        T = self.robot.kinetic_energy(run.q, run.v, **given)
        return self.weights[0] @ U + self.weights[1] @ T + np.sum(self.forces * run.tau)

    def slopes(self, run):
        f, g = (self.robot.function(f"{x}_energy") for x in ("potential", "kinetic"))
        around = []
        if self.still is not None:
            parts = self.still.pose, self.still.twist, self.still.acceleration
            around = [np.broadcast_to(x, (len(run), *x.shape)) for x in parts]
        a, b = (w[:, None] for w in self.weights[:2])
        by_q = a * f.jacobian("q")(run.q, *around)
        by_q = by_q + b * g.jacobian("q")(run.q, run.v, *around)
        return {"q": by_q, "v": b * g.jacobian("v")(run.q, run.v, *around), "tau": self.forces}


def near(found, wanted, scale=1.0):
    assert abs(found - wanted) < 1e-7 * max(1.0, abs(scale)), (found, wanted)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
@pytest.mark.parametrize("case", ROBOTS)
def test_gradient_by_start_and_forces(case, integrator):
    rng = np.random.default_rng(7)
    robot = ROBOTS[case](rng)
    q, v = start(robot, rng)
    tau = rng.normal(size=(31, robot.nv))
    run = simulated(robot, q, v, tau, integrator)
    cost = Cost(robot, len(run), rng)
    slopes = cost.slopes(run)
    gradient = rd.trajectory_gradient(run, **slopes, integrator=integrator)
    h = 5e-7
    for _ in range(2):
        dq, dv = rng.normal(size=(2, robot.nv))
        dtau = rng.normal(size=tau.shape)
        ends = [moved(robot, q, v, s * dq, s * dv) for s in (h, -h)]
        runs = [simulated(robot, *at, tau, integrator) for at in ends]
        dq = (robot.difference(q, ends[0][0]) - robot.difference(q, ends[1][0])) / (2 * h)
        dv = (ends[0][1] - ends[1][1]) / (2 * h)
        wanted = (cost(runs[0]) - cost(runs[1])) / (2 * h)
        size = np.abs(gradient.q0).sum() + np.abs(gradient.v0).sum()
        near(gradient.q0 @ dq + gradient.v0 @ dv, wanted, size)
        runs = [simulated(robot, q, v, tau + s * dtau, integrator) for s in (h, -h)]
        wanted = (cost(runs[0]) - cost(runs[1])) / (2 * h)
        near(np.sum(gradient.tau * dtau), wanted, np.abs(gradient.tau).sum())


@pytest.mark.parametrize("case", ["tree", "quaternions", "linkage"])
def test_gradient_by_inertial_parameters(case):
    rng = np.random.default_rng(3)
    robot = ROBOTS[case](rng)
    q, v = start(robot, rng)
    tau = rng.normal(size=(31, robot.nv))
    run = simulated(robot, q, v, tau, "semi_implicit")
    by_v = rng.normal(size=run.v.shape)
    gradient = rd.trajectory_gradient(run, v=by_v, integrator="semi_implicit", parameters=True)
    link = robot.link_names[-1]

    def heavier(mass):
        central = 0.02 * mass, 0.0, 0.0, 0.03 * mass, 0.0, 0.04 * mass
        load = rd.Inertia(mass, Pose((0.1, 0.2, -0.1)), *central)
        return robot.with_(payload={link: load})

    h = 1e-5
    dp = (heavier(2 * h).inertial_parameters - robot.inertial_parameters) / (2 * h)
    values = [np.sum(by_v * simulated(heavier(k * h), q, v, tau, "semi_implicit").v)
              for k in (0.0, 1.0, 2.0)]  # fmt: skip
    wanted = (4.0 * values[1] - values[2] - 3.0 * values[0]) / (2 * h)
    size = np.abs(gradient.parameters * dp).sum()
    assert size > 1e-2
    near(gradient.parameters @ dp, wanted, 10.0 * size)


def driven(name, **choices):
    """With a geared motor that rubs on its first joint, and friction in all joints."""
    first = rd.load(name).joint_names[0]
    motor = rd.Actuator(7.0, 2e-3, viscous=0.01, coulomb=0.02)
    robot = rd.load(name, actuators={first: motor}, friction_speed=0.2, **choices)
    resisting = [x for x in robot.dynamic_parameter_names if x.endswith(("damping", "friction"))]
    return robot.with_(parameters=dict.fromkeys(resisting, 0.3))


@pytest.mark.parametrize("case", ["double_pendulum", "four_bar", "minimal", "belts"])
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_gradient_by_motors_and_friction(case, integrator):
    rng = np.random.default_rng(4)
    if case == "minimal":
        robot = driven("four_bar", coordinates="minimal")
    elif case == "belts":
        names = "shoulder", "elbow"
        motors = dict.fromkeys(names, rd.Actuator(3.0, 0.01, viscous=0.02, coulomb=0.03))
        belts = [rd.Transmission.belts("belts", names)]
        robot = rd.load(
            "double_pendulum", actuators=motors, transmissions=belts, friction_speed=0.2
        )
    else:
        robot = driven(case)
    q, v = start(robot, rng)
    tau = rng.normal(size=(31, robot.nv))
    run = simulated(robot, q, v, tau, integrator)
    by_v = rng.normal(size=run.v.shape)
    given = {"v": by_v, "integrator": integrator}
    gradient = rd.trajectory_gradient(run, parameters="dynamic", **given).parameters
    names = dict(zip(robot.dynamic_parameter_names, robot.dynamic_parameters, strict=True))
    inertial = rd.trajectory_gradient(run, parameters="inertial", **given).parameters
    np.testing.assert_allclose(gradient[: inertial.size], inertial, rtol=1e-9, atol=1e-12)
    endings = "rotor_inertia", "armature", "damping", "friction", "viscous", "coulomb"
    looked_at = [k for k, x in enumerate(names) if x.endswith(endings) and names[x]]
    assert len(looked_at) >= 4
    for k in looked_at:
        name, x = list(names.items())[k]
        copies = [robot.with_(parameters={name: x * (1.0 + s)}) for s in (1e-5, -1e-5)]
        costs = [np.sum(by_v * simulated(copy, q, v, tau, integrator).v) for copy in copies]
        wanted = (costs[0] - costs[1]) / (2e-5 * x)
        near(gradient[k], wanted, 100.0 * np.abs(gradient[looked_at]).max())
    wide = rd.step_derivatives(robot, q, v, tau[0], step=STEP, parameters="dynamic")
    assert wide.P.shape == (2 * robot.nv, len(names))


def test_gradient_of_a_motion_under_its_controller(double):
    rng = np.random.default_rng(2)
    q, v = start(double, rng)
    controller = JointPD(double, PointToPoint(q, q + 0.3, 0.3), 50.0, 5.0)

    def motion(q, v):
        return rd.simulate(
            double, controller, q0=q, v0=v, duration=0.3, step=STEP, limits="ignore"
        )  # fmt: skip

    run = motion(q, v)
    cost = Cost(double, len(run), rng)
    gradient = rd.trajectory_gradient(run, **cost.slopes(run), controller=controller)
    blind = rd.trajectory_gradient(run, **cost.slopes(run))
    dq, dv = rng.normal(size=(2, double.nv))
    h = 1e-6
    wanted = cost(motion(q + h * dq, v + h * dv)) - cost(motion(q - h * dq, v - h * dv))
    size = np.abs(gradient.q0).sum() + np.abs(gradient.v0).sum()
    near(gradient.q0 @ dq + gradient.v0 @ dv, wanted / (2 * h), size)
    assert abs(blind.q0 @ dq + blind.v0 @ dv - wanted / (2 * h)) > 0.1


def test_gradient_through_the_ground():
    """A tip that lands, slides and leaves again."""
    plane = rd.Ground(
        {"tip": ("tip", (0, 0, 0))}, height=-1.8, stiffness=2e3, damping=0.2, friction=0.4,
        friction_speed=0.2,
    )  # fmt: skip
    robot = bundled("double_pendulum").with_(ground=plane)

    def motion(q):
        return rd.simulate(robot, q0=q, duration=1.0, step=1e-3, limits="ignore")

    q, by_v, h = np.array([1.2, 0.1]), np.zeros((1001, 2)), 1e-7
    run, by_v[-1] = motion(q), 1.0
    touching = run.ground_contacts["tip"].force[:, 2] > 0.0
    assert 10 < touching.sum() < 900
    found = rd.trajectory_gradient(run, v=by_v)
    for k, e in enumerate(np.eye(2)):
        wanted = (motion(q + h * e).v[-1] - motion(q - h * e).v[-1]).sum() / (2 * h)
        assert abs(found.q0[k] - wanted) < 1e-5


@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_gradients_of_many_motions_are_those_of_each(base):
    robot = rd.load("double_pendulum", base=base)
    rng = np.random.default_rng(0)
    path = rd.BasePath.from_function(heaving) if base == "moving" else None
    run = rd.rollout(robot, None, *rng.normal(size=(2, 3, 2)), duration=0.2, step=STEP, base=path)
    by_q, by_v = rng.normal(size=(2, *run.v.shape))
    many = rd.trajectory_gradient(run, q=by_q, v=by_v, parameters=True)
    for k in range(3):
        one = rd.trajectory_gradient(run.motion(k), q=by_q[:, k], v=by_v[:, k], parameters=True)
        for name in ("q0", "v0", "parameters"):
            np.testing.assert_allclose(getattr(many, name)[k], getattr(one, name), rtol=1e-12)
        np.testing.assert_allclose(many.tau[:, k], one.tau, rtol=1e-12, atol=1e-15)


def test_a_step_and_its_derivatives():
    robot = rd.load("pan_tilt", base="floating")
    rng = np.random.default_rng(5)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    tau = rng.normal(size=robot.nv)
    d = rd.step_derivatives(robot, q, v, tau, step=STEP)
    run = simulated(robot, q, v, np.stack([tau, tau]))
    np.testing.assert_allclose(d.q, run.q[-1], atol=1e-15)
    np.testing.assert_allclose(d.v, run.v[-1], atol=1e-15)
    assert d.A.shape == (16, 16) and d.B.shape == (16, 8) and d.P is None
    wide = rd.step_derivatives(robot, q, v, tau, step=STEP, parameters=True)
    assert wide.P.shape == (16, robot.inertial_parameters.size)


def test_at_rest_quaternions_have_a_derivative_too():
    robot = rd.load("pan_tilt", base="floating")
    d = rd.step_derivatives(robot, robot.neutral(), np.zeros(8), np.zeros(8), step=STEP)
    nv = robot.nv
    assert d.A.shape == (16, 16)
    np.testing.assert_allclose(d.A[:nv, :nv][:3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(d.A[3:6, nv + 3 : nv + 6], STEP * np.eye(3), atol=1e-3)


def refused(match, run, **options):
    with pytest.raises(rd.SettingsError, match=match):
        rd.trajectory_gradient(run, **options)


def test_what_is_no_chain_of_these_steps_is_refused(double):
    run = rd.simulate(double, q0=[0.3, 0.2], duration=0.1, step=STEP)
    refused("a step by 'euler' from sample", run, integrator="euler")
    refused("simulate with one of euler", run, integrator="adaptive")
    refused("away from the next sample", run[::2])
    refused("does not know its robot", dataclasses.replace(run, robot=None))
    locked = rd.simulate(double, q0=[0.3, 0.2], duration=0.1, step=STEP, locked=["elbow"])
    refused("driven along paths or locked", locked)
    other = JointPD(double, PointToPoint([0.0, 0.0], [1.0, 1.0], 1.0), 5.0, 1.0)
    refused("not those of the controller", run, controller=other)
    refused("does not say that it is symbolic", run, controller=lambda t, q, v: 0.0 * v)
    with pytest.raises(rd.ShapeError, match="each speed at each sample"):
        rd.trajectory_gradient(run, q=np.zeros((3, 2)))
    with pytest.raises(rd.ShapeError, match="has a fixed base; load it with base='moving'"):
        base = rd.BasePath.from_function(heaving)
        rd.step_derivatives(double, [0.3, 0.2], [0.0, 0.0], [0.0, 0.0], base=base)
