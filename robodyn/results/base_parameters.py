"""Base parameters: the combinations of inertial parameters that motions can identify."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Combinations of parameters that can be identified.

    ``regressor @ inertial_parameters`` equals ``regressor[..., columns] @ values``.

    Attributes
    ----------
    parameter_names : tuple of str
        Of all parameters: `Robot.parameter_names`, say.
    columns : ndarray of int, shape (r,)
        Parameters that stand for a combination.
    combination : ndarray, shape (r, number of parameters)
        ``values = combination @ inertial_parameters``.
    values : ndarray, shape (r,)

    Examples
    --------
    >>> import robodyn as rd
    >>> base = rd.load("double_pendulum").base_parameters()
    >>> len(base.columns), base.combination.shape[0]     # of 20 parameters
    (6, 6)
    """

    parameter_names: tuple[str, ...]
    columns: Array
    combination: Array
    values: Array

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return (
            f"<BaseParameters: {len(self)} combinations of {len(self.parameter_names)} parameters>"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the parameter that represents each combination."""
        return tuple(self.parameter_names[k] for k in self.columns)

    @property
    def expressions(self) -> tuple[str, ...]:
        """Each combination as text, such as ``"elbow.Izz + 0.25 tip.m"``."""
        return tuple(
            self._expression(column, row)
            for column, row in zip(self.columns, self.combination, strict=True)
        )

    def _expression(self, column: int, row: Array) -> str:
        text = self.parameter_names[column]
        for k in np.flatnonzero(row):
            if k != column:
                sign, size = "-" if row[k] < 0.0 else "+", abs(row[k])
                factor = "" if abs(size - 1.0) < 1e-9 else f"{size:.6g} "
                text += f" {sign} {factor}{self.parameter_names[k]}"
        return text
