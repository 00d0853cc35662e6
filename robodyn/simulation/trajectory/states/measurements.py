"""Measurements of sensors at the samples of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.sensor import DescribedSensor
from robodyn.simulation.trajectory.states.samples import Samples

__all__ = ["by_sensor", "measurements"]


def measurements(samples: Samples) -> FloatArray:
    """Measurements of all sensors, concatenated, shape (n, ..., m).

    How a closed linkage shares its load among joints depends on the forces as much as on the
    accelerations.
    """
    x, sensors = samples, samples.robot.sensors
    robot = x.robot.at(x.time)
    loaded = [s.name for s in sensors if s.kind == "wrench" and x.robot.nc]
    others = [s.name for s in sensors if s.name not in loaded]
    base, wrenches = x.base, x.wrenches or None
    shown: dict[str, FloatArray] = {}
    if others:
        shown |= robot.measure(x.q, x.v, x.a, sensors=others, wrenches=wrenches, base=base)
    if loaded:
        shown |= robot.measure(x.q, x.v, tau=x.tau, sensors=loaded, wrenches=wrenches, base=base)
    leading = x.q.shape[:-1]
    return np.concatenate(
        [np.broadcast_to(shown[s.name], (*leading, len(s.columns))) for s in sensors], axis=-1
    )


def by_sensor(sensors: Sequence[DescribedSensor], numbers: FloatArray) -> dict[str, FloatArray]:
    """Measurements by the name of each sensor, shape (n, ..., k)."""
    ends = np.cumsum([len(s.columns) for s in sensors])
    parts = np.split(numbers, ends[:-1], axis=-1)
    return {s.name: part for s, part in zip(sensors, parts, strict=True)}
