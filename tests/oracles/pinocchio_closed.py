"""Closed mechanisms as Pinocchio computes them: a tree, and rigid constraints between its bodies.

Pinocchio closes loops by frames (six rows) or by points (three), and not by joints. A cut joint is
therefore put into its tree, where it carries a part of the successor's body, and that part is held
to the rest by a frame: the cut goes through a body. Fixed cut joints are such frames as they are,
spherical ones may be points.
"""

import numpy as np
import pinocchio as pin
from oracles.rigid_tree import GROUND

#: Regularisation, accuracy and iterations of the proximal solver, which redundant rows need: it
#: gets nearer to the solution by about the regularisation, times the force, with each iteration.
PROXIMAL = (1e-10, 1e-14, 30)
UNIT = pin.Inertia(1.0, np.zeros(3), np.eye(3))


class PinocchioClosed:
    """A `RigidTree` there; ``points``: closed by points, as spherical and planar loops may be."""

    def __init__(self, tree, gravity, *, points=False):
        self.tree, self.model, self.joints = tree, pin.Model(), {GROUND: 0}
        self.model.gravity.linear = np.array(gravity)
        #: Names of cut joints that are constraints by themselves.
        self.plain = {c.joint.name for c in tree.closings if points or c.joint.kind == "fixed"}
        self.model_tree(GROUND)
        self.constraints, self.work = (
            pin.StdVec_RigidConstraintModel(),
            pin.StdVec_RigidConstraintData(),
        )
        kind = pin.ContactType.CONTACT_3D if points else pin.ContactType.CONTACT_6D
        for closing in tree.closings:
            first = self.joints[closing.body1], pin.SE3(closing.X1)
            if closing.joint.name not in self.plain:
                first = self.model.getJointId(closing.joint.name), pin.SE3.Identity()
            second = self.joints[closing.body2], pin.SE3(closing.X2)
            self.constraints.append(
                pin.RigidConstraintModel(kind, self.model, *first, *second, pin.LOCAL)
            )
            self.work.append(self.constraints[-1].createData())
        self.data = self.model.createData()
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.work)

    def model_tree(self, number):
        """What a body carries: bodies and parts, depth first, as algorithms there rely on."""
        for k, body in enumerate(self.tree.bodies):
            if body.parent == number:
                self.joints[k] = self._joint(number, body.joint, body.X)
                self.model.appendBodyToJoint(self.joints[k], self._part(k), pin.SE3.Identity())
                self.model_tree(k)
        for closing in self.tree.closings:
            if closing.body1 == number and closing.joint.name not in self.plain:
                leaf = self._joint(number, closing.joint, closing.X1)
                X = pin.SE3(closing.X2).inverse()
                self.model.appendBodyToJoint(leaf, self._part(closing.body2), X)

    def _joint(self, number, joint, X):
        return self.model.addJoint(self.joints[number], joint_model(joint), pin.SE3(X), joint.name)

    def _part(self, number):
        """Of a body, one of as many like parts as there are; of the ground, anything will do."""
        if number == GROUND:
            return UNIT
        ends = [c.body2 for c in self.tree.closings if c.joint.name not in self.plain]
        body, share = self.tree.bodies[number], 1.0 / (1 + ends.count(number))
        return pin.Inertia(share * body.mass, body.com, share * body.inertia)

    def _places(self, name):
        k = self.model.getJointId(name)
        at_q, at_v = self.model.idx_qs[k], self.model.idx_vs[k]
        return slice(at_q, at_q + self.model.nqs[k]), slice(at_v, at_v + self.model.nvs[k])

    def forward_dynamics(self, numbers, tau):
        """Accelerations in the tree, and wrenches by name of joint.

        ``numbers``: ``(q, v)`` by name of joint, of cut joints too. ``tau`` is of the tree.
        """
        m, d = self.model, self.data
        q, v, force = np.zeros(m.nq), np.zeros(m.nv), np.zeros(m.nv)
        for name in list(m.names)[1:]:
            at_q, at_v = self._places(name)
            q[at_q], v[at_v] = numbers[name]
        for body in self.tree.bodies:
            force[self._places(body.joint.name)[1]] = tau[body.v]
        mu, accuracy, iterations = PROXIMAL
        settings = pin.ProximalSettings(accuracy, mu, iterations)
        a = pin.constraintDynamics(m, d, q, v, force, self.constraints, self.work, settings)
        ours = np.zeros(len(tau))
        for body in self.tree.bodies:
            ours[body.v] = a[self._places(body.joint.name)[1]]
        return ours, self._wrenches(q, v, a)

    def _wrenches(self, q, v, a):
        """What the parent exerts on the child, by name of joint; of cut joints on the successor."""
        outside = pin.StdVec_Force([pin.Force.Zero()] * self.model.njoints)
        wrenches = {}
        for closing, c, w in zip(self.tree.closings, self.constraints, self.work, strict=True):
            # of two frames that are one, or that are turned about one point
            on_second = -w.c1Mc2.actInv(w.contact_force)
            outside[c.joint1_id] += c.joint1_placement.act(w.contact_force)
            outside[c.joint2_id] += c.joint2_placement.act(on_second)
            wrenches[closing.joint.name] = on_second.vector
        pin.rnea(self.model, self.data, q, v, a, outside)
        names = list(self.model.names)
        return wrenches | {n: self.data.f[k].vector for k, n in enumerate(names) if k}


def joint_model(joint):
    """Pinocchio's joint of the same kind, along a coordinate axis where it is."""
    axis = np.array(joint.axis)
    letter = "XYZ"[int(axis.argmax())] if axis.max() == 1.0 else ""
    match joint.kind:
        case "revolute" | "continuous" if letter:
            return getattr(pin, f"JointModelR{letter}")()
        case "revolute" | "continuous":
            return pin.JointModelRevoluteUnaligned(axis)
        case "prismatic" if letter:
            return getattr(pin, f"JointModelP{letter}")()
        case "prismatic":
            return pin.JointModelPrismaticUnaligned(axis)
        case "helical":
            return pin.JointModelHelicalUnaligned(axis, joint.pitch)
        case "universal":
            return pin.JointModelUniversal(axis, np.array(joint.axis2))
        case "spherical":
            return pin.JointModelSpherical()
        case "floating":
            return pin.JointModelFreeFlyer()
    raise ValueError(f"joint {joint.name!r}: no {joint.kind} joint there")
