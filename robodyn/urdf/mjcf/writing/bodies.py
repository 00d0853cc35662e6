"""Links as bodies of MJCF with the joints that move them, and links without mass as sites."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from lxml import etree

from robodyn.array_types import FloatArray
from robodyn.description import Inertia, Joint, Loop
from robodyn.description.pose import inverse_pose
from robodyn.description.values import why_impossible
from robodyn.errors import UrdfError, some_of
from robodyn.force_elements.common.link_element import WORLD
from robodyn.joints import fixed, floating, joint_kind, planar, prismatic
from robodyn.tolerances import LEAST_MASS, LEAST_MOMENT, SAME_POSITION
from robodyn.topology.spanning_tree import SpanningTree
from robodyn.urdf.common.drawn import DrawnRobot
from robodyn.urdf.common.joint_values import UNLIMITED
from robodyn.urdf.common.markup import text_of
from robodyn.urdf.mjcf.writing.document import Document, add, placed, quaternion
from robodyn.urdf.mjcf.writing.motions import Motion, motions_of

#: Kinds of joints whose speeds along axes of the child are those of slides on the parent.
TURNED_FRICTION = (planar.KIND.name, floating.KIND.name)

#: Kinds of joints that may move a body after a ball in MuJoCo, which refuses rotations there; and
#: the most degrees of freedom of a body.
AFTER_A_BALL = (fixed.KIND.name, prismatic.KIND.name)
MOST_FREEDOMS = 6

#: Motions that lead to a body, with the frames in which they begin: each in the one before.
Way = list[tuple[FloatArray, list[Motion]]]


class WrittenBodies:
    """Bodies of a document by the names of links, and ``motions`` by name.

    tree: The spanning tree, with fixed joints.
    joined: Links that something is fastened to beside their joints.
    shares: In how many parts links are cut.
    """

    def __init__(
        self,
        document: Document,
        robot: DrawnRobot,
        tree: SpanningTree,
        joined: set[str],
        shares: Mapping[str, int],
    ) -> None:
        self.motions: dict[str, Motion] = {}
        self._document, self._robot, self._shares = document, robot, shares
        mechanism = robot.mechanism
        self._actuators = dict(mechanism.actuators)
        self._coupled = {joint for x in mechanism.transmissions for joint in x.joints}
        self._inertias = {link.name: link.inertia for link in mechanism.links}
        self._bodies: dict[str, Any] = {WORLD: document.world}
        self._parts: dict[str, list[Any]] = {}
        document.reserve("joint", (mover.name for mover in mechanism.movers))
        document.reserve("body", (WORLD, *self._inertias))
        self._massless: list[str] = []
        self._passed: list[str] = []
        self._lowered: list[str] = []
        self._add_tree(tree, joined)
        if self._passed:
            document.lost.append(
                f"links without mass between two joints ({some_of(self._passed)}) are left out: "
                "both joints move the next link"
            )
        if self._massless:
            document.lost.append(
                f"links without mass that joints move ({some_of(self._massless)}) have "
                f"{LEAST_MASS:g} kg and kg m^2"
            )
        if self._lowered:
            document.lost.append(
                f"the largest moments of inertia of links ({some_of(self._lowered)}), which exceed "
                "the sums of the others by rounding, are these sums"
            )

    def of(self, link: str) -> Any:
        """The body of a link."""
        return self._bodies[link]

    def parts(self, link: str) -> list[Any]:
        """The body of a link, and its other halves."""
        return self._parts[link]

    def has_mass(self, link: str) -> bool:
        """Whether a link has mass."""
        inertia = self._inertias.get(link)
        return inertia is not None and inertia.mass > 0.0

    def fixed_together(self, one: str, other: str) -> bool:
        """Whether no joint is between two links."""
        return _rigid(self._bodies[one]) is _rigid(self._bodies[other])

    @property
    def still_mass(self) -> bool:
        """Whether a body that does not move has mass."""
        bodies = self._document.world.iter("body")
        return any(x.find("inertial") is not None and not _moves(_rigid(x)) for x in bodies)

    def carrying(self, links: Sequence[str]) -> str | None:
        """The body that carries just the mass of these links, and of what is fixed to them.

        links: Empty for all that moves. None if there is no such body.
        """
        chosen = {_rigid(self._bodies[link]) for link in links}
        heavy = {
            x
            for x in self._document.world.iter("body")
            if x.find("inertial") is not None
            and (_rigid(x) in chosen if links else _moves(_rigid(x)))
        }
        for body in self._document.world.iter("body"):
            if heavy and heavy == {x for x in body.iter("body") if x.find("inertial") is not None}:
                return str(body.get("name"))
        return None

    def inertia(self, link: str) -> Inertia | None:
        """Inertia of a link."""
        return self._inertias[link]

    def _add_tree(self, tree: SpanningTree, joined: set[str]) -> None:
        """Add a body a link, from the base outwards."""
        links = {body: (name, X) for name, (body, X) in tree.links.items()}
        carried: dict[int, list[int]] = {}
        for i, joint in enumerate(tree.joints):
            carried.setdefault(joint.parent, []).append(i)

        def is_frame(i: int) -> bool:
            name, joint = links[i][0], tree.joints[i].joint
            bare = not (self.has_mass(name) or i in carried or name in joined)
            return bare and joint.kind == fixed.KIND.name

        def is_passed(i: int, way: Way) -> bool:
            name, kind = links[i][0], tree.joints[i].joint.kind
            bare = not self.has_mass(name) and name not in joined
            if not bare or kind in (fixed.KIND.name, floating.KIND.name):
                return False
            if len(carried.get(i, ())) != 1:
                return False
            following = carried[i][0]
            kind = tree.joints[following].joint.kind
            types = [x.type for _, motions in way for x in motions]
            if "ball" in types and kind not in AFTER_A_BALL:
                return False
            freedoms = len(types) + 2 * types.count("ball")
            more = joint_kind(kind).nv
            return not is_frame(following) and freedoms + more <= MOST_FREEDOMS

        base, _ = links.get(-1, (WORLD, None))
        if base != WORLD:
            self._bodies[base] = add(self._document.world, "body", name=base)
            self._add_inertia(base, self._bodies[base], base)
        places: dict[int, tuple[Any, Way]] = {-1: (self._bodies[base], [])}
        for i, joint in enumerate(tree.joints):
            above, way = places[joint.parent]
            X = joint.X_PJ
            if joint.parent in links and not way:
                X = inverse_pose(links[joint.parent][1]) @ X
            at_world = above is self._document.world and not way and bool((np.eye(4) == X).all())
            way = [*way, (X, self.motions_of(joint.joint, joint.reversed, at_world))]
            name, X_BL = links[i]
            if is_passed(i, way):
                self._passed.append(name)
                places[i] = above, way
            elif is_frame(i):
                self._document.add_site(above, name, _end(way) @ X_BL)
            else:
                self._bodies[name] = self.add_body(above, name, way, X_BL, name)
                places[i] = self._bodies[name], []

    def motions_of(self, joint: Joint | Loop, reversed_: bool, at_world: bool) -> list[Motion]:
        """Motions of a joint, which become known by their names."""
        drawn = self._robot.position(joint)
        found = motions_of(joint, drawn, reversed_=reversed_, at_world=at_world)
        for k, motion in enumerate(found):
            if motion.name != joint.name:
                name = self._document.unique("joint", motion.name)
                found[k] = dataclasses.replace(motion, name=name)
        if len(found) > 1:
            parts = ", ".join(sorted(x.name for x in found))
            self._document.lost.append(f"joint {joint.name!r} ({joint.kind}) is written as {parts}")
        if joint.friction and joint.kind in TURNED_FRICTION:
            self._document.lost.append(
                f"dry friction of joint {joint.name!r} ({joint.kind}) acts along axes that do not "
                "turn with it"
            )
        if any(x.type == "ball" and (x.pose != np.eye(4)).any() for x in found):
            self._document.lost.append(f"joint {joint.name!r} is at zero in the posture drawn")
        self.motions |= {motion.name: motion for motion in found}
        return found

    def add_body(self, above: Any, name: str, way: Way, X_BL: FloatArray, link: str) -> Any:
        """Add a body with a share of the inertia of a link, which moves on from the one above.

        X_BL (4, 4): Frame of the body in the frame where the way ends.
        """
        X_AB = _end(way) @ X_BL
        body = add(above, "body", name=name, **placed(X_AB))
        X = np.eye(4)
        for X_PJ, motions in way:
            X = X @ X_PJ
            for motion in motions:
                X_BJ = inverse_pose(X_AB) @ X
                self._add_joint(body, motion, X_BJ)
                X = X @ motion.pose
        self._add_inertia(name, body, link)
        return body

    def _add_joint(self, body: Any, motion: Motion, X_BJ: FloatArray) -> None:
        values: dict[str, object] = {"name": motion.name, "type": motion.type}
        if motion.type != "free":
            values |= {"pos": X_BJ[:3, 3]}
        if motion.single:
            values |= {"axis": X_BJ[:3, :3] @ motion.axis, "ref": motion.position}
        if motion.is_whole_joint:
            values |= _limits(motion.joint) | _spring(motion.joint)
        if not motion.follows:
            values |= self._passive(motion.joint)
        add(body, "joint", **values)

    def _passive(self, joint: Joint | Loop) -> dict[str, object]:
        """Inertia, damping and dry friction along a joint, with those of its motor."""
        motor = None if joint.name in self._coupled else self._actuators.get(joint.name)
        armature, damping, friction = joint.armature, joint.damping, joint.friction
        if motor is not None:
            armature += motor.gear_ratio**2 * motor.rotor_inertia
            damping += motor.gear_ratio**2 * motor.viscous
            friction += abs(motor.gear_ratio) * motor.coulomb
        values = {"armature": armature, "damping": damping, "frictionloss": friction}
        return {key: value for key, value in values.items() if value}

    def _add_inertia(self, name: str, body: Any, link: str) -> None:
        """Mass and moments about principal axes, before the joints of a body."""
        inertia, share = self._inertias[link], 1.0 / self._shares.get(link, 1)
        self._parts.setdefault(link, []).append(body)
        moves = len(body) > 0
        if inertia is not None and inertia.mass:
            moments, axes, lowered = _principal(link, inertia)
            if lowered:
                self._lowered.append(link)
            X = inertia.origin.matrix.copy()
            X[:3, :3] = X[:3, :3] @ axes * np.linalg.det(axes)
            values = {
                "pos": X[:3, 3],
                "quat": quaternion(X),
                "mass": share * inertia.mass,
                "diaginertia": share * moments,
            }
        elif moves:
            self._massless.append(name)
            values = {"pos": np.zeros(3), "mass": LEAST_MASS, "diaginertia": (LEAST_MASS,) * 3}
        else:
            return
        body.insert(0, etree.Element("inertial", {key: text_of(x) for key, x in values.items()}))

    def coordinates(self) -> list[float]:
        """Of the posture that is drawn, in MuJoCo's order."""
        found: list[float] = []
        for joint in self._document.world.iter("joint"):
            motion = self.motions[joint.get("name")]
            if motion.single:
                found.append(motion.position)
            elif motion.type == "ball":
                found += 1.0, 0.0, 0.0, 0.0
            else:
                found += [*motion.pose[:3, 3], *quaternion(motion.pose)]
        return found


