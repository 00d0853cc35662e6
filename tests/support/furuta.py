"""A Furuta pendulum: a driven arm turns about the vertical, and a pendulum hangs from its end."""

import numpy as np
import pytest

import robodyn as rd

#: Length of the arm and inertia about its axis; mass, centre, inertias about its own centre.
R, J_ARM, MASS, CENTER, J_ACROSS, J_ALONG = 0.2, 2e-3, 0.12, 0.15, 9e-4, 2e-5
ARM_DAMPING, HINGE_DAMPING, GRAVITY = 1e-2, 5e-4, 9.81

#: Counts of a turn of each encoder.
COUNTS = 4096.0

URDF = f"""
<robot name="furuta">
  <link name="ground"/>
  <joint name="arm" type="continuous">
    <parent link="ground"/><child link="beam"/><axis xyz="0 0 1"/>
    <dynamics damping="{ARM_DAMPING}" friction="0"/>
  </joint>
  <link name="beam">
    <inertial>
      <mass value="0.3"/>
      <inertia ixx="1e-4" ixy="0" ixz="0" iyy="{J_ARM}" iyz="0" izz="{J_ARM}"/>
    </inertial>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="beam"/><child link="rod"/><origin xyz="{R} 0 0"/><axis xyz="1 0 0"/>
    <dynamics damping="{HINGE_DAMPING}" friction="0"/>
  </joint>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -{CENTER}"/>
      <mass value="{MASS}"/>
      <inertia ixx="{J_ACROSS}" ixy="0" ixz="0" iyy="{J_ACROSS}" iyz="0" izz="{J_ALONG}"/>
    </inertial>
  </link>
</robot>
"""

UP = np.array([0.0, np.pi])


def encoders(names, scale=1.0):
    """A sensor that shows positions of joints, times a scale."""
    return rd.Sensor(lambda q, v, a: q * scale, joint=list(names), name="encoders")


def furuta(sensors=None, **options):
    """The pendulum, with a motor at the arm and encoders that show radians."""
    given = [encoders(("arm", "hinge"))] if sensors is None else sensors
    return rd.load(URDF, actuators={"arm": rd.Actuator()}, sensors=given, **options)


def upright():
    """Matrices of the pendulum that stands, by hand: state (arm, hinge, their speeds)."""
    # the centre moves by R along y as the arm turns, and by -CENTER as the rod, pointing up, tips
    coupling = -MASS * R * CENTER
    M = np.array(
        [
            [J_ARM + MASS * R**2 + J_ALONG, coupling],
            [coupling, J_ACROSS + MASS * CENTER**2],
        ]
    )
    pushes = np.diag([0.0, MASS * GRAVITY * CENTER])
    damps = -np.diag([ARM_DAMPING, HINGE_DAMPING])
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2:, :2], A[2:, 2:] = np.linalg.solve(M, pushes), np.linalg.solve(M, damps)
    B = np.concatenate([np.zeros(2), np.linalg.solve(M, [1.0, 0.0])])[:, None]
    return A, B


def by_pinocchio():
    """Rates of the state of the pendulum under a torque of its motor, by Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(URDF)
    data, damping = model.createData(), np.array([ARM_DAMPING, HINGE_DAMPING])

    def rates(x, u):
        turns = np.concatenate([[np.cos(a), np.sin(a)] for a in x[:2]])
        forces = np.array([u[0], 0.0]) - damping * x[2:]
        return np.concatenate([x[2:], pin.aba(model, data, turns, x[2:], forces)])

    return rates
