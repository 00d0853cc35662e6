"""Imports go down only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: What each part may import of robodyn, itself aside. A part is a package or a module.
MAY_IMPORT = {
    "errors": set(),
    "description": {"errors"},
    "incidence": {"errors"},
    "topology": {"description", "errors", "graph_problems", "incidence"},
    "graph_problems": {"description", "errors"},
    "urdf": {"description", "errors", "graph_problems", "topology"},
    "constraints": {"codegen", "errors"},
    "symbolic": set(),
    "equations": {"symbolic", "description", "topology", "errors"},
    "arrays": {"errors", "symbolic"},
    "codegen": {"symbolic", "arrays", "errors"},
    "path_check": {"errors"},
    "base_motion": {"errors", "path_check"},
    "joint_path": {"errors", "path_check"},
    "configuration": {"base_motion"},
    "motors": {"description", "equations", "errors"},
    "model": {
        "arrays", "configuration", "couplings", "description", "equations", "errors", "motors",
        "symbolic", "topology",
    },
    "couplings": {"description", "errors"},
    "loop_analysis": {"constraints", "errors"},
    "loop_order": set(),
    "planar_loops": {"equations", "symbolic"},
    "spatial_loops": {"equations"},
    "minimal": {
        "equations", "errors", "loop_order", "model", "planar_loops", "spatial_loops",
    },
    "changes": {
        "arrays", "description", "equations", "errors", "held_joints", "model", "symbolic",
    },
    "held_joints": {"couplings", "description", "equations", "model"},
    "roles": {"arrays", "errors", "model"},
    "results": {"errors"},
    "robot_core": {
        "arrays", "base_motion", "changes", "codegen", "configuration", "description", "equations",
        "errors",
        "model", "roles",
    },
    "robot_frames": {"base_motion", "robot_core"},
    "robot_rows": {"arrays", "constraints", "errors", "robot_frames"},
    "robot_loops": {
        "arrays", "constraints", "description", "equations", "errors", "loop_analysis",
        "robot_rows", "roles",
        "symbolic",
    },
    "branch": {"errors"},
    "robot_assembly": {"arrays", "branch", "errors", "robot_loops", "roles"},
    "robot_actuation": {
        "arrays", "base_motion", "codegen", "constraints", "errors", "loop_analysis",
        "robot_assembly", "robot_core", "roles",
    },
    "robot_closed": {
        "arrays", "base_motion", "codegen", "constraints", "equations", "errors",
        "loop_analysis", "results", "robot_actuation", "robot_core", "roles",
    },
    "robot_loads": {
        "base_motion", "description", "errors", "results", "robot_closed", "robot_core", "roles",
    },
    "robot_identification": {
        "base_motion", "equations", "results", "robot_core", "symbolic",
    },
    "reduced": {"arrays", "errors", "roles"},
    "robot_minimal": {
        "base_motion", "codegen", "description", "equations", "errors", "minimal", "model",
        "reduced", "results", "robot_core", "robot_loads", "roles",
    },
    "robot": {"arrays", "base_motion", "robot_core", "robot_identification", "robot_minimal"},
    "loading": {"arrays", "description", "equations", "errors", "model", "robot", "urdf"},
    # "ros" only where a trajectory is saved as a bag
    "simulation": {
        "arrays", "base_motion", "errors", "joint_path", "model", "path_check", "robot", "ros",
    },
    "ros": {"", "base_motion", "couplings", "errors", "robot", "simulation", "urdf"},
    "controllers": {""},
    "view": {"branch", "description", "errors", "robot", "ros", "simulation", "urdf"},
    "cli": {"", "errors", "controllers", "ros", "simulation", "urdf", "view"},
    "__main__": {"cli"},
}  # fmt: skip

#: Imported when first used, not with the package.
LATE = {
    "numba", "scipy", "matplotlib", "rclpy", "xacro", "yaml", "pinocchio", "cupy", "rosbags",
    "cyclonedds", "viser", "trimesh",
}  # fmt: skip
#: Modules that are imported when used, as a whole.
LATE_MODULES = {"wire_types.py"}


def files():
    return [path for top in ("robodyn", "controllers") for path in (ROOT / top).rglob("*.py")]


def part(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "controllers" if parts[0] == "controllers" else parts[1]


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "robodyn":
                yield from (f"robodyn.{alias.name}" for alias in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path):
    name = part(path)
    if name == "__init__":
        return
    tree = ast.parse(path.read_text())
    for module in imported(tree):
        if module == "robodyn" or module.startswith("robodyn."):
            target = module.split(".")[1] if "." in module else ""
            if target and not _is_part(target):
                target = ""  # a public name of the package
            assert target == name or target in MAY_IMPORT[name], f"{path.name} imports {module}"


def _is_part(name):
    base = ROOT / "robodyn" / name
    return name == "controllers" or base.is_dir() or base.with_suffix(".py").is_file()


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_packages_are_imported_when_used(path):
    if path.name in LATE_MODULES:
        return
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for module in imported(ast.Module([node], [])):
                assert module.split(".")[0] not in LATE


def test_import_loads_no_compiler():
    """Importing takes as long as importing numpy, twice; LLVM alone would take as long again."""
    code = "import sys, robodyn; print(*{m.split('.')[0] for m in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {*done.stdout.split()} & {"llvmlite", *LATE}
