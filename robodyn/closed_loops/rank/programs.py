"""Programs of a closed linkage: which one stands for a quantity, and over which rows.

A program of a quantity that forces of constraints enter solves for them over independent rows. It
depends on the linkage alone whether the same rows suffice everywhere. Where they do not, dynamics
are solved numerically, by a decomposition that reveals the rank.

Dynamics are determined only where a posture is far enough from a singular one. There ways to
assemble a linkage meet, and which one it is on decides how it moves. Near one a state tells less
and less of that: with gaps and rates of ``e``, rounding at least, along the constraint that
vanishes there, and a distance ``d`` from there, what it tells is wrong by about ``e / d^2`` of
forces at rest, and by ``e / d^3`` of accelerations that speeds make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows, gains
from robodyn.closed_loops.constraints.precision import is_single
from robodyn.closed_loops.rank.analysis import Motors, spanning_rows
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.rank.probes import probe
from robodyn.codegen import Function, Memo
from robodyn.equations.catalogue import CONSTRAINED, QUANTITIES
from robodyn.equations.elimination.singularity import Probe
from robodyn.equations.quantities.common.quantity import Constrained
from robodyn.equations.quantities.dynamics import CHECKED
from robodyn.errors import ActuationError, ShapeError, SingularError, TopologyError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.speed_selection import has_own_speeds, speed_indices
from robodyn.model.states import listed
from robodyn.tolerances import GAP_ROUNDING, LOOP_ACCELERATION, LOST_PART, NEAR_SINGULAR_POSTURE

Options = Mapping[str, Any]
Speeds = tuple[int, ...]


class LoopPrograms:
    """Programs of a linkage; the same object at all times.

    Guards make results NaN where loops are open or come open, and near singular postures.

    evaluator: Of the spanning tree.
    tolerance: By which loops may be open, in double and in single precision.
    """

    def __init__(
        self, model: Model, evaluator: Evaluator, mobility: Mobility, tolerance: tuple[float, float]
    ) -> None:
        self._model, self._evaluator, self._mobility = model, evaluator, mobility
        self._tolerance = tolerance
        self._beside: Memo[Options | None] = Memo()
        self._over: Memo[Options | None] = Memo()
        self._probes: Memo[Probe] = Memo()

    # -- with guards --------------------------------------------------------------------------

    def options(self, name: str, options: Options) -> Options | None:
        """Options of the function of a quantity, guarded; ``None`` if it is solved numerically."""
        quantity = QUANTITIES[name]
        exerted = quantity.solved is not None and self._evaluator.options.exerted(name, options)
        form = quantity.solved if exerted else quantity.closed
        if not isinstance(form, Constrained):
            return options
        controlled, found = tuple(options.get("controlled", ())), None
        if options.get("drifting") or (options.get("stabilization") and not quantity.by_joint):
            found = self.beside(controlled) if "controlled" in quantity.options else self.forward
        elif options.get("stabilization"):
            return None
        elif "dependent" in form.options:
            found = None if "actuated" in options else self._by_own_motors(exerted)
        elif "tangent_probe" in form.options:
            found = self._along(tuple(options.get("independent", controlled)))
        elif "controlled" in quantity.options:
            found = self._guarded_beside(controlled, name)
        else:
            found = self._guarded
        given = {x: y for x, y in options.items() if x != "drifting"}
        return None if found is None else {**found, **given}

    def gains(self, stabilization: tuple[float, float]) -> tuple[Array, ...]:
        """Gains of a stabilisation as an input of functions."""
        return (np.array(gains(stabilization)),)

    @cached_property
    def _guarded(self) -> Options | None:
        if self.forward is None:
            return None
        return {**self.forward, "closure_tolerance": self._tolerance, "probe": self.probe}

    def _along(self, independent: Speeds) -> Options | None:
        """Options for a function in which the other speeds follow from independent ones."""
        if not independent or self._guarded is None:
            return self._guarded
        if self.beside(independent) is None:
            return None
        return {**self._guarded, "tangent_probe": self._probe(independent)}

    def _guarded_beside(self, controlled: Speeds, name: str) -> Options | None:
        """Options for a function in which some speeds are driven, or keep their values."""
        found, quantity = self.beside(controlled), QUANTITIES[name]
        if found is None or (quantity.by_joint and found.get("groups")):
            return None
        assert isinstance(quantity.closed, Constrained)
        checked = {**found, "probe": self._probe(controlled)}
        if name != "mobility":  # of open postures as well
            checked["closure_tolerance"] = self._tolerance
        if "least_multipliers" in quantity.closed.options:
            checked["least_multipliers"] = True
        return checked

    def _by_own_motors(self, multipliers: bool) -> Options | None:
        """Options for a function of forces of the robot's motors, NaN for impossible accelerations.

        ``multipliers``: of one that takes the multipliers.
        """
        found = self.by_motors(self.motor_speeds(None))
        if found is None or (multipliers and not _determined(found)):
            return None
        return {**found, "possible": LOOP_ACCELERATION}

    def by_motors(self, motors: Speeds | None) -> Options | None:
        """Options for inverse dynamics with motors at some speeds, which have a gap as well."""
        found = None if motors is None else self.inverse(motors)
        if found is None:
            return None
        dependent = found.get("dependent")
        near = self._spare_probe if dependent is None else self._mobility.motor_probe(dependent)
        return {**found, "closure_tolerance": self._tolerance, "probe": near}

    # -- names of motors ----------------------------------------------------------------------

    def motors(self, actuated: Iterable[str] | None) -> tuple[str, ...]:
        """Joints at which forces act: those named, else those with motors and a floating base."""
        if actuated is not None:
            return named("actuated", actuated)
        base = self._model.joint_names[: self._model.settings.base == "floating"]
        return (*base, *self._model.actuated_joints)

    def motor_speeds(self, actuated: Iterable[str] | None) -> Speeds | None:
        """The speeds of these joints; ``None`` if some follow others, and have none."""
        names = self.motors(actuated)
        if not has_own_speeds(self._model, names):
            return None
        return tuple(sorted({k for name in names for k in speed_indices(self._model, name)}))

    # -- rows ---------------------------------------------------------------------------------

    @cached_property
    def forward(self) -> Options | None:
        """Rows of forward dynamics, if some suffice in all postures and all speeds move mass."""
        found = self._mobility.analysis.choice
        return None if found is None or self._model.undetermined(()) else found.options

    def beside(self, controlled: Speeds) -> Options | None:
        """Rows of hybrid dynamics, if the same suffice in the speeds that are not controlled."""
        return self._beside.get(controlled, lambda: self._find_beside(controlled))

    def _find_beside(self, controlled: Speeds) -> Options | None:
        free = [k for k in range(self._model.bodies.nv) if k not in controlled]
        try:
            rank = self._mobility.analysis.general_rank
            spans = spanning_rows(self._mobility.chosen_rows, rank, free)
        except (ShapeError, TopologyError):  # there is no posture to look at
            return None
        if self.forward is None or not spans:
            return None
        return {**self.forward, "controlled": controlled}

    def inverse(self, motors: Speeds) -> Options | None:
        """Rows of inverse dynamics with as many motors as degrees of freedom or more."""
        return self._over.get(motors, lambda: self._find_over(motors))

    def _find_over(self, motors: Speeds) -> Options | None:
        choice, over = self._mobility.analysis.choice, self._mobility.motors(motors)
        if choice is None or over is None:
            return None
        if isinstance(over, Motors):
            return {"rows": choice.rows, **vars(over)}
        return None if self.forward is None else {**choice.options, **vars(over)}

    # -- how near to a singular posture programs have numbers ------------------------------------

    @cached_property
    def probe(self) -> Probe:
        """Probe of forward dynamics."""
        seen = self._mobility
        return probe(seen.chosen_rows, self._model.some_mass_matrix, seen.distance)

    @cached_property
    def _spare_probe(self) -> Probe:
        seen = self._mobility
        return probe(seen.chosen_rows, np.eye(self._model.bodies.nv), seen.distance)

    def _probe(self, controlled: Speeds) -> Probe:
        """Probe of hybrid dynamics."""

        def make() -> Probe:
            free = [k for k in range(self._model.bodies.nv) if k not in controlled]
            M, seen = self._model.some_mass_matrix[np.ix_(free, free)], self._mobility
            return probe(seen.chosen_rows[..., free], M, seen.distance)

        return self._probes.get(controlled, make)

    # -- functions of users -------------------------------------------------------------------

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity, with the constraint forces of closed loops.

        States are not looked at, unless options say so; impossible accelerations give NaN.

        Raises SingularError: If the rank of the loops changes from posture to posture, or if joints
            move no mass where constraints do not hold them.
        Raises ActuationError: If motors do not hold all motions, or the loops tie controlled joints
            together.
        """
        if name == "measure" and self._evaluator.options.exerted(name, options):
            found = self.options(name, options)
            if found is None:
                raise SingularError(
                    f"motors of {self._model.mechanism.name!r} do not determine by straight-line "
                    "code what its joints carry: there is none for measure; call the method"
                )
            return self._evaluator.function(
                name, **{x: y for x, y in found.items() if x not in CHECKED}
            )
        if options.pop("tree", False) or name not in CONSTRAINED or "rows" in options:
            return self._evaluator.function(name, **options)
        if self.forward is None:
            raise SingularError(self._without_code(name))
        rows: Options = self.forward
        if name == "inverse_dynamics":
            rows = {**self.own_inverse, "possible": LOOP_ACCELERATION}
        elif name == "inverse_dynamics_derivatives":
            rows = self.own_inverse
        elif "controlled" in QUANTITIES[name].options:
            controlled = self._evaluator.options.speeds(options.pop("controlled", ()))
            beside = self.beside(controlled)
            if beside is None:
                raise ActuationError(
                    f"the loops of {self._model.mechanism.name!r} tie the controlled joints to "
                    f"each other: there is no straight-line code for {name}; call the method"
                )
            rows = beside
        return self._evaluator.function(name, **{**options, **rows})

    @property
    def own_inverse(self) -> Options:
        """Rows of inverse dynamics by the robot's motors.

        Raises ActuationError: If motors do not hold all motions.
        """
        speeds = self.motor_speeds(None)
        found = None if speeds is None else self.inverse(speeds)
        if found is None:
            why = (
                "are at joints that follow others" if speeds is None else "do not hold all motions"
            )
            raise ActuationError(
                f"motors of {self._model.mechanism.name!r} {why}: there is no straight-line code "
                "for inverse_dynamics; call the method"
            )
        return found

    def _without_code(self, name: str) -> str:
        """Why there is no straight-line code for a quantity."""
        robot = self._model.mechanism.name
        joints = self._model.undetermined(())
        if not joints:
            return (
                f"the loops of {robot!r} have another rank in other postures: there is no "
                f"straight-line code for {name}; call the method"
            )
        children = [self._model.joints[x].child for x in joints]
        massive = {x.name for x in self._model.mechanism.links if x.inertia and x.inertia.mass}
        light = [x for x in children if x not in massive] or children
        links = ", ".join(map(repr, light))
        return (
            f"joints of {robot!r} that constraints hold move no mass without them: "
            f"{', '.join(joints)}. There is no straight-line code for {name} then; give {links} a "
            "mass, which changes no motion where it is held still"
        )


