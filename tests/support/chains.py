"""Chains, trees and scissors of many links, described rather than read from a file."""

import math

from robodyn.description import Inertia, Joint, Link, Loop, Mechanism, Pose
from robodyn.model.settings import Settings
from robodyn.robot import Robot

INERTIA = Inertia(1.0, Pose((0.1, 0.01, 0.02)), 0.02, 0.001, 0.002, 0.03, 0.003, 0.04)


def chain(count):
    """Links one after the other, each turned against the last, axes y and z in turns."""
    return robot(f"chain{count}", range(count))


def tree(count):
    """Links with two others on each but the last ones."""
    return robot(f"tree{count}", [max(0, k // 2) for k in range(count)])


def robot(name, parents):
    """A robot of hinges: the parent of each link, of which the first one is the base."""
    joints = [
        Joint(
            f"joint{k}",
            "revolute",
            f"link{parent}",
            f"link{k + 1}",
            Pose((0.2, 0.0, 0.0), (0.3, 0.0, 0.0)),
            (0.0, 1.0, 0.0) if k % 2 else (0.0, 0.0, 1.0),
        )
        for k, parent in enumerate(parents)
    ]
    links = [Link("link0"), *(Link(f"link{k + 1}", INERTIA) for k in range(len(joints)))]
    return Robot(Mechanism(name, tuple(links), tuple(joints)), Settings())


def scissors(loops):
    """Pairs of bars that cross, each joined to the next pair at both ends."""
    half, angle, axis = 0.15, 0.6, (0.0, 0.0, 1.0)
    bar = Inertia(0.5, Pose((0.01, 0.0, 0.0)), 0.001, 0.0, 0.0, 0.004, 0.0, 0.0045)
    links, joints, closures = [Link("base")], [], []
    for k in range(loops + 1):
        links += [Link(f"up{k}", bar), Link(f"down{k}", bar)]
        end = Pose((half, 0.0, 0.0), (0.0, 0.0, 2.0 * angle))
        start = (
            ("base", Pose((0.0, 0.0, 0.0), (0.0, 0.0, angle))) if not k else (f"down{k - 1}", end)
        )
        middle = Pose((half, 0.0, 0.0), (0.0, 0.0, -2.0 * angle))
        joints += [
            Joint(f"foot{k}", "continuous", start[0], f"up{k}", start[1], axis),
            Joint(f"middle{k}", "continuous", f"up{k}", f"down{k}", middle, axis),
        ]
        if k:
            ends = Pose((2.0 * half, 0.0, 0.0)), Pose((-half, 0.0, 0.0))
            closures.append(Loop(f"top{k}", "revolute", f"up{k - 1}", f"down{k}", *ends, axis))
    mechanism = Mechanism(f"scissors{loops}", tuple(links), tuple(joints), tuple(closures))
    return Robot(mechanism, Settings())


def crossed_scissors(stages):
    """The same bars as two chains from the ground, which the pins in their middle close."""
    half, angle, axis = 0.15, 0.6, (0.0, 0.0, 1.0)
    bar = Inertia(0.5, Pose((0.01, 0.0, 0.0)), 0.001, 0.0, 0.0, 0.004, 0.0, 0.0045)
    links, joints, closures = [Link("base"), Link("shoe", bar)], [], []
    wide = 2.0 * half * math.cos(angle)
    rail = Joint("rail", "prismatic", "base", "shoe", Pose((wide, 0.0, 0.0)), (1.0, 0.0, 0.0))
    joints.append(rail)
    ends = ["base", "shoe"]
    for k in range(stages):
        names = [f"left{k}", f"right{k}"]
        links += [Link(name, bar) for name in names]
        for side, (end, name) in enumerate(zip(ends, names, strict=True)):
            # each bar leans to the other side than the one below, and so does its chain
            lean = angle if (side + k) % 2 == 0 else math.pi - angle
            below = math.pi - lean
            at = (2.0 * half, 0.0, 0.0) if k else (0.0, 0.0, 0.0)
            turn = lean - below if k else lean
            joints.append(
                Joint(f"{name}_pin", "continuous", end, name, Pose(at, (0, 0, turn)), axis)
            )
        middle = Pose((half, 0.0, 0.0))
        closures.append(Loop(f"middle{k}", "revolute", *names, middle, middle, axis))
        ends = names
    name = f"crossed_scissors{stages}"
    return Robot(Mechanism(name, tuple(links), tuple(joints), tuple(closures)), Settings())
