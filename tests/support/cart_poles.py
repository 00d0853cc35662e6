"""Carts that balance poles."""

import robodyn as rd

URDF = """
<robot name="cart_pole">
  <link name="rail"/>
  <joint name="slide" type="prismatic">
    <parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="{effort}" velocity="20"/>
  </joint>
  <link name="cart">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="pivot" type="continuous">
    <parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/>
  </joint>
  <link name="pole">
    <inertial>
      <origin xyz="0 0 -0.5"/>
      <mass value="0.2"/>
      <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.0001"/>
    </inertial>
  </link>
</robot>
"""


def cart_pole(effort=12.0, **options):
    """A cart on rails with a motor, and a pole that hangs from it at zero position."""
    return rd.load(URDF.format(effort=effort), actuators={"slide": rd.Actuator()}, **options)
