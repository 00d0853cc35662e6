"""A robot: what it is, and every quantity that can be computed of it.

A method is a thin dispatch to a compiled `Function`; the equations stand in `robodyn.equations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn import configuration
from robodyn.base_motion import BaseMotion
from robodyn.codegen import Function, fast_method
from robodyn.description import Inertia, Mechanism
from robodyn.equations.catalogue import QUANTITIES, trace
from robodyn.equations.momentum import total_mass
from robodyn.errors import ShapeError, SingularError, UnknownNameError
from robodyn.model import JointInfo, Model, Settings, build_model, changed

__all__ = ["Robot"]

Array = NDArray[Any]
Wrenches = Mapping[str, ArrayLike]


class Robot:
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

    def __init__(self, mechanism: Mechanism, settings: Settings) -> None:
        self._model: Model = build_model(mechanism, settings)
        self._functions: dict[Any, Function] = {}
        self._euclidean = all(
            block.kind not in ("spherical", "floating", "planar") for block in self._model.blocks
        )

    def __repr__(self) -> str:
        return (
            f"<Robot {self.name!r}: {len(self.joint_names)} joints, nq = {self.nq}, "
            f"nv = {self.nv}, {self.base} base>"
        )

    def __reduce__(self) -> Any:
        return Robot, (self._model.mechanism, self._model.settings)

    def with_(
        self,
        *,
        payload: Mapping[str, Inertia] | None = None,
        locked: Mapping[str, float] | None = None,
        **settings: Any,
    ) -> Robot:
        """A changed copy.

        Parameters
        ----------
        payload : mapping of link name to Inertia
            Carried by the link in addition to its own mass; given in the link frame.
        locked : mapping of joint name to position [rad or m]
            Joints welded there.
        **settings
            ``gravity``, ``base``, ``passive``, ``friction_speed``, ``snap`` as in `robodyn.load`.

        Raises
        ------
        UnknownNameError
            For links and joints that do not exist.
        """
        mechanism = changed(self._model.mechanism, payload or {}, locked or {})
        return Robot(mechanism, self._model.settings.replaced(settings))

    # -- what it is ---------------------------------------------------------------------------

    name = property(lambda self: self._model.mechanism.name)
    mechanism = property(lambda self: self._model.mechanism)
    nq = property(lambda self: self._model.bodies.nq)
    nv = property(lambda self: self._model.bodies.nv)
    nc = property(lambda self: 0)
    dof = property(lambda self: self._model.bodies.nv)
    base = property(lambda self: self._model.settings.base)
    gravity = property(lambda self: self._model.settings.gravity)
    joint_names = property(lambda self: self._model.joint_names)
    link_names = property(lambda self: tuple(self._model.bodies.frames))
    frame_names = property(lambda self: tuple(self._model.bodies.frames))
    loops = property(lambda self: self._model.mechanism.loops)
    independent_joints = property(lambda self: self._model.joint_names)
    actuated_joints = property(lambda self: self._model.actuated_joints)
    lower_limits = property(lambda self: self._model.lower.copy())
    upper_limits = property(lambda self: self._model.upper.copy())
    velocity_limits = property(lambda self: self._model.velocity.copy())
    effort_limits = property(lambda self: self._model.effort.copy())

    @property
    def joints(self) -> Mapping[str, JointInfo]:
        """All joints of the file by name; unknown names raise `UnknownNameError`."""
        return self._model.joints

    @cached_property
    def total_mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return total_mass(self._model.bodies, self._model.setup.base_inertia)

    # -- coordinates --------------------------------------------------------------------------

    def neutral(self) -> Array:
        """Zero position, shape (nq,) [rad, m]."""
        return configuration.neutral(self._model.blocks, self.nq)

    def random(self, rng: np.random.Generator | int | None = None) -> Array:
        """A random position within the limits, shape (nq,) [rad, m]."""
        return configuration.random(
            self._model.blocks, self._model.lower, self._model.upper, np.random.default_rng(rng)
        )

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Position after moving with ``dv`` (velocity times time step).

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        dv : array_like, shape (..., nv) [rad, m]

        Returns
        -------
        q : ndarray, shape (..., nq)
        """
        x, d = self._array("q", q, self.nq), self._array("dv", dv, self.nv)
        return x + d if self._euclidean else configuration.integrate(self._model.blocks, x, d)

    def tangent_rate(self, u: ArrayLike, v: ArrayLike) -> Array:
        """Rate of ``u`` in ``integrate(q, u)`` when the robot moves with speed ``v``.

        Both of shape (..., nv). It is ``v`` for joints whose coordinates add; integrators of
        higher order need it for the others.
        """
        d, w = self._array("u", u, self.nv), self._array("v", v, self.nv)
        return w if self._euclidean else configuration.tangent_rate(self._model.blocks, d, w)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Motion ``dv``, shape (..., nv), with ``integrate(q0, dv) = q1``."""
        x, y = self._array("q0", q0, self.nq), self._array("q1", q1, self.nq)
        return y - x if self._euclidean else configuration.difference(self._model.blocks, x, y)

    def _array(self, name: str, value: ArrayLike, size: int) -> Array:
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise ShapeError(f"{name} is not an array of numbers: {error}", name=name) from None
        if array.ndim == 0 or array.shape[-1] != size:
            raise ShapeError(
                f"{name} has shape {array.shape}, expected (..., {size}) for {self.name!r}",
                name=name,
                given=array.shape,
                expected=(size,),
            )
        return array

    # -- compiled functions -------------------------------------------------------------------

    def function(self, name: str, **fixed: Any) -> Function:
        """The compiled function behind a method.

        Parameters
        ----------
        name : str
            Name of the method.
        **fixed
            What shapes the code: ``wrenches=(links)``, ``frame=``, ``relative_to=``, ``axes=``,
            ``classical=``.

        Returns
        -------
        f : Function
            Called with the arrays named in ``f.inputs``.

        Raises
        ------
        UnknownNameError
            If there is no such quantity, link or option.
        SingularError
            If it needs the inverse of a mass matrix that has none.
        """
        key = (name, *sorted(fixed.items()))
        known = self._functions.get(key)
        if known is None:
            self._check_options(name, fixed)
            if self._model.massless and name in ("forward_dynamics", "mass_matrix_inverse"):
                raise SingularError(
                    f"joints {', '.join(self._model.massless)} of {self.name!r} move no mass: "
                    "their accelerations are not determined",
                    joints=self._model.massless,
                )
            program = trace(name, self._model.setup, fixed)
            known = self._functions[key] = Function(program)
        return known

    def _check_options(self, name: str, fixed: Mapping[str, Any]) -> None:
        if name not in QUANTITIES:
            raise UnknownNameError("function", name, QUANTITIES)
        known = QUANTITIES[name][0].options
        for option in fixed:
            if option not in known:
                raise UnknownNameError("option", option, known, f"function {name!r}")
        if "frame" in known and "frame" not in fixed:
            raise UnknownNameError("frame", "", self.frame_names, f"function {name!r}")
        links = [*fixed.get("wrenches", ()), *filter(None, [fixed.get("frame")])]
        reference = fixed.get("relative_to", "world")
        links += [reference] if reference != "world" else []
        for link in links:
            if link not in self._model.bodies.frames:
                raise UnknownNameError("link", link, self.frame_names, repr(self.name))
        if fixed.get("axes", "body") not in ("body", "world"):
            raise UnknownNameError("axes", fixed["axes"], ("body", "world"))

    def _call(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        out: Array | None,
        wrenches: Wrenches | None = None,
        **fixed: Any,
    ) -> Any:
        """Dispatch with base motion and external wrenches."""
        if wrenches:
            fixed["wrenches"] = tuple(wrenches)
        f = self.function(name, **fixed)
        if self.base == "moving" and QUANTITIES[name][0].base:
            motion = BaseMotion.at_rest() if base is None else base
            if not isinstance(motion, BaseMotion):
                raise ShapeError(
                    f"base is {type(motion).__name__}, expected a robodyn.BaseMotion", name="base"
                )
            arrays = (*arrays, motion.pose, motion.twist, motion.acceleration)
        elif base is not None:
            raise ShapeError(
                f"base= given, but {self.name!r} has a {self.base} base; "
                "load it with base='moving'",
                name="base",
            )
        elif not fixed:
            self._shorten(name, f)
        return f(*arrays, *(wrenches or {}).values(), out=out)

    def _shorten(self, name: str, f: Function) -> None:
        """Let the next calls of a method go straight to its function.

        An attribute of the instance goes before the method of the class, so that a call with plain
        arrays runs no Python.
        """
        if getattr(type(self), name) is getattr(Robot, name):
            self.__dict__.setdefault(name, fast_method(getattr(self, name), f))

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
        stabilization : optional
            For closed linkages; a tree has no constraint to stabilise.

        Returns
        -------
        a : ndarray, shape (..., nv) [rad/s^2, m/s^2]

        Notes
        -----
        Articulated bodies or the factorised mass matrix, whichever takes fewer operations for this
        robot [Featherstone 2008, tables 7.1, 6.3].
        """
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

    def passive_forces(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Generalised forces of joint damping and friction, shape (..., nv) [N m, N]."""
        return self._call("passive_forces", (q, v), None, out)  # type: ignore[no-any-return]

    # -- kinematics ---------------------------------------------------------------------------

    def frame_pose(
        self,
        q: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Pose ``X_WF`` of a frame, shape (..., 4, 4) [1, m], in the world or in another link."""
        return self._call(  # type: ignore[no-any-return]
            "frame_pose", (q,), base, out, frame=frame, relative_to=relative_to
        )

    def frame_twist(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Twist of a frame's origin, shape (..., 6) [m/s, rad/s], in body or world axes."""
        return self._call(  # type: ignore[no-any-return]
            "frame_twist", (q, v), base, out, frame=frame, relative_to=relative_to, axes=axes
        )

    def frame_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        classical: bool = False,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Acceleration of a frame, shape (..., 6) [m/s^2, rad/s^2].

        The derivative of the body twist, in body or world axes; with ``classical=True`` the
        acceleration of the frame's origin (what an observer at rest in ``relative_to`` sees).
        """
        return self._call(  # type: ignore[no-any-return]
            "frame_acceleration",
            (q, v, a),
            base,
            out,
            frame=frame,
            relative_to=relative_to,
            axes=axes,
            classical=bool(classical),
        )

    def frame_jacobian(
        self,
        q: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Jacobian J of a frame's twist, shape (..., 6, nv) [m, 1]: twist = J v (base at rest)."""
        return self._call(  # type: ignore[no-any-return]
            "frame_jacobian", (q,), base, out, frame=frame, relative_to=relative_to, axes=axes
        )

    def frame_jacobian_dot(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Time derivative of `frame_jacobian`, shape (..., 6, nv) [m/s, 1/s]."""
        return self._call(  # type: ignore[no-any-return]
            "frame_jacobian_dot",
            (q, v),
            base,
            out,
            frame=frame,
            relative_to=relative_to,
            axes=axes,
        )

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
        """Potential energy in gravity, shape (...) [J]; zero with all mass at the world origin."""
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
