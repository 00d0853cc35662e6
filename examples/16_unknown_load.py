"""An arm takes up a load that nobody told it of, and learns its mass from the error it makes."""

import sys

import numpy as np

import robodyn as rd
from robodyn.controllers import Adaptive, PassivityBased, Saturated, SineReference

HAND, MASS, TAKEN = "link6", 3.0, 1.0  # [kg], [s]
GAIN = np.array([150.0, 150.0, 60.0, 6.0, 6.0, 2.0])  # [N m s/rad]
CENTER = np.array([0.0, -0.8, 0.6, 0.0, 0.5, 0.0])  # [rad]
SWING = SineReference(
    CENTER, amplitude=[0.6, 0.4, 0.5, 0.6, 0.5, 0.6], frequency=[0.4, 0.5, 0.6, 0.9, 0.7, 1.0]
)

arm = rd.load("puma560")


def load(mass: float) -> rd.Inertia:
    """Of a body in the hand: where it is held is known, its mass is not."""
    return rd.Inertia.from_matrix(mass, (0, 0, 0.15), np.zeros((3, 3)))


def main() -> tuple[rd.Trajectory, rd.Trajectory]:
    one = arm.with_(payload={HAND: load(1.0)}).inertial_parameters - arm.inertial_parameters
    fixed = PassivityBased(arm, SWING, GAIN, rate=15.0)
    learning = Adaptive(fixed, {"mass of the load": one}, adaptation=60.0)
    take = rd.Event(TAKEN, then=[rd.events.grasp(HAND, load(MASS))], name="taken")
    q0, v0, _ = SWING(0.0)
    plain, run = (
        rd.simulate(arm, Saturated(law), q0=q0, v0=v0, duration=4.0, step=2e-3, events=[take])
        for law in (fixed, learning)
    )
    return plain, run


def error(run: rd.Trajectory) -> np.ndarray:
    """Largest of all joints at each sample [rad]."""
    return np.abs(run.q - [SWING(t)[0] for t in run.t]).max(axis=1)


def check(runs: tuple[rd.Trajectory, rd.Trajectory]) -> None:
    plain, run = runs
    mass, late = run.controller_state["parameters"][:, 0], run.t > TAKEN + 1.0
    assert np.abs(mass[run.t < TAKEN]).max() < 0.05 * MASS  # what the steps make wrong
    assert np.abs(mass[late] - MASS).max() < 0.02 * MASS
    assert error(run)[late].max() < 1e-3 < 0.02 < error(plain)[late].max()


def draw(runs: tuple[rd.Trajectory, rd.Trajectory], path: str) -> None:
    from matplotlib.figure import Figure

    upper, lower = (figure := Figure((8, 5), layout="constrained")).subplots(2, sharex=True)
    for run, label in zip(runs, ("fixed model", "learning"), strict=True):
        upper.plot(run.t, 1e3 * error(run), label=label)
    upper.set(ylabel="largest error [mrad]")
    upper.legend()
    lower.plot(run.t, run.controller_state["parameters"][:, 0], color="C1", label="learnt")
    lower.step([0.0, TAKEN, run.t[-1]], [0.0, MASS, MASS], "k--", where="post", label="carried")
    lower.set(xlabel="time [s]", ylabel="mass of the load [kg]")
    lower.legend()
    figure.savefig(path)


if __name__ == "__main__":
    check(runs := main())
    plain, run = runs
    print(f"learnt: {run.controller_state['parameters'][-1, 0]:.3f} kg; it carries {MASS:.3f} kg")
    late = run.t > TAKEN + 1.0
    for name, motion in (("without", plain), ("with learning", run)):
        print(f"error {name}: up to {1e3 * error(motion)[late].max():.2g} mrad")
    if sys.argv[1:]:
        draw(runs, sys.argv[1])
