"""Methods of a robot that close its loops, and that tell and keep the way it is assembled."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import named
from robodyn.closed_loops.continuation import follow
from robodyn.errors import AssemblyError, ShapeError, SingularError
from robodyn.model.speed_selection import speed_indices
from robodyn.robot_loops import LoopMethods

__all__ = ["AssemblyMethods"]

Array = NDArray[Any]

#: Gap [m, rad] of a posture that counts as closed already.
NEAR = 1e-8

#: Decimals of a determinant of unit rows that count.
MEETING = 9


class AssemblyMethods(LoopMethods):
    """Assembly of closed loops; see `robodyn.Robot`."""

    def assemble(
        self,
        q: ArrayLike | None = None,
        hold: Iterable[str] = (),
        near: ArrayLike | None = None,
    ) -> Array:
        """A posture with loops closed, near a guess, within the limits.

        A guess may be nearer to another way to assemble the linkage than to the one meant. With
        ``near`` it is the one of that posture: the joints of ``hold`` are moved from there to where
        they are in the guess, in small steps with loops closed.

        Parameters
        ----------
        q : array_like, shape (nq,) [rad, m], optional
            Guess. Default: the zero position.
        hold : names of joints
            Keep their value. Default with ``near``: `independent_joints`.
        near : array_like, shape (nq,) [rad, m], optional
            A closed posture on the wanted branch.

        Returns
        -------
        q : ndarray, shape (nq,)

        Raises
        ------
        AssemblyError
            With the posture that comes nearest, and what is left open. With ``near``: with the last
            posture of that branch on the way, where two branches meet or a joint is at its limit.
        """
        guess = self._tree_neutral() if q is None else self._array("q", q, self.nq)
        if guess.ndim != 1:
            raise ShapeError("assemble takes one posture at a time", name="q", given=guess.shape)
        if not np.isfinite(guess).all():
            raise ShapeError("the guess holds numbers that are not finite", name="q", given=guess)
        if not self.nc:
            return guess.copy()
        names = named("hold", hold)
        if near is not None:
            return self._on_branch(guess, names or self.independent_joints, near)
        return self._closed(guess, self._free(names), self._gap, self._gap_slope)

    def _on_branch(self, goal: Array, hold: tuple[str, ...], near: ArrayLike) -> Array:
        start = self._array("near", near, self.nq)
        if start.ndim != 1 or not np.isfinite(start).all():
            raise ShapeError("near is not one posture of finite numbers", name="near", given=start)
        left = self._gap(start)
        if not np.abs(left).max(initial=0.0) < NEAR:
            raise AssemblyError(
                f"near is not a closed posture of {self.name!r}: it is open by "
                f"{np.abs(left).max():.3g} (m or rad); assemble(near) closes it",
                residual=left,
                q=start,
            )
        held = [k for name in hold for k in speed_indices(self._model, name)]
        found = follow(self, start, goal, held, hold)
        if not found.end:
            return found.q
        missing = self.difference(found.q, goal)[held]
        worst = int(np.abs(missing).argmax())
        name = next(n for n in self.joint_names if held[worst] in speed_indices(self._model, n))
        meeting = "two ways to assemble it meet"
        why = meeting if found.end == "branch" else f"{found.end!r} is at its limit"
        raise AssemblyError(
            f"{self.name!r} does not get there from that posture with its loops closed: {name!r} "
            f"is {abs(missing[worst]):.3g} (m or rad) from its goal where {why}",
            residual=self._gap(found.q),
            q=found.q,
        )

    def branch_sign(self, q: ArrayLike) -> Array:
        """Which of the branches that meet at singular postures a closed one is on.

        The sign of the determinant by which the independent joints determine the others. Where it
        changes along a motion, the linkage has passed a posture at which two ways to assemble it
        meet, and may have flipped from one to the other; a linkage of one loop has as many
        branches as signs, one of more loops has several of each.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        sign : ndarray of int, shape (...)
            +1 or -1; 0 where branches meet. 1 for a tree.

        Raises
        ------
        SingularError
            If the rank of the loops changes from posture to posture: there is no such sign.
        """
        x = self._array("q", q, self.nq)
        if not self.nc:
            return np.ones(x.shape[:-1], int)
        rows, dependent = self._branch_minor
        K = self._gap_slope(x)[..., rows, :]
        size = np.linalg.norm(K, axis=-1, keepdims=True)
        minor = K[..., dependent] / np.where(size > 0.0, size, 1.0)
        return np.asarray(np.sign(np.round(np.linalg.det(minor), MEETING)), int)

    @cached_property
    def _branch_minor(self) -> tuple[list[int], list[int]]:
        """Rows and dependent speeds whose determinant vanishes where branches meet."""
        found = self.loops_analysis
        if len(self._model.setup.position_rows) < self.nc:
            found = self._analysis(self._plain_gap[1])
        if found.rows is None:
            raise SingularError(
                f"the rank of the loops of {self.name!r} changes from posture to posture: its "
                "branches cannot be told apart by a sign; assemble(near=) follows one"
            )
        return list(found.rows), [k for k in range(self.nv) if k not in found.independent]
