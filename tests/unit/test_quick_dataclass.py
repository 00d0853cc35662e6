"""Dataclasses of the library's own are those of Python, made in less time."""

import dataclasses
import pickle

import pytest

from robodyn.quick_dataclass import dataclass


def classes(decorator):
    """A class that is compared by its fields, one that is not, and one with a ``__repr__``."""

    @decorator(frozen=True)
    class Value:
        x: int
        names: tuple[str, ...] = ()
        hidden: float = dataclasses.field(default=1.0, repr=False, compare=False)

    @decorator(frozen=True, eq=False)
    class Node:
        x: int
        parts: list = dataclasses.field(default_factory=list)

    @decorator
    class Shown:
        x: int = 2

        def __repr__(self):
            return "shown"

    return Value, Node, Shown


OURS, THEIRS = classes(dataclass), classes(dataclasses.dataclass)


@pytest.mark.parametrize("given", [(1,), (1, ("a",)), (1, ("a",), 2.0)])
def test_values_are_those_of_python(given):
    ours, theirs = OURS[0](*given), THEIRS[0](*given)
    assert repr(ours) == repr(theirs) and hash(ours) == hash(theirs)
    assert ours == OURS[0](*given) and ours != dataclasses.replace(ours, x=3)
    assert dataclasses.astuple(ours) == dataclasses.astuple(theirs)
    assert [x.name for x in dataclasses.fields(ours)] == ["x", "names", "hidden"]


def test_objects_are_compared_by_identity_where_they_say_so():
    node, other = OURS[1](1), OURS[1](1)
    assert node != other and len({node, other}) == 2
    assert node.parts is not other.parts
    node.parts.append(node)
    assert repr(node).endswith("Node(x=1, parts=[...])")
    assert OURS[2].__dataclass_fields__.keys() == {"x"} and repr(OURS[2]()) == "shown"


def test_keywords_are_needed_where_python_needs_them():
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        OURS[0](1, y=2)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        OURS[0]()


@dataclass(frozen=True)
class Kept:
    x: int


def test_they_are_pickled():
    assert pickle.loads(pickle.dumps(Kept(1))) == Kept(1)
