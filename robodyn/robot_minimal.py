"""Methods of a robot in minimal coordinates: what its dependent joints do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.codegen import Function
from robodyn.description import Mechanism
from robodyn.equations.mechanism.bodies import Body
from robodyn.errors import AssemblyError, ShapeError, UnknownNameError
from robodyn.joints.kinds import TURNING
from robodyn.minimal.model import minimal_model, own_coordinates
from robodyn.minimal.reduced import ReducedRobot
from robodyn.model.model import Model
from robodyn.model.settings import Settings
from robodyn.model.speed_selection import ByJoint
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import JointWrenches
from robodyn.robot_core import Wrenches
from robodyn.robot_loads import LoadMethods

__all__ = ["MinimalMethods"]

Array = NDArray[Any]


class MinimalMethods(LoadMethods):
    """Minimal coordinates; see `robodyn.Robot`."""

    def _build(self, mechanism: Mechanism, settings: Settings) -> Model:
        model = super()._build(mechanism, settings)
        if settings.coordinates == "tree" or not model.setup.closed:
            return model
        tree_form = type(self)(
            mechanism, dataclasses.replace(settings, coordinates="tree", branches=())
        )
        q = tree_form.neutral()
        minimal = minimal_model(model, settings, q)
        self._closed_tree = tree_form
        self._neutral = own_coordinates(model.bodies, minimal.bodies, q)
        # forces act where there are coordinates
        tree_form._model = dataclasses.replace(
            tree_form._model, actuated_joints=_with_forces(minimal)
        )
        return minimal

    @property
    def _follows(self) -> bool:
        return bool(self._model.bodies.linkages)

    @property
    def tree_form(self) -> Any:
        """The same robot in tree coordinates, with constraints; itself, if it has no other form."""
        return self._closed_tree if self._follows else self

    @property
    def coordinates(self) -> str:
        """``"tree"`` or ``"minimal"``."""
        return str(self._model.settings.coordinates)

    @property
    def branches(self) -> dict[str, int]:
        """How each loop that is solved in closed form is assembled, by its name."""
        return {linkage.name: linkage.branch for linkage in self._model.bodies.linkages}

    @cached_property
    def dependent_joints(self) -> tuple[str, ...]:
        """Joints that follow the others by closed loops solved in closed form."""
        bodies = self._model.bodies
        following = sorted(i for linkage in bodies.linkages for i in linkage.dependent)
        return tuple(bodies.bodies[i].description.name for i in following)

    # -- postures -----------------------------------------------------------------------------

    def _tree_neutral(self) -> Array:
        return self._neutral.copy() if self._follows else super()._tree_neutral()

    def _random_tree(self, rng: np.random.Generator) -> Array:
        if not self._follows:
            return super()._random_tree(rng)
        start = self._tree_neutral()
        lower, upper = (self.tree_form.lower_limits - 1e-9, self.tree_form.upper_limits + 1e-9)
        for part in np.repeat([1.0, 0.5, 0.25, 0.1, 0.03], 5):
            toward = self.difference(start, super()._random_tree(rng))
            q = self.integrate(start, part * toward)
            full = self.expand(q)
            if np.isfinite(full).all() and (lower <= full).all() and (full <= upper).all():
                return q
        raise AssemblyError(
            f"no other posture of {self.name!r} found at which loops close within limits",
            residual=np.zeros(0),
            q=start,
        )

    def dependent_positions(self, q: ArrayLike) -> dict[str, Array]:
        """Positions of the joints that follow, by name, each of shape (...) [rad, m].

        Of a joint with two freedoms (..., 2). Angles lie between -pi and pi; not a number where
        loops do not close.
        """
        if not self._follows:
            return {}
        places = self._call("dependent_places", (q,), None, None)
        found = {}
        for body, rows in self._dependent_rows:
            own = [
                _angle(places[..., n, :], body.joint.offset) if turning else places[..., n, 0]
                for n, turning in enumerate(TURNING[body.joint.kind], rows.start)
            ]
            found[body.description.name] = np.stack(own, -1) if len(own) > 1 else np.asarray(own[0])
        return found

    @cached_property
    def _dependent_rows(self) -> list[tuple[Body, slice]]:
        """Bodies whose joints follow, and where their freedoms stand among all that do."""
        found, first = [], 0
        for name in self.dependent_joints:
            body = next(b for b in self._model.bodies if b.description.name == name)
            count = len(TURNING[body.joint.kind])
            found.append((body, slice(first, first + count)))
            first += count
        return found

    def expand(self, q: ArrayLike) -> Array:
        """Coordinates of `tree_form`, shape (..., its nq): those of the joints that follow, too."""
        x = self._array("q", q, self.nq)
        full = np.empty((*x.shape[:-1], self.tree_form.nq))
        for name in self.joint_names:
            full[..., self.tree_form.joints[name].q] = x[..., self.joints[name].q]
        for name, value in self.dependent_positions(x).items():
            own = self.tree_form.joints[name].q
            full[..., own] = value if own.stop - own.start > 1 else value[..., None]
        return full

    def expand_velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Speeds of `tree_form`, shape (..., its nv): ``B v``."""
        return self._expanded("v", v, "dependent_speeds", (q, v))

    def expand_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Accelerations of `tree_form`, shape (..., its nv): ``B a + b'``."""
        return self._expanded("a", a, "dependent_accelerations", (q, v, a))

    def _expanded(
        self, name: str, own: ArrayLike, quantity: str, arrays: tuple[ArrayLike, ...]
    ) -> Array:
        x = self._array(name, own, self.nv)
        if not self._follows:
            return x.copy()
        return self._spread(x, self._call(quantity, arrays, None, None), -1)

    def _spread(self, own: Array, others: Array, axis: int) -> Array:
        """Rows of independent and dependent speeds in the order of `tree_form`."""
        own, others = np.moveaxis(own, axis, 0), np.moveaxis(others, axis, 0)
        batch = np.broadcast_shapes(own.shape[1:], others.shape[1:])
        full = np.empty((self.tree_form.nv, *batch))
        for joint in self.joint_names:
            full[self.tree_form.joints[joint].v] = own[self.joints[joint].v]
        for body, rows in self._dependent_rows:
            full[self.tree_form.joints[body.description.name].v] = others[rows]
        return np.ascontiguousarray(np.moveaxis(full, 0, axis))

    def speed_map(self, q: ArrayLike) -> Array:
        """``B``, shape (..., nv of `tree_form`, nv): speeds of all joints a unit of each own one.

        The identity where the robot has no other form.
        """
        x = self._array("q", q, self.nq)
        eye = np.broadcast_to(np.eye(self.nv), (*x.shape[:-1], self.nv, self.nv))
        if not self._follows:
            return eye.copy()
        return self._spread(eye, self._call("dependent_speed_map", (x,), None, None), -2)

    def torque_map(self, q: ArrayLike) -> Array:
        """``B^T``, shape (..., nv, nv of `tree_form`): own forces of the forces in all joints.

        So ``torque_map(q) @ tau`` turns forces of motors, wherever they are, into what forward
        dynamics takes; what inverse dynamics gives is that of motors ``tau`` that solve it.
        """
        return np.ascontiguousarray(np.swapaxes(self.speed_map(q), -1, -2))

    def reduced(self, independent: Iterable[str] | None = None) -> ReducedRobot:
        """The robot as functions of independent joints, loops closed numerically.

        Parameters
        ----------
        independent : names of joints, optional
            As many as there are degrees of freedom. Default: `independent_joints`.

        Raises
        ------
        SingularError
            If they are too few or too many.
        """
        return ReducedRobot(self, independent)

    # -- joint wrenches -----------------------------------------------------------------------

    def function(self, name: str, **fixed: Any) -> Function:
        """The compiled function behind a method; see `robodyn.Robot.function`."""
        if self._follows and name.startswith("joint_wrench"):
            raise UnknownNameError(
                "function of minimal coordinates", name, (), f"{self.name!r}: take its tree_form"
            )
        return super().function(name, **fixed)

    def joint_wrenches(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        joints: Iterable[str] | None = None,
        controlled: ByJoint | None = None,
        tau: ByJoint | None = None,
        locked: Iterable[str] = (),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> JointWrenches:
        """Force and moment in every joint, those that close loops included.

        As `robodyn.Robot.joint_wrenches` of the `tree_form` at the same state: wrenches of joints
        that close loops follow from the forces at the independent joints, of least norm where
        redundant constraints leave a choice.
        """
        roles = {"controlled": controlled, "tau": tau, "locked": tuple(locked)}
        loads = {"wrenches": wrenches, "base": base}
        if not self._follows:
            return super().joint_wrenches(q, v, a, joints=joints, **roles, **loads)  # type: ignore
        if a is None:
            a = self.hybrid_dynamics(q, v, **roles, **loads).a  # type: ignore[arg-type]
        elif controlled is not None or tau is not None or roles["locked"]:
            raise ShapeError(
                "accelerations and roles are both given: a already says how every joint moves",
                name="a",
            )
        state = self.expand(q), self.expand_velocity(q, v), self.expand_acceleration(q, v, a)
        return self.tree_form.joint_wrenches(*state, joints=joints, **loads)  # type: ignore


def _angle(turn: Array, offset: float) -> Array:
    """Angle, from its cosine and sine with its offset."""
    return np.asarray(np.angle(np.exp(1j * (np.arctan2(turn[..., 1], turn[..., 0]) - offset))))


def _with_forces(model: Model) -> tuple[str, ...]:
    """Joints in which forces can act, as tree coordinates name them."""
    return tuple(name for name in model.joint_names if model.joints[name].type != "floating")
