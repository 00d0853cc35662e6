"""Motions of 100 steps with whatever `robodyn.simulate` takes, beside a loop of ``mj_step``.

Each kind of motion is timed with the same objects as in the call before, and with new ones that
differ from them in numbers: another gain, another height of the ground, another event. MuJoCo moves
the same bodies and joints without anything else, and records nothing. Times are CPU time, the
least of several, and those that are compared take turns.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import robodyn as rd
from robodyn import controllers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.mujoco_closed import MujocoClosed
from oracles.rigid_tree import rigid_tree

STEP, STEPS = 1e-3, 100
INTEGRATORS = {
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
    "semi_implicit": mujoco.mjtIntegrator.mjINT_EULER,
}
#: Trees from example-robot-data, which other benchmarks have, too, and linkages.
ROBOTS = ("panda", "ur5", "four_bar", "palletizer", "delta")


class Motions:
    """A robot at the start of a motion, and what there may be in that motion.

    Each method gives arguments of `robodyn.simulate`, made of a number by which those of one call
    differ from those of another.
    """

    def __init__(self, name: str) -> None:
        if name in ("panda", "ur5"):
            from contestants import load

            self.robot = load(name)[1]
        else:
            self.robot = rd.load(name, passive=False)
        robot = self.robot
        self.q, self.v = robot.neutral(), np.zeros(robot.nv)
        if not robot.nc:
            middle = 0.5 * (robot.lower_limits + robot.upper_limits)
            self.q = np.where(np.isfinite(middle), middle, self.q)
        self.joint, self.link = self._driven_joint(), robot.link_names[-1]
        self.frame = robot.frame_pose(self.q, self.link)

    def _driven_joint(self) -> str:
        robot = self.robot
        moving = (x for x in robot.joint_names if robot.joints[x].v.stop > robot.joints[x].v.start)
        return next(moving)

    def kinds(self) -> dict[str, Callable[[float], Mapping[str, Any]]]:
        """What there may be in a motion."""
        return {
            "nothing": lambda x: {},
            "computed torque": self._computed_torque,
            "PD and gravity": self._pd,
            "Python": lambda x: {"controller": lambda t, q, v: np.full(len(v), 0.1 * x)},
            "rigid stops": lambda x: {"stops": rd.RigidStops(min(1.0, 0.1 * x))},
            "compliant stops": lambda x: {"stops": rd.CompliantStops(1e4 * x)},
            "ground": self._ground,
            "landings": self._landings,
            "event": lambda x: {"events": [rd.Event(lambda t, q, v: q[0] - 10.0 * x)]},
            "controlled": self._controlled,
            "locked": lambda x: {"locked": [self.joint]},
            "wrenches": lambda x: {"wrenches": {self.link: np.array([0, 0, 0.1 * x, 0, 0, x])}},
            "wrenches of time": lambda x: {
                "wrenches": lambda t: {self.link: np.array([0, 0, 0.1 * x, 0, 0, x])}
            },
            "motor limits": lambda x: {"limits": "enforce"},
            "friction": self._friction,
            "moving base": self._base,
        }

    def _reference(self, x: float) -> Any:
        robot, rest = self.robot, np.zeros(self.robot.nv)
        if robot.nq != robot.nv:
            return lambda t: (self.q, rest, rest)
        return controllers.SineReference(self.q, 0.1 * x + rest, 0.5 + rest)

    def _computed_torque(self, x: float) -> Mapping[str, Any]:
        law = controllers.ComputedTorque(self.robot, self._reference(x), stiffness=100.0 * x)
        return {"controller": law}

    def _pd(self, x: float) -> Mapping[str, Any]:
        law = controllers.JointPD(self.robot, self._reference(x), 10.0 * x, x, gravity=True)
        return {"controller": law}

    def _plane(self, x: float) -> rd.Ground:
        height = float(self.frame[2, 3]) - 0.5 * x
        return rd.Ground({"tip": (self.link, (0.0, 0.0, 0.0))}, height=height, stiffness=1e4 * x)

    def _ground(self, x: float) -> Mapping[str, Any]:
        return {"ground": self._plane(x)}

    def _landings(self, x: float) -> Mapping[str, Any]:
        return {"events": rd.events.landings(self.robot, self._plane(x))}

    def _controlled(self, x: float) -> Mapping[str, Any]:
        first = float(self.q[self.robot.joints[self.joint].q][0])
        path = lambda t: (first + 0.1 * x * t**2, 0.2 * x * t, 0.2 * x)  # noqa: E731
        return {"controlled": {self.joint: rd.JointPath(path)}}

    def _friction(self, x: float) -> Mapping[str, Any]:
        return {"robot": self.robot.with_(friction_speed=0.01 * x)}

    def _base(self, x: float) -> Mapping[str, Any]:
        if not hasattr(self, "moving"):
            self.moving = self.robot.with_(base="moving")

        def base(t: float) -> rd.BaseMotion:
            turn, still = np.eye(4), np.zeros(6)
            turn[0, 3] = 0.05 * x * t**2
            v, a = still.copy(), still.copy()
            v[0], a[0] = 0.1 * x * t, 0.1 * x
            return rd.BaseMotion(turn, v, a)

        return {"robot": self.moving, "base": base}

    def run(self, integrator: str, given: Mapping[str, Any]) -> rd.Trajectory:
        """The motion with what is given."""
        common = {"q0": self.q, "v0": self.v, "duration": STEPS * STEP, "step": STEP}
        common["integrator"] = integrator
        given = {"robot": self.robot, **common, **given}
        return rd.simulate(**given)

    def mujoco(self, integrator: str) -> Callable[[], None]:
        """The loop there."""
        there = MujocoClosed(rigid_tree(self.robot.mechanism), self.robot.gravity)
        m, d = there.model, there.data
        m.opt.integrator, m.opt.timestep = INTEGRATORS[integrator], STEP

        def loop() -> None:
            mujoco.mj_resetData(m, d)
            there.set_state(self.q, self.v)
            step = mujoco.mj_step
            for _ in range(STEPS):
                step(m, d)

        return loop


def cpu_time(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def least(contestants: Mapping[str, Callable[[], Any]], times: int) -> dict[str, float]:
    """Least CPU time of each [s], one after the other again and again."""
    found = dict.fromkeys(contestants, np.inf)
    for _ in range(times):
        for name, run in contestants.items():
            found[name] = min(found[name], cpu_time(run))
    return found


def rows(name: str, integrator: str, only: str, times: int) -> None:
    """Print rows of the table as they are found."""
    here = Motions(name)
    theirs = here.mujoco(integrator)
    for kind, given in here.kinds().items():
        if only in kind:
            print(row(here, kind, given, theirs, integrator, times), flush=True)


def row(
    here: Motions,
    kind: str,
    given: Callable[[float], Mapping[str, Any]],
    theirs: Callable[[], None],
    integrator: str,
    times: int,
) -> str:
    """Times of one kind of motion."""
    numbers, first = itertools.count(1), given(1.0)

    def fresh() -> Any:
        return here.run(integrator, given(1.0 + 0.001 * next(numbers)))

    def same() -> Any:
        return here.run(integrator, first)

    cold, other = cpu_time(same), cpu_time(fresh)
    found = least({"mujoco": theirs, "same": same, "new": fresh}, times)
    mj, old, new = (1e3 * found[x] for x in ("mujoco", "same", "new"))
    return (
        f"| {here.robot.name} | {integrator} | {kind} | {mj:.2f} | {old:.3f} ({mj / old:.2f}) "
        f"| {new:.3f} ({mj / new:.2f}) | {1e3 * cold:.0f} | {1e3 * other:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--integrator", default="rk4", choices=INTEGRATORS)
    parser.add_argument("--only", default="", help="part of the name of a kind of motion")
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| robot | integrator | with | MuJoCo ms | same objects | new objects | first | second |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.robots:
        rows(name, options.integrator, options.only, options.times)


if __name__ == "__main__":
    main()
