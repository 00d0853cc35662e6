"""`Comparison`: the result of a comparison of controllers, with linear models of their loops."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError
from robodyn.html_tables import html_table
from robodyn.pictures.curves import Panel, draw
from robodyn.robot import Robot
from robodyn.simulation.control.controller import without_sampling
from robodyn.simulation.linear_loop.closed_loop_model import closed_loop_model
from robodyn.simulation.loads.prescribed_loads import BaseAt
from robodyn.state_space import Margins, StateSpace
from robodyn.studies.sweep.table import SweepTable


@dataclass(frozen=True, eq=False)
class Loops:
    """The loops of several controllers at rest in a posture; models are made when asked for.

    t, step [s]: Time at which references are asked, and of which steps controllers without a period
        are sampled.
    """

    robot: Robot
    controllers: Mapping[str, Any]
    posture: FloatArray
    base: BaseAt | None
    t: float
    step: float

    @cached_property
    def models(self) -> Mapping[str, StateSpace]:
        """Linear models by controller, of those that have one there."""
        found = {}
        base = None if self.base is None else self.base(self.t)
        for name, controller in self.controllers.items():
            try:
                dt = None if without_sampling(controller)[1] else self.step
                found[name] = closed_loop_model(
                    self.robot, controller, self.posture, dt=dt, base=base, t=self.t
                )
            except (RobodynError, np.linalg.LinAlgError):
                continue
        return MappingProxyType(found)

    @cached_property
    def margins(self) -> Mapping[str, Mapping[str, Margins]]:
        """Margins at each motor by controller."""
        return MappingProxyType({name: x.margins() for name, x in self.models.items()})

    def lines(self) -> list[list[str]]:
        """Lines of a table: stability, and the least margins with their motors."""
        if not self.models:
            return []
        rows: dict[str, list[str]]
        rows = {"closed loop": [], "phase margin [deg]": [], "sensitivity": []}
        for name in self.controllers:
            model, at = self.models.get(name), self.margins.get(name, {})
            rows["closed loop"].append("-" if model is None else model.stability)
            phases = {x: np.degrees(m.phase) for x, m in at.items()}
            peaks = {x: -m.sensitivity for x, m in at.items()}
            rows["phase margin [deg]"].append(_least_margin(phases))
            rows["sensitivity"].append(_least_margin(peaks).removeprefix("-"))
        return [[label, *cells] for label, cells in rows.items()]


def _least_margin(found: Mapping[str, float]) -> str:
    """The least of some numbers, and its name."""
    if not found:
        return "-"
    name = min(found, key=lambda x: found[x])
    return f"{found[name]:.3g} {name.removeprefix('tau:')}"


#: Largest number of failures that the printed table describes; it counts all of them.
SHOWN = 3

Summary = Callable[[FloatArray, tuple[str, ...]], str]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Measures of several controllers from the same starts; ``print`` shows them side by side.

    ``comparison["error_max"]`` has one number a controller, a start, and a joint or frame. Where a
    motion failed stands NaN. The results:

    ================================ =====================================================
    ``error_rms`` ``error_max``      by motor [rad, m]: root of the mean square over time, and
                                     largest, of reference less position
    ``total_error_rms`` ``..._max``  of the norm over motors, of rad and m as they are
    ``place_rms`` ``place_max``      by frame of the task [m]: distance of its origin
    ``turn_rms`` ``turn_max``        by frame of the task [rad]: angle between orientations
    ``effort`` ``total_effort``      by motor, and their norm [N m, N]: root of the mean square
                                     of torques at the joints
    ``peak_motor_torque``            by motor [N m, N]: largest at its own shaft
    ``peak_power``                   by motor [W]; ``total_peak_power``: of all together
    ``peak_force`` ``peak_moment``   by joint of ``loads`` [N], [N m]: largest that its parent
                                     exerts, about the origin of the child
    ``torque_margin``                by motor: part of the limit that is never used; negative:
    ``velocity_margin``              it is passed; infinite: there is none
    ``position_margin``              by motor [rad, m]: least distance from a limit
    ``error`` ``torques``            over time: norms over motors
    ================================ =====================================================

    Attributes
    ----------
    table : SweepTable
        Over ``controller`` and ``start``.
    robot_name : str
    t : ndarray, shape (n,) [s]
    motors : tuple of str
        Speeds of joints with motors, ``"joint[k]"`` where a joint has several.
    frames : tuple of str
        Of the task.
    loads : tuple of str
        Joints whose wrenches were measured.
    q0, v0 : ndarray, shape (starts, nq), (starts, nv)
        The starts.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import ComputedTorque, GravityCompensation, PointToPoint
    >>> arm = rd.load("double_pendulum")
    >>> reference = PointToPoint(np.zeros(2), np.ones(2), 0.5)
    >>> both = {"none": GravityCompensation(arm), "torque": ComputedTorque(arm, reference)}
    >>> result = rd.compare(arm, both, reference=reference, starts=1)
    >>> bool(result["total_error_rms"][1, 0] < 1e-3 < result["total_error_rms"][0, 0])
    True
    """

    table: SweepTable
    robot_name: str
    t: FloatArray = field(repr=False)
    motors: tuple[str, ...]
    frames: tuple[str, ...]
    loads: tuple[str, ...]
    q0: FloatArray
    v0: FloatArray
    _loops: Loops = field(repr=False)

    @property
    def models(self) -> Mapping[str, StateSpace]:
        """Linear models of the closed loops by controller: `robodyn.closed_loop_model`.

        At rest where the reference ends, or at the first start without one; controllers without a
        period are sampled at the steps. A controller that has no model there is left out.
        """
        return self._loops.models

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names, in the order given."""
        return tuple(self.table.coords["controller"].tolist())

    @property
    def failures(self) -> Mapping[tuple[str, int], str]:
        """Error messages of motions that failed, by controller and start."""
        starts = len(self.q0)
        return MappingProxyType(
            {
                (self.controllers[row // starts], row % starts): why
                for row, why in self.table.failures.items()
            }
        )

    def __getitem__(self, name: str) -> FloatArray:
        """A result, shape (controllers, starts, ...)."""
        return np.asarray(self.table[name])

    def __repr__(self) -> str:
        return (
            f"<Comparison of {len(self.controllers)} controllers of {self.robot_name!r} from "
            f"{len(self.q0)} starts, {len(self.failures)} motions failed>"
        )

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ("  ".join(x.ljust(n) for x, n in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([*(row.rstrip() for row in rows), *self._failed()])

    def _repr_html_(self) -> str:
        """The printed table, within a notebook."""
        head, *rows = self._lines()
        title, starts = f"Controllers of {self.robot_name}", f"{len(self.q0)} starts"
        return html_table(title, head, rows, facts=[starts], notes=self._failed())

    def _lines(self) -> list[list[str]]:
        """The printed table: names of controllers, then a line for each measure."""
        lines = [["", *self.controllers]]
        for label, name, names, summary in _LINES:
            if name in self.table.names:
                of = () if names is None else getattr(self, names)
                lines.append([label, *(summary(x, of) for x in self[name])])
        lines += self._loops.lines()
        failed = (~self.table.done).sum(axis=1)
        lines.append(["failed", *(f"{k} of {len(self.q0)}" for k in failed)])
        return lines

    def _failed(self) -> list[str]:
        """Why motions failed, the first ones."""
        failures = [f"{name}, start {k}: {why}" for (name, k), why in self.failures.items()]
        more = [f"and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        return [*failures[:SHOWN], *more]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: one line a motion, arrays as columns ``name[k]``.

        Raises
        ------
        MissingExtraError
            If pandas is not installed (extra ``pandas``).
        """
        return self.table.to_pandas()

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Any = None) -> Any:
        """Show the norms of errors and torques over time, or draw them into an image file.

        A colour for each controller, a curve for each start; of more than eight starts the median
        within a band from 5 to 95 %.

        Parameters
        ----------
        path : path, optional
            Default: show a window, where there is a display.
        axes : sequence of matplotlib axes, optional
            To draw into.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError
        """
        known = {
            "error": ("norm of errors", "rad, m"),
            "torques": ("norm of torques", "N m, N"),
        }
        panels = [
            Panel(label, np.moveaxis(self[name], (0, 1, 2), (2, 1, 0)), unit, self.controllers)
            for name, (label, unit) in known.items()
            if name in self.table.names
        ]
        return draw(path, self.t, panels, axes=axes, title=self.robot_name)


