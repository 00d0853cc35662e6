"""The energy audit of a motion: work of all forces, and the change of energy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.caller import warn
from robodyn.description.wrench import PointOfLink
from robodyn.errors import EnergyWarning, SettingsError
from robodyn.force_elements.common.link_element import WORLD
from robodyn.simulation.friction.resistances import dissipation_beyond_smooth
from robodyn.simulation.trajectory.states import energies
from robodyn.simulation.trajectory.states.event_record import EventRecord, sample_of
from robodyn.simulation.trajectory.states.interpolation import Indices, between
from robodyn.simulation.trajectory.states.samples import BLOCK, Samples
from robodyn.tolerances import ENERGY_ROUNDING, ENERGY_ROUNDING_SINGLE

#: Nodes of Gauss's quadrature of fourth order, as fractions of a step; both have the weight 1/2.
NODES = 0.5 - math.sqrt(1.0 / 12.0), 0.5 + math.sqrt(1.0 / 12.0)

#: Largest unexplained energy without a warning, as a fraction of the energy exchanged.
PART = 0.02

#: Names of the stored energies, and of the powers that are integrated over time, in words.
STORED = ("kinetic", "gravitational", "elastic")
FLOWS = {
    "forces": "by forces", "wrenches": "by wrenches", "base": "by the base",
    "constraints": "by constraints", "dissipated": "dissipated",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class EnergyAudit:
    """Energy of a motion, and the work of all forces, whose sum should be the same.

    All arrays have the shape (n, ...) [J]. Work is counted from the first sample on. It is the
    integral of powers between samples, with forces held from sample to sample, and those of driven
    joints from their motion. Its error is of fourth order in the distance of samples. A simulation
    knows the forces of a digital controller within steps, too, unless there are very many; of
    samples that are several steps apart, or were loaded, they are not known there, and the error is
    of first order. Of a motion that was loaded, wrenches are known at samples alone, and taken as
    linear between them: the error of their work is of second order.

    Attributes
    ----------
    t : ndarray, shape (n,) [s]
    kinetic, gravitational, elastic : ndarray
        Stored energies.
    forces : ndarray
        Work of the forces ``tau``: of motors, and of what drives joints.
    wrenches : ndarray
        Work of external wrenches.
    base : ndarray
        Work of what moves a moving base.
    constraints : ndarray
        Work of rheonomic constraints, which depend on time.
    dissipated : ndarray
        Energy lost in dampers and friction.
    impacts : ndarray
        Energy lost where speeds jumped.
    unexplained : ndarray
        Change of energy less all that: the error of the integrator, and of the audit itself.

    Examples
    --------
    >>> import robodyn as rd
    >>> run = rd.simulate(rd.load("double_pendulum"), q0=[1.0, 0.5], duration=1.0)
    >>> bool(abs(run.audit.unexplained).max() < 1e-6)     # J
    True
    """

    t: FloatArray
    kinetic: FloatArray
    gravitational: FloatArray
    elastic: FloatArray
    forces: FloatArray
    wrenches: FloatArray
    base: FloatArray
    constraints: FloatArray
    dissipated: FloatArray
    impacts: FloatArray
    unexplained: FloatArray

    @property
    def stored(self) -> FloatArray:
        """Kinetic, gravitational and elastic energy together, shape (n, ...) [J]."""
        return self.kinetic + self.gravitational + self.elastic

    @property
    def exchanged(self) -> FloatArray:
        """Energy that was converted or transferred during the motion, shape (...) [J]."""
        parts = (getattr(self, name) for name in (*STORED, *FLOWS, "impacts"))
        return np.asarray(0.5 * sum(np.abs(np.diff(x, axis=0)).sum(axis=0) for x in parts))

    def __str__(self) -> str:
        if not len(self.t):
            return "no samples"
        flows = [(what, getattr(self, name)) for name, what in FLOWS.items()]
        flows = [(what, x) for what, x in flows if what == "by forces" or np.any(x)]
        flows = [("stored", self.stored - self.stored[:1]), *flows]
        flows += [("lost in impacts", self.impacts)] if np.any(self.impacts) else []
        told = ", ".join(f"{what} {float(np.sum(x[-1])):.4g} J" for what, x in flows)
        worst = float(np.abs(self.unexplained).max(initial=0.0))
        exchanged = float(np.max(self.exchanged, initial=0.0))
        share = f" ({100.0 * worst / exchanged:.2g} % of what was exchanged)" if exchanged else ""
        return f"{told}; unexplained at most {worst:.3g} J{share}"

    def __repr__(self) -> str:
        return f"<EnergyAudit: {self}>"


def audit_of(
    phases: Sequence[Samples],
    events: Sequence[EventRecord],
    whole: Sequence[tuple[Samples, IntArray] | None],
) -> EnergyAudit:
    """The energies of a motion, from the samples of its phases.

    whole: Those of each phase with others within steps, at which forces changed, where there are,
        and which of them are those of the phase.
    Raises SettingsError: If a power is not known: that of joints that depend on time, and that of
        dampers, damping and friction between the ground and a robot with a moving base.
    """
    for x in phases:
        _check_known(x)
    known = zip(phases, whole, strict=True)
    found = [{"t": x.t, **_stored(x), **_flows(*(more or (x,)))} for x, more in known]
    joined = {name: np.concatenate([x[name] for x in found]) for name in found[0]}
    works = {name: np.cumsum(joined.pop(name), axis=0) for name in FLOWS}
    lost: FloatArray = np.zeros_like(joined["kinetic"])
    for event in events:
        at: Any = (slice(sample_of(joined["t"], event.time), None), *event.motion)
        lost[at] += event.energy_loss
    lost = lost - lost[:1]
    total = joined["kinetic"] + joined["gravitational"] + joined["elastic"]
    put_in = works["forces"] + works["wrenches"] + works["base"] + works["constraints"]
    unexplained = total - total[:1] - put_in + works["dissipated"] + lost
    return EnergyAudit(**joined, **works, impacts=lost, unexplained=unexplained)


def _stored(samples: Samples) -> dict[str, FloatArray]:
    """Stored energies by their kind, shape (n, ...)."""
    kinetic = samples.computed(energies.kinetic_energy)
    elastic = samples.computed(energies.elastic_energy)
    gravitational = samples.computed(energies.potential_energy) - elastic
    return {"kinetic": kinetic, "gravitational": gravitational, "elastic": elastic}


def check_order(t: FloatArray) -> None:
    """Refuse samples that are not in the order of time."""
    back = np.flatnonzero(np.diff(np.atleast_1d(t)) < 0.0)
    if len(back):
        raise SettingsError(
            f"samples run back in time, from {t[back[0]]:.6g} to {t[back[0] + 1]:.6g} s: energies "
            "are added up in the order of time, so take the audit of the motion itself"
        )


def warn_of_unexplained(audit: EnergyAudit, name: str) -> None:
    """Warn once if too much energy is unexplained.

    name: Of the robot.
    """
    if len(audit.t) < 2:
        return
    unexplained, exchanged = np.abs(audit.unexplained), audit.exchanged
    rounding = ENERGY_ROUNDING_SINGLE if audit.stored.dtype == np.float32 else ENERGY_ROUNDING
    allowed = PART * exchanged + rounding * np.abs(audit.stored).max(axis=0)
    excess = np.ravel(unexplained.max(axis=0) - allowed)
    if not (excess > 0.0).any():
        return
    worst = int(excess.argmax())
    missing = audit.unexplained.reshape(len(audit.t), -1)[:, worst]
    k = int(np.abs(np.diff(missing)).argmax())
    message = EnergyWarning(
        f"the energies of the motion of {name!r} do not add up: {np.abs(missing).max():.3g} J are "
        f"unexplained where {np.ravel(exchanged)[worst]:.3g} J are exchanged, most of them in the "
        f"step that ends at t = {audit.t[k + 1]:.6g} s. Powers are taken within the steps between "
        "samples, where friction may be steeper than these tell: take shorter steps, and every=1"
    )
    warn(message)


def _check_known(samples: Samples) -> None:
    robot = samples.robot
    moved = [x.description.name for x in robot.model.bodies if x.joint.rheonomic]
    if moved:
        raise SettingsError(
            f"joints of {robot.name!r} move with time ({', '.join(moved)}): what they put in is "
            "not known, and so energies cannot be added up"
        )
    if robot.base == "moving":
        taking = [x for x in robot.mechanism.link_elements if x.dissipates]
        grounded = [x.name for x in taking if WORLD in {link for link, _ in x.places}]
        grounded += [x.name for x in robot.forces if x.dissipates and x.grounded]
        if grounded:
            raise SettingsError(
                f"dampers and forces between the ground and links of {robot.name!r}, whose base "
                f"moves ({', '.join(grounded)}): what they take is not known"
            )
        if any(plane.dissipates for plane in robot.ground):
            raise SettingsError(
                f"the ground rubs or dampens points of {robot.name!r}, whose base moves: what it "
                "takes is not known"
            )
    q = samples.q
    ended = np.flatnonzero(np.isnan(q).any(axis=tuple(range(1, q.ndim))))
    if len(ended):
        raise SettingsError(
            f"a motion has ended before t = {samples.t[ended[0]]:.6g} s, while others go on: ask "
            "for the audit of one by run.motion(k)[:n].audit, with the number n of its samples"
        )
    if np.isnan(samples.tau).any():
        raise SettingsError("tau is not known at all samples, and so nor is the work it does")


def _flows(samples: Samples, rows: IntArray | None = None) -> dict[str, FloatArray]:
    """Work in the step before each sample by its kind, shape (n, ...).

    rows, optional (n,): Samples between which work is added up. Default: all.
    """
    flows = {name: np.zeros(samples.q.shape[:-1]) for name in FLOWS}
    moving = np.flatnonzero(np.diff(samples.t) > 0.0)
    size = max(1, BLOCK // max(1, math.prod(samples.batch)))
    for first in range(0, len(moving), size):
        k = moving[first : first + size]
        h = (samples.t[k + 1] - samples.t[k]).reshape(-1, *[1] * len(samples.batch))
        for node in NODES:
            for name, power in _powers(_within(samples, k, node)).items():
                flows[name][k + 1] += 0.5 * h * power
    if rows is None:
        return flows
    sums = {name: np.cumsum(x, axis=0)[rows] for name, x in flows.items()}
    return {name: np.diff(x, axis=0, prepend=np.zeros_like(x[:1])) for name, x in sums.items()}


def _within(samples: Samples, k: Indices, s: float) -> Samples:
    """States at a fraction of some steps, with the accelerations and forces there."""
    robot, driven = samples.robot, samples.driven
    q, v, a = between(samples, k, np.full(len(k), s))
    t = samples.t[k] + s * (samples.t[k + 1] - samples.t[k])
    now = robot.at(t.reshape(-1, *[1] * len(samples.batch)))
    setup = robot.model.setup
    moved = driven or robot.base == "moving" or setup.moves_by_itself or setup.gear_losses
    if robot.nc and moved:
        q, v = now.closed_state(q, v)
    surroundings = samples.surroundings.at_samples(t, q, v)
    tau, friction = np.asarray(samples.tau[k]), samples.friction
    if friction is not None:  # forces that drive joints are smooth within a mode
        tau[..., list(driven)] += s * (samples.tau[k + 1] - tau)[..., list(driven)]
    x = Samples(robot, t, q, v, a, tau, driven, surroundings, friction)
    if not driven or friction is not None:
        return x
    free = [column for column in range(robot.nv) if column not in driven]
    wanted, held = a[..., list(driven)], x.tau[..., free]
    a, tau = now.driven_dynamics(
        q, v, wanted, held, driven, base=x.base, wrenches=x.wrenches or None
    )
    return Samples(robot, t, q, v, a, tau, driven, surroundings)


def _twist(x: Samples, place: str) -> FloatArray:
    """Twist of the point where a wrench acts, in the axes of the wrench, shape (n, ..., 6)."""
    if not isinstance(place, PointOfLink):
        return x.robot.frame_twist(x.q, x.v, place, base=x.base)
    found = x.robot.frame_twist(x.q, x.v, place.link, axes=place.axes, base=x.base)
    arm = np.array(place.at)
    if place.axes == "world":
        arm = x.robot.frame_pose(x.q, place.link, base=x.base)[..., :3, :3] @ arm
    v, w = found[..., :3], found[..., 3:]
    return np.concatenate([v + np.cross(w, arm), w], axis=-1)


def _powers(x: Samples) -> Mapping[str, FloatArray]:
    """Powers at states by their kind, shape (n, ...) [W]."""
    robot, base = x.robot.at(x.time), x.base
    friction = robot.passive_forces(x.q, x.v, base=base) - robot.elastic_forces(x.q, base=base)
    gears = energies.gear_friction(x)
    more = 0.0 if x.friction is None else dissipation_beyond_smooth(robot, x.friction, x.q, x.v)
    wrenches, carried = np.zeros(x.q.shape[:-1]), np.zeros(x.q.shape[:-1])
    for place, wrench in x.wrenches.items():
        wrenches = wrenches + np.sum(wrench * _twist(x, place), axis=-1)
    if base is not None:
        carried = np.sum(energies.joint_loads([x], None)["base"] * base.twist, axis=-1)
    return {
        "forces": np.sum(x.tau * x.v, axis=-1),
        "wrenches": wrenches,
        "base": carried,
        "constraints": _power_of_constraints(x),
        "dissipated": more - np.sum((friction - gears) * x.v, axis=-1),
    }


def _power_of_constraints(x: Samples) -> FloatArray:
    """Power of rheonomic constraints, shape (n, ...) [W]: multipliers times their speeds."""
    if not (x.robot.nc and x.robot.model.setup.moves_by_itself):
        return np.zeros(x.q.shape[:-1])
    robot = x.robot.at(x.time)
    found = robot.constrained_dynamics(x.q, x.v, x.tau, base=x.base, wrenches=x.wrenches or None)
    return np.asarray(-np.sum(found.multipliers * robot.loop_velocity_offset(x.q), axis=-1))
