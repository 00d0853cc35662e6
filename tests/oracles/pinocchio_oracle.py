"""A URDF as Pinocchio computes it, in the coordinates of robodyn.

Three things differ between the two. The order of joints: they are matched by name. Continuous
joints: Pinocchio has (cos, sin) in q where we have an angle. Mimic joints: Pinocchio reads them as
free ones, so all its coordinates follow from ours, ``q_pin = q_pin(q)`` and ``v_pin = G v`` with a
constant G; by d'Alembert's principle forces become ``G' tau_pin`` and the mass matrix ``G' M G``.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]


def read_by_pinocchio(path: Path, *, floating: bool = False) -> Any:
    """Pinocchio's model of a file, or ``None`` if it refuses the file."""
    root = [pin.JointModelFreeFlyer()] if floating else []
    try:
        return pin.buildModelFromUrdf(str(path), *root)
    except (ValueError, RuntimeError):
        return None


@dataclass(frozen=True)
class _Drive:
    """A one-dof joint there as ``factor * q[ours] + offset``."""

    ours: int
    there: int
    factor: float
    offset: float
    circle: bool


def _mimics(path: Path) -> dict[str, tuple[str, float, float]]:
    """Joint -> (joint at the end of the chain of masters, multiplier, offset)."""
    direct = {}
    for joint in ET.fromstring(path.read_bytes().strip()).iter("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            direct[joint.get("name", "")] = (
                mimic.get("joint", ""),
                float(mimic.get("multiplier", "1")),
                float(mimic.get("offset", "0")),
            )
    resolved = {}
    for name in direct:
        master, multiplier, offset = name, 1.0, 0.0
        while master in direct:
            master, factor, shift = direct[master]
            multiplier, offset = multiplier * factor, offset + multiplier * shift
        resolved[name] = (master, multiplier, offset)
    return resolved


