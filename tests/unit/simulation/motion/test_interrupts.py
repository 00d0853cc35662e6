"""Ctrl-C in a simulation leaves what was simulated until then."""

import subprocess
import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import SimulationInterrupted
from robodyn.simulation.motion import record, recorded_steps


def interrupting(after):
    """A controller that is interrupted at an instant."""

    def controller(t, q, v):
        if t >= after:
            raise KeyboardInterrupt
        return 0.1 * np.cos(t) * np.ones(v.shape)

    return controller


def whole(after):
    def controller(t, q, v):
        return 0.1 * np.cos(t) * np.ones(v.shape)

    return controller


def same(run, full):
    """One motion is the first part of another."""
    n = len(run)
    for name in ("t", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(run, name), getattr(full, name)[:n])


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
def test_the_motion_until_then(name, integrator):
    robot = rd.load(name)
    options = {"duration": 0.1, "step": 1e-3, "integrator": integrator}
    with pytest.raises(KeyboardInterrupt) as caught:
        rd.simulate(robot, interrupting(0.0405), **options)
    assert isinstance(caught.value, SimulationInterrupted)
    run = caught.value.trajectory
    assert 40 <= len(run) <= 41
    same(run, rd.simulate(robot, whole(0.0), **options))


def test_a_motion_with_events_and_stops(double):
    happened = rd.Event(0.02, lambda state: rd.events.Change(v=-state.v))
    options = {"q0": [0.3, 0.2], "duration": 0.1, "events": [happened]}
    with pytest.raises(SimulationInterrupted) as caught:
        rd.simulate(double, interrupting(0.0405), **options)
    run = caught.value.trajectory
    assert [event.name for event in run.events] == ["instant"]
    same(run, rd.simulate(double, whole(0.0), **options))


def test_machine_code_between_two_chunks(monkeypatch):
    """Without a controller Python is asked now and then: at each report."""
    monkeypatch.setattr(recorded_steps, "STEPS_OF_ONE", 100)
    robot = rd.load("double_pendulum")

    def report(part):
        if part > 0.5:
            raise KeyboardInterrupt

    options = {"q0": [0.3, 0.2], "duration": 1.0, "step": 1e-3, "every": 7}
    with pytest.raises(SimulationInterrupted) as caught:
        rd.simulate(robot, progress=report, **options)
    run = caught.value.trajectory
    assert run.t[-1] == pytest.approx(0.595)
    same(run, rd.simulate(robot, **options))


def test_an_interrupt_while_a_file_is_written(tmp_path, monkeypatch):
    """Samples that are in some files only do not count."""
    monkeypatch.setattr(record, "NUMBERS_IN_MEMORY", 320)
    from robodyn.simulation.trajectory.files import recording

    robot, append = rd.load("double_pendulum"), recording._Column.append
    calls = []

    def interrupted(self, x):
        calls.append(x)
        if len(calls) > 23:  # five columns, twice each at first: within the fourth block
            raise KeyboardInterrupt
        append(self, x)

    monkeypatch.setattr(recording._Column, "append", interrupted)
    options = {"q0": [0.3, 0.2], "duration": 0.5, "step": 1e-3}
    with pytest.raises(SimulationInterrupted):
        rd.simulate(robot, whole(0.0), to=tmp_path / "run", **options)
    monkeypatch.undo()
    run = rd.Trajectory.load(tmp_path / "run.partial", robot)
    assert len(run) > 50
    same(run, rd.simulate(robot, whole(0.0), **options))


def test_many_motions_one_after_the_other(double):
    """The first ones are whole, the last ones are not there."""
    q0, v0 = np.linspace(0.0, 0.5, 6).reshape(3, 2), np.zeros((3, 2))
    calls = []

    def controller(t, q, v):
        calls.append(t)
        if len(calls) > 150:
            raise KeyboardInterrupt
        return np.zeros(v.shape)

    options = {"duration": 0.1, "events": [lambda t, q, v: 1.0]}
    with pytest.raises(SimulationInterrupted) as caught:
        rd.rollout(double, controller, q0, v0, **options)
    run = caught.value.trajectory
    full = rd.rollout(double, None, q0, v0, **options)
    np.testing.assert_array_equal(run.q[:, 0], full.q[:, 0])
    n = 48
    np.testing.assert_array_equal(run.q[:n, 1], full.q[:n, 1])
    assert np.isnan(run.q[n + 2 :, 1]).all()
    assert np.isnan(run.q[:, 2]).all()


