"""Four thousand states at once: which postures of a PUMA 560 load the shoulder most?"""

import sys
import time

import numpy as np

import robodyn as rd


def main(n: int = 4096) -> dict[str, object]:
    robot = rd.load("puma560")
    rng = np.random.default_rng(0)
    q = rng.uniform(robot.lower_limits, robot.upper_limits, (n, robot.nq))
    robot.gravity_forces(q)  # compiles, or loads from the cache
    start = time.perf_counter()
    tau = robot.gravity_forces(q)
    elapsed = time.perf_counter() - start
    worst = int(np.abs(tau[:, 1]).argmax())
    return {"robot": robot, "q": q, "tau": tau, "worst": worst, "ns": 1e9 * elapsed / n}


def check(result: dict[str, object]) -> None:
    robot, q, tau = result["robot"], result["q"], result["tau"]
    one = [robot.gravity_forces(row) for row in q[:20]]
    np.testing.assert_allclose(tau[:20], one, atol=1e-12)


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    q, torque, worst = np.degrees(result["q"]), result["tau"][:, 1], result["worst"]
    axis = (figure := Figure((8, 4.5), layout="constrained")).subplots()
    points = axis.scatter(q[:, 1], torque, c=q[:, 2], s=6)
    axis.plot(q[worst, 1], torque[worst], "ko", fillstyle="none", markersize=10, label="the most")
    axis.set(xlabel="angle of the shoulder [degrees]", ylabel="torque that holds it [N m]")
    axis.legend(loc="lower right", bbox_to_anchor=(1, 1))
    figure.colorbar(points, label="angle of the elbow [degrees]")
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    check(result)
    worst = result["worst"]
    print(f"{result['ns']:.0f} ns a posture")
    print("worst posture [rad]:", result["q"][worst].round(2))
    print(f"shoulder torque there: {result['tau'][worst][1]:.1f} N m")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
