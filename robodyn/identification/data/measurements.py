"""`Measurements`: states of a motion and the measured forces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import expect, numbers
from robodyn.errors import IdentificationError, SettingsError, ShapeError
from robodyn.identification.data.filtering import filtered_states
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.trajectory.states.samples import Samples
from robodyn.simulation.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Measurements:
    """States of a motion, and the forces that motors gave there.

    The samples need not follow one another: those of several motions may be put together.

    Attributes
    ----------
    t : ndarray, shape (n,) [s]
    q : ndarray, shape (n, nq) [rad, m]
    v, a : ndarray, shape (n, nv) [rad/s, m/s], [rad/s^2, m/s^2]
    tau : ndarray, shape (n, nv) [N m, N]
        At the joints: torque of a motor's shaft times its gear ratio. Zero where there is no motor.
    base : BaseMotion or None
        Of a robot with a moving base.
    cutoff : float or None [Hz]
        Above it, forces hold noise alone. Samples are then even in time, and what is compared are
        measured and predicted forces behind one and the same filter; see `filtered`.

    Raises
    ------
    ShapeError
        For arrays that do not fit together, or hold numbers that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> robot, t = rd.load("pan_tilt"), np.arange(0.0, 2.0, 1e-3)
    >>> q = np.stack([np.sin(3.0 * t), 0.4 * np.cos(2.0 * t)], axis=1)
    >>> data = rd.Measurements.filtered(robot, t, q, np.zeros_like(q), cutoff=20.0)
    >>> data
    <Measurements: 1900 samples, 0.05 to 1.949 s>
    >>> bool(np.abs(data.v[:, 0] - 3.0 * np.cos(3.0 * data.t)).max() < 1e-3)
    True
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray
    tau: FloatArray
    base: BaseMotion | None = None
    cutoff: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("t", "q", "v", "a", "tau"):
            array = np.array(numbers(name, getattr(self, name)), float)
            if not np.isfinite(array).all():
                raise ShapeError(f"{name} holds numbers that are not finite", name=name)
            object.__setattr__(self, name, array)
        for name in ("q", "v", "a", "tau"):
            array = getattr(self, name)
            if self.t.ndim != 1 or array.ndim != 2 or array.shape[:1] != self.t.shape:
                raise ShapeError(
                    f"{name} has shape {array.shape} and t {self.t.shape}, expected one row for "
                    "each time",
                    name=name,
                    given=array.shape,
                    expected=(*self.t.shape, "n"),
                )

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        if not len(self):
            return "<Measurements without samples>"
        return f"<Measurements: {len(self)} samples, {self.t.min():.6g} to {self.t.max():.6g} s>"

    def __getitem__(self, index: Any) -> Measurements:
        states = {name: getattr(self, name)[index] for name in ("t", "q", "v", "a", "tau")}
        base = self.base
        if base is not None:
            base = BaseMotion(base.pose[index], base.twist[index], base.acceleration[index])
        return replace(self, **states, base=base)

    @classmethod
    @checked_arguments
    def filtered(
        cls, robot: Robot, t: ArrayLike, q: ArrayLike, tau: ArrayLike, *, cutoff: float
    ) -> Measurements:
        """Velocities and accelerations from noisy positions, by a filter that does not delay.

        Positions go through a Butterworth filter of fourth order, forwards and backwards in time,
        so that they are not late; their differences give velocities and accelerations. What the
        filter does not know well, one period of the cutoff at either end, is left out.

        `identify` then filters the forces in the same way, and the regressor with them: what the
        filter makes of the corners of dry friction, it makes on both sides. Of what comes out it
        takes about two samples a period of the cutoff, so that their errors are independent and
        error bars are right. Noise of the positions is not in them: it has to be small behind the
        filter.

        Of a closed linkage, the positions of the independent joints are filtered; the others follow
        with the loops closed.

        Parameters
        ----------
        robot : Robot
        t : array_like, shape (n,) [s]
            Evenly spaced.
        q : array_like, shape (n, nq) [rad, m]
            Of joints that turn about an axis or slide along one.
        tau : array_like, shape (n, nv) [N m, N]
            As measured.
        cutoff : float [Hz]
            Well above the frequencies of the motion, below those of the noise.

        Raises
        ------
        ShapeError, SettingsError
        """
        return cls(*filtered_states(robot, t, q, tau, cutoff), cutoff=cutoff)


def measured(robot: Robot, data: Measurements | Trajectory) -> Measurements:
    """Convert data to `Measurements` of a robot, and check them."""
    if isinstance(data, Trajectory):
        data = _of_trajectory(robot, data)
    expect("data", data, Measurements)
    if not len(data):
        raise IdentificationError("the data have no samples, too few for anything", parameters=())
    for name, width in (("q", robot.nq), ("v", robot.nv), ("a", robot.nv), ("tau", robot.nv)):
        array = getattr(data, name)
        if array.shape[1] != width:
            raise ShapeError(
                f"{name} has shape {array.shape}, and {robot.name!r} needs {(len(data), width)}",
                name=name,
                given=array.shape,
                expected=(len(data), width),
            )
    if robot.depends_on_time:
        raise SettingsError(f"{robot.name!r} depends on time: its parameters cannot be identified")
    if (data.base is not None) != (robot.base == "moving"):
        raise SettingsError(
            f"{robot.name!r} has a {robot.base} base, and the data "
            f"{'no' if data.base is None else 'a'} motion of a base"
        )
    return data


def _of_trajectory(robot: Robot, run: Trajectory) -> Measurements:
    acting = Samples(robot, run.t, run.q, run.v, run.a, run.tau, (), run.surroundings)
    if acting.wrenches:
        raise SettingsError(
            f"external wrenches act on {', '.join(acting.wrenches)} in this trajectory: the motors "
            "do not explain it"
        )
    if run.q.ndim != 2:
        raise ShapeError(
            f"q of the trajectory has shape {run.q.shape}, expected samples of one motion: "
            "motion(k) gives one",
            name="q",
            given=run.q.shape,
        )
    base = acting.base if robot.base == "moving" else None
    return Measurements(run.t, run.q, run.v, run.a, run.tau, base)
