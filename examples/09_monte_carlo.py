"""How stiff must a PUMA 560 be held, if it takes all payloads for 1 kg? Random gains and starts."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import robodyn as rd

ARM = rd.load("puma560", passive=False)
GOAL = np.array([0.0, 0.6, -0.8, 0.0, 0.5, 0.0])  # [rad]
MASSES = (0.5, 1.0, 1.5, 2.0)  # [kg]
SAMPLES = 150


def carrying(mass: float) -> rd.Robot:
    payload = rd.Inertia.from_matrix(mass, (0, 0, 0.1), 0.02 * mass * np.eye(3))
    return ARM.with_(payload={"link6": payload})


NOMINAL = carrying(1.0)  # what the controller knows


def hold(robot: list[rd.Robot], sample: np.ndarray, rng: list[np.random.Generator]) -> dict:
    """Motions to the goal, side by side: all rows of a batch have the same robot."""
    k = np.array([r.uniform(100.0, 900.0) for r in rng])[:, None]  # [1/s^2]
    d = np.array([r.uniform(1.6, 2.2) for r in rng])[:, None] * np.sqrt(k)  # [1/s]
    start = np.array([GOAL + r.uniform(-0.2, 0.2, GOAL.size) for r in rng])

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return NOMINAL.inverse_dynamics(q, v, k * (GOAL - q) - d * v)

    rest, times = np.zeros_like(start), {"duration": 6.0, "step": 4e-3}
    run = rd.rollout(robot[0], controller, start, rest, limits="ignore", **times)
    return {"stiffness": k[:, 0], "q": run.q[-1], "v": run.v[-1]}


def main() -> dict[str, object]:
    robots = {f"{mass:g} kg": carrying(mass) for mass in MASSES}
    values = {"robot": robots, "sample": range(SAMPLES)}
    with tempfile.TemporaryDirectory() as folder:
        options = {"batch": SAMPLES, "seed": 7, "path": Path(folder) / "hold.sweep"}
        # the second one reads the file: nothing is computed again
        table, again = (rd.sweep(hold, values, **options) for _ in range(2))
    return {"table": table, "again": again, "robots": robots}


def check(result: dict[str, object]) -> None:
    table, again, robots = result["table"], result["again"], result["robots"]
    assert table["q"].tobytes() == again["q"].tobytes()
    for mass, robot in robots.items():
        q, v, k = (table.sel(robot=mass)[name] for name in ("q", "v", "stiffness"))
        # at rest, what the errors call for holds the weight that the controller does not know of
        sag = np.einsum("nij,nj->ni", NOMINAL.mass_matrix(q), k[:, None] * (GOAL - q))
        unknown = robot.gravity_forces(q) - NOMINAL.gravity_forces(q)
        np.testing.assert_allclose(sag, unknown, atol=1e-5)
        assert np.abs(v).max() < 1e-5


def errors(table: rd.SweepTable) -> np.ndarray:
    """Largest of all joints [degrees], by payload and sample."""
    return np.degrees(np.abs(table["q"] - GOAL).max(axis=-1))


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    table = result["table"]
    axis = (figure := Figure(figsize=(7, 4.5), layout="constrained")).subplots()
    for mass, x, y in zip(table["robot"], table["stiffness"], errors(table), strict=True):
        axis.scatter(x, y, s=8, label=str(mass))
    axis.set(xlabel="stiffness [1/s^2]", ylabel="largest error at rest [degrees]")
    axis.legend(title="payload")
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    check(result)
    for mass, error in zip(result["robots"], errors(result["table"]), strict=True):
        print(f"{mass}: error {error.min():.3f} to {error.max():.3f} degrees")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
