"""Linear equations of the parameters that are identified, and their least squares.

Forces of loops do no work in the equations. Least squares are weighted, and have error bars.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.arrays import named
from robodyn.equations.quantities.regressors import RESISTANCES
from robodyn.equations.tree.regressor import PARAMETERS
from robodyn.errors import AssemblyError, SettingsError, UnknownNameError
from robodyn.identification.data.independent_motion import FAR
from robodyn.identification.data.measurements import Measurements, thinned
from robodyn.minimal.reduced import ReducedRobot
from robodyn.model.changes.parameter_changes import changeable_bodies
from robodyn.model.speed_selection import speed_indices
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.loads.column_names import speed_names
from robodyn.tolerances import (
    BALANCED_TERMS,
    EXCITED_DIRECTION,
    LEAST_NOISE,
    NO_FORCE,
    NOISE_CONVERGED,
    ROUNDED_EQUATION,
    UNEXPLAINED_FORCE,
)


def selected(robot: Robot, names: Iterable[str] | None) -> NDArray[np.intp]:
    """Ascending indices of the selected parameters.

    names, optional: Of parameters, of bodies (their ten) and of joints (rotor inertia, damping and
        friction). Default: of all bodies with mass, of motors, and the friction of joints that have
        motors or that are described as having some.
    """
    known = robot.dynamic_parameter_names
    if names is None:
        chosen = _usual(robot)
    else:
        chosen = []
        owners = {name.rpartition(".")[0]: None for name in known}
        for name in named("parameters", names):
            of = [name] if name in known else [x for x in known if x.rpartition(".")[0] == name]
            if not of:
                raise UnknownNameError("parameter", name, [*owners, *known], repr(robot.name))
            chosen += of
    if not chosen:
        raise SettingsError(f"no parameters of {robot.name!r} are left to be identified")
    changeable = {*changeable_bodies(robot.model)}
    for name in dict.fromkeys(x.rpartition(".")[0] for x in chosen if _of_body(x)):
        if name not in changeable:
            raise SettingsError(
                f"{name!r} of {robot.name!r} is a free rotor, carries one, or is a link that is "
                "cut in two to close a loop: its parameters cannot be identified"
            )
    return np.array([k for k, name in enumerate(known) if name in {*chosen}], np.intp)


def _of_body(name: str) -> bool:
    return name.rpartition(".")[2] in PARAMETERS


def described_parameters(robot: Robot) -> dict[str, float]:
    """Parameters of a robot by name."""
    return dict(zip(robot.dynamic_parameter_names, robot.dynamic_parameters.tolist(), strict=True))


def _usual(robot: Robot) -> list[str]:
    values = described_parameters(robot)
    driven, changeable = {*robot.actuated_joints}, {*changeable_bodies(robot.model)}

    def wanted(name: str) -> bool:
        owner, _, what = name.rpartition(".")
        if what in PARAMETERS:
            return values[f"{owner}.m"] > 0.0 and owner in changeable
        return what not in RESISTANCES or owner in driven or values[name] != 0.0

    return [name for name in values if wanted(name)]


#: Length of steps to random closed postures [rad, m], and fractions of a step that are tried.
REACH, PARTS = 1.5, (1.0, 0.5, 0.25, 0.1, 0.03)
#: Number of different postures; further motions repeat them with other speeds.
POSTURES = 24
#: Rows of a matrix that are triangularised at once: they fit in the cache of a core.
BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Equations:
    """``W p = y`` at each sample, one row an independent speed.

    W (n, u, parameters)
    y (n, u) [N m, N]: Forces of motors, less those of springs, stops and the ground.
    names: Of the independent speeds.
    t (n,) [s]
    given (n, u) [N m, N]: Sizes of the forces that are measured or known, of which ``y`` is the
        difference.
    """

    W: FloatArray
    y: FloatArray
    names: tuple[str, ...]
    t: FloatArray
    given: FloatArray

    def condensed(self) -> CondensedEquations:
        """What least squares need to know of the samples, by QR factorization."""
        rows = range(len(self.names))
        factors = [_triangular(np.column_stack([self.W[:, k], self.y[:, k]])) for k in rows]
        R = np.stack(factors, axis=1)
        given = np.sqrt((self.given**2).mean(axis=0))
        return CondensedEquations(R[..., :-1], R[..., -1], self.names, len(self.t), given)

    def of(self, columns: NDArray[np.intp], known: FloatArray) -> Equations:
        """The equations for some parameters, with the forces of the others known.

        Parameters
        ----------
        columns : ndarray of int, shape (k,)
        known : ndarray, shape (n, u) [N m, N]
        """
        y, given = self.y - known, self.given + np.abs(known)
        return Equations(self.W[..., columns], y, self.names, self.t, given)


@dataclass(frozen=True, eq=False)
class CondensedEquations:
    """Few equations with the same sum of squares ``|W p - y|^2`` of each speed as all samples.

    They are the triangular factors of ``[W y]``, so they serve for all p and for all weights of
    the speeds.

    W (k, u, parameters)
    y (k, u) [N m, N]
    names: Of the independent speeds.
    samples: Number of samples that they stand for.
    given (u,) [N m, N]: Root mean square of the forces that are measured or known.
    """

    W: FloatArray
    y: FloatArray
    names: tuple[str, ...]
    samples: int
    given: FloatArray

    def weighted(self, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All rows in units of their noise (u,), one after the other."""
        return (self.W / noise[:, None]).reshape(-1, self.W.shape[-1]), (self.y / noise).ravel()


