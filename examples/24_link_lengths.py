"""How long are the arms of a palletizer that hold 60 kg most easily? By a search, and by slopes."""

import sys

import numpy as np
from scipy.optimize import differential_evolution, minimize

import robodyn as rd

LOWER = ("joint elbow", "joint triangle_pivot", "loop drive_rod_pin predecessor")
LOWER += ("loop lower_tie_pin predecessor",)  # of one length, so that parallelograms stay closed
NAMES = {f"{place} z": "lower" for place in LOWER}
NAMES |= dict.fromkeys(("joint wrist x", "loop wrist_tie_pin predecessor x"), "upper")
SACK = rd.Inertia.from_matrix(60.0, (0.0, 0.0, -0.3), np.zeros((3, 3)))
ROBOT = rd.load("palletizer", symbols=NAMES).with_(payload={"flange": SACK})
FORCES = ROBOT.function("gravity_forces", symbols=True)
BY_Q, *BY_LENGTHS = (FORCES.jacobian(name) for name in ("q", "lower", "upper"))
PLACES = np.stack(np.meshgrid([0.9, 1.2, 1.5], [-0.2, 0.2, 0.6]), axis=-1).reshape(-1, 2)  # [m]
BOUNDS = [(0.85, 1.5), (0.85, 1.5)]  # of the lengths [m]: each of them reaches all places
MOTORS = [ROBOT.joints[name] for name in ("shoulder", "crank_drive")]
LIMITS = np.array([motor.limits.effort for motor in MOTORS])  # [N m]
UNITS = np.eye(ROBOT.nv)[[motor.v.start for motor in MOTORS]]
# how each motor turns all joints: in parallelograms the same everywhere
TURNS = ROBOT.consistent_velocity(ROBOT.neutral(), UNITS, hold=ROBOT.independent_joints)


def angles(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Of both arms, where the wrist is at the places (..., places, 2)."""
    (x, z), reach = PLACES.T, np.hypot(*PLACES.T)
    bend = np.arccos((lower**2 + reach**2 - upper**2) / (2.0 * lower * reach))
    first = np.arctan2(x, z) - bend
    return np.stack([first, np.arctan2(lower * np.cos(first) - z, x - lower * np.sin(first))], -1)


def study(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Torques that hold, over their limits: root mean square of each design of a batch."""
    l, m = (np.repeat(x[:, None], len(PLACES), axis=1) for x in (lower, upper))
    tau = FORCES(angles(l, m) @ TURNS, l, m) @ TURNS.T / LIMITS
    return np.sqrt((tau**2).mean(axis=(1, 2)))


def slopes(lengths: np.ndarray) -> np.ndarray:
    """Derivatives of the same by the lengths."""
    l, m = (np.full(len(PLACES), x) for x in lengths)
    (s, S), (c, C) = (f(angles(l, m)).T for f in (np.sin, np.cos))
    place_by_angles = np.moveaxis(np.array([[l * c, -m * S], [-l * s, -m * C]]), 2, 0)
    turned = np.linalg.solve(place_by_angles, np.moveaxis(np.array([[-s, -C], [-c, S]]), 2, 0))
    q = angles(l, m) @ TURNS
    by = BY_Q(q, l, m) @ TURNS.T @ turned + np.stack([f(q, l, m) for f in BY_LENGTHS], axis=-1)
    tau = FORCES(q, l, m) @ TURNS.T / LIMITS**2
    return np.einsum("pi,ij,pjk->k", tau, TURNS, by) / (tau.size * study(*lengths[:, None])[0])


def main() -> dict[str, object]:
    def generation(x: np.ndarray) -> np.ndarray:
        rows = {"lower": x[0], "upper": x[1]}
        return rd.sweep(study, rows, product=False, batch=x.shape[1])["value"]

    options = {"vectorized": True, "updating": "deferred", "polish": False, "tol": 1e-8, "seed": 1}
    found = differential_evolution(generation, BOUNDS, **options)
    problem = {"fun": lambda x: study(*x[:, None])[0], "jac": slopes, "bounds": BOUNDS}
    best = minimize(x0=[*ROBOT.symbols.values()], tol=1e-12, **problem)
    return {"found": found, "by slopes": best}


def check(result: dict[str, object]) -> None:
    found, best = result["found"], result["by slopes"]
    np.testing.assert_allclose(found.x, best.x, atol=2e-3)
    assert max(found.fun, best.fun) < study(*np.array([[*ROBOT.symbols.values()]]).T)[0]
    q = angles(*best.x) @ TURNS  # parallelograms of these lengths are closed, too
    gap = ROBOT.function("loop_residual", symbols=True)(q, *np.repeat(best.x[:, None], len(q), 1))
    assert np.abs(gap).max() < 1e-9


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    x, y = np.meshgrid(*(np.linspace(*bound, 40) for bound in BOUNDS))
    axis = (figure := Figure((6, 4.5), layout="constrained")).subplots()
    levels = axis.contourf(x, y, study(x.ravel(), y.ravel()).reshape(x.shape), 20)
    axis.plot(*ROBOT.symbols.values(), "k^", *result["found"].x, "r*")
    figure.colorbar(levels, label="torques over their limits")
    axis.set(xlabel="lower arm [m]", ylabel="upper arm [m]", title="as bundled, and found")
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    print(*(f"{name}: {result[name].x.round(4)} m" for name in ("found", "by slopes")), sep="\n")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