def _mean(x: FloatArray, names: tuple[str, ...]) -> str:
    """Mean over all starts that did not fail."""
    there = x[~np.isnan(x)]
    return f"{there.mean():.3g}" if there.size else "-"


def _largest(x: FloatArray, names: tuple[str, ...]) -> str:
    """Largest value over all starts, and the name of its motor, joint or frame."""
    return "-" if np.isnan(x).all() else _named(x, names, int(np.nanargmax(x)))


def _least(x: FloatArray, names: tuple[str, ...]) -> str:
    """Smallest value over all starts, and the name of its motor."""
    if np.isnan(x).all():
        return "-"
    return _named(x, names, int(np.nanargmin(x))) if np.isfinite(np.nanmin(x)) else "no limit"


def _named(x: FloatArray, names: tuple[str, ...], k: int) -> str:
    return f"{x.flat[k]:.3g} {names[k % x.shape[-1]]}"


#: Lines of the printed table: label, result, names along its last axis, how it is summarised.
_LINES: tuple[tuple[str, str, str | None, Summary], ...] = (
    ("error, rms [rad, m]", "total_error_rms", None, _mean),
    ("largest error [rad, m]", "error_max", "motors", _largest),
    ("distance, rms [m]", "place_rms", None, _mean),
    ("largest distance [m]", "place_max", "frames", _largest),
    ("largest angle [rad]", "turn_max", "frames", _largest),
    ("effort, rms [N m, N]", "total_effort", None, _mean),
    ("largest motor torque [N m, N]", "peak_motor_torque", "motors", _largest),
    ("largest power [W]", "peak_power", "motors", _largest),
    ("largest force in a joint [N]", "peak_force", "loads", _largest),
    ("largest moment in a joint [N m]", "peak_moment", "loads", _largest),
    ("torque margin", "torque_margin", "motors", _least),
    ("velocity margin", "velocity_margin", "motors", _least),
    ("position margin [rad, m]", "position_margin", "motors", _least),
)
