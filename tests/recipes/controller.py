"""A damper at every motor: its file, and its name in the package of controllers."""

FILES = {
    "controllers/laws/joint_damper.py": '''"""A damper at every motor."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from robodyn import Robot
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray

from ..support.gains import checked_call, gain, state_of
from ..support.plant import motor_mask


@dataclass(frozen=True, eq=False)
class JointDamper:
    """``tau = -damping v`` at the motors, zero elsewhere.

    Attributes
    ----------
    robot : Robot
    damping : float or array_like, shape (nv,) [N m s/rad, N s/m]
    """

    symbolic: ClassVar[bool] = True

    robot: Robot
    damping: ArrayLike

    def __post_init__(self) -> None:
        check_fields(self)
        gain("damping", self.damping, self.robot.nv)

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N]."""
        _, v = state_of(self.robot, q, v)
        damping = gain("damping", self.damping, self.robot.nv)
        return -motor_mask(self.robot) * damping * v
''',
}

LINES = [
    (
        "controllers/__init__.py",
        "from .laws.joint_pd import",
        "from .laws.joint_damper import JointDamper\n",
    ),
    ("controllers/__init__.py", '    "JointPD",\n', '    "JointDamper",\n'),
]

USE = """
import numpy as np
import robodyn as rd
from robodyn.controllers import JointDamper

robot = rd.load("double_pendulum")
controller = JointDamper(robot, 0.5)
start = {"q0": [0.5, 0.2], "duration": 0.1}
run = rd.simulate(robot, controller, **start)
assert np.allclose(run.tau[:-1], -0.5 * run.v[:-1])
plain = rd.simulate(robot, lambda t, q, v: -0.5 * v, **start)
assert np.allclose(run.q, plain.q, rtol=0, atol=1e-13)
many = rd.rollout(robot, controller, [[0.5, 0.2], [0.1, 0.3]], np.zeros((2, 2)), duration=0.1)
assert np.allclose(many.q[:, 0], run.q, rtol=0, atol=1e-13)
assert "void closed_loop(" in rd.closed_loop(robot, controller).c_source("closed_loop")
try:
    JointDamper(robot, "much")
except rd.ShapeError as error:
    assert error.name == "damping"
else:
    raise AssertionError("text was taken for a gain")
"""
