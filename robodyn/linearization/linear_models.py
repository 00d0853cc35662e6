"""Linear models of a robot near a state, with names of their states, inputs and outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.closed_loops.rank.tangents import Tangent
from robodyn.description.sensor import DescribedSensor
from robodyn.errors import ActuationError, UnknownNameError
from robodyn.evaluator import Evaluator
from robodyn.linearization.local_dynamics import STEP, LoadCase, Local, LocalDynamics
from robodyn.minimal.coordinates import Expansion
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, speed_indices, speed_names
from robodyn.model.virtual_work import forces_of_motors, generalised
from robodyn.motion.base_motion import BaseMotion

if TYPE_CHECKING:
    from robodyn.state_space import StateSpace

#: Of the displacement of a link: along axes of the world, then about them.
ALONG = ("x", "y", "z", "rx", "ry", "rz")

#: The call from which on models of one form are computed by a function of their own.
OFTEN = 12


class LinearModels:
    """Linear models near states.

    whole: The same robot in tree coordinates: names of inputs and outputs are those of its joints.
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
        self._calls: dict[tuple[tuple[int, ...], ...], int] = {}

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
        from robodyn.state_space import StateSpace

        chosen = None if independent is None else named("independent", independent)
        local = self._local.near(q, v, tau, around, chosen)
        moved = self._columns(inputs, local.controlled)
        S = self._expansion.speed_map(local.q)
        forces = self._forces(local.q, S, moved)
        B = local.B(forces)
        C, D, names = self._outputs(outputs, local, forces, S, around.base)
        places = tuple(f"q:{x}" for x in self._labels(self._model, local.tangent.places))
        speeds = tuple(f"v:{x}" for x in self._labels(self._model, local.tangent.speeds))
        model = StateSpace(
            local.A + self._by_turned_motors(local),
            B,
            C,
            D,
            states=(*places, *speeds),
            inputs=tuple(f"tau:{x}" for x in self._labels(self._whole, moved, self._followers)),
            outputs=(*places, *speeds) if outputs is None else names,
            acceleration=local.a[..., list(local.tangent.speeds)],
        )
        plain = outputs is None and max(moved, default=-1) < S.shape[-2]
        if plain and not isinstance(tau, Mapping | None) and around.is_empty:
            options = {"inputs": inputs, "independent": independent}
            return self._by_code(model, (q, v, tau), around, options, local.tangent, tuple(moved))
        return without_unread(model, self._charges, asked=outputs is not None)

    @cached_property
    def _charges(self) -> frozenset[str]:
        """States of windings on which nothing depends: their currents are the states."""
        return frozenset(f"q:{x.winding}" for x in self._model.setup.windings)

    def _by_turned_motors(self, local: Local) -> Array | float:
        """What constant forces of motors at joints that follow others add to ``A``.

        Their generalised forces change with the posture: by a difference quotient of fourth order.
        """
        if not self._model.gearing.elsewhere or not local.tau.any():
            return 0.0
        q, tangent = local.q[..., None, :], local.tangent

        def matrix(q: Array) -> Array:
            return self._evaluator.call("actuation_matrix", (q,))

        f = forces_of_motors(matrix(local.q), local.tau)[..., None, :]
        steps = STEP * np.swapaxes(tangent.by_place, -1, -2)  # a row for each place

        def forces(s: float) -> Array:
            return generalised(matrix(self._local.moved(q, s * steps)), f)

        near, far = (forces(s) - forces(-s) for s in (1.0, 2.0))
        turned = local.B(np.swapaxes((8.0 * near - far) / (12.0 * STEP), -1, -2))
        none = np.zeros((*turned.shape[:-1], len(tangent.speeds)))
        return np.concatenate([turned, none], axis=-1)

    def _by_code(
        self,
        model: StateSpace,
        state: tuple[ArrayLike, ArrayLike, ArrayLike],
        around: LoadCase,
        options: dict[str, Any],
        tangent: Tangent,
        forces: tuple[int, ...],
    ) -> StateSpace:
        """The same model by one function, where there is one; later calls like this go to it.

        The first ones do without: the function takes as long as derivatives to trace and compile.

        ``state`` is positions, speeds and forces, ``options`` are those of the method of the robot,
        and ``forces`` the speeds whose forces are inputs.
        """
        own, minimal = tangent.speeds, bool(self._expansion.dependent_joints)
        plain = self._local.add(own) and tangent.places == own and model.A.size
        all_speeds = self._model.setup.closed or len(own) == self._model.bodies.nv
        if not (plain and all_speeds and self._evaluator.of_state_alone) or minimal:
            return without_unread(model, self._charges, asked=False)
        calls = self._calls[own, forces] = self._calls.get((own, forces), 0) + 1
        if calls < OFTEN:
            return without_unread(model, self._charges, asked=False)

        def made(found: tuple[Array, ...], q: Array, v: Array, tau: Array) -> Any:
            if found[0].dtype == np.float32:
                return self.near(q, v, tau, around, **options)  # in double precision
            return without_unread(model.like(*found), self._charges, asked=False)

        found: StateSpace = self._evaluator.answer(
            "linear_model", tuple(np.asarray(x, float) for x in state), method="linearize",
            make=made, of_inputs=True, independent=own, forces=forces,
            fallback=lambda asked: (model.A, model.B, model.acceleration),
        )  # fmt: skip
        return found

    def _columns(self, inputs: Iterable[str] | None, controlled: tuple[int, ...]) -> list[int]:
        """Forces that are inputs, by their indices in the tree form, and after these."""
        driven = {
            k
            for name in speed_names(self._model, controlled)
            for k in speed_indices(self._whole, name)
        }
        if inputs is None:
            chosen = self._model.actuated_joints
            moved = [k for name in chosen for k in self._indices(name)]
            return [k for k in moved if k not in driven]
        moved = []
        for name in named("inputs", inputs):
            for k in self._indices(name):
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

    @cached_property
    def _followers(self) -> dict[str, range]:
        """Joints that have no speeds in the tree form either, with indices after its speeds."""
        beyond = self._whole.following_joints
        moving = (x.description for x in self._whole.bodies)
        names = [x for x in moving if x.name in beyond]
        ends = [*accumulate((x.nv for x in names), initial=self._whole.bodies.nv)]
        return {x.name: range(*at) for x, at in zip(names, pairwise(ends), strict=True)}

    def _indices(self, name: str) -> Iterable[int]:
        """Indices of the forces of a joint."""
        return self._followers.get(name) or speed_indices(self._whole, name)

    def _forces(self, q: Array, S: Array, moved: list[int]) -> Array:
        """Generalised forces of a unit of force at each of these, shape (..., nv, m)."""
        of_all = np.swapaxes(S, -1, -2)
        if max(moved, default=-1) >= S.shape[-2]:
            names = tuple(self._followers)
            B = self._evaluator.call("actuation_matrix", (q,), actuated=names)
            of_all = np.concatenate([of_all, B], axis=-1)
        return np.asarray(of_all[..., moved])

    def _outputs(
        self,
        outputs: Iterable[str] | None,
        local: Local,
        forces: Array,
        S: Array,
        base: BaseMotion | None,
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """C, D, and names of their rows; none of them for the states themselves."""
        tangent, names = local.tangent, list[str]()
        places, count = len(tangent.places), len(tangent.places) + len(tangent.speeds)
        batch, inputs = tangent.by_place.shape[:-2], forces.shape[-1]
        if outputs is None:
            C = np.broadcast_to(np.eye(count), (*batch, count, count)).copy()
            return C, np.zeros((*C.shape[:-1], inputs)), ()
        rows = [np.zeros((*batch, 0, count + inputs))]
        for name in named("outputs", outputs, "names of joints, links or sensors"):
            if name in self._sensors:
                part, found = self._reading(name, local, forces, base)
            elif name.startswith("v:"):
                at = list(speed_indices(self._model, name[2:]))
                found = [f"v:{x}" for x in self._labels(self._model, at)]
                part = np.zeros((*batch, len(found), count + inputs))
                part[..., :places] = tangent.turning[..., at, :]
                part[..., places:count] = tangent.by_speed[..., at, :]
            else:
                of_speeds, found = self._displacement(name.removeprefix("q:"), S, local.q, base)
                part = np.zeros((*batch, len(found), count + inputs))
                part[..., :places] = of_speeds @ tangent.by_place
            rows.append(part)
            names += found
        both = np.concatenate(rows, axis=-2)
        return both[..., :count], both[..., count:], tuple(names)

    @cached_property
    def _sensors(self) -> Mapping[str, DescribedSensor]:
        """Sensors by their names, of those that no joint or link has."""
        taken = {*self._whole.joints, *self._model.bodies.frames}
        return {x.name: x for x in self._model.mechanism.sensors if x.name not in taken}

    def _reading(
        self, name: str, local: Local, forces: Array, base: BaseMotion | None
    ) -> tuple[Array, list[str]]:
        """How the numbers that a sensor shows change with the state and the inputs."""
        sensor, tangent = self._sensors[name], local.tangent
        state = dict(zip("qva", (local.q, local.v, local.a), strict=True))
        read = "qva"[: "qva".index(sensor.reads) + 1]
        loads = self._evaluator.environment("measure", base)

        def slope(by: str) -> Array:
            f = self._evaluator.derivative("measure", by, sensors=(name,))
            return np.asarray(f(*(state[x] for x in read), *loads), float)

        B, turning, dv = tangent.by_place, tangent.turning, tangent.by_speed
        by_place = slope("q") @ B
        by_speed, by_force = (np.zeros((*by_place.shape[:-1], x.shape[-1])) for x in (dv, forces))
        if "v" in read:
            of_speeds = slope("v")
            by_place, by_speed = by_place + of_speeds @ turning, of_speeds @ dv
        if "a" in read:
            of_rates = slope("a")
            by_place = by_place + of_rates @ (local.by_q @ B + local.by_v @ turning)
            by_speed = by_speed + of_rates @ (local.by_v @ dv)
            by_force = of_rates @ (local.by_force @ forces)
        labels = [f"{name}.{x}" for x in sensor.columns]
        return np.concatenate([by_place, by_speed, by_force], axis=-1), labels

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
                    known = (*self._whole.joint_names, *links, *self._sensors)
                    where = repr(self._model.mechanism.name)
                    raise UnknownNameError("joint, link or sensor", name, known, where) from None
            else:
                return S[..., at, :], [f"q:{x}" for x in self._labels(self._whole, at)]
        J = self._evaluator.call("frame_jacobian", (q,), frame=name, axes="world", base=base)
        return J, [f"{x}:{name}" for x in ALONG]

    @staticmethod
    def _labels(
        model: Model, speeds: Iterable[int], beyond: Mapping[str, range] | None = None
    ) -> list[str]:
        """A name for each speed: the joint's, or ``"joint[k]"`` where it has several."""
        own: dict[int, str] = {}
        places = {
            x: range(model.joints[x].v.start, model.joints[x].v.stop) for x in model.joint_names
        }
        for name, at in {**places, **(beyond or {})}.items():
            own |= {k: name if len(at) == 1 else f"{name}[{k - at.start}]" for k in at}
        return [own[k] for k in speeds]


def without_unread(model: StateSpace, names: Collection[str], *, asked: bool) -> StateSpace:
    """A model without those of some states on which nothing depends.

    asked: Outputs are asked for, and depend on them; otherwise they are states, which go too.
    """
    if not names:
        return model
    shown = [k for k, x in enumerate(model.outputs) if asked or x not in names]
    n = len(model.states)
    of_others = np.where(np.eye(n), 0.0, model.A)  # a sampled one stays what it is by itself
    of_all = np.concatenate([of_others, model.C[..., shown, :]], axis=-2)
    read = np.asarray(of_all.any(axis=tuple(range(of_all.ndim - 1))))
    lost = {x for x, used in zip(model.states, read, strict=True) if x in names and not used}
    kept = [k for k, x in enumerate(model.states) if x not in lost]
    rows = [k for k, x in enumerate(model.outputs) if asked or x not in lost]
    return replace(
        model,
        A=model.A[..., kept, :][..., kept],
        B=model.B[..., kept, :],
        C=model.C[..., rows, :][..., kept],
        D=model.D[..., rows, :],
        states=tuple(model.states[k] for k in kept),
        outputs=tuple(model.outputs[k] for k in rows),
    )
