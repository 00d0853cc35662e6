"""What is saved and loaded again gives what the simulation gave, or says by name why it cannot."""

import dataclasses
import math
import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers, events

FORMATS = ("npz", "csv", "mcap")
BALL = rd.Inertia(1.5, rd.Pose((0, 0, -1)))
TIP = {"tip": ("lower", (0.0, 0.0, -1.0))}
SENSORS = [rd.Sensor("wrench", joint="shoulder", name="load")]


def pendulum(**options):
    return rd.load("double_pendulum", sensors=SENSORS, **options)


def moving_base(t):
    s, c = math.sin(3 * t), math.cos(3 * t)
    return rd.BaseMotion.from_world(
        (s, 0, 0), (0, 0, 0, 1), (3 * c, 0, 0), (0, 0, 0), (-9 * s, 0, 0)
    )


def simulated(robot, *arguments, **options):
    start = {"q0": [1.0, 0.2], "duration": 0.3, "step": 2e-3, "limits": "ignore"}
    return rd.simulate(robot, *arguments, **(start | options))


def with_an_event(action, **options):
    robot = pendulum()
    return robot, simulated(robot, events=[rd.Event(0.1, action, name="change")], **options)


def landing(**options):
    robot = pendulum()
    ground = rd.Ground(TIP, height=-1.6)
    return robot, simulated(
        robot, duration=0.6, events=rd.events.landings(robot, ground), **options
    )


def of_one(robot, **options):
    return robot, simulated(robot, **options)


def in_loops(coordinates):
    robot = rd.load("four_bar", coordinates=coordinates)
    torque = np.eye(robot.nv)[0]
    run = rd.simulate(robot, lambda t, q, v: torque, duration=0.1, step=1e-3, limits="ignore")
    return robot, run


def many(**options):
    robot = pendulum()
    q0 = np.array([[0.2, 0.2], [0.5, 0.1]])
    return robot, rd.rollout(robot, None, q0, 0 * q0, step=2e-3, limits="ignore", **options)


def changed(change, **options):
    """A robot of which the simulated one is a changed copy."""
    return pendulum(), simulated(change(pendulum()), **options)


def adaptive():
    robot = pendulum()
    path = rd.JointPath.from_samples(
        np.arange(4) / 3, np.outer(np.linspace(1.0, 0.5, 4), [1.0, 0.2])
    )
    law = controllers.Adaptive(
        controllers.PassivityBased(robot, path, 5.0), {"load": np.ones(20)}, adaptation=2.0
    )
    return robot, simulated(robot, law)


#: Motions by what is special about them: the robot without it, and the motion.
MOTIONS = {
    "plain": lambda: of_one(pendulum()),
    "grasp": lambda: with_an_event(events.grasp("lower", BALL)),
    "become": lambda: with_an_event(events.become(pendulum(gravity=(0, 0, -1.62)))),
    "latch": lambda: with_an_event(events.latch("elbow")),
    "landing": landing,
    "ground": lambda: of_one(
        pendulum(), ground=rd.Ground(TIP, height=-1.6, stiffness=1e4), duration=0.6
    ),
    "grasp over ground": lambda: with_an_event(
        events.grasp("lower", BALL), ground=rd.Ground(TIP, height=-1.6), duration=0.6
    ),
    "rows": lambda: of_one(pendulum(), parameters={"lower.m": [1.0, 2.0]}),
    "payload": lambda: changed(lambda r: r.with_(payload={"lower": rd.Inertia(3.0)})),
    "gravity": lambda: changed(lambda r: r.with_(gravity=(0, 0, -3.7))),
    "base": lambda: of_one(pendulum(base="moving"), base=moving_base),
    "wrench": lambda: of_one(
        pendulum(), wrenches=rd.Wrench("lower", (10, 2, 30), at=(0, 0, -1))
    ),
    "wrench of time": lambda: of_one(
        pendulum(), wrenches=lambda t, q, v: {"lower": np.arange(6.0) * t}
    ),
    "driven": lambda: of_one(
        pendulum(), controlled={"shoulder": lambda t: (1 + t**3, 3 * t**2, 6 * t)}
    ),
    "floating": lambda: of_one(
        rd.load("satellite", base="floating"), q0=None,
        v0=np.linspace(-1, 1, rd.load("satellite", base="floating").nv),
    ),
    "tree coordinates": lambda: in_loops("tree"),
    "minimal coordinates": lambda: in_loops("minimal"),
    "single precision": lambda: of_one(
        pendulum(), q0=np.array([1.0, 0.2], np.float32), v0=np.zeros(2, np.float32)
    ),
    "many": lambda: many(duration=0.3),
    "many that end": lambda: many(
        duration=0.6, events=[rd.Event(lambda t, q, v: q[0], name="down")]
    ),
    "controller with a state": adaptive,
    "one state": lambda: (lambda robot, run: (robot, run[7]))(*of_one(pendulum())),
}  # fmt: skip


