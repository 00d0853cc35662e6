"""Derivatives of motions with driven joints, wrenches, moving bases and time in them."""

import numpy as np
import pytest
from support.bundled import bundled
from support.motions import heaving
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn import controllers as rc

STEP, SAMPLES = 0.01, 16
PUSH = np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.4])


def wave(start, speed=0.4):
    """A path from a position: ``(x, dx, ddx)`` of the time."""
    return lambda t: (
        start + speed * np.sin(2.0 * t) / 2.0,
        speed * np.cos(2.0 * t),
        -2.0 * speed * np.sin(2.0 * t),
    )


def pushed_tree(rng):
    return rd.load(random_mechanism(rng, ["revolute"] * 3)), {"wrenches": {"link2": PUSH}}


def pushed_linkage(rng):
    return bundled("four_bar"), {"wrenches": {"coupler": PUSH}}


def driven_tree(rng):
    robot = rd.load(random_mechanism(rng, ["revolute"] * 3, damping=0.2))
    return robot, {"controlled": {"joint1": wave(0.2)}, "wrenches": {"link2": PUSH}}


def driven_linkage(rng):
    robot = bundled("five_bar")
    first = robot.joint_names[0]
    return robot, {"controlled": {first: wave(robot.neutral()[0])}}


def locked_ball(rng):
    mechanism = random_mechanism(rng, ["spherical", "revolute"], damping=0.3)
    return rd.load(mechanism), {"locked": ["joint0[1]"]}


def turned_plate(rng):
    """A planar joint whose angle follows a path: its other speeds are in axes that turn."""
    mechanism = random_mechanism(rng, ["planar", "revolute"], damping=0.3)
    return rd.load(mechanism), {"controlled": {"joint0[2]": wave(0.3)}}


def driven_on_a_ship(rng):
    robot = rd.load(random_mechanism(rng, ["revolute"] * 3), base="moving")
    return robot, {"controlled": {"joint1": wave(0.1)}, "base": rd.BasePath(heaving)}


def carried(q, t):
    """A platform that goes to and fro, and turns."""
    c, s = rd.cos(0.4 * rd.sin(3.0 * t)), rd.sin(0.4 * rd.sin(3.0 * t))
    x, y, z = 0.3 * rd.cos(2.0 * t), 0.2 * rd.sin(2.0 * t), 0.1 * t * t
    return [[1, 0, 0, x], [0, c, -s, y], [0, s, c, z], [0, 0, 0, 1]]


def timed_tree(rng):
    mechanism = random_mechanism(rng, ["revolute"] * 3, damping=0.2)
    return rd.load(mechanism, joint_maps={"joint0": rd.JointMap(0, carried)}), {}


def timed_linkage(rng):
    law = rd.Constraint("clock", lambda q, t: q[0] - 0.1 - 0.4 * rd.sin(1.5 * t), "left_drive")
    return rd.load("five_bar", constraints=[law]), {}


def wind(link):
    """Wrenches that depend on everything, for one motion or many."""

    def wrenches(t, q, v):
        x, w, k = q[..., 0], v[..., -1], np.sin(3.0 * t)
        rows = [k * x, 1.0 - 0.5 * w * w, 0.3 * w, 0.2 * x * x, -0.4 * w, np.cos(x) * k]
        return {link: np.stack([row + 0.0 * x for row in rows], axis=-1)}

    wrenches.symbolic = True
    return wrenches


def tree_in_the_wind(rng):
    robot = rd.load(random_mechanism(rng, ["revolute", "spherical"]), base="floating")
    return robot, {"wrenches": wind("link1")}


def driven_in_the_wind(rng):
    robot = rd.load(random_mechanism(rng, ["revolute"] * 3), base="moving")
    driven = {"controlled": {"joint1": wave(0.1)}, "wrenches": wind("link2")}
    return robot, {"base": rd.BasePath(heaving), **driven}


def linkage_in_the_wind(rng):
    return bundled("five_bar"), {"wrenches": wind("left_rod")}


CASES = (
    pushed_tree, pushed_linkage, driven_tree, driven_linkage, locked_ball, turned_plate,
    driven_on_a_ship, timed_tree, timed_linkage, tree_in_the_wind, driven_in_the_wind,
    linkage_in_the_wind,
)  # fmt: skip

#: Methods of which driven joints in the middle and at the end of a step are not where paths go.
ROUGH = {
    turned_plate: "semi_implicit", driven_tree: "heun", driven_on_a_ship: "midpoint",
    locked_ball: "heun",
}  # fmt: skip


