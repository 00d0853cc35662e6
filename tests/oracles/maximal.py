"""Dynamics of a mechanism in maximal coordinates: one linear system, solved as it stands.

Every link is a free body. Unknown are the acceleration of its centre of mass and its angular
acceleration, the joint accelerations, and all six components of every joint's wrench: of joints
that close loops as of all others [M (63)], of fixed joints and of the hold of the base on the root
link too. The equations, in world axes::

    mass acc - G' F = loads     Newton and Euler of every link
    G acc - S a = bias          relative acceleration across every joint
    S' F = tau   or   a = given, for each speed

Of robodyn only the description is read, the records as they were written: which joints are cut,
poses and turns are found here once more. Conventions are those of
``docs/reference/conventions.md``.
"""

from dataclasses import dataclass

import numpy as np
from oracles.cuts import cut_joints
from oracles.edges import WORLD, closing_edges, tree_edges
from oracles.joint_motion import Motion, turn_by_quaternion
from oracles.link_motion import LinkMotion, moving_link, transport
from oracles.relations import acceleration_rows, closing_state, loop_error, place, step

from robodyn.description import Joint

__all__ = ["LinkMotion", "MaximalOracle", "Solution"]

#: Singular values below this part of the largest count as zero.
RANK = 1e-10


@dataclass(frozen=True)
class Solution:
    """Accelerations and forces.

    ``joint_wrenches``: what the parent exerts on the child, about the child link's origin, in child
    axes; of a loop about and in its frame on the successor. ``base_wrench``: what ground or carrier
    exerts on the root link, likewise. ``links``: the motion of every link.

    Of mechanisms with loops: ``rank_deficiency`` counts what the equations leave open (redundant
    constraints, and torques that can be traded for one another); forces are then those of least
    norm, ``unique`` says which components of each wrench are settled (the base's as ``"base"``),
    ``unique_tau`` which torques. ``residual`` is what least squares left of the equations (zero if
    the accelerations asked for are possible), ``a_cut`` are the accelerations in closing joints.
    """

    a: np.ndarray
    tau: np.ndarray
    joint_wrenches: dict[str, np.ndarray]
    base_wrench: np.ndarray
    links: dict[str, LinkMotion]
    rank_deficiency: int
    residual: float
    unique: dict[str, np.ndarray]
    unique_tau: np.ndarray
    a_cut: dict[str, np.ndarray]