def wrenches(run):
    found = run.joint_wrenches()
    numbers = [found[name] for name in found]
    return np.concatenate([*numbers, *(found.motor[x] for x in found.motor), found.bearing["elbow"]]
                          if "elbow" in found else numbers)  # fmt: skip


def audit(run):
    x = run.audit
    return [getattr(x, f.name) for f in dataclasses.fields(x) if isinstance(x.t, np.ndarray)]


def between_samples(run):
    """At other instants, not those of samples, at which accelerations jump."""
    return run.resample(run.t[0] + np.linspace(0.013, 0.987, 20) * (run.t[-1] - run.t[0]))


#: All that follows from the samples and what acted.
DERIVED = {
    **{
        name: lambda run, name=name: getattr(run, name)
        for name in ("energy", "loop_residual", "kinetic_energy", "potential_energy",
                     "elastic_energy", "motor_torques", "power", "branch_changes")
    },
    "joint_wrenches": wrenches,
    "measurements": lambda run: list(run.measurements.values()),
    "audit": audit,
    "resample": lambda run: [
        getattr(between_samples(run), x) for x in ("t", "q", "v", "a", "tau", "kinetic_energy")
    ],
    "sizing": lambda run: [repr(run.sizing())],
    "limit_violations": lambda run: [repr(run.limit_violations)],
    "ground_contacts": lambda run: [x.force for x in run.ground_contacts.values()],
    "joint": lambda run: [run[name].a for name in run.robot.joint_names],
    "events": lambda run: [repr(run.events)],
}  # fmt: skip


def outcome(run, name):
    """What a motion gives, or the error."""
    try:
        with warnings.catch_warnings(action="ignore"):  # energies of coarse samples do not add up
            return DERIVED[name](run)
    except (rd.RobodynError, IndexError) as error:
        return error


def same(one, other, rounding):
    """Whether arrays, or texts, are equal, up to a part of the largest number of all."""
    if not isinstance(one, list):
        one, other = [one], [other]
    if any(isinstance(x, str) for x in one):
        return one == other
    one, other = ([np.asarray(x, float) for x in arrays] for arrays in (one, other))
    largest = max((np.nanmax(np.abs(x), initial=0.0) for x in one), default=0.0)
    return [x.shape for x in one] == [x.shape for x in other] and all(
        np.allclose(x, y, rtol=0.0, atol=rounding * largest, equal_nan=True)
        for x, y in zip(one, other, strict=True)
    )


def check(run, again, kind):
    for name in DERIVED:
        expected, got = outcome(run, name), outcome(again, name)
        if isinstance(expected, Exception):
            assert isinstance(got, Exception), name
            continue
        if isinstance(got, Exception):
            assert isinstance(got, rd.SettingsError), (name, got)
            assert kind != "npz" or "moved" in str(got), (name, got)
            assert kind == "npz" or any(lost in str(got) for lost in again.not_saved), (name, got)
        elif name == "events" and kind != "npz":
            assert got == expected or "events" in again.not_saved
        else:
            # a base that is known at samples only is a path through them; stamps have nanoseconds
            loose = {"audit": 1e-4, "resample": 1e-4} if run.surroundings.base else {}
            loose = dict.fromkeys(DERIVED, 1e-6) if kind == "mcap" else loose
            assert same(expected, got, loose.get(name, 1e-12)), name


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("special", MOTIONS)
def test_a_motion_that_was_saved(tmp_path, special, kind):
    if kind == "mcap":
        pytest.importorskip("rosbags")
    plain, run = MOTIONS[special]()
    path = tmp_path / f"run.{kind}"
    if kind != "npz" and run.q.ndim > 2:
        with pytest.raises(rd.ShapeError, match=r"holds one motion"):
            run.save(path)
        return
    if special == "one state" and kind == "mcap":
        run = run[None]
    run.save(path)
    robots = [run.robot, *(phase.robot for phase in run.phases)]
    check(run if run.t.ndim or kind == "npz" else run[None], rd.Trajectory.load(path, robots), kind)
    # and for the robot as it was before the simulation gave it a ground or a payload
    try:
        again = rd.Trajectory.load(path, plain)
    except rd.ShapeError as error:
        assert special in ("ground", "grasp over ground", "rows", "payload", "gravity"), error
        assert "of the robot given" in str(error)
    else:
        check(run if run.t.ndim or kind == "npz" else run[None], again, kind)


