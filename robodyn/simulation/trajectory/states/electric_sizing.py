"""What motors of a motion take as electric machines: currents, voltages, losses, temperatures."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Motor, Winding


@dataclass(frozen=True)
class ElectricSizing:
    """Current, voltage, losses and heat of one electric motor in a motion.

    For simultaneous motions, each number is the largest of all.

    Attributes
    ----------
    peak_current, rms_current : float [A]
        Largest absolute value, and root mean square over time.
    peak_voltage : float [V]
        Largest absolute voltage that the motor needs at its terminals.
    copper_loss : float [W]
        Mean over time of ``R i^2``.
    peak_supply : float [W]
        Largest electric power that the motor draws.
    energy_drawn, energy_fed_back : float [J]
        In the whole motion, from the supply, and back to it where power is negative.
    winding_temperature : float [degrees Celsius]
        The largest one, if the motion is repeated until it no longer rises; NaN without `Winding`.
    current_limit, voltage_limit, temperature_limit : float [A], [V], [degrees Celsius]
        Infinite where none is given.
    ambient : float [degrees Celsius]
        Of the surroundings.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation
    >>> motor = rd.Actuator(gear_ratio=50.0, motor=rd.Motor(0.1, 0.5, current=4.0))
    >>> robot = rd.load("double_pendulum", actuators={"shoulder": motor, "elbow": rd.Actuator()})
    >>> law = GravityCompensation(robot)
    >>> run = rd.simulate(robot, law, q0=[1.0, 0.0], duration=0.1, limits="ignore")
    >>> row = run.sizing()["shoulder"]
    >>> round(row.electric.peak_current, 2), round(row.electric.copper_loss, 2)
    (3.3, 5.45)
    """

    peak_current: float
    rms_current: float
    peak_voltage: float
    copper_loss: float
    peak_supply: float
    energy_drawn: float
    energy_fed_back: float
    winding_temperature: float
    current_limit: float = math.inf
    voltage_limit: float = math.inf
    temperature_limit: float = math.inf
    ambient: float = 25.0

    @property
    def utilisation(self) -> dict[str, float]:
        """Current, voltage and temperature of the winding over their limits; 0 without limit.

        Of the temperature it is the rise over the surroundings.
        """
        rise, top = (x - self.ambient for x in (self.winding_temperature, self.temperature_limit))
        warm = 0.0 if math.isinf(top) else rise / top if top > 0.0 else math.inf
        return {
            "current": self.peak_current / self.current_limit,
            "voltage": self.peak_voltage / self.voltage_limit,
            "temperature": warm,
        }

    @property
    def fits(self) -> bool:
        """Whether no limit is left."""
        return max(self.utilisation.values()) <= 1.0


@dataclass(frozen=True, eq=False)
class ElectricSamples:
    """A motor at all samples, each array of shape (n, ...).

    currents, voltages, powers [A], [V], [W]
    temperatures [degrees Celsius]: Of the winding, which starts as warm as the surroundings.
    """

    motor: Motor
    t: FloatArray
    currents: FloatArray
    voltages: FloatArray
    temperatures: FloatArray

    @property
    def powers(self) -> FloatArray:
        """Electric power drawn."""
        return np.asarray(self.currents * self.voltages)


def electric_samples(
    motor: Motor,
    t: FloatArray,
    torque: FloatArray,
    speed: FloatArray,
    ambient: float,
    voltage: FloatArray | None = None,
) -> ElectricSamples:
    """Currents and voltages for torques and speeds at the shaft, shape (n, ...).

    voltage, optional: Where it is known, as the motor is commanded by it.
    """
    i = torque / motor.torque_constant
    u = motor.resistance * i + motor.torque_constant * speed
    if voltage is not None:
        u = voltage
    elif motor.inductance:
        u = u + motor.inductance * _rates(t, i)
    warm = np.full_like(i, np.nan)
    if motor.thermal is not None:
        warm = ambient + heated(motor.thermal, t, motor.resistance * i * i)[0]
    return ElectricSamples(motor, t, i, u, warm)


def _rates(t: FloatArray, x: FloatArray) -> FloatArray:
    """Slope over time; none where samples are at one instant, at events."""
    h = np.diff(t).reshape(-1, *[1] * (x.ndim - 1))
    if not len(h):
        return np.zeros_like(x)
    slopes = np.diff(x, axis=0) / np.where(h > 0.0, h, np.inf)
    ahead, behind = np.concatenate([slopes, slopes[-1:]]), np.concatenate([slopes[:1], slopes])
    h = np.concatenate([h[:1], h, h[-1:]])
    span = h[1:] + h[:-1]
    mean = (ahead * h[:-1] + behind * h[1:]) / np.where(span > 0.0, span, 1.0)
    inside = (h[1:] > 0.0) & (h[:-1] > 0.0)
    return np.asarray(np.where(inside, mean, np.where(h[1:] > 0.0, ahead, behind)))


def heated(winding: Winding, t: FloatArray, loss: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rise of the winding's temperature over the surroundings, shape (n, ...), of a loss [W].

    Exact for a loss that is constant in each step, at the mean of its ends.

    Returns once: From the temperature of the surroundings on.
    Returns again: Where the motion is repeated until it no longer rises.
    """
    (r1, r2), (t1, t2) = winding.resistances, winding.time_constants
    c1, c2 = t1 / r1, t2 / r2
    # with the roots of the capacities the system is symmetric: its modes only decay
    A = np.array([[-1 / (r1 * c1), 0.0], [0.0, -1 / (r1 * c2) - 1 / (r2 * c2)]])
    A[0, 1] = A[1, 0] = 1 / (r1 * math.sqrt(c1 * c2))
    rates, V = np.linalg.eigh(A)
    gain, seen = V[0] / math.sqrt(c1), V[0] / math.sqrt(c1)
    loss = np.where(np.isnan(loss), 0.0, loss)
    still = -gain * seen / rates  # of each mode, for a loss of 1 W that lasts
    shape = loss.shape[1:]
    modes = np.zeros((len(t), 2, *shape))
    of_modes = (2, *[1] * len(shape))
    for k, h in enumerate(np.diff(t)):
        fading = np.exp(rates * h).reshape(of_modes)
        reached = still.reshape(of_modes) * 0.5 * (loss[k] + loss[k + 1])
        modes[k + 1] = fading * modes[k] + (1.0 - fading) * reached
    whole = np.exp(rates * (t[-1] - t[0])).reshape(of_modes)
    if t[-1] > t[0]:
        start = modes[-1] / (1.0 - whole)
    else:
        start = still.reshape(of_modes) * loss[0]
    left = np.exp(np.multiply.outer(t - t[0], rates)).reshape(len(t), *of_modes)
    return modes.sum(axis=1), (modes + left * start).sum(axis=1)
