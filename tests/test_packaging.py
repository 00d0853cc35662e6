"""The package as it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_controllers_are_there_in_the_source_tree():
    """Python that runs in a clone finds the clone's package, whatever is installed."""
    code = "import robodyn, robodyn.controllers as c; print(robodyn.__file__); print(c.__file__)"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}; {code}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    package, controllers = done.stdout.split()
    assert Path(package) == ROOT / "robodyn" / "__init__.py"
    assert Path(controllers) == ROOT / "robodyn" / "controllers" / "__init__.py"


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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, made of a copy: the build leaves files beside its sources."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for folder in ("robodyn", "controllers"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=ignored)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    code = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, made], cwd=source, capture_output=True, check=True)
    return next(made.glob("*.whl"))


def test_the_wheel_is_pure_python(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_holds_what_the_source_tree_holds(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    there = {
        str(path.relative_to(ROOT))
        for pattern in ("*.py", "*.urdf", "py.typed")
        for path in (ROOT / "robodyn").rglob(pattern)
    }
    there |= {f"robodyn/controllers/{path.name}" for path in (ROOT / "controllers").glob("*.py")}
    assert held == there


def test_the_wheel_works(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = (
        "import robodyn, robodyn.controllers as c; print(robodyn.__file__); print(c.__file__); "
        "print(robodyn.load('double_pendulum').nv)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    package, controllers, nv = done.stdout.split()
    assert Path(package) == tmp_path / "site" / "robodyn" / "__init__.py"
    assert Path(controllers) == tmp_path / "site" / "robodyn" / "controllers" / "__init__.py"
    assert nv == "2"


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
