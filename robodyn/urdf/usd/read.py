"""USD with UsdPhysics as a description: rigid bodies, joints and the loops that they close."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Inertia, Joint, Limits, Link, Loop, Mechanism, Mimic, Pose
from robodyn.description.pose import inverse_pose
from robodyn.errors import RobodynError, UrdfError, UrdfWarning, some_of
from robodyn.joints import continuous, fixed, joint_kind, planar, revolute, universal
from robodyn.joints.common.described import align_z
from robodyn.motion.base_motion import rotation_from_quaternion
from robodyn.tolerances import SAME_ORIGIN
from robodyn.urdf.usd.schema import ALL_FREEDOMS, EXACT, FREEDOMS, MOTOR, SPRING, TYPES, usd

#: Name of what joints without a body are fastened to.
WORLD = "world"

#: Ends of names by which USD tells its formats.
SUFFIXES = (".usda", ".usdc", ".usd", ".usdz")

#: Most prims that are read.
MOST_PRIMS = 200_000

#: Directions of the axes of joints.
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def read_usd(file: str) -> tuple[Mechanism, list[RobodynError], list[UrdfWarning]]:
    """Read a USD file, with what is wrong and what is left out.

    Raises UrdfError: If it cannot be read, refers to files outside its folder, or has no body
        with mass.
    Raises MissingExtraError: Without usd-core.
    """
    reader = _UsdReader(file)
    return reader.mechanism(), reader.problems, reader.warnings


class _UsdReader:
    """A stage that is read; lengths in metres and masses in kilograms."""

    def __init__(self, file: str) -> None:
        self.problems: list[RobodynError] = []
        self.warnings: list[UrdfWarning] = []
        self._file, self._usd = file, usd()
        _check_layers(self._usd, file)
        try:
            stage = self._usd.Usd.Stage.Open(file)
        except Exception as error:  # of pxr's own type, with a traceback of C++ in it
            line = str(error).strip().splitlines()[0][:200]
            raise UrdfError(f"USD cannot be read: {line}", file=file) from None
        geometry, physics = self._usd.UsdGeom, self._usd.UsdPhysics
        self._length = float(geometry.GetStageMetersPerUnit(stage))
        self._mass = float(physics.GetStageKilogramsPerUnit(stage))
        self._stage, self._prims = stage, list(self._traversed(stage))
        self._names: dict[str, str] = {}
        self._controlled: list[str] = []
        self._taken = {WORLD}

    def _traversed(self, stage: Any) -> Iterator[Any]:
        for count, prim in enumerate(stage.Traverse()):
            if count > MOST_PRIMS:
                raise UrdfError(
                    f"has more than {MOST_PRIMS} prims: open it in a program for scenes, and write "
                    "the robot alone",
                    file=self._file,
                )
            yield prim

    def mechanism(self) -> Mechanism:
        """The whole."""
        physics = self._usd.UsdPhysics
        bodies = [x for x in self._prims if x.HasAPI(physics.RigidBodyAPI)]
        joints = [x for x in self._prims if x.IsA(physics.Joint)]
        links = [self._link(prim) for prim in bodies]
        told = any(prim.GetCustomDataByKey("massless") for prim in bodies)
        if not told and not any(link.inertia for link in links):
            what = "no rigid bodies" if not bodies else "no masses"
            raise UrdfError(
                f"has {what}, only shapes: masses stand in PhysicsMassAPI, which the program that "
                "wrote the file leaves out where it computes them from shapes; export them there, "
                "or load the URDF or MJCF of the robot",
                file=self._file,
            )
        default = self._stage.GetDefaultPrim()
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
            file=self._file,
            actuators=tuple((name, Actuator()) for name in self._motors()),
            start=tuple(self._start(joints)),
        )

    # bodies

    def _name(self, prim: Any) -> str:
        """A name that no other prim of its kind has."""
        path = str(prim.GetPath())
        if path not in self._names:
            name = str(prim.GetCustomDataByKey("name") or prim.GetName())
            kind = "joint " if prim.IsA(self._usd.UsdPhysics.Joint) else ""
            while kind + name in self._taken:
                name += "_"
            self._taken.add(kind + name)
            self._names[path] = name
        return self._names[path]

    def _pose(self, prim: Any) -> FloatArray:
        """Pose in the world, shape (4, 4) [1, m]."""
        cache = self._usd.UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0.0)
        X = np.array(cache, float).T
        scale = np.linalg.norm(X[:3, :3], axis=0)
        X[:3, :3] /= scale
        X[:3, 3] *= self._length
        return X

    def _scale(self, prim: Any) -> FloatArray:
        """Scale of the axes of a body, in metres a unit."""
        matrix = self._usd.UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0.0)
        return np.asarray(np.linalg.norm(np.array(matrix, float)[:3, :3], axis=1)) * self._length

    def _numbers(self, prim: Any, name: str, default: Any = None) -> Any:
        """An attribute, with all digits where they stand beside it."""
        short = name.rpartition(":")[2]
        attribute, exact = prim.GetAttribute(name), prim.GetAttribute(EXACT + short)
        value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
        if value is None:
            return default
        numbers = np.ravel(_plain(value)).astype(float)
        if exact and exact.HasAuthoredValue():
            full = np.array(exact.Get(), float)
            if full.shape == numbers.shape and np.allclose(full, numbers, rtol=1e-6, atol=1e-6):
                numbers = full
        return numbers if len(numbers) > 1 else float(numbers[0])

    def _link(self, prim: Any) -> Link:
        name = self._name(prim)
        mass = self._numbers(prim, "physics:mass", 0.0) * self._mass
        if prim.GetCustomDataByKey("massless") or not mass > 0.0:
            return Link(name)
        scale = self._scale(prim)
        center = np.array(self._numbers(prim, "physics:centerOfMass", np.zeros(3))) * scale
        unit = self._mass * self._length**2
        full = prim.GetAttribute("newton:inertia")
        if full and full.HasAuthoredValue() and len(full.Get()) == 6:
            xx, yy, zz, xy, xz, yz = (float(x) * unit for x in full.Get())
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            moments = np.array(self._numbers(prim, "physics:diagonalInertia", np.zeros(3))) * unit
            axes = self._numbers(prim, "physics:principalAxes", np.array([1.0, 0.0, 0.0, 0.0]))
            R = _rotation(axes) if np.any(axes) else np.eye(3)
            J = R @ np.diag(moments) @ R.T
            if not moments.any():
                self._warn(prim, "has a mass and no inertia: it is taken as a point")
        return Link(name, Inertia.from_matrix(mass, center, J))

    # joints

    def _ends(self, prim: Any) -> list[tuple[str, FloatArray]] | None:
        """Link and frame on it, of both sides; none where a body is unknown."""
        joint, found = self._usd.UsdPhysics.Joint(prim), []
        for k, relation in enumerate((joint.GetBody0Rel(), joint.GetBody1Rel())):
            targets = relation.GetTargets()
            place = np.ravel(self._numbers(prim, f"physics:localPos{k}", np.zeros(3)))
            turn = self._numbers(prim, f"physics:localRot{k}", np.array([1.0, 0.0, 0.0, 0.0]))
            X = np.eye(4)
            X[:3, :3] = _rotation(turn)
            link = WORLD
            if targets:
                body = self._stage.GetPrimAtPath(targets[0])
                api = self._usd.UsdPhysics.RigidBodyAPI
                while body and not body.IsPseudoRoot() and not body.HasAPI(api):
                    body = body.GetParent()
                if not body:
                    self._problem(prim, f"its body {targets[0]} is not in the file")
                    return None
                frame = self._stage.GetPrimAtPath(targets[0])
                X[:3, 3] = place * self._scale(frame)
                if body.IsPseudoRoot():
                    X = self._pose(frame) @ X
                else:
                    link = self._name(body)
                    X = inverse_pose(self._pose(body)) @ self._pose(frame) @ X
            else:
                X[:3, 3] = place * self._length
            found.append((link, X))
        return found

    def _kind(self, prim: Any) -> str | None:
        """The kind of a joint; none of one that holds nothing, or that has no counterpart."""
        if prim.GetTypeName() == TYPES[revolute.KIND.name]:
            limited = any(
                math.isfinite(self._numbers(prim, f"physics:{x}Limit", math.inf))
                for x in ("lower", "upper")
            )
            return revolute.KIND.name if limited else continuous.KIND.name
        for kind, word in TYPES.items():
            if prim.GetTypeName() == word:
                return kind
        free = tuple(x for x in ALL_FREEDOMS if not self._is_locked(prim, x))
        if free == ALL_FREEDOMS:
            return None
        for kind, freedoms in FREEDOMS.items():
            if free == freedoms:
                return kind
        if not free:
            return fixed.KIND.name
        self._problem(prim, f"a joint that is free in {', '.join(free)} has no counterpart")
        return None

    def _is_locked(self, prim: Any, freedom: str) -> bool:
        low, high = (
            self._numbers(prim, f"limit:{freedom}:physics:{x}", None) for x in ("low", "high")
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
        }
        children = {sides[1] for sides in free.values()}
        roots = [
            WORLD,
            *(x for x in self._names.values() if x not in children),
            *self._names.values(),
        ]
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

    def _fields(self, prim: Any, kind: str) -> dict[str, Any]:
        """Limits, and what acts along a joint with one freedom."""
        if joint_kind(kind).nv != 1:
            return {}
        turning = joint_kind(kind).turns
        word, unit = ("angular", math.degrees(1.0)) if turning else ("linear", 1.0 / self._length)
        force = self._mass * self._length * (self._length if turning else 1.0)

        def number(name: str, default: float = 0.0) -> float:
            return float(self._numbers(prim, name, default))

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
            self._controlled.append(self._name(prim))
        stiffness = gains[0] * unit * force if springy else 0.0
        return {
            "limits": None if limits == Limits() else limits,
            "armature": number("newton:armature")
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
        return np.array(AXES[token]), np.array(AXES["Y"])

    def _loop(self, prim: Any, sides: list[tuple[str, FloatArray]]) -> Loop:
        kind = self._kind(prim)
        assert kind is not None
        axis, axis2 = self._axes(prim, kind)
        (one, X_1), (two, X_2) = sides
        fields = self._fields(prim, kind)
        if prim.GetTypeName() == "PhysicsDistanceJoint":
            fields = {"distance": self._numbers(prim, "physics:maxDistance", 0.0) * self._length}
        turn = _planar_turn(kind)
        return Loop(
            self._name(prim),
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
        kind, name = self._kind(prim), self._name(prim)
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
        if np.abs(away).max() > SAME_ORIGIN or turned:
            frame = f"{name}_frame"
            while frame in self._taken:
                frame += "_"
            self._taken.add(frame)
            joint = Joint(
                name,
                kind,
                parent,
                frame,
                Pose.from_matrix(X_P),
                _unit(axis),
                _unit(axis2),
                **fields,
            )
            weld = Joint(
                f"{frame}_fixed", fixed.KIND.name, frame, child, Pose.from_matrix(inverse_pose(X_C))
            )
            return joint, ([Link(frame)], [weld])
        X = X_P @ inverse_pose(X_C)
        placed = Joint(
            name,
            kind,
            parent,
            child,
            Pose.from_matrix(X),
            _unit(R @ axis),
            _unit(R @ axis2),
            **fields,
        )
        return placed, ([], [])

    def _with_mimics(self, joints: list[Joint], prims: list[Any]) -> Iterator[Joint]:
        """Joints, with those that they follow."""
        by_name = {self._name(prim): prim for prim in prims}
        for joint in joints:
            prim = by_name.get(joint.name)
            relation = prim.GetRelationship("newton:mimicJoint") if prim is not None else None
            targets = relation.GetTargets() if relation else ()
            if prim is None or not targets:
                yield joint
                continue
            leader = self._names.get(str(targets[0]))
            if leader is None:
                self._problem(prim, f"it mimics {targets[0]}, which is no joint of the file")
                yield joint
                continue
            unit = math.degrees(1.0) if joint_kind(joint.kind).turns else 1.0 / self._length
            offset = self._numbers(prim, "newton:mimicCoef0", 0.0) / unit
            ratio = self._numbers(prim, "newton:mimicCoef1", 1.0)
            yield dataclasses.replace(joint, mimic=Mimic(leader, ratio, offset))

    def _motors(self) -> Iterator[str]:
        """Joints with drives that stand for motors."""
        api = self._usd.UsdPhysics.DriveAPI
        for prim, _ in self._placed.values():
            driven = any(prim.HasAPI(api, x) for x in ("angular", "linear", *ALL_FREEDOMS))
            if driven and prim.GetCustomDataByKey(MOTOR) is not False:
                yield self._name(prim)

    def _start(self, prims: list[Any]) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Where joints of the tree stand in the posture that is drawn."""
        for prim in prims:
            for word, unit in (("angular", math.degrees(1.0)), ("linear", 1.0 / self._length)):
                at = self._numbers(prim, f"state:{word}:physics:position", 0.0)
                if at:
                    yield self._name(prim), (at / unit,)

    # findings

    def _problem(self, prim: Any, message: str) -> None:
        element = f"joint {prim.GetPath()}"
        self.problems.append(
            UrdfError(message, file=self._file, element=element, leniently="left out")
        )

    def _warn(self, prim: Any, message: str) -> None:
        self.warnings.append(UrdfWarning(f"{prim.GetPath()} {message}", file=self._file))

    def _tell(self) -> None:
        """Warn of gravity, and of what is left out."""
        physics, geometry = self._usd.UsdPhysics, self._usd.UsdGeom
        up = str(geometry.GetStageUpAxis(self._stage))
        if up != "Z":
            self.warnings.append(
                UrdfWarning(
                    f"the {up} axis points up: give gravity=(0.0, -9.81, 0.0), or turn the stage",
                    file=self._file,
                )
            )
        if self._controlled:
            self.warnings.append(
                UrdfWarning(
                    f"stiffness and damping of drives ({some_of(self._controlled)}) are those of a "
                    "controller: they are left out",
                    file=self._file,
                )
            )
        shapes = [x for x in self._prims if x.HasAPI(physics.CollisionAPI)]
        if shapes:
            names = some_of([str(x.GetPath()) for x in shapes])
            self.warnings.append(
                UrdfWarning(f"shapes and contacts ({names}) are left out", file=self._file)
            )


