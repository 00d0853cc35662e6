"""A description as MJCF, which MuJoCo simulates from a closed posture on.

Coordinates of joints with one freedom are those of the description. Motors, and joints that follow
others, are actuators, equality constraints and fixed tendons.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from robodyn.description import Actuator, Coupling, Joint, Mechanism
from robodyn.description.couplings import branches
from robodyn.description.traced_explicit_loop import Linear, Polynomial
from robodyn.errors import UrdfError, some_of
from robodyn.joints import distance, helical
from robodyn.topology.spanning_tree import spanning_tree
from robodyn.urdf.common.drawn import (
    DrawnRobot,
    Written,
    functions_of_users,
    left_out,
    left_out_everywhere,
    without_motors,
)
from robodyn.urdf.mjcf.writing.bodies import WrittenBodies
from robodyn.urdf.mjcf.writing.document import Document, add
from robodyn.urdf.mjcf.writing.forces import add_forces
from robodyn.urdf.mjcf.writing.loops import add_loop, halved_link, on_carriers
from robodyn.urdf.mjcf.writing.motions import MOTIONS, Motion
from robodyn.urdf.mjcf.writing.sensors import add_sensors, sensor_links
from robodyn.urdf.write import as_loop

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
