"""Three hinges through one point, with massless links between, as one spherical joint.

Where the second hinge has turned by a quarter turn, the first and the third axis coincide (gimbal
lock), and nothing resists the motion of the massless links. A spherical joint has the same motions
without this singularity.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose
from robodyn.description.pose import inverse_pose
from robodyn.errors import UrdfWarning
from robodyn.force_elements import joint_numbers
from robodyn.joints import continuous, fixed, joint_kind, revolute, spherical
from robodyn.joints.common.described import described_pose
from robodyn.model.changes.edit import with_payload
from robodyn.model.splitting import joints_referred_to, links_referred_to
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import INTERSECTING_AXES, MASSLESS_LINK, PERPENDICULAR_AXES
from robodyn.topology.body_inertia import body_inertia, shift_inertia
from robodyn.urdf.common.report import give_warnings

HINGES = (revolute.KIND.name, continuous.KIND.name)


@dataclass(frozen=True)
class MeetingHinges:
    """Three successive hinges whose axes meet in a point, with massless links between.

    hinges: From the parent of the first to the child of the last.
    X_PC (4, 4) [1, m]: The child of the last in the parent of the first, at zero.
    centre (3,) [m]: Intersection of the axes, in the parent of the first.
    """

    hinges: tuple[Joint, Joint, Joint]
    X_PC: FloatArray
    centre: FloatArray

    @property
    def name(self) -> str:
        """Name of the spherical joint."""
        return "-".join(joint.name for joint in self.hinges)

    @property
    def weld(self) -> str:
        """Name of the fixed joint behind it, if the last link's origin is not at the centre."""
        return f"{self.name}_fixed"

    @property
    def between(self) -> tuple[str, str]:
        """Links between them."""
        first, second, _ = self.hinges
        return first.child, second.child

    @property
    def limited(self) -> bool:
        """Whether some have limits of position, which a spherical joint does not have."""
        limits = [joint.limits for joint in self.hinges if joint.limits is not None]
        return any(np.isfinite((one.lower, one.upper)).any() for one in limits)


def with_merged_hinges(mechanism: Mechanism) -> Mechanism:
    """The mechanism with balls in place of hinges; the mass of links between is kept.

    With a warning of limits that are left out.
    """
    found = _meeting_hinges(mechanism)
    give_warnings(
        [
            UrdfWarning(
                "limits of position of hinges that are merged into a ball are left out",
                **mechanism.where(meeting.hinges[0]) | {"element": f"joint {meeting.name!r}"},
            )
            for meeting in found
            if meeting.limited
        ]
    )
    links = {link.name: link for link in mechanism.links}
    joints: list[Joint] = list(mechanism.joints)
    for meeting in found:
        last = meeting.hinges[-1]
        between = [links.pop(name) for name in meeting.between]
        links[last.child] = _carrying(links[last.child], between, meeting)
        off_centre = bool(np.linalg.norm(meeting.centre - meeting.X_PC[:3, 3]) > INTERSECTING_AXES)
        X_PB = meeting.X_PC.copy()
        if off_centre:
            X_PB[:3, 3] = meeting.centre
            links[meeting.name] = Link(meeting.name)
        ball = Joint(
            meeting.name,
            spherical.KIND.name,
            meeting.hinges[0].parent,
            meeting.name if off_centre else last.child,
            Pose.from_matrix(X_PB),
            line=meeting.hinges[0].line,
            merged=tuple(joint.name for joint in meeting.hinges),
        )
        place = joints.index(meeting.hinges[0])
        joints = [joint for joint in joints if joint not in meeting.hinges]
        joints.insert(place, ball)
        if off_centre:
            origin = Pose.from_matrix(inverse_pose(X_PB) @ meeting.X_PC)
            joints.insert(
                place + 1, Joint(meeting.weld, fixed.KIND.name, meeting.name, last.child, origin)
            )
    return dataclasses.replace(mechanism, links=tuple(links.values()), joints=tuple(joints))


