"""A ball between points of two links in one element: what reads it, and what it may hold."""

CLOSURES = "robodyn/urdf/closures.py"

LINES = [
    (
        CLOSURES,
        '            case "coupling":\n',
        '            case "ball":\n                self._add(element, self._read_ball(element))\n',
    ),
    (
        CLOSURES,
        "    def _read_coupling(",
        """    def _read_ball(self, element: Element) -> Loop | None:
        reader = self.reader
        name, *links = (reader.name(element, key) for key in ("name", "link1", "link2"))
        if name is None or None in links:
            return None
        points = [Pose(reader.vector(element, key, (0.0,) * 3)) for key in ("point1", "point2")]
        return Loop(name, "spherical", *links, *points, line=line_of(element))

""",
    ),
    (
        "robodyn/urdf/common/schema.py",
        '        "coupling": _COUPLING,\n',
        '        "ball": rule("name link1 point1 link2 point2"),\n',
    ),
]

USE = """
import dataclasses
import numpy as np
import robodyn as rd
from robodyn.urdf import load_mechanism, write

BODY = '''<inertial><origin xyz="0 0 0.2"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'''
TREE = f'''<robot name="r"><link name="ground"/><link name="a">{BODY}</link>
<link name="b">{BODY}</link>
<joint name="one" type="spherical"><parent link="ground"/><child link="a"/></joint>
<joint name="two" type="revolute"><parent link="ground"/><child link="b"/>
<origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>{{}}</robot>'''
BALL = '<ball name="pin" link1="a" point1="0.5 0 0.5" link2="b" point2="-0.5 0 0.5"/>'
LOOP = '''<loop name="pin" type="spherical">
<predecessor link="a"><origin xyz="0.5 0 0.5"/></predecessor>
<successor link="b"><origin xyz="-0.5 0 0.5"/></successor></loop>'''

ours, wanted = (load_mechanism(TREE.format(text)) for text in (BALL, LOOP))
assert [dataclasses.replace(x, line=None) for x in ours.loops] == [
    dataclasses.replace(x, line=None) for x in wanted.loops
]
assert load_mechanism(write(ours)).loops[0].kind == "spherical"
robot, other = (rd.load(TREE.format(text)) for text in (BALL, LOOP))
q = robot.neutral()
v = robot.consistent_velocity(q, np.ones(robot.nv))
tau = np.zeros(robot.nv)
assert np.array_equal(robot.forward_dynamics(q, v, tau), other.forward_dynamics(q, v, tau))
for wrong, expected in (('poin2="', "point2"), ('link9="', "link")):
    try:
        rd.load(TREE.format(BALL.replace('point2="', wrong)))
    except rd.UrdfError as error:
        assert expected in str(error), error
    else:
        raise AssertionError("an attribute that nothing reads was accepted")
"""