def _rigid(body: Any) -> Any:
    """The body that moves a body, or the outermost one that is fixed to the world."""
    while not _moves(body) and body.getparent().tag == "body":
        body = body.getparent()
    return body


def _moves(body: Any) -> bool:
    """Whether a body has joints."""
    return body.find("joint") is not None or body.find("freejoint") is not None


def _principal(link: str, inertia: Inertia) -> tuple[FloatArray, FloatArray, bool]:
    """Moments that MuJoCo takes, their axes, and whether the largest is lowered.

    Raises UrdfError: If no body has them.
    """
    moments, axes = np.linalg.eigh(inertia.matrix)
    if (reason := why_impossible(inertia.mass, inertia.matrix)) is not None:
        raise UrdfError(f"cannot be written as MJCF: {reason}", element=f"link {link!r}")
    moments = np.maximum(moments, LEAST_MOMENT)
    most = moments[0] + moments[1]
    lowered = bool(moments[2] > most * (1.0 + SAME_POSITION))
    return np.array([*moments[:2], min(moments[2], most)]), axes, lowered


def _end(way: Sequence[tuple[FloatArray, list[Motion]]]) -> FloatArray:
    """Frame where a way ends, in the frame where it begins."""
    X = np.eye(4)
    for X_PJ, motions in way:
        X = X @ X_PJ
        for motion in motions:
            X = X @ motion.pose
    return X


def _limits(joint: Joint | Loop) -> dict[str, object]:
    limits, found = joint.limits, dict[str, object]()
    if limits is None:
        return found
    limited = math.isfinite(limits.lower) or math.isfinite(limits.upper)
    if limited and limits.lower < limits.upper:  # MuJoCo refuses ranges without width
        bounds = np.clip((limits.lower, limits.upper), -UNLIMITED, UNLIMITED)
        found |= {"limited": "true", "range": bounds}
    if math.isfinite(limits.effort) and limits.effort:
        effort = -limits.effort, limits.effort
        found |= {"actuatorfrclimited": "true", "actuatorfrcrange": effort}
    return found


def _spring(joint: Joint | Loop) -> dict[str, object]:
    return {"stiffness": joint.stiffness, "springref": joint.rest} if joint.stiffness else {}
