"""One crank that drives many four-bars: straight-line code whose length grows as their number."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

CRANK, GROUND = 0.1, 0.5
BODY = Inertia(0.4, Pose((0.05, 0.01, 0.0)), 0.002, 0.0, 0.0, 0.003, 0.0, 0.004)


def legs(count: int) -> list[tuple[float, float]]:
    """Lengths of coupler and rocker; those of the first leg come into line as the crank turns."""
    return [(0.3, 0.25), *((0.45 + 0.004 * k, 0.3 + 0.01 * (k % 5)) for k in range(1, count))]


def machine(count: int) -> rd.Robot:
    links, joints, loops = [Link("ground"), Link("crank", BODY)], [], []

    def pin(name: str, parent: str, child: str, x: float) -> None:
        joints.append(
            Joint(name, "continuous", parent, child, Pose((x, 0.0, 0.0)), axis=(0.0, 0.0, 1.0))
        )

    pin("drive", "ground", "crank", 0.0)
    for k, (coupler, rocker) in enumerate(legs(count)):
        links += [Link(f"coupler{k}", BODY), Link(f"rocker{k}", BODY)]
        pin(f"b{k}", "crank", f"coupler{k}", CRANK)
        pin(f"d{k}", "ground", f"rocker{k}", GROUND)
        ends = Pose((coupler, 0.0, 0.0)), Pose((rocker, 0.0, 0.0))
        loops.append(rd.Loop(f"c{k}", "spherical", f"coupler{k}", f"rocker{k}", *ends))
    mechanism = Mechanism("machine", tuple(links), tuple(joints), tuple(loops))
    near = dict(zip([j.name for j in joints], posture(count, 1.0), strict=True))
    return rd.load(mechanism, actuators={"drive": rd.Actuator()}, near=near)


def posture(count: int, angle: float) -> list[float]:
    """Of all joints, by the law of cosines; elbows above."""
    x, y = CRANK * np.cos(angle), CRANK * np.sin(angle)
    away, toward = np.hypot(GROUND - x, -y), np.arctan2(-y, GROUND - x)
    q = [angle]
    for coupler, rocker in legs(count):
        cosine = (coupler**2 + away**2 - rocker**2) / (2 * coupler * away)
        turned = toward + np.arccos(np.clip(cosine, -1.0, 1.0))
        tip = x + coupler * np.cos(turned), y + coupler * np.sin(turned)
        q += [float(turned - angle), float(np.arctan2(tip[1], tip[0] - GROUND))]
    return q


def in_line() -> float:
    """Where coupler and rocker of the first leg are one line: its pin is as far as they reach."""
    reach = sum(legs(1)[0])
    return float(np.arccos((CRANK**2 + GROUND**2 - reach**2) / (2 * CRANK * GROUND)))


@pytest.fixture(scope="module")
def robot() -> rd.Robot:
    return machine(14)


@pytest.mark.parametrize("angle", [0.3, 1.0, -0.8, in_line() - 1e-4, in_line()])
def test_accelerations_are_those_of_a_solve_that_reveals_the_rank(
    robot: rd.Robot, angle: float
) -> None:
    """Also where one leg is in line, and its rows do not determine its own speeds."""
    q = np.zeros(robot.nq)
    names = ["drive", *(f"{x}{k}" for k in range(14) for x in "bd")]
    for name, x in zip(names, posture(14, angle), strict=True):
        q[robot.joints[name].q] = x
    assert np.abs(robot.loop_residual(q)).max() < 1e-12
    rng = np.random.default_rng(3)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    wanted = robot.constrained_dynamics(q, v, tau, method="nullspace").a
    scale = np.abs(wanted).max()
    assert robot.forward_dynamics(q, v, tau) == pytest.approx(wanted, rel=1e-7, abs=1e-8 * scale)
