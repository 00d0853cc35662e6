"""What is wrong in the place of a good value, by the kind of what a parameter takes."""

from typing import Any

import numpy as np

DATE = np.datetime64("2020-01-01")
HUGE = 10**400


class Anything:
    """An object that is nothing that a robot knows."""

    def __repr__(self) -> str:
        return "<anything>"


ANYTHING = Anything()


def _not_real(good: Any) -> list[Any]:
    """Arrays of this shape that hold no real numbers, NaN at the end."""
    x = np.array(good, float)
    if not x.size:
        return []
    hidden = np.ma.array(x, mask=np.ones(x.shape, bool))
    return [x + 1j, np.full(x.shape, DATE), x.astype(str), hidden, x * np.nan]


def anything(good: Any) -> list[Any]:
    """Of what takes any object: nothing is wrong here."""
    return []


def array(good: Any) -> list[Any]:
    """Of an array of this shape: with one number more, too."""
    x = np.array(good, float)
    longer = np.zeros((*x.shape[:-1], x.shape[-1] + 1)) if x.ndim else np.zeros((2, 3, 5))
    ragged = [[1.0], [1.0, 2.0]]
    return [*_not_real(x), longer, "abc", ANYTHING, {}, ragged, [HUGE] * max(x.size, 1)]


def level(good: Any) -> list[Any]:
    """Of a number for all, or one for each."""
    return [*_not_real(good), np.ones((3, 17)), "abc", "1", ANYTHING, {}, HUGE]


def of_any_size(good: Any) -> list[Any]:
    """Of an array whose size is looked at later."""
    return [*_not_real(good), "abc", ANYTHING, {}]


def samples(good: Any) -> list[Any]:
    """Of rows of any length."""
    return [*of_any_size(good), 3.0, np.zeros((2, 3, 4))]


def by_joint(good: Any) -> list[Any]:
    """Of an array over speeds, in which NaN stands for none, or a mapping by joint."""
    wrong = [x for k, x in enumerate(array(good)) if k != 4 and not isinstance(x, dict)]
    return [*wrong, {"nosuch": 1.0}, {5: 1.0}]


def number(good: Any) -> list[Any]:
    date, mask, two = DATE, np.ma.masked, [1.0, 2.0]
    return ["abc", "1", np.nan, 1 + 1j, np.complex128(1j), two, date, mask, ANYTHING, HUGE, {}]


def whole(good: Any) -> list[Any]:
    return ["abc", "3", np.nan, 1.5, 1j, ANYTHING, [1, 2], np.inf, DATE]


def count(good: Any) -> list[Any]:
    return [*whole(good), -3]


def seed(good: Any) -> list[Any]:
    """Of a seed, which may be a sequence."""
    return ["abc", "3", np.nan, 1.5, 1j, ANYTHING, np.inf, DATE, -3]


def truth(good: Any) -> list[Any]:
    return ["false", "", np.nan, 2, ANYTHING, [True], 1j, np.array([True, False])]


def name(good: Any) -> list[Any]:
    """Of a name that is free to choose."""
    return [5, ANYTHING, np.nan, ["nosuch"], {}, b"abc"]


def choice(good: Any) -> list[Any]:
    """Of a name that has to exist."""
    return [*name(good), "nosuch", "", [good]]


def names(good: Any) -> list[Any]:
    return [["nosuch"], "nosuch", 5, ANYTHING, [5], [None], [["a"]], np.nan, [*good, "nosuch"]]


def unknown_names(good: Any) -> list[Any]:
    """Of names that are looked for later."""
    return [5, ANYTHING, [5], [None], [["a"]], np.nan]


def indices(good: Any) -> list[Any]:
    return ["abc", 5, ANYTHING, np.nan, [np.nan], [99], [-1], ["x"], [1.5], [[0]]]


def instance(good: Any) -> list[Any]:
    return ["abc", 5, ANYTHING, np.nan, [1.0], {"a": 1}]


def function(good: Any) -> list[Any]:
    return instance(good)


def objects(good: Any) -> list[Any]:
    """Of several objects."""
    return [*instance(good), [ANYTHING]]


def mapping(good: Any) -> list[Any]:
    """Of values by name; the names have to exist, and each value is tried by itself."""
    (_, value), *_ = good.items()
    return ["abc", 5, ANYTHING, np.nan, [1.0], {"nosuch": value}, {5: value}]


def arrays_by_name(good: Any) -> list[Any]:
    (key, value), *_ = good.items()
    return [*mapping(good), *({key: wrong} for wrong in (*array(value), None))]


def objects_by_name(good: Any) -> list[Any]:
    ((key, _),) = good.items()
    return [*mapping(good), *({key: wrong} for wrong in (*instance(None), None))]
