"""Closed mechanisms as MuJoCo computes them: a tree, and points that equalities hold together.

A spherical cut joint is one ``connect``, a revolute one two of them on its axis: six rows, of which
one follows from the others.
"""

import mujoco
import numpy as np
from oracles.rigid_tree import GROUND

REVOLUTE = ("revolute", "continuous")
#: Distance of the two points on the axis of a revolute joint [m].
APART = 0.1


class MujocoClosed:
    """A `RigidTree` there; arrays are in the coordinates of the tree."""

    def __init__(self, tree, gravity):
        self.tree = tree
        spec = mujoco.MjSpec()
        bodies = {GROUND: spec.worldbody}
        for k, body in enumerate(tree.bodies):
            bodies[k] = add_body(bodies[body.parent], body)
        points = [pair for closing in tree.closings for pair in point_pairs(closing)]
        for body1, _, body2, _ in points:
            spec.add_equality(
                type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                name1=bodies[body1].name,
                name2=bodies[body2].name,
            )
        spec.option.gravity = gravity
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.model = spec.compile()
        for data, (_, point1, _, point2) in zip(self.model.eq_data, points, strict=True):
            data[:3], data[3:6] = point1, point2
        self.data = mujoco.MjData(self.model)

    def set_state(self, q, v):
        for body in self.tree.bodies:
            at_q, at_v = self._places(body)
            own = q[body.q]
            self.data.qpos[at_q] = np.roll(own, 1) if body.joint.kind == "spherical" else own
            self.data.qvel[at_v] = v[body.v]

    def state(self):
        """``q`` and ``v``."""
        last = self.tree.bodies
        q = np.zeros(max(body.q.stop for body in last))
        for body in last:
            own = self.data.qpos[self._places(body)[0]]
            q[body.q] = np.roll(own, -1) if body.joint.kind == "spherical" else own
        return q, self._ours(self.data.qvel)

    def _places(self, body):
        k = self.model.joint(first_name(body.joint)).id
        at_q, at_v = self.model.jnt_qposadr[k], self.model.jnt_dofadr[k]
        return (
            slice(at_q, at_q + body.q.stop - body.q.start),
            slice(at_v, at_v + body.v.stop - body.v.start),
        )

    def _ours(self, there):
        x = np.zeros(self.model.nv)
        for body in self.tree.bodies:
            x[body.v] = there[self._places(body)[1]]
        return x

    def forward_dynamics(self, q, v, tau):
        """Accelerations by MuJoCo's mass matrix, bias forces and rows, with none of its softness.

        The rows' rate of change is their central difference along the motion.
        """
        m, d = self.model, self.data
        J, _ = self._rows(q, v)
        M = np.zeros((m.nv, m.nv))
        for column, unit in zip(M, np.eye(m.nv), strict=True):
            mujoco.mj_mulM(m, d, column, unit)
        force = -d.qfrc_bias.copy()
        for body in self.tree.bodies:
            force[self._places(body)[1]] += tau[body.v]
        h = 1e-5
        bias = (self._rows(q, v, h)[0] - self._rows(q, v, -h)[0]) @ d.qvel / (2.0 * h)
        # least force that the rows take, in the measure of the mass matrix
        L = np.linalg.cholesky(M)
        A, free = np.linalg.solve(L, J.T), np.linalg.solve(L, force)
        pull = A @ np.linalg.lstsq(A.T @ A, -bias - A.T @ free, rcond=1e-11)[0]
        return self._ours(np.linalg.solve(L.T, free + pull))

    def gap(self, q):
        """Largest distance of points that ought to be one [m]."""
        return np.abs(self._rows(q, np.zeros(self.model.nv))[1]).max()

    def _rows(self, q, v, after=0.0):
        """Rows and gaps of all equalities, a little further on the way."""
        m, d = self.model, self.data
        self.set_state(q, v)
        mujoco.mj_integratePos(m, d.qpos, d.qvel, after)
        mujoco.mj_forward(m, d)
        return d.efc_J.reshape(d.nefc, m.nv).copy(), d.efc_pos.copy()

    def simulate(self, q, v, *, duration, step, time_constant, impedance):
        """Positions at all steps, the start included.

        Equalities give way like damped springs: ``impedance`` is the part of an acceleration
        against them that they take, ``time_constant`` the time in which gaps vanish [s].
        """
        m, d = self.model, self.data
        m.opt.timestep = step
        m.eq_solref[:], m.eq_solimp[:] = [time_constant, 1.0], [impedance, impedance, 1.0, 0.5, 2.0]
        mujoco.mj_resetData(m, d)
        self.set_state(q, v)
        positions = [self.state()[0]]
        for _ in range(round(duration / step)):
            mujoco.mj_step(m, d)
            positions.append(self.state()[0])
        return np.array(positions)


def add_body(parent, body):
    """A body and its joint, below ``parent``."""
    there = parent.add_body(name=f"body of {body.joint.name}")
    there.pos, there.quat = body.X[:3, 3], quaternion(body.X[:3, :3])
    there.explicitinertial, there.mass, there.ipos = True, body.mass, body.com
    J = body.inertia
    there.fullinertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    for name, kind, axis in joints(body.joint):
        there.add_joint(name=name, type=kind, axis=axis)
    return there


def joints(joint):
    """Name, type and axis of each joint there that makes up one of ours."""
    hinge, name = mujoco.mjtJoint.mjJNT_HINGE, first_name(joint)
    match joint.kind:
        case "revolute" | "continuous":
            return [(name, hinge, joint.axis)]
        case "prismatic":
            return [(name, mujoco.mjtJoint.mjJNT_SLIDE, joint.axis)]
        case "spherical":
            return [(name, mujoco.mjtJoint.mjJNT_BALL, (0.0, 0.0, 1.0))]
        case "universal":
            return [(name, hinge, joint.axis), (f"second of {joint.name}", hinge, joint.axis2)]
    raise ValueError(f"joint {joint.name!r}: no {joint.kind} joint there")


def first_name(joint):
    return f"first of {joint.name}"


def point_pairs(closing):
    """Points that closing holds together: body, point in it, other body, point in that."""
    joint = closing.joint
    if joint.kind != "spherical" and joint.kind not in REVOLUTE:
        raise ValueError(f"joint {joint.name!r}: points do not make a {joint.kind} joint")
    ways = [0.0] if joint.kind == "spherical" else [-APART, APART]
    for way in ways:
        p = np.array([*(way * np.array(joint.axis)), 1.0])
        yield closing.body1, (closing.X1 @ p)[:3], closing.body2, (closing.X2 @ p)[:3]


def quaternion(R):
    """w, x, y, z of a rotation matrix."""
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, R.ravel())
    return q
