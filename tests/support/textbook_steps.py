"""A step in time as textbooks have it, which shares no text with the package's own.

Accelerations solve ``M a + h = tau + K^T lam + E mu``, ``K a = -k``, ``E^T a = a_driven`` by least
squares. Methods are the tables of their coefficients. After a step loops are closed by Newton's
method until nothing changes any more, each time as little in kinetic energy as can be.
"""

import numpy as np

#: Nodes, coefficients and weights of each method [Hairer, Norsett, Wanner II.1].
TABLES = {
    "euler": ([0.0], [[]], [1.0]),
    "midpoint": ([0.0, 0.5], [[], [0.5]], [0.0, 1.0]),
    "heun": ([0.0, 1.0], [[], [1.0]], [0.5, 0.5]),
    "rk4": (
        [0.0, 0.5, 0.5, 1.0],
        [[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]],
        [1 / 6, 1 / 3, 1 / 3, 1 / 6],
    ),
}


def columns(robot, name):
    """Indices in q and v of a joint, or of one axis of one whose coordinates are its angles."""
    stem, _, axis = name.rstrip("]").partition("[")
    joint = robot.joints[stem]
    of_q, of_v = np.arange(robot.nq)[joint.q], np.arange(robot.nv)[joint.v]
    return (of_q[[int(axis)]], of_v[[int(axis)]]) if axis else (of_q, of_v)


class TextbookStep:
    """One step of a robot.

    Parameters
    ----------
    robot : Robot
    paths : dict of joint name to callable
        ``t -> (position, speed, acceleration)`` of joints that are driven, ``"joint[k]"`` for one
        axis; a position of ``None`` is where it is.
    base, wrenches
        As in `robodyn.simulate`.
    gains : (alpha, beta), optional [1/s]
        Hold loops closed, which are not closed after the step then.
    """

    def __init__(self, robot, paths=None, base=None, wrenches=None, gains=None):
        self.robot, self.paths, self.base = robot, paths or {}, base
        self.wrenches, self.gains = wrenches, gains
        self.columns = {name: columns(robot, name) for name in self.paths}
        self.speeds = [int(k) for _, of_v in self.columns.values() for k in of_v]
        self.free = np.setdiff1d(np.arange(robot.nv), self.speeds)

    def __call__(self, method, t, q, v, tau, h):
        robot = self.robot
        if method == "semi_implicit":
            v = v + h * self.acceleration(t, q, v, tau)
            q = robot.integrate(q, h * v)
        else:
            q, v = self.runge_kutta(TABLES[method], t, q, v, tau, h)
        q, v = self.driven(t + h, q, v)
        if robot.nc and self.gains is None:
            return self.closed(robot.at(t + h), q, v)
        return q, v

    def runge_kutta(self, table, t, q, v, tau, h):
        """On the vector space of the twists that lead from the start to the stages."""
        nodes, coefficients, weights = table
        rates, accelerations = [], []
        for c, row in zip(nodes, coefficients, strict=True):
            u = h * sum((a * x for a, x in zip(row, rates, strict=True)), np.zeros_like(v))
            moved = v + h * sum(
                (a * x for a, x in zip(row, accelerations, strict=True)), np.zeros_like(v)
            )
            there, moved = self.driven(t + c * h, self.robot.integrate(q, u), moved)
            rates.append(self.robot.tangent_rate(u, moved))
            accelerations.append(self.acceleration(t + c * h, there, moved, tau))
        u = h * sum(b * x for b, x in zip(weights, rates, strict=True))
        end = v + h * sum(b * x for b, x in zip(weights, accelerations, strict=True))
        return self.robot.integrate(q, u), end

    def driven(self, t, q, v):
        """With driven joints where their paths have them."""
        q, v = q.copy(), v.copy()
        for name, path in self.paths.items():
            (of_q, of_v), (position, speed, _) = self.columns[name], path(t)
            if position is not None:
                q[of_q] = position
            v[of_v] = speed
        return q, v

    def acceleration(self, t, q, v, tau):
        robot = self.robot.at(t)
        base = {} if self.base is None else {"base": self.base(t)}
        M, h = robot.mass_matrix(q), robot.bias_forces(q, v, wrenches=self.wrenches, **base)
        rows = np.eye(robot.nv)[self.speeds]
        right = np.zeros(robot.nv)
        for name, path in self.paths.items():
            right[self.columns[name][1]] = path(t)[2]
        right = right[self.speeds]
        if robot.nc:
            K = robot.loop_jacobian(q)
            k = robot.loop_bias(q, v)
            if self.gains is not None:
                alpha, beta = self.gains
                k = k + 2.0 * alpha * self.rate(robot, q, v) + beta**2 * robot.loop_residual(q)
            rows, right = np.vstack((K, rows)), np.concatenate((-k, right))
        zeros = np.zeros((len(rows), len(rows)))
        A = np.block([[M, -rows.T], [rows, zeros]])
        found = np.linalg.lstsq(A, np.concatenate((tau - h, right)), rcond=1e-13)[0]
        return found[: robot.nv]

    def rate(self, robot, q, v):
        """Rate at which loops open."""
        return robot.loop_jacobian(q) @ v + robot.loop_velocity_offset(q)

    def closed(self, robot, q, v):
        free, nv = self.free, robot.nv

        def least(q, gap):
            K = robot.loop_jacobian(q)[:, free]
            W = np.linalg.inv(robot.mass_matrix(q)[np.ix_(free, free)])
            moved = np.zeros(nv)
            moved[free] = -W @ K.T @ np.linalg.pinv(K @ W @ K.T, rcond=1e-10) @ gap
            return moved

        for _ in range(12):
            q = robot.integrate(q, least(q, robot.loop_residual(q)))
        return q, v + least(q, self.rate(robot, q, v))
