"""Random linkages whose loops are to be closed, judged by poses.

Each linkage is a random tree with one or two loops of any kind, closed by construction at a posture
that the search is not told. From guesses near it and anywhere, `Robot.assemble` must find a posture
at which the two frames of every loop stand as its joint allows, within all limits, with held joints
where they were held and no angle a whole turn away; or say that it found none. What a joint allows
is written down in `oracles.joint_motion`, without rows of constraints.

How often the search finds nothing is counted by kind of guess, and more than `FAILURES` is a fault.

``python tests/fuzz_assembly.py --count 100000`` makes many, ``make fuzz`` likewise.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import sys
import warnings

import numpy as np
from oracles.edges import WORLD
from oracles.joint_coordinates import joint_coordinates
from oracles.joint_motion import Motion, joint_motion, origin
from oracles.maximal import MaximalOracle
from support.fuzzing import judge_many
from support.loop_graphs import closing_loop, numbers_of, tree_and_posture, with_loops_as_joints

import robodyn as rd
from robodyn.description import Limits, Pose
from robodyn.joints import KINDS

#: Frames that stand apart by less [m, and of rotation matrices] agree.
CLOSED = 1e-8

#: Kinds of joints that close loops, and that trees are made of.
CLOSING = sorted(k.name for k in KINDS.values() if k.cut is not None and k.nv < 6)
MOVING = (
    "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar",
    "spherical",
)  # fmt: skip
HINGES = ("revolute", "continuous", "prismatic")

Z = (0.0, 0.0, 1.0)

#: Rate of a pose that does not move.
STILL = np.zeros((4, 4))

#: Kind of guess -> how far it is from the closed posture at most, and guesses a linkage.
GUESSES = {"close": (0.05, 3), "near": (0.5, 4), "anywhere": (np.inf, 3)}

#: Kind of guess -> part of the searches that may find nothing. Within limits around one posture, a
#: guess anywhere may lead into a corner.
FAILURES = {"close": 0.0005, "near": 0.001, "anywhere": 0.005}


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A linkage, and a posture at which it is closed.

    Attributes
    ----------
    robot : Robot
    oracle : MaximalOracle
    q : ndarray, shape (nq,)
    what : str
        Kinds of its joints and loops.
    """

    robot: rd.Robot
    oracle: MaximalOracle
    q: np.ndarray
    what: str


def made(rng, kind):
    """A case with a loop of a kind, in space or with all its hinges parallel."""
    planar = rng.random() < 0.4
    among = HINGES if planar or rng.random() < 0.5 else MOVING
    kinds = [str(rng.choice(among)) for _ in range(rng.integers(2, 7))]
    tree, poses, q = tree_and_posture(rng, kinds)
    if planar:
        tree = flattened(tree)
        poses = poses_of(MaximalOracle(tree), q)
    loops = [_loop(rng, "loop", kind, poses, planar)]
    if rng.random() < 0.25:
        loops.append(_loop(rng, "other", str(rng.choice(CLOSING)), poses, planar))
    mechanism = dataclasses.replace(tree, loops=tuple(loops))
    what = f"{'planar: ' * planar}{' '.join(kinds)} + {' '.join(loop.kind for loop in loops)}"
    if all(loop.kind != "distance" for loop in loops) and rng.random() < 0.3:
        mechanism, what = with_loops_as_joints(mechanism), f"{what}, as joints"
        for loop in loops:
            poses[f"{loop.name}_frame"] = poses[loop.successor] @ origin(loop.X_successor)
    oracle = MaximalOracle(mechanism)
    if not mechanism.loops:  # other joints may be cut
        q = numbers_of(oracle, {name: Motion(X, STILL, STILL) for name, X in poses.items()})[0]
    mechanism = _limited(rng, mechanism, oracle, q)
    with warnings.catch_warnings(action="ignore"):
        return Case(rd.load(mechanism), oracle, q, what)


def flattened(tree):
    """The same tree in a plane: hinges about z, slides across it."""
    joints = []
    for joint in tree.joints:
        (x, y, _), (_, _, yaw) = joint.origin.xyz, joint.origin.rpy
        axis = Z
        if joint.kind == "prismatic":
            axis = (*(float(c) for c in np.array(joint.axis[:2]) / np.hypot(*joint.axis[:2])), 0.0)
        frame = Pose((x, y, 0.0), (0.0, 0.0, yaw))
        joints.append(dataclasses.replace(joint, origin=frame, axis=axis))
    return dataclasses.replace(tree, joints=tuple(joints))


def poses_of(oracle, q):
    """Pose of each link in the world."""
    motions = oracle.motions(q, np.zeros(oracle.nv))[1]
    return {name: m.X for name, m in zip(oracle.names, motions, strict=True)}


def _loop(rng, name, kind, poses, planar):
    ends = tuple(str(link) for link in rng.choice(list(poses), 2, replace=False))
    if not planar:
        return closing_loop(rng, name, kind, ends, poses)
    x, y, yaw = (float(c) for c in rng.normal(size=3))
    angle = float(rng.uniform(-np.pi, np.pi))
    across = (math.cos(angle), math.sin(angle), 0.0) if kind == "prismatic" else Z
    frame = Pose((x, y, 0.0), (0.0, 0.0, yaw))
    return closing_loop(rng, name, kind, ends, poses, frame, across)


def _limited(rng, mechanism, oracle, q):
    """Some joints of the tree with limits around the closed posture."""
    at = {edge.joint.name: edge.q for edge in oracle.edges}
    joints = []
    for joint in mechanism.joints:
        if joint.kind in ("revolute", "prismatic") and joint.name in at and rng.random() < 0.3:
            here = float(q[at[joint.name]][0])
            below, above = rng.uniform(0.05, 2.0, 2)
            joint = dataclasses.replace(joint, limits=Limits(here - below, here + above))
        joints.append(joint)
    return dataclasses.replace(mechanism, joints=tuple(joints))