def _triangular(A: FloatArray) -> FloatArray:
    """The factor R of ``A = Q R``, by blocks of rows one after another."""
    R: FloatArray = A[:0]
    for first in range(0, len(A), BLOCK):
        R = np.asarray(np.linalg.qr(np.concatenate([R, A[first : first + BLOCK]]), mode="r"))
    return R


def equations(robot: Robot, data: Measurements) -> Equations:
    """``B^T Y p = B^T tau``: the forces that close loops do no work at possible speeds ``B u``."""
    if planets := robot.model.setup.planets:
        raise SettingsError(
            f"{planets[0].name!r} draws {robot.name!r} by its masses, which the regressor does not "
            "have: identify robot.with_(forces=...) without it, under gravity= that is the same "
            "everywhere"
        )
    Y = robot.dynamic_regressor(data.q, data.v, data.a, base=data.base)
    inertial = np.einsum("nij,nj->ni", robot.mass_matrix(data.q), data.a)
    forces = inertial + robot.bias_forces(data.q, data.v, base=data.base)
    known = forces - Y @ robot.dynamic_parameters
    reduced = robot.reduced()
    W, tau, t, names = Y, data.tau, data.t, speed_names(robot)
    if robot.nc:
        T, names = reduced.torque_map(data.q), reduced.independent_joints
        W, tau, known = T @ W, *(np.einsum("nij,nj->ni", T, x) for x in (tau, known))
    if data.cutoff is not None:
        t, W, tau, known = thinned(t, data.cutoff, W, tau, known)
    return Equations(W, tau - known, names, t, np.abs(tau) + np.abs(known))


def random_regressors(
    robot: Robot, rng: np.random.Generator, columns: NDArray[np.intp], near: FloatArray | None
) -> FloatArray:
    """Projected regressors of random motions, shape (n, u, k).

    Speeds and accelerations are about 1 rad/s, 1 rad/s^2. Loops are assembled as they are near a
    posture, by default the neutral one.

    columns (k,): Parameters that are looked at.
    near (nq,), optional
    """
    if robot.tree_form.nc and not robot.nc:
        # minimal coordinates may pass from one way of assembly to another
        near = None if near is None else robot.expand(near)
        robot = robot.tree_form
    reduced = robot.reduced()
    count = 8 + 3 * len(columns) // max(reduced.nu, 1)
    du, ddu = rng.normal(size=(2, count, reduced.nu))
    if robot.nc:
        some = _random_postures(robot, reduced, rng, min(count, POSTURES), near)
        q = np.resize(some, (count, robot.nq))
        v = reduced.expand_velocity(q, du)
        a = reduced.expand_acceleration(q, du, ddu)
        return np.asarray(reduced.torque_map(q) @ robot.dynamic_regressor(q, v, a)[..., columns])
    q = np.array([robot.random(rng) for _ in range(count)])
    base = _random_base(rng, count) if robot.base == "moving" else None
    return robot.dynamic_regressor(q, du, ddu, base=base)[..., columns]


def _random_postures(
    robot: Robot,
    reduced: ReducedRobot,
    rng: np.random.Generator,
    count: int,
    near: FloatArray | None,
) -> FloatArray:
    """Random closed postures on the same branch as a given one, by steps that stay on it."""
    start = robot.neutral() if near is None else robot.assemble(near, beyond_limits=True)
    joints = reduced.independent_joints
    own = [k for name in joints for k in speed_indices(robot.model, name)]
    found, rest = [], float(robot.loop_rank(start).distance)
    for _ in range(count):
        way = np.zeros(robot.nv)
        way[own] = rng.uniform(-REACH, REACH, len(own))
        for part in PARTS:
            try:
                goal = robot.integrate(start, part * way)
                q = robot.assemble(goal, hold=joints, near=start)
            except AssemblyError:
                continue
            if robot.loop_rank(q).distance > FAR * rest:
                found.append(q)
                break
        else:
            found.append(start)
    return np.array(found)


def _random_base(rng: np.random.Generator, count: int) -> BaseMotion:
    pose = BaseMotion.from_world(rng.normal(size=(count, 3)), rng.normal(size=(count, 4))).pose
    return BaseMotion(pose, *rng.normal(size=(2, count, 6)))


#: A parameter counts as unexcited if an unexcited direction has this component along it.
NAMED = 0.1
#: Largest number of iterations of the estimate of the noise.
ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Fit:
    """Weighted least-squares estimate of ``W x = y``, where each row has its own noise.

    values (r,)
    covariance (r, r)
    noise (u,): Standard deviation of each row.
    silent (u,): Rows without a force above the noise, though their terms are larger than it.
    """

    values: FloatArray
    covariance: FloatArray
    noise: FloatArray
    silent: NDArray[np.bool_]


