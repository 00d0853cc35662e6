"""Models in MJCF as people write them: arms, legs and grippers."""

#: Anchors beside origins, two joints in a body, a ball, references, springs, armatures, frames.
ARM = """
<mujoco model="arm">
  <compiler angle="degree" autolimits="true"/>
  <default>
    <joint damping="0.4" armature="0.05"/>
    <default class="stiff"><joint stiffness="12" springref="20" damping="1.1"/></default>
  </default>
  <worldbody>
    <site name="corner" pos="1 2 0.5" euler="0 0 30"/>
    <body name="base" pos="0 0 0.3" euler="10 0 20">
      <geom type="box" size="0.1 0.1 0.1" mass="3"/>
      <frame pos="0 0 0.1" euler="0 15 0">
        <body name="turret" pos="0 0 0.05">
          <inertial pos="0.02 0.01 0.1" mass="2" diaginertia="0.02 0.03 0.01" euler="10 20 30"/>
          <joint name="yaw" axis="0 0 1" range="-170 160" ref="25"/>
          <body name="upper" pos="0 0.05 0.15">
            <geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.04" density="1500"/>
            <joint name="pitch" class="stiff" axis="0 1 0.2" pos="0.02 0 -0.03"/>
            <joint name="extend" type="slide" axis="1 0 0" range="-0.1 0.3" ref="0.02"
                   armature="1.5" damping="7"/>
            <joint name="roll" axis="1 0 0" pos="0 0.01 0.02" limited="false" range="-10 10"/>
            <site name="elbow_pad" pos="0.4 0 0.1" quat="0.5 0.5 0.5 0.5"/>
            <body name="lower" pos="0.42 0 0.1" euler="0 90 0">
              <geom type="cylinder" size="0.03 0.15" pos="0 0 0.15" mass="0.8"/>
              <joint name="elbow" type="ball" pos="0 0.01 0" armature="0.02" damping="0.3"/>
              <body name="tool" pos="0 0 0.3">
                <geom type="sphere" size="0.02" pos="0.02 0 0.05" mass="0.2"/>
              </body>
            </body>
          </body>
        </body>
      </frame>
    </body>
    <body name="crate" pos="1 0 0.5" euler="0 0 40">
      <freejoint name="crate"/>
      <geom type="box" size="0.1 0.2 0.05" pos="0.02 0 0.03" mass="1.5"/>
      <body name="lid" pos="0.1 0 0.05">
        <geom type="box" size="0.1 0.2 0.005" pos="-0.1 0 0" mass="0.3"/>
        <joint name="hinge" axis="0 1 0" frictionloss="0.01"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="band" stiffness="30" damping="2" springlength="0.4">
      <site site="corner"/><site site="elbow_pad"/>
    </spatial>
  </tendon>
  <actuator>
    <motor name="yaw_motor" joint="yaw" gear="50" ctrlrange="-2 2"/>
    <motor name="pitch_motor" joint="pitch" gear="-20" forcerange="-3 3"/>
    <general name="extend_motor" joint="extend" gainprm="40" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""

#: A leg of six bars: a rod with two balls from the hip to the heel, a parallelogram at the foot.
LEG = """
<mujoco model="leg">
  <compiler angle="radian"/>
  <worldbody>
    <body name="pelvis" pos="0 0 1">
      <freejoint name="float"/>
      <inertial pos="0.02 0 0.05" mass="8" diaginertia="0.08 0.07 0.09"/>
      <body name="thigh" pos="0 0.1 0">
        <inertial pos="0.05 0 -0.1" mass="3" diaginertia="0.03 0.03 0.01"/>
        <joint name="hip" axis="0 1 0" armature="0.04" damping="0.2"/>
        <body name="shin" pos="0.1 0 -0.3">
          <inertial pos="0 0.01 -0.15" mass="1" diaginertia="0.012 0.012 0.001"/>
          <joint name="knee" axis="0 1 0" armature="0.03"/>
          <body name="tarsus" pos="-0.05 0 -0.35">
            <inertial pos="0.04 0 -0.1" mass="0.7" diaginertia="0.006 0.006 0.001"/>
            <joint name="ankle" axis="0 1 0" damping="0.1"/>
            <body name="toe" pos="0.06 0 -0.25">
              <inertial pos="0.05 0 -0.02" mass="0.2" diaginertia="0.0003 0.0004 0.0004"/>
              <joint name="toe" axis="0 1 0"/>
            </body>
            <body name="crank" pos="0.02 0.02 -0.05">
              <inertial pos="0.02 0 0" mass="0.1" diaginertia="0.0001 0.0001 0.0001"/>
              <joint name="crank" axis="0 1 0" armature="0.01"/>
              <body name="link" pos="0.05 0 0.01">
                <inertial pos="0 0 -0.1" mass="0.1" diaginertia="0.0004 0.0004 0.00001"/>
                <joint name="link" axis="0 1 0"/>
              </body>
            </body>
          </body>
        </body>
        <body name="rod" pos="0.02 0.08 -0.02">
          <inertial pos="0.01 0.01 -0.25" mass="0.3" diaginertia="0.005 0.005 0.00002"/>
          <joint name="achilles" type="ball"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect name="heel" body1="rod" body2="tarsus" anchor="-0.02 0.01 -0.55"/>
    <connect name="toe_link" body1="link" body2="toe" anchor="0.01 0 -0.18"/>
  </equality>
  <actuator>
    <motor joint="hip" gear="16"/><motor joint="knee" gear="16"/><motor joint="crank" gear="50"/>
  </actuator>
