"""An arm holds its posture by a computer that samples, filters speeds and acts late: how late?"""

import sys
import warnings

import numpy as np

import robodyn as rd
from robodyn.controllers import Filtered, JointPD, Sampled
from robodyn.errors import SampleWarning

PERIOD, CUTOFF = 4e-3, 200.0  # [s], [rad/s]
POSTURE = np.array([0.3, -0.5, 0.4, 0.2, 0.6, 0.1])
DELAYS = np.array([0.0, 2.5e-3, 5e-3, 10e-3, 25e-3])  # not all of them are whole periods [s]


def law(robot: rd.Robot) -> Filtered:
    """Springs and dampers at the joints, of the frequency 12 rad/s and well damped."""
    inertia = np.diagonal(robot.mass_matrix(POSTURE))
    still = np.zeros(6)
    pd = JointPD(robot, lambda t: (POSTURE, still, still), 144.0 * inertia, 2 * 12.0 * inertia)
    return Filtered(pd, CUTOFF, order=2, signal="speed")


def growth(robot: rd.Robot, delay: float) -> float:
    """By how much a small displacement has grown or decayed after a second, simulated."""
    digital = Sampled(law(robot), PERIOD, delay=delay)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SampleWarning)  # which says that it will be unstable
        run = rd.simulate(robot, digital, q0=POSTURE + 1e-7, duration=2.0, limits="ignore")
    size = np.abs(run.q - POSTURE).max(axis=1)
    return float(size[-500:].max() / size[-1500:-1000].max())


def main() -> dict[str, np.ndarray]:
    robot = rd.load("puma560", passive=False, gravity=(0.0, 0.0, 0.0))
    loops = [
        rd.closed_loop_model(robot, Sampled(law(robot), PERIOD, delay=delay), POSTURE)
        for delay in DELAYS
    ]
    spare, peaks = [], []
    for delay, loop in zip(DELAYS, loops, strict=True):
        least = {name: m.delay for name, m in loop.margins().items()}
        motor = min(least, key=lambda name: least[name])
        peaks.append(max(m.sensitivity for m in loop.margins().values()))
        spare.append(least[motor])
        print(f"{1e3 * delay:4.1f} ms late: {loop.stability}, {1e3 * spare[-1]:4.1f} ms to spare")
    sizes = np.array([np.abs(loop.poles).max() for loop in loops])
    return {
        "largest pole": sizes,
        "spare": np.array(spare),
        "sensitivity": np.array(peaks),
        "predicted": sizes ** (1.0 / PERIOD),
        "simulated": np.array([growth(robot, delay) for delay in DELAYS]),
    }


def check(found: dict[str, np.ndarray]) -> None:
    """What the model says of a second, a simulation with exact instants does."""
    unstable = found["largest pole"] > 1.0
    np.testing.assert_array_equal(found["simulated"] > 1.0, unstable)
    assert unstable.any() and not unstable[0]
    rates = np.log([found["simulated"][-1], found["predicted"][-1]])
    assert abs(rates[0] / rates[1] - 1.0) < 0.05
    assert (np.diff(found["spare"]) <= 0.0).all() and (np.diff(found["sensitivity"]) >= 0.0).all()


def draw(found: dict[str, np.ndarray], path: str) -> None:
    robot = rd.load("puma560", passive=False, gravity=(0.0, 0.0, 0.0))
    loop = rd.closed_loop_model(robot, Sampled(law(robot), PERIOD, delay=5e-3), POSTURE)
    loop.plot_nyquist(path)


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
