"""Chains, trees and scissors of many links, described rather than read from a file."""

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
