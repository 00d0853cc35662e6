"""Methods of a robot for identification: inertial parameters and what of them can be seen."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.equations.tree.regressor import PARAMETERS, body_link, parameters_of
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import BaseParameters
from robodyn.robot_core import RobotCore
from robodyn.symbolic.evaluate import evaluate

__all__ = ["IdentificationMethods"]

Array = NDArray[Any]

#: Combinations below this part of the largest are not seen [relative singular value].
VISIBLE = 1e-9


class IdentificationMethods(RobotCore):
    """Inertial parameters; see `robodyn.Robot`."""

    @property
    def body_names(self) -> tuple[str, ...]:
        """Moving bodies, each by the link that its joint moves."""
        model = self._model.bodies
        return tuple(body_link(model, body) for body in model)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `inertial_parameters`: ``"link.m"``, ``"link.hx"``, ..., ``"link.Izz"``."""
        return tuple(f"{body}.{name}" for body in self.body_names for name in PARAMETERS)

    @cached_property
    def _parameters(self) -> Array:
        model = self._model.bodies
        return np.array([x for body in model for x in parameters_of(model, body)], float)

    @property
    def inertial_parameters(self) -> Array:
        """Ten numbers a moving body, shape (10 n,) [kg, kg m, kg m^2].

        ``m hx hy hz Ixx Ixy Iyy Ixz Iyz Izz``: mass, first moment, and inertia about the origin of
        the body's link in its axes. Links fixed to a body belong to it. Functions made with
        ``parameters=True`` take such an array as an input.
        """
        return self._parameters.copy()

    def regressor(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Matrix Y with ``Y @ inertial_parameters`` the rigid-body part of `inverse_dynamics`.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, a : array_like, shape (..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
        base : BaseMotion
            Of a robot with a moving base.

        Returns
        -------
        Y : ndarray, shape (..., nv, 10 n)

        Notes
        -----
        With ``passive=False`` the rigid-body part is all; damping, friction, springs and rotors do
        not depend on these parameters.
        """
        return self._call("regressor", (q, v, a), base, out)  # type: ignore[no-any-return]

    def base_parameters(self, rng: np.random.Generator | int | None = 0) -> BaseParameters:
        """Combinations of the inertial parameters that motions of this robot depend on.

        Parameters
        ----------
        rng : Generator or int
            For the random motions by which they are found.

        Returns
        -------
        parameters : BaseParameters

        Notes
        -----
        QR decomposition with column pivoting of the regressor over random motions
        [Gautier 1991].
        """
        from scipy.linalg import qr, solve_triangular

        generator = np.random.default_rng(rng)
        columns = len(self._parameters)
        count = 2 + 3 * columns // max(self.nv, 1)
        q = np.array([self.random(generator) for _ in range(count)])
        v, a = generator.normal(size=(2, count, self.nv))
        arrays = [q, v, a]
        if self.base == "moving":
            arrays += [self._random_poses(generator, count), *generator.normal(size=(2, count, 6))]
        Y = evaluate(self.function("regressor").program, *arrays)[0].reshape(-1, columns)
        R, order = qr(Y, mode="r", pivoting=True)
        diagonal = np.abs(np.diag(R))
        rank = int(np.sum(diagonal > VISIBLE * diagonal[0])) if diagonal[:1].any() else 0
        dependent = solve_triangular(R[:rank, :rank], R[:rank, rank:])
        combination = np.zeros((rank, columns))
        combination[np.arange(rank), order[:rank]] = 1.0
        combination[:, order[rank:]] = np.where(np.abs(dependent) > VISIBLE, dependent, 0.0)
        ordered = np.argsort(order[:rank])
        return BaseParameters(
            tuple(self.parameter_names),
            np.sort(order[:rank]),
            combination[ordered],
            combination[ordered] @ self._parameters,
        )

    @staticmethod
    def _random_poses(rng: np.random.Generator, count: int) -> Array:
        return BaseMotion.from_world(rng.normal(size=(count, 3)), rng.normal(size=(count, 4))).pose