class Motion:
    """Motions of a case from starts near one start, under forces near a table of forces."""

    def __init__(self, case, integrator="rk4"):
        self.rng = np.random.default_rng(5)
        self.robot, self.options = case(self.rng)
        self.integrator = integrator
        robot = self.robot
        self.tau = self.rng.normal(size=(SAMPLES, robot.nv))
        q, v = robot.at(0.0).neutral(), np.zeros(robot.nv)
        if not robot.nc:
            q, v = robot.random(self.rng), 0.4 * self.rng.normal(size=robot.nv)
        self.run = self.at(q, v)  # puts driven joints in place
        self.run = self.at(self.run.q[0], self.run.v[0])

    def at(self, q, v, tau=None, robot=None):
        table = self.tau if tau is None else tau
        return rd.simulate(
            self.robot if robot is None else robot, lambda t, q, v: table[round(t / STEP)],
            q0=q, v0=v, duration=STEP * (SAMPLES - 1), step=STEP, limits="ignore",
            integrator=self.integrator, **self.options,
        )  # fmt: skip

    def near(self, dq, dv):
        """From a start a step away; closed linkages are closed again, driven joints in place."""
        robot, (q, v) = self.robot, (self.run.q[0], self.run.v[0])
        q, v = robot.integrate(q, dq), v + dv
        if robot.nc:
            held = [n for n in self.options.get("controlled", {})]
            free = [n for n in robot.independent_joints if n not in held]
            hold = [*held, *free]
            q = robot.at(0.0).assemble(q, hold=hold, beyond_limits=True)
            v = robot.at(0.0).consistent_velocity(q, v, hold=hold)
        return self.at(q, v)

    def gradient(self, **options):
        driven = {k: x for k, x in self.options.items() if k in ("controlled", "locked")}
        options = {"integrator": self.integrator, **driven, **options}
        return rd.trajectory_gradient(self.run, **options)


class Pull:
    """Forces that do not change."""

    symbolic = True

    def __init__(self, tau):
        self.tau = tau

    def __call__(self, t, q, v):
        return self.tau + 0.0 * v


class Cost:
    """Sums of positions, moved along the speeds from a motion, of speeds and forces."""

    def __init__(self, motion):
        self.robot, self.of = motion.robot, motion.run
        self.weights = motion.rng.normal(size=(3, *self.of.v.shape))

    def __call__(self, run):
        off = self.robot.difference(self.of.q, run.q), run.v, run.tau
        return sum(np.sum(w * x) for w, x in zip(self.weights, off, strict=True))

    @property
    def slopes(self):
        return dict(zip(("q", "v", "tau"), self.weights, strict=True))


def agree(found, wanted, size):
    assert abs(found - wanted) < 2e-7 * max(1.0, size), (found, wanted)


@pytest.mark.filterwarnings("ignore:the energy of the motion")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_gradient_by_start_and_forces(case):
    motion = Motion(case, ROUGH.get(case, "rk4"))
    cost, robot, rng, h = Cost(motion), motion.robot, motion.rng, 1e-6
    gradient = motion.gradient(**cost.slopes)
    for _ in range(2):
        dq, dv = rng.normal(size=(2, robot.nv))
        runs = [motion.near(s * h * dq, s * h * dv) for s in (1, -1)]
        wanted = (cost(runs[0]) - cost(runs[1])) / (2 * h)
        q, v = motion.run.q[0], motion.run.v[0]
        dq = (robot.difference(q, runs[0].q[0]) - robot.difference(q, runs[1].q[0])) / (2 * h)
        dv = (runs[0].v[0] - runs[1].v[0]) / (2 * h)
        size = np.abs(gradient.q0).sum() + np.abs(gradient.v0).sum()
        agree(gradient.q0 @ dq + gradient.v0 @ dv, wanted, size)
        dtau = rng.normal(size=motion.tau.shape)
        runs = [motion.at(q, v, motion.tau + s * h * dtau) for s in (1, -1)]
        wanted = (cost(runs[0]) - cost(runs[1])) / (2 * h)
        agree(np.sum(gradient.tau * dtau), wanted, np.abs(gradient.tau).sum())
    driven = list(motion.run.driven)
    assert not gradient.tau[:, driven].any() and not gradient.v0[driven].any()


@pytest.mark.slow
@pytest.mark.parametrize("case", [driven_tree, driven_linkage, timed_linkage, driven_in_the_wind])
def test_gradient_by_inertial_parameters(case):
    motion = Motion(case)
    robot, cost, q, v = motion.robot, Cost(motion), motion.run.q[0], motion.run.v[0]
    gradient = motion.gradient(**cost.slopes, parameters=True)
    link, h = robot.link_names[-1], 1e-5

    def heavier(mass):
        at = rd.Pose((0.1, 0.2, -0.1))
        load = rd.Inertia(mass, at, 0.02 * mass, 0.0, 0.0, 0.03 * mass, 0.0, 0.04 * mass)
        return robot.with_(payload={link: load})

    dp = (heavier(2 * h).inertial_parameters - robot.inertial_parameters) / (2 * h)
    values = [cost(motion.at(q, v, robot=heavier(k * h))) for k in (0.0, 1.0, 2.0)]
    wanted = (4.0 * values[1] - values[2] - 3.0 * values[0]) / (2 * h)
    agree(gradient.parameters @ dp, wanted, 10.0 * np.abs(gradient.parameters * dp).sum())


