"""Parameters of a robot, and the combinations of them that determine its motions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, Random
from robodyn.arrays import generator
from robodyn.description.values import why_impossible
from robodyn.equations.mechanism.bodies import Body
from robodyn.equations.quantities.regressors import motor_parameters
from robodyn.equations.tree.regressor import PARAMETERS, body_link, parameters_of, ten_of
from robodyn.errors import InertiaError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.motion.base_motion import BaseMotion
from robodyn.quick_dataclass import dataclass
from robodyn.results import BaseParameters
from robodyn.symbolic.evaluate import evaluate
from robodyn.tolerances import BASE_PARAMETER, BINDING_CONSTRAINT


@dataclass(frozen=True, eq=False)
class Parameters:
    """Inertial parameters, those of motors and of friction.

    random: Makes a closed posture, shape (nq,), from a random generator; one where no branches
        meet.
    """

    _model: Model
    _evaluator: Evaluator
    _random: Callable[[np.random.Generator], Array]

    @property
    def body_names(self) -> tuple[str, ...]:
        """Moving bodies, each by the link that its joint moves."""
        bodies = self._model.bodies
        return tuple(body_link(bodies, body) for body in bodies)

    @property
    def inertial_names(self) -> tuple[str, ...]:
        """``"link.m"``, ``"link.hx"``, ..., ``"link.Izz"``."""
        return tuple(f"{body}.{name}" for body in self.body_names for name in PARAMETERS)

    @cached_property
    def inertial(self) -> Array:
        """Ten numbers for each moving body, shape (10 n,); see `Robot.inertial_parameters`."""
        if self._evaluator.rows is not None:
            return self._evaluator.rows.inertial
        bodies = self._model.bodies
        return np.array([x for body in bodies for x in parameters_of(bodies, body)], float)

    @property
    def symbols(self) -> dict[str, float]:
        """Named numbers with their values; see `Robot.symbols`."""
        return dict(self._evaluator.options.symbols.values)

    @property
    def dynamic_names(self) -> tuple[str, ...]:
        """Inertial parameters, then ``"joint.rotor_inertia"``, ``"joint.damping"``, ..."""
        return (*self.inertial_names, *motor_parameters(self._model.setup))

    @cached_property
    def dynamic(self) -> Array:
        """All parameters, shape (n,); see `Robot.dynamic_parameters`."""
        beside, rows = motor_parameters(self._model.setup), self._evaluator.rows
        if rows is None:
            return np.concatenate([self.inertial, np.array(list(beside.values()), float)])
        others = [np.broadcast_to(rows.values.get(x, y), len(rows)) for x, y in beside.items()]
        return np.column_stack([self.inertial, *others])

    @cached_property
    def total_mass(self) -> float | Array:
        """Mass of everything that moves [kg]; see `Robot.total_mass`."""
        model, rows = self._model, self._evaluator.rows
        if rows is None:
            return model.total_mass
        own = np.array([body.inertia.m for body in model.bodies], float)
        return np.asarray(model.total_mass + (rows.inertial[:, ::10] - own).sum(axis=1))

    def refuse_impossible(self, before: Model | None, given: Mapping[str, str]) -> None:
        """Refuse inertias that no body can have, unless the body had one before.

        before: None if such bodies were allowed before and no longer are.
        given: What was given that may have changed a body, as in ``payload['hand']``, and the link
            that it was given for.
        """
        bodies = self._model.bodies
        for body in bodies if before is None else _changed(before, self._model):
            name = body_link(bodies, body)
            ten = np.array(ten_of(body.inertia), float)  # in any frame
            m, h, (xx, xy, yy, xz, yz, zz) = ten[0], ten[1:4], ten[4:]
            c = h / m if m else h
            about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            reason = why_impossible(m, about - m * ((c @ c) * np.eye(3) - np.outer(c, c)))
            if reason:
                frames, mechanism = bodies.frames, self._model.mechanism
                by = [x for x, link in given.items() if frames[link][0] == body.index]
                links = [x for x in mechanism.links if x.name == name]
                body_of = f"body {name!r} of {mechanism.name!r}"
                raise InertiaError(
                    f"{', '.join(by)} make {body_of} one that none can be: {reason}; "
                    "allow_unphysical=True takes it as it is"
                    if by
                    else f"{body_of} is one that none can be: {reason}; allow_unphysical=False "
                    "refuses it",
                    **(mechanism.where(links[0]) if links else {}),
                )

    def base_parameters(self, rng: Random | None) -> BaseParameters:
        """Combinations that can be identified; see `Robot.base_parameters`."""
        Y = self._random_regressor(generator(rng))
        if self._model.settings.coordinates != "minimal":
            return base_of(self.inertial_names, self.inertial, Y)
        # near singular postures forces grow without bound: no posture counts more than another
        Y = Y / np.maximum(np.linalg.norm(Y, axis=(1, 2), keepdims=True), 1e-300)
        sizes = np.sqrt((Y**2).mean(axis=(0, 1)))
        sizes = np.where(sizes > BASE_PARAMETER * sizes.max(initial=0.0), sizes, 1.0)
        inertial = sizes * self.inertial
        scaled = base_of(self.inertial_names, inertial, Y / sizes)
        combination = scaled.combination * sizes / sizes[scaled.columns][:, None]
        return BaseParameters(
            self.inertial_names, scaled.columns, combination, combination @ self.inertial
        )

    def _random_regressor(self, rng: np.random.Generator) -> Array:
        """Regressor over random motions, shape (n, nv, 10 nb) or, with loops, (rows, 10 nb).

        Loops let only some motions happen, and of the forces of a tree only those along possible
        motions are not taken by the loops: ``B^T Y`` with ``K B = 0``.
        """
        nv, setup = self._model.bodies.nv, self._model.setup
        enough = 2 + 3 * len(self.inertial)
        dof = self._possible_motions(self._random(rng))[2].shape[1] if setup.closed else nv
        q = np.array([self._random(rng) for _ in range(enough // max(dof, 1) + 1)])
        count = len(q)
        v, a = rng.normal(size=(2, count, nv))
        arrays: list[ArrayLike] = [q, v, a]
        bases: list[Array] = []
        if setup.closed:
            for k in range(count):
                v_least, bias_of, B = self._possible_motions(q[k])
                v[k] = v_least + B @ (B.T @ v[k])
                a[k] = bias_of(v[k]) + B @ (B.T @ a[k])
                bases.append(B)
        if self._model.settings.base == "moving":
            positions, quaternions = rng.normal(size=(count, 3)), rng.normal(size=(count, 4))
            arrays.append(BaseMotion.from_world(positions, quaternions).pose)
            arrays += [*rng.normal(size=(2, count, 6))]
        if setup.rheonomic:  # postures of linkages are those of time zero
            arrays.append(np.zeros(count) if setup.closed else rng.uniform(0.0, 10.0, count))
        Y = evaluate(self._evaluator.program("regressor", {}), *arrays)[0]
        return np.concatenate([B.T @ of for B, of in zip(bases, Y, strict=True)]) if bases else Y

    def _possible_motions(self, q: Array) -> tuple[Array, Callable[[Array], Array], Array]:
        """Speeds and accelerations that loops allow at a closed posture.

        Returns v (nv,): The least speeds that there can be, which are zero unless loops move by
            themselves.
        Returns a: The least accelerations, shape (nv,), at possible speeds.
        Returns B (nv, dof): Orthonormal: speeds and accelerations may have any part along its
            columns besides.
        """
        at = self._evaluator.at(0.0) if self._model.setup.rheonomic else self._evaluator
        K = at.call("loop_jacobian", (q,))
        _, sizes, rows = np.linalg.svd(K)
        rank = int(np.sum(sizes > BINDING_CONSTRAINT * sizes[0])) if sizes[:1].any() else 0
        least = np.linalg.pinv(K, rcond=BINDING_CONSTRAINT)
        offset = at.call("loop_velocity_offset", (q,))
        return -least @ offset, lambda v: -least @ at.call("loop_bias", (q, v)), rows[rank:].T


def _changed(before: Model, now: Model) -> Iterator[Body]:
    """Bodies whose parameters differ between two models."""
    bodies, same = now.bodies, now.bodies.frames is before.bodies.frames
    if same:
        old = [*before.bodies]
    else:
        by_link = {body_link(before.bodies, body): body for body in before.bodies}
        old = [by_link.get(body_link(bodies, body)) for body in bodies]
    for body, known in zip(bodies, old, strict=True):
        if known is None or (
            body.inertia is not known.inertia
            and ten_of(body.inertia) != ten_of(known.inertia)
            and (same or parameters_of(bodies, body) != parameters_of(before.bodies, known))
        ):
            yield body


def base_of(
    names: tuple[str, ...], values: Array, regressors: Array, visible: float = BASE_PARAMETER
) -> BaseParameters:
    """Combinations of parameters that forces depend on, given regressors of motions.

    QR decomposition with column pivoting: columns that are found first stand for what the others
    add to them [Gautier 1991].

    names: Of the parameters.
    values (n,)
    regressors (..., n): Over motions of which no two are alike.
    visible: Part of the largest effect below which there is none.
    """
    from scipy.linalg import qr, solve_triangular

    columns = len(names)
    R, order = qr(regressors.reshape(-1, columns), mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > visible * diagonal[0])) if diagonal[:1].any() else 0
    dependent = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    combination = np.zeros((rank, columns))
    combination[np.arange(rank), order[:rank]] = 1.0
    combination[:, order[rank:]] = np.where(np.abs(dependent) > BASE_PARAMETER, dependent, 0.0)
    ordered = np.argsort(order[:rank])
    combination = combination[ordered]
    return BaseParameters(names, np.sort(order[:rank]), combination, combination @ values)
