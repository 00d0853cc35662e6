"""Dynamics of robots with closed loops.

Where the rank of the loops is the same everywhere, the whole solve is machine code over independent
rows. Where it is not, at singular postures, and for everything beside plain inverse and forward
dynamics, the mass matrix and the constraints are machine code and the solve reveals the rank.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows, gains
from robodyn.closed_loops.constraints.precision import all_numbers
from robodyn.closed_loops.dynamics.constrained import ConstrainedSolve
from robodyn.closed_loops.dynamics.motors import LoopMotors
from robodyn.closed_loops.rank.analysis import spanning_rows
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.rank.regularity import Regularity
from robodyn.codegen import Function
from robodyn.codegen.calls.arguments import written
from robodyn.equations.catalogue import CONSTRAINED, QUANTITIES
from robodyn.errors import ActuationError, ShapeError, SingularError, TopologyError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import Roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import HybridDynamics

__all__ = ["ClosedLoopDynamics"]


class ClosedLoopDynamics:
    """The dynamics of a closed linkage, as `robodyn.parts.dynamics.Dynamics` has them.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    rows : ConstraintRows
    mobility : Mobility
    motors : LoopMotors
    solve : ConstrainedSolve
    consistency : Consistency
    regularity : Regularity
    steady : ClosedLoopDynamics, optional
        At time zero, of a linkage that depends on time.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        rows: ConstraintRows,
        mobility: Mobility,
        motors: LoopMotors,
        solve: ConstrainedSolve,
        consistency: Consistency,
        regularity: Regularity,
        steady: ClosedLoopDynamics | None = None,
    ) -> None:
        self._steady = steady
        self._model, self._evaluator, self._rows = model, evaluator, rows
        self._mobility, self.motors, self._solve = mobility, motors, solve
        self._consistency, self.regularity = consistency, regularity
        self._sufficing: dict[tuple[int, ...], bool] = {}

    # -- straight-line code -------------------------------------------------------------------

    @cached_property
    def has_code(self) -> bool:
        """Whether forward dynamics can be straight-line code."""
        return self._mobility.analysis.choice is not None and not self._model.undetermined(())

    @cached_property
    def _plain(self) -> bool:
        """Whether dynamics depend on nothing but the state and forces."""
        return self._model.settings.base != "moving" and not self._model.setup.rheonomic

    @cached_property
    def _code(self) -> Function:
        """Forward dynamics that do not look whether loops are closed."""
        return self._evaluator.function("forward_dynamics", **self._code_rows)

    @property
    def _code_rows(self) -> dict[str, Any]:
        """The options that choose rows."""
        found = self._mobility.analysis.choice
        assert found is not None
        return found.options

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity, honouring closed loops.

        Raises
        ------
        SingularError
            If the rank of the loops changes from posture to posture.
        ActuationError
            If motors and motions are not as many, or the loops tie controlled joints together.
        """
        if options.pop("tree", False) or name not in CONSTRAINED or "rows" in options:
            return self._evaluator.function(name, **options)
        if not self.has_code:
            raise SingularError(
                f"the loops of {self._model.mechanism.name!r} have another rank in other postures: "
                f"there is no straight-line code for {name}; call the method"
            )
        if name == "inverse_dynamics":
            return self.motors.function(**options)
        if name == "inverse_dynamics_derivatives":
            return self._evaluator.function(name, **options, **self.motors.needed_options())
        if "controlled" in QUANTITIES[name].options:
            controlled = self._evaluator.speeds(options.get("controlled", ()))
            if not self.rows_suffice(controlled):
                raise ActuationError(
                    f"the loops of {self._model.mechanism.name!r} tie the controlled joints to "
                    f"each other: there is no straight-line code for {name}; call the method"
                )
            options["controlled"] = controlled
        return self._evaluator.function(name, **options, **self._code_rows)

    def rows_suffice(self, controlled: tuple[int, ...]) -> bool:
        """Whether the rows of the code are independent in the speeds that are not controlled."""
        if self._steady is not None:
            return self._steady.rows_suffice(controlled)
        if controlled not in self._sufficing:
            try:
                self._sufficing[controlled] = self.has_code and self._independent(controlled)
            except (ShapeError, TopologyError):  # there is no posture to look at
                self._sufficing[controlled] = False
        return self._sufficing[controlled]

    def _independent(self, controlled: tuple[int, ...]) -> bool:
        found = self._mobility.analysis
        free = [k for k in range(self._model.bodies.nv) if k not in controlled]
        rows = [] if found.choice is None else list(found.choice.rows)
        K = self._rows.interpreted_jacobian(found.postures[list(found.regular)])[:, rows]
        return spanning_rows(K[..., free], found.general_rank)

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
    ) -> Array:
        """Forces at the motors that produce given accelerations, shape (..., nv)."""
        return written(self.motors.forces(q, v, a, wrenches, base, actuated), out)

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
        if stabilization is not None:
            return written(self._stabilised(q, v, tau, wrenches, base, stabilization), out)
        if self.has_code:
            chosen: dict[str, Any] = {
                **self._code_rows,
                "closure_tolerance": self._consistency.tolerance,
                "probe": self.regularity.probe,
            }
            if self._plain and base is None and not wrenches:
                f = self._evaluator.function("forward_dynamics", **chosen)
                self._evaluator.bind("forward_dynamics", f)
                a: Array = f(q, v, tau)
            else:
                a = self._evaluator.call(
                    "forward_dynamics", (q, v, tau), base=base, wrenches=wrenches, **chosen
                )
            if all_numbers(a):  # open loops leave none, nor do postures that are nearly singular
                return written(a, out)
        self.check(q, v)
        found = self._solve.forward(q, v, tau, wrenches, base, None, "auto")
        return written(found.a, out)

    def _stabilised(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float],
    ) -> Array:
        """Accelerations that close loops which are open a little."""
        if self.has_code:
            options = self._stabilising(stabilization)
            a: Array = self._evaluator.results(
                "forward_dynamics", (q, v, tau), base=base, wrenches=wrenches, **options
            )
            if all_numbers(a):
                return a
        return self._solve.forward(q, v, tau, wrenches, base, stabilization, "auto").a

    def _stabilising(self, stabilization: tuple[float, float] | None) -> dict[str, Any]:
        """The options of code that stabilises, if it has to, and its gains."""
        if stabilization is None:
            return self._code_rows
        given = np.array(gains(stabilization))
        return {**self._code_rows, "stabilization": True, "extra": (given,)}

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Refuse states in which loops are open, come open, or nearly lose a constraint."""
        self._consistency.check(q, v)
        self.regularity.check(q, v)

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
            self.check(q, v)
        return self._solve.hybrid(q, v, roles, wrenches, base, stabilization)

    def driven(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
        controlled: tuple[int, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None = None,
    ) -> tuple[Array, Array]:
        """Accelerations and forces, by straight-line code where there is some.

        Nobody looks whether loops are closed: within a step of a simulation they are open a little.
        """
        if not controlled:
            q, v, _, tau = arrays
            if stabilization is None:
                return self._undriven(arrays, wrenches, base), np.asarray(tau)
            a = self._stabilised(q, v, tau, wrenches, base, stabilization)
            return a, np.asarray(tau)
        if self.rows_suffice(controlled):
            chosen = {"controlled": controlled, **self._stabilising(stabilization)}
            a, tau = self._evaluator.results(
                "hybrid_dynamics", arrays, base=base, wrenches=wrenches, **chosen
            )
            if all_numbers(a) and all_numbers(tau):
                return a, tau
        q, v, given, forces = arrays
        order = np.argsort(controlled)
        roles = Roles(tuple(sorted(controlled)), np.asarray(given)[..., order], np.asarray(forces))
        found = self._solve.hybrid(q, v, roles, wrenches, base, stabilization)
        return found.a, found.tau

    def _undriven(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> Array:
        """Accelerations where no joint is driven."""
        q, v, _, tau = arrays
        if self.has_code and self._plain and base is None and not wrenches:
            a: Array = self._code(q, v, tau)
            if all_finite(a):
                return a
        if self.has_code:
            a = self._evaluator.call(
                "forward_dynamics", (q, v, tau), base=base, wrenches=wrenches, **self._code_rows
            )
            if all_numbers(a):
                return a
        return self._solve.forward(q, v, tau, wrenches, base, None, "auto").a

    def derivatives(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        controlled: tuple[int, ...] = (),
    ) -> tuple[Array, ...]:
        """Results of inverse, forward or hybrid dynamics, each before its derivatives."""
        q, v = arrays[:2]
        chosen: dict[str, Any] = {}
        if name == "inverse_dynamics":
            self.inverse(q, v, arrays[2], wrenches, base)  # refuses what leaves forces undetermined
            chosen |= self.motors.needed_options()
        else:
            self.check(q, v)
            if name == "hybrid_dynamics":
                chosen["controlled"] = controlled
            self.function(f"{name}_derivatives", **chosen)
            chosen |= self._code_rows
        found: tuple[Array, ...] = self._evaluator.results(
            f"{name}_derivatives", arrays, base=base, wrenches=wrenches, **chosen
        )
        return found

    def multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> tuple[Array, ...]:
        """Multipliers of loops whose motors make given accelerations."""
        self.check(q, v)
        speeds = self.motors.speeds(None)
        return (self.motors.solve(q, v, a, wrenches, base, speeds)[1],)
