"""The ROS package: its parts agree, and colcon builds it."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from robodyn import __version__

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "robodyn_ros"


def test_parts_agree():
    tree = ElementTree.parse(PACKAGE / "package.xml").getroot()
    assert tree.findtext("name") == "robodyn_ros"
    assert tree.findtext("version") == __version__
    assert f'version="{__version__}"' in (PACKAGE / "setup.py").read_text()
    assert tree.findtext("export/build_type") == "ament_python"
    assert (PACKAGE / "resource" / "robodyn_ros").is_file()


@pytest.mark.skipif(
    not importlib.util.find_spec("colcon_core") or not importlib.util.find_spec("colcon_ros"),
    reason="colcon is not installed",
)
def test_colcon_builds_it_and_the_node_starts(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "src" / "robodyn_ros")
    colcon = [sys.executable, "-m", "colcon"]
    if not importlib.util.find_spec("colcon"):
        colcon = [str(Path(sys.executable).with_name("colcon"))]
    environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    listed = subprocess.run(
        [*colcon, "list"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "ros.ament_python" in listed.stdout, listed.stdout + listed.stderr
    built = subprocess.run(
        [*colcon, "build", "--merge-install"],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    install = tmp_path / "install"
    for file in (
        "share/ament_index/resource_index/packages/robodyn_ros",
        "share/robodyn_ros/package.xml",
        "share/robodyn_ros/launch/sim.launch.py",
        "share/robodyn_ros/config/sim.yaml",
        "lib/robodyn_ros/sim_node",
    ):
        assert (install / file).is_file(), file
    site = next(install.glob("lib/python*/site-packages"))
    environment["PYTHONPATH"] = f"{site}:{environment['PYTHONPATH']}"
    shown = subprocess.run(
        [str(install / "lib/robodyn_ros/sim_node"), "--help"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "robot_description" in shown.stdout
