"""A fan: a force along the link that carries it, which a pull with its potential opposes."""

FILES = {
    "robodyn/force_elements/buoy.py": '''"""A body that floats: water lifts a point of it, and resists its speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from robodyn.force_elements.common.link_element import PointMotion, Vector
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.vector import Vec3


@dataclass(frozen=True)
class Buoy:
    """Lifts a point with ``lift`` [N] and resists its velocity with ``drag`` [N s/m]."""

    tag: ClassVar[str] = "buoy"

    link: str
    point: Vector
    lift: float = 0.0
    drag: float = 0.0
    name: str = ""

    @property
    def places(self) -> tuple[tuple[str, Vector], ...]:
        return ((self.link, self.point),)

    @property
    def dissipates(self) -> bool:
        return bool(self.drag)

    def forces(self, at: Sequence[PointMotion]) -> Sequence[Vec3]:
        return [Vec3(0.0, 0.0, self.lift) - at[0].velocity * self.drag]

    def energy(self, at: Sequence[PointMotion]) -> Number:
        return at[0].position.z * -self.lift


LINK_ELEMENT = Buoy
'''
}
LINES = []

USE = """
import pickle
import numpy as np
import robodyn as rd
from robodyn.force_elements.buoy import Buoy
from robodyn.urdf import load_mechanism, write

BODY = '''<inertial><origin xyz="0 0 -0.4"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'''
TEXT = f'''<robot name="r"><link name="ground"/><link name="a">{BODY}</link>
<joint name="one" type="continuous"><parent link="ground"/><child link="a"/>
<axis xyz="0 1 0"/></joint>
<buoy link="a" point="0 0 -0.8" lift="{{}}" drag="0.3" name="float"/></robot>'''

# read, written, pickled, counted in messages, left out on demand
robot = rd.load(TEXT.format(30.0))
(item,) = robot.mechanism.link_elements
assert item == Buoy("a", (0.0, 0.0, -0.8), 30.0, 0.3, "float")
assert load_mechanism(write(robot.mechanism)) == robot.mechanism
assert pickle.loads(pickle.dumps(robot)).mechanism == robot.mechanism
given = rd.load(TEXT.replace("<buoy", "<ignored"), strict=False, springs=[item])
assert given.mechanism.link_elements == (item,)

# its force along the joint, and its energy
q, v = np.array([0.5]), np.array([2.0])
force = -30.0 * 0.8 * np.sin(q) * -1.0 - 0.3 * 0.8**2 * v
sign = np.sign(rd.load(TEXT.format(30.0)).frame_jacobian("a", q)[4, 0])
assert np.allclose(np.abs(robot.passive_forces(q, 0 * v)), 30.0 * 0.8 * np.sin(0.5))
slope = (robot.potential_energy(q + 1e-6) - robot.potential_energy(q - 1e-6)) / 2e-6
bias = robot.bias_forces(q, 0 * v)
assert np.allclose(bias, slope, atol=1e-8)
plain = rd.load(TEXT.format(30.0), passive=False)
assert np.array_equal(plain.passive_forces(q, v), [0.0])
for base in ("fixed", "floating"):
    other = rd.load(TEXT.format(30.0), base=base)
    state = other.random(np.random.default_rng(1))
    speed = np.ones(other.nv)
    lost = speed @ (other.passive_forces(state, speed) - other.passive_forces(state, 0 * speed))
    assert lost < 0.0

# a motion whose energies add up, with what the water takes
run = rd.simulate(robot, q0=[1.0], duration=1.0, step=1e-3, integrator="rk4")
assert np.abs(run.audit.unexplained).max() < 1e-9
assert run.audit.dissipated[-1] < -0.1

# an impact does not feel it, and nonsense in a file is refused
assert np.isfinite(robot.impact(q, v, rd.Hit("a", (0.0, 0.0, -0.8), (1.0, 0.0, 0.0))).v).all() \\
    if hasattr(rd, "Hit") else True
for wrong, expected in ((TEXT.format(-1.0), "negative"), (TEXT.replace("drag", "dragg"), "dragg")):
    try:
        rd.load(wrong.format(30.0))
    except rd.UrdfError as error:
        assert expected in str(error), error
    else:
        raise AssertionError("a wrong element was accepted")
"""
