"""Wrenches in joints against what Pinocchio and MuJoCo compute; evaluated by the interpreter."""

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from support.comparison import close_within
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.symbolic.evaluate import evaluate
from robodyn.urdf import write

EQUAL = 1e-9

close = close_within(EQUAL)

EXAMPLES = "cmeel.prefix/share/example-robot-data/robots"
ROBOTS = (
    ("double_pendulum_description/urdf/double_pendulum.urdf", "fixed"),
    ("panda_description/urdf/panda.urdf", "fixed"),
    ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    ("ur_description/urdf/ur5_robot.urdf", "floating"),
    ("tiago_description/robots/tiago.urdf", "fixed"),
    ("solo_description/robots/solo12.urdf", "floating"),
    ("talos_data/robots/talos_reduced.urdf", "floating"),
)


def example(name):
    origins = importlib.util.find_spec("pinocchio").submodule_search_locations
    folders = (parent / EXAMPLES for origin in origins for parent in Path(origin).parents)
    path = next((folder / name for folder in folders if (folder / name).exists()), None)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def here(robot, joints, wrenches, *arrays):
    """Wrenches by joint name, and of the base."""
    f = robot.function("joint_wrenches", joints=tuple(joints), wrenches=tuple(wrenches))
    (rows,) = evaluate(f.program, *arrays, *wrenches.values())
    return dict(zip((*joints, "base"), rows, strict=True))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "base"), ROBOTS)
def test_pinocchio(name, base):
    pin = pytest.importorskip("pinocchio")
    from oracles.pinocchio_oracle import PinocchioOracle, read_by_pinocchio

    path = example(name)
    model = read_by_pinocchio(path, floating=base == "floating")
    options = {"base": base, "passive": False, "rigid": True, "allow_unphysical": True}
    robot = rd.load(path, **options)
    there = PinocchioOracle(path, robot, model)
    rng = np.random.default_rng(7)
    q = robot.random(rng)
    v, a = rng.normal(size=(2, robot.nv))
    joints = [n for n in model.names if n in robot.joints and robot.joints[n].type != "floating"]
    assert len(joints) >= robot.nv - 6 * (base == "floating")
    # external wrenches there are on joint frames: those of the child links
    pushed = {robot.joints[n].child: rng.normal(size=6) for n in {joints[0], joints[-1]}}
    outside = pin.StdVec_Force([pin.Force.Zero()] * model.njoints)
    for n in {joints[0], joints[-1]}:
        outside[model.getJointId(n)] = pin.Force(pushed[robot.joints[n].child])
    pin.rnea(model, there.data, there.q(q), there.G @ v, there.G @ a, outside)
    found = here(robot, joints, pushed, q, v, a)
    for n in joints:
        close(found[n], there.data.f[model.getJointId(n)].vector)
    if base == "floating":
        close(found["base"], there.data.f[1].vector)


class InMujoco:
    """A mechanism of revolute, prismatic and fixed joints as MuJoCo reads its URDF."""

    def __init__(self, mechanism):
        self.mujoco = pytest.importorskip("mujoco")
        root = ET.fromstring(write(mechanism))
        settings = {"fusestatic": "false", "balanceinertia": "false", "discardvisual": "true"}
        ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", settings)
        self.model = self.mujoco.MjModel.from_xml_string(ET.tostring(root, "unicode"))
        self.data = self.mujoco.MjData(self.model)

    def wrenches(self, robot, gravity, q, v, a, pushed):
        """By child link, in its frame; MuJoCo has moment and force about the tree's centre."""
        m, d = self.model, self.data
        m.opt.gravity[:] = gravity
        for name, joint in robot.joints.items():
            if joint.q.stop > joint.q.start:
                index = self.mujoco.mj_name2id(m, self.mujoco.mjtObj.mjOBJ_JOINT, name)
                d.qpos[m.jnt_qposadr[index]] = q[joint.q][0]
                d.qvel[m.jnt_dofadr[index]] = v[joint.v][0]
        self.mujoco.mj_forward(m, d)
        for name, joint in robot.joints.items():
            if joint.q.stop > joint.q.start:
                index = self.mujoco.mj_name2id(m, self.mujoco.mjtObj.mjOBJ_JOINT, name)
                d.qacc[m.jnt_dofadr[index]] = a[joint.v][0]
        for link, wrench in pushed.items():
            b, R_WB = self._body(link)
            arm = d.xpos[b] - d.xipos[b]  # MuJoCo pushes at the centre of mass
            force = R_WB @ wrench[:3]
            d.xfrc_applied[b] = [*force, *(R_WB @ wrench[3:] + np.cross(arm, force))]
        self.mujoco.mj_rnePostConstraint(m, d)
        links = {joint.child for joint in robot.joints.values()}
        return {link: self._in_link(link) for link in links}

    def _body(self, link):
        b = self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_BODY, link)
        return b, self.data.xmat[b].reshape(3, 3)

    def _in_link(self, link):
        d = self.data
        b, R_WB = self._body(link)
        moment, force = d.cfrc_int[b, :3], d.cfrc_int[b, 3:]
        about = d.subtree_com[self.model.body_rootid[b]]
        return [*(R_WB.T @ force), *(R_WB.T @ (moment + np.cross(about - d.xpos[b], force)))]


@pytest.mark.parametrize("seed", range(4))
def test_mujoco(seed):
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "prismatic", "fixed", "continuous", "fixed", "revolute"]
    mechanism = random_mechanism(rng, rng.permutation(kinds))
    robot = rd.load(mechanism, passive=False, rigid=True, gravity=(1.0, 2.0, -9.81))
    q, v, a = rng.normal(size=(3, robot.nv))
    pushed = {"link2": rng.normal(size=6), "link6": rng.normal(size=6)}
    expected = InMujoco(mechanism).wrenches(robot, robot.gravity, q, v, a, pushed)
    found = here(robot, robot.joints, pushed, q, v, a)
    for name, joint in robot.joints.items():
        close(found[name], expected[joint.child])