</mujoco>
"""


def _finger(side: str, x: str, turn: str, pad: str = "") -> str:
    """Bodies of a driver with its coupler, and of a spring with the follower."""
    return f"""
      <body name="{side}_driver" pos="{x}0.03 0 0.05"{turn}>
        <inertial pos="0.01 0 0.01" mass="0.02" diaginertia="2e-6 3e-6 2e-6"/>
        <joint name="{side}_driver" class="driver"/>
        <body name="{side}_coupler" pos="0.03 0 0.01">
          <inertial pos="0.005 0 0.02" mass="0.03" diaginertia="4e-6 4e-6 1e-6"/>
          <joint name="{side}_coupler"/>
        </body>
      </body>
      <body name="{side}_spring" pos="{x}0.015 0 0.06"{turn}>
        <inertial pos="0.01 0 0.02" mass="0.03" diaginertia="4e-6 4e-6 1e-6"/>
        <joint name="{side}_spring" class="spring"/>
        <body name="{side}_follower" pos="0.03 0.002 0.04">
          <inertial pos="0.001 0 0.01" mass="0.02" diaginertia="2e-6 3e-6 2e-6"/>
          <joint name="{side}_follower"/>{pad}
        </body>
      </body>"""


#: Two fingers, each a four-bar closed by a connect, that are driven together.
GRIPPER = f"""
<mujoco model="gripper">
  <compiler angle="radian"/>
  <default>
    <joint axis="0 1 0"/>
    <default class="driver"><joint armature="0.005" damping="0.1" range="-0.3 0.8"/></default>
    <default class="spring"><joint stiffness="0.05" springref="0.2" damping="0.0001"/></default>
  </default>
  <worldbody>
    <body name="palm" pos="0 0 0.2">
      <inertial pos="0 0 0.03" mass="0.7" diaginertia="0.0007 0.0006 0.0004"/>
      <joint name="wrist" axis="0 0 1" armature="0.01"/>
      {_finger("right", "", "", '<site name="right_pad" pos="0 0 0.03"/>')}
      {_finger("left", "-", ' euler="0 0 3.141592653589793"')}
    </body>
  </worldbody>
  <equality>
    <connect name="right" body1="right_follower" body2="right_coupler" anchor="0.01 0 0.004"/>
    <connect name="left" body1="left_follower" body2="left_coupler" anchor="0.01 0 0.004"/>
    <joint name="together" joint1="left_driver" joint2="right_driver" polycoef="0 1 0 0 0"/>
  </equality>
</mujoco>
"""

#: A four-bar closed by a weld of two halves of its rod, with a reference at which it is drawn, a
#: joint that is held, and one that follows another at another speed and is not at its body.
WELDED = """
<mujoco model="welded">
  <compiler angle="radian"/>
  <worldbody>
    <body name="crank" pos="0 0 0">
      <geom type="capsule" fromto="0 0 0 0.1 0 0.2" size="0.02"/>
      <joint name="crank" axis="0 1 0" ref="0.4"/>
      <body name="rod_a" pos="0.1 0 0.2">
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/>
        <joint name="rod" axis="0 1 0" damping="0.01"/>
        <site name="cut_a" pos="0.2 0 0" euler="0.1 0.2 0.3"/>
      </body>
    </body>
    <body name="rocker" pos="0.5 0 0">
      <geom type="capsule" fromto="0 0 0 0.05 0 0.25" size="0.02"/>
      <joint name="rocker" axis="0 1 0" ref="-0.2"/>
      <body name="rod_b" pos="0.05 0 0.25">
        <geom type="capsule" fromto="0 0 0 -0.2 0 0" size="0.02"/>
        <joint name="pin" axis="0 1 0"/>
        <site name="cut_b" pos="-0.2 0 0" euler="0.1 0.2 0.3"/>
      </body>
      <body name="wheel" pos="0.01 0.1 0.1">
        <geom type="cylinder" size="0.05 0.01" pos="0.01 0 0" euler="1.5707963267948966 0 0"/>
        <joint name="wheel" axis="0 1 0" pos="0.02 0.01 -0.03" ref="0.3"/>
        <body name="latch" pos="0.05 0 0">
          <geom type="box" size="0.01 0.02 0.03"/>
          <joint name="latch" axis="1 0 0" ref="0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality>
    <weld name="rejoin" body1="rod_a" body2="rod_b"/>
    <joint name="gear" joint1="wheel" joint2="rocker" polycoef="0.2 -2.5 0 0 0"/>
    <joint name="held" joint1="latch" polycoef="0.25 0 0 0 0"/>
    <weld name="released" body1="crank" body2="rocker" active="false"/>
  </equality>
</mujoco>
"""
