"""An arm catches a ball in flight and carries it away."""

import sys

import numpy as np

import robodyn as rd
from robodyn import events
from robodyn.controllers import ComputedTorque, PointToPoint

CATCH, MASS = 0.8, 1.5  # [s], [kg]
BALL = rd.Inertia.from_matrix(MASS, (0, 0, 0.05), np.eye(3) * 1e-3)  # in the hand
START = np.array([0.2, 0.3, 0.1, 1.0, 0.0, 0.8, 0.0])  # [rad]
READY = np.array([0.0, 0.5, 0.0, 1.2, 0.0, -0.1, 0.0])
AWAY = np.array([-0.8, 0.2, 0.2, 1.4, 0.1, 0.5, 0.0])
G = np.array([0, 0, -9.81])
VELOCITY = np.array([-2.0, 0.5, -2.5])  # of the ball, where it is caught [m/s]

arm = rd.load("arm7")
loaded = arm.with_(payload={"tool": BALL})


def hand(q: np.ndarray) -> np.ndarray:
    """Where the ball is, once it is in the hand."""
    return (arm.frame_pose(q, "tool") @ [0, 0, 0.05, 1])[..., :3]


def ball(t: np.ndarray) -> np.ndarray:
    """The flight, which ends in the hand at the time of the catch."""
    s = np.subtract(t, CATCH)[..., None]
    return hand(READY) + VELOCITY * s + 0.5 * G * s**2


def main() -> rd.Trajectory:
    there, away = PointToPoint(START, READY, 0.7), PointToPoint(READY, AWAY, 0.9)
    catch = rd.Event(
        lambda t, q, v: ball(t)[2] - hand(q)[2],
        then=[
            events.grasp("tool", BALL, velocity=lambda t: VELOCITY + G * (t - CATCH)),
            events.switch(ComputedTorque(loaded, lambda t: away(t - CATCH - 0.1), 400.0, 40.0)),
        ],
        direction=-1,
        name="catch",
    )
    control = ComputedTorque(arm, there, 400.0, 40.0)
    return rd.simulate(arm, control, q0=START, duration=2.0, events=[catch], limits="ignore")


def check(run: rd.Trajectory) -> None:
    (event,) = run.events
    before = np.flatnonzero(run.t == event.time)[0]
    assert np.linalg.norm(hand(run.q[before]) - ball(event.time)) < 1e-3
    assert run.phases[1].robot.total_mass - arm.total_mass == MASS
    v, z = VELOCITY + G * (event.time - CATCH), hand(run.q[before])[2]
    brought = 0.5 * MASS * v @ v - MASS * G[2] * z  # by the ball, less what the contact took
    np.testing.assert_allclose(event.dissipated - event.energy_loss, brought, rtol=1e-9)
    assert 0.0 < event.dissipated < 0.5 * MASS * v @ v
    assert np.abs(run.audit.unexplained).max() < 1e-6 * run.audit.exchanged
    np.testing.assert_allclose(run.q[-1], AWAY, atol=1e-4)


def draw(run: rd.Trajectory, path: str) -> None:
    from matplotlib.figure import Figure

    (event,) = run.events
    way, torques = (figure := Figure((8, 7), layout="constrained")).subplots(2)
    flight = ball(np.linspace(0.3, event.time, 50))
    for x, label in ((flight, "ball"), (hand(run.q), "hand")):
        way.plot(x[:, 0], x[:, 2], label=label)
    way.plot(*flight[-1, [0, 2]], "ko", label="catch")
    way.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", title="ways of ball and hand")
    way.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    torques.plot(run.t, run.tau, label=run.joint_names)
    torques.set(xlabel="time [s]", ylabel="torque [N m]", title=f"caught at {event.time:.2f} s")
    torques.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


if __name__ == "__main__":
    check(run := main())
    (event,) = run.events
    print(f"caught at {event.time:.4f} s, {event.dissipated:.3g} J lost in the hand")
    if sys.argv[1:]:
        draw(run, sys.argv[1])
