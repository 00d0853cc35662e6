"""Linear models equal differences of the motion itself, and poles that are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd


def close(x, y, tolerance=1e-10):
    scale = max(1.0, float(np.max(np.abs(y), initial=0.0)))
    np.testing.assert_allclose(x, y, rtol=0.0, atol=tolerance * scale)


def same_poles(x, y, tolerance=1e-9):
    """The same numbers, in whatever order."""
    x, y = list(np.asarray(x, complex)), list(np.asarray(y, complex))
    assert len(x) == len(y)
    for pole in x:
        nearest = min(y, key=lambda other: abs(other - pole))
        assert abs(nearest - pole) < tolerance * max(1.0, abs(pole))
        y.remove(nearest)


# -- against differences --------------------------------------------------------------------------


def indices(robot, model, letter):
    """Where the states of a kind stand in v."""
    found = []
    for state in model.states:
        if state.startswith(f"{letter}:"):
            name, _, axis = state[2:].partition("[")
            found.append(robot.joints[name].v.start + (int(axis[:-1]) if axis else 0))
    return found


def rates_nearby(robot, model, q, v, tau, z, u, **around):
    """Rate of the step from the motion through ``q, v`` to the one that is ``z, u`` beside it.

    Both are followed for a short time, loops closed; of the independent coordinates.
    """
    places, speeds = indices(robot, model, "q"), indices(robot, model, "v")
    names = [state[2:] for state in model.states[: len(places)]]
    step, change = np.zeros(robot.nv), np.zeros(robot.nv)
    step[places], change[speeds] = z, u
    moved = robot.integrate(q, step)
    speed = v + change
    if robot.nc:
        names += around.get("controlled", {})
        moved = robot.assemble(moved, hold=names, beyond_limits=True)
        speed = robot.consistent_velocity(moved, speed, hold=names)
    h = 1e-4

    def later(position, velocity, s):
        a = robot.hybrid_dynamics(position, velocity, tau=tau, **around).a
        d = s * velocity + 0.5 * s * s * a
        return robot.integrate(position, d)

    ahead, behind = (robot.difference(later(q, v, s), later(moved, speed, s)) for s in (h, -h))
    a = robot.hybrid_dynamics(moved, speed, tau=tau, **around).a
    return ((ahead - behind) / (2 * h))[places], a[speeds]


def check_by_differences(robot, q, v, tau, tolerance=2e-6, **around):
    model = robot.linearize(q, v, tau, **around)
    count = len(indices(robot, model, "q"))
    h = 1e-4
    columns = []
    for e in np.eye(len(model.states)):
        pair = [
            np.concatenate(rates_nearby(robot, model, q, v, tau, z, u, **around))
            for z, u in (np.split(s * h * e, [count]) for s in (1, -1))
        ]
        columns.append((pair[0] - pair[1]) / (2 * h))
    close(model.A, np.stack(columns, axis=-1), tolerance)
    return model


#: Trees of all sorts of coordinates, closed linkages, and what is driven of them.
MOVING = {
    "tree": ("double_pendulum", {}, {}),
    "floating": ("pan_tilt", {"base": "floating"}, {}),
    "floating, driven": ("pan_tilt", {"base": "floating"}, {"controlled": {"pan": 0.7}}),
    "four_bar": ("four_bar", {}, {}),
    "five_bar": ("five_bar", {}, {}),
    "five_bar, driven": ("five_bar", {}, {"controlled": {"left_drive": -1.5}}),
    "minimal": ("five_bar", {"coordinates": "minimal"}, {}),
}


@pytest.mark.parametrize("case", MOVING)
def test_models_equal_differences_of_motions(case):
    name, options, around = MOVING[case]
    robot = rd.load(name, gravity=(1.0, 2.0, -9.81), **options)
    rng = np.random.default_rng(3)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    for driven in around.get("controlled", {}):
        tau[robot.joints[driven].v] = 0.0
    model = check_by_differences(robot, q, v, tau, **around)
    a = robot.hybrid_dynamics(q, v, tau=tau, **around).a
    close(model.acceleration, a[indices(robot, model, "v")])
