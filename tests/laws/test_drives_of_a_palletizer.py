"""A palletizer with a worm at its shoulder and a belt to its forearm: all by hand-made equations.

Both motors are on the base. The belt keeps the angle of the forearm as that of its motor, as the
bars of a palletizer do: shafts turn with ``v1`` and ``v1 + v2``.
"""

import numpy as np
import pytest

import robodyn as rd

G = 9.81
LENGTHS, MASSES, CENTRES, INERTIAS = (0.9, 0.8), (20.0, 12.0), (0.45, 0.35), (1.6, 0.9)
SACK = 15.0
WORM = {"gear_ratio": 60.0, "rotor_inertia": 2e-4, "viscous": 2e-4, "efficiency": 0.45}
BELT = {"gear_ratio": 25.0, "rotor_inertia": 3e-4, "viscous": 1e-4, "efficiency": 0.95}
CONSTANTS, RESISTANCES = (0.09, 0.11), (0.4, 0.3)
BACK = (0.0, 2.0 - 1.0 / 0.95)
PERIOD = 2.0


def palletizer(**options):
    links, joints = [rd.Link("base")], []
    for k, name in enumerate(("lower", "fore")):
        mass, centre = MASSES[k], CENTRES[k]
        inertia = rd.Inertia(
            mass, rd.Pose((centre, 0, 0)), ixx=0.1, iyy=INERTIAS[k], izz=INERTIAS[k]
        )
        links.append(rd.Link(name, inertia))
    places = (("shoulder", "base", "lower", 0.0), ("elbow", "lower", "fore", LENGTHS[0]))
    for name, parent, child, x in places:
        pose = rd.Pose((x, 0, 0))
        joints.append(
            rd.Joint(name, "continuous", parent=parent, child=child, origin=pose, axis=(0, 1, 0))
        )
    drives = [
        rd.Actuator(**gear, mounted_on="base", axis=(0, 1, 0), motor=rd.Motor(k, R))
        for gear, k, R in zip((WORM, BELT), CONSTANTS, RESISTANCES, strict=True)
    ]
    mechanism = rd.Mechanism("palletizer", tuple(links), tuple(joints))
    robot = rd.load(
        mechanism, actuators=dict(zip(("shoulder", "elbow"), drives, strict=True)),
        transmissions=[rd.Transmission.belts("belt", ("shoulder", "elbow"))], **options,
    )  # fmt: skip
    tip = rd.Inertia(SACK, rd.Pose((LENGTHS[1], 0, 0)))
    return robot.with_(payload={"fore": tip})


def newton_euler(angles, rates, accelerations):
    """Moments about y at both joints [N m], from absolute angles of both links.

    An angle about y lowers the link: e = (cos, 0, -sin), and de = (-sin, 0, -cos) times the rate.
    """
    bodies = [
        (0, MASSES[0], CENTRES[0], INERTIAS[0]),
        (1, MASSES[1], CENTRES[1], INERTIAS[1]),
        (1, SACK, LENGTHS[1], 0.0),
    ]
    e = [np.stack([np.cos(x), -np.sin(x)], axis=-1) for x in angles]  # along x and z
    n = [np.stack([-np.sin(x), -np.cos(x)], axis=-1) for x in angles]
    turned = [
        n[k] * accelerations[k][:, None] - e[k] * rates[k][:, None] ** 2 for k in (0, 1)
    ]  # acceleration of a point at 1 m
    moments = []
    for joint in (0, 1):
        total = 0.0
        for link, mass, centre, inertia in bodies:
            if link < joint:
                continue
            arm = centre * e[link] + (LENGTHS[0] * e[0] if joint == 0 and link == 1 else 0.0)
            a = centre * turned[link] + (LENGTHS[0] * turned[0] if link == 1 else 0.0)
            force = mass * (a + np.array([0.0, G]))
            total = total + arm[:, 1] * force[:, 0] - arm[:, 0] * force[:, 1]  # about y
            total = total + inertia * accelerations[link]
        moments.append(total)
    return moments


def cycle(t):
    """Absolute angles of both links, with their rates."""
    w = 2.0 * np.pi / PERIOD
    means, sizes, phases = (-0.9, 0.3), (0.5, 0.4), (0.1234, 0.8)
    shapes = [m + s * np.cos(w * t + p) for m, s, p in zip(means, sizes, phases, strict=True)]
    rates = [-s * w * np.sin(w * t + p) for s, p in zip(sizes, phases, strict=True)]
    slopes = [-s * w**2 * np.cos(w * t + p) for s, p in zip(sizes, phases, strict=True)]
    return shapes, rates, slopes


