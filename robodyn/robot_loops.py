"""Methods of a robot about closed loops: assembly, rank, and dynamics where loops decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import finite, generator, named, together
from robodyn.closed_loops.analysis import LoopAnalysis, analyse
from robodyn.closed_loops.solvers import assemble, project_velocity
from robodyn.description import Loop
from robodyn.errors import AssemblyError, TopologyError
from robodyn.model.speed_selection import speed_indices
from robodyn.robot_rows import RowMethods
from robodyn.symbolic.evaluate import evaluate

__all__ = ["LoopMethods"]

Array = NDArray[Any]

#: Rows of residuals this small [m, rad] are closed.
CLOSED = 1e-11

#: Drift [m, rad] that is not mended, and Newton steps that mend it.
DRIFT, NEWTON = 1e-12, 4


class LoopMethods(RowMethods):
    """Closed loops; see `robodyn.Robot`."""

    @cached_property
    def dof(self) -> int:
        """Mobility at the closed posture nearest to the zero position."""
        return self.mobility(self.neutral()) if self.nc else int(self.nv)

    @cached_property
    def independent_joints(self) -> tuple[str, ...]:
        """Joints whose motion determines that of all others at the neutral posture.

        Those that the file marks as independent, or that have motors, come first; all, for a tree.
        """
        if not self.nc:
            return self._model.joint_names
        chosen = {*self.loops_analysis.independent}
        return tuple(
            name
            for name in self.joint_names
            if chosen & set(range(self.joints[name].v.start, self.joints[name].v.stop))
        )

    @property
    def redundant_constraints(self) -> dict[str, tuple[str, ...]]:
        """Constraint rows that follow from others, and from which, at the neutral posture."""
        names = self.constraint_names
        found = self.loops_analysis.redundant if self.nc else {}
        return {names[k]: tuple(names[j] for j in needed) for k, needed in found.items()}

    def random(self, rng: np.random.Generator | int | None = None) -> Array:
        """A random position within the limits, loops closed, shape (nq,) [rad, m].

        Raises
        ------
        AssemblyError
            If no guess led to a closed posture.
        """
        source = generator(rng)
        if not self.nc:
            return self._random_tree(source)
        # guesses come nearer and nearer to a posture that is closed; other branches with another
        # mobility are left to those who look for them
        start, last = (
            self.neutral(),
            AssemblyError(f"no other closed posture of {self.name!r} found"),
        )
        toward = self.difference(start, self._random_tree(source))
        for part in (1.0, 0.5, 0.25, 0.1, 0.03):
            try:
                q = self._closed(
                    self.integrate(start, part * toward),
                    np.ones(self.nv, bool),
                    self._gap,
                    self._gap_slope,
                    guesses=3,
                )
            except AssemblyError as error:
                last = error
                continue
            if self.mobility(q) == self.dof:
                return self._unwound(q)
        raise last

    def _unwound(self, q: Array) -> Array:
        """Continuous joints within half a turn of zero, where no coupling counts their turns."""
        if self._model.bodies.coupled or self._model.setup.coupled:
            return q
        turning = [j.q.start for j in self.joints.values() if j.type == "continuous" and j.v]
        at = [k for k in turning if k < self.nq]
        q = q.copy()
        q[at] = np.remainder(q[at] + np.pi, 2.0 * np.pi) - np.pi
        return q

    # -- closing loops ------------------------------------------------------------------------

    def _closed(
        self, guess: Array, free: Array, residual: Any, jacobian: Any, guesses: int = 20
    ) -> Array:
        if np.abs(residual(guess)).max(initial=0.0) < CLOSED:
            return guess.copy()
        try:
            return assemble(
                residual,
                jacobian,
                self.integrate,
                guess,
                free=free,
                lower=np.minimum(self.lower_limits, guess),
                upper=np.maximum(self.upper_limits, guess),
                guesses=guesses,
            )
        except AssemblyError as error:
            worst = int(np.abs(error.residual).argmax())
            names = [self.constraint_names[k] for k in self._model.setup.position_rows]
            raise AssemblyError(
                f"the loops of {self.name!r} do not close: {names[worst]} is off "
                f"by {np.abs(error.residual).max():.3g} (m or rad) at best",
                residual=error.residual,
                q=error.q,
            ) from None

    def _free(self, hold: Iterable[str]) -> Array:
        free = np.ones(self.nv, bool)
        for name in named("hold", hold):
            free[list(speed_indices(self._model, name))] = False
        return free

    def closed_state(
        self, q: ArrayLike, v: ArrayLike, free: Array | None = None
    ) -> tuple[Array, Array]:
        """A state near one that has drifted a little, with loops closed; for loops over time.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
        free : ndarray of bool, shape (nv,), optional
            Speeds that may change. Default: all.

        Returns
        -------
        q, v : ndarray
        """
        x, w = self._array("q", q, self.nq), self._array("v", v, self.nv).copy()
        if not self.nc:
            return x.copy(), w
        finite(q=x, v=w)
        together(q=x, v=w)
        moving = np.ones(self.nv) if free is None else free.astype(float)
        for _ in range(NEWTON):
            open_by = self._gap(x)
            if not np.abs(open_by).max(initial=0.0) > DRIFT:
                break
            inverse = np.linalg.pinv(self._gap_slope(x) * moving, rcond=1e-9)
            x = self.integrate(x, -np.einsum("...ij,...j->...i", inverse, open_by))
        K = self.loop_jacobian(x)
        rate = self._gap_rate(x, w, K)
        inverse = np.linalg.pinv(K * moving, rcond=1e-9)
        return x, w - np.einsum("...ij,...j->...i", inverse, rate)

    def consistent_velocity(self, q: ArrayLike, v: ArrayLike, hold: Iterable[str] = ()) -> Array:
        """The velocity nearest to ``v``, in kinetic energy, that keeps the loops closed.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Closed posture.
        v : array_like, shape (..., nv)
        hold : names of joints
            Keep their velocity.

        Returns
        -------
        v : ndarray, shape (..., nv)

        Raises
        ------
        AssemblyError
            If the velocities that are held contradict each other.
        """
        speeds = self._array("v", v, self.nv)
        if not self.nc:
            return speeds.copy()
        finite(q=q, v=speeds)
        together(q=q, v=speeds)
        K = self.loop_jacobian(q)
        psi = self.loop_velocity_offset(q) if self._has_offset else None
        free = self._free(hold)
        found = project_velocity(K, speeds, self._energy_norm(q), free=free, rhs=psi)
        single = K.dtype == np.float32 and np.asarray(v).dtype == np.float32
        return found.astype(np.float32) if single else found

    def _energy_norm(self, q: ArrayLike) -> Array | None:
        """The mass matrix, if every speed moves mass."""
        if not self._all_move_mass:
            return None
        return self._call("mass_matrix", (q,), None, None)  # type: ignore[no-any-return]

    @cached_property
    def _all_move_mass(self) -> bool:
        return not self._model.undetermined(())

    # -- what the loops leave -----------------------------------------------------------------

    @cached_property
    def loops_analysis(self) -> LoopAnalysis:
        """Rank, redundant rows and independent speeds, by looking at some closed postures."""
        return self._analysis(self._plain_function("loop_jacobian"))

    def _analysis(self, jacobian: Callable[[Array], Array]) -> LoopAnalysis:
        rng = np.random.default_rng(0)
        q = self.neutral()
        return analyse(
            q,
            jacobian,
            self._model.some_mass_matrix,
            lambda: self._nearby(q, rng),
            self._preferred,
        )

    def _nearby(self, q: Array, rng: np.random.Generator) -> Array:
        moved = self.integrate(q, rng.uniform(-0.3, 0.3, self.nv))
        return self._closed(
            moved,
            np.ones(self.nv, bool),
            *self._plain_gap,
        )

    @property
    def _preferred(self) -> tuple[int, ...]:
        marked = [j.name for j in self.mechanism.joints if j.independent]
        names = marked or [name for name, _ in self.mechanism.actuators]
        known = [name for name in names if name in self.joint_names]
        return tuple(k for name in known for k in speed_indices(self._model, name))

    def _plain_function(self, name: str) -> Any:
        """A function of q by the interpreter: nothing is compiled for a few calls."""
        program = self.function(name).program
        return lambda q: evaluate(program, q)[0]

    @property
    def _plain_gap(self) -> tuple[Any, Any]:
        """What positions have to satisfy, and its slopes, by the interpreter."""
        residual = self._plain_function("loop_residual")
        jacobian = self._plain_function("loop_jacobian")
        rows = self._position_rows
        return lambda q: residual(q)[..., rows], lambda q: jacobian(q)[..., rows, :]

    @cached_property
    def _closed_neutral(self) -> Array:
        """The zero position, or the closed posture nearest to it."""
        try:
            return self._closed(
                self._tree_neutral(),
                np.ones(self.nv, bool),
                *self._plain_gap,
            )
        except AssemblyError as error:
            raise TopologyError(
                f"{error}; if a second parent is a typing error, mend it; if not, this is the "
                f"closure to mend: {self._loops_to_paste()}",
                file=self.mechanism.file,
                element=f"robot {self.name!r}",
            ) from error

    def _loops_to_paste(self) -> str:
        """The closures as elements of a URDF."""
        texts = []
        for cut in self.loops:
            ends = (cut.predecessor, cut.successor) if isinstance(cut, Loop) else (
                cut.parent, cut.child
            )  # fmt: skip
            axis = " ".join(f"{x:g}" for x in cut.axis)
            texts.append(
                f'<loop name="{cut.name}" type="{cut.kind}"><predecessor link="{ends[0]}"/>'
                f'<successor link="{ends[1]}"/><axis xyz="{axis}"/></loop>'
            )
        return " ".join(texts)
