"""An arm is calibrated: a camera sees its tool, and the lengths of its links follow."""

import sys

import numpy as np

import robodyn as rd

#: Lengths of the file that the arm was not built with to the last millimetre.
NAMES = {
    "joint joint3 x": "a2",
    "joint joint3 z": "d3",
    "joint joint4 x": "a3",
    "joint joint4 y": "d4",
    "joint flange_fixed z": "tool",
}
NOISE = 2e-4  # of the camera [m]
MARKER = np.array([0.05, 0.0, 0.1, 1.0])  # in the frame of the flange


def main() -> dict[str, object]:
    robot, rng = rd.load("puma560", symbols=NAMES), np.random.default_rng(1)
    pose = robot.function("frame_pose", frame="flange", symbols=True)
    slopes = [pose.jacobian(name) for name in robot.symbols]
    nominal = np.array([*robot.symbols.values()])
    true = nominal + rng.normal(scale=3e-3, size=len(nominal))
    q = np.array([robot.random(rng) for _ in range(60)])

    def seen(lengths: np.ndarray) -> np.ndarray:
        """Where the marker is in each posture, shape (60, 3)."""
        return (pose(q, *lengths) @ MARKER)[:, :3]

    measured = seen(true) + rng.normal(scale=NOISE, size=(len(q), 3))
    lengths, errors = nominal, [np.linalg.norm(seen(nominal) - measured, axis=1)]
    for _ in range(3):  # Gauss and Newton
        columns = [(slope(q, *lengths) @ MARKER)[:, :3].ravel() for slope in slopes]
        J = np.column_stack(columns)
        change, *_ = np.linalg.lstsq(J, (measured - seen(lengths)).ravel(), rcond=None)
        lengths = lengths + change
        errors.append(np.linalg.norm(seen(lengths) - measured, axis=1))
    spread = NOISE * np.sqrt(np.diag(np.linalg.pinv(J.T @ J)))
    return {
        "names": tuple(robot.symbols), "nominal": nominal, "true": true, "found": lengths,
        "spread": spread, "errors": errors, "observed": np.linalg.matrix_rank(J),
    }  # fmt: skip


def check(result: dict[str, object]) -> None:
    errors = result["errors"]
    assert np.sqrt(np.mean(errors[0] ** 2)) > 10 * NOISE
    np.testing.assert_allclose(np.sqrt(np.mean(errors[-1] ** 2) / 3), NOISE, rtol=0.15)
    assert result["observed"] == len(result["names"])
    assert (np.abs(result["found"] - result["true"]) < 4 * result["spread"]).all()


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    axis = (figure := Figure((8, 4), layout="constrained")).subplots()
    for k, label in ((0, "with the lengths of the file"), (-1, "with those found")):
        axis.semilogy(1e3 * result["errors"][k], ".", label=label)
    axis.set(xlabel="number of the posture", ylabel="the marker is off by [mm]")
    axis.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    for row in zip(*(result[x] for x in ("names", "nominal", "true", "found")), strict=True):
        print("{:4} {:8.5f} m in the file, {:8.5f} as built, {:8.5f} found".format(*row))
    check(result)
    if sys.argv[1:]:
        draw(result, sys.argv[1])
