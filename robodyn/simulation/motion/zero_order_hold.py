"""Whether a controller is stable where its forces are held from sample to sample, and act late.

A law is unstable because of that if more eigenvalues of its linear model from sample to sample, as
`robodyn.closed_loop_model` has it, have a magnitude above 1 than there are poles with a positive
real part in continuous time without a delay. A shorter period or smaller gains help, another
integrator does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.errors import EnergyWarning, RobodynError, SampleWarning, SimulationError
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import RobotCache, contents
from robodyn.simulation.control.controller import without_sampling
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.motion.broken_motions import OnError
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.state_space import StateSpace
from robodyn.state_space.poles import eigenvalues
from robodyn.tolerances import SPECTRAL_RADIUS_MARGIN

if TYPE_CHECKING:
    from robodyn.simulation.linear_loop.closed_loop_model import LinearLoop

#: Largest number of times that a step is halved in the search for a stable one.
BISECTIONS = 40
#: Growth of the largest speed from which on a motion is checked.
GREAT_GROWTH = 100.0
#: Growth from sample to sample that is told of before a motion; slower ones may be those of a robot
#: that swings without damping.
TOLD = 1e-3

#: What is told of digital controllers before their motions, by their contents.
_told: RobotCache[str] = RobotCache("unstable periods", most=32)


def unstable_hold(
    mode: Mode, motion: Trajectory | None, step: float, which: tuple[int, ...] = ()
) -> str:
    """Why a motion grows because of the zero-order hold; empty if it does not, or that is unknown.

    It is known without driven joints and moving bases. ``which``: the index of one of many motions;
    default: the first, or of many robots the fastest.
    """
    robot, controller = mode.robot, mode.controller
    if motion is None or controller is None:
        return ""
    if which:
        n = int(np.ravel_multi_index(which, motion.v.shape[1:-1]))
    else:
        n = int(np.abs(motion.v[-1]).max(axis=-1).argmax()) if robot.parameter_rows else 0
    q, v = (x[0].reshape(-1, x.shape[-1])[n] for x in (motion.q, motion.v))
    return _unstable(mode, robot.of_rows(n), controller.given, (q, v), float(motion.t[0]), step)


def _unstable(
    mode: Mode,
    robot: Robot,
    given: Any,
    state: tuple[FloatArray, FloatArray],
    t: float,
    step: float,
    growth: float = SPECTRAL_RADIUS_MARGIN,
) -> str:
    """Why a controller is unstable near a state; empty if it is not, or that is not known.

    growth: From which part on a mode grows, from sample to sample.
    """
    q, v = (np.array(x, float) for x in state)
    known = not (robot.depends_on_time or mode.driven or mode.base is not None) and robot.nv
    if not (known and np.isfinite(q).all() and np.isfinite(v).all()):
        return ""
    try:
        law, period, delay = without_sampling(given)
        if not getattr(law, "symbolic", False):  # functions of users may do more than return forces
            return ""
        from robodyn.simulation.linear_loop.closed_loop_model import LinearLoop

        loop = LinearLoop(robot, law, q, v, t, period or step, lasting=False)
        return _reason(robot, loop, period, delay, step, growth)
    except (RobodynError, TypeError, np.linalg.LinAlgError):  # there is no linear model there
        return ""


def _reason(
    robot: Robot, loop: LinearLoop, period: float | None, delay: float, step: float, growth: float
) -> str:
    """Why a loop with forces that are held is unstable; empty if it is not."""
    held = period or step
    if not _growing(loop.model(held, delay), growth):
        return ""
    poles = loop.model(None).poles

    def unstable(h: float, late: float = delay) -> bool:
        """Whether more modes grow than under the controller in continuous time."""
        growing = np.abs(np.exp(poles * h)) > 1.0 + growth
        return _growing(loop.model(h, late), growth) > int(np.count_nonzero(growing))

    if not unstable(held):
        return ""
    what = "period" if period else "step"
    joint, fastest = _fastest(robot, loop, loop.model(held, delay)), poles[np.abs(poles).argmax()]
    pole = f"{fastest.real:.4g}" + (f" ± {abs(fastest.imag):.4g}i" if fastest.imag else "")
    late = f" and act {delay:.3g} s late" if delay else ""
    told = (
        f"the controller is unstable in joint {joint!r} where its forces are held for {held:.3g} "
        f"s{late}: its fastest pole is {pole} 1/s. Take "
    )
    if delay and not unstable(held, 0.0):
        return told + "a shorter delay or smaller gains; another integrator does not help"
    low, high = 0.0, held
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if unstable(middle, 0.0) else (middle, high)
    if low == 0.0:
        return ""
    low *= 1.0 - SPECTRAL_RADIUS_MARGIN  # not just at the limit
    digit = 10.0 ** (np.floor(np.log10(low)) - 1.0)
    needed = float(np.floor(low / digit) * digit)
    return told + (
        f"{what}={needed:.2g} or shorter, smaller gains, or gains for held forces "
        f"(LQR(dt={held:.3g})); another integrator does not help"
    )


def _growing(model: StateSpace, growth: float) -> int:
    """How many modes of a sampled model grow, beyond rounding."""
    if not (np.abs(np.linalg.eigvals(model.A)) > 1.0 + growth).any():
        return 0
    values, errors = eigenvalues(model.A)
    return int(np.count_nonzero(np.abs(values) > 1.0 + np.maximum(errors, growth)))


def _fastest(robot: Robot, loop: LinearLoop, model: StateSpace) -> str:
    """The joint with the most energy in the mode that grows fastest."""
    sizes, modes = np.linalg.eig(model.A)
    states = loop.plant.model.states
    shape = np.abs(modes[: len(states), np.abs(sizes).argmax()])
    names, inertia = speed_names(robot), np.diagonal(robot.mass_matrix(loop.plant.q))
    energies = {
        x[2:]: size**2 * inertia[names.index(x[2:])]
        for x, size in zip(states, shape, strict=True)
        if x.startswith("v:")
    }
    return max(energies, key=lambda x: energies[x])


def warn_of_unstable_period(mode: Mode, q: FloatArray, v: FloatArray) -> bool:
    """Warn of a digital controller that is unstable at its period, before a motion begins.

    Of one whose contents are known, once near one start; of others, a motion that grows is told of.
    Returns whether it has warned.
    """
    given = mode.controller
    if getattr(given, "controller", None) is None or not q.size:
        return False
    try:
        period = without_sampling(given)[1]
    except RobodynError:
        return False
    key = contents(given, same=True) if period else None
    if key is None:
        return False
    first = q.reshape(-1, q.shape[-1])[0], v.reshape(-1, v.shape[-1])[0]
    robot = mode.robot.of_rows(0)
    found = _told.get(robot, key, lambda: _unstable(mode, robot, given, first, 0.0, 0.0, TOLD))
    if found:
        warn(SampleWarning(f"before the motion of {mode.robot.name!r}: {found}"))
    return bool(found)


def explaining_unstable_hold(mode: Mode, step: float) -> OnError:
    """Context that adds the reason to the error of a motion broken by the hold."""

    def explain(error: BaseException) -> None:
        if not isinstance(error, SimulationError):
            return
        found = unstable_hold(mode, error.trajectory, step, error.motion)
        if found:
            names = "trajectory", "time", "motion", "motions"
            given: dict[str, Any] = {name: getattr(error, name) for name in names}
            until = "" if error.time is None else f" until t = {error.time:.6g} s"
            raise SimulationError(
                f"the motion of {mode.robot.name!r} grows without bound{until}: {found}", **given
            ) from error

    return OnError(explain)


def warn_of_unstable_hold(mode: Mode, motion: Trajectory, step: float) -> bool:
    """Warn once of a motion that has grown because of the hold. Returns whether it has warned."""
    if mode.controller is None or not len(motion):
        return False
    first, last = (float(np.abs(motion.v[k]).max(initial=0.0)) for k in (0, -1))
    found = unstable_hold(mode, motion, step) if last > GREAT_GROWTH * (1.0 + first) else ""
    if found:
        warn(EnergyWarning(f"the motion of {mode.robot.name!r} grows: {found}"))
    return bool(found)
