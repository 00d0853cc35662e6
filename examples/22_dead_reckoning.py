"""Where does a hand go, as the IMU on it tells?

An arm waves. Turning rates and specific forces that an IMU on its hand shows are integrated, as an
inertial navigation does it: orientation from the rates, velocity from the forces and gravity, and
position from that. A force sensor in the wrist shows what carries the hand meanwhile.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.spatial.transform import Rotation

import robodyn as rd

STEP, GRAVITY = 1e-3, np.array([0.0, 0.0, -9.81])
IMU = ("link7", np.array([0.02, 0.0, 0.05]))


def wave() -> rd.Trajectory:
    """A motion of the arm, driven along sines."""
    sensors = [
        rd.Sensor("imu", at=IMU, name="imu"),
        rd.Sensor("position", at=IMU, name="place"),
        rd.Sensor("velocity", at=IMU, name="velocity"),
        rd.Sensor("orientation", at=IMU, name="attitude"),
        rd.Sensor("wrench", joint="flange_roll", name="wrist"),
    ]
    arm = rd.load("arm7", sensors=sensors)

    def path(k: int) -> rd.JointPath:
        size, rate = 0.3 + 0.05 * k, 1.0 + 0.3 * k
        return rd.JointPath(
            lambda t: (
                size * np.sin(rate * t),
                size * rate * np.cos(rate * t),
                -size * rate * rate * np.sin(rate * t),
            )
        )

    driven = {name: path(k) for k, name in enumerate(arm.joint_names)}
    return rd.simulate(arm, duration=3.0, step=STEP, controlled=driven, limits="ignore")


def reckon(run: rd.Trajectory) -> np.ndarray:
    """Places of the IMU, shape (n, 3) [m], from what it shows and from where it starts."""
    shown = run.measurements
    R = Rotation.from_matrix(shown["attitude"][0].reshape(3, 3))
    v, places = shown["velocity"][0], [shown["place"][0]]
    force, rate = shown["imu"][:, :3], shown["imu"][:, 3:]
    for k in range(len(run) - 1):
        turned = R * Rotation.from_rotvec(0.5 * STEP * (rate[k] + rate[k + 1]))
        a = 0.5 * (R.apply(force[k]) + turned.apply(force[k + 1])) + GRAVITY
        places.append(places[-1] + STEP * v + 0.5 * STEP**2 * a)
        R, v = turned, v + STEP * a
    return np.array(places)


def main() -> dict[str, object]:
    run = wave()
    found = reckon(run)
    error = np.linalg.norm(found - run.measurements["place"], axis=1)
    way = np.linalg.norm(np.diff(run.measurements["place"], axis=0), axis=1).sum()
    load = np.linalg.norm(run.measurements["wrist"][:, :3], axis=1).max()
    print(f"the hand moved {way:.2f} m and was lost by {1e3 * error.max():.3f} mm")
    print(f"the wrist carried {load:.1f} N at most")
    numbers = {"way": float(way), "error": float(error.max()), "load": float(load)}
    return numbers | {"run": run, "found": found}


def check(found: dict[str, object]) -> None:
    assert found["way"] > 0.5
    assert found["error"] < 1e-4
    assert found["load"] > 1.0


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    t, place = result["run"].t, result["run"].measurements["place"]
    upper, lower = (figure := Figure((8, 5), layout="constrained")).subplots(2)
    upper.plot(place[:, 0], place[:, 2], linewidth=4, alpha=0.4, label="where the hand is")
    upper.plot(result["found"][:, 0], result["found"][:, 2], label="as the IMU tells")
    upper.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    upper.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    lower.plot(t, 1e6 * (result["found"] - place), label=["x", "y", "z"])
    lower.set(xlabel="time [s]", ylabel="lost by [um]")
    lower.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
