"""Tests with the real rclpy; without it, all of this folder is skipped but its own door.

They run where rclpy can be imported. From elsewhere, ``ROBODYN_ROS_PYTHON`` names the Python of an
environment that has it, pytest and robodyn.
"""

import importlib.util
import os
import signal
import subprocess
import sys
import threading

import pytest

HAS_ROS = importlib.util.find_spec("rclpy") is not None
collect_ignore = (
    []
    if HAS_ROS
    else [
        "test_ros_simulation.py",
        "test_ros_bad_input.py",
        "test_ros_listener.py",
        "test_ros_follow_joint_trajectory.py",
        "test_ros_node.py",
        "test_ros_topic_hardware.py",
        "test_ros_relay.py",
    ]
)


class Process:
    """A ``robodyn`` command in a process of its own; ``text`` is all that it has said so far."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "robodyn", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.text += line

    def stop(self):
        """Ctrl-C; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join(timeout=60)
        return self.process.returncode


_domain = iter(range(20 + os.getpid() % 50, 200))


@pytest.fixture
def domain(monkeypatch):
    """A domain that no other test is in, on this computer only."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(next(_domain)))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


@pytest.fixture
def launch(domain):
    """Start ``robodyn`` processes; all are stopped in the end."""
    started = []

    def start(*arguments):
        started.append(Process(*arguments))
        return started[-1]

    yield start
    for process in started:
        if process.process.poll() is None:
            process.stop()


@pytest.fixture
def client(domain):
    """A node that listens and asks."""
    from client import Client

    with Client() as made:
        yield made
