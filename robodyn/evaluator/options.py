"""The options of a function: which there are, and what the equations make of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from robodyn.arrays import mismatch, named
from robodyn.description.sensor import DescribedSensor
from robodyn.description.symbols import Symbols, symbols_of
from robodyn.description.wrench import PointOfLink
from robodyn.equations.catalogue import QUANTITIES, OnLoops, Setup, row
from robodyn.equations.quantities.wrenches import GROUND
from robodyn.errors import (
    ActuationError,
    SettingsError,
    SingularError,
    UndeterminedWrenchError,
    UnknownNameError,
)
from robodyn.joints import fixed
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices, without_speed
from robodyn.model.unplaced_forces import unplaced_wrenches

#: What options are that a function cannot do without, beside ``frame``.
NEEDED = {
    "tasks": "a Task or several",
    "independent": "indices of the speeds that determine all others",
    "forces": "indices of the speeds along which forces are inputs",
}


class FunctionOptions:
    """Checks the options of the functions of a model, and resolves the names in them."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def key(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with tuples for lists, so that functions can be kept by them.

        Raises ShapeError: For an option that is not hashable.
        """
        kept = {key: tuple(x) if isinstance(x, list) else x for key, x in options.items()}
        for given in ("wrenches", "joints", "sensors", "actuated") & kept.keys():
            kept[given] = named(given, kept[given])
        if not isinstance(kept.get("symbols", False), bool):
            kept["symbols"] = named("symbols", kept["symbols"])
        if "tasks" in kept:
            from robodyn.evaluator.task_options import tasks_option  # what few functions need

            kept["tasks"] = tasks_option(kept["tasks"], self._model)
        for option, value in kept.items():
            _refuse_changeable(option, value)
        return kept

    def resolved(self, name: str, options: Mapping[str, Any]) -> tuple[Setup, dict[str, Any]]:
        """What a quantity is traced with: the `Setup`, and the options as the equations take them.

        Raises UnknownNameError: If there is no such quantity, link, joint or option.
        Raises SettingsError: If the quantity is not defined for closed linkages, and this is one.
        Raises SingularError: If it needs the acceleration of a joint that moves no mass.
        """
        self._check(name, options)
        quantity, chosen = QUANTITIES[name], {**options}
        if "controlled" in quantity.options:
            chosen["controlled"] = self.speeds(options.get("controlled", ()))
        if "actuated" in quantity.options:
            chosen["actuated"] = self.actuated(options.get("actuated"))
        if quantity.solves:
            self._check_mass(chosen.get("controlled", ()))
        joints: Iterable[str] = ()
        if "sensors" in quantity.options:
            chosen["sensors"] = self.sensors(options.get("sensors"))
            joints = [x for sensor in chosen["sensors"] for x in _measured_joints(sensor)]
        if "joints" in quantity.options:
            joints = chosen["joints"] = self.wrench_joints(options.get("joints"))
        of_tree = (x for x in joints if x not in self._cuts)
        setup = self._model.keeping(
            tuple(x for x in of_tree if self._model.joints[x].kind is fixed.KIND)
        )
        if chosen.get("symbols"):
            chosen["symbols"] = self._chosen_symbols(chosen["symbols"])
        else:
            chosen.pop("symbols", None)
        return setup, chosen

    @cached_property
    def symbols(self) -> Symbols:
        """The numbers of the robot that have names."""
        return symbols_of(self._model.mechanism)

    def _chosen_symbols(self, wanted: bool | tuple[str, ...]) -> Symbols:
        """All numbers that have names, or some of them."""
        return self.symbols if wanted is True else self.symbols.only(wanted or ())

    def _check_symbols(self, name: str, options: Mapping[str, Any]) -> None:
        """Refuse numbers with names as inputs of a function that cannot have them."""
        model, values = self._model, self.symbols.values
        robot = repr(model.mechanism.name)
        if not values:
            raise SettingsError(
                f"no number of {robot} has a name: describe it with robodyn.symbol, or load it "
                "with symbols="
            )
        quantity = row(name, options)
        taken = (*quantity.input_names, *(x.name for x in quantity.outputs), "t", "numbers")
        for symbol in self._chosen_symbols(options["symbols"]).values:
            if symbol in taken:
                raise SettingsError(
                    f"symbol {symbol!r} has the name of an array of {name}: take another name"
                )
        if options.get("parameters"):
            raise SettingsError("inertias are inputs by parameters=True or by symbols=True")
        movers = {x.name for x in model.mechanism.movers}
        others = [x for x in model.setup.closures if x.name not in movers]
        if others or model.setup.constraints or model.setup.laws or model.bodies.followers:
            raise SettingsError(
                f"{robot} has constraints, forces or joints that are functions or between frames, "
                "which may compute with its numbers: symbols cannot be inputs beside them"
            )
        if model.effective.links is not model.mechanism.links:
            raise SettingsError(
                f"symbols of {robot} cannot be inputs: it has links that are cut in two to close "
                "loops"
            )
        geometry = self._chosen_symbols(options["symbols"]).of_geometry
        if model.bodies.linkages and geometry:
            lengths = ", ".join(map(repr, sorted(geometry)))
            raise SettingsError(
                f"lengths and angles of joints ({lengths}) cannot be inputs where {robot} has "
                "minimal coordinates, whose closed forms are made of them: load it with "
                "coordinates='tree', or name the other symbols, as symbols=('m',)"
            )

    def speeds(self, names: Any) -> tuple[int, ...]:
        """Indices of speeds, which may be given as such or as names of joints."""
        indices: list[int] = []
        nv = self._model.bodies.nv
        for name in named("controlled", names):
            if not isinstance(name, str) and not 0 <= name < nv:
                raise UnknownNameError("speed", str(name), map(str, range(nv)))
            indices += speed_indices(self._model, name) if isinstance(name, str) else (int(name),)
        if len(set(indices)) < len(indices):
            raise ActuationError(f"a joint is named twice in controlled={names!r}")
        return tuple(indices)

    def actuated(self, names: Iterable[str] | None) -> tuple[str, ...]:
        """Joints by name, with or without speeds of their own; by default those with motors."""
        model = self._model
        if names is None:
            return model.actuated_joints
        moving = [body.description.name for body in model.bodies if body.description.nv]
        chosen = tuple(dict.fromkeys(named("actuated", names)))
        for name in chosen:
            if model.joints[name].name not in moving:
                raise without_speed(name, model.joints[name], moving, model.mechanism.name)
        return chosen

    def sensors(self, names: Iterable[str] | None) -> tuple[DescribedSensor, ...]:
        """Sensors by name; if none are named, all.

        Raises SettingsError: If the robot has none.
        Raises UndeterminedWrenchError: For one in a joint whose wrench depends on where the force
            of a constraint acts.
        """
        robot = repr(self._model.mechanism.name)
        known = self._sensors
        if not known:
            raise SettingsError(
                f"{robot} has no sensors: load it with sensors=, or give it some by with_(sensors=)"
            )
        chosen = tuple(known) if names is None else named("sensors", names)
        for name in chosen:
            if name not in known:
                raise UnknownNameError("sensor", name, known, robot)
            self.wrench_joints(_measured_joints(known[name]))
        return tuple(known[name] for name in dict.fromkeys(chosen))

    @cached_property
    def _sensors(self) -> Mapping[str, DescribedSensor]:
        """All sensors by name, those of bodies with the halves of links that are cut in two."""
        return {x.name: self._with_halves(x) for x in self._model.mechanism.sensors}

    def _with_halves(self, sensor: DescribedSensor) -> DescribedSensor:
        frames = self._model.bodies.frames
        bodies = {frames[x][0] for x in sensor.bodies if x in frames}
        cuts = [x for x in self._model.effective.loops if x.rejoins]
        halves = [
            end
            for cut in cuts
            if bodies & {frames[x][0] for x in (cut.predecessor, cut.successor) if x in frames}
            for end in (cut.predecessor, cut.successor)
        ]
        return replace(sensor, bodies=(*sensor.bodies, *halves)) if halves else sensor

    def wrench_joints(self, joints: Iterable[str] | None) -> tuple[str, ...]:
        """Joints whose wrenches are wanted; if none are named, all that move and have one.

        ``"base"`` may be among the names; its wrench is always there.

        Raises UndeterminedWrenchError: For a joint whose wrench depends on where the force of a
            constraint acts.
        """
        if joints is None:
            return tuple(x for x in self._moving_joints if x not in self.unplaced_wrenches)
        own = (*self._cuts, *self._model.joints)
        names = tuple(x for x in named("joints", joints) if x != "base" or x in own)
        for name in names:
            _ = name in self._cuts or self._model.joints[name]
            if name in self.unplaced_wrenches:
                raise UndeterminedWrenchError(name, self.unplaced_wrenches[name])
        return names

    @cached_property
    def unplaced_wrenches(self) -> Mapping[str, tuple[str, ...]]:
        """Constraints by joint, of joints whose wrench depends on where their forces act."""
        return unplaced_wrenches(self._model.mechanism, self._cuts)

    @cached_property
    def _cuts(self) -> tuple[str, ...]:
        """Joints that are cut, and constraints between frames."""
        return tuple(c.name for c in self._model.setup.closures)

    def exerted(self, name: str, options: Mapping[str, Any]) -> bool:
        """Whether what constraints exert counts, of a quantity of which it may."""
        given = {"sensors": self.sensors(options.get("sensors"))} if name == "measure" else options
        return QUANTITIES[name].exerted(given)

    @cached_property
    def _moving_joints(self) -> tuple[str, ...]:
        """Joints of the tree that move, then the cut ones; what moves a floating base is its base.

        ``"base"`` stands beside them, and is the same wrench.
        """
        first = 1 if self._model.settings.base == "floating" else 0
        moving = (body.description.name for body in self._model.bodies.bodies[first:])
        return (*moving, *self._cuts)

    def _check_mass(self, controlled: tuple[int, ...]) -> None:
        """Speeds that move no mass cannot be solved for."""
        undetermined = self._model.undetermined(controlled)
        if undetermined:
            raise SingularError(
                f"joints {', '.join(undetermined)} of {self._model.mechanism.name!r} move no mass, "
                "at least not independently: their accelerations are not determined",
                joints=undetermined,
            )

    def _check(self, name: str, options: Mapping[str, Any]) -> None:
        if name not in QUANTITIES:
            raise UnknownNameError("function", name, QUANTITIES)
        quantity = row(name, options)
        exerted = quantity.closed is OnLoops.MULTIPLIERS and self.exerted(name, options)
        if name == "hybrid_joint_wrenches":  # of no joint, it stands for accelerations
            exerted = options.get("joints") != ()
        if self._model.bodies.linkages and exerted:
            raise UnknownNameError(
                "function of minimal coordinates",
                name,
                (),
                f"{self._model.mechanism.name!r}: take its tree_form",
            )
        if self._model.setup.closed and quantity.closed is OnLoops.REFUSED:
            raise SettingsError(
                f"{name} is not defined for closed linkages, and {self._model.mechanism.name!r} "
                "has closed loops: load it with coordinates='minimal'"
            )
        known = quantity.options
        for option in options:
            if option == "symbols":
                if options[option]:
                    self._check_symbols(name, options)
            elif option not in known and not (option == "parameters" and quantity.parametric):
                raise UnknownNameError("option", option, known, f"function {name!r}")
        frames = tuple(self._model.bodies.frames)
        if "frame" in known and "frame" not in options:
            raise UnknownNameError("frame", "", frames, f"function {name!r}")
        for option, what in NEEDED.items():
            if option in known and option not in options:
                raise SettingsError(f"function {name!r} needs {option}=, {what}")
        given = options.get("wrenches", ())
        links = [x.link if isinstance(x, PointOfLink) else x for x in given]
        links += [options[x] for x in ("frame", "other") if x in options]
        links += options.get("frames") or ()
        links += [x for task in options.get("tasks", ()) for x in task.frames if x != "world"]
        reference = options.get("relative_to", "world")
        links += [reference] if reference != "world" else []
        for link in links:
            if link not in frames:
                raise UnknownNameError("link", link, frames, repr(self._model.mechanism.name))


def _measured_joints(sensor: DescribedSensor) -> tuple[str, ...]:
    """Joints of which a sensor reads the wrench."""
    return tuple(x for x in sensor.joints if sensor.kind == "wrench" and x != GROUND)


def _refuse_changeable(option: str, value: Any) -> None:
    """Refuse an option that is not hashable, as functions are kept by their options."""
    try:
        hash(value)
    except TypeError:
        raise mismatch(option, value, "a name, names, or True or False") from None
