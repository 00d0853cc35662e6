"""Dynamics of a tree in maximal coordinates: one linear system, solved as it stands.

Every link is a free body. Unknown are the acceleration of its centre of mass and its angular
acceleration, the joint accelerations, and all six components of every joint's wrench, of fixed
joints and of the hold of the base on the root link too. The equations, in world axes::

    mass acc - G' F = loads     Newton and Euler of every link
    G acc - S a = bias          relative acceleration across every joint
    S' F = tau   or   a = given, for each speed

Of robodyn only the description is read. Conventions are those of ``docs/conventions.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from oracles.joint_motion import Motion, coordinate_count, joint_motion, speed_count
from oracles.link_motion import LinkMotion, moving_link, spin, transport

from robodyn.description import Joint

__all__ = ["LinkMotion", "MaximalOracle", "Solution"]

WORLD = -1


@dataclass(frozen=True)
class Edge:
    """A joint, its parent link, and where its numbers stand: ``factor q[...] + offset``."""

    joint: Joint
    parent: int
    q: slice
    v: slice
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Solution:
    """Accelerations and forces.

    ``joint_wrenches``: what the parent exerts on the child, about the child link's origin, in child
    axes. ``base_wrench``: what ground or carrier exerts on the root link, likewise. ``links``: the
    motion of every link.
    """

    a: np.ndarray
    tau: np.ndarray
    joint_wrenches: dict[str, np.ndarray]
    base_wrench: np.ndarray
    links: dict[str, LinkMotion]


class MaximalOracle:
    """A tree of rigid bodies; ``base`` is "fixed", "floating" or "moving"."""

    def __init__(self, mechanism, gravity=(0.0, 0.0, -9.81), base="fixed"):
        self.gravity, self.base = np.array(gravity, float), base
        self.inertias = {link.name: link.inertia for link in mechanism.links}
        children = {joint.child for joint in mechanism.joints}
        (root,) = [name for name in self.inertias if name not in children]
        self.edges, self.nq, self.nv = [], 0, 0
        kind = "floating" if base == "floating" else "fixed"
        self._add(mechanism, Joint("base", kind, "world", root), WORLD)
        at = {edge.joint.name: edge for edge in self.edges}
        self.edges = [_following(edge, at) for edge in self.edges]

    def _add(self, mechanism, joint, parent):
        """Append a joint with its child link, then all beyond it, depth first."""
        own = joint.mimic is None
        nq, nv = own * coordinate_count(joint.kind), own * speed_count(joint.kind)
        q, v = slice(self.nq, self.nq + nq), slice(self.nv, self.nv + nv)
        self.edges.append(Edge(joint, parent, q, v))
        self.nq, self.nv = self.nq + nq, self.nv + nv
        index = len(self.edges) - 1
        for following in mechanism.joints:
            if following.parent == joint.child:
                self._add(mechanism, following, index)

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
    ):
        """Hybrid dynamics and all joint wrenches.

        Parameters
        ----------
        q, v : (nq,), (nv,)
        a, tau : (nv,), zero if not given
            ``a`` counts for controlled speeds, ``tau`` for the others.
        controlled : indices of speeds
        wrenches : link name -> (6,), in link axes about the link's origin
        base_motion : (pose (4, 4), body twist (6,), its derivative (6,)) of a "moving" base
        passive : (nv,), forces of dampers and springs that act beside ``tau``
        """
        q, v = np.asarray(q, float), np.asarray(v, float)
        a, tau, passive = (np.zeros(self.nv) if x is None else x for x in (a, tau, passive))
        steps = [self._step(edge, q, v[edge.v], base_motion) for edge in self.edges]
        links = self._links(steps)
        G, bias = self._relative_accelerations(steps, links)
        S = self._motion_subspaces(q, links)
        mass, loads = self._newton_euler(links, wrenches or {})
        n, nv = len(loads), self.nv
        A, b = np.zeros((2 * n + nv, 2 * n + nv)), np.zeros(2 * n + nv)
        acc, F, drive = slice(0, n), slice(n, 2 * n), slice(2 * n, 2 * n + nv)
        A[acc, acc], A[acc, F], b[acc] = mass, -G.T, loads
        A[F, acc], A[F, drive], b[F] = G, -S, bias
        held = np.isin(np.arange(nv), list(controlled))
        A[drive, drive] = np.diag(held.astype(float))
        A[drive, F] = S.T * ~held[:, None]
        b[drive] = np.where(held, a, tau + passive)
        x = np.linalg.solve(A, b)
        return self._solution(x[drive], S.T @ x[F] - passive, links, x[acc], x[F])

    def _step(self, edge, q, own_v, base_motion):
        """Motion across a joint whose accelerations are zero."""
        if edge.parent == WORLD and self.base == "moving":
            return Motion.along(*(np.asarray(x, float) for x in base_motion))
        own_q = q[edge.q]
        if edge.joint.mimic is not None:
            own_q = edge.factor * own_q + edge.offset
        return joint_motion(edge.joint, own_q, edge.factor * own_v, np.zeros(len(own_v)))

    def _links(self, steps):
        motions, links = [], []
        for edge, step in zip(self.edges, steps, strict=True):
            motions.append(step if edge.parent == WORLD else motions[edge.parent] @ step)
            links.append(moving_link(self.inertias[edge.joint.child], motions[-1]))
        return links

    def _relative_accelerations(self, steps, links):
        """Of each link's origin and attitude against its parent: ``G acc = S a + bias``."""
        G, bias = np.zeros((6 * len(links), 6 * len(links))), np.zeros(6 * len(links))
        for i, (edge, step, child) in enumerate(zip(self.edges, steps, links, strict=True)):
            row = slice(6 * i, 6 * i + 6)
            r = child.p_WB - child.p_WC
            G[row, row] = transport(r)
            R_WP, w, d = np.eye(3), np.zeros(3), np.zeros(3)
            if edge.parent != WORLD:
                parent = links[edge.parent]
                R_WP, w, d = parent.R_WB, parent.w_WB, child.p_WB - parent.p_WC
                G[row, 6 * edge.parent : 6 * edge.parent + 6] = -transport(d)
            linear = R_WP @ step.ddX[:3, 3] + 2.0 * np.cross(w, R_WP @ step.dX[:3, 3])
            angular = R_WP @ step.angular_acceleration + np.cross(w, R_WP @ step.angular_velocity)
            bias[row] = [*(linear + spin(w, d) - spin(child.w_WB, r)), *angular]
        return G, bias

    def _motion_subspaces(self, q, links):
        """Relative velocity of each link's origin and attitude for unit speeds, (6 n, nv)."""
        S = np.zeros((6 * len(links), self.nv))
        for i, edge in enumerate(self.edges):
            R_WP = np.eye(3) if edge.parent == WORLD else links[edge.parent].R_WB
            for k in range(edge.v.start, edge.v.stop):
                unit = np.eye(self.nv)[k][edge.v]
                step = self._step(edge, q, unit, None)
                S[6 * i : 6 * i + 3, k] = R_WP @ step.dX[:3, 3]
                S[6 * i + 3 : 6 * i + 6, k] = R_WP @ step.angular_velocity
        return S

    def _newton_euler(self, links, wrenches):
        """Mass matrix and loads about the centres of mass: gravity, spin, external wrenches."""
        mass, loads = np.zeros((6 * len(links), 6 * len(links))), np.zeros(6 * len(links))
        for i, (edge, link) in enumerate(zip(self.edges, links, strict=True)):
            at = 6 * i
            mass[at : at + 3, at : at + 3] = link.mass * np.eye(3)
            mass[at + 3 : at + 6, at + 3 : at + 6] = link.J
            loads[at : at + 3] = link.mass * self.gravity
            loads[at + 3 : at + 6] = -np.cross(link.w_WB, link.J @ link.w_WB)
            wrench = np.asarray(wrenches.get(edge.joint.child, np.zeros(6)), float)
            in_world = np.concatenate([link.R_WB @ wrench[:3], link.R_WB @ wrench[3:]])
            loads[at : at + 6] += transport(link.p_WB - link.p_WC).T @ in_world
        return mass, loads

    def _solution(self, a, tau, links, acc, F):
        named = {}
        for i, (edge, link) in enumerate(zip(self.edges, links, strict=True)):
            link.dv_WC, link.dw_WB = acc[6 * i : 6 * i + 3], acc[6 * i + 3 : 6 * i + 6]
            named[edge.joint.name] = (F[6 * i : 6 * i + 6].reshape(2, 3) @ link.R_WB).ravel()
        moving = {edge.joint.child: x for edge, x in zip(self.edges, links, strict=True)}
        base = named.pop(self.edges[0].joint.name)
        return Solution(a, tau, named, base, moving)


def _following(edge, at):
    """A mimic joint stands where the master at the end of its chain does."""
    factor, offset, end = 1.0, 0.0, edge
    while (mimic := end.joint.mimic) is not None:
        factor, offset = factor * mimic.multiplier, offset + factor * mimic.offset
        end = at[mimic.joint]
    return Edge(edge.joint, edge.parent, end.q, end.v, factor, offset)
