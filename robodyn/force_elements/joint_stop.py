"""Compliant stops at the limits of joints [Hunt, Crossley 1975]."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.arguments import check_fields
from robodyn.errors import SettingsError
from robodyn.force_elements.common.joint_element import JointElement
from robodyn.symbolic.scalar import Number, maximum


@dataclass(frozen=True)
class CompliantStops:
    """Springs and dampers beyond the limits of joints.

    The force is ``stiffness * depth * (1 + damping * rate of depth)`` away from the stop, and never
    negative [Hunt, Crossley 1975]. Like a spring in a joint, it is part of the mechanism. A joint
    that meets its stop at a small speed ``u`` leaves it with about ``(1 - 2 / 3 damping u) u``.

    Attributes
    ----------
    stiffness : float, or mapping of joint name to float [N m/rad, N/m]
        A single number is that of all joints with limits, without those that are cut.
    damping : float [s/rad, s/m]

    Raises
    ------
    SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> stops = rd.CompliantStops(stiffness=1e3)
    >>> robot = rd.load("puma560").with_(stops=stops)
    >>> beyond = robot.upper_limits + 0.01
    >>> bool(abs(robot.passive_forces(beyond, [0.0] * 6) + 10.0).max() < 1e-6)     # 1e3 * 0.01
    True
    """

    stiffness: float | Mapping[str, float]
    damping: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        if isinstance(self.stiffness, Mapping):
            object.__setattr__(self, "stiffness", dict(self.stiffness))
        given: list[Any] = [*self.named.values()] or [self.stiffness]
        for number in given:
            if not (_is_number(number) and 0.0 < number < math.inf):
                raise SettingsError(f"stiffness is {number!r}, expected a positive number")
        if not (_is_number(self.damping) and 0.0 <= self.damping < math.inf):
            raise SettingsError(f"damping is {self.damping!r}, expected a number >= 0")

    @property
    def named(self) -> dict[str, float]:
        """Stiffness by the names of joints; empty if all joints have the same."""
        return dict(self.stiffness) if isinstance(self.stiffness, Mapping) else {}

    def of(self, joints: Iterable[str]) -> dict[str, float]:
        """Stiffness by joint: of these joints, or of those that were named.

        Parameters
        ----------
        joints : names of joints
        """
        if isinstance(self.stiffness, Mapping):
            return self.named
        return dict.fromkeys(joints, self.stiffness)


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float | np.number)


class _Stop:
    numbers: tuple[str, ...] = ("stop_stiffness",)
    beside: tuple[str, ...] = ("stop_damping",)
    passive = False  # limits belong to the joint itself
    keeps_coordinate = False
    elastic = True

    def forces(
        self, joint: Any, q: Sequence[Number], v: Sequence[Number], friction_speed: Number | None
    ) -> Sequence[Number]:
        if not joint.stop_stiffness:
            return ()
        (below, above), c = _depths(joint, q[0]), joint.stop_damping
        push = below * maximum(1.0 - v[0] * c, 0.0) - above * maximum(1.0 + v[0] * c, 0.0)
        return [joint.stop_stiffness * push]

    def energy(self, joint: Any, q: Sequence[Number]) -> Number:
        if not joint.stop_stiffness:
            return 0.0
        below, above = _depths(joint, q[0])
        k: Number = joint.stop_stiffness
        return (below * below + above * above) * (0.5 * k)


def _depths(joint: Any, x: Number) -> tuple[Number, Number]:
    """Depth of a joint in its lower and its upper stop; zero outside [rad, m]."""
    lower, upper = (
        (joint.limits.lower, joint.limits.upper) if joint.limits else (-math.inf, math.inf)
    )
    below = maximum(lower - x, 0.0) if lower != -math.inf else 0.0
    above = maximum(x - upper, 0.0) if upper != math.inf else 0.0
    return below, above


JOINT_ELEMENT: JointElement = _Stop()
