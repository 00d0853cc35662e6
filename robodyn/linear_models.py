"""Linear models of a robot near a state, from the derivatives of its dynamics.

A state near ``q, v`` has the coordinates ``z`` of its position, a step along the speeds, and ``u``
of its speeds. With the maps of a `Tangent`, ``dq = B z`` and ``dv = B' u + G z``::

    dz/dt = [ dv + carried(v) dq ]                      of independent coordinates
    du/dt = [ da/dq dq + da/dv dv + da/dtau dtau ]      of independent speeds

``carried(v)`` is zero where coordinates add. Of those that do not, as of a floating base, it is
what the turning axes add, in which the difference of two states is seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, named, together
from robodyn.closed_loops.tangents import Tangent, Tangents
from robodyn.configuration_space import ConfigurationSpace
from robodyn.dynamics_derivatives import DynamicsDerivatives
from robodyn.errors import ActuationError, UnknownNameError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.minimal.coordinates import Expansion
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, Roles, assign_roles, speed_indices, speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.state_space import StateSpace

__all__ = ["LinearModels", "Surroundings"]

#: Of the displacement of a link: along axes of the world, then about them.
ALONG = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Surroundings:
    """What else than its state acts on a robot.

    Attributes
    ----------
    controlled, locked
        Driven joints, as in `robodyn.Robot.hybrid_dynamics`.
    wrenches, base
        As in `robodyn.Robot.inverse_dynamics`.
    """

    controlled: ByJoint | None = None
    locked: Iterable[str] = ()
    wrenches: Wrenches | None = None
    base: BaseMotion | None = None


class LinearModels:
    """Linear models near states.

    Parameters
    ----------
    model : Model
    whole : Model
        The same robot in tree coordinates: names of inputs and outputs are those of its joints.
    evaluator : Evaluator
    space : ConfigurationSpace
    tangents : Tangents
    derivatives : DynamicsDerivatives
    expansion : Expansion
    """

    def __init__(
        self,
        model: Model,
        whole: Model,
        evaluator: Evaluator,
        space: ConfigurationSpace,
        tangents: Tangents,
        derivatives: DynamicsDerivatives,
        expansion: Expansion,
    ) -> None:
        self._model, self._whole, self._evaluator = model, whole, evaluator
        self._space, self._tangents, self._derivatives = space, tangents, derivatives
        self._expansion = expansion

    def near(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ByJoint | None,
        around: Surroundings,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        independent: Iterable[str] | None = None,
    ) -> StateSpace:
        """The model of states near one, or near each of a batch."""
        roles = assign_roles(self._model, around.controlled, tau, around.locked)
        q, v = checked("q", q, self._space.nq), checked("v", v, self._space.nv)
        batch = together(q=q, v=v, tau=roles.tau, controlled=roles.a)
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
        moved = self._columns(inputs, roles.controlled)
        a, *by = self._slopes(q, v, tau, roles, around)
        chosen = None if independent is None else named("independent", independent)
        tangent = self._tangents.at(q, v, roles.controlled, chosen)
        S = self._expansion.speed_map(q)
        by_force = by[-1] @ np.swapaxes(S, -1, -2)[..., moved]
        A, B = self._matrices(tangent, v, (by[0], by[1], by_force))
        C, names = self._outputs(outputs, tangent, S, q, around.base)
        places = tuple(f"q:{x}" for x in self._labels(self._model, tangent.places))
        speeds = tuple(f"v:{x}" for x in self._labels(self._model, tangent.speeds))
        return StateSpace(
            A,
            B,
            C,
            np.zeros((*C.shape[:-1], len(moved))),
            states=(*places, *speeds),
            inputs=tuple(f"tau:{x}" for x in self._labels(self._whole, moved)),
            outputs=names or (*places, *speeds),
            acceleration=a[..., list(tangent.speeds)],
        )

    def _slopes(
        self, q: Array, v: Array, tau: ByJoint | None, roles: Roles, around: Surroundings
    ) -> list[Array]:
        """Accelerations, and their derivatives; by forces last."""
        loads = around.wrenches, around.base
        if not roles.controlled:
            state = (q, v, roles.tau)
            return [*self._derivatives.of("forward_dynamics", state, (None, ()), *loads).values()]
        driven = around.controlled, around.locked
        found = self._derivatives.of("hybrid_dynamics", (q, v, tau), driven, *loads)
        return [x.a for x in found.values()]

    def _matrices(
        self, tangent: Tangent, v: Array, slopes: tuple[Array, Array, Array]
    ) -> tuple[Array, Array]:
        """A and B."""
        by_q, by_v, by_force = slopes
        places, speeds = list(tangent.places), list(tangent.speeds)
        dq, dv = tangent.by_place, tangent.by_speed
        A = np.block(
            [
                [
                    (tangent.turning + self._space.carried(v) @ dq)[..., places, :],
                    dv[..., places, :],
                ],
                [(by_q @ dq + by_v @ tangent.turning)[..., speeds, :], (by_v @ dv)[..., speeds, :]],
            ]
        )
        none = np.zeros((*by_force.shape[:-2], len(places), by_force.shape[-1]))
        return A, np.concatenate([none, by_force[..., speeds, :]], axis=-2)

    def _columns(self, inputs: Iterable[str] | None, controlled: tuple[int, ...]) -> list[int]:
        """Forces that are inputs, by their indices in the tree form."""
        driven = {
            k
            for name in speed_names(self._model, controlled)
            for k in speed_indices(self._whole, name)
        }
        if inputs is None:
            motors = [name for name, _ in self._model.mechanism.actuators]
            own = [name for name in motors if self._has_speed(name)]
            chosen = own or self._model.actuated_joints
            moved = [k for name in chosen for k in speed_indices(self._whole, name)]
            return [k for k in moved if k not in driven]
        moved = []
        for name in named("inputs", inputs):
            for k in speed_indices(self._whole, name):
                if k in driven:
                    raise ActuationError(
                        f"joint {name!r} of {self._model.mechanism.name!r} is controlled: its "
                        "force follows from its motion, and is no input",
                        direction=name,
                    )
                moved.append(k)
        return moved

    def _has_speed(self, name: str) -> bool:
        joint = self._whole.joints[name] if name in self._whole.joints else None
        return joint is not None and joint.v.stop > joint.v.start

    def _outputs(
        self,
        outputs: Iterable[str] | None,
        tangent: Tangent,
        S: Array,
        q: Array,
        base: BaseMotion | None,
    ) -> tuple[Array, tuple[str, ...]]:
        """C, and names of its rows; none of them for the states themselves."""
        places, speeds = len(tangent.places), len(tangent.speeds)
        batch = tangent.by_place.shape[:-2]
        if outputs is None:
            count = places + speeds
            return np.broadcast_to(np.eye(count), (*batch, count, count)).copy(), ()
        rows, names = [np.zeros((*batch, 0, places))], []
        for name in named("outputs", outputs, "names of joints or links"):
            part, found = self._displacement(name, S, q, base)
            rows.append(part @ tangent.by_place)
            names += found
        C = np.concatenate(rows, axis=-2)
        return np.concatenate([C, np.zeros((*C.shape[:-1], speeds))], axis=-1), tuple(names)

    def _displacement(
        self, name: str, S: Array, q: Array, base: BaseMotion | None
    ) -> tuple[Array, list[str]]:
        """How far a joint or a link moves a unit of each speed."""
        if name in self._whole.joints or name not in self._model.bodies.frames:
            try:
                at = list(speed_indices(self._whole, name))
            except UnknownNameError:
                if name not in self._model.bodies.frames:
                    raise
            else:
                return S[..., at, :], [f"q:{x}" for x in self._labels(self._whole, at)]
        J = self._evaluator.call("frame_jacobian", (q,), frame=name, axes="world", base=base)
        return J, [f"{x}:{name}" for x in ALONG]

    @staticmethod
    def _labels(model: Model, speeds: Iterable[int]) -> list[str]:
        """A name for each speed: the joint's, or ``"joint[k]"`` where it has several."""
        own: dict[int, str] = {}
        for name in model.joint_names:
            at = range(model.joints[name].v.start, model.joints[name].v.stop)
            own |= {k: name if len(at) == 1 else f"{name}[{k - at.start}]" for k in at}
        return [own[k] for k in speeds]
