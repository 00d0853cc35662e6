"""What computes dynamics of closed linkages where programs give no numbers.

Programs do so at open states and near singular postures, which are refused here. Where the rank of
the loops changes, or rows are redundant in part, the mass matrix and the constraints are programs
and the solve reveals the rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.dynamics.constrained import ConstrainedSolve, LoopMotors
from robodyn.closed_loops.rank.programs import LoopPrograms, Regularity
from robodyn.evaluator import Evaluator, Fallback, Request
from robodyn.model.speed_selection import Roles
from robodyn.results import HybridDynamics


class LoopFallbacks:
    """Fallbacks of a closed linkage, each a `robodyn.evaluator.Fallback`.

    evaluator: Of the spanning tree.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        programs: LoopPrograms,
        motors: LoopMotors,
        solve: ConstrainedSolve,
        consistency: Consistency,
        regularity: Regularity,
    ) -> None:
        self._evaluator, self._programs = evaluator, programs
        self._motors, self._solve = motors, solve
        self._consistency, self._regularity = consistency, regularity

    @property
    def by_name(self) -> Mapping[str, Fallback]:
        """The fallbacks by the name of the quantity."""
        kinds = ("forward_dynamics", "hybrid_dynamics", "inverse_dynamics")
        derivatives = [f"{kind}_derivatives" for kind in kinds]
        return {
            **{name: partial(self._derivatives, name) for name in derivatives},
            "check_state": self._check_state,
            "forward_dynamics": self._forward,
            "hybrid_dynamics": self._hybrid,
            "hybrid_joint_wrenches": self._hybrid_joint_wrenches,
            "inverse_dynamics": self._motors.forces,
            "joint_wrenches": self._joint_wrenches,
            "measure": self._measure,
        }

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Refuse states in which loops are open, come open, or nearly lose a constraint."""
        self._consistency.check(q, v)
        self._regularity.check(q, v)

    def _check_state(self, asked: Request) -> Array:
        self.check(*asked.arrays)
        return np.zeros(())

    def _forward(self, asked: Request) -> Array:
        self._check_unless_open(asked)
        (q, v, tau), gains = asked.arrays, asked.options.get("stabilization")
        return self._solve.forward(q, v, tau, asked.wrenches, asked.base, gains, "auto").a

    def _check_unless_open(self, asked: Request) -> None:
        if not (asked.options.get("stabilization") or asked.options.get("drifting")):
            self.check(*asked.arrays[:2])

    def _hybrid(self, asked: Request) -> HybridDynamics:
        """Also the multipliers of least norm."""
        self._check_unless_open(asked)
        (q, v, given, forces), controlled = asked.arrays, asked.options["controlled"]
        order = np.argsort(controlled).astype(int)
        roles = Roles(tuple(sorted(controlled)), np.asarray(given)[..., order], np.asarray(forces))
        gains = asked.options.get("stabilization")
        return self._solve.hybrid(q, v, roles, asked.wrenches, asked.base, gains)

    def _joint_wrenches(self, asked: Request) -> tuple[Array, Array]:
        lam = self._multipliers(asked)
        return self._under("joint_wrenches", asked, asked.arrays, lam, **asked.options), lam

    def _measure(self, asked: Request) -> Any:
        lam = self._multipliers(asked)
        return self._under("measure", asked, asked.arrays, lam, **asked.options)

    def _hybrid_joint_wrenches(self, asked: Request) -> tuple[Array, ...]:
        """Joint wrenches with some joints driven, accelerations and multipliers."""
        a, _, lam = self._hybrid(asked)
        joints = asked.options["joints"]
        arrays = (*asked.arrays[:2], a)
        return self._under("joint_wrenches", asked, arrays, lam, joints=joints), a, lam

    def _multipliers(self, asked: Request) -> Array:
        """Multipliers for given accelerations and the robot's motors."""
        q, v, a = asked.arrays
        self.check(q, v)
        names = self._programs.motors(None)
        return self._motors.solve(q, v, a, asked.wrenches, asked.base, names)[1]

    def _under(
        self, name: str, asked: Request, arrays: tuple[Any, ...], multipliers: Array, **options: Any
    ) -> Any:
        """Results of a quantity that depends on multipliers."""
        return self._evaluator.results(
            name, arrays, base=asked.base, wrenches=asked.wrenches, multipliers=multipliers,
            **options,
        )  # fmt: skip

    # -- derivatives --------------------------------------------------------------------------

    def _derivatives(self, name: str, asked: Request) -> Any:
        """Derivatives without guards, of states and forces that are determined."""
        inverse = name == "inverse_dynamics_derivatives"
        if inverse:
            self._motors.forces(replace(asked, options={}))
        else:
            self.check(*asked.arrays[:2])
        self._programs.function(name, **asked.options)  # refuses linkages without such code
        rows = self._programs.own_inverse if inverse else self._programs.forward
        return self._evaluator.results(
            name, asked.arrays, base=asked.base, wrenches=asked.wrenches, **rows or {},
            **asked.options,
        )  # fmt: skip
