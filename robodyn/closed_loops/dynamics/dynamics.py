"""Dynamics of robots with closed loops.

Where the rank of the loops is the same everywhere, the whole solve is machine code over independent
rows. Where it is not, at singular postures, and for everything beside plain inverse and forward
dynamics, the mass matrix and the constraints are machine code and the solve reveals the rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.constraints.constraint_rows import gains
from robodyn.closed_loops.dynamics.constrained import ConstrainedSolve
from robodyn.closed_loops.dynamics.motors import LoopMotors
from robodyn.closed_loops.rank.regularity import Regularity
from robodyn.closed_loops.rank.straight_line import Code, StraightLine
from robodyn.codegen import CallForm, Function
from robodyn.codegen.calls.arguments import written
from robodyn.equations.catalogue import CONSTRAINED, QUANTITIES
from robodyn.equations.quantities.dynamics import CHECKED
from robodyn.errors import ActuationError, SingularError
from robodyn.evaluator import PLAIN, Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import Roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import HybridDynamics

__all__ = ["ClosedLoopDynamics"]


def _nothing(found: Array) -> None:
    """The result of a check that finds no fault."""


#: The call form of checks.
ASKED = CallForm(make=_nothing)


class ClosedLoopDynamics:
    """The dynamics of a closed linkage, as `robodyn.parts.dynamics.Dynamics` has them.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    code : StraightLine
    motors : LoopMotors
    solve : ConstrainedSolve
    consistency : Consistency
    regularity : Regularity
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        code: StraightLine,
        motors: LoopMotors,
        solve: ConstrainedSolve,
        consistency: Consistency,
        regularity: Regularity,
    ) -> None:
        self._model, self._evaluator, self._code = model, evaluator, code
        self.motors, self._solve = motors, solve
        self._consistency, self._regularity = consistency, regularity
        self._hybrid: dict[tuple[int, ...], Code | None] = {}
        self._derivatives: dict[tuple[str, tuple[int, ...]], Code | None] = {}

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity, with the constraint forces of closed loops.

        Raises
        ------
        SingularError
            If the rank of the loops changes from posture to posture, or if joints move no mass
            where constraints do not hold them.
        ActuationError
            If motors do not hold all motions, or the loops tie controlled joints together.
        """
        if name == "measure" and self._evaluator.options.exerted(name, options):
            return self._measuring(options)
        if options.pop("tree", False) or name not in CONSTRAINED or "rows" in options:
            return self._evaluator.function(name, **options)
        code = self._code.forward
        if code is None:
            raise SingularError(self._without_code(name))
        if name == "inverse_dynamics":
            return self.motors.function(**options)
        if name == "inverse_dynamics_derivatives":
            code = self.motors.code
        elif "controlled" in QUANTITIES[name].options:
            controlled = self._evaluator.options.speeds(options.pop("controlled", ()))
            beside = self._code.hybrid(controlled)
            if beside is None:
                raise ActuationError(
                    f"the loops of {self._model.mechanism.name!r} tie the controlled joints to "
                    f"each other: there is no straight-line code for {name}; call the method"
                )
            code = beside
        return self._evaluator.function(name, **options, **code.options)

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

    def _measuring(self, options: Mapping[str, Any]) -> Function:
        """The function of sensors that read wrenches in joints; impossible accelerations give NaN.

        Raises
        ------
        SingularError
        """
        code = self._by_motors("measure", options)
        if code is None:
            raise SingularError(
                f"motors of {self._model.mechanism.name!r} do not determine by straight-line code "
                "what its joints carry: there is none for measure; call the method"
            )
        kept = {x: y for x, y in code.options.items() if x not in CHECKED}
        return self._evaluator.function("measure", **kept)

    # -- dynamics -----------------------------------------------------------------------------

    def inverse(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        actuated: Iterable[str] | None = None,
        out: Array | None = None,
        form: CallForm | None = None,
    ) -> Array:
        """Forces at the motors that produce given accelerations, shape (..., nv)."""
        form = form or PLAIN
        return written(self.motors.forces(q, v, a, wrenches, base, actuated, form), out)

    def forward(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Accelerations under given forces, shape (..., nv)."""
        arrays = q, v, tau
        if stabilization is not None:
            return written(self._open(arrays, wrenches, base, stabilization), out)
        code = self._checked
        if code is not None:
            found = code.results(self._evaluator, arrays, wrenches, base, form=PLAIN)
            if found is not None:
                return written(found[0], out)
        self.check(q, v)
        return written(self._solve.forward(q, v, tau, wrenches, base, None, "auto").a, out)

    @cached_property
    def _checked(self) -> Code | None:
        """Forward dynamics that are NaN if loops are open or nearly singular."""
        tolerance, code = self._consistency.tolerance, self._code.forward
        if code is None:
            return None
        return code.having(closure_tolerance=tolerance, probe=self._code.probe)

    @property
    def checked(self) -> Mapping[str, Any] | None:
        """Options of a function over all rows that refuses what `check` refuses, by NaN."""
        return None if self._checked is None else self._checked.options

    def checked_along(self, independent: tuple[int, ...]) -> Mapping[str, Any] | None:
        """As `checked`, for a function in which the other speeds follow from independent ones."""
        if self.checked is None or self._code.hybrid(independent) is None:
            return None
        return {**self.checked, "tangent_probe": self._code.hybrid_probe(independent)}

    def checked_beside(self, controlled: tuple[int, ...]) -> Mapping[str, Any] | None:
        """As `checked`, for a function in which the accelerations of some speeds are given."""
        return self.checked_along(controlled)

    def _open(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
    ) -> Array:
        """Accelerations for loops that may be slightly open, stabilised if gains are given."""
        code, extra = _stabilising(self._code.forward, stabilization)
        if code is not None:
            found = code.results(self._evaluator, arrays, wrenches, base, extra)
            if found is not None:
                return found[0]
        return self._solve.forward(*arrays, wrenches, base, stabilization, "auto").a

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Refuse states in which loops are open, come open, or nearly lose a constraint."""
        if self.checked is not None:
            code = Code(self._evaluator, "check_state", self.checked)
            if code.results(self._evaluator, (q, v), form=ASKED) is not None:
                return
        self._consistency.check(q, v)
        self._regularity.check(q, v)

    def hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        roles: Roles,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
    ) -> HybridDynamics:
        """Accelerations, forces and multipliers of least norm with some joints driven."""
        if stabilization is None:
            code = self._checked_hybrid(roles.controlled)
            if code is not None:
                found = code.results(
                    self._evaluator, roles.beside(q, v), wrenches, base, form=roles.form
                )
                if found is not None:
                    made: HybridDynamics = self._evaluator.made(code.name, found, **code.options)
                    return made
            self.check(q, v)
        return self._solve.hybrid(q, v, roles, wrenches, base, stabilization)

    def _checked_hybrid(self, controlled: tuple[int, ...]) -> Code | None:
        """Hybrid dynamics that are NaN if loops are open or nearly singular."""
        if controlled not in self._hybrid:
            self._hybrid[controlled] = self._find_hybrid(controlled)
        return self._hybrid[controlled]

    def _find_hybrid(self, controlled: tuple[int, ...]) -> Code | None:
        code = self._code.hybrid(controlled)
        if code is None or code.options.get("groups"):
            return None
        return code.having(
            least_multipliers=True,
            closure_tolerance=self._consistency.tolerance,
            probe=self._code.hybrid_probe(controlled),
        )

    def driven(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
        controlled: tuple[int, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None = None,
        form: CallForm | None = None,
    ) -> tuple[Array, Array]:
        """Accelerations and forces, by straight-line code where there is some.

        Whether loops are closed is not checked, as they are slightly open within simulation steps.
        """
        q, v, given, forces = arrays
        if not controlled:
            a = self._open((q, v, forces), wrenches, base, stabilization)
            return a, np.asarray(forces)
        code, extra = _stabilising(self._code.hybrid(controlled), stabilization)
        if code is not None:
            results = code.results(self._evaluator, arrays, wrenches, base, extra, form)
            if results is not None:
                return results[0], results[1]
        order = np.argsort(controlled)
        roles = Roles(tuple(sorted(controlled)), np.asarray(given)[..., order], np.asarray(forces))
        found = self._solve.hybrid(q, v, roles, wrenches, base, stabilization)
        return found.a, found.tau

    def derivatives(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        controlled: tuple[int, ...] = (),
        form: CallForm | None = None,
    ) -> tuple[Array, ...]:
        """Results of inverse, forward or hybrid dynamics, each before its derivatives."""
        key = name, controlled
        if key not in self._derivatives:
            self._derivatives[key] = self._find_derivatives(*key)
        code = self._derivatives[key]
        if code is not None:
            checked = code.results(self._evaluator, arrays, wrenches, base, form=form)
            if checked is not None:
                return checked
        q, v = arrays[:2]
        chosen: dict[str, Any] = {}
        if name == "inverse_dynamics":
            self.inverse(q, v, arrays[2], wrenches, base)  # refuses what leaves forces undetermined
        else:
            self.check(q, v)
            if name == "hybrid_dynamics":
                chosen |= {"controlled": controlled, "all_columns": True}
        self.function(f"{name}_derivatives", **chosen)  # refuses linkages without such code
        code = self.motors.code if name == "inverse_dynamics" else self._code.forward
        assert code is not None
        found: tuple[Array, ...] = self._evaluator.results(
            f"{name}_derivatives", arrays, base=base, wrenches=wrenches, **code.options, **chosen
        )
        return found

    def _find_derivatives(self, name: str, controlled: tuple[int, ...]) -> Code | None:
        """Derivatives that are NaN if loops are open or nearly singular."""
        name = f"{name}_derivatives"
        if name == "inverse_dynamics_derivatives":
            code = self.motors.checked
            return None if code is None else Code(self._evaluator, name, code.options)
        if name == "hybrid_dynamics_derivatives":
            code = self._checked_hybrid(controlled)
            return None if code is None else _beside(code, name, all_columns=True)
        code = self._checked if name == "forward_dynamics_derivatives" else None
        return None if code is None else _beside(code, name)

    def by_motors(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        form: CallForm | None = None,
        **options: Any,
    ) -> tuple[Array, ...]:
        """Results of a quantity that depends on multipliers, for given accelerations and motors."""
        code = self._by_motors(name, options)
        if code is not None:
            found = code.results(self._evaluator, arrays, wrenches, base, form=form)
            if found is not None:
                return found
        q, v, a = arrays
        self.check(q, v)
        lam = self.motors.solve(q, v, a, wrenches, base, self.motors.names(None))[1]
        values = self._evaluator.results(
            name, arrays, base=base, wrenches=wrenches, extra=(lam,), **options
        )
        return (*values, lam) if isinstance(values, tuple) else (values, lam)

    def _by_motors(self, name: str, options: Mapping[str, Any]) -> Code | None:
        """The function for `by_motors`, which gives NaN if loops are open or nearly singular."""
        code = self.motors.checked
        if code is None or not _determines_multipliers(code.options):
            return None
        return Code(self._evaluator, name, {**code.options, **options})

    def hybrid_joint_wrenches(
        self,
        state: tuple[ArrayLike, ArrayLike],
        roles: Roles,
        joints: tuple[str, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        form: CallForm | None = None,
    ) -> tuple[Array, ...]:
        """Joint wrenches with some joints driven, accelerations and multipliers."""
        code = self._checked_hybrid(roles.controlled)
        if code is not None:
            code = _beside(code, "hybrid_joint_wrenches", joints=joints)
            found = code.results(self._evaluator, roles.beside(*state), wrenches, base, form=form)
            if found is not None:
                return found
        a, _, lam = self.hybrid(*state, roles, wrenches, base, None)
        values = self._evaluator.results(
            "joint_wrenches", (*state, a), base=base, wrenches=wrenches, extra=(lam,), joints=joints
        )
        return values, a, lam


def _beside(code: Code, name: str, **options: Any) -> Code:
    """Another quantity over the rows of some code, under the same guards."""
    kept = {x: y for x, y in code.options.items() if x != "least_multipliers"}
    return Code(code.evaluator, name, {**kept, **options})


def _stabilising(
    code: Code | None, stabilization: tuple[float, float] | None
) -> tuple[Code | None, tuple[Array, ...]]:
    """The code, with stabilisation if gains are given, and the gains as inputs."""
    if code is None or stabilization is None:
        return code, ()
    return code.having(stabilization=True), (np.array(gains(stabilization)),)


def _determines_multipliers(options: Mapping[str, Any]) -> bool:
    """Whether the rows by which forces of motors are solved for are independent."""
    if "order" in options:
        return sum(map(len, options["order"])) == len(options["rows"])
    return "groups" not in options
