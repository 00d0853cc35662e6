"""Which numbers of a description have names, and where they may stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from robodyn.description.mechanism import Mechanism
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.symbolic.symbol import Symbol, symbol

__all__ = ["Symbols", "symbols_of", "with_symbols", "with_whole_symbols"]

#: Fields, and places in tuples, one within the other.
_Path = tuple[str | int, ...]

_INERTIA = ("mass", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_RESISTANCE = ("damping", "friction", "stiffness", "rest")

#: Words of a path -> fields, for what may have a name.
_FIELDS: dict[str, dict[str, _Path]] = {
    "link": {
        **{x: ("inertia", x) for x in _INERTIA},
        **{x: ("inertia", "origin", "xyz", k) for k, x in enumerate("xyz")},
    },
    "joint": {
        **{x: (x,) for x in _RESISTANCE},
        **{x: ("origin", "xyz", k) for k, x in enumerate("xyz")},
    },
    "loop": {
        f"{side} {x}": (f"X_{side}", "xyz", k)
        for side in ("predecessor", "successor")
        for k, x in enumerate("xyz")
    },
}


@dataclass(frozen=True, eq=False)
class Symbols:
    """The numbers of a description that have names.

    Attributes
    ----------
    mechanism : Mechanism
        Holds a `Symbol` in the place of each.
    values : mapping of str to float
        Of each name, in the order in which they stand in the description.
    """

    mechanism: Mechanism
    values: Mapping[str, float]


def symbols_of(mechanism: Mechanism) -> Symbols:
    """The numbers of a description that have names.

    Raises
    ------
    SettingsError
        If a name has two values, or stands where none can.
    """
    values: dict[str, float] = {}
    for kind, item in _items(mechanism):
        known = {path: words for words, path in _FIELDS.get(kind, {}).items()}
        for path, found in _within(item, ()):
            what = f"{kind} {getattr(item, 'name', item)!r}"
            names = ", ".join(repr(name) for name, _ in found.named())
            if path not in known:
                raise SettingsError(
                    f"symbol {names} stands in {'.'.join(map(str, path))} of {what}: names may "
                    "have masses, inertias, places of centres of mass, of joints and of loops, and "
                    "damping, friction, stiffness and rest of joints"
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

    Parameters
    ----------
    mechanism : Mechanism
    names : mapping of path to str
        ``"link arm mass"``: the kind of element, its name, and which number of it.

    Raises
    ------
    UnknownNameError
        If there is no such number.
    SettingsError
        For names that are none.
    """
    for path, name in names.items():
        kind, _, rest = path.partition(" ")
        if kind not in _FIELDS:
            raise UnknownNameError("kind of element", kind, _FIELDS, f"the path {path!r}")
        items = {x.name: k for k, x in enumerate(getattr(mechanism, f"{kind}s"))}
        fitting = [x for x in items if rest.startswith(f"{x} ")]
        if not fitting:
            raise UnknownNameError(kind, rest.rpartition(" ")[0] or rest, items, f"path {path!r}")
        own = max(fitting, key=len)
        number = rest[len(own) + 1 :]
        if number not in _FIELDS[kind]:
            raise UnknownNameError("number", number, _FIELDS[kind], f"{kind} {own!r}")
        elements = [*getattr(mechanism, f"{kind}s")]
        at = items[own]
        if kind == "link" and elements[at].inertia is None:
            raise SettingsError(f"the path {path!r} is of a link without an inertia")
        place = _FIELDS[kind][number]
        elements[at] = _replaced(elements[at], place, symbol(name, float(_at(elements[at], place))))
        changes: dict[str, Any] = {f"{kind}s": tuple(elements)}
        mechanism = dataclasses.replace(mechanism, **changes)
    return mechanism


def with_whole_symbols(before: Mechanism, after: Mechanism) -> Mechanism:
    """A changed description, in which names are left out that not all of their numbers kept.

    Derivatives by these would be those by a part of what they stand for.
    """
    lost: set[str] = set()
    for kind, known in _FIELDS.items():
        old, new = (getattr(x, f"{kind}s") for x in (before, after))
        if old is new:
            continue
        by_name = {x.name: x for x in new}
        for item in old:
            other = by_name.get(item.name)
            if other is not item:
                for path in known.values():
                    x = _at(item, path)
                    if isinstance(x, Symbol) and _at(other, path) is not x:
                        lost.update(name for name, _ in x.named())
    return _without(after, lost) if lost else after


def _at(item: Any, path: _Path) -> Any:
    """What stands at a path; none where there is no such thing."""
    for step in path:
        if item is None:
            return None
        item = item[step] if isinstance(step, int) else getattr(item, step)
    return item


def _without(mechanism: Mechanism, names: set[str]) -> Mechanism:
    """A description in which numbers that some names enter are plain ones."""
    changes: dict[str, Any] = {}
    for kind, known in _FIELDS.items():
        items = []
        for given in getattr(mechanism, f"{kind}s"):
            item = given
            for path in known.values():
                x = _at(item, path)
                if isinstance(x, Symbol) and not names.isdisjoint(name for name, _ in x.named()):
                    item = _replaced(item, path, float(x))
            items.append(item)
        changes[f"{kind}s"] = tuple(items)
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


def _items(mechanism: Mechanism) -> Iterator[tuple[str, Any]]:
    """All elements of a description with their kind."""
    for kind in ("link", "joint", "loop", "coupling", "link_element", "rotor", "actuator"):
        for item in getattr(mechanism, f"{kind}s"):
            yield kind, item


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
