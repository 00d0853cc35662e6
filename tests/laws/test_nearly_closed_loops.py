"""Loops that close but for the last digits of a file."""

import pickle
import re
import warnings

import numpy as np
import pytest
from support.loop_notations import NOTATIONS, exact

import robodyn as rd
from robodyn.errors import LoopWarning

#: Where the rocker stands in a file written in full.
ROCKER = 'xyz="0.5 0.0 0.0"'

PINS = ["loop", "second parent", "cut joint"]


def state(robot: rd.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A closed one that moves, with a torque."""
    at = robot.joints["drive"].v.start
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[at], v[at], tau[at] = 0.3, 2.0, 1.0
    q = robot.assemble(q, hold=["drive"], near=robot.neutral())
    return q, robot.consistent_velocity(q, v, hold=["drive"]), tau


def out_of_plane(name: str, by: float) -> str:
    """The four-bar with its rocker out of the plane [m]."""
    text = NOTATIONS[name](exact)
    assert ROCKER in text
    return text.replace(ROCKER, f'xyz="0.5 {by!r} 0.0"')


def tilted(by: float) -> str:
    """With the pin on the coupler out of the direction of the others [rad]."""
    written = 'rpy="0.0 0.0 3.141592653589793"/></predecessor>'
    text = NOTATIONS["loop"](exact)
    assert written in text
    return text.replace(written, written.replace('"0.0', f'"{by!r}'))


def taken_up(text: str, **options: object) -> rd.Robot:
    with pytest.warns(LoopWarning, match=r"close and leave 1\. To the letter pin_c"):
        return rd.load(text, **options)


def test_it_moves_as_in_the_plane() -> None:
    """What is left is told; nothing in the plane depends on it."""
    wanted = rd.load(NOTATIONS["loop"](exact))
    a = wanted.forward_dynamics(*state(wanted))
    texts = [out_of_plane(name, by) for name in PINS for by in (1e-9, 3e-6)]
    for text in (*texts, tilted(1e-9), tilted(8e-6)):
        robot = taken_up(text)
        assert robot.dof == 1
        assert np.abs(robot.loop_residual(robot.neutral())).max() < 1e-12
        assert robot.forward_dynamics(*state(robot)) == pytest.approx(a, rel=1e-9)


def test_all_that_is_made_of_it_agrees() -> None:
    """Copies, pickles, batches, derivatives, simulations and minimal coordinates."""
    robot = taken_up(out_of_plane("loop", 3e-6))
    q, v, tau = state(robot)
    a = robot.forward_dynamics(q, v, tau)
    with warnings.catch_warnings(action="error"):  # told once
        for other in (robot.with_(payload={}), pickle.loads(pickle.dumps(robot))):
            assert np.array_equal(other.loop_residual(q), robot.loop_residual(q))
    batch = robot.forward_dynamics(np.array([q, q]), np.array([v, v]), np.array([tau, tau]))
    assert batch == pytest.approx(np.array([a, a]), rel=1e-9)
    slopes = robot.derivatives("forward_dynamics", q, v, tau)
    assert slopes["forward_dynamics"] == pytest.approx(a, rel=1e-9)
    motion = rd.simulate(robot, q0=q, v0=v, duration=0.05, step=1e-3)
    assert np.abs(motion.loop_residual).max() < 1e-9
    minimal = taken_up(out_of_plane("loop", 3e-6), coordinates="minimal")
    at = robot.joints["drive"].v
    found = minimal.forward_dynamics(q[at], v[at], tau[at])
    assert found == pytest.approx(a[at], rel=1e-9)


@pytest.mark.parametrize("name", ["loop", "second parent"])
def test_a_motor_in_the_pin_is_moved_with_it(name: str) -> None:
    """The pin has a coordinate then, and a weld closes the loop."""
    motors = {"pin_c": rd.Actuator(), "pin_b": rd.Actuator(), "pin_d": rd.Actuator()}
    robot = rd.load(NOTATIONS[name](exact), actuators=motors)
    wanted = robot.forward_dynamics(*state(robot))
    with pytest.warns(LoopWarning, match="close and leave 1"):
        robot = rd.load(out_of_plane(name, 3e-6), actuators=motors)
    assert robot.joints["pin_c"].closure == "pin_c_weld"
    assert np.abs(robot.loop_residual(state(robot)[0])).max() < 1e-11
    assert robot.forward_dynamics(*state(robot)) == pytest.approx(wanted, rel=1e-9)


def test_larger_gaps_are_refused_with_the_tolerance_that_takes_them() -> None:
    text = out_of_plane("loop", 7e-4)
    with pytest.raises(rd.TopologyError, match=r"leave 1 degree of freedom.*closure_tol") as told:
        rd.load(text).neutral()
    given = re.search(r"closure_tolerance=(\S+) to have that done", str(told.value))
    assert given is not None
    assert taken_up(text, closure_tolerance=float(given[1])).dof == 1


def test_what_only_touches_is_not_closed() -> None:
    """A stretched linkage that is a micrometre too short: a dead point, no redundant row."""
    text = NOTATIONS["loop"](exact)
    reach = float(0.2 + np.hypot(0.4, 0.1) + np.hypot(0.1, 0.3))
    text = text.replace(ROCKER, f'xyz="{reach + 1e-6!r} 0.0 0.0"')
    with warnings.catch_warnings(action="error", category=LoopWarning):
        robot = rd.load(text, near={"drive": np.pi / 2})
        with pytest.raises(rd.TopologyError, match="do not close"):
            robot.neutral()


def test_gaps_are_told_in_the_units_of_the_tolerance(four_bar) -> None:
    """Four micrometres of 0.4 m are more than a millionth, though each gap is less."""
    q = four_bar.neutral()
    q[0] += 2e-6
    wanted = r"'rocker_pin' by [5-9]\.\d+e-07 m;.*longest link, 0\.4 m, together 2\.\d+e-06;"
    with pytest.raises(rd.InconsistentStateError, match=wanted):
        four_bar.inverse_dynamics(q, np.zeros(3), np.zeros(3))
