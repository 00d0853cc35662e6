"""A robot: what it is, and every quantity that can be computed of it.

A method is a thin dispatch to a compiled `Function`; the equations stand in `robodyn.equations`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import written
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot_core import Wrenches
from robodyn.robot_identification import IdentificationMethods
from robodyn.robot_minimal import MinimalMethods

__all__ = ["Robot"]

Array = NDArray[Any]


class Robot(MinimalMethods, IdentificationMethods):
    """A mechanism ready to compute with; made by `robodyn.load`, never changed.

    Shapes: ``q`` (..., nq), ``v``, ``a``, ``tau`` (..., nv) with any leading axes; units SI and
    radians. Each result has the leading axes of its arguments. All-float32 arguments are computed
    in float32.

    Attributes
    ----------
    name : str
    nq, nv : int
        Number of coordinates and of speeds.
    nc : int
        Number of constraint rows of closed loops.
    dof : int
        Mobility.
    base : str
        ``"fixed"``, ``"floating"`` or ``"moving"``.
    gravity : tuple of 3 floats [m/s^2]
    total_mass : float [kg]
        Of everything that moves (with a fixed base: without the base link).
    joint_names : tuple of str
        Joints with coordinates of their own, in the order of q and v.
    link_names, frame_names : tuple of str
    loops : tuple
        Closures.
    independent_joints, actuated_joints : tuple of str
    joints : mapping of str to JointInfo
    mechanism : Mechanism
        The description it was made from.
    lower_limits, upper_limits : ndarray, shape (nq,) [rad, m]
    velocity_limits : ndarray, shape (nv,) [rad/s, m/s]
    effort_limits : ndarray, shape (nv,) [N m, N]
    """

    # -- dynamics -----------------------------------------------------------------------------

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        actuated: Iterable[str] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Generalised forces that produce given accelerations.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, a : array_like, shape (..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
        wrenches : mapping of link name to array_like, shape (..., 6) [N, N m]
            External forces and moments about the link origins, in link axes.
        base : BaseMotion
            Of a robot with a moving base. Default: at rest.
        actuated : names of joints
            Where torque acts; for closed linkages. A tree needs, and takes, all of them.
        out : ndarray, shape (..., nv)
            Written to and returned.

        Returns
        -------
        tau : ndarray, shape (..., nv) [N m, N]

        Raises
        ------
        ShapeError, UnknownNameError, ActuationError

        Notes
        -----
        Recursive Newton-Euler [Featherstone 2008, table 5.1]; joint damping and friction included
        unless the robot was loaded with ``passive=False``.
        """
        if self.nc:
            return written(self._closed_inverse(q, v, a, wrenches, base, actuated), out)
        if actuated is not None:
            self._model.check_actuated(tuple(actuated))
        return self._call("inverse_dynamics", (q, v, a), base, out, wrenches)  # type: ignore

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: Any = None,
        out: Array | None = None,
    ) -> Array:
        """Accelerations under given generalised forces.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, tau : array_like, shape (..., nv) [rad/s, m/s], [N m, N]
        wrenches, base, out
            As in `inverse_dynamics`.
        stabilization : (alpha, beta), optional [1/s]
            Baumgarte's, for closed linkages [W 5.198]; a tree has no constraint to stabilise.

        Returns
        -------
        a : ndarray, shape (..., nv) [rad/s^2, m/s^2]

        Notes
        -----
        Articulated bodies or the factorised mass matrix, whichever takes fewer operations for this
        robot [Featherstone 2008, tables 7.1, 6.3].
        """
        if self.nc:
            return written(self._closed_forward(q, v, tau, wrenches, base, stabilization), out)
        return self._call("forward_dynamics", (q, v, tau), base, out, wrenches)  # type: ignore

    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Mass matrix M, shape (..., nv, nv) [kg m^2, kg m, kg], of positions ``q`` (..., nq)."""
        return self._call("mass_matrix", (q,), None, out)  # type: ignore[no-any-return]

    def mass_matrix_inverse(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Inverse of the mass matrix, shape (..., nv, nv)."""
        return self._call("mass_matrix_inverse", (q,), None, out)  # type: ignore[no-any-return]

    def bias_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Generalised forces at zero acceleration, shape (..., nv) [N m, N]."""
        return self._call("bias_forces", (q, v), base, out, wrenches)  # type: ignore

    def gravity_forces(
        self, q: ArrayLike, *, base: BaseMotion | None = None, out: Array | None = None
    ) -> Array:
        """Generalised forces that hold the robot up, shape (..., nv) [N m, N]."""
        return self._call("gravity_forces", (q,), base, out)  # type: ignore[no-any-return]

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Coriolis matrix C in Christoffel form, shape (..., nv, nv): ``dM/dt - 2 C`` is skew."""
        return self._call("coriolis_matrix", (q, v), None, out)  # type: ignore[no-any-return]

    def passive_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Generalised forces of damping, friction and springs, shape (..., nv) [N m, N]."""
        return self._call("passive_forces", (q, v), base, out)  # type: ignore[no-any-return]

    # -- centre of mass, energies, momentum ---------------------------------------------------

    def center_of_mass(
        self, q: ArrayLike, *, base: BaseMotion | None = None, out: Array | None = None
    ) -> Array:
        """Centre of mass of everything that moves, in the world, shape (..., 3) [m]."""
        return self._call("center_of_mass", (q,), base, out)  # type: ignore[no-any-return]

    def kinetic_energy(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Kinetic energy, shape (...) [J]."""
        return self._call("kinetic_energy", (q, v), base, out)  # type: ignore[no-any-return]

    def potential_energy(
        self, q: ArrayLike, *, base: BaseMotion | None = None, out: Array | None = None
    ) -> Array:
        """Potential energy of gravity and springs, shape (...) [J].

        Zero with all mass at the world origin and all springs relaxed.
        """
        return self._call("potential_energy", (q,), base, out)  # type: ignore[no-any-return]

    def momentum(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Linear and angular momentum about the centre of mass, world axes, shape (..., 6)."""
        return self._call("momentum", (q, v), base, out)  # type: ignore[no-any-return]

    def centroidal_matrix(
        self, q: ArrayLike, *, base: BaseMotion | None = None, out: Array | None = None
    ) -> Array:
        """Matrix A with momentum = A v (base at rest), shape (..., 6, nv)."""
        return self._call("centroidal_matrix", (q,), base, out)  # type: ignore[no-any-return]
