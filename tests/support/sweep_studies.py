"""Studies that worker processes import, and a sweep to be killed: run as a script."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.controllers import JointPD, PointToPoint


def square(x):
    return x * x


def leave_trace(folder, k):
    """Leave a file, so that each time a row is computed is counted."""
    (Path(folder) / f"{k}.{uuid.uuid4().hex}").touch()


def values(folder, count):
    """What a sweep of so many rows goes over."""
    return {"folder": [str(folder)], "k": range(count)}


def times(folder):
    """How often each row was computed."""
    counts = {}
    for path in Path(folder).glob("*.*"):
        k = int(path.name.split(".")[0])
        counts[k] = counts.get(k, 0) + 1
    return counts


def counted(folder, k):
    leave_trace(folder, k)
    return {"third": k / 3.0, "name": f"row {k}"}


def slow(folder, k):
    leave_trace(folder, k)
    time.sleep(0.05)
    return k / 3.0


def failing(folder, k):
    leave_trace(folder, k)
    if k % 3 == 1:
        raise ValueError(f"{k} is not liked")
    return k


def dies_once(folder, k):
    """The first to come to row 3 takes its process with it."""
    leave_trace(folder, k)
    died = Path(folder) / "died"
    if k == 3 and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return k / 3.0


def dies(folder, k):
    """Row 3 takes its process with it, until it is cured."""
    leave_trace(folder, k)
    if k == 3 and not (Path(folder) / "cured").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return k / 3.0


def threads(k):
    """How many threads batches take where the row is computed."""
    return rd.get_num_threads()


def weight(robot):
    return robot.gravity_forces(robot.neutral())


def noise(k, rng):
    return rng.normal(size=3) + k


def noises(k, rng):
    return np.array([one.normal(size=3) for one in rng]) + k[:, None]


def motion(stiffness, payload, q0):
    """One motion of an arm under a controller."""
    carried = {"upper": rd.Inertia.from_matrix(payload, (0, 0, -1), np.zeros((3, 3)))}
    robot = rd.load("double_pendulum").with_(payload=carried)
    pd = JointPD(robot, PointToPoint(robot.neutral(), robot.neutral() + 0.5, 0.2), stiffness, 2.0)
    return rd.simulate(robot, pd, q0=q0, duration=0.2, step=2e-3, limits="ignore")


PENDULUM = rd.load("double_pendulum")


def motions(stiffness, q0):
    """Many motions side by side."""
    run = rd.rollout(
        PENDULUM,
        lambda t, q, v: -stiffness[:, None] * q - 2.0 * v,
        q0,
        np.zeros_like(q0),
        duration=0.2,
        step=2e-3,
    )
    return {"q": run.q[-1], "peak": np.abs(run.tau).max(axis=(0, 2))}


def each(stiffness, q0):
    """The same, one at a time."""
    run = rd.simulate(
        PENDULUM,
        lambda t, q, v: -stiffness * q - 2.0 * v,
        q0=q0,
        duration=0.2,
        step=2e-3,
    )
    return {"q": run.q[-1], "peak": np.abs(run.tau).max()}


def started(folder, path, how, address=""):
    """A process with a sweep of forty rows, that is a few rows on its way."""
    command = [sys.executable, __file__, str(folder), str(path), how, address]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    until = time.monotonic() + 120.0
    while len(times(folder)) < 7 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    assert process.poll() is None, process.stderr.read().decode()
    return process


if __name__ == "__main__":
    folder, path, how, address = sys.argv[1:]
    ways = {"threads": {}, "processes": {"processes": 2}, "dask": {"scheduler": address}}
    if how == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        ways["mpi"] = {"executor": MPIPoolExecutor()}
    rd.sweep(slow, {"folder": [folder], "k": range(40)}, path=path, **ways[how])
