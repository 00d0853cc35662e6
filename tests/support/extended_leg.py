"""A leg as exporters of drawings write it: a URDF of hinges, and a YAML that closes its loops.

A five-bar drives the knee, closed by frames that coincide; two rods turn the foot. Frames of links
are turned at random.
"""

import numpy as np

from robodyn.description import Pose

X, Y, Z = np.eye(3)
MARK = (
    "<inertial><mass value='1e-9'/><inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/>"
    "</inertial>"
)


class _Drawing:
    """Parts by their place at zero; ``lists`` are those of the YAML."""

    def __init__(self):
        self.rng = np.random.default_rng(5)
        self.at = {"trunk": np.eye(4)}
        self.text = ["<link name='trunk'/>"]
        self.lists = {
            key: [] for key in ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
        }

    def link(self, name, size):
        """A cuboid of the density of water; nothing without a size."""
        inertial = ""
        if size is not None:
            mass = 1e3 * np.prod(size)
            a, b, c = mass / 12.0 * np.square(size)
            inertial = (
                f"<inertial><origin xyz='0.01 0 -0.02'/><mass value='{mass}'/>"
                f"<inertia ixx='{b + c}' ixy='0' ixz='0' iyy='{a + c}' iyz='0' izz='{a + b}'/>"
                "</inertial>"
            )
        self.text.append(f"<link name='{name}'>{inertial}</link>")

    def joint(self, name, parent, child, place, axis=None, turn=None):
        """A hinge, or where no axis is given a fixed joint, at a place in the trunk."""
        turn = self.rng.normal(size=3) if turn is None else turn
        there = self.at[child] = Pose(tuple(place), tuple(turn)).matrix
        origin = Pose.from_matrix(np.linalg.inv(self.at[parent]) @ there)
        kind = "fixed" if axis is None else "revolute"
        x, y, z = (float(c) for c in there[:3, :3].T @ (np.zeros(3) if axis is None else axis))
        xyz, rpy = (" ".join(map(repr, part)) for part in (origin.xyz, origin.rpy))
        limit = "" if axis is None else "<limit effort='1' velocity='20'/>"
        self.text.append(
            f"<joint name='{name}' type='{kind}'><origin xyz='{xyz}' rpy='{rpy}'/><parent "
            f"link='{parent}'/><child link='{child}'/><axis xyz='{x} {y} {z}'/>{limit}</joint>"
        )

    def part(self, name, joint, parent, place, axis, size, turn=None):
        """A link and the hinge that carries it; a motor if the name says so."""
        self.joint(joint, parent, name, place, axis, turn)
        self.link(name, size)
        if joint.startswith("motor"):
            self.lists["name_mot"].append(joint)

    def close(self, name, one, other, place, kind):
        """Marks on two links at one place, with one orientation."""
        for letter, link in zip("AB", (one, other), strict=True):
            mark = f"{name}_{letter}"
            self.text.append(f"<link name='{mark}'>{MARK}</link>")
            self.joint(f"{mark}_frame", link, mark, place, turn=(0.3, 0.2, -0.4))
        self.lists["closed_loop"].append([f"{name}_A", f"{name}_B"])
        self.lists["type"].append(kind)

    def retype(self, name, word):
        self.lists["joint_name"].append(name)
        self.lists["joint_type"].append(word)


def write_leg(folder, *, gimbals=False):
    """Write ``robot.urdf`` and ``robot.yaml``; the path of the YAML.

    ``gimbals``: rods hang on three hinges with nothing between, and end in points; else on
    universal joints, and end in balls whose far sides coincide with the foot.
    """
    d = _Drawing()
    hip, knee, foot = np.zeros(3), np.array([0.0, 0.0, -0.4]), np.array([0.02, 0.0, -0.8])
    d.part("yaw", "motor_hip_z", "trunk", hip, Z, (0.08, 0.1, 0.1))
    d.part("roll", "motor_hip_x", "yaw", hip, X, (0.1, 0.08, 0.1))
    d.part("thigh", "motor_hip_y", "roll", hip, Y, (0.06, 0.08, 0.3))
    d.part("shin", "free_knee", "thigh", knee, Y, (0.05, 0.05, 0.3))
    crank, lever = np.array([-0.05, 0.03, -0.1]), knee + np.array([-0.07, 0.03, 0.01])
    d.part("crank", "motor_knee", "thigh", crank, Y, (0.05, 0.02, 0.05))
    d.part("bar", "free_bar", "crank", np.add(crank, (-0.06, 0.0, -0.01)), Y, (0.02, 0.02, 0.2))
    d.part("lever", "free_lever", "shin", lever, Y, (0.03, 0.02, 0.02))
    d.close("closedloop_knee", "bar", "lever", lever, "6d")
    d.part("cross", "free_ankle_y", "shin", foot, Y, (0.03, 0.03, 0.03))
    d.part("foot", "free_ankle_x", "cross", foot, X, (0.15, 0.06, 0.04))
    for n, side in ((1, 1.0), (2, -1.0)):
        servo = np.add(foot, (-0.03, 0.04 * side, 0.25))
        top = np.add(servo, (-0.05, 0.01 * side, 0.0))
        end = np.add(foot, (-0.06, 0.05 * side, 0.01))
        d.part(f"horn{n}", f"motor_ankle{n}", "shin", servo, Y, (0.05, 0.02, 0.02))
        hinges = (X, Y, Z) if gimbals else (Z,)
        parent = f"horn{n}"
        for k, axis in enumerate(hinges):
            last = k == len(hinges) - 1
            name = f"rod{n}" if last else f"gimbal{n}_{k}"
            size = (0.02, 0.01, 0.2) if last else None
            d.part(name, f"rod{n}_hinge{k}", parent, top, axis, size, (0.0, 0.0, 0.0))
            parent = name
        if gimbals:
            d.close(f"closedloop_ankle{n}", parent, "foot", end, "3D")
        else:
            d.retype(f"rod{n}_hinge0", "UJOINT_XY")
            d.part(f"ball{n}", f"rod{n}_end", parent, end, Z, (0.01, 0.01, 0.01))
            d.retype(f"rod{n}_end", "SPHERICAL")
            d.close(f"closedloop_ankle{n}", f"ball{n}", "foot", end, "6d")
    (folder / "robot.urdf").write_text(f"<robot name='leg'>{''.join(d.text)}</robot>")
    path = folder / "robot.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in d.lists.items()))
    return path
