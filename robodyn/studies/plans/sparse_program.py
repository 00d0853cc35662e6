"""Nonlinear programs of points that linear equations link, and their sparse derivatives.

All that is not linear is a function of one point alone, so that the Jacobian and the Hessian of
everything are those of each point, put into their places by constant matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.quick_dataclass import dataclass

#: Settings of IPOPT.
OPTIONS = {
    "print_time": False, "error_on_fail": False, "ipopt.print_level": 0, "ipopt.sb": "yes",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rows:
    """Equations of one name: ``lower <= value <= upper``, linear in points and their functions.

    value: Of symbols, as `Blocks` has them.
    lower, upper: As many numbers as value.
    """

    value: Any
    lower: FloatArray
    upper: FloatArray

    @classmethod
    def zero(cls, value: Any) -> Rows:
        """Equations whose values are zero."""
        return cls(value, np.zeros(value.numel()), np.zeros(value.numel()))


@dataclass(frozen=True, eq=False)
class Found:
    """Where a search has ended.

    z: All unknowns, point after point.
    values, multipliers: Of equations, by name.
    of_bounds: Multipliers of the bounds of unknowns.
    status: What IPOPT says, empty if it has succeeded.
    """

    z: FloatArray
    cost: float
    values: Mapping[str, FloatArray]
    multipliers: Mapping[str, FloatArray]
    of_bounds: FloatArray
    status: str


class Blocks:
    """Blocks of points, each with a function of its own.

    functions, counts: From one point (m) to numbers (k), and how many such points there are.
    points, results: Symbols for them, shapes (m, count) and (k, count).
    """

    def __init__(self, casadi: Any, functions: Sequence[Any], counts: Sequence[int]) -> None:
        self._ca, self.functions, self.counts = casadi, functions, counts
        names = range(len(counts))
        sizes = [(f.size1_in(0), f.size1_out(0)) for f in functions]
        both = [*zip(names, sizes, counts, strict=True)]
        self.points = [casadi.MX.sym(f"y{k}", size[0], n) for k, size, n in both]
        self.results = [casadi.MX.sym(f"r{k}", size[1], n) for k, size, n in both]

    def with_numbers(self, count: int) -> Blocks:
        """The same and, as the last block, some numbers of their own."""
        x = self._ca.SX.sym("x", count)
        own = self._ca.Function("numbers", [x], [x])
        more = Blocks(self._ca, [*self.functions, own], [*self.counts, 1])
        more.points[:-1], more.results[:-1] = self.points, self.results
        return more

    def solve(
        self,
        cost: Any,
        rows: Mapping[str, Rows],
        bounds: tuple[FloatArray, FloatArray],
        guess: FloatArray,
        options: Mapping[str, Any] | None = None,
    ) -> Found:
        """Look for the least cost, which is linear in points and results, as `rows` are."""
        ca = self._ca
        g = ca.veccat(*(x.value for x in rows.values()))
        y, r = ca.veccat(*self.points), ca.veccat(*self.results)
        A, B, c, d = (ca.evalf(ca.jacobian(a, b)) for a in (g, cost) for b in (r, y))
        z, p = ca.MX.sym("z", y.numel()), ca.MX.sym("p", 0)
        s, lam = ca.MX.sym("s"), ca.MX.sym("lam", g.numel())
        results = ca.veccat(*(x.nz[:] for x, _ in self._each(z, None, lambda k, x, f: f)))
        D = self._diagonal(z, None, lambda k, x, f: ca.jacobian(f, x))
        weighed = self._split(c.full()[0], [f.size1_out(0) for f in self.functions])
        costs = [np.flatnonzero(x.any(axis=1)).tolist() for x in weighed]
        slopes = self._diagonal(z, None, lambda k, x, f: ca.jacobian(f[costs[k]], x))
        own = ca.DM(np.concatenate([x[k].ravel("F") for x, k in zip(weighed, costs, strict=True)]))
        weights = A.T @ lam + s * c.T
        H = self._diagonal(z, weights, lambda k, x, f, w: ca.triu(ca.hessian(ca.dot(w, f), x)[0]))
        value, total = A @ results + B @ z, c @ results + d @ z
        functions = {
            "jac_g": ca.Function("jac_g", [z, p], [value, A @ D + B]),
            "grad_f": ca.Function("grad_f", [z, p], [total, ca.densify((own.T @ slopes + d).T)]),
            "hess_lag": ca.Function("hess_lag", [z, p, s, lam], [H]),
        }
        problem = {"x": z, "p": p, "f": total, "g": value}
        solver = ca.nlpsol("plan", "ipopt", problem, {**OPTIONS, **functions, **(options or {})})
        found = solver(
            x0=guess, lbx=bounds[0], ubx=bounds[1],
            lbg=np.concatenate([x.lower for x in rows.values()]),
            ubg=np.concatenate([x.upper for x in rows.values()]),
        )  # fmt: skip
        cuts = np.cumsum([x.lower.size for x in rows.values()])[:-1]
        values, multipliers = (
            dict(zip(rows, np.split(np.array(found[k]).ravel(), cuts), strict=True))
            for k in ("g", "lam_g")
        )
        stats = solver.stats()
        status = "" if stats["success"] else stats["return_status"]
        x, of_bounds = (np.array(found[k]).ravel() for k in ("x", "lam_x"))
        return Found(x, float(found["f"]), values, multipliers, of_bounds, status)

    def _split(self, x: FloatArray, sizes: Sequence[int]) -> list[FloatArray]:
        """Numbers of all points, so many of each, by block: shape (size, count)."""
        cuts = np.cumsum([n * size for n, size in zip(self.counts, sizes, strict=True)])[:-1]
        parts = zip(np.split(x, cuts), sizes, strict=True)
        return [part.reshape(size, -1, order="F") for part, size in parts]

    def _diagonal(self, z: Any, weights: Any, make: Any) -> Any:
        """A sparse matrix with what is made of each point on its diagonal."""
        ca = self._ca
        made = [*self._each(z, weights, make)]
        places = ca.diagcat(*(ca.DM(s) for _, sparsity in made for s in sparsity)).sparsity()
        return ca.MX(places, ca.veccat(*(x.nz[:] for x, _ in made)))

    def _each(self, z: Any, weights: Any, make: Any) -> Any:
        """What is made of each block, beside one another, and the sparsities.

        make: From the index of a block, a point, its results and their weights, if there are any.
        """
        ca, first, second = self._ca, 0, 0
        for block, (f, n) in enumerate(zip(self.functions, self.counts, strict=True)):
            m, k = f.size1_in(0), f.size1_out(0)
            x, w = ca.SX.sym("x", m), ca.SX.sym("w", k)
            given = [x] if weights is None else [x, w]
            one = ca.Function("one", given, [make(block, x, ca.densify(f(x)), *given[1:])])
            points = ca.reshape(z[first : first + m * n], m, n)
            own = [points]
            if weights is not None:
                own.append(ca.reshape(weights[second : second + k * n], k, n))
            first, second = first + m * n, second + k * n
            yield one.map(n)(*own), [one.sparsity_out(0)] * n