@pytest.mark.parametrize("special", ["plain", "wrench", "base", "ground", "payload"])
def test_a_motion_that_is_written_while_it_goes_on(tmp_path, special):
    plain, run = MOTIONS[special]()
    options = {
        "wrench": {"wrenches": rd.Wrench("lower", (10, 2, 30), at=(0, 0, -1))},
        "base": {"base": moving_base},
        "ground": {"duration": 0.6},
    }.get(special, {})
    simulated(run.robot, to=tmp_path / "run", **options)
    check(run, rd.Trajectory.load(tmp_path / "run", run.robot), "npz")
    if special in ("ground", "payload"):
        with pytest.raises(rd.ShapeError, match="but not of the robot given"):
            rd.Trajectory.load(tmp_path / "run", plain)


def test_a_message_says_what_differs(tmp_path):
    plain, run = MOTIONS["payload"]()
    run.save(tmp_path / "run.npz")
    with pytest.raises(
        rd.ShapeError, match=r"links\['lower'\].inertia.mass is 4.0 in the file and "
    ):
        rd.Trajectory.load(tmp_path / "run.npz", plain)
    # as it says
    free = rd.Trajectory.load(tmp_path / "run.npz")
    assert dataclasses.replace(free, robot=plain).kinetic_energy.shape == run.t.shape
    same_robot = plain.with_(payload={"lower": rd.Inertia(3.0)})
    again = rd.Trajectory.load(tmp_path / "run.npz", same_robot)
    assert again.robot is same_robot


def test_phases_take_the_robots_that_they_were_run_with(tmp_path):
    arm, run = MOTIONS["grasp"]()
    run.save(tmp_path / "run.npz")
    alone = rd.Trajectory.load(tmp_path / "run.npz", arm)
    assert [len(x) for x in alone.phases] == [len(x) for x in run.phases]
    assert alone.phases[0].robot is arm
    np.testing.assert_array_equal(alone[:20].kinetic_energy, run.kinetic_energy[:20])
    with pytest.raises(
        rd.SettingsError, match=r"from t = 0\.1 s on is not known.*\[first, second\]"
    ):
        alone.joint_wrenches()
    loaded = arm.with_(payload={"lower": BALL})
    both = rd.Trajectory.load(tmp_path / "run.npz", [loaded, arm])  # in any order
    assert [x.robot for x in both.phases] == [arm, loaded]
    check(run, both, "npz")
    both.save(tmp_path / "again.npz")
    check(run, rd.Trajectory.load(tmp_path / "again.npz", [arm, loaded]), "npz")
    # what a table has lost stays lost
    run.save(tmp_path / "run.csv")
    rd.Trajectory.load(tmp_path / "run.csv", arm).save(tmp_path / "lost.npz")
    with pytest.raises(rd.SettingsError, match="does not hold the robots that events made"):
        _ = rd.Trajectory.load(tmp_path / "lost.npz", arm).kinetic_energy


def test_limits_and_sensors_of_the_robot_may_be_others(tmp_path):
    """They are not what moved: a motion is examined with other ones."""
    run = simulated(rd.load("double_pendulum"))
    run.save(tmp_path / "run.npz")
    again = rd.Trajectory.load(tmp_path / "run.npz", pendulum())
    assert again.measurements["load"].shape == (len(run), 6)


OTHERS = {
    "damping": {"damping": 0.1},
    "friction": {"friction": 0.1},
    "armature": {"armature": 0.1},
    "spring": {"stiffness": 2.0},
}


@pytest.mark.parametrize("kind", ["csv", "npz"])
@pytest.mark.parametrize("other", OTHERS)
def test_the_robot_of_a_file_has_other_forces(double, tmp_path, other, kind):
    """An archive is refused; a table, which has no robot to compare, is refused or told."""
    run = simulated(double)
    run.save(tmp_path / f"run.{kind}")
    joints = tuple(dataclasses.replace(x, **OTHERS[other]) for x in double.mechanism.joints)
    twin = rd.load(dataclasses.replace(double.mechanism, joints=joints))
    with warnings.catch_warnings(record=True, action="always") as caught:
        if kind == "npz" or other in ("armature", "spring"):  # which have an energy
            with pytest.raises(rd.ShapeError, match=r"of another robot|of the robot given"):
                rd.Trajectory.load(tmp_path / f"run.{kind}", twin)
        else:
            rd.Trajectory.load(tmp_path / f"run.{kind}", twin)
            assert "may hold the motion of another robot" in str(caught.pop().message)
        rd.Trajectory.load(tmp_path / f"run.{kind}", double)
    assert not caught
