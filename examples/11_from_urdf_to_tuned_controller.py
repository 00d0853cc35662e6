"""From the URDF of a PUMA 560 to a controller that is as stiff as its computer allows."""

import sys
import warnings

import numpy as np

import robodyn as rd
from robodyn.controllers import ComputedTorque, Sampled, SCurve, Stretched
from robodyn.errors import LimitWarning

ARM = rd.load("puma560")  # what the controller knows
TOOL = rd.Inertia.from_matrix(1.5, (0.0, 0.0, 0.1), 0.02 * np.eye(3))
LOADED = ARM.with_(payload={"link6": TOOL})  # what it does not know
WORK = [np.zeros(6), [0.8, -0.7, 0.5, 0.3, 0.6, 0.2], [-0.4, -0.3, 0.9, -0.2, 0.3, -0.3]]  # [rad]
PERIOD, DELAY = 2e-3, 3e-3  # of its computer [s]
MARGIN = np.radians(45.0)  # of phase
# The loop w^2 (1 + 2 s / w) / s^2 of a joint has gain one at CROSSING w, PHASE above -180 degrees.
CROSSING = np.sqrt(2.0 + np.sqrt(5.0))
PHASE = np.arctan(2.0 * CROSSING)
LATE = DELAY + PERIOD / 2  # a result is held for a period
EDGE = PHASE / (CROSSING * LATE)  # [rad/s] beyond it the loop is unstable
TUNED = (PHASE - MARGIN) / (CROSSING * LATE)


def way() -> Stretched:
    """Through the work and back, as fast as motors are, with a reserve."""
    there = SCurve([*WORK, WORK[0]], velocity=1.0, acceleration=4.0, jerk=40.0)
    bounds = {"velocity": 0.8 * ARM.velocity_limits, "torque": 0.7 * ARM.effort_limits}
    return Stretched.within(there, there.duration, robot=ARM, **bounds)


def main() -> dict[str, np.ndarray]:
    reference = way()
    duration = reference.factor * reference.reference.duration
    bandwidths, errors = np.sort([TUNED, *EDGE * np.geomspace(0.05, 2.5, 7)]), []
    for w in bandwidths:
        controller = Sampled(ComputedTorque(ARM, reference, stiffness=w**2), PERIOD, DELAY)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LimitWarning)  # what is too stiff leaves them
            run = rd.simulate(LOADED, controller, duration=duration, limits="enforce")
        errors.append(np.linalg.norm(run.q - [reference(t)[0] for t in run.t], axis=1))
    return {"w": bandwidths, "t": run.t, "errors": np.array(errors)}


def check(result: dict[str, np.ndarray]) -> None:
    w, mean = result["w"], np.sqrt(np.mean(result["errors"] ** 2, axis=1))
    # what the model does not know of sags as 1 / w^2, until the loop comes near its edge
    sag = (mean * w**2)[(w > 10.0) & (w <= TUNED)]
    assert np.abs(sag / sag[-1] - 1.0).max() < 0.2
    assert mean[w == TUNED] < 2e-3
    assert mean[w > EDGE].min() > 4.0 * mean[w < EDGE].min()


def draw(result: dict[str, np.ndarray], path: str) -> None:
    from matplotlib.figure import Figure

    w, errors = result["w"], np.degrees(result["errors"])
    left, right = (figure := Figure(figsize=(10, 4), layout="constrained")).subplots(1, 2)
    left.loglog(w, np.sqrt(np.mean(errors**2, axis=1)), "o-")
    for x, name in ((TUNED, "tuned"), (EDGE, "edge of stability")):
        left.axvline(x, color="gray", linestyle=":")
        left.text(x, 0.97, f"{name} ", transform=left.get_xaxis_transform(), rotation=90,
                  ha="right", va="top")  # fmt: skip
    left.set(xlabel="bandwidth [rad/s]", ylabel="mean error [degrees]")
    for x, error in reversed([*zip(w, errors, strict=True)]):
        if x == TUNED or x > EDGE:
            right.plot(result["t"], error, label=f"{x:.0f} rad/s", linewidth=0.8)
    right.set(xlabel="time [s]", ylabel="error [degrees]")
    right.legend(title="bandwidth", loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    check(result)
    w, mean = result["w"], np.degrees(np.sqrt(np.mean(result["errors"] ** 2, axis=1)))
    print(f"bandwidth {TUNED:.0f} rad/s, stiffness {TUNED**2:.0f} 1/s^2; unstable from {EDGE:.0f}")
    print(f"mean error {mean[w == TUNED][0]:.3f} degrees")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
