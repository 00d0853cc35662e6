"""The solvers of scipy, by name, over joint twists and speeds.

Each interval between two samples is a problem of its own, as forces are held in it and twists count
from its start; methods of several steps start anew there.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SingularError
from robodyn.simulation.integrators.method import Motion, Solver, Start


def advance(
    name: str, tolerance: float, motion: Motion, start: Start, h: float
) -> tuple[FloatArray, FloatArray]:
    """The state after ``h`` [s], by a method of `scipy.integrate.solve_ivp`.

    tolerance [rad, m]: Relative, and absolute.
    """
    from scipy.integrate import solve_ivp

    (t, q, v, _), space = start, motion.coordinates
    n = len(v)

    def rates(time: float, y: FloatArray) -> FloatArray:
        u, w = y[:n], y[n:]
        a = motion.acceleration(float(time), space.move(q, u), w)
        return np.concatenate([space.rate(u, w), a])

    y = np.concatenate([np.zeros(n), v])
    found = solve_ivp(rates, (t, t + h), y, name, t_eval=(t + h,), rtol=tolerance, atol=tolerance)
    if not found.success:
        raise SingularError(f"scipy's {name} gives up at t = {t:.6g} s: {found.message}")
    return motion.close(t + h, space.move(q, found.y[:n, -1]), found.y[n:, -1])


def _method(name: str, order: int) -> Solver:
    return Solver(order, lambda tolerance: partial(advance, name, tolerance))


#: Orders by the names that scipy has.
ORDERS = {"RK23": 3, "RK45": 5, "DOP853": 8, "Radau": 5, "BDF": 5, "LSODA": 12}

#: By the names they have here.
METHODS = {f"scipy:{name}": _method(name, order) for name, order in ORDERS.items()}
