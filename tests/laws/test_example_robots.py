"""Every URDF of example-robot-data against Pinocchio, fixed and floating."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import RobodynError
from robodyn.symbolic.evaluate import evaluate

pin = pytest.importorskip("pinocchio")

FOLDER = next(
    (
        folder
        for folder in Path(pin.__file__).parents
        if (folder / "cmeel.prefix/share/example-robot-data/robots").is_dir()
    ),
    None,
)
FILES = (
    sorted((FOLDER / "cmeel.prefix/share/example-robot-data/robots").rglob("*.urdf"))
    if FOLDER
    else []
)

#: Files that Pinocchio reads and we refuse, and the error that says why.
REFUSED = {"alex_psyonic_hands.urdf": "mimics"}


#: Files that Pinocchio itself cannot read: a robot without a name and without links.
UNREADABLE = {"ur3.urdf"}


def test_the_robots_are_there():
    assert len(FILES) >= 60


def pinocchio_model(path, floating):
    root = [pin.JointModelFreeFlyer()] if floating else []
    try:
        return pin.buildModelFromUrdf(str(path), *root)
    except (ValueError, RuntimeError):
        return None


class Pair:
    """The same robot here and there, at the same random state."""

    def __init__(self, path, floating):
        self.robot = rd.load(
            path,
            base="floating" if floating else "fixed",
            passive=False,
            snap=0.0,
            allow_unphysical=True,
        )
        self.model = pinocchio_model(path, floating)
        self.data = self.model.createData()
        rng = np.random.default_rng(7)
        bodies = self.robot._model.bodies
        self.q = self.robot.random(rng)
        self.v, self.a = rng.normal(size=(2, self.robot.nv))
        self.q_pin = np.zeros(self.model.nq)
        #: speeds there = G speeds here, mimic joints included
        self.G = np.zeros((self.model.nv, self.robot.nv))
        for body in bodies:
            kind, name = body.description.kind, body.description.name
            joint = self.model.getJointId("root_joint" if kind == "floating" else name)
            at_q, at_v = self.model.idx_qs[joint], self.model.idx_vs[joint]
            if kind == "floating":
                self.q_pin[at_q : at_q + 7] = self.q[:7]
                self.G[at_v : at_v + 6, :6] = np.eye(6)
                continue
            index, factor, offset = body.q[0]
            x = factor * self.q[index] + offset
            if self.model.nqs[joint] == 2:
                self.q_pin[at_q : at_q + 2] = np.cos(x), np.sin(x)
            else:
                self.q_pin[at_q] = x
            self.G[at_v, body.speeds[0].index] += body.speeds[0].factor

    def get(self, name, *arrays, **options):
        return evaluate(self.robot.function(name, **options).program, *arrays)[0]


def close(x, y, tolerance=1e-10):
    scale = max(float(np.max(np.abs(y), initial=0.0)), 1e-6)
    np.testing.assert_allclose(x, y, rtol=0.0, atol=tolerance * scale)


def symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T


def cases():
    for path in FILES:
        for floating in (False, True):
            yield pytest.param(
                path, floating, id=f"{path.stem}-{'floating' if floating else 'fixed'}"
            )


@pytest.mark.parametrize(("path", "floating"), cases())
def test_equals_pinocchio(path, floating):
    if pinocchio_model(path, floating) is None:
        assert path.name in UNREADABLE
        return
    if path.name in REFUSED:
        with pytest.raises(RobodynError, match=REFUSED[path.name]):
            rd.load(path)
        return
    p = Pair(path, floating)
    if p.robot.nv == 0:
        return
    check_joint_space(p)
    check_frames(p)


def check_joint_space(p):
    G, m, d, q_pin = p.G, p.model, p.data, p.q_pin
    v, a = G @ p.v, G @ p.a
    M = G.T @ symmetric(pin.crba(m, d, q_pin)) @ G
    h = G.T @ pin.nonLinearEffects(m, d, q_pin, v)
    tau = G.T @ pin.rnea(m, d, q_pin, v, a)
    close(p.get("inverse_dynamics", p.q, p.v, p.a), tau)
    close(p.get("mass_matrix", p.q), M)
    close(p.get("bias_forces", p.q, p.v), h)
    close(p.get("gravity_forces", p.q), G.T @ pin.computeGeneralizedGravity(m, d, q_pin))
    close(p.get("kinetic_energy", p.q, p.v), pin.computeKineticEnergy(m, d, q_pin, v))
    close(p.get("potential_energy", p.q), pin.computePotentialEnergy(m, d, q_pin))
    close(p.get("center_of_mass", p.q), pin.centerOfMass(m, d, q_pin))
    if np.linalg.cond(M) < 1e8:
        close(
            p.get("forward_dynamics", p.q, p.v, 0.5 * tau), np.linalg.solve(M, 0.5 * tau - h), 1e-8
        )


def check_frames(p):
    m, d = p.model, p.data
    v, a = p.G @ p.v, p.G @ p.a
    pin.forwardKinematics(m, d, p.q_pin, v, a)
    pin.computeJointJacobians(m, d, p.q_pin)
    pin.updateFramePlacements(m, d)
    links = p.robot.link_names
    for link in {links[0], links[len(links) // 2], links[-1]}:
        frame = m.getFrameId(link, pin.FrameType.BODY)
        close(p.get("frame_pose", p.q, frame=link), d.oMf[frame].homogeneous)
        J = pin.getFrameJacobian(m, d, frame, pin.LOCAL) @ p.G
        close(p.get("frame_jacobian", p.q, frame=link), J)
        twist = pin.getFrameVelocity(m, d, frame, pin.LOCAL).vector
        close(p.get("frame_twist", p.q, p.v, frame=link), twist)
        rate = pin.getFrameAcceleration(m, d, frame, pin.LOCAL).vector
        close(p.get("frame_acceleration", p.q, p.v, p.a, frame=link), rate)
