"""A motion on a mesh as a nonlinear program, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import effort_bounds, speed_bounds
from robodyn.studies.plans.control_problem import ControlProblem
from robodyn.studies.plans.point import (
    Constraint,
    Numbers,
    PointEquations,
    check_sizes,
    quaternions,
)
from robodyn.studies.plans.sparse_program import Blocks, Found, Rows
from robodyn.tolerances import AT_LIMIT


@dataclass(frozen=True, eq=False)
class PhasePoints:
    """One phase at its nodes and in the middle between.

    times (n,) [s]: From the begin of the phase.
    q, v, forces (n, nq), (n, nv), (n, m)
    """

    times: FloatArray
    q: FloatArray
    v: FloatArray
    forces: FloatArray

    def at(self, part: FloatArray, robot: Robot) -> PhasePoints:
        """The same at other parts of its duration, between points linearly."""
        times = part * self.times[-1]
        q, v, f = (
            np.stack([np.interp(times, self.times, c) for c in x.T], axis=1)
            for x in (self.q, self.v, self.forces)
        )
        for x in quaternions(robot):
            q[:, x] /= np.linalg.norm(q[:, x], axis=1)[:, None]
        return PhasePoints(times, q, v, f)


@dataclass(frozen=True, eq=False)
class Solution:
    """Phases of a motion, its parameters, cost and multipliers."""

    phases: tuple[PhasePoints, ...]
    parameters: FloatArray
    cost: float
    multipliers: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Places:
    """Where the unknowns and results of some points are.

    block: Which block of the program they are.
    part (n,): Of the duration, at which the points are.
    """

    block: int
    middle: bool
    unknowns: Numbers
    results: Numbers
    part: FloatArray


class Transcription:
    """A motion whose phases have so many nodes each: Hermite and Simpson, or trapezoids."""

    def __init__(
        self,
        casadi: Any,
        problem: ControlProblem,
        postures: Sequence[FloatArray],
        nodes: int,
        simpson: bool,
    ) -> None:
        self._ca, self.problem, self.nodes, self.simpson = casadi, problem, nodes, simpson
        self._posture = postures[0]
        self.equations, self.places, self.sizes = [], [], []
        functions: list[Any] = []
        h = 1.0 / (nodes - 1)
        for k, robot in enumerate(problem.robots):
            low, high = problem.durations[k]
            known = low if low == high else None
            equations = PointEquations(casadi, robot, problem.names, known, postures[k], k)
            own = []
            for middle in (False, True) if simpson else (False,):
                f, sizes = equations.at(middle, problem.costs, problem.constraints)
                check_sizes(problem.constraints, sizes)
                part = np.linspace(0.0, 1.0, nodes)
                part = part[:-1] + 0.5 * h if middle else part
                at = equations.unknowns(middle), equations.results(middle, sizes)
                own.append(Places(len(functions), middle, *at, part))
                functions.append(f)
            self.equations.append(equations)
            self.places.append(own)
            self.sizes.append(sizes)
        self._impacts = dict(self._with_impacts(functions))
        counts = [len(x.part) for own in self.places for x in own] + [1] * len(self._impacts)
        self.blocks = Blocks(casadi, functions, counts)

    # -- equations ------------------------------------------------------------------------------

    def _point(self, at: Places, *names: str) -> Any:
        """Rows of unknowns of some points."""
        return self._ca.vertcat(*(self.blocks.points[at.block][at.unknowns[x], :] for x in names))

    def _result(self, at: Places, name: str) -> Any:
        return self.blocks.results[at.block][at.results[name], :]

    def cost(self) -> Any:
        """The integral, by Simpson's rule or by trapezoids."""
        h, total = 1.0 / (self.nodes - 1), 0.0
        for own in self.places:
            L = self._result(own[0], "cost")
            ends = L[0, 0] + L[0, -1]
            if self.simpson:
                between = self._result(own[1], "cost")
                total += h / 6 * (2 * self._ca.sum2(L) - ends + 4 * self._ca.sum2(between))
            else:
                total += h * (self._ca.sum2(L) - ends / 2)
        return total

    def rows(self) -> dict[str, Rows]:
        """All equations by name, those of phases one after the other."""
        found: dict[str, list[Rows]] = {}
        for k, own in enumerate(self.places):
            for name, rows in self._of_phase(k, own):
                found.setdefault(name, []).append(rows)
        for name, rows in self._between_phases():
            found.setdefault(name, []).append(rows)
        found |= {name: [rows] for name, rows in self._of_ends()}
        join = np.concatenate
        return {
            name: Rows(
                self._ca.veccat(*(x.value for x in rows)),
                join([x.lower for x in rows]),
                join([x.upper for x in rows]),
            )
            for name, rows in found.items()
            if sum(x.lower.size for x in rows)
        }

    def _of_ends(self) -> Iterator[tuple[str, Rows]]:
        """Three equations for each quaternion at the goal, and one less than it has in a cycle."""
        robot, (start, goal) = self.problem.robots[0], (self.problem.start, self.problem.goal)
        turns = quaternions(robot)
        first, last = (self._point(self.places[k][0], "q", "v") for k in (0, -1))
        first, last = first[:, 0], last[:, -1]
        free = [k for k, x in enumerate(turns) if not np.isfinite(start[0][x]).all()]
        yield "unit", Rows.zero(self._result(self.places[0][0], "unit")[free, 0])
        if self.problem.periodic:
            own = [x.start + int(np.abs(self._posture[x]).argmax()) for x in turns]
            rows = [k for k in range(robot.nq + robot.nv) if k not in own]
            yield "periodic", Rows.zero((last - first)[rows])
        given = [x for x in turns if goal and np.isfinite(goal[0][x]).all()]
        if goal and given:
            vectors = [self._ca.DM(_apart(goal[0][x])) @ last[x] for x in given]
            yield "orientation at the goal", Rows.zero(self._ca.vertcat(*vectors))

    def goal(self) -> Rows | None:
        """The goal as equations, in place of bounds."""
        if self.problem.goal is None:
            return None
        wanted = np.concatenate(self.problem.goal)
        for x in quaternions(self.problem.robots[0]):
            wanted[x] = np.nan
        known = np.flatnonzero(np.isfinite(wanted))
        x = self._point(self.places[-1][0], "q", "v")[known.tolist(), -1]
        return Rows(x, wanted[known], wanted[known])

    def forces(self) -> list[Rows]:
        """Limits of the force of each motor as equations, in place of bounds."""
        f = [self._point(at, "forces") for own in self.places for at in own]
        phases = [k for k, own in enumerate(self.places) for _ in own]
        most = [
            np.tile(self._most_forces(k)[:, None], x.shape[1])
            for k, x in zip(phases, f, strict=True)
        ]
        whole, limits = self._ca.horzcat(*f), np.concatenate(most, axis=1)
        return [Rows(whole[k, :], -row, row) for k, row in enumerate(limits)]

    def check_ends(self) -> None:
        """Check that ends keep the constraints of positions and speeds alone.

        Raises SettingsError: With what they are there.
        """
        ends = (("start", 0, self.problem.start), ("goal", -1, self.problem.goal))
        for what, phase, end in ends:
            at = self.places[phase][0]
            f = self.blocks.functions[at.block]
            if end is None or not np.isfinite(np.concatenate(end)).all():
                continue
            depends = np.array(self._ca.DM(f.jac_sparsity(0, 0)).full() != 0.0)
            known = np.zeros(at.unknowns.size, bool)
            y = np.zeros(at.unknowns.size)
            for name, given in zip(("q", "v"), end, strict=True):
                known[at.unknowns[name]], y[at.unknowns[name]] = True, given
            value = f(y).full()[:, 0]
            for k, x in enumerate(self.problem.constraints):
                rows = at.results[f"constraint {k}"]
                determined = ~depends[rows][:, ~known].any(axis=1)
                here = value[rows]
                wrong = determined & ~((x.lower - AT_LIMIT <= here) & (here <= x.upper + AT_LIMIT))
                if wrong.any() and x.end in (None, what):
                    raise SettingsError(
                        f"constraint {x.name!r} is {here[wrong].tolist()} at the {what}, and is to "
                        f"be between {x.lower.tolist()} and {x.upper.tolist()}"
                    )

    def _of_phase(self, k: int, own: Sequence[Places]) -> Iterator[tuple[str, Rows]]:
        h, nodes = 1.0 / (self.nodes - 1), own[0]
        x, f = self._point(nodes, "q", "v"), self._result(nodes, "rates")
        xa, xb, fa, fb = x[:, :-1], x[:, 1:], f[:, :-1], f[:, 1:]
        if self.simpson:
            between, fm = self._point(own[1], "q", "v"), self._result(own[1], "rates")
            yield "dynamics", Rows.zero(xb - xa - h / 6 * (fa + 4 * fm + fb))
            yield "middles", Rows.zero(between - (xa + xb) / 2 - h / 8 * (fa - fb))
        else:
            yield "dynamics", Rows.zero(xb - xa - h / 2 * (fa + fb))
        for name, value, first, last in self._to_close(k, nodes):
            yield name, Rows.zero(value[:, 1:-1])
            yield name, Rows.zero(value[first, 0])
            yield name, Rows.zero(value[last, -1])
        yield "loops", Rows.zero(self._result(nodes, "held"))
        for at in own:
            yield "motors", Rows.zero(self._result(at, "motors"))
            cones = self._result(at, "friction")
            yield "friction", Rows(cones, np.full(cones.numel(), -np.inf), np.zeros(cones.numel()))
            for j, x in enumerate(self.problem.constraints):
                columns = self._columns(k, at, x)
                value = self._result(at, f"constraint {j}")[:, columns]
                shape = len(columns), self.sizes[k][j]
                low, high = (np.broadcast_to(y, shape).ravel() for y in (x.lower, x.upper))
                yield f"constraint {x.name}", Rows(value, low, high)
        same = self._shared(nodes)
        yield "same", Rows.zero(same[:, 1:] - same[:, :-1])
        for at in own[1:]:
            yield "same", Rows.zero(self._shared(at) - same[:, :-1])

    def _shared(self, at: Places) -> Any:
        """What is the same at all points of a phase, and unknown."""
        duration = [*range(at.unknowns.size)[at.unknowns["duration"]]]
        own = [at.unknowns["parameters"].start + k for k in self._free]
        return self.blocks.points[at.block][[*own, *duration], :]

    @property
    def _free(self) -> list[int]:
        """Parameters that are unknown: others are fixed by their bounds."""
        return [k for k, (low, high) in enumerate(self.problem.ranges.tolist()) if low < high]

    def _columns(self, k: int, at: Places, constraint: Constraint) -> list[int]:
        """Points of a phase at which a constraint holds."""
        count = len(at.part)
        if constraint.end is None:
            return [*range(count)]
        phase, point = (0, 0) if constraint.end == "start" else (len(self.places) - 1, count - 1)
        return [point] if k == phase and not at.middle else []

    def _between_phases(self) -> Iterator[tuple[str, Rows]]:
        for k, (before, after) in enumerate(zip(self.places[:-1], self.places[1:], strict=True)):
            end, begin = before[0], after[0]
            ends = {name: self._point(end, name)[:, -1] for name in "qv"}
            begins = {name: self._point(begin, name)[:, 0] for name in "qv"}
            yield "phases", Rows.zero(begins["q"] - ends["q"])
            if k not in self._impacts:
                yield "phases", Rows.zero(begins["v"] - ends["v"])
                continue
            block, at, count = self._impacts[k]
            y, r = self.blocks.points[block], self.blocks.results[block]
            yield "same", Rows.zero(y[at["q"]] - ends["q"])
            yield "same", Rows.zero(y[at["v"]] - ends["v"])
            yield "same", Rows.zero(y[at["after"]] - begins["v"])
            yield "impacts", Rows.zero(r[: r.numel() - count])
            yield "friction", Rows(r[r.numel() - count :], np.full(count, -np.inf), np.zeros(count))

    def _with_impacts(self, functions: list[Any]) -> Iterator[tuple[int, tuple[int, Numbers, int]]]:
        """Impacts where contacts are made, by the phase before, as blocks of one point."""
        for k, (before, after) in enumerate(
            zip(self.problem.robots[:-1], self.problem.robots[1:], strict=True)
        ):
            if {*after.contacts} - {*before.contacts}:
                at, count, f = self.equations[k + 1].impact()
                functions.append(f)
                yield k, (len(functions) - 1, at, count)

    def _to_close(self, k: int, at: Places) -> Iterator[tuple[str, Any, list[int], list[int]]]:
        """Positions and velocities of loops, and rows of the first and the last node of a phase.

        Rows that follow from others there, as from an end that is given, are left out.
        """
        own, final = self.equations[k], k == len(self.places) - 1
        for part, (name, rows) in enumerate((("closed", own.of_positions), ("closing", own.rows))):
            first = last = whole = [*range(len(rows))]
            given = self._by_parameters(at, name) if part == 0 else []
            if k == 0:
                first = given if np.isfinite(self.problem.start[part]).all() else whole
            elif k - 1 not in self._impacts:
                first = []
            elif part == 0:
                before = {*self.equations[k - 1].names_of_rows}
                first = [j for j in whole if own.robot.constraint_names[rows[j]] not in before]
            goal = self.problem.goal
            if final and goal and np.isfinite(goal[part]).all():
                last = given
            if final and self.problem.periodic:
                last = []
            yield "loops", self._result(at, name), first, last

    def _by_parameters(self, at: Places, name: str) -> list[int]:
        """Rows of some results that depend on parameters, such as lengths."""
        depends = self._ca.DM(self.blocks.functions[at.block].jac_sparsity(0, 0)).full() != 0.0
        own = depends[at.results[name]][:, at.unknowns["parameters"]]
        return np.flatnonzero(own.any(axis=1)).tolist()

    # -- unknowns -------------------------------------------------------------------------------

    def bounds(
        self, *, with_goal: bool = True, with_forces: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Of all unknowns; without the goal positions and speeds there have their limits alone."""
        low = [np.full(x.shape, -np.inf) for x in self.blocks.points]
        high = [np.full(x.shape, np.inf) for x in self.blocks.points]
        for k, own in enumerate(self.places):
            robot, most = self.problem.robots[k], self._most_forces(k)
            most = most if with_forces else np.full(most.shape, np.inf)
            fastest = speed_bounds(robot)
            limits = {
                "q": (robot.lower_limits, robot.upper_limits),
                "v": (-fastest, fastest),
                "forces": (-most, most),
                "parameters": (self.problem.ranges[:, 0], self.problem.ranges[:, 1]),
            }
            low_T, high_T = self.problem.durations[k]
            if low_T < high_T:
                limits["duration"] = np.array([low_T]), np.array([high_T])
            for at in own:
                for name, (lower, upper) in limits.items():
                    low[at.block][at.unknowns[name]] = lower[:, None]
                    high[at.block][at.unknowns[name]] = upper[:, None]
        goal = self.problem.goal if with_goal else None
        for node, column, end in (
            (self.places[0][0], 0, self.problem.start), (self.places[-1][0], -1, goal),
        ):  # fmt: skip
            for name, x in zip(("q", "v"), end or (), strict=False):
                given = np.isfinite(x)
                for turn in quaternions(self.problem.robots[0]) if column and name == "q" else ():
                    given[turn] = False
                known = np.flatnonzero(given)
                rows = node.unknowns[name].start + known
                low[node.block][rows, column] = high[node.block][rows, column] = x[known]
        return _whole(low), _whole(high)

    def _most_forces(self, k: int) -> FloatArray:
        """The largest forces of motors."""
        robot = self.problem.robots[k]
        efforts = effort_bounds(robot)
        if robot.model.gearing.elsewhere:
            return efforts
        B = robot.actuation_matrix(robot.neutral())
        return np.array([efforts[int(np.argmax(np.abs(column)))] for column in B.T])

    def guess(self, phases: Sequence[PhasePoints], parameters: FloatArray) -> FloatArray:
        """Unknowns of a motion on this mesh; forces of contacts and loops are what is left."""
        found = [np.zeros(x.shape) for x in self.blocks.points]
        for own, points, robot in zip(self.places, phases, self.problem.robots, strict=True):
            for at in own:
                x, y, u = points.at(at.part, robot), found[at.block], at.unknowns
                y[u["q"]], y[u["v"]], y[u["forces"]] = x.q.T, x.v.T, x.forces.T
                y[u["a"]] = np.gradient(x.v, x.times, axis=0).T
                y[u["parameters"]], y[u["duration"]] = parameters[:, None], points.times[-1]
                self._add_forces(at, y)
        for k, (block, hit, _) in self._impacts.items():
            before, after = (found[x[0].block] for x in (self.places[k], self.places[k + 1]))
            u = self.places[k][0].unknowns
            y = found[block][:, 0]
            y[hit["q"]], y[hit["v"]] = before[u["q"], -1], before[u["v"], -1]
            y[hit["after"]] = after[u["v"], 0]
        return _whole(found)

    def _add_forces(self, at: Places, y: FloatArray) -> None:
        """Forces that satisfy the equations of motion as far as they can."""
        u, f = at.unknowns, self.blocks.functions[at.block]
        columns = [*range(u.size)[u["forces"]], *range(u.size)[u["contacts"]]]
        columns += range(u.size)[u["multipliers"]]
        y0 = y.copy()
        y0[columns] = 0.0
        slopes, left = f.jacobian(), at.results["motors"]
        n = y.shape[1]
        out = f.map(n)(y0).full()[left]
        J = (
            slopes.map(n)(y0, np.zeros((f.size1_out(0), n)))
            .full()
            .reshape(-1, n, u.size)[left][:, :, columns]
        )
        for k in range(n):
            y[columns, k] = np.linalg.lstsq(J[:, k], -out[:, k], rcond=None)[0]

    def by_time(self, z: FloatArray) -> dict[str, FloatArray]:
        """Numbers of unknowns in the order of time: ``"q"``, ``"v"`` and ``"forces"``."""
        each = [self._merged(own, self._split(z)) for own in self.places]
        return {name: np.concatenate([x[name] for x in each]) for name in each[0]}

    def solution(self, found: Found) -> Solution:
        """Phases, parameters and multipliers."""
        values, prices = self._split(found.z), self._split(found.of_bounds)
        phases, at = [], self.places[0][0]
        sums: dict[str, list[FloatArray]] = {"parameters": [], "duration": []}
        for k, own in enumerate(self.places):
            x, u = self._merged(own, values), own[0].unknowns
            T = values[own[0].block][u["duration"], 0]
            times = np.sort(np.concatenate([y.part for y in own]))
            times = times * float(T[0] if T.size else self.problem.durations[k][0])
            phases.append(PhasePoints(times, x["q"], x["v"], x["forces"]))
            for name, total in sums.items():
                total.append(sum(prices[y.block][y.unknowns[name]].sum(axis=1) for y in own))
        own_rows = {name: x for name, x in found.multipliers.items() if name != "same"}
        for j, constraint in enumerate(self.problem.constraints):
            name = f"constraint {constraint.name}"
            own_rows[name] = self._by_time(own_rows[name], j)
        limits = self.by_time(found.of_bounds)
        of_bounds = {
            "positions": limits["q"],
            "velocities": limits["v"],
            "forces": limits["forces"],
            "parameters": sum(sums["parameters"], np.zeros(len(self.problem.names))),
            "duration": np.concatenate(sums["duration"]),
        }
        multipliers = own_rows | {name: x for name, x in of_bounds.items() if x.size}
        numbers = values[at.block][at.unknowns["parameters"], 0]
        return Solution(tuple(phases), numbers, found.cost, multipliers)

    def _merged(self, own: Sequence[Places], values: Sequence[FloatArray]) -> dict[str, FloatArray]:
        """Unknowns of a phase in the order of time, a row a point."""
        order = np.argsort(np.concatenate([at.part for at in own]), kind="stable")
        return {
            name: np.concatenate([values[x.block][x.unknowns[name]].T for x in own])[order]
            for name in ("q", "v", "forces")
        }

    def _by_time(self, x: FloatArray, constraint: int) -> FloatArray:
        """Numbers of a constraint in the order of time, shape (n, its size)."""
        rows, first = [], 0
        for k, (sizes, own) in enumerate(zip(self.sizes, self.places, strict=True)):
            each = [
                at.part[self._columns(k, at, self.problem.constraints[constraint])] for at in own
            ]
            size, part = sizes[constraint], np.concatenate(each)
            order = np.argsort(part, kind="stable")
            rows.append(x[first : first + size * len(part)].reshape(len(part), size)[order])
            first += size * len(part)
        return np.concatenate(rows)

    def _split(self, z: FloatArray) -> list[FloatArray]:
        """Unknowns of each block, shape (m, count)."""
        shapes = [x.shape for x in self.blocks.points]
        cuts = np.cumsum([m * n for m, n in shapes])
        parts = zip(np.split(z[: cuts[-1]], cuts[:-1]), shapes, strict=True)
        return [part.reshape(shape, order="F") for part, shape in parts]


def _apart(turn: FloatArray) -> FloatArray:
    """The matrix from quaternions to the vector by which they are turned from one, shape (3, 4)."""
    x, y, z, w = turn
    return np.array([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z]])


def _whole(parts: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate([x.ravel(order="F") for x in parts])