def test_gradient_under_a_controller_beside_a_driven_joint():
    robot, driven = driven_tree(np.random.default_rng(1))
    q = np.array([0.4, 0.2, -0.3])
    controller = rc.JointPD(robot, rc.PointToPoint(q, q + 0.2, 0.15), 20.0, 2.0)

    def motion(q):
        return rd.simulate(
            robot, controller, q0=q, duration=0.15, step=STEP, limits="ignore", **driven
        )  # fmt: skip

    run, by_v, h = motion(q), np.zeros((16, 3)), 1e-6
    by_v[-1] = 1.0
    options = {"controller": controller, "controlled": driven["controlled"]}
    found = rd.trajectory_gradient(run, v=by_v, **options).q0
    for k, e in enumerate(np.eye(3)):
        wanted = (motion(q + h * e).v[-1] - motion(q - h * e).v[-1]).sum() / (2 * h)
        agree(found[k], wanted, np.abs(found).sum())
    place = robot.joints["joint1"].v.start
    assert found[place] == 0.0 and np.abs(np.delete(found, place)).min() > 1e-3


def test_a_step_is_that_of_the_simulation():
    robot, options = driven_on_a_ship(np.random.default_rng(3))
    options["wrenches"] = {"link2": PUSH}
    q, v, tau = np.random.default_rng(4).normal(size=(3, robot.nv))
    run = rd.simulate(
        robot, lambda t, q, v: tau, q0=q, v0=v, duration=0.02, step=STEP, limits="ignore", **options
    )  # fmt: skip
    d = rd.step_derivatives(robot, run.q[1], run.v[1], run.tau[1], step=STEP, t=STEP, **options)
    np.testing.assert_allclose(d.q, run.q[2], atol=1e-15)
    np.testing.assert_allclose(d.v, run.v[2], atol=1e-15)
    place = robot.joints["joint1"].v.start
    assert not d.A[:, place].any() and not d.B[:, place].any() and not d.A[place].any()


def ship(rng):
    robot = rd.load(random_mechanism(rng, ["revolute"] * 3), base="moving")
    return robot, {"base": rd.BasePath(heaving), "wrenches": {"link2": PUSH}}


@pytest.mark.filterwarnings("ignore:the energy of the motion")
@pytest.mark.parametrize(
    ("case", "integrator"),
    [
        *((ship, x) for x in ("rk4", "midpoint", "heun", "semi_implicit")),
        (timed_tree, "rk4"), (timed_linkage, "heun"), (pushed_linkage, "semi_implicit"),
        (driven_on_a_ship, "heun"), (driven_linkage, "midpoint"), (driven_tree, "semi_implicit"),
        (locked_ball, "rk4"), (turned_plate, "midpoint"),
    ],
)  # fmt: skip
def test_a_step_as_a_function(case, integrator):
    """One that is told where base and driven joints are at the instants at which it looks there."""
    robot, options = case(np.random.default_rng(3))
    start = {"q0": robot.at(0.0).neutral(), "step": STEP, "limits": "ignore", **options}
    controller = Pull(np.arange(robot.nv) - 0.5)
    done = rd.simulate(robot, controller, duration=2 * STEP, integrator=integrator, **start)
    links = tuple(options.get("wrenches", ()))
    paths = options.get("controlled", {})
    f = rd.step_function(
        robot,
        controller,
        step=STEP,
        integrator=integrator,
        wrenches=links,
        controlled=paths.keys(),
        locked=options.get("locked", ()),
    )
    parts = {"rk4": (0.0, 0.5, 1.0), "midpoint": (0.0, 0.5), "heun": (0.0, 1.0)}
    around = [PUSH] * len(links)
    if robot.base == "moving":
        motion = options["base"].at(STEP * (1.0 + np.array(parts.get(integrator, (0.0,)))))
        around = [motion.pose, motion.twist, motion.acceleration, *around]
    for path in paths.values():
        looks = sorted({*parts.get(integrator, (0.0,)), 1.0})
        rows = [path(STEP * (1.0 + part)) for part in looks]
        around += [np.array([[row[k]] for row in rows]) for k in range(3)]
    q, v = f(STEP, done.q[1], done.v[1], *around)
    np.testing.assert_allclose(q, done.q[2], atol=1e-13)
    np.testing.assert_allclose(v, done.v[2], atol=1e-12)


def refused(match, run, error=rd.SettingsError, **options):
    with pytest.raises(error, match=match):
        rd.trajectory_gradient(run, **options)


