"""Which numbers of a description have names, and where they may stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import fields
from typing import Any

from robodyn.description.mechanism import Mechanism
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.force_elements import LINK_ELEMENTS, fields_of
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.symbol import Symbol, symbol

#: Fields, and places in tuples, one within the other.
_Path = tuple[str | int, ...]

_INERTIA = ("mass", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_RESISTANCE = ("damping", "friction", "stiffness", "rest", "armature")
_STOPS = ("stop_stiffness", "stop_damping")
_AXES = ("axis", "axis2")
_POSES = ("origin", "X_predecessor", "X_successor")


def _pose(field: str, before: str = "") -> dict[str, _Path]:
    """Numbers of a pose."""
    parts = {"xyz": "xyz", "rpy": ("roll", "pitch", "yaw")}
    return {f"{before}{x}": (field, part, k) for part in parts for k, x in enumerate(parts[part])}


#: Words of a path -> fields, for what may have a name.
_FIELDS: dict[str, dict[str, _Path]] = {
    "link": {
        **{x: ("inertia", x) for x in _INERTIA},
        **{x: ("inertia", "origin", "xyz", k) for k, x in enumerate("xyz")},
    },
    "joint": {
        **{x: (x,) for x in (*_RESISTANCE, *_STOPS)},
        **{x: ("limits", x) for x in ("lower", "upper")},
        **_pose("origin"),
    },
    "loop": {
        **{x: (x,) for x in ("damping", "friction")},
        **_pose("X_predecessor", "predecessor "),
        **_pose("X_successor", "successor "),
    },
    **{
        tag: {
            **{x: (x,) for x in fields_of(element, "float")},
            **{
                f"{p} {x}": (p, k)
                for p in fields_of(element, "Vector")
                for k, x in enumerate("xyz")
            },
        }
        for tag, element in LINK_ELEMENTS.items()
    },
}


@dataclass(frozen=True, eq=False)
class Symbols:
    """The numbers of a description that have names.

    mechanism: Holds a `Symbol` in the place of each.
    values: Of each name, in the order in which they stand in the description.
    """

    mechanism: Mechanism
    values: Mapping[str, float]

    def only(self, names: Collection[str]) -> Symbols:
        """Some of them, the others plain numbers."""
        for name in names:
            if name not in self.values:
                raise UnknownNameError("symbol", name, self.values, repr(self.mechanism.name))
        kept = {name: x for name, x in self.values.items() if name in names}
        if len(kept) == len(self.values):
            return self
        return Symbols(_mapped(self.mechanism, lambda x: x.only(kept.keys())), kept)

    @property
    def of_geometry(self) -> Set[str]:
        """Names that stand in poses of joints or loops."""
        return {
            name
            for kind, _, item in _items(self.mechanism)
            if kind in ("joint", "loop")
            for path, found in _within(item, ())
            if path[0] in _POSES
            for name, _ in found.named()
        }


def symbols_of(mechanism: Mechanism) -> Symbols:
    """The numbers of a description that have names.

    Raises SettingsError: If a name has two values, or stands where none can.
    """
    values: dict[str, float] = {}
    for kind, what, item in _items(mechanism):
        known = {path: words for words, path in _FIELDS.get(kind, {}).items()}
        for path, found in _within(item, ()):
            names = ", ".join(repr(name) for name, _ in found.named())
            if path not in known:
                able = ", ".join(known.values()) or "none"
                raise SettingsError(
                    f"symbol {names} stands in {'.'.join(map(str, path))} of {what}. Its numbers "
                    f"that may have names: {able}"
                    + (": turn its origin in place of its axis" if path[0] in _AXES else "")
                )
            for name, value in found.named():
                if values.setdefault(name, value) != value:
                    raise SettingsError(
                        f"symbol {name!r} has two values, {values[name]:g} and, in {what}, "
                        f"{value:g}: one name is one number"
                    )
    return Symbols(mechanism, values)


def with_symbols(mechanism: Mechanism, names: Mapping[str, str]) -> Mechanism:
    """A description in which numbers have names.

    names: ``"link arm mass"``: the kind of element, its name, and which number of it.
    Raises UnknownNameError: If there is no such number.
    Raises SettingsError: For names that are none.
    """
    for path, name in names.items():
        kind, _, rest = path.partition(" ")
        if kind not in _FIELDS:
            raise UnknownNameError("kind of element", kind, _FIELDS, f"the path {path!r}")
        elements = [*_elements(mechanism, kind)]
        items = {x.name: k for k, x in enumerate(elements)}
        fitting = [x for x in items if rest.startswith(f"{x} ")]
        if not fitting:
            raise UnknownNameError(kind, rest.rpartition(" ")[0] or rest, items, f"path {path!r}")
        own = max(fitting, key=len)
        number = rest[len(own) + 1 :]
        if number not in _FIELDS[kind]:
            raise UnknownNameError("number", number, _FIELDS[kind], f"{kind} {own!r}")
        at, place = items[own], _FIELDS[kind][number]
        value = _at(elements[at], place)
        if value is None:
            what = {"inertia": "an inertia"}.get(str(place[0]), place[0])
            raise SettingsError(f"the path {path!r} is of a {kind} without {what}")
        elements[at] = _replaced(elements[at], place, symbol(name, float(value)))
        mechanism = _with_elements(mechanism, kind, elements)
    return mechanism


def with_values(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """A description in which numbers that have names are others, and plain ones."""

    def number(x: Symbol) -> float:
        found = x.of(values)
        assert isinstance(found, float)
        return float(found)

    return _mapped(mechanism, number)


def with_whole_symbols(before: Mechanism, after: Mechanism) -> Mechanism:
    """A changed description, in which names are left out that not all of their numbers kept.

    Derivatives by these would be those by a part of what they stand for.
    """
    lost: set[str] = set()
    for kind, known in _FIELDS.items():
        old, new = (_elements(x, kind) for x in (before, after))
        by_name = {x.name or k: x for k, x in enumerate(new)}
        for k, item in enumerate(old):
            other = by_name.get(item.name or k)
            if other is not item:
                for path in known.values():
                    x = _at(item, path)
                    if isinstance(x, Symbol) and not x.same_as(_at(other, path)):
                        lost.update(name for name, _ in x.named())
    return _without(after, lost) if lost else after


def _at(item: Any, path: _Path) -> Any:
    """What stands at a path; none where there is no such thing."""
    for step in path:
        if item is None:
            return None
        item = item[step] if isinstance(step, int) else getattr(item, step)
    return item


def _without(mechanism: Mechanism, names: Set[str]) -> Mechanism:
    """A description in which numbers that some names enter are plain ones."""

    def plain(x: Symbol) -> float:
        return x if names.isdisjoint(name for name, _ in x.named()) else float(x)

    return _mapped(mechanism, plain)


def _mapped(mechanism: Mechanism, change: Callable[[Symbol], float]) -> Mechanism:
    """A description with other numbers in the places of those that have names."""
    for kind, known in _FIELDS.items():
        items = [*_elements(mechanism, kind)]
        for k, given in enumerate(items):
            item = given
            for path in known.values():
                x = _at(item, path)
                if isinstance(x, Symbol):
                    item = _replaced(item, path, change(x))
            items[k] = item
        mechanism = _with_elements(mechanism, kind, items)
    return mechanism


def _elements(mechanism: Mechanism, kind: str) -> tuple[Any, ...]:
    """All elements of a kind."""
    if kind in LINK_ELEMENTS:
        return tuple(x for x in mechanism.link_elements if x.tag == kind)
    found: tuple[Any, ...] = getattr(mechanism, f"{kind}s")
    return found


def _with_elements(mechanism: Mechanism, kind: str, elements: Sequence[Any]) -> Mechanism:
    """A description with others in the places of all elements of a kind; itself if they are not."""
    if all(x is y for x, y in zip(elements, _elements(mechanism, kind), strict=True)):
        return mechanism
    if kind in LINK_ELEMENTS:
        rest = iter(elements)
        given = mechanism.link_elements
        between = tuple(next(rest) if x.tag == kind else x for x in given)
        return dataclasses.replace(mechanism, link_elements=between)
    changes: dict[str, Any] = {f"{kind}s": tuple(elements)}
    return dataclasses.replace(mechanism, **changes)


def _replaced(item: Any, path: _Path, number: float) -> Any:
    """An element with another number at a path."""
    if not path:
        return number
    first, *rest = path
    if isinstance(first, int):
        items = [*item]
        items[first] = _replaced(item[first], tuple(rest), number)
        return tuple(items)
    changes: dict[str, Any] = {first: _replaced(getattr(item, first), tuple(rest), number)}
    return dataclasses.replace(item, **changes)


def _items(mechanism: Mechanism) -> Iterator[tuple[str, str, Any]]:
    """All elements of a description: the kind, what they are called, and they themselves."""
    for kind in (*_FIELDS, "coupling", "rotor"):
        for item in _elements(mechanism, kind):
            yield kind, f"{kind} {item.name!r}", item
    for joint, motor in mechanism.actuators:
        yield "actuator", f"the actuator of joint {joint!r}", motor


def _within(item: Any, path: _Path) -> Iterator[tuple[_Path, Symbol]]:
    """All symbols in an element, with their places."""
    if isinstance(item, Symbol):
        yield path, item
    elif dataclasses.is_dataclass(item) and not isinstance(item, type):
        for each in fields(item):
            if each.name != "exact":
                yield from _within(getattr(item, each.name), (*path, each.name))
    elif isinstance(item, tuple):
        for k, x in enumerate(item):
            yield from _within(x, (*path, k))
