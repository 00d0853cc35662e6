"""A description as MJCF, which MuJoCo simulates from a closed posture on.

Coordinates of joints with one freedom are those of the description.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from robodyn.description import Joint, Mechanism
from robodyn.description.traced_explicit_loop import Linear, Polynomial
from robodyn.errors import UrdfError
from robodyn.joints import distance
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
from robodyn.urdf.mjcf.writing.document import Document
from robodyn.urdf.mjcf.writing.forces import add_forces
from robodyn.urdf.mjcf.writing.loops import add_loop, halved_link, on_carriers
from robodyn.urdf.mjcf.writing.motions import MOTIONS
from robodyn.urdf.mjcf.writing.relations import DEGREE, Relations, add_motors
from robodyn.urdf.mjcf.writing.sensors import add_sensors, sensor_links
from robodyn.urdf.write import as_loop


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