def test_what_is_not_known_is_refused(double):
    motion = {"q0": [0.3, 0.2], "duration": 0.05, "step": STEP}
    by_state = rd.simulate(double, wrenches=lambda t, q, v: {"lower": 0.1 * PUSH}, **motion)
    refused("wrenches are a function of the state", by_state)
    path = {"shoulder": wave(0.3)}
    run = rd.simulate(double, controlled=path, **motion)
    refused("in the motion: shoulder; given here: none", run)
    refused("in the motion: shoulder; given here: elbow", run, locked=["elbow"])
    refused("away from the next sample", run, controlled={"shoulder": wave(0.3, 0.5)})
    refused("no joint 'wrist'", run, error=rd.UnknownNameError, locked=["wrist"])

    def short(t, q, v):
        return {"lower": [q[0], 0.0]}

    short.symbolic = True
    with pytest.raises(
        rd.ShapeError, match=r"wrench:lower for symbols has .*expected shape \(6,\)"
    ):
        rd.step_derivatives(double, *np.zeros((3, 2)), wrenches=short)
    with pytest.raises(rd.ShapeError, match="wrench:lower"):
        rd.step_derivatives(double, *np.zeros((3, 2)), wrenches={"lower": np.ones(3)})


def test_one_state_at_several_times():
    robot, options = driven_on_a_ship(np.random.default_rng(3))
    q, v, tau = np.random.default_rng(4).normal(size=(3, robot.nv))
    times = np.array([0.0, 0.3, 0.7])
    many = rd.step_derivatives(robot, q, v, tau, t=times, **options)
    for k, t in enumerate(times):
        one = rd.step_derivatives(robot, q, v, tau, t=t, **options)
        for name in ("q", "v", "A", "B"):
            np.testing.assert_allclose(getattr(many, name)[k], getattr(one, name), atol=1e-13)
    with pytest.raises(rd.ShapeError, match=r"do not broadcast together: q \(2, 3\).* t \(3, 1\)"):
        rd.step_derivatives(robot, np.stack([q, q]), v, tau, t=times, **options)


def test_a_plan_beside_a_driven_joint_and_the_law_along_it():
    """The best forces of one motor while another joint follows a path and a push holds on."""
    robot = rd.load(random_mechanism(np.random.default_rng(2), ["revolute"] * 2, damping=0.3))
    path = {"joint0": wave(0.0, 0.3)}
    push = {"link1": 0.2 * PUSH}
    goal = np.full(2, 0.5)
    cost = rc.QuadraticCost(robot, goal, state=0.1, effort=0.01, final=20.0)
    given = {"duration": 0.6, "step": 0.03}
    plan = rc.iterative_lqr(
        robot, cost, q0=[0.0, 0.0], tolerance=1e-10, controlled=path, wrenches=push, **given
    )
    moved = robot.joints["joint1"].v.start
    assert plan.converged and plan.run.driven == (robot.joints["joint0"].v.start,)
    assert plan.gains.shape == (20, 1, 4)

    def total(tau):
        run = rd.simulate(
            robot, lambda t, q, v: np.where(np.arange(2) == moved, tau[round(t / 0.03)], 0.0),
            q0=[0.0, 0.0], controlled=path, wrenches=push, limits="ignore", **given,
        )  # fmt: skip
        planned = np.where(np.arange(2) == moved, run.tau, 0.0)[:-1]
        running = cost.running_cost(run.t[:-1], run.q[:-1], run.v[:-1], planned).value
        return 0.03 * running.sum() + cost.final_cost(run.q[-1:], run.v[-1:]).value.sum()

    best = plan.run.tau[:, moved]
    assert total(best) == pytest.approx(plan.costs[-1], rel=1e-12)
    change = np.random.default_rng(0).normal(size=best.shape)
    rise = [total(best + s * 1e-3 * change) - plan.costs[-1] for s in (1, -1)]
    assert min(rise) > 0.0 and abs(rise[0] - rise[1]) < 0.02 * rise[0]
    with pytest.raises(rd.SettingsError, match="given here: none"):
        rc.TimeVaryingLQR(robot, plan.run)
    law = rc.TimeVaryingLQR(robot, plan.run, final=1e3, effort=0.01, controlled=path)
    start = {"q0": [0.2, 0.2], "controlled": path, "wrenches": push, "limits": "ignore"}
    held, loose = (
        rd.simulate(robot, x, **start, **given)
        for x in (law, lambda t, q, v: plan.run.tau[min(round(t / 0.03), 20)])
    )
    ends = [abs(x.q[-1, moved] - plan.run.q[-1, moved]) for x in (held, loose)]
    assert ends[0] < 0.2 * ends[1]
    with pytest.raises(rd.ShapeError, match="no motors that no path drives"):
        rc.iterative_lqr(robot, cost, q0=[0.0, 0.0], locked=["joint0", "joint1"], **given)
