"""Whether a controller is stable under the zero-order hold of its forces over each step.

Near a state the robot under constant forces moves by ``x' = A x``, and under the controller by
``x' = (A + B K) x``. Where the forces are held over a step ``h`` the state at its end is
``(Phi + Gamma B K) x``, with ``Phi = exp(A h)`` and ``Gamma`` the integral of ``exp(A s)`` over the
step. A law is unstable because of the hold if more eigenvalues of this matrix have a magnitude
above 1 than there are poles with a positive real part in continuous time. A shorter step or smaller
gains help, another integrator does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.caller import warn
from robodyn.errors import EnergyWarning, SimulationError
from robodyn.robot import Robot
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.motion.broken_motions import OnError
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import SPECTRAL_RADIUS_MARGIN

#: Steps of finite differences in coordinates and speeds.
DIFFERENCE = 1e-6
#: Largest number of times that a step is halved in the search for a stable one.
BISECTIONS = 40
#: Growth of the largest speed from which on a motion is checked.
GREAT_GROWTH = 100.0


def unstable_hold(
    mode: Mode, motion: Trajectory | None, step: float, which: tuple[int, ...] = ()
) -> str:
    """Why a motion grows because of the zero-order hold; empty if it does not, or that is unknown.

    It is known for trees under a symbolic controller, without driven joints. ``which``: the index
    of one of many motions; default: the first, or of many robots the fastest.
    """
    robot, controller = mode.robot, mode.controller
    if motion is None or controller is None or robot.nc or robot.depends_on_time:
        return ""
    law = controller.compiled_function
    if law is None or law.program is None or mode.driven or mode.base is not None or not robot.nv:
        return ""
    if which:
        n = int(np.ravel_multi_index(which, motion.v.shape[1:-1]))
    else:
        n = int(np.abs(motion.v[-1]).max(axis=-1).argmax()) if robot.parameter_rows else 0
    robot = robot.of_rows(n)
    q, v = (x[0].reshape(-1, x.shape[-1])[n] for x in (motion.q, motion.v))
    if not np.isfinite(q).all():  # it broke down at the start
        return ""
    A, closed = _models(robot, law, float(motion.t[0]), np.array(q), np.array(v))
    if not (np.isfinite(A).all() and np.isfinite(closed).all()):
        return ""
    poles = np.linalg.eigvals(closed)

    def unstable(h: float) -> bool:
        """Whether more modes grow than under the controller in continuous time."""
        return _growing(np.linalg.eigvals(_held(A, closed, h))) > _growing(np.exp(poles * h))

    if not unstable(step):
        return ""
    low, high = 0.0, step
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if unstable(middle) else (middle, high)
    if low == 0.0:
        return ""
    sizes, modes = np.linalg.eig(_held(A, closed, step))
    speeds = np.abs(modes[robot.nv :, np.abs(sizes).argmax()])
    energies = speeds**2 * np.diagonal(robot.mass_matrix(q))
    low *= 1.0 - SPECTRAL_RADIUS_MARGIN  # not just at the limit
    digit = 10.0 ** (np.floor(np.log10(low)) - 1.0)
    needed = float(np.floor(low / digit) * digit)
    joint, fastest = speed_names(robot)[int(energies.argmax())], poles[np.abs(poles).argmax()]
    pole = f"{fastest.real:.4g}" + (f" ± {abs(fastest.imag):.4g}i" if fastest.imag else "")
    return (
        f"the controller is unstable in joint {joint!r} where its forces are held for {step:.3g} "
        f"s: its fastest pole is {pole} 1/s. Take step={needed:.2g} or shorter, smaller gains, or "
        f"gains for held forces (LQR(dt={step:.3g})); another integrator does not help"
    )


def _models(
    robot: Robot, law: CompiledController, t: float, q: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """``A`` and ``A + B K`` at a state, shape (2 nv, 2 nv), by central differences."""
    n = robot.nv
    moves = DIFFERENCE * np.vstack([np.eye(2 * n), -np.eye(2 * n)])
    at, speeds = robot.integrate(np.tile(q, (4 * n, 1)), moves[:, :n]), v + moves[:, n:]
    forces = np.array([law(t, *state) for state in zip(at, speeds, strict=True)], float)
    found = []
    for tau in (np.tile(law(t, q, v), (4 * n, 1)), forces):
        a = robot.forward_dynamics(at, speeds, tau)
        slopes = (a[: 2 * n] - a[2 * n :]).T / (2.0 * DIFFERENCE)
        found.append(np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), slopes]))
    return found[0], found[1]


def _held(A: FloatArray, closed: FloatArray, step: float) -> FloatArray:
    """Transition matrix of small deviations over a step with held forces."""
    from scipy.linalg import expm

    n = len(A)
    whole = expm(step * np.block([[A, closed - A], [np.zeros((n, 2 * n))]]))
    return np.asarray(whole[:n, :n] + whole[:n, n:])


def _growing(sizes: Array) -> int:
    """How many of the eigenvalues of a step are those of modes that grow."""
    return int(np.count_nonzero(np.abs(sizes) > 1.0 + SPECTRAL_RADIUS_MARGIN))


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
