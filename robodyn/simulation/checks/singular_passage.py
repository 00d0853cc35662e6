"""Singular postures on the way of a closed linkage, at which its motion is not determined.

Where branches of assembly meet, the constraints lose rank, and rounding decides on which branch the
linkage goes on. A step that ends there breaks down, and a step across continues on one of the
branches. The error and the warning have the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.equations.closed_form.linkage import Linkage
from robodyn.errors import SingularWarning
from robodyn.robot import Robot
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.computed_fields import samples_of
from robodyn.simulation.trajectory.states import interpolation
from robodyn.simulation.trajectory.states.samples import Samples
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import (
    AT_FLAT,
    BROKEN_DOWN_POSTURE,
    SINGULAR_POSTURE,
    SINGULAR_VALUE_ROUNDING,
    SINGULAR_VALUE_ZERO,
)

#: A time in which a linkage leaves a singular posture, while its loops stay closed to rounding [s].
SOON = 1e-3


def _told(robot: Robot, time: float, q: FloatArray, distance: float, joint: str) -> str:
    """A singular posture on the way of a motion, in words.

    distance: The least singular value of the constraints, see `Robot.loop_rank`.
    joint: The joint that moves most in the additional motion that is possible there.
    """
    posture = ", ".join(f"{x:.4g}" for x in np.round(q, 4) + 0.0)
    return (
        f"the motion of {robot.name!r} comes to a singular posture at t = {round(time, 9):.4g} "
        f"s, where ways to assemble its loops meet and it is not determined how joint "
        f"{joint!r} goes on: their least singular value is {distance:.1g} at q = [{posture}]"
    )


#: Rounds of the search for a flat posture within a step.
FLAT_ROUNDS = 4


def flat_passage(samples: Samples) -> str:
    """The first flat posture that motions pass, in words; empty if there is none."""
    robot, t = samples.robot, samples.t
    for (k, *motion, loop), part in zip(
        *interpolation.flat_crossings(robot, samples.q), strict=True
    ):
        if not (t[k] < t[k + 1] and np.isfinite(part)):  # the motion jumps there, or has ended
            continue
        own = tuple(motion)
        part, q = _flat_within(samples, k, own, loop, float(part))
        near = (q, samples.q[k][own], samples.q[k + 1][own])
        found = _flat_at(robot, loop, float(t[k] + part * (t[k + 1] - t[k])), near)
        if found:
            which = f" (motion {', '.join(map(str, own))} of the batch)" if own else ""
            linkage = robot.model.flat_postures.loops[loop]
            return (
                f"{found}{which}; loop {linkage.name!r} has gone on in its branch "
                f"{linkage.branch:+d}{_turning_back(linkage)}"
            )
    return ""


def flat_ahead(robot: Robot, t: float, q: FloatArray, v: FloatArray, until: float) -> str:
    """The flat posture at which a motion broke down on its way to an instant.

    t [s]: Time of its last sample.
    until [s]
    """
    phase = robot.model.flat_postures.phases(q[None], robot.dependent_positions)[0]
    flat = np.flatnonzero(np.abs(phase - np.round(phase)) < AT_FLAT)
    if len(flat):
        return _flat_at(robot, int(flat[0]), t, (q,))
    h = max(until - t, SOON)
    way = np.array([q, robot.integrate(q, h * v)])
    steps, parts = interpolation.flat_crossings(robot, way)
    if not len(steps):
        return ""
    first = int(parts.argmin())
    between = robot.integrate(q, parts[first] * h * v)
    return _flat_at(robot, int(steps[first][-1]), float(t + parts[first] * h), (between, q))


def _flat_within(
    samples: Samples, k: int, motion: tuple[int, ...], loop: int, part: float
) -> tuple[float, FloatArray]:
    """Where in a step a loop is flat, as a fraction, and the posture there."""
    robot, start = samples.robot, samples.q[k][motion]
    low, high = 0.0, 1.0
    q = start
    for _ in range(FLAT_ROUNDS):
        q = interpolation.positions_between(samples, np.array([k]), np.array([part]))[0][motion]
        way = np.array([start, q, samples.q[k + 1][motion]])
        phases = robot.model.flat_postures.phases(way, robot.dependent_positions)[:, loop]
        before, at, after = phases - np.floor(phases.max())
        if not np.isfinite(at) or abs(at) < AT_FLAT:
            break
        if (at < 0.0) == (before < 0.0):
            low, before = part, at
        else:
            high, after = part, at
        part = low + (high - low) * before / (before - after)
    return part, q


def _flat_at(robot: Robot, loop: int, time: float, near: Iterable[FloatArray]) -> str:
    """A flat posture, the first of some, of which one beside it has to be closed."""
    near = tuple(near)
    full = next((x for x in map(robot.expand, near) if np.isfinite(x).all()), None)
    if full is None:
        return ""
    linkage = robot.model.flat_postures.loops[loop]
    joint = robot.model.bodies.bodies[linkage.dependent[0]].description.name
    distance = float(robot.tree_form.loop_rank(full).distance)
    return _told(robot, time, near[0], distance, joint)


def _turning_back(loop: Linkage) -> str:
    """What becomes of the motion of a loop beyond a flat posture, if it is not smooth."""
    if loop.fold is not None and loop.fold.smooth:
        return ""
    return (
        ", in which the joints that follow turn back within a step: load with coordinates='tree' "
        "for a motion that goes on smoothly"
    )


#: A posture is singular if the least singular value there is less than this fraction of its values
#: at the samples around.
JUMP = 0.2
#: Largest change of a coordinate between samples that are compared first [rad, m].
APART = 0.15
#: A singular value may pass zero where it is less than this fraction of its neighbours.
DIP = 0.5
#: Number of postures in each round of the search between two samples, and of rounds, each of which
#: is around the lowest posture of the round before.
LOOKS, ROUNDS = 9, 10
#: Number of states that are examined where a motion broke down.
AHEAD = 33


def _at(
    robot: Robot, time: float, q: FloatArray, rank: int, nearby: FloatArray, most: float
) -> str:
    """A singular posture beside one that is not; empty if its distance is not below ``most``."""
    distance = float(robot.loop_rank(q).distance)
    if not distance < most:
        return ""
    there, beside = (_free_motions(robot, x, k) for x, k in ((q, rank - 1), (nearby, rank)))
    joint = speed_names(robot)[int((there - beside).argmax())]
    return _told(robot, time, q, distance, joint)


def passage(samples: Samples) -> str:
    """The first singular posture that a motion passes; of a single motion alone."""
    robot, n = samples.robot, len(samples)
    if samples.batch or n < 3 or not _determined(robot):
        return ""
    way = np.cumsum(np.abs(np.diff(samples.q, axis=0)).max(axis=1))
    begins = np.diff(way // APART, prepend=0.0) > 0.0
    begins[-1] = True
    coarse = np.append(0, np.flatnonzero(begins) + 1)
    sizes = _sizes(robot, samples.q[coarse])
    rank = _rank(sizes)
    for k in _dips(sizes[:, rank - 1]):
        first, last = int(coarse[max(k - 1, 0)]), int(coarse[min(k + 1, len(coarse) - 1)])
        fine = _least(robot, samples.q[first : last + 1], rank)
        for j in _dips(fine):
            at = first + j
            steps = [k for k in (at - 1, at) if 0 <= k < n - 1 and samples.t[k] < samples.t[k + 1]]
            if not steps:  # the motion jumps there
                continue
            beside = float(fine[max(j - 1, 0) : j + 2].max())
            most = max(SINGULAR_POSTURE, min(BROKEN_DOWN_POSTURE, JUMP * beside))
            found = _within(samples, steps, rank, most)
            if found:
                return found
    return ""


def _dips(sizes: FloatArray) -> list[int]:
    """Indices at which singular values are so much smaller than beside that they may pass zero."""
    least = sizes.min()
    if least > DIP * sizes.max() and least >= SINGULAR_POSTURE:
        return []
    before, after = np.append(np.inf, sizes[:-1]), np.append(sizes[1:], np.inf)
    lowest = (sizes <= before) & (sizes <= after)
    beside = np.fmax(np.append(sizes[:1], sizes[:-1]), np.append(sizes[1:], sizes[-1:]))
    low = (sizes <= DIP * beside) | (sizes < SINGULAR_POSTURE)
    return [int(k) for k in np.flatnonzero(lowest & low)]


def _within(samples: Samples, steps: Sequence[int], rank: int, most: float) -> str:
    """The posture nearest to a singular one within one or two successive steps; as `_at`."""
    robot, t, first, count = samples.robot, samples.t, steps[0], len(steps)

    def at(parts: FloatArray) -> tuple[interpolation.Indices, FloatArray]:
        k = np.minimum(parts.astype(int), count - 1)
        return first + k, parts - k

    def states(parts: FloatArray) -> FloatArray:
        return interpolation.positions_between(samples, *at(parts))

    part = _lowest(lambda x: _least(robot, states(x), rank), 0.0, float(count), most)
    if part is None:
        return ""
    lowest = np.array([part])
    (k,), (part,) = at(lowest)
    time = float(t[k] + part * (t[k + 1] - t[k]))
    return _at(robot, time, states(lowest)[0], rank, samples.q[k + 1 if part < 0.5 else k], most)


def passage_ahead(
    robot: Robot,
    before: FloatArray,
    t: float,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    until: float,
) -> str:
    """The singular posture at which a motion broke down on its way to an instant.

    before (n, nq): Some postures of the motion.
    t [s]: Time of its last sample.
    until [s]
    """
    if robot.model.flat_postures.loops and (flat := flat_ahead(robot, t, q, v, until)):
        return flat
    if not _determined(robot):
        return ""
    ends = np.linspace(0.0, max(until - t, SOON), AHEAD)

    def states(h: FloatArray) -> FloatArray:
        h = h[:, None]
        return robot.integrate(np.broadcast_to(q, (len(h), len(q))), h * v + 0.5 * h * h * a)

    rank = _rank(_sizes(robot, np.vstack([before, states(np.array([SOON]))])))
    sizes = _least(robot, states(ends), rank)
    if not np.isfinite(sizes).all():
        return ""
    k = int(sizes.argmin())
    low, high = ends[max(k - 1, 0)], ends[min(k + 1, len(ends) - 1)]
    h = _lowest(lambda h: _least(robot, states(h), rank), low, high, BROKEN_DOWN_POSTURE)
    if h is None:
        return ""
    there, nearby = states(np.array([h, ends[0] if 2 * k >= AHEAD else ends[-1]]))
    return _at(robot, float(t + h), there, rank, nearby, BROKEN_DOWN_POSTURE)


def _determined(robot: Robot) -> bool:
    """Whether there are constraints, none of which depends on time."""
    return bool(robot.nc and robot.nv) and not robot.depends_on_time


def _sizes(robot: Robot, q: FloatArray) -> FloatArray:
    """Singular values of the constraints at postures, shape (n, k), the largest first.

    They are computed as roots of eigenvalues, in half of the time of a singular value
    decomposition, so those below `SINGULAR_VALUE_ROUNDING` are rounding.
    """
    K = np.asarray(robot.loop_jacobian(q))
    other = np.swapaxes(K, -1, -2)
    squares = np.linalg.eigvalsh(K @ other if K.shape[-2] <= K.shape[-1] else other @ K)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0))[..., ::-1])


def _rank(sizes: FloatArray) -> int:
    """The largest rank that constraints of some singular values have."""
    return int((sizes > SINGULAR_VALUE_ZERO * sizes.max(initial=0.0)).sum(axis=-1).max(initial=1))


def _free_motions(robot: Robot, q: FloatArray, rank: int) -> FloatArray:
    """Participation of each speed in the motions that constraints of a rank allow, shape (nv,)."""
    modes = np.asarray(np.linalg.svd(np.asarray(robot.loop_jacobian(q)))[2])
    return np.asarray((modes[rank:] ** 2).sum(axis=0))


def _least(robot: Robot, q: FloatArray, rank: int) -> FloatArray:
    """The ``rank``-th singular value at postures, shape (n,)."""
    return np.asarray(_sizes(robot, q)[:, rank - 1])


def _lowest(
    f: Callable[[FloatArray], FloatArray], low: float, high: float, most: float
) -> float | None:
    """Minimum of a function that takes arrays, shape (n,); ``None`` if it is not below ``most``.

    The search ends early where the values beside the minimum are so flat that it cannot be, and
    where the value is rounding.
    """
    at = low
    for _ in range(ROUNDS):
        x = np.linspace(low, high, LOOKS)
        sizes = f(x)
        k = int(sizes.argmin())
        first, last = max(k - 1, 0), min(k + 1, LOOKS - 1)
        if not 2.0 * sizes[k] - max(sizes[first], sizes[last]) < most:
            return None
        low, at, high = float(x[first]), float(x[k]), float(x[last])
        if sizes[k] < SINGULAR_VALUE_ROUNDING:
            break
    return at


def warn_of_passage(motion: Trajectory) -> None:
    """Warn once of a singular posture that a motion has passed."""
    for x in motion.phases or (motion,):
        if x.robot is None or not (x.robot.nc or x.robot.model.flat_postures.loops):
            continue
        samples = samples_of(x)
        told = flat_passage(samples) if x.robot.model.flat_postures.loops else ""
        if not told and (found := passage(samples)):
            told = f"{found}; it has gone on in one of the ways"
        if told:
            warn(SingularWarning(told))
            return
