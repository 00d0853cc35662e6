"""The package as it is installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_packages_listed_are_the_packages_there_are():
    with open(ROOT / "pyproject.toml", "rb") as file:
        listed = set(tomllib.load(file)["tool"]["setuptools"]["packages"])
    there = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "robodyn").rglob("__init__.py")
    }
    assert listed == there | {"robodyn.controllers"}


def test_controllers_have_one_name(tmp_path):
    code = "import robodyn.controllers as c; print(c.ComputedTorque.__module__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "robodyn.controllers.computed_torque"
    wrong = subprocess.run(
        [sys.executable, "-c", "import controllers"], cwd=ROOT, capture_output=True, text=True
    )
    assert wrong.returncode != 0
    assert "robodyn.controllers" in wrong.stderr


def test_import_is_light(tmp_path):
    code = (
        "import sys, robodyn; "
        "print([m for m in ('numba', 'scipy', 'matplotlib', 'rclpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_documented():
    import robodyn

    for name in robodyn.__all__:
        assert getattr(robodyn, name).__doc__, name
