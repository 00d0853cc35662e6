"""Data of a robot for the equations: its bodies, settings and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate, pairwise

from robodyn.description.drive import GearSpring, WindingCurrent
from robodyn.equations.forces.drives import Key, MotorFriction, motor_key
from robodyn.equations.forces.gear_losses import GearLoss
from robodyn.equations.loops.closure_rows import Closure, Coupled
from robodyn.equations.loops.constraint import Related
from robodyn.equations.loops.constraint_violation import longest_link, row_units, speed_units
from robodyn.equations.mechanism import coordinate_steps
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.force_elements.common.link_element import LinkElement
from robodyn.force_elements.force_law import ForceLaw
from robodyn.force_elements.ground import Ground
from robodyn.force_elements.inverse_square import InverseSquareGravity
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.graph import Program
from robodyn.symbolic.spatial import RigidInertia


@dataclass(frozen=True, eq=False, kw_only=True)
class Setup:
    """Data of a robot for the equations: bodies, settings and constraints.

    gravity [m/s^2]: In the world.
    passive: Joint damping and friction belong to the mechanism.
    friction_speed [rad/s or m/s]: Where dry friction reaches 70 %.
    moving: The base is moved along a prescribed path.
    link_elements: Force elements between links; they belong to the mechanism as damping does.
    floating: The first joint is that of a floating base.
    closures: Joints that were cut, then constraints between frames.
    coupled: Couplings that could not be eliminated.
    constraints: Constraints that the user adds.
    idle_rows: Constraint rows that no motion breaks: loops that are solved in closed form imply
        them.
    cut_joint_friction: Joints that were cut and have damping or friction; also where minimal
        coordinates close the loops.
    ground: Planes that resist points of links.
    laws: Forces that the user gives as functions, which belong to the mechanism as springs do.
    free_rotors: Bodies that are rotors which spin freely on the links that carry them.
    planets: Masses far away that draw all bodies.
    motor_friction: Of motors that several joints turn, if it belongs to the mechanism.
    gear_losses: Of gears that lose power, if they belong to the mechanism.
    gear_springs, windings: Of elastic gears, and of motors that are commanded by voltage.
    """

    model: MechanismModel
    gravity: tuple[float, float, float]
    passive: bool
    friction_speed: float
    moving: bool
    link_elements: tuple[LinkElement, ...] = ()
    floating: bool = False
    closures: tuple[Closure, ...] = ()
    coupled: tuple[Coupled, ...] = ()
    constraints: tuple[Related, ...] = ()
    idle_rows: tuple[int, ...] = ()
    cut_joint_friction: tuple[Closure, ...] = ()
    ground: tuple[Ground, ...] = ()
    laws: tuple[ForceLaw, ...] = ()
    planets: tuple[InverseSquareGravity, ...] = ()
    free_rotors: tuple[int, ...] = ()
    motor_friction: tuple[MotorFriction, ...] = ()
    gear_losses: tuple[GearLoss, ...] = ()
    gear_springs: tuple[GearSpring, ...] = ()
    windings: tuple[WindingCurrent, ...] = ()

    @cached_property
    def resisting(self) -> tuple[Key, ...]:
        """What has dry friction: joints that are cut, all others, motors that several turn."""
        cut = ((x.name, x.kind.nv, x.friction) for x in self.cut_joint_friction)
        joints = (x.description for x in self.model)
        own = ((x.name, x.nv, x.friction) for x in joints)
        found = [(name, k) for name, nv, friction in (*cut, *own) if friction for k in range(nv)]
        found += [motor_key(x.joint) for x in self.motor_friction if x.coulomb]
        return tuple(found) if self.passive else ()

    @property
    def closed(self) -> bool:
        """Whether there are constraints besides the joints of the tree."""
        return bool(self.ties)

    @property
    def ties(self) -> tuple[Closure | Coupled | Related, ...]:
        """All of them, in the order of their rows."""
        return (*self.closures, *self.coupled, *self.constraints)

    @cached_property
    def moves_by_itself(self) -> bool:
        """Whether constraints prescribe motion, and so can do work."""
        return self.rheonomic or not all(c.steady for c in self.ties)

    @cached_property
    def rheonomic(self) -> bool:
        """Whether joints, constraints or forces depend on time."""
        return bool(self.timed)

    @cached_property
    def timed(self) -> tuple[str, ...]:
        """Names of the parts that depend on time, for messages."""
        return (
            *(f"joint {x.description.name!r}" for x in self.model if x.joint.rheonomic),
            *(f"constraint {c.name!r}" for c in self.ties if c.rheonomic),
            *(f"force {law.name!r}" for law in self.laws if law.rheonomic),
        )

    @cached_property
    def rates(self) -> Mapping[str, Program]:
        """How coordinates move with speeds, where they do not add; see `Program`."""
        rates = coordinate_steps.moving(self.model)
        return {} if rates is None else {"q": rates}

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Name of each constraint row: ``"loop[3]"``."""
        return tuple(f"{c.name}[{k}]" for c in self.ties for k in range(c.count))

    @cached_property
    def rows_of(self) -> Mapping[str, slice]:
        """Where the rows of each of them are, by its name."""
        places = pairwise(accumulate((c.count for c in self.ties), initial=0))
        return {c.name: slice(*place) for c, place in zip(self.ties, places, strict=True)}

    @property
    def position_rows(self) -> tuple[int, ...]:
        """Rows that constrain positions too: all but nonholonomic ones."""
        holonomic = (x for c in self.ties for x in c.holonomic)
        return tuple(k for k, is_position in enumerate(holonomic) if is_position)

    @cached_property
    def longest_link(self) -> float:
        """Of the loops [m]: lengths are compared with it."""
        return longest_link(self.model, self.closures)

    @cached_property
    def row_units(self) -> tuple[float, ...]:
        """Unit of the gap of each constraint row: the longest link, or 1."""
        units = [x for c in self.closures for x in row_units(c, self.longest_link)]
        return (*units, *[1.0] * (len(self.row_names) - len(units)))

    @cached_property
    def row_words(self) -> tuple[str, ...]:
        """The unit of the gap of each constraint row: ``"m"``, ``"rad"``, or either."""
        words = ["m" if x == 2.0 else "rad" for c in self.closures for x in row_units(c, 2.0)]
        return (*words, *["m or rad"] * (len(self.row_names) - len(words)))

    @cached_property
    def speed_units(self) -> tuple[float, ...]:
        """Unit of each speed: the longest link per second, or 1."""
        return tuple(speed_units(self.model, self.longest_link))

    @property
    def base_inertia(self) -> RigidInertia | None:
        """Inertia of the base, if it moves."""
        return self.model.base_inertia if self.moving else None
