"""A walker of two legs, whose feet are pins on the ground: it cannot fall sideways."""

import numpy as np

import robodyn as rd

ROD = """<inertial><origin xyz="0 0 -0.15"/><mass value="0.5"/>
<inertia ixx="0.005" iyy="0.005" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>"""

LEG = """<link name="thigh_{0}">{1}</link><link name="shank_{0}">{1}</link>
<joint name="hip_{0}" type="continuous"><parent link="trunk"/><child link="thigh_{0}"/>
<origin xyz="{0} 0 0"/><axis xyz="0 1 0"/></joint>
<joint name="knee_{0}" type="continuous"><parent link="thigh_{0}"/><child link="shank_{0}"/>
<origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/></joint>"""

WALKER = f"""<robot name="walker"><link name="trunk"><inertial><mass value="10"/>
<inertia ixx="0.2" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
{LEG.format(0.3, ROD)}{LEG.format(-0.2, ROD)}</robot>"""


def standing_walker():
    """The robot, with motors in hips and knees, and a posture at rest."""
    joints = [f"{name}_{place}" for place in (0.3, -0.2) for name in ("hip", "knee")]
    motors = {name: rd.Actuator() for name in joints}
    free = rd.load(WALKER, base="floating", actuators=motors)
    q = free.neutral()
    q[7:] = 0.5, -1.0, 0.5, -1.0
    foot, side = rd.Pose((0.0, 0.0, -0.3)).matrix, rd.Pose(rpy=(-np.pi / 2, 0.0, 0.0)).matrix
    holds = [rd.FrameConstraint("upright", "parallel", (("world", side), ("trunk", side)))]
    for place in (0.3, -0.2):
        shank = f"shank_{place}"
        at = rd.Pose((free.frame_pose(q, shank) @ foot)[:3, 3]).matrix
        between = ("world", at), (shank, foot)
        holds.append(rd.FrameConstraint(f"foot_{place}", "translation", between))
    robot = free.with_(constraints=holds)
    return robot, q