def _check_layers(pxr: Any, file: str) -> None:
    """Refuse files outside the folder of a file, before anything is composed of them."""
    folder, seen = Path(file).resolve().parent, set[str]()
    waiting = [str(Path(file).resolve())]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if not Path(path).resolve().is_relative_to(folder):
            raise UrdfError(
                f"refers to {path}, which is outside its folder {folder}: copy it there",
                file=file,
            )
        if Path(path).suffix not in SUFFIXES:
            raise UrdfError(
                f"is USD, which the end of its name has to say: call it {', '.join(SUFFIXES)}",
                file=path,
            )
        if not Path(path).is_file():
            raise UrdfError(f"refers to {path}, which is not there", file=file)
        try:
            layer = pxr.Sdf.Layer.FindOrOpen(path)
        except Exception as error:
            line = str(error).strip().splitlines()[0][:200]
            raise UrdfError(f"USD cannot be read: {line}", file=path) from None
        if layer is None:
            raise UrdfError("USD cannot be read: the file is damaged", file=path)
        for asset in layer.GetCompositionAssetDependencies():
            waiting.append(str((Path(path).parent / asset).resolve()))


def _plain(value: Any) -> Any:
    """Numbers of a vector or quaternion of pxr; quaternions with w first."""
    if hasattr(value, "GetReal"):
        return [value.GetReal(), *value.GetImaginary()]
    return value


def _rotation(quaternion: Any) -> FloatArray:
    """Matrix of a quaternion with w first."""
    w, x, y, z = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.asarray(rotation_from_quaternion((x, y, z, w)))


def _planar_turn(kind: str) -> FloatArray:
    """From the axes of a planar joint of USD, normal x, to ours, normal z: coordinates are y, z."""
    X = np.eye(4)
    if kind == planar.KIND.name:
        X[:3, :3] = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return X


def _unit(axis: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in axis)
    return x, y, z
