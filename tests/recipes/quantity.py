"""Generalized momenta: a file with their equations and their row, and their method."""

FILES = {
    "robodyn/equations/quantities/joint_momenta.py": '''"""Generalized momenta."""

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.quantities.common.quantity import TREE_FORCES, Output, Q, Quantity, V
from robodyn.equations.tree.newton_euler import twists


def joint_momenta(t):
    V = twists(t.state)
    h = {body.index: body.inertia.momentum(V[body.index]) for body in t.model}
    p = [0.0] * t.model.nv
    for body in reversed(t.model):
        joint = t.state[body.index]
        for k, momentum in joint.forces(h[body.index]):
            p[k] += momentum
        if body.parent != BASE:
            h[body.parent] += joint.X.wrench_out(h[body.index])
    return {"p": p}


ROWS = {
    "joint_momenta": Quantity(
        inputs=(Q, V),
        outputs=(Output("p", ("nv",), "kg m^2/s, kg m/s"),),
        trace=joint_momenta,
        closed=TREE_FORCES,
        base=True,
        parametric=True,
    ),
}
''',
}

LINES = [
    (
        "robodyn/robot.py",
        "    def mass_matrix(",
        '''    def joint_momenta(self, q, v, *, base=None, out=None):
        """Momentum that each speed carries."""
        return self._now.evaluator.call("joint_momenta", (q, v), base=base, out=out)

''',
    ),
]

#: Without this line, the file is refused: the row has to say what closed linkages get.
NEEDED = "        closed=TREE_FORCES,\n"

USE = """
import numpy as np
import robodyn as rd

rng = np.random.default_rng(0)
robot = rd.load("arm7", passive=False)
q, v = rng.normal(size=(2, 9, robot.nv))
wanted = np.einsum("nij,nj->ni", robot.mass_matrix(q), v)

def close(x, y=wanted):
    assert np.allclose(x, y, rtol=1e-11, atol=1e-12), (x, y)

close(robot.joint_momenta(q[0], v[0]), wanted[0])
close(robot.joint_momenta(q, v))
close(robot.joint_momenta(q, v, out=np.empty_like(v)))
close([robot.joint_momenta(x, y) for x, y in zip(q, v)])

f = robot.function("joint_momenta")
close(f(q, v))
assert [port.name for port in f.inputs] == ["q", "v"]
assert [(port.name, port.shape, port.unit) for port in f.outputs] == [
    ("p", (robot.nv,), "kg m^2/s, kg m/s")
]
close(f.jacobian("v")(q, v), robot.mass_matrix(q))
assert "void joint_momenta(" in f.c_source("joint_momenta")
g = robot.function("joint_momenta", parameters=True)
close(g(q[0], v[0], robot.inertial_parameters), wanted[0])

moving = rd.load("arm7", passive=False, base="moving")
close(moving.joint_momenta(q, v))
carried = rd.BaseMotion(np.eye(4), np.array([1.0, 0, 0, 0, 0, 0]), np.zeros(6))
assert not np.allclose(moving.joint_momenta(q, v, base=carried), wanted)

try:
    robot.function("joint_momenta", frame="link1")
except rd.UnknownNameError as error:
    assert "joint_momenta" in str(error)
else:
    raise AssertionError("an option that its row does not name was taken")
linkage = rd.load("four_bar", passive=False)
q, v = linkage.neutral(), [1.0, 2.0, 3.0]
close(linkage.joint_momenta(q, v), linkage.mass_matrix(q) @ v)
"""
