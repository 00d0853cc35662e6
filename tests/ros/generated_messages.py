"""Messages of control_msgs made from their definition, where no package of them is installed.

rosidl, which comes with rclpy's wheels, writes their sources, and a C compiler makes them a package
in a folder of this checkout. The definition is that which ros-controls has published for its
FollowJointTrajectory action, without comments.
"""

import ctypes
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np

PACKAGE = "control_msgs"
DEFINITION = {
    "msg/JointTolerance.msg": """string name
float64 position
float64 velocity
float64 acceleration
""",
    "msg/JointComponentTolerance.msg": """uint16 X_AXIS=1
uint16 Y_AXIS=2
uint16 Z_AXIS=3
uint16 TRANSLATION=4
uint16 ROTATION=5
string joint_name
uint16 component
float64 position
float64 velocity
float64 acceleration
""",
    "action/FollowJointTrajectory.action": """trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
JointTolerance[] path_tolerance
JointComponentTolerance[] component_path_tolerance
JointTolerance[] goal_tolerance
JointComponentTolerance[] component_goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
---
int32 error_code
int32 SUCCESSFUL = 0
int32 INVALID_GOAL = -1
int32 INVALID_JOINTS = -2
int32 OLD_HEADER_TIMESTAMP = -3
int32 PATH_TOLERANCE_VIOLATED = -4
int32 GOAL_TOLERANCE_VIOLATED = -5
string error_string
---
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
int32 index
string[] multi_dof_joint_names
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_desired
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_actual
trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_error
int32 multi_dof_index
""",
}
NEEDED = (
    *("trajectory_msgs", "builtin_interfaces", "std_msgs", "geometry_msgs"),
    *("action_msgs", "unique_identifier_msgs", "service_msgs"),
)
KINDS = ("c", "fastrtps_c", "introspection_c")
SUPPORTS = tuple(f"rosidl_typesupport_{kind}" for kind in KINDS)


def folders():
    """Folders of Python modules and of libraries of the messages; ``None`` if they are installed.

    Raises RuntimeError: If they cannot be made, with the reason.
    """
    root = Path(__file__).parents[2] / ".pytest_cache" / PACKAGE
    found = importlib.util.find_spec(PACKAGE)
    if found is not None and root not in Path(found.origin).parents:
        return None
    if not (root / "done").exists():
        if importlib.util.find_spec("rosidl_cli") is None or shutil.which("g++") is None:
            raise RuntimeError("control_msgs is not installed, and no rosidl or compiler makes it")
        shutil.rmtree(root, ignore_errors=True)
        _generate(root)
        _compile(root)
        (root / "done").touch()
    return root / "site", root / "lib"


def use(monkeypatch):
    """Let this process, and those that it starts, import the messages. Raises `RuntimeError`."""
    made = folders()
    if made is None:
        return
    site, libraries = made
    for name, folder in (("PYTHONPATH", site), ("LD_LIBRARY_PATH", libraries)):
        others = os.environ.get(name)
        monkeypatch.setenv(name, os.pathsep.join([str(folder), *([others] if others else [])]))
    monkeypatch.syspath_prepend(str(site))
    for kind in ("rosidl_generator_c", *SUPPORTS[::-1], "rosidl_generator_py"):
        ctypes.CDLL(str(libraries / f"lib{PACKAGE}__{kind}.so"), ctypes.RTLD_GLOBAL)


def _generate(root):
    source = root / "source" / PACKAGE
    for name, text in DEFINITION.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    kinds = ["-t", "c", "-t", "py", *(x for kind in KINDS for x in ("-ts", kind))]
    share = Path(sys.prefix) / "share"
    command = [sys.executable, __file__, "-o", str(root / "out"), *kinds, "-I", str(share)]
    environment = {**os.environ, "AMENT_PREFIX_PATH": sys.prefix}
    subprocess.run(
        [*command, PACKAGE, *DEFINITION], cwd=source, env=environment, check=True, timeout=200,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip


def _compile(root):
    own, lib, site = root / "include" / PACKAGE, root / "lib", root / "site" / PACKAGE
    lib.mkdir()
    for kind in (*KINDS, "py"):
        shutil.copytree(root / "out" / kind, own, dirs_exist_ok=True)
    shutil.copytree(root / "out" / "py", site)
    (site / "__init__.py").touch()
    include = Path(sys.prefix) / "include"
    places = [own.parent, include, *(x for x in include.iterdir() if x.is_dir())]
    places += [sysconfig.get_paths()["include"], np.get_include()]
    flags = ["-O0", "-fPIC", "-shared", "-w", f"-DROSIDL_GENERATOR_C_BUILDING_DLL_{PACKAGE}"]
    flags += [f"-I{place}" for place in places]
    others = Path(sys.prefix) / "lib"
    link = [f"-L{lib}", f"-L{others}", f"-Wl,-rpath,{others}", f"-Wl,-rpath,{lib}"]

    def library(pattern, target, own_parts=(), kind="", also=()):
        names = [*(f"{PACKAGE}__{x}" for x in own_parts), *(f"{x}__{kind}" for x in NEEDED if kind)]
        sources = sorted(map(str, (root / "out").glob(pattern)))
        libraries = [f"-l{name}" for name in (*names, *also)]
        compiler = "g++" if pattern.endswith("cpp") else "gcc"
        named = f"-Wl,-soname,{target.name}"
        command = [compiler, *flags, *sources, named, "-o", str(target), *link, *libraries]
        subprocess.run(command, check=True, timeout=200)

    made = lambda kind: lib / f"lib{PACKAGE}__{kind}.so"  # noqa: E731
    generated, plain, fast, introspected = "rosidl_generator_c", *SUPPORTS
    library("c/*/detail/*.c", made(generated), (), generated, ("rosidl_runtime_c", "rcutils"))
    more = ("fastcdr", "rmw", "rosidl_typesupport_fastrtps_cpp", fast)
    library("fastrtps_c/*/detail/*.cpp", made(fast), (generated,), fast, more)
    more = (introspected, "rosidl_runtime_c")
    library("introspection_c/*/detail/*.c", made(introspected), (generated,), introspected, more)
    more = (plain, "rosidl_runtime_c")
    library("c/*/*__type_support.cpp", made(plain), (generated,), plain, more)
    python = "rosidl_generator_py"
    library("py/*/_*_s.c", made(python), (generated, plain), python)
    for support in SUPPORTS:
        extension = site / f"{PACKAGE}_s__{support}.so"
        parts = (python, support, generated)
        more = ("rosidl_runtime_c", "rcutils")
        library(f"py/_{PACKAGE}_s.ep.{support}.c", extension, parts, "", more)


def _rosidl(arguments):
    """``rosidl generate``, whose plug-ins are listed twice where wheels have two manifests."""
    import rosidl_cli.entry_points as listed
    from rosidl_cli.cli import main

    once = {}
    for distribution in importlib.metadata.distributions():
        for entry in distribution.entry_points:
            once.setdefault((entry.group, entry.name), entry)
    points = importlib.metadata.EntryPoints(once.values())
    listed.importlib_metadata.entry_points = lambda: points
    sys.argv = ["rosidl", "generate", *arguments]
    return main()


if __name__ == "__main__":
    sys.exit(_rosidl(sys.argv[1:]))
