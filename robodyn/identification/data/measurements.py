"""`Measurements`: states of a motion, filtered from positions, and the measured forces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import expect, number, numbers
from robodyn.errors import IdentificationError, SettingsError, ShapeError
from robodyn.identification.data.independent_motion import expanded, refuse_several
from robodyn.motion.base_motion import BaseMotion
from robodyn.motion.samples import sample_times, samples
from robodyn.robot import Robot
from robodyn.simulation.trajectory.states.samples import Samples
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import EVEN_RECORD


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


ORDER = 4
#: Number of samples by which the data are extended at either end before filtering.
PADDING = 200


def filtered_states(
    robot: Robot, t: ArrayLike, q: ArrayLike, tau: ArrayLike, cutoff: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """``t, q, v, a, tau``; see `Measurements.filtered`."""
    times = sample_times(t, 4)
    positions = samples("q", q, len(times), robot.nq)
    forces = samples("tau", tau, len(times), robot.nv)
    for name in robot.reduced().independent_joints:
        refuse_several(robot, name)
    step = _step(times, cutoff)
    keep = _within(len(times), step, cutoff)
    smooth = _smooth(positions, step, cutoff)
    x, dx, ddx = (part[keep] for part in (smooth, *_rates(smooth, step)))
    if robot.nc:
        x, dx, ddx = _closed(robot, x, dx, ddx)
    return times[keep], x, dx, ddx, forces[keep]


def thinned(t: FloatArray, cutoff: float, *arrays: FloatArray) -> tuple[FloatArray, ...]:
    """Filter arrays of samples, and keep about two samples per period of the cutoff.

    t (n,) [s]
    cutoff [Hz]
    *arrays (n, ...)
    """
    step = _step(t, cutoff)
    keep = _within(len(t), step, cutoff)
    some = slice(keep.start, keep.stop, max(1, int(0.5 / (cutoff * step))))
    return t[some], *(_smooth(x, step, cutoff)[some] for x in arrays)


def _step(times: FloatArray, cutoff: float) -> float:
    """Time step of evenly spaced samples."""
    step = float(np.diff(times).mean()) if len(times) > 1 else 0.0
    if not step > 0.0 or np.abs(np.diff(times) - step).max() > EVEN_RECORD * step:
        raise SettingsError("times are not evenly spaced: a filter needs samples at an even rate")
    if not 0.0 < number("cutoff", cutoff, "Hz") < 0.25 / step:
        raise SettingsError(
            f"cutoff is {cutoff:g} Hz, expected less than a quarter of the {1.0 / step:.6g} "
            "samples a second"
        )
    return step


def _smooth(x: FloatArray, step: float, cutoff: float) -> FloatArray:
    from scipy.signal import butter, sosfiltfilt

    sections = butter(ORDER, 2.0 * step * cutoff, output="sos")
    return np.asarray(sosfiltfilt(sections, x, axis=0, padlen=min(len(x) - 1, PADDING)))


def _rates(x: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Rates by central differences of fourth order; zero for the two samples at either end."""
    v, a = np.zeros_like(x), np.zeros_like(x)
    m2, m1, at, p1, p2 = x[:-4], x[1:-3], x[2:-2], x[3:-1], x[4:]
    v[2:-2] = (m2 - 8.0 * m1 + 8.0 * p1 - p2) / (12.0 * step)
    a[2:-2] = (-m2 + 16.0 * m1 - 30.0 * at + 16.0 * p1 - p2) / (12.0 * step**2)
    return v, a


def _within(count: int, step: float, cutoff: float) -> slice:
    """Samples at which the effects of the ends have died out."""
    edge = max(2, round(1.0 / (cutoff * step)))
    if count < 3 * edge:
        raise SettingsError(
            f"{count} samples are too few for a cutoff of {cutoff:g} Hz: {2 * edge} of them are "
            "left out at the ends"
        )
    return slice(edge, count - edge)


def _closed(
    robot: Robot, x: FloatArray, dx: FloatArray, ddx: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """States with closed loops, from the motion of the independent joints."""
    reduced = robot.reduced()
    joints = [robot.joints[name] for name in reduced.independent_joints]
    at, own = [joint.q.start for joint in joints], [joint.v.start for joint in joints]
    near = robot.assemble(x[0], beyond_limits=True)
    u = (x - robot.neutral())[:, at]
    return expanded(reduced, u, dx[:, own], ddx[:, own], near)
