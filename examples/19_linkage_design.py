"""A four-bar linkage is designed by its gradients: a point of its coupler goes straight."""

import sys

import numpy as np

import robodyn as rd

NAMES = {  # lengths that are chosen
    "joint rocker_pin x": "coupler",
    "joint rocker_pin z": "coupler_height",
    "joint rocker_end_fixed z": "rocker",
    "joint rocker_pivot x": "ground",
}
MARK = np.array([0.14, 0.0, 0.3, 1.0])  # the point, in the frame of the coupler [m]
ANGLES = np.linspace(-0.5, 0.5, 15)  # of the crank [rad]


def path(robot: rd.Robot, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the point (n, 2), and their derivatives by lengths (n, 2, lengths)."""
    gap = robot.function("loop_residual", symbols=True)
    pose = robot.function("frame_pose", frame="coupler", symbols=True)
    by = [[f.jacobian(x) for x in ("q", *robot.symbols)] for f in (gap, pose)]
    crank, q = robot.joints["crank_drive"].q.start, robot.assemble(robot.neutral())
    free = [k for k in range(robot.nq) if k != crank]
    places, slopes = [], []
    for q[crank] in ANGLES:
        for _ in range(8):  # Newton's method closes the loop
            K = by[0][0](q, *lengths)[:, free]
            q[free] -= np.linalg.pinv(K, rcond=1e-9) @ gap(q, *lengths)
        K, *gaps = (f(q, *lengths) for f in by[0])
        X_q, *X = (f(q, *lengths) for f in by[1])
        q_by = np.linalg.pinv(-K[:, free], rcond=1e-9) @ np.column_stack(gaps)
        moved = np.einsum("ijk,j->ik", X_q, MARK)[:, free] @ q_by
        places.append(pose(q, *lengths) @ MARK)
        slopes.append(moved + np.column_stack([x @ MARK for x in X]))
    return np.array(places)[:, [0, 2]], np.array(slopes)[:, [0, 2]]


def from_line(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far places are from the straight line nearest to them, and its normal."""
    about = places - places.mean(axis=0)
    normal = np.linalg.svd(about)[2][1]
    return about @ normal, normal


def main() -> dict[str, object]:
    robot = rd.load("four_bar", symbols=NAMES)
    lengths, paths = np.array([*robot.symbols.values()]), []
    for _ in range(40):  # Gauss and Newton, with steps of 2 cm at most
        places, slopes = path(robot, lengths)
        gap, normal = from_line(places)
        J = np.einsum("nik,i->nk", slopes - slopes.mean(axis=0), normal)
        step = -np.linalg.solve(J.T @ J + 1e-5 * np.eye(len(lengths)), J.T @ gap)
        lengths, paths = lengths + step * min(1.0, 0.02 / np.abs(step).max()), [*paths, places]
    return {"names": (*robot.symbols,), "lengths": lengths, "paths": paths}


def check(result: dict[str, object]) -> None:
    first, *_, last = (np.abs(from_line(x)[0]).max() for x in result["paths"])
    assert last < 0.1 * first
    assert np.ptp(result["paths"][-1], axis=0).max() > 0.05  # it does not stand still


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    axis = (figure := Figure((8, 3), layout="constrained")).subplots()
    for places, label in ((result["paths"][0], "as bundled"), (result["paths"][-1], "designed")):
        axis.plot(*places.T, ".-", label=label)
    axis.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", title="ways of a point of the coupler")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    print(*(f"{x} {y:.4f} m" for x, y in zip(result["names"], result["lengths"], strict=True)))
    if sys.argv[1:]:
        draw(result, sys.argv[1])
