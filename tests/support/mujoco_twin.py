"""A robot that was read from MJCF beside MuJoCo's own model of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import mujoco
import numpy as np

import robodyn as rd

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


class Twin:
    """States of a robot as MuJoCo has them, and what MuJoCo computes there.

    MuJoCo's dry friction, contacts and actuators are switched off: what is left is exact in both.
    Joints that are held are fixed ones of the robot.
    """

    def __init__(self, text: str, held: Mapping[str, float] = MappingProxyType({})) -> None:
        self.robot, self._held = rd.load(text), held
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.dof_frictionloss[:] = 0.0
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        bits = mujoco.mjtDisableBit
        for bit in (bits.mjDSBL_CONTACT, bits.mjDSBL_ACTUATION, bits.mjDSBL_LIMIT):
            self.model.opt.disableflags |= int(bit)
        self.data = mujoco.MjData(self.model)

    def _joints(self):
        for j in range(self.model.njnt):
            yield (
                mujoco.mj_id2name(self.model, int(mujoco.mjtObj.mjOBJ_JOINT), j),
                int(self.model.jnt_type[j]),
                int(self.model.jnt_qposadr[j]),
                int(self.model.jnt_dofadr[j]),
            )

    def at(self, q, v) -> Twin:
        """Put MuJoCo's model where the robot is."""
        places = dict(self.robot.joint_positions(q))
        speeds = dict(self.robot.joint_velocities(q, v))
        for name, kind, qpos, dof in self._joints():
            if name in self._held and name not in places:
                places[name], speeds[name] = self._held[name], 0.0
            x, s = np.atleast_1d(places[name]), np.atleast_1d(speeds[name])
            if kind == FREE:
                self.data.qpos[qpos : qpos + 7] = [*x[:3], x[6], *x[3:6]]
                self.data.qvel[dof : dof + 6] = [*self._turn(x[3:]) @ s[:3], *s[3:]]
            elif kind == BALL:
                self.data.qpos[qpos : qpos + 4] = [x[3], *x[:3]]
                self.data.qvel[dof : dof + 3] = s
            else:
                self.data.qpos[qpos], self.data.qvel[dof] = x[0], s[0]
        mujoco.mj_forward(self.model, self.data)
        return self

    def speeds_of(self, q, basis) -> np.ndarray:
        """MuJoCo's speeds for each column of speeds of the robot, shape (nv of MuJoCo, columns)."""
        columns = []
        for column in np.transpose(basis):
            self.at(q, column)
            columns.append(self.data.qvel.copy())
        return np.transpose(columns)

    def drift(self, q, v) -> np.ndarray:
        """MuJoCo's accelerations where those of the robot are zero: speeds of free joints turn."""
        places, speeds = self.robot.joint_positions(q), self.robot.joint_velocities(q, v)
        found = np.zeros(self.model.nv)
        for name, kind, _, dof in self._joints():
            if kind == FREE:
                s = speeds[name]
                found[dof : dof + 3] = self._turn(places[name][3:]) @ np.cross(s[3:], s[:3])
        return found

    def _turn(self, quat) -> np.ndarray:
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, np.array([quat[3], *quat[:3]]))
        return R.reshape(3, 3)

    @property
    def mass_matrix(self) -> np.ndarray:
        M = np.zeros((self.model.nv, self.model.nv))
        try:
            mujoco.mj_fullM(self.model, self.data, M)
        except TypeError:  # before MuJoCo 4
            mujoco.mj_fullM(self.model, M, self.data.qM)
        return M

    @property
    def bias(self) -> np.ndarray:
        """Forces that hold the accelerations at zero, springs and dampers included."""
        return self.data.qfrc_bias - self.data.qfrc_passive

    @property
    def motor_moments(self) -> np.ndarray:
        """By how much each actuator acts on each speed, shape (actuators, nv of MuJoCo)."""
        moment, data = np.zeros((self.model.nu, self.model.nv)), self.data
        sparse = data.moment_rownnz, data.moment_rowadr, data.moment_colind
        mujoco.mju_sparse2dense(moment, data.actuator_moment.ravel(), *sparse)
        return moment

    @property
    def equality_rows(self) -> np.ndarray:
        """Jacobian of the equality constraints, shape (rows, nv of MuJoCo)."""
        J = self.data.efc_J.reshape(-1, self.model.nv)[: self.data.nefc]
        return J[self.data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)].copy()

    @property
    def gaps(self) -> np.ndarray:
        """How far the equality constraints are open."""
        return self.data.efc_pos[
            self.data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        ].copy()
