"""Linear models of a robot near a state, with names of their states, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.closed_loops.rank.tangents import Tangent
from robodyn.errors import ActuationError, UnknownNameError
from robodyn.evaluator import Evaluator
from robodyn.linearization.local_dynamics import LoadCase, LocalDynamics
from robodyn.minimal.coordinates import Expansion
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, speed_indices, speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.state_space import StateSpace

__all__ = ["LinearModels"]

#: Of the displacement of a link: along axes of the world, then about them.
ALONG = ("x", "y", "z", "rx", "ry", "rz")


class LinearModels:
    """Linear models near states.

    Parameters
    ----------
    model : Model
    whole : Model
        The same robot in tree coordinates: names of inputs and outputs are those of its joints.
    evaluator : Evaluator
    local : LocalDynamics
    expansion : Expansion
    """

    def __init__(
        self,
        model: Model,
        whole: Model,
        evaluator: Evaluator,
        local: LocalDynamics,
        expansion: Expansion,
    ) -> None:
        self._model, self._whole, self._evaluator = model, whole, evaluator
        self._local, self._expansion = local, expansion

    def near(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ByJoint | None,
        around: LoadCase,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        independent: Iterable[str] | None = None,
    ) -> StateSpace:
        """The model of states near one, or near each of a batch."""
        chosen = None if independent is None else named("independent", independent)
        local = self._local.near(q, v, tau, around, chosen)
        moved = self._columns(inputs, local.controlled)
        S = self._expansion.speed_map(local.q)
        B = local.B(np.swapaxes(S, -1, -2)[..., moved])
        C, names = self._outputs(outputs, local.tangent, S, local.q, around.base)
        places = tuple(f"q:{x}" for x in self._labels(self._model, local.tangent.places))
        speeds = tuple(f"v:{x}" for x in self._labels(self._model, local.tangent.speeds))
        return StateSpace(
            local.A,
            B,
            C,
            np.zeros((*C.shape[:-1], len(moved))),
            states=(*places, *speeds),
            inputs=tuple(f"tau:{x}" for x in self._labels(self._whole, moved)),
            outputs=(*places, *speeds) if outputs is None else names,
            acceleration=local.a[..., list(local.tangent.speeds)],
        )

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
                why = ""
                if k in driven:
                    why = "controlled: its force follows from its motion, and is no input"
                elif k in moved:
                    why = "named twice in inputs"
                if why:
                    raise ActuationError(
                        f"joint {name!r} of {self._model.mechanism.name!r} is {why}",
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
            except UnknownNameError as error:
                links = self._model.bodies.frames
                if name not in links:
                    if error.kind != "joint":
                        raise
                    known = (*self._whole.joint_names, *links)
                    where = repr(self._model.mechanism.name)
                    raise UnknownNameError("joint or link", name, known, where) from None
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
