"""One point of a motion: its unknowns, and what is asked of them, in symbols of CasADi."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.contact import CARRIED
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.model.changes.functions import SUFFIX
from robodyn.model.losses import refuse_losses
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.tasks.contact_forces import cones_of
from robodyn.tolerances import JACOBIAN_RANK


@dataclass(frozen=True, eq=False)
class Constraint:
    """A function of a point between bounds, at all points or at one end: "start" or "goal"."""

    name: str
    function: Callable[..., Any]
    lower: FloatArray
    upper: FloatArray
    end: str | None = None


class Point:
    """A point of a motion, for costs and constraints: columns of symbols of CasADi.

    Attributes
    ----------
    q, v, a : (nq,), (nv,), (nv,)
        Positions, speeds, accelerations.
    tau, forces : (nv,), (m,)
        What motors exert, as generalised forces and one by one.
    contact_forces : mapping of str to (6,)
        Wrenches on links in contact, in contact axes.
    parameters : mapping of str to symbol
        Numbers of the robot that are unknown.
    phase : int
        Of a motion in several phases, from 0 on.
    """

    def __init__(self, casadi: Any, robot: Robot, known: Mapping[str, Any], phase: int) -> None:
        self._ca, self._robot, self._known, self.phase = casadi, robot, dict(known), phase
        self.q, self.v, self.a, self.tau, self.forces, self.contact_forces, self.parameters = (
            known[k] for k in ("q", "v", "a", "tau", "forces", "contact_forces", "parameters")
        )

    def quantity(self, name: str, **options: Any) -> Any:
        """A quantity of the robot here, by the name that `Robot.function` has for it.

        Its inputs are numbers of the point: ``quantity("frame_pose", frame="tool")``. Several
        outputs are a tuple.
        """
        if self.parameters:
            options["symbols"] = tuple(self.parameters)
        f: Any = self._robot.function(name, **options)
        known = self._known | dict(self.parameters)
        for port in f.inputs:
            if port.name not in known:
                raise UnknownNameError("input", port.name, known, f"a point, for {name!r}")
        return f.casadi()(*(known[port.name] for port in f.inputs))

    def joint_wrench(self, joint: str) -> Any:
        """Force and moment in a joint, (6,), as of `Robot.joint_wrenches`.

        Raises
        ------
        SettingsError
            In minimal coordinates, where loops have no forces.
        """
        robot = self._robot
        if robot.coordinates == "minimal" and robot.loops:
            raise SettingsError(
                f"forces in joints of {robot.name!r} are not known in minimal coordinates: plan it "
                "with coordinates='tree'"
            )
        if robot.contacts:
            found = self.quantity("hybrid_joint_wrenches", joints=(joint,))[0]
        else:
            found = self.quantity("joint_wrenches", joints=(joint,))
        return found[0, :].T


@dataclass(frozen=True, eq=False)
class Numbers:
    """The places of some numbers in a column, by name."""

    slices: Mapping[str, slice]
    size: int

    @classmethod
    def of(cls, sizes: Mapping[str, int]) -> Numbers:
        """Numbers of these sizes, one after the other."""
        stops = np.cumsum([0, *sizes.values()]).tolist()
        pairs = zip(sizes, stops[:-1], stops[1:], strict=True)
        return cls({name: slice(a, b) for name, a, b in pairs}, stops[-1])

    def __getitem__(self, name: str) -> slice:
        return self.slices[name]


class PointEquations:
    """What holds at each point of a phase, a function of its unknowns.

    Unknown are positions, speeds, forces of motors, accelerations, forces of contacts and loops,
    and the same numbers at all points: parameters and a free duration. Loops are closed at nodes;
    in the middle between two, velocities are moved by ``K^T slack`` so that they can be, and forces
    of loops are free [Posa, Kuindersma, Tedrake 2016].
    """

    def __init__(
        self,
        casadi: Any,
        robot: Robot,
        names: Sequence[str],
        duration: float | None,
        posture: FloatArray,
        phase: int,
    ) -> None:
        self.robot, self._ca, self.names, self.phase = robot, casadi, names, phase
        self._duration = duration
        self.rows, self._loops = self._constraints(posture) if robot.nc else ([], [])
        of_positions = {*robot.model.setup.position_rows}
        self.of_positions = [k for k in self.rows if k in of_positions]
        self.names_of_rows = [robot.constraint_names[k] for k in self.rows]
        self.carried = {link: CARRIED[x.kind] for link, x in robot.contacts.items()}
        self.motors = robot.actuation_matrix(robot.neutral()).shape[1]
        self.forces = sum(map(len, self.carried.values()))
        if robot.nc:
            refuse_losses(robot.model, "plans of robots with loops or contacts are made")

    def unknowns(self, middle: bool) -> Numbers:
        """Of a node, or of the middle between two."""
        robot = self.robot
        return Numbers.of({
            "q": robot.nq, "v": robot.nv, "forces": self.motors, "a": robot.nv,
            "contacts": self.forces, "multipliers": len(self._loops),
            "slack": len(self.of_positions) if middle else 0,
            "parameters": len(self.names), "duration": int(self._duration is None),
        })  # fmt: skip

    def results(self, middle: bool, sizes: Sequence[int]) -> Numbers:
        """Of the function of such a point, with so many numbers of each constraint."""
        robot, rows = self.robot, 0 if middle else len(self.rows)
        closed = 0 if middle else len(self.of_positions)
        cones = len(cones_of(robot.contacts, self.forces))
        return Numbers.of({
            "rates": robot.nq + robot.nv, "cost": 1, "motors": robot.nv, "closed": closed,
            "closing": rows, "held": rows, "friction": cones, "unit": len(quaternions(robot)),
            **{f"constraint {k}": size for k, size in enumerate(sizes)},
        })  # fmt: skip

    def at(
        self, middle: bool, costs: Iterable[Any], constraints: Iterable[Constraint]
    ) -> tuple[Any, list[int]]:
        """The function of such a point, and how many numbers each constraint has.

        Rates and costs are those of a whole duration.
        """
        ca, robot, at = self._ca, self.robot, self.unknowns(middle)
        y = ca.SX.sym("y", at.size)
        q, v, f, a = (y[at[k]] for k in ("q", "v", "forces", "a"))
        T = self._duration if self._duration is not None else y[at["duration"]]
        numbers = ca.vertsplit(y[at["parameters"]]) if self.names else []
        tau = ca.reshape(self._value("actuation_matrix", numbers, q), robot.nv, self.motors) @ f
        lam = self._multipliers(y[at["multipliers"]])
        moved, closed = v, [ca.SX(0, 1)] * 3
        if robot.nc:
            M, K = (self._value(name, numbers, q) for name in ("mass_matrix", "loop_jacobian"))
            h, bias = (self._value(name, numbers, q, v) for name in ("bias_forces", "loop_bias"))
            left = M @ a + h - tau - K.T @ lam - self._of_contacts(y[at["contacts"]], q)
            if middle:
                moved = v + K[self.of_positions, :].T @ y[at["slack"]]
            else:
                gaps = self._value("loop_residual", numbers, q)
                closed = [gaps[self.of_positions], (K @ v)[self.rows], (K @ a + bias)[self.rows]]
        else:
            left = self._value("inverse_dynamics", numbers, q, v, a) - tau
        rates = ca.vertcat(self._value("coordinate_rates", numbers, q, moved), a)
        known = {
            "q": q, "v": v, "a": a, "tau": tau, "forces": f, "multipliers": lam,
            "contact_forces": self._wrenches(y[at["contacts"]]),
            "parameters": dict(zip(self.names, numbers, strict=True)),
            "a_controlled": ca.SX(0, 1), "tau_free": tau,
        }  # fmt: skip
        point = Point(ca, robot, known, self.phase)
        cost = sum(weight * function(point) for function, weight in costs)
        own = [ca.vertcat(ca.SX(x.function(point))) for x in constraints]
        cones = ca.DM(cones_of(robot.contacts, self.forces)) @ y[at["contacts"]]
        unit = [ca.sumsqr(q[x]) - 1.0 for x in quaternions(robot)]
        out = ca.vertcat(T * rates, T * ca.SX(cost), left, *closed, cones, *unit, *own)
        return ca.Function("point", [y], [out]), [x.numel() for x in own]

    def _value(self, name: str, numbers: Sequence[Any], *inputs: Any) -> Any:
        """A quantity of the robot, of its inputs and of parameters."""
        return self.robot.function(name, symbols=self.names).casadi()(*inputs, *numbers)

    def _multipliers(self, unknown: Any) -> Any:
        """Those of all rows of constraints: of contacts none, as their forces are unknowns."""
        lam = self._ca.SX.zeros(self.robot.nc)
        lam[self._loops] = unknown
        return lam

    def _wrenches(self, forces: Any) -> dict[str, Any]:
        """Wrenches on links in contact."""
        found, first = {}, 0
        for link, carried in self.carried.items():
            found[link] = self._ca.SX.zeros(6)
            found[link][list(carried)] = forces[first : first + len(carried)]
            first += len(carried)
        return found

    def impact(self) -> tuple[Numbers, int, Any]:
        """Of a plastic impact with which this phase begins: unknowns, rows of cones, function.

        Its results are ``M (after - v) - forces`` and then the cones of impulses.
        """
        ca, robot = self._ca, self.robot
        at = Numbers.of({
            "q": robot.nq, "v": robot.nv, "after": robot.nv, "contacts": self.forces,
            "multipliers": len(self._loops),
        })  # fmt: skip
        y = ca.SX.sym("y", at.size)
        q, lam = y[at["q"]], self._multipliers(y[at["multipliers"]])
        M, K = (self._value(name, (), q) for name in ("mass_matrix", "loop_jacobian"))
        left = M @ (y[at["after"]] - y[at["v"]]) - K.T @ lam
        cones = ca.DM(cones_of(robot.contacts, self.forces)) @ y[at["contacts"]]
        out = ca.vertcat(left - self._of_contacts(y[at["contacts"]], q), cones)
        return at, cones.numel(), ca.Function("impact", [y], [out])

    def _of_contacts(self, forces: Any, q: Any) -> Any:
        """Generalised forces of contacts."""
        found: Any = 0.0
        first = 0
        for link, carried in self.carried.items():
            on = self.robot.contacts[link].on
            f = self.robot.function(
                "frame_jacobian", frame=link + SUFFIX, axes="body",
                relative_to=on if isinstance(on, str) else on[0],
            )  # fmt: skip
            J = f.casadi()(q)[list(carried), :]
            found = found + J.T @ forces[first : first + len(carried)]
            first += len(carried)
        return found

    def _constraints(self, posture: FloatArray) -> tuple[list[int], list[int]]:
        """Rows that are independent in a posture: of all constraints, and of those of loops."""
        names = [name.rpartition("[")[0] for name in self.robot.constraint_names]
        of_contacts = {link + SUFFIX for link in self.robot.contacts}
        K = self.robot.loop_jacobian(posture)
        loops = [k for k, name in enumerate(names) if name not in of_contacts]
        return _independent(K, range(len(K))), _independent(K, loops)


def quaternions(robot: Robot) -> list[slice]:
    """Where they are in q."""
    kinds = [block.q for block in robot.model.blocks if block.kind.coordinates.quaternion]
    return [slice(x.stop - 4, x.stop) for x in kinds]


def _independent(K: FloatArray, rows: Iterable[int]) -> list[int]:
    """Rows of a matrix that span all of these."""
    rows = list(rows)
    if not rows:
        return []
    import scipy.linalg

    _, R, order = scipy.linalg.qr(K[rows].T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int((sizes > JACOBIAN_RANK * max(sizes[0], 1.0)).sum())
    return sorted(rows[k] for k in order[:rank])


def check_sizes(constraints: Iterable[Constraint], sizes: Sequence[int]) -> None:
    """Check that bounds have as many numbers as constraints.

    Raises ShapeError: If they do not.
    """
    for x, size in zip(constraints, sizes, strict=True):
        for bound in (x.lower, x.upper):
            if bound.shape[0] not in (1, size):
                raise ShapeError(
                    f"constraint {x.name!r} returns {size} numbers, and a bound has "
                    f"{bound.shape[0]}",
                    name="constraints",
                )
