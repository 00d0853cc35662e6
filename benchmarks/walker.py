"""A walker on two legs whose hips, knees and ankles are moved by rods: 46 speeds, ten loops.

Each hip and ankle is a cross that two cranks turn through rods, with a cross at one end and a ball
at the other; each knee is a hinge that one crank turns through a rod between hinges.
"""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.description import Inertia, Joint, Limits, Link, Loop, Mechanism, Pose

Vector = tuple[float, float, float]
Part = Link | Joint | Loop

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
RANGE = Limits(-0.4, 0.4)
#: From a crank's axis to its pin, and from there along the rod.
CRANK, ROD = (-0.05, 0.0, 0.0), (0.0, 0.0, -0.3)
THIGH, SHANK = 0.4, 0.4


def link(name: str, mass: float, com: Vector, radius: float) -> Link:
    """A body of about the size of a ball of this radius, with no symmetry."""
    i = 0.4 * mass * radius**2
    return Link(name, Inertia(mass, Pose(com), i, 0.03 * i, 0.02 * i, 1.1 * i, 0.04 * i, 0.9 * i))


def hinge(name: str, parent: str, child: str, at: Vector, axis: Vector = Y) -> Joint:
    return Joint(name, "revolute", parent, child, Pose(at), axis, limits=RANGE)


def cross(name: str, parent: str, child: str, at: Vector) -> Joint:
    return Joint(name, "universal", parent, child, Pose(at), Y, axis2=X)


def differential(name: str, parent: str, child: str, z: float) -> Iterator[Part]:
    """A cross at height ``z`` of the parent, and the two cranks and rods that turn it."""
    yield cross(name, parent, child, (0.0, 0.0, z))
    for side, y in (("left", 0.04), ("right", -0.04)):
        crank, rod = f"{name}_{side}_crank", f"{name}_{side}_rod"
        yield link(crank, 0.2, (-0.02, 0.0, 0.0), 0.03)
        yield link(rod, 0.1, (0.0, 0.0, -0.15), 0.1)
        yield hinge(f"{crank}_motor", parent, crank, (-0.05, y, z + 0.3))
        yield cross(f"{rod}_cross", crank, rod, CRANK)
        yield Loop(f"{rod}_ball", "spherical", rod, child, Pose(ROD), Pose((-0.1, y, 0.0)))


def knee(name: str, parent: str, child: str) -> Iterator[Part]:
    """A hinge, and the crank and rod that turn it."""
    crank, rod = f"{name}_crank", f"{name}_rod"
    yield hinge(name, parent, child, (0.0, 0.0, -THIGH))
    yield link(crank, 0.3, (-0.02, 0.0, 0.0), 0.04)
    yield link(rod, 0.15, (0.0, 0.0, -0.15), 0.1)
    yield hinge(f"{crank}_motor", parent, crank, (0.0, 0.02, -0.1))
    yield hinge(f"{rod}_pin", crank, rod, CRANK)
    end, pin = Pose((-0.02, 0.0, -0.32)), Pose((-0.07, 0.02, -0.02))
    yield Loop(f"{rod}_end", "revolute", rod, child, end, pin, Y)


def leg(name: str, y: float) -> Iterator[Part]:
    """From the yaw of the hip down to the foot."""
    pelvis, thigh, shank, foot = (f"{name}_{part}" for part in ("pelvis", "thigh", "shank", "foot"))
    yield link(pelvis, 2.0, (0.0, 0.01, 0.1), 0.08)
    yield link(thigh, 4.0, (0.01, 0.0, -0.2), 0.12)
    yield link(shank, 2.5, (0.01, 0.0, -0.2), 0.1)
    yield link(foot, 1.0, (0.03, 0.0, -0.05), 0.08)
    yield hinge(f"{name}_yaw", "torso", pelvis, (0.0, y, 0.0), Z)
    yield from differential(f"{name}_hip", pelvis, thigh, -0.05)
    yield from knee(f"{name}_knee", thigh, shank)
    yield from differential(f"{name}_ankle", shank, foot, -SHANK)


def walker() -> Mechanism:
    """The whole machine; its torso floats."""
    parts: list[Part] = [Link("world"), link("torso", 20.0, (0.0, 0.0, 0.3), 0.25)]
    parts.append(Joint("base", "floating", "world", "torso"))
    parts += [*leg("left", 0.1), *leg("right", -0.1)]
    links, joints, loops = (
        tuple(part for part in parts if isinstance(part, kind)) for kind in (Link, Joint, Loop)
    )
    return Mechanism("walker", links, joints, loops)  # type: ignore[arg-type]
