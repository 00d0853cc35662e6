"""Two robots: a picker, read from a URDF, and a press, which is a linkage made in Python."""

from __future__ import annotations

from pathlib import Path

import robodyn as rd

#: Crank and connecting rod of the press [m].
CRANK, ROD = 0.1, 0.4


def picker() -> rd.Robot:
    motors = {
        "waist": rd.Actuator(gear_ratio=50.0, rotor_inertia=1e-4),
        "shoulder": rd.Actuator(gear_ratio=80.0, rotor_inertia=1e-4),
        "extension": rd.Actuator(gear_ratio=200.0, rotor_inertia=5e-5),
    }
    tip = rd.Sensor("position", at="gripper", name="tip")
    source = Path(__file__).with_name("picker.urdf")
    return rd.load(source, base="fixed", rotor_model="exact", actuators=motors, sensors=[tip])


def press() -> rd.Robot:
    """A crank turns, and a rod pushes a slide along x."""

    def rod(name: str, length: float, mass: float) -> rd.Link:
        inertia = mass * length**2 / 12
        centre = rd.Pose((length / 2, 0.0, 0.0))
        return rd.Link(name, rd.Inertia(mass, centre, iyy=inertia, izz=inertia))

    y = (0.0, 1.0, 0.0)
    links = (rd.Link("frame"), rod("crank", CRANK, 2.0), rod("rod", ROD, 1.0))
    slide = rd.Link("slide", rd.Inertia(5.0))
    joints = (
        rd.Joint("drive", "continuous", "frame", "crank", axis=y),
        rd.Joint("crank_pin", "continuous", "crank", "rod", rd.Pose((CRANK, 0.0, 0.0)), axis=y),
        rd.Joint("guide", "prismatic", "frame", "slide", axis=(1.0, 0.0, 0.0)),
    )
    pin = rd.Loop("slide_pin", "continuous", "rod", "slide", rd.Pose((ROD, 0.0, 0.0)), axis=y)
    mechanism = rd.Mechanism("press", (*links, slide), joints, loops=(pin,))
    near = {"guide": CRANK + ROD}
    motor = {"drive": rd.Actuator(gear_ratio=20.0, rotor_inertia=1e-4)}
    return rd.load(mechanism, near=near, actuators=motor, gravity=(0.0, 0.0, 0.0))
