"""What `robodyn.load` and `Robot.with_` change of a description, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from robodyn.arrays import by_name, expect, named
from robodyn.description import Actuator, Inertia, Loop, Mechanism, Rotor, Transmission
from robodyn.description.contact import Contact
from robodyn.description.coupled_motors import with_transmissions
from robodyn.description.symbols import with_symbols, with_whole_symbols
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.joint_stop import CompliantStops
from robodyn.joints.joint_map import JointMap
from robodyn.model.changes.edit import (
    JointSpring,
    with_actuators,
    with_frames,
    with_joint_maps,
    with_more,
    with_payloads,
    with_springs,
    with_stops,
    without_free_root,
)
from robodyn.model.changes.functions import (
    AnyConstraint,
    AnyCoupling,
    AnyForce,
    AnySensor,
    with_constraints,
    with_contacts,
    with_couplings_added,
    with_forces,
    with_sensors,
)
from robodyn.model.changes.hinges import with_merged_hinges
from robodyn.model.changes.locking import with_locked
from robodyn.model.changes.other_numbers import NUMBERS
from robodyn.model.changes.parameter_changes import with_parameters
from robodyn.model.model import Model
from robodyn.model.settings import Settings, check_forces_act
from robodyn.quick_dataclass import dataclass
from robodyn.topology.spanning_tree import FLOATING_BASE


@dataclass(frozen=True, kw_only=True, eq=False)
class Changes:
    """What is to be changed of a description; None, or nothing in it, changes nothing.

    `robodyn.load` changes what a file says, from the settings that it has without arguments;
    `Robot.with_` changes what a robot was made from. Changes are made in the order of `STEPS`,
    whatever the order of the arguments; fields are in that order.

    parameters: New values of numbers that a robot has by name, `Robot.dynamic_parameters`.
    frames: More links without mass.
    loops: More closures.
    actuators: Motors in place of those that these joints have.
    rotors: More wheels that spin freely on links.
    joint_maps: Motions in place of those of these joints.
    transmissions: More of them, between joints that have motors or get them here.
    springs: One of a joint takes the place of another; those between links are more.
    symbols: Names for numbers that stand there by now. Names of which later steps change a number
        are left out.
    base {"floating", "moving"}: That of ``settings``, where it is new: it takes the place of a free
        joint to a world.
    payload: Masses in addition to those of links.
    couplings: More joints that follow others.
    stops: Springs and dampers at the limits of joints that follow none.
    constraints: More constraints.
    contacts: In place of all that there are; none, if it is empty.
    forces: In place of all that there are; none, if it is empty.
    sensors: In place of all that there are; none, if it is empty.
    merge_hinges: Three hinges through a point become a ball.
    locked: Welded joints, with what is said of them above.
    settings: New values of fields of `Settings`.
    given: Fields that change something, apart from settings, in the order of `STEPS`.
    """

    parameters: Mapping[str, ArrayLike] | None = None
    frames: Mapping[str, tuple[str, ArrayLike]] | None = None
    loops: Iterable[Loop] | None = None
    actuators: Mapping[str, Actuator] | None = None
    rotors: Iterable[Rotor] | None = None
    joint_maps: Mapping[str, JointMap] | None = None
    transmissions: Iterable[Transmission] | None = None
    springs: Mapping[str, JointSpring] | Iterable[DescribedElement] | None = None
    symbols: Mapping[str, str] | None = None
    payload: Mapping[str, Inertia] | None = None
    couplings: Iterable[AnyCoupling] | None = None
    stops: CompliantStops | None = None
    constraints: Iterable[AnyConstraint] | None = None
    contacts: Mapping[str, Contact] | None = None
    forces: Iterable[AnyForce] | None = None
    sensors: Iterable[AnySensor] | None = None
    merge_hinges: bool = False
    locked: Mapping[str, ArrayLike] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        given = []
        for name in _FIELDS:
            value = self.__dict__[name]
            if value is not None and value is not False:
                if name != "merge_hinges":
                    value = self.__dict__[name] = _taken(name, value)
                if value is not None:
                    given.append(name)
        self.__dict__["given"] = tuple(given)

    def keeps_geometry(self, *, minimal: bool) -> bool:
        """Whether these are numbers alone, which a robot can have without a model of its own.

        In minimal coordinates joints that have stops or springs may have to be independent.
        """
        between = self.springs is not None and not isinstance(self.springs, Mapping)
        return (
            NUMBERS.issuperset(self.settings)
            and _NUMBERS.issuperset(self.given)
            and not between
            and not (minimal and (self.stops or self.springs))
        )

    def applied(
        self, mechanism: Mechanism, before: Settings, wanted: Settings, model: Model | None = None
    ) -> tuple[Mechanism, Settings]:
        """The changed description, and its settings.

        before, wanted: Of the description, and those with ``settings``.
        model, optional: Of the robot that is made of the description, which has the names of
            parameters.
        """
        check_forces_act(wanted.passive, forces=self.forces, springs=self.springs)
        whole, steps = mechanism, {name: getattr(self, name) for name in self.given}
        if wanted.base not in ("fixed", before.base):
            steps["base"] = wanted.base
        if mechanism.transmissions and (self.actuators or model is None):
            steps.setdefault("transmissions", ())  # those that there are, with other motors
        if model is not None and "parameters" in steps:
            mechanism = with_parameters(model, steps["parameters"])
        others = {"floating": wanted.base == "floating", "parameters": self.parameters or ()}
        for name, (step, *needed) in STEPS.items() if steps else ():
            if name in steps and step is not None:
                mechanism = step(mechanism, steps[name], **{x: others[x] for x in needed})
                whole = mechanism if name == "symbols" else whole
        if others["floating"] and FLOATING_BASE in (self.locked or ()):
            wanted = replace(wanted, base="fixed")
        return with_whole_symbols(whole, mechanism), wanted


#: Each change of a description, in the order in which they are made.
#:
#: Numbers of the robot that there is, by the names that it has, come first. What is in files comes
#: next: links, joints and motors, then springs between them, then names of these numbers. From
#: there on the base is known. What needs coordinates comes when joints that follow are known, what
#: needs constraints (a sensor of the force that holds one) after these. Joints that are welded or
#: merged are so with everything that was said of them.
#: With each stands what it has to know besides: whether the base floats, or the new parameters.
#: Parameters themselves are set in the description that the robot has.
STEPS: Mapping[str, tuple[Any, ...]] = {
    "parameters": (None,),
    "frames": (with_frames,),
    "loops": (partial(with_more, "loops"),),
    "actuators": (with_actuators, "parameters"),
    "rotors": (partial(with_more, "rotors"),),
    "joint_maps": (with_joint_maps,),
    "transmissions": (with_transmissions,),
    "springs": (with_springs,),
    "symbols": (with_symbols,),
    "base": (without_free_root,),
    "payload": (with_payloads,),
    "couplings": (with_couplings_added,),
    "stops": (with_stops,),
    "constraints": (with_constraints, "floating"),
    "contacts": (with_contacts,),
    "forces": (with_forces, "floating"),
    "sensors": (with_sensors, "floating"),
    "merge_hinges": (lambda mechanism, _: with_merged_hinges(mechanism),),
    "locked": (with_locked, "floating"),
}

_FIELDS = tuple(name for name in STEPS if name != "base")

#: Changes of numbers alone, where they do not make joints independent.
_NUMBERS = frozenset({"parameters", "actuators", "springs", "payload", "stops"})

#: What several objects have to be, where it is one class.
_KINDS: dict[str, type] = {
    "loops": Loop,
    "rotors": Rotor,
    "transmissions": Transmission,
    "joint_maps": JointMap,
}

#: Fields of which an empty value is not the same as none.
_IN_PLACE = ("contacts", "forces", "sensors")


def _taken(name: str, given: Any) -> Any:
    """A field as steps take it: a dict, a tuple or an object; None if it changes nothing."""
    if name == "stops":
        expect(name, given, CompliantStops)
        return given
    if name == "springs":
        if not isinstance(given, Mapping):
            return named(name, given, "a mapping by joint name, or PointSprings") or None
        return by_name(name, given) or None
    by_names = isinstance(given, Mapping)
    taken: Any = by_name(name, given) if by_names else named(name, given, name.capitalize())
    if kind := _KINDS.get(name):
        for value in taken.values() if by_names else taken:
            expect(f"one of {name}", value, kind, name)
    return taken if name in _IN_PLACE else taken or None
