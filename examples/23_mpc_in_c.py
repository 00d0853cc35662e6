"""Model-predictive control of a closed linkage, as C that CasADi writes.

A five-bar goes to a place by the torques that are best over the next 0.12 s, found anew every
20 ms. Its dynamics are robodyn's, the solver is CasADi's; both become one C function, which a
compiler makes a library of.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import casadi
import numpy as np

import robodyn as rd

AHEAD, STEP, LIMIT, SPEED, GOAL = 6, 0.02, 30.0, 7.0, np.array([0.4, -0.3])


def controller_step(arm: rd.Robot) -> casadi.Function:
    """Torques from positions, speeds and the goal."""
    f = arm.function("forward_dynamics").casadi()
    opti = casadi.Opti()
    q0, v0, goal = (opti.parameter(2) for _ in range(3))
    tau = opti.variable(2, AHEAD)
    q, v, cost = opti.variable(2, AHEAD + 1), opti.variable(2, AHEAD + 1), 0
    opti.subject_to(casadi.vertcat(q[:, 0], v[:, 0]) == casadi.vertcat(q0, v0))
    for k in range(AHEAD):  # midpoint rule
        middle = v[:, k] + STEP / 2 * f(q[:, k], v[:, k], tau[:, k])
        a = f(q[:, k] + STEP / 2 * v[:, k], middle, tau[:, k])
        opti.subject_to(q[:, k + 1] == q[:, k] + STEP * middle)
        opti.subject_to(v[:, k + 1] == v[:, k] + STEP * a)
        cost += 1e3 * casadi.sumsqr(q[:, k + 1] - goal) + casadi.sumsqr(v[:, k + 1])
        cost += 1e-2 * casadi.sumsqr(tau[:, k])
    opti.subject_to(opti.bounded(-LIMIT, casadi.vec(tau), LIMIT))
    opti.subject_to(opti.bounded(-SPEED, casadi.vec(v[:, 1:]), SPEED))
    opti.minimize(cost)
    quiet = ("print_time", "print_header", "print_iteration", "print_status")
    inner = {"print_iter": False, "print_header": False}
    options = dict.fromkeys(quiet, False) | {"qpsol_options": inner, "max_iter": 10}
    options["error_on_fail"] = False  # the best torques after ten iterations will do
    opti.solver("sqpmethod", {"qpsol": "qrqp", **options})
    return opti.to_function("step", [q0, v0, goal], [tau[:, 0]], ["q", "v", "goal"], ["tau"])


def compiled(step: casadi.Function, folder: str) -> casadi.Function:
    """The same, from C."""
    source, library = Path(folder, "step.c"), Path(folder, "step.so")
    code = casadi.CodeGenerator("step.c")
    code.add(step)
    code.generate(f"{folder}/")
    command = ["cc", "-O1", "-fPIC", "-shared", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return casadi.external("step", str(library))


def main() -> dict[str, object]:
    arm = rd.load("five_bar", coordinates="minimal")
    solved = controller_step(arm)
    with tempfile.TemporaryDirectory() as folder:
        step = compiled(solved, folder)
        same = step([0.1, 0.0], [0.0, 0.2], GOAL) - solved([0.1, 0.0], [0.0, 0.2], GOAL)

        def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return step(q, v, GOAL).full().ravel()

        law = rd.controllers.Sampled(control, period=STEP)
        run = rd.simulate(arm, law, q0=[0, 0], v0=[0, 0], duration=0.6)
    print(f"after {run.t[-1]:g} s {abs(run.q[-1] - GOAL).max():.4f} rad are left")
    return {"run": run, "difference": float(casadi.norm_inf(same))}


def check(found: dict[str, object]) -> None:
    run = found["run"]
    assert found["difference"] < 1e-6
    assert abs(run.tau).max() <= LIMIT + 1e-6
    assert abs(run.q[-1] - GOAL).max() < 0.02


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    run = result["run"]
    upper, lower = (figure := Figure((8, 5), layout="constrained")).subplots(2, sharex=True)
    upper.plot(run.t, run.q, label=["left", "right"])
    upper.hlines(GOAL, 0, run.t[-1], linestyle=":", color="gray")
    upper.set(ylabel="position [rad]")
    upper.legend()
    lower.step(run.t[:-1], run.tau[: len(run.t) - 1], where="post")
    lower.set(xlabel="time [s]", ylabel="torque [N m]")
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
