"""A description as MJCF, which MuJoCo simulates from a closed posture on.

Coordinates of joints with one freedom are those of the description. Motors, and joints that follow
others, are actuators, equality constraints and fixed tendons. Closed loops are equality constraints
between sites; other joints than pins move a half link. Forces between links are tendons and
``gravcomp``.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Coupling, Joint, Loop, Mechanism, Pose
from robodyn.description.couplings import branches
from robodyn.description.joint import ends_of, poses_of
from robodyn.description.pose import inverse_pose
from robodyn.description.traced_explicit_loop import Linear, Polynomial
from robodyn.errors import UrdfError, some_of
from robodyn.force_elements.point_spring import PointSpring
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.joints import continuous, distance, fixed, helical, revolute, spherical
from robodyn.tolerances import SAME_POSITION
from robodyn.topology.spanning_tree import SpanningTree, spanning_tree
from robodyn.urdf.common.drawn import (
    DrawnRobot,
    Written,
    functions_of_users,
    left_out,
    left_out_everywhere,
    without_motors,
)
from robodyn.urdf.common.markup import text_of
from robodyn.urdf.mjcf.bodies import pose_of
from robodyn.urdf.mjcf.writing.bodies import WrittenBodies
from robodyn.urdf.mjcf.writing.document import Document, add
from robodyn.urdf.mjcf.writing.motions import MOTIONS, Motion
from robodyn.urdf.mjcf.writing.sensors import add_sensors, sensor_links
from robodyn.urdf.write import as_loop


def add_forces(document: Document, mechanism: Mechanism, bodies: WrittenBodies) -> None:
    """Add springs between links and carried weights; say what has no counterpart."""
    carried: dict[str, float] = {}
    for k, item in enumerate(mechanism.link_elements):
        name = getattr(item, "name", "") or f"{item.tag}_{k}"
        if isinstance(item, PointSpring):
            _add_spring(document, bodies, item, name)
        elif isinstance(item, WeightCompensation) and _is_at_center(bodies, item):
            carried[item.link] = carried.get(item.link, 0.0) + item.mass
        else:
            document.lost.append(f"<{item.tag}> {name!r} is left out: MJCF has no such force")
    for link, mass in carried.items():
        inertia = bodies.inertia(link)
        assert inertia is not None
        for body in bodies.parts(link):
            body.set("gravcomp", text_of(mass / inertia.mass))


def _add_spring(document: Document, bodies: WrittenBodies, spring: PointSpring, name: str) -> None:
    tendon = document.add(
        "tendon/spatial",
        name=name,
        limited="false",
        stiffness=spring.stiffness,
        damping=spring.damping,
        springlength=spring.rest_length,
    )
    for end, (link, point) in enumerate(spring.places, 1):
        site = document.add_site(bodies.of(link), f"{name}_{end}", pose_of(point))
        add(tendon, "site", site=site)


def _is_at_center(bodies: WrittenBodies, item: WeightCompensation) -> bool:
    """Whether a carried weight is at the centre of mass, where ``gravcomp`` acts."""
    inertia = bodies.inertia(item.link)
    if inertia is None or not inertia.mass:
        return False
    return bool(np.abs(np.subtract(item.point, inertia.origin.xyz)).max() < SAME_POSITION)


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


#: Degree of the polynomials by which joints of MuJoCo follow others.
DEGREE = 4


class Relations:
    """Relations between the motions of a document."""

    def __init__(self, document: Document, motions: Mapping[str, Motion]) -> None:
        self._document, self._motions = document, motions

    def add_all(self, mechanism: Mechanism) -> None:
        """Add mimics, followers, couplings, and the advances of screws."""
        for motion in self._motions.values():
            if motion.follows:
                pitch = motion.joint.constants[helical.PITCH.name]
                self._follow(motion.name, motion.joint.name, (0.0, pitch))
        for joint in mechanism.joints:
            if joint.mimic is not None:
                law = joint.mimic.offset, joint.mimic.multiplier
                self._follow(joint.name, joint.mimic.joint, law)
        for follower in mechanism.followers:
            curve, (name,) = follower.curve, follower.dependent
            if isinstance(curve, Polynomial):
                self._follow(name, follower.independent[0], curve.coefficients)
            elif isinstance(curve, Linear):
                factors = (-factor for factor in curve.coefficients)
                terms = dict(zip(follower.independent, factors, strict=True))
                self._hold(follower.name, {name: 1.0} | terms, curve.offset)
        for coupling in mechanism.couplings:
            self._couple(mechanism, coupling)

    def _follow(self, name: str, other: str, law: Sequence[float]) -> None:
        """``q - ref = polynomial(q' - ref')``."""
        ref, start = self._motions[name].position, self._motions[other].position
        shifted = np.polynomial.Polynomial(law)(np.polynomial.Polynomial([start, 1.0])) - ref
        coefficients = np.zeros(DEGREE + 1)
        coefficients[: len(shifted.coef)] = shifted.coef
        values = {"joint1": name, "joint2": other, "polycoef": coefficients}
        self._document.add("equality/joint", name=f"{name}_law", **values)

    def _couple(self, mechanism: Mechanism, coupling: Coupling) -> None:
        over, under = branches(mechanism, coupling)
        terms = dict.fromkeys(over, 1.0) | dict.fromkeys(under, -coupling.ratio)
        self._hold(coupling.name, terms, coupling.offset)

    def _hold(self, name: str, terms: Mapping[str, float], total: float) -> None:
        """``sum of c q = total``, as a fixed tendon whose length is held."""
        tendon = add_sum(self._document, name, terms)
        drawn = sum(c * self._motions[joint].position for joint, c in terms.items())
        values = {"tendon1": tendon, "polycoef": (total - drawn, 0, 0, 0, 0)}
        self._document.add("equality/tendon", name=f"{name}_held", **values)


def add_sum(document: Document, name: str, terms: Mapping[str, float], **values: object) -> str:
    """Add a fixed tendon, a sum of positions of joints, and return its name."""
    tendon = document.add("tendon/fixed", name=name, **values)
    for joint, factor in terms.items():
        add(tendon, "joint", joint=joint, coef=float(factor))
    return str(tendon.get("name"))


def add_motors(
    document: Document, mechanism: Mechanism, motions: Mapping[str, Motion], joints: Iterable[str]
) -> None:
    """Add a motor a joint, and three of a ball; those that are coupled drive fixed tendons.

    A motor whose command is a voltage is a `<dcmotor>`, which MuJoCo has since 3.7.

    joints: That have motors.
    """
    given = dict(mechanism.actuators)
    shafts = _add_shafts(document, mechanism, given)
    for joint in joints:
        motor = given.get(joint, Actuator())
        driven = [({"tendon": shafts[joint]}, [1.0])] if joint in shafts else _of(motions, joint)
        for where, gear in driven:
            force: dict[str, object] = {"forcelimited": "false"}
            if math.isfinite(motor.torque_limit) and motor.torque_limit:
                bounds = -motor.torque_limit, motor.torque_limit
                force = {"forcelimited": "true", "forcerange": bounds}
            values = {"gear": motor.gear_ratio * np.array(gear), "ctrllimited": "false"}
            electric = motor.motor if motor.command == "voltage" else None
            if electric is not None:
                force = {
                    "motorconst": electric.torque_constant,
                    "resistance": electric.resistance,
                    "inductance": electric.inductance,
                }
                if electric.voltage is not None:
                    bounds = -electric.voltage, electric.voltage
                    values |= {"ctrllimited": "true", "ctrlrange": bounds}
            kind = "motor" if electric is None else "dcmotor"
            name = motor.name or joint
            document.add(f"actuator/{kind}", name=name, **where, **values, **force)
    turning = [joint for joint, motor in given.items() if motor.rotor_inertia]
    if turning:
        document.lost.append(
            f"rotors ({some_of(turning)}) are armatures, as with rotor_model='armature': what "
            "turns them beside their gears is not felt"
        )


def _of(motions: Mapping[str, Motion], joint: str) -> list[tuple[dict[str, str], list[float]]]:
    """What motors of a joint drive, and by which gear: a ball about each of its axes."""
    found: list[tuple[dict[str, str], list[float]]] = []
    for motion in motions.values():
        if motion.joint.name == joint and not motion.follows:
            gears = [[1.0]] if motion.single else np.eye(3, 6).tolist()
            found += [({"joint": motion.name}, gear) for gear in gears]
    return found


def _add_shafts(
    document: Document, mechanism: Mechanism, given: Mapping[str, Actuator]
) -> dict[str, str]:
    """Fixed tendons of the shafts of transmissions, by the joints whose motors turn them."""
    shafts: dict[str, str] = {}
    for transmission in mechanism.transmissions:
        for joint, row in zip(transmission.joints, transmission.matrix, strict=True):
            motor = given.get(joint, Actuator())
            values = {
                "armature": motor.gear_ratio**2 * motor.rotor_inertia,
                "damping": motor.gear_ratio**2 * motor.viscous,
                "frictionloss": abs(motor.gear_ratio) * motor.coulomb,
            }
            terms = {x: c for x, c in zip(transmission.joints, row, strict=True) if c}
            felt = {key: x for key, x in values.items() if x}
            shafts[joint] = add_sum(document, f"{transmission.name}_{joint}", terms, **felt)
    return shafts


def mjcf_text(robot: DrawnRobot) -> Written:
    """MJCF of a robot.

    Raises UrdfError: If MJCF has no words for what moves it.
    """
    mechanism = robot.mechanism
    for element in _functions(mechanism):
        raise UrdfError(
            "cannot be written as MJCF, which has no functions of one's own; of joints that follow "
            f"others it has sums, and polynomials up to degree {DEGREE}",
            element=element,
            file=mechanism.file,
        )
    joints = {joint.name for joint in mechanism.joints}
    tree = spanning_tree(mechanism, floating=robot.floating, keep_fixed=joints)
    loops = [
        on_carriers(mechanism, tree, as_loop(cut) if isinstance(cut, Joint) else cut)
        for cut in tree.cuts
    ]
    halves = [halved_link(mechanism, tree, loop) for loop in loops]
    shares = {link: count + 1 for link, count in Counter(halves).items() if link}
    joined = {link for loop in loops for link in (loop.predecessor, loop.successor)}
    joined |= {link for item in mechanism.link_elements for link, _ in item.places}
    joined |= sensor_links(mechanism.sensors, tree)
    document = Document(mechanism.name, robot.gravity)
    bodies = WrittenBodies(document, robot, tree, joined, shares)
    for loop, half in zip(loops, halves, strict=True):
        add_loop(document, bodies, loop, half)
    Relations(document, bodies.motions).add_all(mechanism)
    add_motors(document, mechanism, bodies.motions, robot.motors)
    add_forces(document, mechanism, bodies)
    unseen = add_sensors(document, bodies, robot, tree)
    if drawn := bodies.coordinates():
        document.add("keyframe/key", name="neutral", qpos=drawn)
    lost = [*document.lost, *_unsaid(mechanism, unseen), *without_motors(robot)]
    return document.text, lost


def _functions(mechanism: Mechanism) -> Iterator[str]:
    """What moves a mechanism by functions that MJCF does not have."""
    yield from functions_of_users(mechanism)
    for mover in mechanism.movers:
        if mover.kind not in (*MOTIONS, distance.KIND.name):
            yield f"joint {mover.name!r} of kind {mover.kind!r}"
    for follower in mechanism.followers:
        curve = follower.curve
        short = isinstance(curve, Polynomial) and len(curve.coefficients) <= DEGREE + 1
        if not short and not isinstance(curve, Linear):
            yield f"follower {follower.name!r}"


def _unsaid(mechanism: Mechanism, sensors: Sequence[str]) -> Iterator[str]:
    """What stands in no MJCF."""
    movers = mechanism.movers
    quick = [x.name for x in movers if x.limits and math.isfinite(x.limits.velocity)]
    idle = [x.name for x in movers if x.limits and not x.limits.effort]
    idle += [name for name, motor in mechanism.actuators if not motor.torque_limit]
    held = [x.name for x in movers if x.limits and x.limits.lower >= x.limits.upper]
    driven = [(x, y, y.motor) for x, y in mechanism.actuators if y.command == "voltage" and y.motor]
    hot = [x for x, y, z in driven if math.isfinite(y.torque_limit) or z.current or z.thermal]
    yield from left_out(
        (
            ("limits of effort of zero, which MuJoCo refuses,", idle),
            ("limits without a range between them, which MuJoCo refuses,", held),
            ("limits of speed", quick),
            ("limits of torque, current and heat of motors commanded by voltage", hot),
        )
    )
    yield from left_out_everywhere(mechanism, sensors, voltages=True)