def hidden(W: FloatArray, scale: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Directions of parameters that the data excite, and parameters that they do not excite.

    W (n, u, r)
    scale (r,): Size of each column in a motion of usual speed.
    Returns V (r, k): Columns are orthogonal where parameters are counted in units of ``1 / scale``.
    Returns unseen (r,)
    """
    R = np.linalg.qr((W / scale).reshape(-1, W.shape[-1]), mode="r")
    _, sizes, directions = np.linalg.svd(R)
    full = np.zeros(W.shape[-1])
    full[: len(sizes)] = sizes
    seen = full > EXCITED_DIRECTION * full.max(initial=0.0)
    unseen = np.abs(directions[~seen]).max(axis=0, initial=0.0) > NAMED
    return directions[seen].T / scale[:, None], unseen


def fit(
    at: CondensedEquations,
    noise: FloatArray | None,
    described: FloatArray,
    V: FloatArray | None = None,
) -> Fit:
    """Estimate parameters by weighted least squares.

    ``noise``, shape (u,), is the standard deviation of each row. By default it is that of what is
    left of the row, less what the parameters take up of it, found by repetition. ``described``,
    shape (r,), are the values of the description, which say how large the terms of a row without
    forces are. ``V``, shape (r, k), are directions in which parameters may differ from the
    description, such that ``W V`` has full rank, by default all.
    """
    W, origin = at.W, 0.0 * described if V is None else described
    A, b = W if V is None else W @ V, at.y - W @ origin

    def solved(sigma: FloatArray) -> tuple[_Rows, Fit]:
        x, covariance, used = _weighted(A, b, sigma)
        values, freedom = x, np.maximum(at.samples - used, 1.0)
        if V is not None:
            values, covariance = origin + V @ x, V @ covariance @ V.T
        rows = _Rows(at.given, terms, _terms(at, values), _size(b - A @ x, freedom))
        return rows, Fit(values, covariance, sigma, rows.silent)

    terms = _terms(at, described)
    if noise is not None:
        return solved(noise)[1]
    sigma = np.maximum(
        _size(at.y, at.samples), np.where(terms > BALANCED_TERMS * at.given, terms, 0.0)
    )
    sigma = np.maximum(sigma, NO_FORCE)
    least = LEAST_NOISE * sigma
    rows, found = solved(sigma)
    for _ in range(ROUNDS):
        new = np.maximum(rows.noise, least)
        change = np.abs(new - sigma).max() / new.max()
        sigma = new
        rows, found = solved(sigma)
        if change < NOISE_CONVERGED:
            break
    return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """Root mean squares of each row, shape (u,) [N m, N].

    ``given`` are forces that are measured or known, ``described`` and ``terms`` the terms ``W_j
    x_j`` by the description and by an estimate, and ``left`` is what that estimate leaves of the
    force.
    """

    given: FloatArray
    described: FloatArray
    terms: FloatArray
    left: FloatArray

    @property
    def balanced(self) -> NDArray[np.bool_]:
        """Rows of which the terms balance one another, with no other force above the noise.

        What is left of them is in proportion to the parameters, which it draws toward zero.
        """
        rounding = ROUNDED_EQUATION * self.described
        none = self.given <= np.maximum(UNEXPLAINED_FORCE * self.left, rounding)
        return np.asarray(none & (self.described > BALANCED_TERMS * self.given))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Balanced rows of which more than rounding is left, or whose terms have vanished."""
        return np.asarray(self.balanced & (self.left >= ROUNDED_EQUATION * self.terms))

    @property
    def noise(self) -> FloatArray:
        """What is left; of balanced rows, what would be left of terms of the described size.

        Otherwise a smaller estimate would leave less, weigh more, and become smaller still.
        """
        ratio = self.described / np.maximum(self.terms, NO_FORCE)
        return np.asarray(self.left * np.where(self.balanced, np.maximum(ratio, 1.0), 1.0))


def _size(x: FloatArray, count: FloatArray | int) -> FloatArray:
    """Root mean square of each row of so many samples, shape (u,)."""
    return np.asarray(np.sqrt((x**2).sum(axis=0) / count))


def _terms(at: CondensedEquations, values: FloatArray) -> FloatArray:
    """Root mean square of the terms of each row, one by one, shape (u,)."""
    return np.asarray(np.sqrt(((at.W * values) ** 2).sum(axis=(0, 2)) / at.samples))


def _weighted(
    W: FloatArray, y: FloatArray, sigma: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimates, their covariance, and the number of parameters that each row determines."""
    n, u, r = W.shape
    scaled = (W / sigma[:, None]).reshape(-1, r)
    size = np.linalg.norm(scaled, axis=0)
    Q, R = np.linalg.qr(scaled / size)
    values = np.linalg.solve(R, Q.T @ (y / sigma).ravel()) / size
    inverse = np.linalg.solve(R, np.eye(r)) / size[:, None]
    used = (Q**2).sum(axis=1).reshape(n, u).sum(axis=0)
    return values, inverse @ inverse.T, used
