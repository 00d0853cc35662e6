"""What files say of the kind of a joint: its word, its axes and its numbers."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.description import Vector
from robodyn.joints import KINDS
from robodyn.joints.common.kind import JointKind
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, local_name

__all__ = [
    "LOOP_WORDS",
    "TREE_WORDS",
    "constant_tags",
    "read_axes",
    "read_constants",
]

X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)


def _words(which: Callable[[JointKind], bool]) -> dict[str, JointKind]:
    """Kinds by all their words, names first."""
    kinds = [kind for kind in KINDS.values() if kind.in_files and which(kind)]
    names = {kind.name: kind for kind in kinds}
    return names | {word: kind for kind in kinds for word in kind.words}


#: Word -> kind, of joints of the tree.
TREE_WORDS = _words(lambda kind: kind.in_tree)

#: Word -> kind, of what closes loops; a floating joint would constrain nothing.
LOOP_WORDS = _words(lambda kind: kind.closes_loops)


def read_axes(reader: Reader, element: Element, kind: JointKind) -> tuple[Vector, Vector]:
    """First and second axis; kinds without have the default, since files often give them one."""
    axes = [X, Y]
    for k, name in enumerate(kind.axes):
        axes[k] = reader.axis(reader.only(element, name), axes[k])
    return axes[0], axes[1]


def constant_tags(kind: JointKind) -> set[str]:
    """Elements that hold the numbers of a kind."""
    return {
        tag
        for parameter in kind.parameters
        for tag in (parameter.name, *(spelling for spelling, _ in parameter.spellings))
    }


def read_constants(
    reader: Reader, element: Element, kind: JointKind, what: str
) -> dict[str, float]:
    """Numbers of a kind by name; one that is missing is a problem."""
    constants = {}
    for parameter in kind.parameters:
        child, divisor = reader.only(element, parameter.name), 1.0
        for spelling, other in parameter.spellings if child is None else ():
            found = [x for x in element if local_name(x) == spelling]
            if found:
                child, divisor = found[0], other
                break
        if child is None:
            reader.problem(
                element,
                f'a {kind} {what} needs <{parameter.name} value="..."/> in {parameter.unit}',
            )
        constants[parameter.name] = (
            0.0 if child is None else reader.number(child, "value") / divisor
        )
    return constants
