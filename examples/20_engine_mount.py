"""An engine on four rubber mounts: forces as functions, its ways to swing, and how it settles."""

import sys

import numpy as np

import robodyn as rd

CORNERS = {"front_left": (0.3, 0.2), "front_right": (0.3, -0.2)}
CORNERS |= {"rear_left": (-0.3, 0.2), "rear_right": (-0.3, -0.2)}
#: Rubber is stiffer the more it is pressed [m, N].
RUBBER = rd.Spline([-0.02, -0.01, 0.0, 0.01, 0.02], [-5500.0, -1800.0, 0.0, 1200.0, 2600.0])


def corner(x: float, y: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = x, y, 0.0
    return X


def mount(name: str, x: float, y: float) -> rd.Force:
    """Rubber between the frame and the engine: a table upward, springs sideways, dampers."""

    def law(d, w, t):
        return [
            -9e4 * d[0] - 300.0 * w[0],
            -9e4 * d[1] - 300.0 * w[1],
            -RUBBER(d[2]) - 400.0 * w[2],
            *(-40.0 * d[3:] - 0.5 * w[3:]),
        ]

    ends = ("frame", corner(x, y)), ("engine", corner(x, y))
    return rd.Force(law, between=ends, name=name)


def engine(speed: float = 0.0) -> rd.Robot:
    """A block that moves in six ways; at a speed [rad/s] an eccentric mass shakes it upward."""
    block = rd.Inertia.from_matrix(150.0, (0.02, 0.01, 0.15), np.diag([4.0, 8.0, 9.0]))
    links = rd.Link("frame"), rd.Link("engine", block)
    free = rd.Joint("rubber", "floating", "frame", "engine")
    forces = [mount(name, *place) for name, place in CORNERS.items()]
    if speed:
        shake = rd.Force(
            lambda X, V, t: [0.0, 0.0, 0.004 * speed**2 * rd.sin(speed * t), 0.0, 0.0, 0.0],
            on="engine",
            name="piston",
        )
        forces.append(shake)
    return rd.load(rd.Mechanism("engine", links, (free,)), forces=forces)


def main(duration: float = 2.0) -> dict[str, object]:
    robot, still = engine(), np.zeros(6)
    rest = robot.equilibrium(robot.neutral())
    model = robot.linearize(rest, still, still)
    swings = np.sort(np.abs(model.poles))[::2] / (2.0 * np.pi)
    print(f"the engine sags by {-1e3 * rest[2]:.1f} mm and swings at {swings.round(1)} Hz")
    shaken = {}
    for speed in (25.0, 80.0):
        run = rd.simulate(engine(speed), q0=rest, duration=duration, step=5e-4)
        shaken[speed] = np.ptp(run.q[len(run.t) // 2 :, 2]) / 2.0
        print(f"at {speed:.0f} rad/s the piston shakes it by {1e3 * shaken[speed]:.3f} mm")
    pushed = np.vstack([np.zeros((6, 6)), robot.mass_matrix_inverse(rest)])
    pose = robot.frame_pose(rest, "engine")
    return {"pose": pose, "A": model.A, "pushed": pushed, "shaken": shaken}


def response(result: dict, speed: float) -> float:
    """How far the linear model is shaken [m]."""
    shape = np.linalg.solve(1j * speed * np.eye(12) - result["A"], result["pushed"])[2, 2]
    return 0.004 * speed**2 * abs(shape)


def check(result: dict) -> None:
    """The rubber carries the weight; the linear model shakes as the engine does."""
    places = [corner(*place)[:, 3] for place in CORNERS.values()]
    carried = sum(-RUBBER((result["pose"] @ p - p)[2]) for p in places)
    np.testing.assert_allclose(carried, 150.0 * 9.81, rtol=1e-3)
    assert np.linalg.eigvals(result["A"]).real.max() < 0.0
    for speed, amplitude in result["shaken"].items():
        np.testing.assert_allclose(amplitude, response(result, speed), rtol=0.05)


def draw(result: dict, path: str) -> None:
    from matplotlib.figure import Figure

    axis = (figure := Figure((8, 4.5), layout="constrained")).subplots()
    speeds = np.linspace(5.0, 120.0, 400)
    axis.semilogy(speeds, [1e3 * response(result, x) for x in speeds], label="linear model")
    shaken = result["shaken"]
    axis.plot([*shaken], 1e3 * np.array([*shaken.values()]), "o", label="simulated")
    axis.set(xlabel="speed [rad/s]", ylabel="the engine shakes by [mm]")
    axis.legend()
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
