"""Closed loops as equality constraints between sites; other joints than pins move a half link."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Loop, Mechanism, Pose
from robodyn.description.joint import ends_of, poses_of
from robodyn.description.pose import inverse_pose
from robodyn.errors import UrdfError
from robodyn.joints import continuous, distance, fixed, revolute, spherical
from robodyn.topology.spanning_tree import SpanningTree
from robodyn.urdf.mjcf.bodies import pose_of
from robodyn.urdf.mjcf.writing.bodies import WrittenBodies
from robodyn.urdf.mjcf.writing.document import Document, add

#: Distance of the two points on the axis at which a hinge closes a loop [m].
HINGE_LENGTH = 0.1

#: Points along the axis of the loop that are held together, by kind of joint.
POINTS = {
    spherical.KIND.name: (0.0,),
    revolute.KIND.name: (-0.5 * HINGE_LENGTH, 0.5 * HINGE_LENGTH),
    continuous.KIND.name: (-0.5 * HINGE_LENGTH, 0.5 * HINGE_LENGTH),
}


def on_carriers(mechanism: Mechanism, tree: SpanningTree, loop: Loop) -> Loop:
    """The same loop between links with mass that the links without mass are fixed to, if any."""
    heavy, ends = _heavy(mechanism), list[tuple[str, Pose]]()
    names = {body: name for name, (body, _) in tree.links.items()}
    for end, pose in zip(ends_of(loop), poses_of(loop), strict=True):
        link, X = end, np.eye(4)
        while link not in heavy and (body := tree.links[link][0]) >= 0:
            joint = tree.joints[body]
            if joint.joint.kind != fixed.KIND.name or joint.parent not in names:
                break
            above = names[joint.parent]
            X = inverse_pose(tree.links[above][1]) @ joint.X_PJ @ tree.links[link][1] @ X
            link = above
        found = link in heavy and link != end
        ends.append((link, Pose.from_matrix(X @ pose.matrix)) if found else (end, pose))
    (predecessor, X_predecessor), (successor, X_successor) = ends
    return dataclasses.replace(
        loop,
        predecessor=predecessor,
        successor=successor,
        X_predecessor=X_predecessor,
        X_successor=X_successor,
    )


def _heavy(mechanism: Mechanism) -> set[str]:
    return {x.name for x in mechanism.links if x.inertia is not None and x.inertia.mass}


def halved_link(mechanism: Mechanism, tree: SpanningTree, loop: Loop) -> str | None:
    """The link that is cut in two for a loop; none where sites can be held together.

    Raises UrdfError: If neither link moves and has mass.
    """
    limits = loop.limits
    acts = loop.damping or loop.friction or loop.stiffness or loop.armature
    acts = acts or loop.name in dict(mechanism.actuators)
    limited = limits and (math.isfinite(limits.lower) or math.isfinite(limits.upper))
    if loop.kind == distance.KIND.name:
        return None
    if loop.kind in (*POINTS, fixed.KIND.name) and not acts and not limited:
        return None
    heavy = _heavy(mechanism)
    for link in (loop.successor, loop.predecessor):
        if link in heavy and tree.links[link][0] >= 0:
            return link
    raise UrdfError(
        f"cannot be written as MJCF: a {loop.kind} loop cuts one of its links in two halves, "
        f"{' or '.join(map(repr, ends_of(loop)))}, and of these none moves and has mass; give one "
        "that moves some",
        element=f"loop {loop.name!r}",
        file=mechanism.file,
    )


def add_loop(document: Document, bodies: WrittenBodies, loop: Loop, half: str | None) -> None:
    """Add what closes a loop."""
    if half is not None:
        _join_half(document, bodies, loop, half)
    elif loop.kind == distance.KIND.name:
        tendon = document.add("tendon/spatial", name=loop.name)
        for site in _sites(document, bodies, loop, np.zeros(3), "").values():
            add(tendon, "site", site=site)
        values = {"tendon1": tendon.get("name"), "polycoef": np.zeros(5)}
        document.add("equality/tendon", name=f"{loop.name}_length", **values)
    elif loop.kind == fixed.KIND.name:
        sites = _sites(document, bodies, loop, np.zeros(3), "")
        document.add("equality/weld", name=loop.name, torquescale=1, **sites)
    else:
        for way, suffix in zip(POINTS[loop.kind], ("", "_axis"), strict=False):
            sites = _sites(document, bodies, loop, way * np.array(loop.axis), suffix)
            document.add("equality/connect", name=loop.name + suffix, **sites)


def _sites(
    document: Document, bodies: WrittenBodies, loop: Loop, point: FloatArray, suffix: str
) -> dict[str, Any]:
    """A site on each link, at a point of the frame of the loop."""
    ends = (loop.predecessor, loop.X_predecessor), (loop.successor, loop.X_successor)
    return {
        f"site{k}": document.add_site(
            bodies.of(link), f"{loop.name}{suffix}_{k}", X.matrix @ pose_of(point)
        )
        for k, (link, X) in enumerate(ends, 1)
    }


def _join_half(document: Document, bodies: WrittenBodies, loop: Loop, link: str) -> None:
    """The joint of the loop moves one half of a link, which is welded to the other half."""
    ends = [
        (loop.predecessor, loop.X_predecessor.matrix),
        (loop.successor, loop.X_successor.matrix),
    ]
    swapped = link == loop.predecessor
    (other, X_PJ), (_, X_LJ) = ends[::-1] if swapped else ends
    motions = bodies.motions_of(loop, swapped, at_world=False)
    name = document.unique("body", f"{link}_{loop.name}")
    half = bodies.add_body(bodies.of(other), name, [(X_PJ, motions)], inverse_pose(X_LJ), link)
    sites = {
        "site1": document.add_site(bodies.of(link), f"{loop.name}_1", X_LJ),
        "site2": document.add_site(half, f"{loop.name}_2", X_LJ),
    }
    document.add("equality/weld", name=f"{loop.name}_weld", torquescale=1, **sites)
    document.lost.append(
        f"loop {loop.name!r} ({loop.kind}) is a joint of one half of link {link!r}, which is "
        "welded to the other"
    )
