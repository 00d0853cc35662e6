"""Linear-quadratic-Gaussian control of a textbook, for matrices that are given."""

import numpy as np
from scipy.linalg import expm, solve_discrete_are


class ByHand:
    """Riccati equations of matrices in continuous time, and what they make of readings.

    ``rest`` and ``holding`` are readings and forces at rest, ``limit`` and ``quantum`` are
    those of motors; readings
    are the positions, times ``unit``.
    """

    def __init__(
        self, A, B, state, effort, process, measurement, dt, rest, holding=0.0, limit=np.inf,
        unit=1.0, rounds=4000, quantum=0.0,
    ):  # fmt: skip
        n, m = B.shape
        whole = np.zeros((n + m, n + m))
        whole[:n, :n], whole[:n, n:] = A, B
        whole = expm(whole * dt)
        self.A, self.B, self.C = whole[:n, :n], whole[:n, n:], np.eye(n // 2, n) * unit
        R = dt * effort * np.eye(m)
        S = solve_discrete_are(self.A, self.B, dt * state, R)
        self.K = np.linalg.solve(R + self.B.T @ S @ self.B, self.B.T @ S @ self.A)
        P = np.eye(n)  # by the recursion of Riccati, until it stands
        for _ in range(rounds):
            self.L = P @ self.C.T @ np.linalg.inv(self.C @ P @ self.C.T + measurement)
            P = self.A @ (P - self.L @ self.C @ P) @ self.A.T + process
        self.quantum = quantum
        self.x, self.rest, self.holding, self.limit = np.zeros(n), rest * unit, holding, limit

    def __call__(self, readings):
        """Forces of the motors, with which the estimate goes on."""
        x = self.x + self.L @ (readings - self.rest - self.C @ self.x)
        tau = np.clip(self.holding - self.K @ x, -self.limit, self.limit)
        if self.quantum:
            tau = self.quantum * np.floor(tau / self.quantum + 0.5)
        self.x = self.A @ x + self.B @ (tau - self.holding)
        return tau


def moved(rates, x, u, h):
    """A step of Runge and Kutta."""
    a = rates(x, u)
    b = rates(x + 0.5 * h * a, u)
    c = rates(x + 0.5 * h * b, u)
    d = rates(x + h * c, u)
    return x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