def by_hand(t):
    """Torques and speeds of both motors, and what their gears take, shape (n, 2)."""
    angles, rates, accelerations = cycle(t)
    shoulder, elbow = newton_euler(angles, rates, accelerations)
    shafts = shoulder - elbow, elbow  # as shafts turn with the absolute angles
    torques, speeds, losses = [], [], []
    for k, gear in enumerate((WORM, BELT)):
        N, through = gear["gear_ratio"], shafts[k] / gear["gear_ratio"]
        speed = N * rates[k]
        driving = through * speed > 0.0
        into = np.where(driving, through / gear["efficiency"], through * BACK[k])
        rotor = gear["rotor_inertia"] * N * accelerations[k] + gear["viscous"] * speed
        torques.append(into + rotor)
        speeds.append(speed)
        losses.append((into - through) * speed)
    return tuple(np.stack(x, axis=-1) for x in (torques, speeds, losses))


def integral(x, t):
    return np.sum(0.5 * np.diff(t) * (x[1:] + x[:-1]))


def test_the_sizing_table_is_that_of_hand_made_equations():
    robot = palletizer(friction_speed=1e-9)
    t = np.linspace(0.0, PERIOD, 4001)
    angles, rates, accelerations = (np.stack(x, axis=-1) for x in cycle(t))
    q, v, a = (x - np.stack([0.0 * t, x[:, 0]], axis=-1) for x in (angles, rates, accelerations))
    tau = robot.inverse_dynamics(q, v, a)
    run = rd.Trajectory(t, q, v, a, tau, joint_names=robot.joint_names, robot=robot)
    table = run.sizing()
    torques, speeds, losses = by_hand(t)
    assert abs(speeds).min() > 1e-3  # at rest, either case holds
    np.testing.assert_allclose(table.torques, torques, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table.speeds, speeds, rtol=1e-9, atol=1e-9)
    for k, name in enumerate(("shoulder", "elbow")):
        row, R = table[name], RESISTANCES[k]
        current = torques[:, k] / CONSTANTS[k]
        voltage = R * current + CONSTANTS[k] * speeds[:, k]
        power = current * voltage
        assert row.peak_torque == pytest.approx(abs(torques[:, k]).max(), rel=1e-6)
        assert row.rms_torque == pytest.approx(
            np.sqrt(integral(torques[:, k] ** 2, t) / PERIOD), 1e-4
        )
        assert row.gear_loss == pytest.approx(integral(losses[:, k], t) / PERIOD, rel=1e-4)
        electric = row.electric
        assert electric.peak_current == pytest.approx(abs(current).max(), rel=1e-6)
        assert electric.peak_voltage == pytest.approx(abs(voltage).max(), rel=1e-6)
        assert electric.copper_loss == pytest.approx(integral(R * current**2, t) / PERIOD, rel=1e-4)
        assert electric.energy_drawn == pytest.approx(integral(np.maximum(power, 0.0), t), rel=1e-3)
        fed = integral(np.maximum(-power, 0.0), t)
        assert electric.energy_fed_back == pytest.approx(fed, rel=1e-3, abs=1e-6)
    drawn = ((torques / CONSTANTS) * (RESISTANCES * torques / CONSTANTS + CONSTANTS * speeds)).sum(
        1
    )
    assert table.supply_peak == pytest.approx(drawn.max(), rel=1e-6)
    # friction takes what is not stored: of a cycle nothing is
    given = sum(x.gear_loss for x in table.values()) * PERIOD
    viscous = integral((speeds**2) @ [WORM["viscous"], BELT["viscous"]], t)
    assert integral((torques * speeds).sum(axis=1), t) == pytest.approx(given + viscous, rel=1e-4)


def test_the_worm_holds_the_arm_when_power_fails():
    """The forearm, behind a belt, falls; the lower arm stays, but for the speed of smoothing."""
    smooth = 1e-3
    robot = palletizer(friction_speed=smooth)
    run = rd.simulate(robot, q0=[-0.9, 1.2], duration=0.3, integrator="auto", step=1e-3)
    assert abs(run.q[-1, 0] - run.q[0, 0]) < 2.0 * smooth * 0.3
    assert abs(run.q[-1, 1] - run.q[0, 1]) > 0.2
    free = rd.simulate(robot.with_(actuators={
        "shoulder": rd.Actuator(60.0, 2e-4, mounted_on="base", axis=(0, 1, 0))
    }), q0=[-0.9, 1.2], duration=0.3)  # fmt: skip
    assert abs(free.q[-1, 0] - free.q[0, 0]) > 0.1
