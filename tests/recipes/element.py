"""A buoy: water lifts a point of a link, and resists its velocity."""

FILES = {
    "robodyn/force_elements/buoy.py": '''"""Water lifts a point and resists its speed."""

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
given = rd.load(TEXT[: TEXT.index("<buoy")] + "</robot>", springs=[item])
assert given.mechanism.link_elements == (item,)

# its force is the slope of its energy, and takes power
q, v = np.array([0.5]), np.array([2.0])
assert np.allclose(robot.passive_forces(q, 0 * v), [0.8 * 30.0 * np.sin(0.5)])
slope = (robot.potential_energy(q + 1e-6) - robot.potential_energy(q - 1e-6)) / 2e-6
assert np.allclose(robot.bias_forces(q, 0 * v), slope, atol=1e-8)
power = v @ (robot.passive_forces(q, v) - robot.passive_forces(q, 0 * v))
assert np.isclose(power, -0.3 * (0.8 * 2.0) ** 2)
assert not rd.load(TEXT.format(30.0), passive=False).passive_forces(q, v).any()

# a motion whose energies add up, with what the water takes
run = rd.simulate(robot, q0=[1.0], duration=1.0, step=1e-3, integrator="rk4")
assert np.abs(run.audit.unexplained).max() < 1e-9
assert run.audit.dissipated[-1] > 1.0

# what makes no sense is refused
for wrong, expected in ((TEXT.format(-1.0), "negative"), (TEXT.replace("drag", "dragg"), "dragg")):
    try:
        rd.load(wrong.format(30.0))
    except rd.UrdfError as error:
        assert expected in str(error), error
    else:
        raise AssertionError("a wrong element was accepted")
"""
