"""A dual arm on a heaving, rolling deck: what the motion of the deck costs the motors."""

import sys

import numpy as np

import robodyn as rd


def deck(t: float) -> rd.BaseMotion:
    """Heave of 0.5 m and roll of 8 degrees, 6 and 9 seconds."""
    heave, roll = 2 * np.pi / 6, 2 * np.pi / 9
    A, B = 0.5, np.radians(8)
    angle = B * np.sin(roll * t)
    return rd.BaseMotion.from_world(
        position=(0, 0, A * np.sin(heave * t)),
        quat_xyzw=(np.sin(angle / 2), 0, 0, np.cos(angle / 2)),
        linear_velocity=(0, 0, A * heave * np.cos(heave * t)),
        angular_velocity=(B * roll * np.cos(roll * t), 0, 0),
        linear_acceleration=(0, 0, -A * heave**2 * np.sin(heave * t)),
        angular_acceleration=(-B * roll**2 * np.sin(roll * t), 0, 0),
    )


def main() -> dict[str, object]:
    moving = rd.load("dual_arm", base="moving", passive=False)
    floating = rd.load("dual_arm", base="floating", passive=False)
    q = moving.random(3)
    zero = np.zeros(moving.nv)
    at = deck(2.0)
    tau = moving.inverse_dynamics(q, zero, zero, base=at)
    # the same motion, forced on a floating base
    quat = rd.BasePath.from_function(deck)(2.0).pose
    angle = np.arctan2(quat[2, 1], quat[2, 2])
    q_all = np.concatenate([quat[:3, 3], [np.sin(angle / 2), 0, 0, np.cos(angle / 2)], q])
    forced = floating.inverse_dynamics(
        q_all, np.concatenate([at.twist, zero]), np.concatenate([at.acceleration, zero])
    )
    still = moving.inverse_dynamics(q, zero, zero)
    return {"robot": moving, "tau": tau, "still": still, "forced": forced[6:]}


def check(result: dict[str, object]) -> None:
    np.testing.assert_allclose(result["tau"], result["forced"], atol=1e-10)


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    axis = (figure := Figure((8, 5), layout="constrained")).subplots()
    rows = np.arange(len(result["tau"]))
    for name, label, up in (("still", "on land", -0.2), ("tau", "on the deck, after 2 s", 0.2)):
        axis.barh(rows + up, result[name], height=0.4, label=label)
    axis.set_yticks(rows, result["robot"].joint_names)
    axis.set(xlabel="torque that holds the joint [N m]")
    axis.invert_yaxis()
    axis.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    check(result)
    worst = np.abs(result["tau"] - result["still"]).max()
    print(f"the deck adds up to {worst:.2f} N m to a joint that stands still")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