def _determined(options: Options) -> bool:
    """Whether the rows by which forces of motors are solved for are independent."""
    if "order" in options:
        return sum(map(len, options["order"])) == len(options["rows"])
    return "groups" not in options


class Regularity:
    """Refuses states too near to a singular posture."""

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        rows: ConstraintRows,
        mobility: Mobility,
        programs: LoopPrograms,
    ) -> None:
        self._model, self._evaluator, self._programs = model, evaluator, programs
        self._rows, self._mobility = rows, mobility

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Refuse states whose dynamics are not determined to six digits.

        Raises SingularError: ``.rows`` are the states of a batch.
        """
        weak = None if self._conditioning is None else np.asarray(self._conditioning(q))
        if weak is not None and weak.max(initial=0.0) <= 1.0:
            return
        single = is_single(q) or is_single(v)
        q, v = np.asarray(q, float), np.asarray(v, float)
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], self._evaluator.times)
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v))
        near = True if weak is None else ~(np.broadcast_to(weak, batch).reshape(-1) <= 1.0)
        suspect = np.flatnonzero(np.broadcast_to(near, len(q)))
        rows = self._rows.of_states(batch, suspect)
        distance, lost = self._lost(rows, q[suspect], v[suspect], single)
        bad = (distance < NEAR_SINGULAR_POSTURE[single]) & ~(lost <= LOST_PART[single])
        if bad.any():
            states = suspect[bad]
            raise self._error(states if batch else None, distance[bad].min(), len(q))

    @cached_property
    def _conditioning(self) -> Callable[[ArrayLike], Array] | None:
        """A measure of postures that is above 1 near singular ones, by code if there is some."""
        rows = self._programs.forward
        if rows is None:
            return None
        chosen: dict[str, Any] = {**rows, "probe": self._programs.probe}
        return lambda q: self._evaluator.call("loop_conditioning", (q,), **chosen)

    def _lost(self, rows: ConstraintRows, q: Array, v: Array, single: bool) -> tuple[Array, Array]:
        """Distance to a singular posture, and the part of results that may be wrong."""
        rank, setup = self._mobility.analysis.general_rank, self._model.setup
        if not (rank and len(q)):
            return np.full(len(q), np.inf), np.zeros(len(q))
        U, sizes, _ = np.linalg.svd(rows.measured_jacobian(q), full_matrices=False)
        distance, weak = sizes[:, rank - 1], U[:, :, rank - 1]
        units = np.array(setup.row_units)
        gap = np.einsum("ni,ni->n", weak, rows.residual(q) / units)
        rate = rows.violation_rate(q, v, rows.jacobian(q)) / units
        speed = np.sum((v / np.array(setup.speed_units)) ** 2, axis=-1)
        known = np.abs(gap) + np.abs(np.einsum("ni,ni->n", weak, rate)) / np.sqrt(1.0 + speed)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            part = np.maximum(known, GAP_ROUNDING[single]) / distance**2
            return distance, part * (1.0 + np.minimum(speed, 1.0) / distance)

    def _error(self, rows: Array | None, distance: float, count: int) -> SingularError:
        name = self._model.mechanism.name
        where = ""
        if rows is not None:
            where = f", {len(rows)} of {count} states: {listed(rows)}"
        return SingularError(
            f"{name!r} is {distance:.2g} from a singular posture, at which ways to assemble it "
            f"meet{where}: its motion is not determined to six digits; loop_rank(q).distance tells "
            "how far that is, and constrained_dynamics solves the constraints as they stand",
            rows=() if rows is None else tuple(int(k) for k in rows),
        )
