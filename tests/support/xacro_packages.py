"""Two ROS packages for tests: an arm as manufacturers write theirs, and a cell that calls it.

``arm_description`` holds the macro, a YAML file a model, and a file with arguments to load;
``cell_description`` includes the arm from the other package, twice, with prefixes.
"""

from pathlib import Path

SPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'

#: One joint limit and length a model [rad, m], one mass [kg].
MODELS = {
    "a3": {"length": 0.3, "mass": 2.0, "upper": 2.5},
    "a5": {"length": 0.5, "mass": 5.0, "upper": 3.0},
}

PACKAGE = """<?xml version="1.0"?>
<package format="3"><name>{name}</name><version>1.0.0</version></package>
"""

COMMON = f"""<?xml version="1.0"?>
<robot {SPACE}>
  <xacro:macro name="rod" params="mass length">
    <inertial>
      <mass value="${{mass}}"/>
      <origin xyz="${{length / 2}} 0 0"/>
      <inertia ixx="${{mass * 1e-4}}" ixy="0" ixz="0" iyy="${{mass * length**2 / 12}}" iyz="0"
               izz="${{mass * length**2 / 12}}"/>
    </inertial>
  </xacro:macro>
</robot>
"""

MACRO = f"""<?xml version="1.0"?>
<robot {SPACE}>
  <xacro:include filename="$(find arm_description)/urdf/inc/common.xacro"/>
  <xacro:macro name="arm" params="prefix model gripper:=false parent *origin">
    <xacro:property name="file" value="$(find arm_description)/config/${{model}}/physical.yaml"/>
    <xacro:property name="data" value="${{xacro.load_yaml(file)}}"/>
    <joint name="${{prefix}}mount" type="fixed">
      <xacro:insert_block name="origin"/>
      <parent link="${{parent}}"/><child link="${{prefix}}base"/>
    </joint>
    <link name="${{prefix}}base"/>
    <xacro:macro name="segment" params="k before">
      <joint name="${{prefix}}joint_${{k}}" type="revolute">
        <origin xyz="${{data['length'] if k > 1 else 0}} 0 0" rpy="${{radians(90) * (k % 2)}} 0 0"/>
        <parent link="${{prefix}}${{before}}"/><child link="${{prefix}}link_${{k}}"/>
        <axis xyz="0 0 1"/>
        <limit lower="${{-data['upper']}}" upper="${{data['upper']}}" effort="50" velocity="2"/>
      </joint>
      <link name="${{prefix}}link_${{k}}">
        <xacro:rod mass="${{data['mass'] / k}}" length="${{data['length']}}"/>
      </link>
    </xacro:macro>
    <xacro:segment k="1" before="base"/>
    <xacro:segment k="2" before="link_1"/>
    <xacro:if value="${{gripper}}">
      <joint name="${{prefix}}finger" type="prismatic">
        <parent link="${{prefix}}link_2"/><child link="${{prefix}}tip"/>
        <limit lower="0" upper="0.04" effort="10" velocity="0.1"/>
      </joint>
      <link name="${{prefix}}tip"><xacro:rod mass="0.1" length="0.1"/></link>
    </xacro:if>
  </xacro:macro>
</robot>
"""

#: As Universal Robots has it, the name of the robot is an argument that is declared below.
ARM = f"""<?xml version="1.0"?>
<robot {SPACE} name="$(arg name)">
  <xacro:arg name="name" default="arm"/>
  <xacro:arg name="model" default="a9"/>
  <xacro:arg name="prefix" default=""/>
  <xacro:arg name="gripper" default="false"/>
  <xacro:arg name="height" default="0"/>
  <xacro:include filename="$(find arm_description)/urdf/arm_macro.xacro"/>
  <link name="world"/>
  <xacro:arm prefix="$(arg prefix)" model="$(arg model)" gripper="$(arg gripper)" parent="world">
    <origin xyz="0 0 $(arg height)"/>
  </xacro:arm>
</robot>
"""

CELL = f"""<?xml version="1.0"?>
<robot name="cell" {SPACE}>
  <xacro:include filename="package://arm_description/urdf/arm_macro.xacro"/>
  <xacro:arg name="two" default="true"/>
  <link name="table"/>
  <xacro:arm prefix="left_" model="a3" parent="table"><origin xyz="0 0.5 0"/></xacro:arm>
  <xacro:if value="$(arg two)">
    <xacro:arm prefix="right_" model="a5" gripper="true" parent="table">
      <origin xyz="0 -0.5 0"/>
    </xacro:arm>
  </xacro:if>
</robot>
"""


def write_packages(folder: Path, arm: str = "arm_ws/arm") -> Path:
    """Write both packages; the folder of the arm need not be called as the package is.

    Returns
    -------
    arm : Path
        The file of the arm that is to be loaded.
    """
    root, cell = folder / arm, folder / "cell_ws" / "cell_description"
    files = {
        root / "package.xml": PACKAGE.format(name="arm_description"),
        root / "urdf" / "inc" / "common.xacro": COMMON,
        root / "urdf" / "arm_macro.xacro": MACRO,
        root / "urdf" / "arm.urdf.xacro": ARM,
        cell / "package.xml": PACKAGE.format(name="cell_description"),
        cell / "urdf" / "cell.urdf.xacro": CELL,
    }
    for model, values in MODELS.items():
        text = "".join(f"{key}: {value}\n" for key, value in values.items())
        files[root / "config" / model / "physical.yaml"] = text
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "urdf" / "arm.urdf.xacro"