def _meeting_hinges(mechanism: Mechanism) -> list[MeetingHinges]:
    """All triples of hinges that can be replaced; each hinge is in one triple only.

    Successive axes must be perpendicular, so that all orientations are reached, and the three must
    not be in a plane at zero position. The names of the spherical and the fixed joint must be free.
    No hinge has a motor, a spring, damping or friction, mimics or is mimicked, or is named by a
    constraint; and nothing else is attached to the links between.
    """
    free = _free_hinges(mechanism)
    light = _light_links(mechanism)
    after = {joint.parent: joint for joint in free if joint.parent in light}
    found: list[MeetingHinges] = []
    taken: set[str] = set()
    names = {link.name for link in mechanism.links} | {x.name for x in mechanism.movers}
    for first in free:
        second = after.get(first.child)
        third = after.get(second.child) if second is not None else None
        if second is None or third is None:
            continue
        row = (first, second, third)
        if not taken & {joint.name for joint in row}:
            meeting = _meeting(row)
            if meeting is not None and not names & {meeting.name, meeting.weld}:
                found.append(meeting)
                taken |= {joint.name for joint in row}
    return found


def _free_hinges(mechanism: Mechanism) -> list[Joint]:
    """Hinges without forces that nothing refers to."""
    named = {*joints_referred_to(mechanism)}
    named |= {name for sensor in mechanism.sensors for name in sensor.joints}
    return [
        joint
        for joint in mechanism.joints
        if joint.kind in HINGES
        and joint.name not in named
        and joint.mimic is None
        and not joint.independent
        and not any(getattr(joint, name) for name in (*joint_numbers(joint), "armature"))
    ]


def _light_links(mechanism: Mechanism) -> set[str]:
    """Massless links with two joints that nothing else refers to."""
    users = Counter(end for joint in mechanism.joints for end in (joint.parent, joint.child))
    users.update(links_referred_to(mechanism))
    for sensor in mechanism.sensors:
        users.update(sensor.links)
    users.update(motor.mounted_on for _, motor in mechanism.actuators if motor.mounted_on)
    inertias = {link.name: body_inertia(link) for link in mechanism.links}
    mass = sum(inertia.mass for inertia in inertias.values())
    moment = sum(float(np.trace(inertia.I)) for inertia in inertias.values())
    return {
        name
        for name, inertia in inertias.items()
        if users[name] == 2
        and inertia.mass <= MASSLESS_LINK * mass
        and float(np.trace(inertia.I)) <= MASSLESS_LINK * moment
    }


def _meeting(row: tuple[Joint, Joint, Joint]) -> MeetingHinges | None:
    """Three hinges with their common point; ``None`` if there is none."""
    X = np.eye(4)
    points, axes = [], []
    for joint in row:
        X = X @ joint.origin.matrix
        points.append(X[:3, 3])
        axes.append(X[:3, :3] @ np.array(joint.axis))
        X = X @ described_pose(joint_kind(joint.kind), joint, [0.0])
    if abs(axes[0] @ axes[1]) > PERPENDICULAR_AXES or abs(axes[1] @ axes[2]) > PERPENDICULAR_AXES:
        return None
    if abs(np.cross(axes[0], axes[1]) @ axes[2]) < PERPENDICULAR_AXES:
        return None
    across = [np.eye(3) - np.outer(axis, axis) for axis in axes]
    terms = [P @ p for P, p in zip(across, points, strict=True)]
    centre = np.linalg.solve(np.sum(across, axis=0), np.sum(terms, axis=0))
    gaps = [np.linalg.norm(P @ (centre - p)) for P, p in zip(across, points, strict=True)]
    return MeetingHinges(row, X, centre) if max(gaps) <= INTERSECTING_AXES else None


def _carrying(link: Link, between: list[Link], meeting: MeetingHinges) -> Link:
    """The last link with the mass of the links between, at their zero positions."""
    X = np.eye(4)
    for light, joint in zip(reversed(between), reversed(meeting.hinges[1:]), strict=True):
        X = X @ inverse_pose(joint.origin.matrix)  # of the link before, in the last
        if light.inertia is not None:
            seen = shift_inertia(X, body_inertia(light))
            com = seen.h / seen.mass if seen.mass else np.zeros(3)
            link = with_payload(link, Inertia.from_matrix(seen.mass, com, seen.about_center()))
    return link