# ---- the judgement


def gaps(oracle, q):
    """How far the frames of each closing joint stand from where it allows, by name."""
    _, motions = oracle.motions(q, np.zeros(oracle.nv))
    found = {}
    for edge in oracle.cuts:
        assert edge.parent != WORLD
        X = np.linalg.solve(motions[edge.parent].X, motions[edge.child].X @ edge.X_child)
        found[edge.joint.name] = _gap(edge, X)
    return found


def _gap(edge, X_PC):
    joint = edge.joint
    if joint.kind == "distance":
        apart = np.linalg.norm(X_PC[:3, 3] - origin(joint.origin)[:3, 3])
        return abs(apart - edge.distance)
    nothing = np.zeros(6)
    best = joint_motion(joint, joint_coordinates(joint, X_PC), nothing, nothing).X
    return float(np.abs(best - X_PC).max())


def faults_of(case, guess, q, hold):
    """What is wrong with a posture that was found from a guess."""
    robot, wrong = case.robot, []
    open_by = {name: gap for name, gap in gaps(case.oracle, q).items() if not gap < CLOSED}
    if open_by:
        wrong.append(f"open: {open_by}")
    if not ((robot.lower_limits <= q) & (q <= robot.upper_limits)).all():
        wrong.append("beyond limits")
    for name, joint in robot.joints.items():
        own = q[joint.q], guess[joint.q]
        if name in hold and not np.abs(own[0] - own[1]).max() < 1e-14:  # quaternions are rounded
            wrong.append(f"{name} was held at {own[1]}, is at {own[0]}")
        bounded = np.isfinite([robot.lower_limits[joint.q], robot.upper_limits[joint.q]]).any()
        turns = joint.type in ("revolute", "continuous") and not bounded
        if turns and np.abs(own[0] - own[1]).max(initial=0.0) > np.pi + 1e-9:
            wrong.append(f"{name} turned from {own[1]} to {own[0]}")
    return wrong


def guess_for(case, rng, reach):
    """A posture near the closed one, or anywhere."""
    step = rng.normal(size=case.robot.nv)
    if np.isinf(reach):
        return case.robot.integrate(case.q, 3.0 * step)
    size = rng.uniform(0.0, reach) / np.abs(step).max(initial=1e-9)
    return case.robot.integrate(case.q, size * step)


def some_held(case, rng):
    """Names of joints that keep their place, and the closed posture allows it."""
    names = [n for n, joint in case.robot.joints.items() if joint.q.stop > joint.q.start]
    if rng.random() < 0.7 or len(names) < 3:
        return ()
    return tuple(str(n) for n in rng.choice(names, rng.integers(1, 3)))


def judged(case, rng, kind, seen):
    """Fate of one search, and what is wrong; the postures that it meets are added to ``seen``."""
    guess, hold = guess_for(case, rng, GUESSES[kind][0]), some_held(case, rng)
    for name in hold:
        part = case.robot.joints[name].q
        guess[part] = case.q[part]
    seen.append(guess)
    try:
        q = case.robot.assemble(guess, hold=hold)
    except rd.AssemblyError:
        return "none found", ""
    seen.append(q)
    wrong = faults_of(case, guess, q, hold)
    if wrong:
        return "wrong", "; ".join(wrong)
    known = np.abs(case.robot.difference(guess, case.q)).max(initial=0.0)
    away = np.abs(case.robot.difference(guess, q)).max(initial=0.0)
    return ("closed" if away < 5.0 * known + 1e-6 else "closed elsewhere"), ""


def unlike_alone(case, postures):
    """Rows of a batch of postures whose residuals are not zero exactly where loops are closed."""
    found = np.abs(case.robot.loop_residual(np.array(postures))).max(axis=1)
    gap = [max(gaps(case.oracle, q).values()) for q in postures]
    rows = [k for k in range(len(gap)) if (found[k] < CLOSED) != (gap[k] < CLOSED)]
    return [f"row {k}: residual {found[k]}, frames {gap[k]} apart" for k in rows]


def fuzz(count, seed=0, kinds=CLOSING, report=None):
    """Close loops; return how many searches met which fate, by kind of guess, and the faults.

    Parameters
    ----------
    count : int
    seed : int
    kinds : sequence of str
        Of loops.
    report : callable, optional
        Called with the fates and the faults now and then.
    """
    fates: collections.Counter[tuple[str, str]] = collections.Counter()
    faults, number = [], 0
    while fates.total() < count:
        rng = np.random.default_rng([seed, number])
        case, seen = made(rng, kinds[number % len(kinds)]), []
        for kind, (_, times) in GUESSES.items():
            for _ in range(times):
                fate, wrong = judged(case, rng, kind, seen)
                fates[kind, fate] += 1
                if wrong:
                    faults.append(f"linkage {number} ({case.what}), guess {kind}: {wrong}")
        faults += [f"linkage {number} ({case.what}), {wrong}" for wrong in unlike_alone(case, seen)]
        number += 1
        if report is not None and number % 100 == 0:
            report(fates, faults)
    return fates, faults


def failure_rate(fates, kind):
    """Part of the searches from a kind of guess that found nothing."""
    return fates[kind, "none found"] / sum(n for (k, _), n in fates.items() if k == kind)


def main():
    """Close many loops from the command line."""

    def told(fates):
        return {" ".join(key): number for key, number in sorted(fates.items())}

    fates, faults = judge_many(__doc__, fuzz, 100_000, "kinds of loops", told, CLOSING)
    return 1 if faults or any(failure_rate(fates, k) > most for k, most in FAILURES.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
