"""A robot in minimal coordinates beside the same with constraints, at one state.

Programs are evaluated by the plain interpreter.
"""

import numpy as np
from support.comparison import close_within

import robodyn as rd
from robodyn.equations.catalogue import trace
from robodyn.symbolic.evaluate import evaluate

close = close_within(1e-9)

GRAVITY = (1.0, 2.0, -9.81)


class Pair:
    """A robot in minimal coordinates, and with constraints, at one state."""

    def __init__(self, mechanism, base="fixed", seed=0, **options):
        rng = np.random.default_rng(seed)
        self.robot = rd.load(
            mechanism, coordinates="minimal", base=base, gravity=GRAVITY, **options
        )
        self.tree = self.robot.tree_form
        r, t = self.robot, self.tree
        assert r.nc == 0
        assert r.nv == t.dof
        self.q, self.v, self.a = r.random(rng), *rng.normal(size=(2, r.nv))
        self.tau = rng.normal(size=r.nv)
        self.base = ()
        if base == "moving":
            pose = np.eye(4)
            pose[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            pose[:3, :3] *= np.linalg.det(pose[:3, :3])
            pose[:3, 3] = rng.normal(size=3)
            self.base = (pose, *rng.normal(size=(2, 6)))
        self.Q = r.expand(self.q)
        self.V = r.expand_velocity(self.q, self.v)
        self.A = r.expand_acceleration(self.q, self.v, self.a)
        self.B = np.stack([r.expand_velocity(self.q, e) for e in np.eye(r.nv)], axis=-1)
        self.b = r.expand_acceleration(self.q, self.v, np.zeros(r.nv))

    def small(self, name, *arrays, based=True, **options):
        based = self.base if based else ()
        return evaluate(trace(name, self.robot.model.setup, options), *arrays, *based)[0]

    def large(self, name, *arrays, based=True, **options):
        based = self.base if based else ()
        return evaluate(trace(name, self.tree.model.setup, options), *arrays, *based)[0]

    def check_loops(self):
        close(self.large("loop_residual", self.Q, based=False), 0.0)
        K = self.large("loop_jacobian", self.Q, based=False)
        close(K @ self.B, 0.0)
        close(K @ self.A, -self.large("loop_bias", self.Q, self.V, based=False))

    def check_dynamics(self):
        q, v, B = self.q, self.v, self.B
        M = self.large("mass_matrix", self.Q, based=False)
        h = self.large("bias_forces", self.Q, self.V)
        M_red = B.T @ M @ B
        h_red = B.T @ (M @ self.b + h)
        close(self.small("mass_matrix", q, based=False), M_red)
        close(self.small("bias_forces", q, v), h_red)
        close(self.small("inverse_dynamics", q, v, self.a), M_red @ self.a + h_red)
        a = self.small("forward_dynamics", q, v, self.tau)
        close(a, np.linalg.solve(M_red, self.tau - h_red), 1e-8)
        close(self.small("gravity_forces", q), B.T @ self.large("gravity_forces", self.Q))
        close(
            self.small("passive_forces", q, v), B.T @ self.large("passive_forces", self.Q, self.V)
        )

    def check_energies(self):
        q, v, Q, V = self.q, self.v, self.Q, self.V
        for name in ("kinetic_energy", "momentum"):
            close(self.small(name, q, v), self.large(name, Q, V))
        for name in ("potential_energy", "center_of_mass"):
            close(self.small(name, q), self.large(name, Q))
        A = self.large("centroidal_matrix", Q)
        close(self.small("centroidal_matrix", q), A @ self.B)

    def check_frames(self, link, **fixed):
        q, v, Q, V = self.q, self.v, self.Q, self.V
        fixed = {"frame": link, **fixed}
        poses = {k: x for k, x in fixed.items() if k != "axes"}
        close(self.small("frame_pose", q, **poses), self.large("frame_pose", Q, **poses))
        close(self.small("frame_twist", q, v, **fixed), self.large("frame_twist", Q, V, **fixed))
        close(
            self.small("frame_acceleration", q, v, self.a, **fixed),
            self.large("frame_acceleration", Q, V, self.A, **fixed),
        )
        J = self.large("frame_jacobian", Q, **fixed)
        J_dot = self.large("frame_jacobian_dot", Q, V, **fixed)
        close(self.small("frame_jacobian", q, **fixed), J @ self.B)
        rate = self.small("frame_jacobian_dot", q, v, **fixed)
        close(rate @ v, J_dot @ V + J @ self.b)

    def check_christoffel(self):
        q, v, h = self.q, self.v, 1e-6
        C = self.small("coriolis_matrix", q, v, based=False)
        ahead, behind = (
            self.small("mass_matrix", self.robot.integrate(q, s * h * v), based=False)
            for s in (1.0, -1.0)
        )
        close(C + C.T, (ahead - behind) / (2 * h), 1e-6)

    def check(self):
        self.check_loops()
        self.check_dynamics()
        self.check_energies()
        self.check_christoffel()
        links = self.robot.link_names
        self.check_frames(links[-1])
        self.check_frames(links[1], relative_to=links[-1])
        self.check_frames(links[len(links) // 2], axes="world")
