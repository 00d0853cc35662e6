"""`Identified`: the result of an identification."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia
from robodyn.equations.tree.regressor import PARAMETERS
from robodyn.html_tables import html_table
from robodyn.identification.bodies.consistent import body_of, inertia_in, possible
from robodyn.identification.data.measurements import Measurements, measured
from robodyn.identification.estimation.equations import described_parameters, equations
from robodyn.pictures.curves import Panel, draw
from robodyn.results import BaseParameters
from robodyn.robot import Robot
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Largest relative standard deviation of a base parameter that counts as known.
CERTAIN = 1.0 / 3.0

#: Below the printed table.
NOTE = "+-: two standard deviations by the noise of forces, not by that of positions"


@dataclass(frozen=True, eq=False)
class Identified:
    """Identified parameters of a robot, with error bars.

    Attributes
    ----------
    described : Robot
        The robot before.
    base : BaseParameters
        Names, expressions and estimated values of the base parameters.
    described_values : ndarray, shape (r,)
        What the description says of them.
    covariance : ndarray, shape (r, r)
        Of the estimates, by the noise of forces alone; infinite variances of those that the data do
        not excite.
    noise : ndarray, shape (u,) [N m, N]
        Standard deviation of the forces that are left, at each of ``rows``.
    rows : tuple of str
        Independent joints.
    parameters : dict of str to float
        All parameters that were asked for, by name; `robot` has them.
    unexcited : tuple of str
        Base parameters that the data do not excite; they stay as described.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> t = np.linspace(0, 2, 200)
    >>> q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=-1)
    >>> v = np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], axis=-1)
    >>> a = np.stack([-4 * np.sin(2 * t), -9 * np.cos(3 * t)], axis=-1)
    >>> found = rd.identify(robot, rd.Measurements(t, q, v, a, robot.inverse_dynamics(q, v, a)))
    >>> bool(np.abs(found.base.values - found.described_values).max() < 1e-9)
    True
    """

    described: Robot
    base: BaseParameters
    described_values: FloatArray
    covariance: FloatArray
    noise: FloatArray
    rows: tuple[str, ...]
    parameters: dict[str, float]
    unexcited: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Identified {self.described.name!r}: {len(self.base)} base parameters of "
            f"{len(self.parameters)} parameters>"
        )

    def __str__(self) -> str:
        """Table of the base parameters, with twice their standard deviations.

        It counts the noise of forces; what noise of positions does to the estimates is a bias, of
        which nothing is known from one motion.
        """
        width = max((len(name) for name in self.base.names), default=4)
        head = f"{'':{width}}  {'described':>11}  {'identified':>11}  {'+-':>9}"
        lines = [f"{n:{width}}  {x:11.5g}  {y:11.5g}  {s:9.2g}" for n, x, y, s in self._rows()]
        return "\n".join([head, *lines, NOTE])

    def _repr_html_(self) -> str:
        """The printed table, within a notebook."""
        title = f"Base parameters of {self.described.name}"
        head = ("", "described", "identified", "+-")
        return html_table(title, head, self._rows(), notes=[NOTE])

    def _rows(self) -> Iterator[tuple[str, float, float, float]]:
        """Of the printed table."""
        return zip(
            self.base.names,
            self.described_values.tolist(),
            self.base.values.tolist(),
            (2.0 * self.deviation).tolist(),
            strict=True,
        )

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation of each base parameter, shape (r,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def uncertain(self) -> tuple[str, ...]:
        """Base parameters whose standard deviation is above a third of their size."""
        limit = CERTAIN * np.abs(self.base.values)
        known = zip(self.base.names, self.deviation, limit, strict=True)
        return tuple(name for name, deviation, most in known if not deviation <= most)

    @property
    def impossible(self) -> tuple[str, ...]:
        """Bodies that no distribution of mass can be, and what is negative and cannot be.

        None, where consistent parameters were asked for.
        """
        p = described_parameters(self.described) | self.parameters
        owners = dict.fromkeys(name.rpartition(".")[0] for name in self.parameters)
        bodies = [x for x in owners if x in self.described.body_names]
        wrong = [x for x in bodies if not possible(np.array([p[f"{x}.{k}"] for k in PARAMETERS]))]
        beside = [x for x in self.parameters if x.rpartition(".")[2] not in PARAMETERS]
        return (*wrong, *(x for x in beside if self.parameters[x] < 0.0))

    @cached_property
    def robot(self) -> Robot:
        """The robot with the identified parameters; `robodyn.urdf.write` takes its ``mechanism``.

        Where some of them are `impossible`, it is one with ``allow_unphysical=True``.
        """
        if self.impossible:
            return self.described.with_(parameters=self.parameters, allow_unphysical=True)
        return self.described.with_(parameters=self.parameters)

    def inertia(self, frame: str) -> Inertia:
        """Inertia of the body that carries a frame, given in that frame.

        Parameters
        ----------
        frame : str
            A link, or a frame of a tool, on a body that moves.

        Raises
        ------
        UnknownNameError, SettingsError
        """
        body = body_of(self.described, frame)
        k = self.robot.body_names.index(body)
        return inertia_in(
            self.described, self.robot.inertial_parameters[10 * k : 10 * k + 10], frame
        )

    def predicted(self, data: Measurements | Trajectory) -> tuple[FloatArray, FloatArray]:
        """Measured forces, and forces predicted with the identified parameters.

        Parameters
        ----------
        data : Measurements or Trajectory
            Of another motion, for cross-validation.

        Returns
        -------
        measured, predicted : ndarray, shape (n, u) [N m, N]
            At each of ``rows``.
        """
        _, there, here, _ = self._forces(data)
        return there, here

    def error(self, data: Measurements | Trajectory) -> FloatArray:
        """Root mean square of the residual forces, relative to that of the forces, shape (u,).

        Parameters
        ----------
        data : Measurements or Trajectory
            Of another motion, for cross-validation.
        """
        there, here = self.predicted(data)
        size = np.sqrt((there**2).mean(axis=0))
        return np.asarray(np.sqrt(((there - here) ** 2).mean(axis=0)) / np.maximum(size, 1e-300))

    def plot(
        self,
        data: Measurements | Trajectory,
        path: str | os.PathLike[str] | None = None,
        *,
        axes: Any = None,
    ) -> Any:
        """Plot measured forces, and those of the identified and of the described robot.

        Parameters
        ----------
        data : Measurements or Trajectory
            Of another motion, for cross-validation.
        path : path, optional
            Image file to write. Default: show a window, where there is a display.
        axes : sequence of matplotlib axes, optional
            To draw into, one for each row.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError, ShapeError
        """
        t, *curves = self._forces(data)
        names = ("measured", "identified", "described")
        panels = [
            Panel(
                row,
                np.stack([curve[:, k] for curve in curves], axis=1),
                self._unit(row),
                names,
                beneath=("measured",),
            )
            for k, row in enumerate(self.rows)
        ]
        return draw(path, t, panels, axes=axes, title=f"forces of {self.described.name}")

    def _unit(self, row: str) -> str:
        """Unit of a force; both units for several degrees of freedom."""
        name, _, rest = row.partition("[")
        units = self.described.joints[name].kind.units
        return "N, N m" if rest else "N m" if "rad" in units else "N"

    def _forces(
        self, data: Measurements | Trajectory
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Times; measured forces, and those of the identified and of the described robot."""
        at = equations(self.described, measured(self.described, data))
        p = described_parameters(self.described)
        new = np.array([*(p | self.parameters).values()])
        return at.t, at.y, at.W @ new, at.W @ self.described.dynamic_parameters
