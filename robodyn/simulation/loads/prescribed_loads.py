"""Prescribed loads of a motion: the motion of the base, and external wrenches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import numbers
from robodyn.errors import SettingsError, ShapeError
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.motion.functions import TimeFunction

#: Function from time [s] to the motion of the base.
BaseAt = Callable[[float], BaseMotion]

#: (t, q, v) -> external wrenches by link [N, N m].
WrenchesAt = Callable[[float, FloatArray, FloatArray], Mapping[str, ArrayLike]]

#: The same, or t -> external wrenches by link [N, N m].
WrenchFunction = WrenchesAt | Callable[[float], Mapping[str, ArrayLike]]


@dataclass(frozen=True, eq=False)
class PrescribedLoads:
    """Functions of time, or constant wrenches, which are known at any instant.

    base: Motion of a moving base.
    wrenches: External wrenches by link, as `robodyn.simulate` takes them. Whenever they are needed,
        a function is called for each state.
    """

    base: BasePath | None = None
    wrenches: Mapping[str, FloatArray] | WrenchesAt = field(default_factory=dict)

    def __getitem__(self, index: Any) -> PrescribedLoads:
        return self

    def for_motion(self, *k: int) -> PrescribedLoads:
        """The loads of one of many motions, by its index; functions are the same for all."""
        wrenches = self.wrenches
        if callable(wrenches) or all(x.ndim == 1 for x in wrenches.values()):
            return self
        own = {link: x[k[len(k) + 1 - x.ndim :]] for link, x in wrenches.items()}
        return PrescribedLoads(self.base, own)

    def at_samples(self, t: FloatArray, q: FloatArray, v: FloatArray) -> PrescribedLoads:
        """The same for other samples."""
        return self

    def sampled(self, t: FloatArray, q: FloatArray, v: FloatArray) -> PrescribedLoads | Sampled:
        """The values at samples, shape (n,) or () for one; itself if there are no functions."""
        if self.base is None and not callable(self.wrenches):
            return self
        one = not t.ndim
        t, q, v = (x[None] for x in (t, q, v)) if one else (t, q, v)
        everywhere = (*q.shape[:-1], 6)
        wrenches = {
            link: np.broadcast_to(x, everywhere) for link, x in self.wrenches_at(t, q, v).items()
        }
        found = Sampled(t, self.base_at(t), wrenches)
        return found[0] if one else found

    def base_at(self, t: FloatArray) -> BaseMotion | None:
        """Motion of the base, shape (n, ...); ``None`` where it does not move."""
        return None if self.base is None else self.base.at(t)

    def wrenches_at(self, t: FloatArray, q: FloatArray, v: FloatArray) -> dict[str, FloatArray]:
        """External wrenches by link, shape (n, ..., 6) or one that is the same for all samples."""
        if not callable(self.wrenches):
            return {link: np.asarray(x, float) for link, x in self.wrenches.items()}
        rows = [
            self.wrenches(time, *(x.copy() for x in state))
            for time, *state in zip(t.tolist(), q, v, strict=True)
        ]
        links = dict.fromkeys(link for row in rows for link in row)
        zero = np.zeros((*q.shape[1:-1], 6))
        found = {
            link: [np.asarray(row.get(link, zero), float) + zero for row in rows] for link in links
        }
        return {link: np.stack(values) for link, values in found.items()}


@dataclass(frozen=True, eq=False)
class Sampled:
    """Loads that are known at samples only, such as those of a file.

    They are interpolated: the motion of the base by a smooth path, wrenches linearly.

    Attributes
    ----------
    t : ndarray, shape (n,) [s]
    base : BaseMotion or None
        At each sample.
    wrenches : mapping of str to ndarray, shape (n, ..., 6) [N, N m]
    """

    t: FloatArray
    base: BaseMotion | None
    wrenches: Mapping[str, FloatArray]

    def __getitem__(self, index: Any) -> Sampled:
        base = self.base and BaseMotion(*(x[index] for x in self.base.parts))
        return Sampled(self.t[index], base, {link: x[index] for link, x in self.wrenches.items()})

    def for_motion(self, *k: int) -> Sampled:
        """The same on one of many motions, by its place among them."""
        at: Any = (slice(None), *k)
        return Sampled(self.t, self.base, {link: x[at] for link, x in self.wrenches.items()})

    def sampled(self, t: FloatArray, q: FloatArray, v: FloatArray) -> Sampled:
        """Itself: it has no functions."""
        return self

    def at_samples(self, t: FloatArray, q: FloatArray, v: FloatArray) -> Sampled:
        """The same for other samples."""
        return Sampled(t, self.base_at(t), self.wrenches_at(t, q, v))

    def base_at(self, t: FloatArray) -> BaseMotion | None:
        """Motion of the base, shape (n, ...); ``None`` where it does not move."""
        if self.base is None or np.array_equal(t, self.t):
            return self.base
        return self._path.at(t)

    def wrenches_at(self, t: FloatArray, q: FloatArray, v: FloatArray) -> dict[str, FloatArray]:
        """External wrenches by link, shape (n, ..., 6)."""
        if np.array_equal(t, self.t):
            return dict(self.wrenches)
        last = np.clip(np.searchsorted(self.t, t, side="right"), 1, len(self.t) - 1)
        length = self.t[last] - self.t[last - 1]
        part = np.where(length > 0.0, t - self.t[last - 1], 0.0) / np.where(length > 0, length, 1.0)
        found = {}
        for link, x in self.wrenches.items():
            s = part.reshape(len(t), *[1] * (x.ndim - 1))
            found[link] = (1.0 - s) * x[last - 1] + s * x[last]
        return found

    @cached_property
    def _path(self) -> BasePath:
        from scipy.spatial.transform import Rotation

        assert self.base is not None
        t, first = np.unique(self.t, return_index=True)
        if len(t) < 2:
            raise SettingsError(
                "how the base moves between samples is not known from a single one: keep more"
            )
        pose = self.base.pose[first]
        quats = Rotation.from_matrix(pose[:, :3, :3]).as_quat()
        return BasePath.from_samples(t, pose[:, :3, 3], quats)


Surroundings = PrescribedLoads | Sampled


@dataclass(frozen=True, eq=False)
class WrenchesOfTime:
    """Wrenches of which the function takes the time alone.

    links: Links on which they act at any instant.
    """

    function: TimeFunction
    links: tuple[str, ...]

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> Any:
        """What the function returns."""
        return self.function(t)

    def at(self, t: FloatArray) -> dict[str, FloatArray]:
        """Wrenches at instants, shape (n,) [s]: arrays of shape (n, 6) [N, N m].

        Raises ShapeError: For what is no wrench, and for links on which none acts at instants
            between steps.
        """
        known: dict[float, list[FloatArray]] = {}
        for x in t.tolist():
            if x not in known:
                known[x] = self._row(x)
        rows = np.array([known[x] for x in t.tolist()]).reshape(len(t), len(self.links), 6)
        return {link: np.ascontiguousarray(rows[:, k]) for k, link in enumerate(self.links)}

    def _row(self, t: float) -> list[FloatArray]:
        given = _asked(self.function, t)
        for link in given:
            if link not in self.links:
                raise ShapeError(
                    f"a wrench acts on {link!r} at t = {t:.6g} s, and on other links between steps:"
                    " return zeros for it elsewhere",
                    name="wrenches",
                )
        return [given.get(link, _NONE) for link in self.links]


_NONE = np.zeros(6)


def wrenches_of_time(function: TimeFunction, times: FloatArray) -> WrenchesOfTime | None:
    """Wrenches at all times, of a function of time that is called beforehand; ``None`` if it fails.

    times (n,) [s]: Ends of steps.
    """
    links: dict[str, None] = {}
    try:
        for t in times.tolist():
            links |= dict.fromkeys(_asked(function, t))
    except Exception:  # of the user's function: motions that ask for it step by step say when
        return None
    return WrenchesOfTime(function, tuple(links))


def _asked(function: TimeFunction, t: float) -> Mapping[str, FloatArray]:
    """Copies of the wrenches at an instant."""

    def copy(link: str, x: Any) -> FloatArray:
        return np.array(numbers(f"wrench:{link}", x), float)

    return wrenches_by_link(function(t), f"at t = {t:.6g} s", copy)


def wrenches_by_link(
    given: Any, when: str, array: Callable[[str, Any], FloatArray]
) -> dict[str, FloatArray]:
    """What a function of wrenches returned, as arrays of shape (6,) by link.

    when: For errors.
    array: Makes the array of a link.
    Raises ShapeError: If it is anything else.
    """
    told = "wrenches", given, "a mapping of link name to six numbers"
    if isinstance(given, Mapping):
        found = {link: array(link, x) for link, x in given.items()}
        wrong = next((link for link, x in found.items() if x.shape != (6,)), None)
        if wrong is None:
            return found
        told = f"wrench:{wrong}", found[wrong], "shape (6,)"
    name, x, expected = told
    is_what = f"has shape {x.shape}" if isinstance(x, np.ndarray) else f"is {type(x).__name__}"
    raise ShapeError(
        f"{name} {when} {is_what}, expected {expected} [N, N m]", name="wrenches", given=x
    )
