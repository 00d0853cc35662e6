"""Forces in contacts by choice: those of least norm, or those that keep friction cones.

In a state with accelerations ``a`` and forces ``tau``, wrenches ``f`` of contacts and multipliers
``lam`` of loops satisfy ``M a + h - tau = sum of J^T f + K^T lam``. Where they are not determined,
those of least norm are taken, or of those that keep the wrench cone of a rectangle with friction
[Caron, Pham, Nakamura 2015] the ones of least norm, or those that break it least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import checked
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.description.contact import CARRIED, Contact
from robodyn.errors import ActuationError, SettingsError
from robodyn.evaluator import Evaluator
from robodyn.model.changes.functions import SUFFIX, contacts_of
from robodyn.model.losses import refuse_losses
from robodyn.model.model import Model
from robodyn.tasks.quadratic_program import FAR, least
from robodyn.tolerances import CONTACT_FORCES_LEFT, JACOBIAN_RANK

#: Weight of a broken cone beside squares of forces.
BROKEN = 1.0e6


class ContactForces(Mapping[str, Array]):
    """Wrenches on links in contact, by link, shape (..., 6) [N, N m], in contact axes.

    Attributes
    ----------
    broken : mapping of link to ndarray, shape (...) [N]
        By how much friction, the normal force or the zero-moment point leaves what the surface can
        give; zero where it does not.
    """

    def __init__(self, wrenches: Mapping[str, Array], broken: Mapping[str, Array]) -> None:
        self._wrenches, self.broken = dict(wrenches), dict(broken)

    def __getitem__(self, link: str) -> Array:
        return self._wrenches[link]

    def __iter__(self) -> Iterator[str]:
        return iter(self._wrenches)

    def __len__(self) -> int:
        return len(self._wrenches)

    def __repr__(self) -> str:
        told = (f"{x}{' (broken)' if np.any(y) else ''}" for x, y in self.broken.items())
        return f"<ContactForces: {', '.join(told)}>"


def cone(contact: Contact) -> FloatArray:
    """Rows C (m, 6) of a contact's cone: ``C f <= 0`` for a wrench that it can give.

    Friction is that of a pyramid within the cone. Empty for a grip.
    """
    if contact.kind == "grip":
        return np.zeros((0, 6))
    mu, (X, Y) = contact.mu / math.sqrt(2.0), contact.sizes
    signs = (1.0, -1.0)
    rows = [[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]]
    rows += [[s, 0.0, -mu, 0.0, 0.0, 0.0] for s in signs]
    rows += [[0.0, s, -mu, 0.0, 0.0, 0.0] for s in signs]
    if contact.kind == "point":
        return np.array(rows)
    if math.isfinite(X):
        rows += [[0.0, 0.0, -X, 0.0, s, 0.0] for s in signs]
    if math.isfinite(Y) and Y:
        rows += [[0.0, 0.0, -Y, s, 0.0, 0.0] for s in signs]
    if math.isfinite(X) and math.isfinite(Y):  # [Caron, Pham, Nakamura 2015, (15) to (17)]
        for s in signs:
            for i in signs:
                for j in signs:
                    rows.append([i * Y, j * X, -mu * (X + Y), s * i * mu, s * j * mu, s])
    return np.array(rows)


def cones_of(contacts: Mapping[str, Contact], unknowns: int) -> FloatArray:
    """Rows of the cones of contacts, one after the other, of the components of all wrenches."""
    blocks = [cone(x)[:, CARRIED[x.kind]] for x in contacts.values()]
    C = np.zeros((sum(map(len, blocks)), unknowns))
    row = column = 0
    for block in blocks:
        C[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return C


class ContactWrenches:
    """Wrenches in the contacts of one robot."""

    def __init__(self, model: Model, evaluator: Evaluator, rows: ConstraintRows) -> None:
        self._model, self._evaluator, self._rows = model, evaluator, rows
        self.contacts = contacts_of(model.mechanism)

    def solve(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike, cones: bool
    ) -> ContactForces:
        """Wrenches by link; arguments as of `Robot.contact_forces`."""
        name, nv = self._model.mechanism.name, self._model.bodies.nv
        if not self.contacts:
            raise SettingsError(f"{name!r} has no contacts: give some by with_(contacts=) or load")
        refuse_losses(self._model, "contact_forces are")
        a, tau = checked("a", a, nv, of=name), checked("tau", tau, nv, of=name)
        M = self._evaluator.call("mass_matrix", (q,))
        h = self._evaluator.call("bias_forces", (q, v))
        wanted = (M @ a[..., None])[..., 0] + h - tau
        A = self.columns(q)
        batch = wanted.shape[:-1]
        A = np.broadcast_to(A, (*batch, *A.shape[-2:])).reshape(-1, *A.shape[-2:])
        each = [self._one(A[k], row, cones) for k, row in enumerate(wanted.reshape(-1, nv))]
        return self.by_link(np.reshape(each, (*batch, A.shape[-1])))

    def by_link(self, x: FloatArray) -> ContactForces:
        """The components of all wrenches, shape (..., n), by link."""
        wrenches, broken, first = {}, {}, 0
        for link, contact in self.contacts.items():
            carried = list(CARRIED[contact.kind])
            f = np.zeros((*x.shape[:-1], 6))
            f[..., carried] = x[..., first : first + len(carried)]
            first += len(carried)
            over = np.max(f @ self._cone[link].T, axis=-1, initial=0.0)
            scale = np.abs(f[..., :3]).max(axis=-1, initial=0.0)
            wrenches[link] = f
            broken[link] = np.where(over > CONTACT_FORCES_LEFT * scale, over, 0.0)
        return ContactForces(wrenches, broken)

    def columns(self, q: ArrayLike) -> FloatArray:
        """Generalised forces of the components of all wrenches, then of multipliers of loops."""
        found = [J(q)[..., carried, :] for J, carried in self._jacobians]
        if len(self._others):
            found.append(self._loop_jacobian(q)[..., self._others, :])
        if not found:
            return np.zeros((self._model.bodies.nv, 0))
        return np.asarray(np.swapaxes(np.concatenate(found, axis=-2), -1, -2))

    @cached_property
    def _jacobians(self) -> list[tuple[Callable[..., Array], list[int]]]:
        """Of each contact, the Jacobian of its frame, and the components that it carries."""
        found = []
        for link, contact in self.contacts.items():
            on = contact.on if isinstance(contact.on, str) else contact.on[0]
            J = self._evaluator.caller(
                "frame_jacobian", frame=link + SUFFIX, relative_to=on, axes="body"
            )
            found.append((J, list(CARRIED[contact.kind])))
        return found

    @cached_property
    def _loop_jacobian(self) -> Callable[..., Array]:
        return self._evaluator.caller("loop_jacobian")

    @cached_property
    def _cone(self) -> dict[str, FloatArray]:
        return {link: cone(contact) for link, contact in self.contacts.items()}

    @cached_property
    def _others(self) -> list[int]:
        """Rows of constraints that are no contacts."""
        names = [name.rpartition("[")[0] for name in self._rows.names]
        return [k for k, name in enumerate(names) if not self._is_contact(name)]

    def _is_contact(self, name: str) -> bool:
        return name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in self.contacts

    def _one(self, A: FloatArray, wanted: FloatArray, cones: bool) -> FloatArray:
        """All unknowns of one state."""
        x, _, rank, _ = np.linalg.lstsq(A, wanted, rcond=JACOBIAN_RANK)
        left = float(np.abs(A @ x - wanted).max(initial=0.0))
        if left > CONTACT_FORCES_LEFT * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            raise ActuationError(
                f"a and tau contradict each other: no forces in contacts and loops of "
                f"{self._model.mechanism.name!r} make up the {left:.3g} (N m, N) that they leave"
            )
        C = cones_of(self.contacts, len(x))
        of_links = [len(cone(contact)) for contact in self.contacts.values()]
        S = np.repeat(np.eye(len(of_links)), of_links, axis=0)
        if not cones or rank == len(x) or (C @ x <= 0.0).all():
            return np.asarray(x)
        free = np.linalg.svd(A)[2][rank:].T
        n, m = free.shape[1], len(of_links)
        H = np.diag(np.append(np.ones(n), np.full(m, BROKEN)))
        sums = np.block([[C @ free, -S]])
        upper = np.concatenate([np.full(n + m, FAR), -(C @ x)])
        lower = np.concatenate([np.full(n, -FAR), np.zeros(m), np.full(len(C), -FAR)])
        found = least(H, np.zeros(n + m), np.ascontiguousarray(sums), lower, upper)
        assert found is not None  # what breaks cones is always there
        return np.asarray(x + free @ found[:n])
