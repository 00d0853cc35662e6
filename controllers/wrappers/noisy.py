"""A controller behind sensors with noise."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import wrong_shape
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State
from robodyn.tolerances import SAME_NOISE

from ..support.gains import checked_call
from ..wrappers import wrapping


@dataclass(frozen=True, eq=False)
class Noisy:
    """Another controller behind sensors with white, normally distributed noise.

    The noise is a function of seed and time alone, so it does not depend on earlier calls. With
    many motions at once, each has its own noise, and the first the same as a single motion, also if
    motions are simulated one by one because of events.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    position : float or array_like, shape (nv,) [rad, m]
        Standard deviation of measured positions, along each speed.
    velocity : float or array_like, shape (nv,) [rad/s, m/s]
        Standard deviation of measured speeds.
    seed : int
    robot : Robot, optional
        Needed where positions do not add, such as quaternions. Default: that of the controller.
    motion : int
        Index of the motion among many, or of the first of several.

    Raises
    ------
    SettingsError
        For deviations that are negative or not finite, and a seed or motion that is not an integer
        >= 0, or has too many bits (seeds 128, motions 64).
    ShapeError
        If the controller is no function; when called, if there are other numbers of deviations
        than speeds.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation, Noisy
    >>> robot = rd.load("double_pendulum")
    >>> noisy = Noisy(GravityCompensation(robot), position=1e-3, seed=1, robot=robot)
    >>> run = rd.simulate(robot, noisy, q0=[0.5, 0.2], duration=0.01)
    >>> run.q.shape
    (11, 2)
    """

    #: Linear models leave it out.
    adds_noise: ClassVar[bool] = True

    controller: Controller
    position: ArrayLike = 0.0
    velocity: ArrayLike = 0.0
    seed: int = 0
    robot: Robot | None = None
    motion: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        for name in ("position", "velocity"):
            given = np.array(getattr(self, name), float)
            if not np.all(np.isfinite(given) & (given >= 0.0)):
                raise SettingsError(
                    f"{name} is {getattr(self, name)!r}, expected standard deviations >= 0"
                )
            given.flags.writeable = False
            object.__setattr__(self, name, given)
        for name, bits in (("seed", 128), ("motion", 64)):
            x = getattr(self, name)
            if not 0 <= x < 2**bits:
                raise SettingsError(
                    f"{name} is {x!r}, expected a whole number >= 0 of {bits} bits at most"
                )

    __call__ = wrapping.first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """The state of the controller in it."""
        return {INNER: wrapping.initial_state_of(self.controller, self._seen(sample))}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces of the controller for the measured state."""
        tau, inner = wrapping.update_of(self.controller, self._seen(sample), state[INNER])
        return tau, {INNER: inner}

    def _seen(self, sample: ControllerSample) -> ControllerSample:
        q, v = self.measured(sample.t, sample.q, sample.v)
        return sample._replace(q=q, v=v)

    @checked_call
    def measured(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Measured position and velocity.

        Parameters
        ----------
        t : float [s]
        q, v : ndarray, shape (..., nq), (..., nv)
        """
        q, v = np.asarray(q), np.asarray(v)
        for name in ("position", "velocity"):
            shape = np.shape(getattr(self, name))
            if shape not in ((), (1,), v.shape[-1:]):
                raise wrong_shape(
                    name, shape, f"one standard deviation or {v.shape[-1]}", v.shape[-1:]
                )
        counter = [round(t / SAME_NOISE) % 2**64, 0, 0, 0]
        bits = np.random.Philox(key=self.seed, counter=np.array(counter, np.uint64))
        shape = (*v.shape[:-1], 2, v.shape[-1])
        count, before = math.prod(shape), 2 * v.shape[-1] * self.motion
        noise = np.random.Generator(bits).standard_normal(before + count)[before:].reshape(shape)
        off: Any = np.asarray(self.position) * noise[..., 0, :]
        speed = v + np.asarray(self.velocity) * noise[..., 1, :]
        if q.shape[-1] == v.shape[-1]:
            return q + off, speed
        if self.robot is None:
            raise ShapeError(
                f"q has {q.shape[-1]} numbers and v {v.shape[-1]}: positions do not add; give "
                "Noisy robot=, whose coordinates they are",
                name="robot",
            )
        return self.robot.integrate(q, off), speed

    def for_motion(self, k: int) -> Noisy:
        """The controller of the k-th of these motions alone."""
        return dataclasses.replace(self, motion=self.motion + k)
