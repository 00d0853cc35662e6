"""The continuous model of a controller with a memory, whose samples come faster and faster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError
from robodyn.simulation.linear_loop.controller_slopes import ControllerSlopes
from robodyn.tolerances import MEMORY_KEPT

#: Nodes in the time between samples, in units of `NODE` [s], and the weights of their values in the
#: derivative at zero [/NODE], of sixth order.
NODE = 2e-5
WEIGHTS = np.array([-147.0, 360.0, -450.0, 400.0, -225.0, 72.0, -10.0]) / 60.0


@dataclass(frozen=True, eq=False)
class ContinuousController:
    """``dz/dt = rate["state"] z + ...`` and ``u = force["state"] z + ...`` of its inputs.

    names: Numbers of the state that ``z`` follows.
    """

    rate: Mapping[str, FloatArray]
    force: Mapping[str, FloatArray]
    names: list[str]


def continuous(
    own: ControllerSlopes,
    nv: int,
    state: tuple[FloatArray, FloatArray],
    at_rest: tuple[FloatArray, FloatArray],
) -> ContinuousController:
    """The limit of a controller for samples without time between them.

    After a sample the state is ``s+ = (F0 + h F1) s + (G0 + h G1) y``. What ``F0`` keeps, its
    eigenvalue 1, changes at the rate that terms in ``h`` give; what it forgets follows ``y`` at
    once.

    Raises SettingsError: If there is no such limit, as it counts samples.
    """
    tables = [own.slopes(k * NODE, *state, *at_rest) for k in range(len(WEIGHTS))]
    now = tables[0]
    by_h = {
        name: sum(w * x[name] for w, x in zip(WEIGHTS, tables, strict=True)) / NODE for name in now
    }
    F0, inputs = now["state"][nv:], [name for name in now if name != "state"]
    kept, left = _kept(F0)
    forgotten = np.eye(len(F0)) - F0 + kept @ left
    follows = {name: np.linalg.solve(forgotten, now[name][nv:]) for name in inputs}
    pushed = max((np.abs(left @ now[name][nv:]).max(initial=0.0) for name in inputs), default=0.0)
    grows = np.abs(F0 @ kept - kept).max(initial=0.0)
    if max(pushed, grows) > MEMORY_KEPT * max(
        1.0, *(np.abs(x).max(initial=0.0) for x in now.values())
    ):
        raise SettingsError(
            "the controller changes its memory by the sample, whatever the time between samples: "
            "it has no continuous model; give dt=, or put Sampled around it"
        )
    force = {"state": now["state"][:nv] @ kept}
    rate = {"state": left @ by_h["state"][nv:] @ kept}
    for name in inputs:
        force[name] = now[name][:nv] + now["state"][:nv] @ follows[name]
        rate[name] = left @ (by_h[name][nv:] + by_h["state"][nv:] @ follows[name])
    return ContinuousController(rate, force, _names(own.names, kept))


def _kept(F: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Right and left vectors of the eigenvalue 1, (n, k) and (k, n); they are inverse.

    The right ones have a unit matrix in some rows.

    Raises SettingsError: If the matrix grows.
    """
    n = len(F)
    if not n:
        return np.zeros((0, 0)), np.zeros((0, 0))
    sizes = np.abs(np.linalg.eigvals(F))
    if sizes.max() > 1.0 + MEMORY_KEPT:
        raise SettingsError(
            "the memory of the controller grows from sample to sample, whatever the time between "
            "them: it has no continuous model; give dt="
        )
    ways, changes, moved = np.linalg.svd(F - np.eye(n))
    still = changes <= MEMORY_KEPT * max(1.0, changes.max())
    right, left = moved[still].T, ways[:, still].T
    rows, rest = list[int](), right.copy()
    for _ in range(right.shape[1]):  # rows that differ most from those before
        k = int(np.abs(rest).sum(axis=1).argmax())
        rows.append(k)
        rest = rest - np.outer(rest @ rest[k], rest[k]) / (rest[k] @ rest[k])
    right = right @ np.linalg.inv(right[np.sort(rows)]) if rows else right
    return right, np.linalg.solve(left @ right, left)


def _names(names: list[str], kept: FloatArray) -> list[str]:
    """Those of the numbers that each column follows: where it alone is one."""
    ones = [np.flatnonzero(np.abs(kept[:, k] - 1.0) < MEMORY_KEPT)[0] for k in range(kept.shape[1])]
    return [names[k] for k in ones]