class MaximalOracle:
    """Rigid bodies and joints; ``base`` is "fixed", "floating" or "moving".

    ``cut`` names the joints that are no part of the tree; default is what `cut_joints` cuts.
    """

    def __init__(self, mechanism, gravity=(0.0, 0.0, -9.81), base="fixed", cut=None):
        assert not mechanism.couplings
        self.gravity, self.base = np.array(gravity, float), base
        self.inertias = {link.name: link.inertia for link in mechanism.links}
        children = {joint.child for joint in mechanism.joints}
        (root,) = [name for name in self.inertias if name not in children]
        if cut is None:
            cut = cut_joints(mechanism)
        hold = Joint("base", "floating" if base == "floating" else "fixed", "world", root)
        self.edges, self.names = tree_edges(mechanism, hold, cut)
        self.nq = max(edge.q.stop for edge in self.edges)
        self.nv = max(edge.v.stop for edge in self.edges)
        self.cuts = closing_edges(mechanism, cut, self.names, self.nv)
        self.all = self.edges + self.cuts
        self.columns = max(edge.v.stop for edge in self.all)

    def solve(
        self,
        q,
        v,
        a=None,
        tau=None,
        controlled=(),
        wrenches=None,
        base_motion=None,
        passive=None,
        tau_cut=None,
    ):
        """Hybrid dynamics and all joint wrenches.

        Parameters
        ----------
        q, v : (nq,), (nv,), with all loops closed
        a, tau : (nv,), zero if not given
            ``a`` counts for controlled speeds, ``tau`` for the others.
        controlled : indices of speeds
        wrenches : link name -> (6,), in link axes about the link's origin
        base_motion : (pose (4, 4), body twist (6,), its derivative (6,)) of a "moving" base
        passive : (nv,), forces of dampers and springs that act beside ``tau``
        tau_cut : name of a closing joint -> its torques, of motors, dampers and springs
        """
        a, tau, passive = (np.zeros(self.nv) if x is None else x for x in (a, tau, passive))
        links, (G, S, bias), (mass, loads) = self.equations(q, v, wrenches, base_motion)
        drives = np.zeros(self.columns)
        drives[: self.nv] = tau + passive
        for edge in self.cuts:
            drives[edge.v] = (tau_cut or {}).get(edge.joint.name, 0.0)
        n, m, k = len(loads), len(bias), self.columns
        A, b = np.zeros((n + m + k, n + m + k)), np.zeros(n + m + k)
        acc, F, drive = slice(0, n), slice(n, n + m), slice(n + m, n + m + k)
        A[acc, acc], A[acc, F], b[acc] = mass, -G.T, loads
        A[F, acc], A[F, drive], b[F] = G, -S, bias
        held = np.isin(np.arange(k), list(controlled))
        A[drive, drive] = np.diag(held.astype(float))
        A[drive, F] = S.T * ~held[:, None]
        b[drive] = np.where(held, np.concatenate([a, np.zeros(k - self.nv)]), drives)
        x, open_ = self._solved(A, b, F)
        torques = S[:, : self.nv].T @ x[F] - passive
        result = self._named(links, x[acc], x[F], open_[F])
        return Solution(
            a=x[drive][: self.nv],
            tau=torques,
            **result,
            rank_deficiency=open_.shape[1],
            residual=float(np.abs(A @ x - b).max()),
            unique_tau=_rows_zero(S[:, : self.nv].T @ open_[F]),
            a_cut={edge.joint.name: x[drive][edge.v] for edge in self.cuts},
        )

    def dry_friction(self, q, v, friction, friction_speed):
        """Generalised forces (nv,) of smoothed dry friction against the speed along each axis.

        The axes of a floating joint's translation are those of its frame on the parent.
        """
        axes = np.eye(self.nv)  # columns: axes along which friction acts
        for edge in self.edges:
            if edge.joint.kind == "floating":
                along = slice(edge.v.start, edge.v.start + 3)
                axes[along, along] = turn_by_quaternion(q[edge.q][3:])[:3, :3].T
        u = axes.T @ v
        return -axes @ (friction * u / np.sqrt(u**2 + friction_speed**2))

    def equations(self, q, v, wrenches=None, base_motion=None):
        """Motions of links; ``G, S, bias`` of joints; mass matrix and loads of links."""
        numbers, motions = self.motions(q, v, base_motion)
        links = [moving_link(self.inertias[n], x) for n, x in zip(self.names, motions, strict=True)]
        rows = self._rows(numbers, links, base_motion)
        return links, rows, self._newton_euler(links, wrenches or {})

    def motions(self, q, v, base_motion=None):
        """Own numbers of every joint; motions of all links at zero joint accelerations."""
        q, v = np.asarray(q, float), np.asarray(v, float)
        numbers, motions = [], [None] * len(self.names)
        for edge in self.edges:
            own_q, own_v = q[edge.q], edge.factor * v[edge.v]
            if edge.joint.mimic is not None:
                own_q = edge.factor * own_q + edge.offset
            numbers.append((own_q, own_v))
            across = self._step(edge, own_q, own_v, base_motion)
            if edge.backward:
                motions[edge.parent] = motions[edge.child] @ across.inverse()
            elif edge.parent == WORLD:
                motions[edge.child] = across
            else:
                motions[edge.child] = motions[edge.parent] @ across
        return numbers + [closing_state(edge, motions) for edge in self.cuts], motions

    def loop_errors(self, q, v):
        """Gaps of all loops and the rates of their gaps; both are zero in a possible state."""
        _, motions = self.motions(q, v)
        errors = [loop_error(edge, motions) for edge in self.cuts]
        return tuple(np.concatenate([np.zeros(0), *side]) for side in zip(*errors, strict=True))

    def mobility(self, q):
        """Number of independent speeds, those of a floating base included."""
        _, (G, S, _), _ = self.equations(q, np.zeros(self.nv))
        rows = np.hstack([G, -S])
        return rows.shape[1] - np.linalg.matrix_rank(rows, RANK * np.linalg.norm(rows, 2))

    def _step(self, edge, q, v, base_motion):
        if edge.parent == WORLD and self.base == "moving":
            still = (np.eye(4), np.zeros(6), np.zeros(6))
            return Motion.along(*(np.asarray(x, float) for x in base_motion or still))
        return step(edge, q, v)

    def _rows(self, numbers, links, base_motion):
        """``G``, ``S`` and ``bias`` of all joints below one another."""
        rows = []
        for edge, (q, v) in zip(self.all, numbers, strict=True):
            is_distance = edge.joint.kind == "distance"
            across = None if is_distance else self._step(edge, q, v, base_motion)
            rows.append(acceleration_rows(edge, across, q, links, self.columns))
        return tuple(np.concatenate(parts) for parts in zip(*rows, strict=True))

    def _newton_euler(self, links, wrenches):
        """Mass matrix and loads about the centres of mass: gravity, spin, external wrenches."""
        mass, loads = np.zeros((6 * len(links), 6 * len(links))), np.zeros(6 * len(links))
        for i, (name, link) in enumerate(zip(self.names, links, strict=True)):
            at = 6 * i
            mass[at : at + 3, at : at + 3] = link.mass * np.eye(3)
            mass[at + 3 : at + 6, at + 3 : at + 6] = link.J
            loads[at : at + 3] = link.mass * self.gravity
            loads[at + 3 : at + 6] = -np.cross(link.w_WB, link.J @ link.w_WB)
            wrench = np.asarray(wrenches.get(name, np.zeros(6)), float)
            in_world = np.concatenate([link.R_WB @ wrench[:3], link.R_WB @ wrench[3:]])
            loads[at : at + 6] += transport(link.p_WB - link.p_WC).T @ in_world
        return mass, loads

    def _solved(self, A, b, F):
        """Solution of least norm, and a basis of what can be added to it."""
        if not self.cuts:
            return np.linalg.solve(A, b), np.zeros((len(b), 0))
        # Forces in units of a mean mass, so that both kinds of equations have one scale.
        unit = np.ones(len(b))
        unit[F] = sum(x.mass for x in self.inertias.values() if x) / len(self.inertias)
        n = F.start
        scale = np.concatenate([np.full(n, 1.0 / unit[n]), np.ones(len(b) - n)])
        drives = np.any(A[F.stop :, F] != 0.0, axis=1)
        scale[F.stop :][drives] /= unit[n]
        U, sizes, Vh = np.linalg.svd(scale[:, None] * A * unit)
        rank = int(np.sum(sizes > RANK * sizes[0]))
        x = Vh[:rank].T @ ((U[:, :rank].T @ (scale * b)) / sizes[:rank])
        return unit * x, Vh[rank:].T

    def _named(self, links, acc, F, open_):
        named, unique = {}, {}
        for i, edge in enumerate(self.all):
            to_child = np.kron(np.eye(2), place(edge, links)[:3, :3].T)
            named[edge.joint.name] = to_child @ F[6 * i : 6 * i + 6]
            unique[edge.joint.name] = _rows_zero(to_child @ open_[6 * i : 6 * i + 6])
        for i, link in enumerate(links):
            link.dv_WC, link.dw_WB = acc[6 * i : 6 * i + 3], acc[6 * i + 3 : 6 * i + 6]
        moving = dict(zip(self.names, links, strict=True))
        base = named.pop("base")
        return {"joint_wrenches": named, "base_wrench": base, "links": moving, "unique": unique}


def _rows_zero(N):
    return np.linalg.norm(N, axis=1) < 1e-7
