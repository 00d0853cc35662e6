"""A description as USD: bodies with masses, and joints with a frame on each of their bodies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Joint, Limits, Link, Loop, Mechanism
from robodyn.description.joint import ends_of, poses_of
from robodyn.errors import UrdfError, some_of
from robodyn.force_elements.common.link_element import WORLD
from robodyn.joints import distance, fixed, floating, joint_kind, universal
from robodyn.joints.common.relative import quaternion_of
from robodyn.tolerances import LEAST_MASS, LEAST_MOMENT, PERPENDICULAR_AXES
from robodyn.topology.spanning_tree import cut_joints
from robodyn.urdf.common.drawn import (
    DrawnRobot,
    Written,
    functions_of_users,
    has_mass,
    left_out,
    left_out_everywhere,
    weightless_links,
    without_motors,
)
from robodyn.urdf.usd.schema import (
    ALL_FREEDOMS,
    EXACT,
    FREEDOMS,
    MOTOR,
    SPRING,
    TYPES,
    turned_frame,
    usd,
)
from robodyn.urdf.usd.simulator_words import WEIGHTLESS


def usda_text(robot: DrawnRobot) -> Written:
    """USD of a robot.

    Raises UrdfError: If USD has no words for what moves it.
    Raises MissingExtraError: Without usd-core.
    """
    mechanism = robot.mechanism
    for element, why in _unknown(mechanism):
        raise UrdfError(f"cannot be written as USD: {why}", element=element, file=mechanism.file)
    stage = _Stage(robot)
    lost, weightless = list[str](), weightless_links(mechanism)
    for link in mechanism.links:
        if link.name != WORLD:
            stage.add_link(link, robot.poses[link.name], weightless=link.name in weightless)
    if weightless:
        lost.append(
            f"only PhysX and robodyn read that links ({some_of([*weightless])}) have no weight"
        )
    tiny = [x.name for x in mechanism.links if x.name != WORLD and not has_mass(x)]
    if tiny:
        lost.append(f"links without mass ({some_of(tiny)}) have {LEAST_MASS:g} kg and kg m^2")
    if not robot.floating and robot.base != WORLD:
        name = "world_fixed"
        while name in {mover.name for mover in mechanism.movers}:
            name += "_"
        stage.add_joint(Joint(name, fixed.KIND.name, WORLD, robot.base), cut=False)
    cut = [*cut_joints(mechanism), *mechanism.loops]
    for mover in mechanism.movers:
        if mover.kind != floating.KIND.name:
            stage.add_joint(mover, cut=mover in cut)
    for joint in mechanism.joints:
        if joint.mimic is not None:
            stage.add_mimic(joint)
    return stage.text, [*lost, *_unsaid(robot), *without_motors(robot)]


class _Stage:
    """The stage that is written."""

    def __init__(self, robot: DrawnRobot) -> None:
        self._usd, self._robot = usd(), robot
        self._actuators = dict(robot.mechanism.actuators)
        name, gravity = robot.mechanism.name, robot.gravity
        Usd, geometry, physics = self._usd.Usd, self._usd.UsdGeom, self._usd.UsdPhysics
        self._stage = Usd.Stage.CreateInMemory()
        geometry.SetStageUpAxis(self._stage, geometry.Tokens.z)
        geometry.SetStageMetersPerUnit(self._stage, 1.0)
        physics.SetStageKilogramsPerUnit(self._stage, 1.0)
        self._paths: dict[str, str] = {}
        self._taken: set[str] = set()
        self._root = self._path("", name)
        root = geometry.Xform.Define(self._stage, self._root).GetPrim()
        physics.ArticulationRootAPI.Apply(root)
        root.SetCustomDataByKey("name", name)
        self._stage.SetDefaultPrim(root)
        scene = physics.Scene.Define(self._stage, "/physicsScene")
        size = float(np.linalg.norm(gravity))
        scene.CreateGravityMagnitudeAttr(size)
        down = np.array(gravity) / size if size else (0.0, 0.0, -1.0)
        scene.CreateGravityDirectionAttr(self._vector(down))

    @property
    def text(self) -> str:
        """The stage as text."""
        return str(self._stage.GetRootLayer().ExportToString())

    def _path(self, parent: str, name: str) -> str:
        """A path that is free, of letters that USD allows."""
        path = f"{parent}/{self._usd.Tf.MakeValidIdentifier(name)}"
        while path in self._taken:
            path += "_"
        self._taken.add(path)
        return path

    def _vector(self, x: Any) -> Any:
        return self._usd.Gf.Vec3f(*map(float, x))

    def _set(self, prim: Any, name: str, kind: str, value: Any) -> None:
        types = self._usd.Sdf.ValueTypeNames
        prim.CreateAttribute(name, getattr(types, kind), custom=False).Set(value)

    def _exact(self, prim: Any, name: str, values: Iterable[float]) -> None:
        """Numbers in full beside an attribute in single precision, where that rounds them."""
        values = [float(x) for x in values]
        if any(float(np.float32(x)) != x for x in values):
            types = self._usd.Sdf.ValueTypeNames
            attribute = prim.CreateAttribute(EXACT + name, types.DoubleArray, custom=True)
            attribute.Set(values)

    def add_link(self, link: Link, X_WL: FloatArray, *, weightless: bool) -> None:
        """Add a body where it is drawn."""
        Gf, geometry, physics = self._usd.Gf, self._usd.UsdGeom, self._usd.UsdPhysics
        path = self._paths[link.name] = self._path(self._root, link.name)
        body = geometry.Xform.Define(self._stage, path)
        prim, double = body.GetPrim(), geometry.XformOp.PrecisionDouble
        prim.SetCustomDataByKey("name", link.name)
        body.AddTranslateOp(double).Set(Gf.Vec3d(*map(float, X_WL[:3, 3])))
        x, y, z, w = map(float, quaternion_of(X_WL))
        body.AddOrientOp(double).Set(Gf.Quatd(w, x, y, z))
        physics.RigidBodyAPI.Apply(prim)
        if weightless:
            self._set(prim, WEIGHTLESS, "Bool", True)
        mass = physics.MassAPI.Apply(prim)
        center, moments, axes = np.zeros(3), np.full(3, LEAST_MASS), np.eye(4)
        if has_mass(link):
            assert link.inertia is not None
            X = link.inertia.origin.matrix
            J = X[:3, :3] @ link.inertia.matrix @ X[:3, :3].T
            moments, axes[:3, :3] = np.linalg.eigh(J)
            axes[:3, :3] *= np.linalg.det(axes[:3, :3])
            center = X[:3, 3]
            prim.AddAppliedSchema("NewtonMassAPI")
            full = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
            self._set(prim, "newton:inertia", "DoubleArray", [float(x) for x in full])
            mass.CreateMassAttr(link.inertia.mass)
            self._exact(prim, "mass", [link.inertia.mass])
        else:
            mass.CreateMassAttr(LEAST_MASS)
            prim.SetCustomDataByKey("massless", True)
        mass.CreateCenterOfMassAttr(self._vector(center))
        self._exact(prim, "centerOfMass", center)
        mass.CreateDiagonalInertiaAttr(self._vector(np.maximum(moments, LEAST_MOMENT)))
        x, y, z, w = map(float, quaternion_of(axes))
        mass.CreatePrincipalAxesAttr(Gf.Quatf(w, x, y, z))

    def add_joint(self, mover: Joint | Loop, *, cut: bool) -> None:
        """Add a joint, one that is cut beside the articulation."""
        physics, kind = self._usd.UsdPhysics, mover.kind
        path = self._paths[f"joint {mover.name}"] = self._path(self._root, mover.name)
        prim = self._stage.DefinePrim(path, TYPES.get(kind, "PhysicsJoint"))
        prim.SetCustomDataByKey("name", mover.name)
        joint, turn = physics.Joint(prim), turned_frame(kind, mover.axis, mover.axis2)
        sides = zip(ends_of(mover), poses_of(mover), strict=True)
        for k, (link, X) in enumerate(sides):
            if link != WORLD or link in self._paths:
                (joint.CreateBody1Rel() if k else joint.CreateBody0Rel()).SetTargets(
                    [self._paths[link]]
                )
            self._place(prim, joint, k, X.matrix @ turn)
        if cut:
            joint.CreateExcludeFromArticulationAttr(True)
        if kind == distance.KIND.name:
            for name in ("minDistance", "maxDistance"):
                self._set(prim, f"physics:{name}", "Float", mover.constants["distance"])
            self._exact(prim, "maxDistance", [mover.constants["distance"]])
        if kind in FREEDOMS:
            for freedom in ALL_FREEDOMS:  # free ones, too: Newton 1.8 locks those without limits
                limit = physics.LimitAPI.Apply(prim, freedom)
                limit.CreateLowAttr(-math.inf if freedom in FREEDOMS[kind] else 1.0)
                limit.CreateHighAttr(math.inf if freedom in FREEDOMS[kind] else -1.0)
        if joint_kind(kind).nv == 1:
            self._add_axis(prim, mover)
        elif mover.name in self._robot.motors:
            for freedom in FREEDOMS.get(kind, ()):
                physics.DriveAPI.Apply(prim, freedom).CreateStiffnessAttr(0.0)

    def _place(self, prim: Any, joint: Any, k: int, X: FloatArray) -> None:
        x, y, z, w = map(float, quaternion_of(X))
        (joint.CreateLocalPos1Attr if k else joint.CreateLocalPos0Attr)(self._vector(X[:3, 3]))
        rotation = self._usd.Gf.Quatf(w, x, y, z)
        (joint.CreateLocalRot1Attr if k else joint.CreateLocalRot0Attr)(rotation)
        self._exact(prim, f"localPos{k}", X[:3, 3])
        self._exact(prim, f"localRot{k}", (w, x, y, z))

    def _add_axis(self, prim: Any, mover: Joint | Loop) -> None:
        """Axis and limits of a joint, its position, and what acts along it; angles in degrees."""
        word, unit = _measures(mover)
        self._set(prim, "physics:axis", "Token", "X")
        limits, motor = mover.limits or Limits(), self._actuators.get(mover.name, Actuator())
        ratio = abs(motor.gear_ratio)
        prim.AddAppliedSchema("NewtonJointAPI")
        for name, value, default in (
            ("physics:lowerLimit", unit * limits.lower, -math.inf),
            ("physics:upperLimit", unit * limits.upper, math.inf),
            ("newton:velocityLimit", unit * limits.velocity, math.inf),
            ("newton:armature", mover.armature + ratio**2 * motor.rotor_inertia, 0.0),
            ("newton:damping", (mover.damping + ratio**2 * motor.viscous) / unit, 0.0),
            ("newton:friction", mover.friction + ratio * motor.coulomb, 0.0),
        ):
            if value != default:
                self._set(prim, name, "Float", value)
                self._exact(prim, name.partition(":")[2], [value])
        self._add_drive(prim, mover, min(limits.effort, ratio * motor.torque_limit))
        drawn = float(self._robot.position(mover)[0]) * unit
        if drawn:
            prim.AddAppliedSchema(f"PhysicsJointStateAPI:{word}")
            self._set(prim, f"state:{word}:physics:position", "Double", drawn)

    def _add_drive(self, prim: Any, mover: Joint | Loop, effort: float) -> None:
        """A drive for a motor, and for a spring, which USD has in drives alone."""
        driven = mover.name in self._robot.motors
        if not (driven or mover.stiffness):
            return
        word, unit = _measures(mover)
        drive = self._usd.UsdPhysics.DriveAPI.Apply(prim, word)
        prim.SetCustomDataByKey(SPRING, bool(mover.stiffness))
        prim.SetCustomDataByKey(MOTOR, driven)
        drive.CreateStiffnessAttr(mover.stiffness / unit)
        self._exact(prim, "stiffness", [mover.stiffness / unit])
        drive.CreateTargetPositionAttr(mover.rest * unit)
        self._exact(prim, "targetPosition", [mover.rest * unit])
        if driven and math.isfinite(effort):
            drive.CreateMaxForceAttr(effort)
            self._exact(prim, "maxForce", [effort])

    def add_mimic(self, joint: Joint) -> None:
        """Say which joint another follows."""
        assert joint.mimic is not None
        prim = self._stage.GetPrimAtPath(self._paths[f"joint {joint.name}"])
        prim.AddAppliedSchema("NewtonMimicAPI")
        leader = self._paths[f"joint {joint.mimic.joint}"]
        prim.CreateRelationship("newton:mimicJoint", custom=False).SetTargets([leader])
        unit = math.degrees(1.0) if joint_kind(joint.kind).turns else 1.0
        for name, value in (
            ("mimicCoef0", joint.mimic.offset * unit),
            ("mimicCoef1", joint.mimic.multiplier),
        ):
            self._set(prim, f"newton:{name}", "Float", value)
            self._exact(prim, name, [value])


def _measures(mover: Joint | Loop) -> tuple[str, float]:
    """USD's word for what a joint with one freedom does, and its units a radian or a metre."""
    return ("angular", math.degrees(1.0)) if joint_kind(mover.kind).turns else ("linear", 1.0)


