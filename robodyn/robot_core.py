"""The base of a robot: names, coordinates, and the way from a method to a compiled function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from inspect import isfunction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import by_name, generator, named, together
from robodyn.codegen import Function, fast_method, shorten
from robodyn.description import Inertia, Mechanism
from robodyn.equations.catalogue import CLOSED, QUANTITIES, trace
from robodyn.equations.tree.momentum import total_mass
from robodyn.errors import ActuationError, ShapeError, SingularError, UnknownNameError
from robodyn.model import configuration
from robodyn.model.edit import changed
from robodyn.model.joint_info import JointInfo
from robodyn.model.model import Model, build_model
from robodyn.model.settings import Settings
from robodyn.model.speed_selection import speed_indices
from robodyn.motion.base_motion import BaseMotion

__all__ = ["RobotCore"]

Array = NDArray[Any]

#: Quantities that can take inertial parameters as an input.
PARAMETRIC = frozenset(
    {
        "inverse_dynamics", "forward_dynamics", "hybrid_dynamics", "mass_matrix",
        "mass_matrix_inverse", "bias_forces", "gravity_forces", "coriolis_matrix",
        "joint_wrenches", "kinetic_energy", "potential_energy",
    }
)  # fmt: skip
Wrenches = Mapping[str, ArrayLike]


class RobotCore:
    """What a robot is and how its functions are made; see `robodyn.Robot`."""

    def __init__(self, mechanism: Mechanism, settings: Settings) -> None:
        self._model: Model = self._build(mechanism, settings)
        self._functions: dict[Any, Function] = {}
        self._euclidean = all(
            block.kind not in ("spherical", "floating", "planar") for block in self._model.blocks
        )
        self._make_methods_fast()

    def _build(self, mechanism: Mechanism, settings: Settings) -> Model:
        return build_model(mechanism, settings)

    def __repr__(self) -> str:
        return (
            f"<Robot {self.name!r}: {len(self.joint_names)} joints, nq = {self.nq}, "
            f"nv = {self.nv}, {self.base} base>"
        )

    def __reduce__(self) -> Any:
        return type(self), (self._model.mechanism, self._model.settings)

    def with_(
        self,
        *,
        payload: Mapping[str, Inertia] | None = None,
        locked: Mapping[str, float] | None = None,
        **settings: Any,
    ) -> Self:
        """A changed copy.

        Parameters
        ----------
        payload : mapping of link name to Inertia
            Carried by the link in addition to its own mass; given in the link frame.
        locked : mapping of joint name to position [rad or m]
            Joints welded there, and with them those that mimic them or are coupled to them.
        **settings
            ``gravity``, ``base``, ``passive``, ``friction_speed``, ``snap`` as in `robodyn.load`.

        Raises
        ------
        UnknownNameError
            For links and joints that do not exist.
        SettingsError
            For joints locked against what ties them together.
        """
        mechanism = changed(
            self._model.mechanism, by_name("payload", payload), by_name("locked", locked)
        )
        return type(self)(mechanism, self._model.settings.replaced(settings))

    # -- what it is ---------------------------------------------------------------------------

    name = property(lambda self: self._model.mechanism.name)
    mechanism = property(lambda self: self._model.mechanism)
    nq = property(lambda self: self._model.bodies.nq)
    nv = property(lambda self: self._model.bodies.nv)
    base = property(lambda self: self._model.settings.base)
    gravity = property(lambda self: self._model.settings.gravity)
    joint_names = property(lambda self: self._model.joint_names)
    link_names = property(lambda self: tuple(self._model.bodies.frames))
    frame_names = property(lambda self: tuple(self._model.bodies.frames))
    loops = property(lambda self: self._model.tree.cuts)
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
    def nc(self) -> int:
        """Number of constraint rows."""
        return len(self._model.setup.row_names)

    @cached_property
    def total_mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return total_mass(self._model.bodies, self._model.setup.base_inertia)

    # -- coordinates --------------------------------------------------------------------------

    def neutral(self) -> Array:
        """Zero position, or the closed posture nearest to it, shape (nq,) [rad, m]."""
        return self._closed_neutral.copy() if self.nc else self._tree_neutral()

    def _tree_neutral(self) -> Array:
        return configuration.neutral(self._model.blocks, self.nq)

    @cached_property
    def _closed_neutral(self) -> Array:
        return self._tree_neutral()

    def random(self, rng: np.random.Generator | int | None = None) -> Array:
        """A random position within the limits, shape (nq,) [rad, m]."""
        return self._random_tree(generator(rng))

    def _random_tree(self, rng: np.random.Generator) -> Array:
        return configuration.random(self._model.blocks, self._model.lower, self._model.upper, rng)

    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Array | None = None) -> Array:
        """Position after moving with ``dv`` (velocity times time step).

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        dv : array_like, shape (..., nv) [rad, m]

        Returns
        -------
        q : ndarray, shape (..., nq)
        """
        return self._call("integrate", (q, dv), None, out)  # type: ignore[no-any-return]

    def tangent_rate(self, u: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Rate of ``u`` in ``integrate(q, u)`` when the robot moves with speed ``v``.

        Both of shape (..., nv). It is ``v`` for joints whose coordinates add; integrators of
        higher order need it for the others.
        """
        return self._call("tangent_rate", (u, v), None, out)  # type: ignore[no-any-return]

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Motion ``dv``, shape (..., nv), with ``integrate(q0, dv) = q1``."""
        x, y = self._array("q0", q0, self.nq), self._array("q1", q1, self.nq)
        if x.shape[:-1] != y.shape[:-1]:
            together(q0=x, q1=y)
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

    def _make_methods_fast(self) -> None:
        """Methods with a function behind them, to be shortened when that is compiled.

        An attribute of the instance goes before the method of the class. Methods that a subclass
        of a user changes stay as they are.
        """
        for name in QUANTITIES:
            method = getattr(type(self), name, None)
            if isfunction(method) and method.__module__.startswith("robodyn."):
                self.__dict__[name] = fast_method(getattr(self, name))

    # -- compiled functions -------------------------------------------------------------------

    def function(self, name: str, **fixed: Any) -> Function:
        """The compiled function behind a method.

        Parameters
        ----------
        name : str
            Name of the method.
        **fixed
            What shapes the code: ``wrenches=(links)``, ``frame=``, ``relative_to=``, ``axes=``,
            ``classical=``, ``controlled=(joints)``, ``joints=(names)``;
            ``parameters=True`` makes the inertial parameters of the moving bodies an input.

        Returns
        -------
        f : Function
            Called with the arrays named in ``f.inputs``.

        Raises
        ------
        UnknownNameError
            If there is no such quantity, link or option.
        SingularError
            If it needs the acceleration of a joint that moves no mass.
        """
        fixed = {key: tuple(x) if isinstance(x, list) else x for key, x in fixed.items()}
        if self.nc and not fixed.pop("tree", False):
            fixed = self._with_loops(name, fixed)
        key = (name, *sorted(fixed.items()))
        known = self._functions.get(key)
        if known is None:
            self._check_options(name, fixed)
            options = {**fixed}
            if "controlled" in QUANTITIES[name][0].options:
                options["controlled"] = self._controlled(fixed.get("controlled", ()))
            self._check_mass(name, options.get("controlled", ()))
            setup = self._model.keeping(self._fixed_joints(fixed.get("joints", ())))
            if "joints" in QUANTITIES[name][0].options and "joints" not in fixed:
                options["joints"] = self._wrench_joints(None)
            known = self._functions[key] = Function(trace(name, setup, options))
        return known

    def _with_loops(self, name: str, fixed: dict[str, Any]) -> dict[str, Any]:
        """Choices for straight-line code that honours closed loops; see `ClosedMethods`."""
        return fixed

    def _controlled(self, speeds: Any) -> tuple[int, ...]:
        """Indices of speeds, which may be given as such or as names of joints."""
        indices: list[int] = []
        for name in named("controlled", speeds):
            if not isinstance(name, str) and not 0 <= name < self.nv:
                raise UnknownNameError("speed", str(name), map(str, range(self.nv)))
            indices += speed_indices(self._model, name) if isinstance(name, str) else (int(name),)
        if len(set(indices)) < len(indices):
            raise ActuationError(f"a joint is named twice in controlled={speeds!r}")
        return tuple(indices)

    def _check_mass(self, name: str, controlled: tuple[int, ...]) -> None:
        """Speeds that move no mass cannot be solved for."""
        if name not in ("forward_dynamics", "mass_matrix_inverse", "hybrid_dynamics"):
            return
        undetermined = self._model.undetermined(controlled)
        if undetermined:
            raise SingularError(
                f"joints {', '.join(undetermined)} of {self.name!r} move no mass, at least not "
                "independently: their accelerations are not determined",
                joints=undetermined,
            )

    def _fixed_joints(self, joints: tuple[str, ...]) -> tuple[str, ...]:
        cuts = [c.name for c in self._model.setup.closures]
        return tuple(
            name for name in joints if name not in cuts and self.joints[name].type == "fixed"
        )

    def _wrench_joints(self, joints: Iterable[str] | None) -> tuple[str, ...]:
        """Joints whose wrenches are wanted; all that move, if none are named."""
        if joints is None:
            return tuple(
                body.description.name
                for body in self._model.bodies
                if body.description.kind != "floating" or body.parent >= 0
            ) + tuple(c.name for c in self._model.setup.closures)
        names = named("joints", joints)
        cuts = [c.name for c in self._model.setup.closures]
        for name in names:
            _ = name in cuts or self.joints[name]
        return names

    def _check_options(self, name: str, fixed: Mapping[str, Any]) -> None:
        if name not in QUANTITIES:
            raise UnknownNameError("function", name, QUANTITIES)
        known: tuple[str, ...] = QUANTITIES[name][0].options
        if self.nc and name in CLOSED:
            known = CLOSED[name][0].options
        for option in fixed:
            if option not in known and not (option == "parameters" and name in PARAMETRIC):
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
        extra: tuple[Array, ...] = (),
        **fixed: Any,
    ) -> Any:
        """Dispatch with base motion, other arrays, and external wrenches."""
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
        elif not fixed and not (self.nc and name in CLOSED):
            self._shorten(name, f)
        return f(*arrays, *extra, *(wrenches or {}).values(), out=out)

    def _shorten(self, name: str, f: Function, *, guarded: bool = False) -> None:
        """Let the next calls of a method with plain arrays go straight to its function."""
        if name in self.__dict__:
            shorten(self.__dict__[name], f, guarded=guarded)
