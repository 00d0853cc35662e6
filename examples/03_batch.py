"""Four thousand states at once: which postures of a PUMA 560 load the shoulder most?"""

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


if __name__ == "__main__":
    result = main()
    check(result)
    worst = result["worst"]
    print(f"{result['ns']:.0f} ns a posture")
    print("worst posture [rad]:", result["q"][worst].round(2))
    print(f"shoulder torque there: {result['tau'][worst][1]:.1f} N m")