def _unknown(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    """What moves a mechanism and has no word, with the reason."""
    relations = [f"follower {x.name!r}" for x in mechanism.followers]
    relations += [f"coupling {x.name!r}" for x in mechanism.couplings]
    for element in (*functions_of_users(mechanism), *relations):
        yield element, "it has mimics alone, and no other relation of joints"
    for mover in mechanism.movers:
        element = f"joint {mover.name!r}"
        if mover.kind not in (*TYPES, *FREEDOMS, floating.KIND.name):
            yield element, f"it has no joint of kind {mover.kind!r}"
        elif mover.kind == universal.KIND.name:
            cosine = float(np.dot(mover.axis, mover.axis2))
            if abs(cosine) > PERPENDICULAR_AXES:
                yield element, "the axes of a universal joint are at right angles there"
        if isinstance(mover, Joint) and mover.mimic is not None:
            leader = next(x for x in mechanism.joints if x.name == mover.mimic.joint)
            if joint_kind(leader.kind).turns != joint_kind(mover.kind).turns:
                yield element, "only joints of the same type follow one another there"


def _unsaid(robot: DrawnRobot) -> Iterator[str]:
    """What stands in no USD."""
    mechanism = robot.mechanism
    movers = mechanism.movers
    free = [x.name for x in movers if x.kind == floating.KIND.name]
    loose = [x for x in movers if joint_kind(x.kind).nv > 1]
    resisted = [x.name for x in loose if x.damping or x.friction or x.armature]
    balls = [x.name for x in loose if x.name in robot.motors and x.kind not in FREEDOMS]
    idle = [x for x in movers if joint_kind(x.kind).nv == 1 and x.name not in robot.motors]
    strong = [x.name for x in idle if x.limits and math.isfinite(x.limits.effort)]
    rotors = [name for name, motor in mechanism.actuators if motor.rotor_inertia]
    carried = weightless_links(mechanism).values()
    forces = [x.name or x.tag for x in mechanism.link_elements if x not in carried]
    geared = [name for name, motor in mechanism.actuators if motor.gear_ratio != 1.0]
    yield from left_out(
        (
            ("floating joints, as links are free without a joint,", free),
            ("damping, friction and armature of joints with several freedoms", resisted),
            ("motors of ball joints", balls),
            ("limits of effort of joints without motors", strong),
            ("gear ratios, whose friction, inertia and limits are those of the joints,", geared),
            ("what turns rotors beside their gears, as with rotor_model='armature',", rotors),
            ("transmissions that couple motors", [x.name for x in mechanism.transmissions]),
            ("forces between links", forces),
        )
    )
    yield from left_out_everywhere(mechanism)
