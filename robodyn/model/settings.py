"""Choices of `robodyn.load` that are not in the file."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_values
from robodyn.arrays import expect, mismatch, named, numbers, shown
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.force_elements.ground import Ground
from robodyn.literals import Base, Coordinates, RotorModel
from robodyn.tolerances import CLOSURE_TOLERANCE, DEFAULT_SNAP, LOOP_SNAP

#: What `Robot.with_` changes besides settings.
OTHER_CHANGES = ("payload", "locked", "stops", "frames", "parameters")


#: Types of settings that are one value each.
_KINDS: dict[str, Any] = {
    "base": Base,
    "rotor_model": RotorModel,
    "coordinates": Coordinates,
    **dict.fromkeys(("friction_speed", "closure_tolerance"), float),
    **dict.fromkeys(("passive", "allow_unphysical", "rigid"), bool),
    "gravity": tuple[float, float, float],
}


class ChangedSettings(TypedDict, total=False):
    """What `Robot.with_` takes of them, as `robodyn.load` takes it."""

    base: Base
    gravity: ArrayLike
    passive: bool
    friction_speed: float
    allow_unphysical: bool
    rotor_model: RotorModel
    coordinates: Coordinates
    branches: Mapping[str, int]
    near: ArrayLike | Mapping[str, ArrayLike] | None
    closure_tolerance: float
    rigid: bool
    ground: Ground | Iterable[Ground]


@dataclass(frozen=True)
class Settings:
    """Choices of `robodyn.load` that are not in the file."""

    base: Base = "fixed"
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    passive: bool = True
    friction_speed: float = 0.01
    allow_unphysical: bool = False
    rotor_model: RotorModel = "exact"
    coordinates: Coordinates = "tree"
    branches: tuple[tuple[str, int], ...] = ()
    near: tuple[Any, ...] | None = None
    closure_tolerance: float = CLOSURE_TOLERANCE
    ground: tuple[Ground, ...] = ()
    rigid: bool = False

    def __post_init__(self) -> None:
        check_values(_KINDS, vars(self))
        try:
            object.__setattr__(self, "branches", tuple(dict(self.branches).items()))
        except (TypeError, ValueError):
            raise SettingsError(
                f"branches is {self.branches!r}, expected {{loop: +1 or -1}}"
            ) from None
        object.__setattr__(self, "near", _near(self.near))
        object.__setattr__(self, "ground", _ground(self.ground))
        gravity = tuple(float(x) for x in self.gravity)
        if not all(map(math.isfinite, gravity)):
            raise SettingsError(f"gravity is {gravity}, expected finite numbers [m/s^2]")
        object.__setattr__(self, "gravity", gravity)
        for name in ("friction_speed", "closure_tolerance"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not 0.0 < self.friction_speed < math.inf:
            raise SettingsError(
                f"friction_speed is {self.friction_speed!r}, expected a positive number"
            )
        if not 1e-12 <= self.closure_tolerance <= 1.0:
            raise SettingsError(
                f"closure_tolerance is {self.closure_tolerance!r}, expected 1e-12 to 1 (rad, or a "
                "part of the longest link)"
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Also of a pickle with the field ``snap``, which is gone: 0 was ``rigid=True``."""
        if "snap" in state:
            state = {**state, "rigid": state["snap"] == 0.0}
            del state["snap"]
        self.__dict__.update(state)

    def snap(self, loops: Collection[object]) -> float:
        """Axes this near to parallel or perpendicular [rad], and points this near [m], are so.

        With loops it is less: rounding of frames that are not snapped alike would open them.
        """
        if self.rigid:
            return 0.0
        return LOOP_SNAP if loops else DEFAULT_SNAP

    def replaced(self, values: Mapping[str, Any]) -> Settings:
        """With other values; unknown names are an error."""
        known = [f.name for f in dataclasses.fields(self)]
        for name in values:
            if name not in known:
                raise UnknownNameError("setting", name, (*OTHER_CHANGES, *known))
        new = dataclasses.replace(self, **values)
        if new.rigid is not self.rigid:
            raise SettingsError(
                f"rigid={new.rigid} is decided where a robot is loaded, as its numbers are taken "
                f"then to the letter or not: load it with rigid={new.rigid}"
            )
        check_letter(new.rigid, new.closure_tolerance)
        return new


def check_letter(rigid: bool, closure_tolerance: float, snap: float | None = None) -> None:
    """Refuse numbers that are to be taken to the letter, and changed by as much as a tolerance."""
    if rigid and snap:
        raise SettingsError(
            f"rigid=True takes the numbers of loops to the letter, snap={snap} was to change them, "
            "and does nothing any more: leave snap= out"
        )
    if rigid and closure_tolerance > CLOSURE_TOLERANCE:
        raise SettingsError(
            "rigid=True takes the numbers of loops to the letter, "
            f"closure_tolerance={closure_tolerance:g} lets frames be moved by as much: leave "
            "rigid=True out where they are rounded; where they are meant, leave "
            f"closure_tolerance= at {CLOSURE_TOLERANCE:g} or less"
        )


def check_forces_act(passive: bool, **given: object) -> None:
    """Refuse forces and springs of a robot that is to be rigid bodies only.

    Raises SettingsError: If one of ``given``, by the names of arguments, would do nothing.
    """
    for name, forces in given.items():
        if forces and not passive:
            raise SettingsError(
                f"{name}= would do nothing with passive=False, which leaves a robot its rigid "
                "bodies only: leave one of them out"
            )


def _position(name: str, given: Any) -> tuple[float, ...]:
    try:
        return tuple(np.ravel(numbers("near", given)).tolist())
    except ShapeError:
        raise mismatch(f"near[{name!r}]", given, "numbers", "near") from None


def _ground(given: Any) -> tuple[Ground, ...]:
    """Planes as a tuple; contacts have names of their own."""
    planes = (given,) if isinstance(given, Ground) else named("ground", given or (), "Grounds")
    taken: set[str] = set()
    for plane in planes:
        expect("ground", plane, Ground)
        for name, _, _ in plane.contacts:
            if name in taken:
                raise SettingsError(f"two contacts with the ground are called {name!r}")
            taken.add(name)
    return planes


def _near(given: Any) -> tuple[Any, ...] | None:
    """A posture as a tuple: of numbers, or of (joint, numbers)."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return tuple((name, _position(name, value)) for name, value in given.items()) or None
    if isinstance(given, tuple) and given and isinstance(given[0], tuple):
        return given
    try:
        return tuple(float(x) for x in numbers("near", given))
    except (TypeError, ShapeError):
        raise SettingsError(
            f"near is {shown(given)}, expected positions (nq,) or {{joint: position}}"
        ) from None
