"""An Extended URDF as Pinocchio computes it, read without robodyn."""

import numpy as np
import pinocchio as pin
import yaml

AXES = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}


class PinocchioExtended:
    """Balls, universal joints as two hinges, and frames held to frames, six or three rows each."""

    def __init__(self, path):
        said = yaml.safe_load(path.read_text())
        written = pin.buildModelFromUrdf(str(path.with_name("robot.urdf")))
        types = dict(zip(said["joint_name"], said["joint_type"], strict=True))
        self.model, self.last = pin.Model(), {0: 0}
        for k in range(1, written.njoints):
            name, place = written.names[k], written.jointPlacements[k]
            parent, joint = self.last[written.parents[k]], written.joints[k]
            word = types.get(name, "")
            if word == "SPHERICAL":
                joint = pin.JointModelSpherical()
            elif word:
                first = AXES[word[-2]]()
                parent = self.model.addJoint(parent, first, place, f"{name}/first")
                place, joint = pin.SE3.Identity(), AXES[word[-1]]()
            self.last[k] = self.model.addJoint(parent, joint, place, name)
            self.model.appendBodyToJoint(self.last[k], written.inertias[k], pin.SE3.Identity())
        self.constraints, self.work = (
            pin.StdVec_RigidConstraintModel(),
            pin.StdVec_RigidConstraintData(),
        )
        for pair, word in zip(said["closed_loop"], said["type"], strict=True):
            one, other = (written.frames[written.getFrameId(name)] for name in pair)
            kind = pin.ContactType.CONTACT_6D if word == "6d" else pin.ContactType.CONTACT_3D
            ends = [(self.last[f.parentJoint], f.placement) for f in (one, other)]
            self.constraints.append(
                pin.RigidConstraintModel(kind, self.model, *ends[0], *ends[1], pin.LOCAL)
            )
            self.work.append(self.constraints[-1].createData())
        self.data = self.model.createData()
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.work)

    def _places(self, name, first, count):
        """Where the numbers of a joint stand."""
        names = list(self.model.names)
        own = [k for k in (f"{name}/first", name) if k in names]
        starts = [(first[names.index(k)], count[names.index(k)]) for k in own]
        return np.concatenate([np.arange(at, at + n) for at, n in starts])

    def forward_dynamics(self, robot, q, v, tau):
        """Accelerations in the order of a robot, given its numbers."""
        m = self.model
        x, w, force, a = np.zeros(m.nq), *np.zeros((2, m.nv)), np.zeros(robot.nv)
        for joint in (robot.joints[name] for name in robot.joint_names):
            x[self._places(joint.name, m.idx_qs, m.nqs)] = q[joint.q]
            at = self._places(joint.name, m.idx_vs, m.nvs)
            w[at], force[at] = v[joint.v], tau[joint.v]
        settings = pin.ProximalSettings(1e-12, 1e-8, 1000)
        found = pin.constraintDynamics(
            m, self.data, x, w, force, self.constraints, self.work, settings
        )
        for joint in (robot.joints[name] for name in robot.joint_names):
            a[joint.v] = found[self._places(joint.name, m.idx_vs, m.nvs)]
        return a