CODE = """
import signal, robodyn as rd
robot = rd.load("four_bar")
try:
    rd.simulate(robot, duration=2e4, step=1e-3, every=100, progress=lambda part: print("on"))
except KeyboardInterrupt as interrupt:
    print("kept", len(interrupt.trajectory))
"""


@pytest.mark.slow
def test_a_signal():
    """Machine code is left while the motion goes on."""
    command = [sys.executable, "-u", "-c", CODE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(3):
            assert process.stdout.readline() == "on\n"
        process.send_signal(2)
        last = process.stdout.read().split("\n")[-2]
    assert last.startswith("kept")
    assert 1000 <= int(last.split()[1]) < 200_000


@pytest.mark.parametrize("checked", ["warn_of_passage", "warn_of_unstable_hold"])
@pytest.mark.parametrize("to", [False, True])
def test_a_motion_that_is_being_checked_is_whole(monkeypatch, tmp_path, checked, to):
    module = sys.modules["robodyn.simulation.simulate"]

    def interrupted(*_):
        raise KeyboardInterrupt

    robot = rd.load("double_pendulum")
    options = {"q0": [0.3, 0.2], "duration": 0.1, "step": 1e-3}
    full = rd.simulate(robot, **options)
    monkeypatch.setattr(module, checked, interrupted)
    with pytest.raises(SimulationInterrupted) as caught:
        rd.simulate(robot, to=tmp_path / "run" if to else None, **options)
    assert len(caught.value.trajectory) == len(full)
    same(caught.value.trajectory, full)
    assert not to or (tmp_path / "run").is_dir()


def test_the_last_report_of_progress():
    def report(part):
        if part == 1.0:
            raise KeyboardInterrupt

    with pytest.raises(SimulationInterrupted) as caught:
        rd.simulate(rd.load("double_pendulum"), duration=0.1, step=1e-3, progress=report)
    assert len(caught.value.trajectory) == 101


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("motions", [1, 3])
@pytest.mark.parametrize("when", ["before", "behind"])
def test_machine_code_of_the_first_chunk(monkeypatch, every, motions, when):
    """Python sees the signal when machine code returns: what it has done counts."""
    from robodyn.simulation.step.compiled_motion import CompiledMotion

    monkeypatch.setattr(recorded_steps, "STEPS_OF_ONE", 100)
    robot, until = rd.load("double_pendulum"), CompiledMotion._until
    q0 = np.linspace(0.0, 0.5, 2 * motions).reshape(motions, 2)
    options = {"duration": 1.0, "step": 1e-3, "every": every}
    full = rd.rollout(robot, None, q0, 0 * q0, **options)
    done = []

    def interrupted(self, first, last, *rest):
        if when == "behind" or done:
            until(self, first, last, *rest)
        done.append(last)
        if when == "behind" or len(done) > 1:
            raise KeyboardInterrupt
        return until(self, first, last, *rest)

    monkeypatch.setattr(CompiledMotion, "_until", interrupted)
    with pytest.raises(SimulationInterrupted) as caught:
        rd.rollout(robot, None, q0, 0 * q0, **options)
    run = caught.value.trajectory
    assert len(run) == -(-done[-1] // every)
    same(run, full)


def test_machine_code_that_has_not_begun(monkeypatch):
    from robodyn.simulation.step.compiled_motion import CompiledMotion

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CompiledMotion, "_until", interrupted)
    with pytest.raises(SimulationInterrupted) as caught:
        rd.simulate(rd.load("double_pendulum"), duration=1.0)
    assert caught.value.trajectory is None
