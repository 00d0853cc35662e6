"""A gripper of which one finger follows the other, as URDF."""

GRIPPER = """<robot name="gripper"><link name="palm"/>
<link name="left"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="right"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="a" type="revolute"><parent link="palm"/><child link="left"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="2" effort="5"/></joint>
<joint name="b" type="revolute"><parent link="palm"/><child link="right"/><axis xyz="0 0 1"/>
<mimic joint="a" multiplier="-2" offset="0.5"/>
<limit lower="-3" upper="3" velocity="2" effort="5"/></joint></robot>"""
