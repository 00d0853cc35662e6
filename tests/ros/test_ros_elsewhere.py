"""The tests of this folder in another environment, and what is said where there is no ROS."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = os.environ.get("ROBODYN_ROS_PYTHON", "")
HAS_ROS = importlib.util.find_spec("rclpy") is not None


@pytest.mark.timeout(900)
@pytest.mark.skipif(HAS_ROS or not PYTHON, reason="needs ROBODYN_ROS_PYTHON, and no rclpy here")
def test_with_the_real_rclpy():
    """All tests of this folder but these two; where ROS is, nothing may be left out."""
    not_for_others = ("PYTHONHOME", "PYTEST_ADDOPTS")
    environment = {name: value for name, value in os.environ.items() if name not in not_for_others}
    command = [PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "--ignore", __file__]
    done = subprocess.run(
        [*command, str(Path(__file__).parent)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "SKIPPED" not in done.stdout, done.stdout[-5000:]


@pytest.mark.slow
@pytest.mark.skipif(HAS_ROS, reason="rclpy is here")
def test_without_ros_the_message_names_both_ways():
    done = subprocess.run(
        [sys.executable, "-m", "robodyn", "publish", "puma560"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "[ros]" in done.stderr
    assert "/opt/ros/<distro>/setup.bash" in done.stderr
