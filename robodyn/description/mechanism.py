"""The description of a whole mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robodyn.description.actuation import Actuator, Rotor
from robodyn.description.drive import GearSpring, WindingCurrent
from robodyn.description.joint import Coupling, Joint, Loop
from robodyn.description.link import Link
from robodyn.description.sensor import DescribedSensor
from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.description.transmission import Transmission
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.force_law import ForceLaw
from robodyn.force_elements.inverse_square import InverseSquareGravity


@dataclass(frozen=True)
class Mechanism:
    """A whole mechanism as described: a graph, not a tree.

    Attributes
    ----------
    name : str
    links, joints, loops, couplings : tuple
        In the order of the file.
    actuators : tuple of (joint name, Actuator)
    extras : tuple of str
        Children of ``<robot>`` that robodyn does not interpret, as XML text (transmissions and
        ``ros2_control`` included, so that writing loses nothing).
    file : str or None
        Where it was read from; not part of equality.
    link_elements : tuple of DescribedElement
        Springs and other force elements between links, see `robodyn.force_elements`.
    rotors : tuple of Rotor
    constraints : tuple of TracedConstraint
        Given as functions to `robodyn.load`.
    forces : tuple of ForceLaw or InverseSquareGravity
        Given to `robodyn.load`. No file has them.
    followers : tuple of TracedExplicitLoop
        Joints that are functions of others. Files have some of them.
    sensors : tuple of DescribedSensor
        Given to `robodyn.load`. No file has them.
    relaxed : bool
        Its force elements exert nothing; joints keep the coordinates that they need for them. No
        file has it; not part of equality.
    start : tuple of (joint name, tuple of float)
        Where joints stand that are drawn elsewhere than at zero [rad, m]: from there the closed
        posture of a linkage is looked for. No URDF has it; not part of equality.
    root : str, optional
        The link that is the base; joints that point to it are followed backwards. Default: the
        link that is no joint's child. No URDF has it.
    transmissions : tuple of Transmission
        Those that couple motors. Each of their joints has an actuator.
    rounding : (float, float) or None
        Half a unit in the last digit of the lengths [m] and of the angles [rad] of a file, root
        mean squares, where poses here are products of those of the file; not part of equality.
    gear_springs : tuple of GearSpring
        Of elastic gears, in the description for the equations alone.
    windings : tuple of WindingCurrent
        Of motors that are commanded by voltage, in the description for the equations alone.
    written : Mechanism or None
        As it was before frames were moved so that loops close; not part of equality.

    Examples
    --------
    >>> import robodyn as rd
    >>> hinge = rd.Joint("hinge", "continuous", parent="base", child="bob", axis=(0, 1, 0))
    >>> bob = rd.Link("bob", rd.Inertia(2.0, rd.Pose((0, 0, -1))))
    >>> robot = rd.load(rd.Mechanism("pendulum", (rd.Link("base"), bob), (hinge,)))
    >>> robot.mass_matrix([0.0]).round(9).tolist()     # 2 kg at 1 m
    [[2.0]]
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuators: tuple[tuple[str, Actuator], ...] = ()
    extras: tuple[str, ...] = ()
    file: str | None = field(default=None, compare=False)
    link_elements: tuple[DescribedElement, ...] = ()
    rotors: tuple[Rotor, ...] = ()
    constraints: tuple[Any, ...] = ()
    forces: tuple[ForceLaw | InverseSquareGravity, ...] = ()
    followers: tuple[TracedExplicitLoop, ...] = ()
    sensors: tuple[DescribedSensor, ...] = ()
    relaxed: bool = field(default=False, compare=False)
    start: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False)
    root: str | None = None
    transmissions: tuple[Transmission, ...] = ()
    rounding: tuple[float, float] | None = field(default=None, compare=False)
    gear_springs: tuple[GearSpring, ...] = ()
    windings: tuple[WindingCurrent, ...] = ()
    written: Mechanism | None = field(default=None, compare=False, repr=False)

    @property
    def movers(self) -> tuple[Joint | Loop, ...]:
        """Joints, and the loops that are joints too, in the order of the file."""
        return (*self.joints, *self.loops)

    def __repr__(self) -> str:
        counts = f"{len(self.links)} links, {len(self.joints)} joints"
        if self.loops:
            counts += f", {len(self.loops)} loops"
        return f"<Mechanism {self.name!r}: {counts}>"

    def where(self, item: Any) -> dict[str, Any]:
        """Place of a link, joint or loop, as keyword arguments of the located errors."""
        kind = type(item).__name__.lower()
        return {"file": self.file, "line": item.line, "element": f"{kind} {item.name!r}"}