class PinocchioOracle:
    """Dynamics of a file; all arrays are of one state and in the coordinates of ``robot``.

    Of ``robot`` only the places of its joints in q and v are used.
    """

    def __init__(self, path: Path, robot: Any, model: Any) -> None:
        self.model, self.data = model, model.createData()
        self.model.gravity.linear = np.array(robot.gravity)
        self.G = np.zeros((model.nv, robot.nv))
        self._drives: list[_Drive] = []
        self._copies: list[tuple[slice, slice]] = []
        mimics = _mimics(path)
        for index, name in enumerate(model.names):
            if index == 0:  # the universe
                continue
            master, factor, offset = mimics.get(name, (name, 1.0, 0.0))
            at_q, at_v = model.idx_qs[index], model.idx_vs[index]
            if index == 1 and robot.base == "floating":
                self.G[:6, :6] = np.eye(6)
                self._copies.append((slice(0, 7), slice(0, 7)))
                continue
            ours = robot.joints[master]
            if model.nvs[index] == 1:
                self.G[at_v, ours.v] = factor
                circle = model.nqs[index] == 2
                self._drives.append(_Drive(ours.q.start, at_q, factor, offset, circle))
            elif ours.type == "floating":
                self.G[at_v : at_v + 6, ours.v] = np.eye(6)
                self._copies.append((slice(at_q, at_q + 7), ours.q))
            else:
                raise ValueError(f"joint {name!r}: no mapping for a {ours.type} joint")
        self.reduced = bool(mimics)

    def q(self, q: Array) -> Array:
        """Coordinates there."""
        q_pin = np.zeros(self.model.nq)
        for target, source in self._copies:
            q_pin[target] = q[source]
        for drive in self._drives:
            x, there = drive.factor * q[drive.ours] + drive.offset, drive.there
            q_pin[there : there + 1 + drive.circle] = (np.cos(x), np.sin(x)) if drive.circle else x
        return q_pin

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        G = self.G
        return np.asarray(G.T @ pin.rnea(self.model, self.data, self.q(q), G @ v, G @ a))

    def mass_matrix(self, q: Array) -> Array:
        M = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return np.asarray(self.G.T @ (M + np.triu(M, 1).T) @ self.G)

    def bias_forces(self, q: Array, v: Array) -> Array:
        h = pin.nonLinearEffects(self.model, self.data, self.q(q), self.G @ v)
        return np.asarray(self.G.T @ h)

    def gravity_forces(self, q: Array) -> Array:
        return np.asarray(
            self.G.T @ pin.computeGeneralizedGravity(self.model, self.data, self.q(q))
        )

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        if self.reduced:
            return np.linalg.solve(self.mass_matrix(q), tau - self.bias_forces(q, v))
        # without mimic joints G only orders the speeds
        G = self.G
        return np.asarray(G.T @ pin.aba(self.model, self.data, self.q(q), G @ v, G @ tau))

    def inverse_dynamics_derivatives(self, q: Array, v: Array, a: Array) -> tuple[Array, ...]:
        """By q in tangent space, by v, and the mass matrix."""
        G = self.G
        pin.computeRNEADerivatives(self.model, self.data, self.q(q), G @ v, G @ a)
        data = self.data
        by = [G.T @ np.array(x) @ G for x in (data.dtau_dq, data.dtau_dv)]
        return (*by, self.mass_matrix(q))

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array) -> tuple[Array, ...]:
        """By q in tangent space, by v and by tau."""
        if self.reduced:
            a = self.forward_dynamics(q, v, tau)
            dq, dv, M = self.inverse_dynamics_derivatives(q, v, a)
            return -np.linalg.solve(M, dq), -np.linalg.solve(M, dv), np.linalg.inv(M)
        G = self.G
        pin.computeABADerivatives(self.model, self.data, self.q(q), G @ v, G @ tau)
        found = np.array(self.data.ddq_dq), np.array(self.data.ddq_dv), np.array(self.data.Minv)
        inverse = np.triu(found[2]) + np.triu(found[2], 1).T
        return tuple(np.asarray(G.T @ x @ G) for x in (*found[:2], inverse))

    def kinetic_energy(self, q: Array, v: Array) -> float:
        return float(pin.computeKineticEnergy(self.model, self.data, self.q(q), self.G @ v))

    def potential_energy(self, q: Array) -> float:
        return float(pin.computePotentialEnergy(self.model, self.data, self.q(q)))

    def center_of_mass(self, q: Array) -> Array:
        return np.array(pin.centerOfMass(self.model, self.data, self.q(q)))

    def momentum(self, q: Array, v: Array) -> Array:
        pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.G @ v)
        return np.array(self.data.hg.vector)

    def centroidal_matrix(self, q: Array) -> Array:
        A = pin.computeCentroidalMap(self.model, self.data, self.q(q))
        return np.asarray(A.reshape(6, -1) @ self.G)

    def _frame(self, link: str) -> int:
        return int(self.model.getFrameId(link, pin.FrameType.BODY))

    def frame_pose(self, q: Array, link: str) -> Array:
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return np.array(self.data.oMf[self._frame(link)].homogeneous)

    def frame_jacobian(self, q: Array, link: str) -> Array:
        frame = self._frame(link)
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), frame, pin.LOCAL)
        return np.asarray(J.reshape(6, -1) @ self.G)  # one column comes as a vector

    def _at_frame(self, get: Callable[..., Any], link: str, q: Array, v: Array, a: Array) -> Array:
        pin.forwardKinematics(self.model, self.data, self.q(q), self.G @ v, self.G @ a)
        return np.array(get(self.model, self.data, self._frame(link), pin.LOCAL).vector)

    def frame_twist(self, q: Array, v: Array, link: str) -> Array:
        return self._at_frame(pin.getFrameVelocity, link, q, v, np.zeros_like(v))

    def frame_acceleration(self, q: Array, v: Array, a: Array, link: str) -> Array:
        return self._at_frame(pin.getFrameAcceleration, link, q, v, a)

    def frame_jacobian_dot(self, q: Array, v: Array, link: str) -> Array:
        m, d = self.model, self.data
        pin.computeJointJacobiansTimeVariation(m, d, self.q(q), self.G @ v)
        pin.updateFramePlacements(m, d)
        J_dot = pin.getFrameJacobianTimeVariation(m, d, self._frame(link), pin.LOCAL)
        return np.asarray(J_dot.reshape(6, -1) @ self.G)
