"""`excitation`: search for a motion that excites the base parameters, within limits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import each, number
from robodyn.errors import IdentificationError, SettingsError
from robodyn.identification.data.independent_motion import (
    IndependentJoints,
    States,
    independent_joints_of,
)
from robodyn.identification.estimation.equations import hidden, selected
from robodyn.identification.estimation.identify import structure
from robodyn.identification.motions.fourier import Bounds, Excitation, Series
from robodyn.literals import Criterion
from robodyn.robot import Robot
from robodyn.tolerances import EXCITATION_RANK

#: Samples per period, for each harmonic.
SAMPLES = 24
#: Range of rotary joints without limits, to either side [rad].
FREE = np.pi
#: Relative accuracy of amplitudes that torques limit: of the result, and of random starts.
PRECISION, ROUGH = 1e-4, 0.05
#: Largest number of gradients by finite differences, per iteration.
EVALUATIONS = 2
#: During the search, one of this many samples is checked for singular postures.
STRIDE = 3
#: Factor by which the resulting motion is sampled more densely for its final check.
DENSE = 4
#: Cost of motions in which loops do not close; larger than that of any other motion.
IMPOSSIBLE = 1e3


@checked_arguments
def excitation(
    robot: Robot,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    parameters: Iterable[str] | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    criterion: Criterion = "condition",
    iterations: int = 30,
    seed: int = 0,
) -> Excitation:
    """Find a periodic motion that excites the base parameters best, within limits.

    Positions stay within `Robot.lower_limits` and `Robot.upper_limits`, also of joints that follow
    by closed loops; continuous joints turn by half a turn at most.

    Parameters
    ----------
    robot : Robot
        With joints of one freedom; a moving base stands still in the motion.
    period : float [s]
    harmonics : int
        Sines and cosines of each joint, at least two.
    parameters : names, optional
        To be identified, as in `identify`.
    velocity, acceleration : float or array_like, shape (u,), optional
        Largest of each independent joint [rad/s, m/s], [rad/s^2, m/s^2]. Defaults: the
        `Robot.velocity_limits`; none.
    torque : float or array_like, shape (u,), optional [N m, N]
        Largest at each of them. Default: the `Robot.effort_limits`.
    criterion : {"condition", "logdet"}
        What is minimised: the condition number of the regressor of base parameters over its least
        singular value, so that motions are large, too; or the volume of the region of confidence.
    iterations : int
        Of the minimisation; 0: the best of a few random motions.
    seed : int
        The motion is a function of the arguments and of nothing else.

    Returns
    -------
    motion : Excitation
        A reference for controllers; ``motion.center`` is where to start, at rest. Joints that
        follow by closed loops stand still in it: drive ``motion.joints`` alone, and ask
        `Excitation.closed` for states with closed loops.

    Raises
    ------
    IdentificationError
        If gravity alone is too much for the motors, or base parameters show in no such motion.
    SettingsError, ShapeError
        For a robot that cannot be moved so, joints that nothing bounds, and limits that are none.

    Notes
    -----
    A joint moves as a finite Fourier series [Swevers et al. 1997] whose amplitudes are as large as
    limits allow. Limits hold at all times, not only at samples: a trigonometric polynomial of
    degree n that is sampled N times a period is nowhere larger than ``1 / cos(pi n / N)`` times its
    largest sample [Ehlich and Zeller 1964]. The torques are looked at at samples.

    Examples
    --------
    >>> import robodyn as rd
    >>> motion = rd.excitation(rd.load("scara"), period=4.0, acceleration=10.0, iterations=1)
    >>> position, velocity, acceleration = motion(0.5)
    >>> position.shape
    (4,)
    """
    period = number("period", period, "s")
    if not 0.0 < period < np.inf:
        raise SettingsError(f"period is {period!r}, expected a positive number of seconds")
    for name, given, least in (
        ("harmonics", harmonics, 2),
        ("iterations", iterations, 0),
        ("seed", seed, 0),
    ):
        if given < least:
            raise SettingsError(f"{name} is {given!r}, expected a whole number, at least {least}")
    independent = independent_joints_of(robot)
    bounds = _bounds(robot, independent, velocity, acceleration)
    series = Series(independent.count, int(harmonics), period, SAMPLES * int(harmonics), bounds)
    effort = _limit("torque", torque, independent.effort, independent.joints)
    search = _Search(independent, series, effort, parameters, criterion)
    x = search.best(np.random.default_rng(seed), int(iterations))
    return search.motion(robot, x)


def _limit(
    name: str, given: ArrayLike | None, default: FloatArray, joints: tuple[str, ...]
) -> FloatArray:
    """A limit of each independent joint; 0 in a file means no limit."""
    if given is None:
        return np.where(default > 0.0, default, np.inf)
    of = f", for {', '.join(joints)}"
    return each(name, given, len(joints), "a positive number", lambda x: x > 0.0, of)


def _bounds(
    robot: Robot,
    independent: IndependentJoints,
    velocity: ArrayLike | None,
    acceleration: ArrayLike | None,
) -> Bounds:
    free = np.full(independent.count, np.inf)
    v = _limit("velocity", velocity, independent.velocity, independent.joints)
    a = _limit("acceleration", acceleration, free, independent.joints)
    lower, upper = independent.lower.copy(), independent.upper.copy()
    for k, name in enumerate(independent.joints):
        unbounded = not np.isfinite(upper[k] - lower[k])
        if unbounded and independent.is_rotary[k]:
            middle = np.clip(independent.neutral[k], lower[k], upper[k])
            lower[k], upper[k] = max(lower[k], middle - FREE), min(upper[k], middle + FREE)
        elif unbounded:
            raise SettingsError(
                f"joint {name!r} of {robot.name!r} slides without limits: an excitation needs some"
            )
        if not np.isfinite(min(v[k], a[k])):
            raise SettingsError(
                f"nothing bounds how fast joint {name!r} of {robot.name!r} moves: give velocity= "
                "or acceleration="
            )
    return Bounds(lower, upper, v, a)


class _Search:
    """Minimises the criterion of the regressor over coefficients of the Fourier series."""

    def __init__(
        self,
        independent: IndependentJoints,
        series: Series,
        effort: FloatArray,
        parameters: Iterable[str] | None,
        criterion: Criterion,
    ) -> None:
        self._independent, self._series, self._effort = independent, series, effort
        self._criterion = criterion
        chosen = selected(independent.robot, parameters)
        self._described, scale = structure(independent.robot, chosen)
        columns = self._described.columns
        self._columns, self._scale = chosen[columns], scale[columns]
        self._force_scale = np.ones(independent.count)

    def _usual_forces(self, starts: list[FloatArray]) -> FloatArray:
        """Scale of each force: the motor's limit, or its usual size."""
        states = self._independent.states(*self._series.motion(starts[0]), stride=STRIDE)
        assert states is not None, "amplitudes are such that there are states"
        sizes = np.sqrt((self._independent.dynamics.forces(states) ** 2).mean(axis=0))
        sizes = np.maximum(sizes, 1e-9 * max(float(sizes.max()), 1e-300))
        return np.where(np.isfinite(self._effort), self._effort, sizes)

    def best(self, rng: np.random.Generator, iterations: int) -> FloatArray:
        """Search for the best motion, and return its coefficients."""
        from scipy.optimize import minimize

        starts = self._starts(rng)
        self._force_scale = self._usual_forces(starts)
        x = min(starts, key=self._cost)
        if iterations > 0:
            most = EVALUATIONS * iterations * (len(x) + 1)
            options = {"maxiter": iterations, "maxfun": most}
            found = minimize(self._cost, x, method="L-BFGS-B", options=options)
            x = np.asarray(found.x)
        return x

    def _starts(self, rng: np.random.Generator) -> list[FloatArray]:
        """Random feasible motions, every other one about the neutral posture."""
        starts = [self._series.random(rng) for _ in range(self._independent.dynamics.starts)]
        neutral = self._independent.neutral
        for k in range(0, len(starts), 2):
            starts[k] = self._series.begun(starts[k], neutral, 1.0)
        found, last = [], None
        for x in starts:
            try:
                found.append(self._within_torque(x, roughly=True))
            except IdentificationError as error:
                last = error
        if last is not None and not found:
            raise last
        return found

    def _cost(self, x: FloatArray) -> float:
        states = self._independent.states(*self._series.motion(x), stride=STRIDE)
        if states is None:
            return IMPOSSIBLE
        sizes = self._sizes(states)
        over = np.abs(self._independent.dynamics.forces(states)) / self._effort - 1.0
        penalty = 10.0 * float(np.maximum(over, 0.0).max(axis=0, initial=0.0).sum())
        if not sizes[0] > 0.0:
            return IMPOSSIBLE
        logs = np.log(sizes)
        if self._criterion == "condition":
            return float(logs[-1] - 2.0 * logs[0]) + penalty  # also for large motions
        return -float(logs.mean()) + penalty

    def _sizes(self, states: States) -> FloatArray:
        """Singular values of the scaled regressor, ascending."""
        W = self._independent.dynamics.regressor(states)[..., self._columns]
        W = (W / (self._force_scale[:, None] * self._scale)).reshape(-1, len(self._columns))
        return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(W.T @ W / len(W)), 0.0)))

    def _unseen(self, robot: Robot, states: States) -> IdentificationError:
        """The error for a motion that does not excite all base parameters."""
        W = self._independent.dynamics.regressor(states)[..., self._columns]
        W = W / self._force_scale[:, None]
        _, unseen = hidden(W, self._scale)
        names = self._described.names
        names = tuple(n for n, x in zip(names, unseen, strict=True) if x) or names
        base = ""
        if robot.base == "moving":
            base = (
                ": its base stands still in it; to identify what shows so, load the robot with "
                "base='fixed'"
            )
        return IdentificationError(
            f"no motion of {robot.name!r} within the limits was found that shows "
            f"{', '.join(names)}{base}",
            parameters=names,
        )

    def motion(self, robot: Robot, x: FloatArray) -> Excitation:
        """The motion for some coefficients, with amplitudes within the torque limits."""
        x = self._within_torque(x)
        center, sine, cosine = self._series.coefficients(x)
        states = self._independent.states(*self._series.motion(x))
        assert states is not None, "amplitudes are such that there are states"
        sizes = self._sizes(states)
        if not sizes[0] > EXCITATION_RANK * sizes[-1]:
            raise self._unseen(robot, states)
        at = self._independent.places(robot)
        sines, cosines = np.zeros((2, self._series.harmonics, robot.nq))
        sines[:, at], cosines[:, at] = sine, cosine
        start = self._independent.posture(robot, center)
        condition = float(sizes[-1] / sizes[0])
        return Excitation(
            start, sines, cosines, self._series.period, self._independent.joints, condition
        )

    def _within_torque(self, x: FloatArray, *, roughly: bool = False) -> FloatArray:
        """Coefficients with the largest amplitudes that motors and loops allow."""
        if not self._is_beyond_torque(x, 1.0, roughly).any():
            return x
        worst = self._is_beyond_torque(x, 0.0, roughly)
        names = [n for n, over in zip(self._independent.joints, worst, strict=True) if over]
        name = self._independent.robot.name
        if self._independent.states(*self._series.motion(self._series.shrunk(x, 0.0))) is None:
            raise IdentificationError(
                f"no motion of {name!r} was found along which its loops stay closed within the "
                "limits, far from where ways to assemble it meet"
            )
        if names:
            raise IdentificationError(
                f"at {', '.join(names)} of {name!r} gravity alone takes more than torque= or the "
                "limits of efforts allow"
            )
        low, high = 0.0, 1.0
        while high - low > (ROUGH if roughly else PRECISION):
            middle = 0.5 * (low + high)
            over = self._is_beyond_torque(x, middle, roughly).any()
            low, high = (low, middle) if over else (middle, high)
        return self._series.shrunk(x, low)

    def _is_beyond_torque(self, x: FloatArray, part: float, roughly: bool) -> NDArray[np.bool_]:
        """Whether torques are beyond their limits, with a part of the amplitudes, shape (u,).

        All are, where there is no such motion.
        """
        dense, stride = (1, STRIDE) if roughly else (DENSE, DENSE)
        motion = self._series.motion(self._series.shrunk(x, part), dense)
        states = self._independent.states(*motion, stride=stride)
        if states is None:
            return np.ones(self._independent.count, bool)
        return np.asarray(
            (np.abs(self._independent.dynamics.forces(states)) > self._effort).any(axis=0)
        )
