"""USD with UsdPhysics as a description: rigid bodies, joints and the loops that they close."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Inertia, Joint, Limits, Link, Loop, Mechanism, Mimic, Pose
from robodyn.description.pose import inverse_pose
from robodyn.errors import RobodynError, UrdfError, UrdfWarning, some_of
from robodyn.joints import continuous, distance, fixed, joint_kind, planar, revolute, universal
from robodyn.joints.common.described import align_z
from robodyn.tolerances import SAME_ORIGIN
from robodyn.urdf.usd.schema import ALL_FREEDOMS, FREEDOMS, MOTOR, SPRING, TYPES
from robodyn.urdf.usd.simulator_words import (
    ARMATURE,
    AXES,
    carried_weights,
    foreign_words,
    gravity_note,
    is_prescribed,
)
from robodyn.urdf.usd.stage import WORLD, Stage


def read_usd(file: str) -> tuple[Mechanism, list[RobodynError], list[UrdfWarning]]:
    """Read a USD file, with what is wrong and what is left out.

    Raises UrdfError: If it cannot be read, refers to files outside its folder, or has no body
        with mass.
    Raises MissingExtraError: Without usd-core.
    """
    stage = Stage(file)
    return _Robot(stage).mechanism(), stage.problems, stage.warnings


class _Robot:
    """The robot on a stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._usd = stage, stage.pxr
        self._length, self._mass = stage.length, stage.mass
        self._controlled: list[str] = []
        self._unweighed: list[str] = []

    def mechanism(self) -> Mechanism:
        """The whole."""
        physics = self._usd.UsdPhysics
        self._bodies = bodies = [x for x in self._stage.prims if x.HasAPI(physics.RigidBodyAPI)]
        joints = [x for x in self._stage.prims if x.IsA(physics.Joint)]
        links = masses = [self._link(prim) for prim in bodies]
        told = any(prim.GetCustomDataByKey("massless") for prim in bodies)
        if not told and not any(link.inertia for link in links):
            what = "no rigid bodies" if not bodies else "no masses"
            raise UrdfError(
                f"has {what}, only shapes: masses stand in PhysicsMassAPI, which the program that "
                "wrote the file leaves out where it computes them from shapes; export them there, "
                "or load the URDF or MJCF of the robot",
                file=self._stage.file,
            )
        default = self._stage.stage.GetDefaultPrim()
        name = str(default.GetCustomDataByKey("name") or default.GetName() if default else "robot")
        tree, loops = self._split(joints)
        moved = [self._moved(x, reverse) for x, reverse in tree]
        ends = {joint.parent for joint, _ in moved}
        ends |= {link for loop in loops for link in (loop.predecessor, loop.successor)}
        if WORLD in ends:
            links = [Link(WORLD), *links]
        more = [link for _, extra in moved for link in extra[0]]
        described = [x for joint, extra in moved for x in (joint, *extra[1])]
        self._tell()
        return Mechanism(
            name,
            (*links, *more),
            tuple(self._with_mimics(described, [x for x, _ in tree])),
            tuple(loops),
            file=self._stage.file,
            actuators=tuple((name, Actuator()) for name in self._motors()),
            start=tuple(self._start(joints)),
            link_elements=tuple(carried_weights(self._stage, zip(bodies, masses, strict=True))),
        )

    # bodies

    def _link(self, prim: Any) -> Link:
        name = self._stage.name(prim)
        mass = self._stage.numbers(prim, "physics:mass", 0.0) * self._mass
        if prim.GetCustomDataByKey("massless"):
            return Link(name)
        if mass < 0.0:
            self._stage.problem(prim, f"its mass is {mass:g} kg: negative")
        if not mass > 0.0:
            self._unweighed.append(name)
            return Link(name)
        if self._stage.numbers(prim, "physics:centerOfMass") is None and self._has_shape(prim):
            self._unweighed.append(name)
        scale = self._stage.scale(prim)
        center = np.array(self._stage.numbers(prim, "physics:centerOfMass", np.zeros(3))) * scale
        unit = self._mass * self._length**2
        full = prim.GetAttribute("newton:inertia")
        if full and full.HasAuthoredValue() and len(full.Get()) == 6:
            xx, yy, zz, xy, xz, yz = (float(x) * unit for x in full.Get())
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            moments = self._stage.numbers(prim, "physics:diagonalInertia", np.zeros(3)) * unit
            axes = "physics:principalAxes"
            turned = np.any(self._stage.numbers(prim, axes, 0.0))  # all zero: not given
            R = self._stage.rotation(prim, axes) if turned else np.eye(3)
            J = R @ np.diag(moments) @ R.T
            if not moments.any():
                self._stage.warn(prim, "has a mass and no inertia: it is taken as a point")
        return Link(name, Inertia.from_matrix(mass, center, J))

    def _has_shape(self, prim: Any) -> bool:
        api, below = self._usd.UsdPhysics.CollisionAPI, self._usd.Usd.PrimRange(prim)
        return any(x.HasAPI(api) for x in below)

    # joints

    def _ends(self, prim: Any) -> list[tuple[str, FloatArray]] | None:
        """Link and frame on it, of both sides; none where a body is unknown."""
        joint, found = self._usd.UsdPhysics.Joint(prim), []
        for k, relation in enumerate((joint.GetBody0Rel(), joint.GetBody1Rel())):
            targets = relation.GetTargets()
            place = np.ravel(self._stage.numbers(prim, f"physics:localPos{k}", np.zeros(3)))
            X = np.eye(4)
            X[:3, :3] = self._stage.rotation(prim, f"physics:localRot{k}")
            link = WORLD
            if targets:
                body = self._stage.stage.GetPrimAtPath(targets[0])
                api = self._usd.UsdPhysics.RigidBodyAPI
                while body and not body.IsPseudoRoot() and not body.HasAPI(api):
                    body = body.GetParent()
                if not body:
                    self._stage.problem(prim, f"its body {targets[0]} is not in the file")
                    return None
                frame = self._stage.stage.GetPrimAtPath(targets[0])
                X[:3, 3] = place * self._stage.scale(frame)
                if body.IsPseudoRoot():
                    X = self._stage.pose(frame) @ X
                else:
                    link = self._stage.name(body)
                    X = inverse_pose(self._stage.pose(body)) @ self._stage.pose(frame) @ X
            else:
                X[:3, 3] = place * self._length
            found.append((link, X))
        return found

    def _kind(self, prim: Any) -> str | None:
        """The kind of a joint; none of one that holds nothing, or that has no counterpart."""
        if prim.GetTypeName() == TYPES[revolute.KIND.name]:
            limited = any(
                math.isfinite(self._stage.numbers(prim, f"physics:{x}Limit", math.inf))
                for x in ("lower", "upper")
            )
            return revolute.KIND.name if limited else continuous.KIND.name
        for kind, word in TYPES.items():
            if prim.GetTypeName() == word:
                return kind if kind != distance.KIND.name or self._is_rod(prim) else None
        free = tuple(x for x in ALL_FREEDOMS if not self._is_locked(prim, x))
        if free == ALL_FREEDOMS:
            return None
        for kind, freedoms in FREEDOMS.items():
            if free == freedoms:
                return kind
        if not free:
            return fixed.KIND.name
        self._stage.problem(prim, f"a joint that is free in {', '.join(free)} has no counterpart")
        return None

    def _is_rod(self, prim: Any) -> bool:
        """Whether a distance has one value; else it is a problem."""
        least, most = (
            self._stage.numbers(prim, f"physics:{x}Distance", -1.0) for x in ("min", "max")
        )
        if math.isclose(least, most, rel_tol=1e-6) and most > 0.0:
            return True
        self._stage.problem(
            prim,
            f"its distance may be from {least:g} to {most:g} (below 0: any), as of a rope or a "
            "stop, which has no counterpart: a rod has one length",
        )
        return False

    def _is_locked(self, prim: Any, freedom: str) -> bool:
        low, high = (
            self._stage.numbers(prim, f"limit:{freedom}:physics:{x}", None) for x in ("low", "high")
        )
        return low is not None and high is not None and low > high

    def _split(self, prims: list[Any]) -> tuple[list[tuple[Any, bool]], list[Loop]]:
        """Joints of a tree from the world or the first body, whether reversed; and loops."""
        ends: dict[str, tuple[Any, list[tuple[str, FloatArray]]]] = {}
        for prim in prims:
            enabled = self._usd.UsdPhysics.Joint(prim).GetJointEnabledAttr().Get()
            found = self._ends(prim) if enabled is not False and self._kind(prim) else None
            if found is not None:
                ends[str(prim.GetPath())] = prim, found
        self._placed = ends
        free = {
            path: [link for link, _ in sides]
            for path, (prim, sides) in ends.items()
            if not self._usd.UsdPhysics.Joint(prim).GetExcludeFromArticulationAttr().Get()
            and prim.GetTypeName() != TYPES[distance.KIND.name]
        }
        children = {sides[1] for sides in free.values()}
        names = [self._stage.name(prim) for prim in self._bodies]
        roots = [WORLD, *(x for x in names if x not in children), *names]
        tree, reached = dict[str, bool](), set[str]()
        for root in roots:
            if root in reached:
                continue
            reached.add(root)
            queue = deque([root])
            while queue:
                link = queue.popleft()
                for path, (parent, child) in free.items():
                    if path in tree or link not in (parent, child):
                        continue
                    other = child if link == parent else parent
                    if other not in reached:
                        tree[path] = link == child
                        reached.add(other)
                        queue.append(other)
        loops = [self._loop(*ends[path]) for path in ends if path not in tree]
        return [(ends[path][0], tree[path]) for path in ends if path in tree], loops

    def _is_limited(self, prim: Any) -> bool:
        """Whether a ball, or a joint with freedoms of its own, has limits of position."""
        ends = [f"physics:coneAngle{k}Limit" for k in (0, 1)]
        given = [self._stage.numbers(prim, x, -1.0) >= 0.0 for x in ends]
        for freedom in ALL_FREEDOMS:
            if not self._is_locked(prim, freedom):
                ends = [f"limit:{freedom}:physics:{x}" for x in ("low", "high")]
                given += [math.isfinite(self._stage.numbers(prim, x, math.inf)) for x in ends]
        return any(given)

    def _fields(self, prim: Any, kind: str) -> dict[str, Any]:
        """Limits, and what acts along a joint with one freedom."""
        if joint_kind(kind).nv != 1:
            return {}
        turning = joint_kind(kind).turns
        word, unit = ("angular", math.degrees(1.0)) if turning else ("linear", 1.0 / self._length)
        force = self._mass * self._length * (self._length if turning else 1.0)

        def number(name: str, default: float = 0.0) -> float:
            return float(self._stage.numbers(prim, name, default))

        lower, upper = (
            number(f"physics:{x}Limit", s * math.inf) for x, s in (("lower", -1), ("upper", 1))
        )
        drive = f"drive:{word}:physics:"
        limits = Limits(
            lower / unit,
            upper / unit,
            number("newton:velocityLimit", math.inf) / unit,
            number(f"{drive}maxForce", math.inf) * force,
        )
        springy = bool(prim.GetCustomDataByKey(SPRING))
        gains = number(f"{drive}stiffness"), number(f"{drive}damping")
        if any(gains) and not springy:
            self._controlled.append(self._stage.name(prim))
        stiffness = gains[0] * unit * force if springy else 0.0
        return {
            "limits": None if limits == Limits() else limits,
            "armature": number("newton:armature", number(ARMATURE))
            * self._mass
            * (self._length**2 if turning else 1.0),
            "damping": number("newton:damping") * unit * force,
            "friction": number("newton:friction") * force,
            "stiffness": stiffness,
            "rest": number(f"{drive}targetPosition") / unit if stiffness else 0.0,
        }

    def _axes(self, prim: Any, kind: str) -> tuple[FloatArray, FloatArray]:
        """First and second axis in the frame of the joint."""
        if kind == universal.KIND.name:
            return np.array(AXES["Y"]), np.array(AXES["X"])
        given = prim.GetAttribute("physics:axis")
        token = str(given.Get()) if given and given.HasAuthoredValue() else "X"
        if token not in AXES:
            self._stage.problem(prim, f"its axis is {token[:20]!r}, expected {', '.join(AXES)}")
        return np.array(AXES.get(token, AXES["X"])), np.array(AXES["Y"])

    def _loop(self, prim: Any, sides: list[tuple[str, FloatArray]]) -> Loop:
        kind = self._kind(prim)
        assert kind is not None
        if self._leaders(prim):
            self._stage.problem(
                prim,
                "it closes a loop, and cannot follow another joint: exclude another joint of the "
                "loop from the articulation",
            )
        axis, axis2 = self._axes(prim, kind)
        (one, X_1), (two, X_2) = sides
        fields = self._fields(prim, kind)
        if kind == distance.KIND.name:
            length = self._stage.numbers(prim, "physics:maxDistance", 0.0)
            fields = {"distance": length * self._length}
        turn = _planar_turn(kind)
        return Loop(
            self._stage.name(prim),
            kind,
            one,
            two,
            Pose.from_matrix(X_1 @ turn),
            Pose.from_matrix(X_2 @ turn),
            _unit(turn[:3, :3].T @ axis),
            _unit(turn[:3, :3].T @ axis2),
            **fields,
        )

    def _moved(self, prim: Any, reverse: bool) -> tuple[Joint, tuple[list[Link], list[Joint]]]:
        """A joint of the tree; where it stands away from its child it moves a frame of its own."""
        kind, name = self._kind(prim), self._stage.name(prim)
        assert kind is not None
        sides = self._placed[str(prim.GetPath())][1]
        (parent, X_P), (child, X_C) = sides[::-1] if reverse else sides
        axis, axis2 = self._axes(prim, kind)
        if reverse:
            axis, axis2 = (-axis2, -axis) if kind == universal.KIND.name else (-axis, axis2)
        turn = _planar_turn(kind)
        X_P, X_C = X_P @ turn, X_C @ turn
        axis, axis2 = turn[:3, :3].T @ axis, turn[:3, :3].T @ axis2
        away = X_C[:3, 3]
        if kind in (revolute.KIND.name, continuous.KIND.name):
            along = X_C[:3, :3] @ axis
            away = away - away @ along * along
        if not joint_kind(kind).turns and joint_kind(kind).nv <= 1:
            away = np.zeros(3)
        fields = self._fields(prim, kind)
        R = X_C[:3, :3]
        turned = kind == planar.KIND.name and not np.allclose(
            R, align_z(R @ axis), atol=SAME_ORIGIN
        )
        moved = bool(np.abs(away).max() > SAME_ORIGIN or turned)
        if not moved:
            X_P, axis, axis2 = X_P @ inverse_pose(X_C), R @ axis, R @ axis2
        moves = self._stage.free_name(f"{name}_frame") if moved else child
        origin, axes = Pose.from_matrix(X_P), (_unit(axis), _unit(axis2))
        joint = Joint(name, kind, parent, moves, origin, *axes, **fields)
        if not moved:
            return joint, ([], [])
        placed = Pose.from_matrix(inverse_pose(X_C))
        weld = Joint(f"{moves}_fixed", fixed.KIND.name, moves, child, placed)
        return joint, ([Link(moves)], [weld])

    def _with_mimics(self, joints: list[Joint], prims: list[Any]) -> Iterator[Joint]:
        """Joints, with those that they follow."""
        by_name = {self._stage.name(prim): prim for prim in prims}
        for joint in joints:
            prim = by_name.get(joint.name)
            targets = self._leaders(prim) if prim is not None else ()
            if prim is None or not targets:
                yield joint
                continue
            leader = self._stage.names.get(str(targets[0]))
            if leader is None:
                self._stage.problem(prim, f"it mimics {targets[0]}, which is no joint of the file")
                yield joint
                continue
            unit = math.degrees(1.0) if joint_kind(joint.kind).turns else 1.0 / self._length
            offset = self._stage.numbers(prim, "newton:mimicCoef0", 0.0) / unit
            ratio = self._stage.numbers(prim, "newton:mimicCoef1", 1.0)
            yield dataclasses.replace(joint, mimic=Mimic(leader, ratio, offset))

    def _leaders(self, prim: Any) -> list[Any]:
        """Paths of the joint that a joint follows, if it follows one."""
        relation = prim.GetRelationship("newton:mimicJoint")
        return list(relation.GetTargets()) if relation else []

    def _motors(self) -> Iterator[str]:
        """Joints with drives that stand for motors."""
        api = self._usd.UsdPhysics.DriveAPI
        for prim, _ in self._placed.values():
            driven = any(prim.HasAPI(api, x) for x in ("angular", "linear", *ALL_FREEDOMS))
            if driven and prim.GetCustomDataByKey(MOTOR) is not False:
                yield self._stage.name(prim)

    def _start(self, prims: list[Any]) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Where joints of the tree stand in the posture that is drawn."""
        for prim in prims:
            for word, unit in (("angular", math.degrees(1.0)), ("linear", 1.0 / self._length)):
                at = self._stage.numbers(prim, f"state:{word}:physics:position", 0.0)
                if at:
                    yield self._stage.name(prim), (at / unit,)

    # findings

    def _tell(self) -> None:
        """Warn of gravity, and of what is left out."""
        physics = self._usd.UsdPhysics
        placed = [prim for prim, _ in self._placed.values()]
        if note := gravity_note(self._stage):
            self._stage.warnings.append(UrdfWarning(note, file=self._stage.file))
        said = {
            "masses or centres of mass ({}) are not in the file, as programs compute them from "
            "shapes: zero is taken": self._unweighed,
            "stiffness and damping of drives ({}) are those of a controller: they are left "
            "out": self._controlled,
            "shapes and contacts ({}) are left out": [
                str(x.GetPath()) for x in self._stage.prims if x.HasAPI(physics.CollisionAPI)
            ],
            "limits of joints with several freedoms ({}) are not read": [
                self._stage.name(x) for x in placed if self._is_limited(x)
            ],
            "words of simulators ({}) are not read": foreign_words([*self._bodies, *placed]),
            "bodies that a simulator holds or moves by hand ({}) move as all others": [
                self._stage.name(x) for x in self._bodies if is_prescribed(self._usd, x)
            ],
        }
        for message, names in said.items():
            if names:
                self._stage.warnings.append(
                    UrdfWarning(message.format(some_of(names)), file=self._stage.file)
                )


def _planar_turn(kind: str) -> FloatArray:
    """From the axes of a planar joint of USD, normal x, to ours, normal z: coordinates are y, z."""
    X = np.eye(4)
    if kind == planar.KIND.name:
        X[:3, :3] = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return X


def _unit(axis: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in axis)
    return x, y, z
