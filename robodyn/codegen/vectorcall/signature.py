"""The signature of a callable: its parameters, and the functions of its options.

Python writes it, machine code reads it. A method such as ``frame_pose(q, frame, *, relative_to,
base, out)`` stands for one function for each choice of its options. The choices that have been made
are kept as *variants*; a call with another choice goes the slow way, which adds it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from robodyn.codegen.vectorcall.table import Table
from robodyn.quick_dataclass import dataclass

#: Parameters a callable may have, options among them, and names in the mappings of a call.
MAX_PARAMETERS, MAX_OPTIONS, MAX_LINKS = 32, 8, 56

#: Variants kept; beyond them, the oldest gives its place to a new one.
MAX_VARIANTS = 128

#: Words of a signature; its parameters follow. ``plain``: table of the function behind all defaults
#: (0: there is none), to which calls go at once that pass nothing but the arrays, and ``out`` after
#: them or by keyword; ``plain_guarded``, ``plain_make`` and ``plain_made_of``: as in a variant;
#: ``most``: how many arguments by position are the arrays and ``out``; ``out``: its name (0: there
#: is no such parameter); ``by_joint``: how many parameters are mappings by joint; ``positional``:
#: how many parameters may be given by position; ``moving``: the base has a motion, which functions
#: take as three more arrays; ``pose``, ``twist`` and ``acceleration``: those of a base at rest.
SIGNATURE = (
    "common", "plain", "plain_guarded", "plain_make", "plain_made_of", "arrays", "by_joint", "most",
    "out", "parameters", "positional", "variants", "variants_at",
    "moving", "pose", "twist", "acceleration",
)  # fmt: skip

#: Words of a parameter: its name (0: only by position), its default value (0: none), what it is,
#: and its index among those of that kind.
PARAMETER = ("name", "default", "role", "index")

#: Words of a variant: address of a function's table (0: there is none), where to look for numbers
#: that are not finite (`FiniteCheck`), what makes the result of the function's (0: nothing), of how
#: many inputs beside it, which arrays are left out (a bit for each), how many inputs after the
#: arrays are filled from mappings by joint, and how many names the mappings have. Options follow,
#: then the names, with ``None`` between those of different mappings, and for each name where its
#: number goes, counted over the inputs that are filled.
VARIANT = (
    "table", "guarded", "make", "made_of", "missing", "by_joint", "links",
    *["option"] * MAX_OPTIONS, *["link"] * MAX_LINKS, *["place"] * MAX_LINKS,
)  # fmt: skip

#: The default of a parameter that has none.
REQUIRED = object()

#: Types of option values that are compared by identity, or by text.
_CONSTANT = (str, bool, int, type(None))


class Role(IntEnum):
    """What a parameter is.

    ``WRENCHES`` are a mapping from names to arrays, which are inputs of the function; ``BY_JOINT``
    is one from names to numbers, which stand in inputs of the function, or an array over all
    speeds. A ``NUMBER`` is an array without axes, which has to be given as a float; it is counted
    among the arrays. An array that is None is left out: of that choice of arrays there is a
    function, or none.
    """

    ARRAY = 0
    OPTION = 1
    OUT = 2
    BASE = 3
    WRENCHES = 4
    BY_JOINT = 5
    NUMBER = 6


_ARRAYS = (Role.ARRAY, Role.NUMBER)


class FiniteCheck(IntEnum):
    """Which numbers of a call are checked to be finite; of a batch always its results."""

    NOWHERE = 0
    RESULTS = 1
    ARGUMENTS = 2


@dataclass(frozen=True)
class Parameter:
    """A parameter of a callable.

    name: Empty if it can only be given by position.
    positional: It may be given by position; those which may come first.
    """

    name: str
    role: Role
    default: object = REQUIRED
    positional: bool = False


class Layout(NamedTuple):
    """What the signatures of some parameters have in common.

    names: Of all parameters.
    arrays: Names of arrays and numbers, with the default of each.
    by_joint: Names.
    options: Names and defaults.
    defaults: Of options.
    can_be_plain: Calls may pass nothing but the arrays.
    """

    words: list[int]
    kept: list[object]
    names: list[str]
    arrays: list[tuple[str, object]]
    by_joint: list[str]
    options: list[tuple[str, object]]
    defaults: tuple[object, ...]
    can_be_plain: bool


#: Layouts of tuples of parameters, which are kept, by the identity of the tuple: defaults that are
#: equal, as 1 and True are, may not be the same.
_layouts: dict[int, tuple[Sequence[Parameter], Layout]] = {}


def _layout_of(parameters: Sequence[Parameter]) -> Layout:
    """The layout of some parameters, which is kept for tuples."""
    known = _layouts.get(id(parameters))
    if known is not None:
        return known[1]
    layout = _layout(parameters)
    if isinstance(parameters, tuple):
        _layouts[id(parameters)] = parameters, layout
    return layout


def _layout(parameters: Sequence[Parameter]) -> Layout:
    words = dict.fromkeys(SIGNATURE, 0)
    words["parameters"] = len(parameters)
    words["positional"] = sum(p.positional for p in parameters)
    words["arrays"] = arrays = sum(p.role in _ARRAYS for p in parameters)
    by_joint = [p.name for p in parameters if p.role is Role.BY_JOINT]
    words["by_joint"] = len(by_joint)
    roles = [p.role for p in parameters if p.positional]
    words["most"] = arrays + 1 if roles[arrays:] == [Role.OUT] else -1
    values, kept = [words[name] for name in SIGNATURE], list[object]()
    counts = dict.fromkeys(Role, 0)
    for p in parameters:
        name = sys.intern(p.name)
        kept += [name, p.default]
        default = 0 if p.default is REQUIRED else id(p.default)
        kind = Role.ARRAY if p.role in _ARRAYS else p.role
        if p.role is Role.OUT:
            values[SIGNATURE.index("out")] = id(name)
        values += [id(name) if name else 0, default, int(p.role), counts[kind]]
        counts[kind] += 1
    options = [(p.name, p.default) for p in parameters if p.role is Role.OPTION]
    defaults = tuple(default for _, default in options)
    first = all(p.role is Role.ARRAY for p in parameters[:arrays])
    return Layout(
        values,
        kept,
        [p.name for p in parameters],
        [(p.name, p.default) for p in parameters if p.role in _ARRAYS],
        by_joint,
        options,
        defaults,
        first and REQUIRED not in defaults,
    )


class Signature:
    """The words that the call entry of one callable reads.

    common: Address of the words that all callables share.
    parameters: In order; a call passes the arrays to its function in this order. A tuple is kept,
        and what follows from it.
    at_rest, optional: Pose, twist and acceleration of a base at rest, for a callable that has a
        base motion.
    """

    def __init__(
        self, common: int, parameters: Sequence[Parameter], at_rest: Sequence[Any] = ()
    ) -> None:
        self.layout = layout = _layout_of(parameters)
        values = [common, *layout.words[1:]]
        if at_rest:
            values[SIGNATURE.index("moving")] = 1
            values[len(SIGNATURE) - 3 : len(SIGNATURE)] = map(id, at_rest)
        self._words = (ctypes.c_int64 * len(values))(*values)
        self._kept: list[object] = [*at_rest, layout]
        self._blocks: list[Any] = []  # machine code may still read the earlier ones
        self._behind: list[tuple[object, ...]] = []
        self._known: set[object] = set()
        self._next = 0
        self._plain: object = None
        self._can_be_plain = layout.can_be_plain and not at_rest

    @staticmethod
    def fits(parameters: Sequence[Parameter]) -> bool:
        """Whether a callable is within the limits of the entry."""
        options = sum(p.role is Role.OPTION for p in parameters)
        return len(parameters) <= MAX_PARAMETERS and options <= MAX_OPTIONS

    @property
    def address(self) -> int:
        """Where the words stand as long as this object lives."""
        return ctypes.addressof(self._words)

    def add(
        self,
        table: Table,
        options: Mapping[str, object] | None = None,
        links: Sequence[str | bool | None] = (),
        *,
        look: FiniteCheck = FiniteCheck.NOWHERE,
        make: Callable[..., object] | None = None,
        made_of: int = 0,
        places: Sequence[int] = (),
        by_joint: int = 0,
        missing: Collection[str] = (),
    ) -> None:
        """Let calls with these options go to a function; does nothing if they already do.

        table: Of the function.
        options: Others have their default. Values that cannot be compared by identity are not
            added, nor are options that are no parameters.
        links: Names in the mappings, in order, with ``None`` between those of different parameters;
            of an array over all speeds, ``True`` for each number and ``False`` for each NaN.
        look: Where numbers are not finite, the slow way is asked.
        make, optional: Makes what is returned, of what the function gives and of the first
            arguments. It is always the same for a function and options.
        made_of: How many of the arguments that is.
        places: Where the number of each name goes, if any name of a mapping by joint is given.
        by_joint: How many inputs of the function, after the arrays, are filled from mappings by
            joint.
        missing: Those that such calls leave out.
        """
        given, layout = options or {}, self.layout
        values = tuple(given.get(name, default) for name, default in layout.options)
        if (
            len(links) > MAX_LINKS
            or not given.keys() <= {name for name, _ in layout.options}
            or not all(map(_constant, (*given.values(), *links)))
        ):
            return
        left_out = sum(1 << k for k, (name, _) in enumerate(layout.arrays) if name in missing)
        choice = (
            id(table), look, left_out, *map(_identity, values),
            "links", *map(_identity, links),
        )  # fmt: skip
        if choice in self._known:
            return
        if len(self._behind) < MAX_VARIANTS:
            self._make_room()
            self._behind.append(())
        index = self._place()
        if self._behind[index]:
            self._known.discard(self._behind[index][0])
        words = [id(value) for value in values] + [0] * (MAX_OPTIONS - len(values))
        words += [id(link) for link in links] + [0] * (MAX_LINKS - len(links))
        words += [*places] + [0] * (MAX_LINKS - len(places))
        maker = 0 if make is None else id(make)
        block, first = self._blocks[-1], index * len(VARIANT)
        block[first] = 0  # of what is replaced, nothing is read any more
        numbers = [int(look), maker, made_of, left_out, by_joint, len(links)]
        block[first + 1 : first + len(VARIANT)] = [*numbers, *words]
        self._behind[index] = (choice, table, make, *values, *links)
        block[first] = table.address
        self._words[SIGNATURE.index("variants")] = len(self._behind)
        self._known.add(choice)
        alone = list(links) == [None] * len(layout.by_joint) and not (by_joint or missing)
        if alone and values == layout.defaults:
            self._plain = choice
        if self._plain is choice and self._can_be_plain:
            self._kept += [table, make]
            plain = {"guarded": int(look), "make": maker, "made_of": made_of}
            for name, word in plain.items():
                self._words[SIGNATURE.index(f"plain_{name}")] = word
            self._words[SIGNATURE.index("plain")] = table.address

    def _place(self) -> int:
        """Where the next variant goes: over the oldest one, but never over the plain one."""
        index = self._next % MAX_VARIANTS
        if self._behind[index] and self._behind[index][0] is self._plain:
            index = (index + 1) % MAX_VARIANTS
        self._next = index + 1
        return index

    def _make_room(self) -> None:
        """A block of memory for one variant more."""
        count, size = len(self._behind), len(VARIANT)
        if self._blocks and (count + 1) * size <= len(self._blocks[-1]):
            return
        block = (ctypes.c_int64 * (max(1, 2 * count) * size))()
        if self._blocks:
            block[: count * size] = self._blocks[-1][: count * size]
        self._blocks.append(block)
        self._words[SIGNATURE.index("variants_at")] = ctypes.addressof(block)


def _constant(value: object) -> bool:
    """Never changes, so that what it stood for once it always stands for."""
    if type(value) is tuple:
        return all(map(_constant, value))
    return type(value) in _CONSTANT


def _identity(value: object) -> object:
    """Equal for values that are the same to the entry, and only for those."""
    if type(value) is tuple:
        return tuple(map(_identity, value))
    return value if type(value) is str else id(value)
