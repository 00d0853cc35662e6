"""How hard may a table on casters be pushed before wheels leave the floor?

[Wittenburg 1977, example 5.4] Three wheels that roll carry the table; what the floor exerts on them
are the wrenches of three constraints. They are linear in the push, so two pushes tell at which one
a wheel carries nothing. A harder push would need a floor that pulls.
"""

import sys
from dataclasses import replace

import numpy as np

import robodyn as rd

WHEELS, RADIUS = ("wheel1", "wheel2", "wheel3"), 0.08
AT = np.array([-0.4, 0.0, 0.9])  # of the handle where it is pushed along x [m]


def standing_table() -> rd.Robot:
    """The bundled table without the joint that holds it upright: it stands on its wheels."""
    described = rd.load("caster_table").mechanism
    free = replace(described, links=described.links[1:], joints=described.joints[1:])
    rolling = [rd.Rolling(f"{w} rolls", w, (0, 0, 0), RADIUS, axis=(0, -1, 0)) for w in WHEELS]
    return rd.load(free, base="floating", passive=False, constraints=rolling)


def pushed(table: rd.Robot, q: np.ndarray, push: float) -> tuple[float, np.ndarray]:
    """Acceleration [m/s^2], and what the floor exerts on the wheels, shape (3, 3) [N]."""
    still, force = np.zeros(table.nv), np.array([push, 0.0, 0.0])
    wrench = {"table": np.r_[force, np.cross(AT, force)]}
    a = table.forward_dynamics(q, still, still, wrenches=wrench)
    found = table.joint_wrenches(q, still, tau=still, wrenches=wrench).in_frame("world")
    return a[0], np.array([found[f"{wheel} rolls"][:3] for wheel in WHEELS])


def main() -> dict[str, object]:
    table = standing_table()
    q = table.neutral()
    q[7::2] = np.pi - 2 * np.pi / 3 * np.arange(3)  # the casters trail
    (_, resting), (_, slightly) = pushed(table, q, 0.0), pushed(table, q, 1.0)
    carried = zip(WHEELS, resting[:, 2], strict=True)
    print("at rest", ", ".join(f"{wheel} carries {x:.1f} N" for wheel, x in carried))
    per_newton = (slightly - resting)[:, 2]
    limits = np.where(per_newton < 0.0, -resting[:, 2] / np.minimum(per_newton, -1e-12), np.inf)
    push = float(limits.min())
    acceleration, loads = pushed(table, q, push)
    print(f"it tips at {push:.1f} N, where it accelerates with {acceleration:.2f} m/s^2")
    return {"table": table, "q": q, "push": push, "a": acceleration, "rest": resting, "tip": loads}


def check(found: dict[str, object]) -> None:
    """Newton's and Euler's laws for the whole table, about the wheel on which it tips."""
    table, q, push, a = found["table"], found["q"], found["push"], found["a"]
    weight = 9.81 * table.total_mass
    for loads in (found["rest"], found["tip"]):
        np.testing.assert_allclose(loads[:, 2].sum(), weight, rtol=1e-9)
    np.testing.assert_allclose(found["tip"][1:, 2], 0.0, atol=1e-5 * weight)  # rounded angles
    np.testing.assert_allclose(push + found["tip"][:, 0].sum(), table.total_mass * a, rtol=1e-9)
    x, _, z = table.center_of_mass(q)
    foot = table.frame_pose(q, "wheel1")[0, 3]
    spin = sum(link.inertia.izz for link in table.mechanism.links if link.name in WHEELS)
    rate = table.total_mass * a * z + spin * a / RADIUS  # of angular momentum about y
    np.testing.assert_allclose(AT[2] * push + (foot - x) * -weight, rate, rtol=1e-5)


def draw(found: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    axis = (figure := Figure((8, 4.5), layout="constrained")).subplots()
    axis.plot([0.0, found["push"]], [found["rest"][:, 2], found["tip"][:, 2]], label=WHEELS)
    axis.axvline(found["push"], color="gray", linestyle=":")
    axis.set(xlabel="push [N]", ylabel="the floor carries [N]", title="dotted: it tips")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
