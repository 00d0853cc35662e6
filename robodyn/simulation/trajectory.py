"""What a simulation returns."""

from __future__ import annotations

import csv
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError, ShapeError
from robodyn.files import as_path, writing
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.events.record import EventRecord
from robodyn.simulation.limits import LimitViolation, limit_violations

__all__ = ["Trajectory", "speed_names", "trajectory_of"]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Samples of a motion; indexing and slicing give samples.

    Attributes
    ----------
    t : ndarray, shape (n,) [s]
    q : ndarray, shape (n, ..., nq) [rad, m]
    v, a : ndarray, shape (n, ..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
    tau : ndarray, shape (n, ..., nv) [N m, N]
        Applied by the controller, and by what drives joints.
    energy : ndarray, shape (n, ...) [J]
        Kinetic and potential.
    loop_residual : ndarray, shape (n, ...) [m, rad]
        Largest gap of closed loops; zeros for a tree.
    joint_names : tuple of str
        One a column of ``tau``.
    robot : Robot or None
        What moved, where that is known; the first, where an event changed it.
    events : tuple of EventRecord
        What happened, in the order of time.
    phases : tuple of Trajectory
        The motion in pieces, in each of which one robot moves and the same joints are driven;
        empty if it is one piece. Their samples are those of the whole: at an event that changes
        something there is one just before it and one just after it.
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray
    tau: FloatArray
    energy: FloatArray
    loop_residual: FloatArray
    joint_names: tuple[str, ...] = ()
    robot: Robot | None = field(default=None, repr=False)
    events: tuple[EventRecord, ...] = ()
    phases: tuple[Trajectory, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        if not self.t.ndim:
            return f"<State at {self.t:g} s: q = {self.q}, v = {self.v}>"
        if not len(self):
            return "<Trajectory without samples>"
        of = f" of {self.robot.name!r}" if self.robot is not None else ""
        return f"<Trajectory{of}: {len(self)} samples, {self.t[0]:g} to {self.t[-1]:g} s>"

    def __getitem__(self, index: Any) -> Trajectory:
        parts = (self.t, self.q, self.v, self.a, self.tau, self.energy, self.loop_residual)
        t, q, v, a, tau, energy, residual = (part[index] for part in parts)
        return Trajectory(t, q, v, a, tau, energy, residual, self.joint_names, self.robot)

    @property
    def branch_changes(self) -> FloatArray:
        """Times [s] of the first samples beyond postures where two ways to assemble a linkage meet.

        There it may have flipped from one to the other; see `robodyn.Robot.branch_sign`. None for
        a tree.
        """
        if self.robot is None or not self.robot.nc:
            return np.zeros(0)
        t = self.t.reshape(len(self), *[1] * (self.q.ndim - 2))
        at = t if self.robot.depends_on_time else None
        sign = self.robot.branch_sign(self.q, path=True, t=at).reshape(len(self), -1)
        return np.asarray(self.t[1:][(sign[1:] != sign[:-1]).any(axis=1)])

    @property
    def limit_violations(self) -> tuple[LimitViolation, ...]:
        """The limits of joints that the motion leaves, with when and by how much; first ones first.

        Positions and velocities of all joints, cut and following ones too, and efforts (``tau``)
        are looked at, at all samples; a limit of zero for a velocity or an effort counts as not
        given. The robot has to be known.
        """
        if self.robot is None:
            raise SettingsError(
                "this trajectory does not know what moved, and so no limits: give it a robot, "
                "dataclasses.replace(trajectory, robot=robot)"
            )
        states = (self.t, self.q, self.v, self.tau)
        t, q, v, tau = states if self.t.ndim else (x[None] for x in states)
        return limit_violations(self.robot, t, q, v, tau)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file that is complete or not there at all.

        ``.npz``: all arrays. ``.csv``: one row a sample, with a header. ``.mcap``: joint states, as
        `robodyn.ros.bag.write_bag` writes them.

        Raises
        ------
        MissingExtraError
            For ``.mcap`` without the extra ``bag``.
        MissingFileError, FileError
            If the folder is not there or cannot be written to.
        ShapeError
            For other endings, and for a CSV or a bag of several motions at once.
        """
        target = as_path("path", path)
        if target.suffix == ".mcap":
            from robodyn.bags import write_motion

            motion = (self.q, self.v, self.a, self.tau)
            return write_motion(target, self.robot, self.joint_names, self.t, motion)
        writers = {".npz": self._write_npz, ".csv": self._write_csv}
        if target.suffix not in writers:
            raise ShapeError(
                f"cannot save to {target.name!r}: expected a name ending in .npz, .csv or .mcap",
                name="path",
                given=target.suffix,
                expected=(*writers, ".mcap"),
            )
        with writing(target):
            handle, name = tempfile.mkstemp(dir=target.parent, suffix=target.suffix)
            os.close(handle)
            try:
                writers[target.suffix](name)
                os.replace(name, target)
            except BaseException:
                os.unlink(name)
                raise

    def _write_npz(self, name: str) -> None:
        np.savez(
            name,
            t=self.t,
            q=self.q,
            v=self.v,
            a=self.a,
            tau=self.tau,
            energy=self.energy,
            loop_residual=self.loop_residual,
            joint_names=np.array(self.joint_names),
        )

    def _write_csv(self, name: str) -> None:
        if self.q.ndim != 2:
            raise ShapeError(
                f"a CSV holds one motion; q has shape {self.q.shape}", name="q", given=self.q.shape
            )
        nq, nv = self.q.shape[1], self.v.shape[1]
        head = ["t"] + [f"q{k}" for k in range(nq)]
        for letter in ("v", "a", "tau"):
            head += [f"{letter}{k}" for k in range(nv)]
        head += ["energy", "loop_residual"]
        with open(name, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            columns = (self.t[:, None], self.q, self.v, self.a, self.tau)
            ends = (self.energy[:, None], self.loop_residual[:, None])
            writer.writerows(np.hstack([*columns, *ends]).tolist())

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw positions, velocities, torques and energy into an image file.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed (extra ``plot``).
        """
        from robodyn.simulation.plots import draw

        rows = (
            (self.q, "position [rad, m]"),
            (self.v, "velocity [rad/s, m/s]"),
            (self.tau, "torque [N m, N]"),
            (self.energy, "energy [J]"),
        )
        draw(path, self.t, rows)


def speed_names(robot: Robot) -> tuple[str, ...]:
    """A name for each speed: the joint's, or ``"joint[k]"`` where it has several."""
    names: list[str] = []
    for name in robot.joint_names:
        at = robot.joints[name].v
        width = at.stop - at.start
        names += [name] if width == 1 else [f"{name}[{k}]" for k in range(width)]
    return tuple(names)


def trajectory_of(
    robot: Robot,
    t: FloatArray,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    tau: FloatArray,
    base: BaseMotion | None,
) -> Trajectory:
    """A trajectory of a robot from its samples, with its energy and the gaps of its loops."""
    time = t.reshape(len(t), *[1] * (q.ndim - 2)) if robot.depends_on_time else None
    energy = robot.kinetic_energy(q, v, base=base, t=time)
    energy = energy + robot.potential_energy(q, base=base, t=time)
    gaps = np.abs(robot.loop_residual(q, t=time)).max(axis=-1) if robot.nc else 0.0 * energy
    return Trajectory(t, q, v, a, tau, energy, gaps, speed_names(robot), robot)
