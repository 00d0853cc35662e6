"""``robodyn new``: copy a starter project, or write a package of ROS 2, into a new folder."""

from __future__ import annotations

import argparse
from importlib import resources
from importlib.util import find_spec

import robodyn as rd
from robodyn.cli.new.control_package import check_package_name, control_package, package_name
from robodyn.cli.options.output import print_json
from robodyn.cli.options.robot import add_robot_options, robot_options, robots_and_files
from robodyn.cli.options.values import FOLDER, add
from robodyn.errors import RobodynError
from robodyn.exporting.export import new_folder, write_folder
from robodyn.installation import install_command

__all__ = ["add_options", "run"]

#: Starter projects: the folders beside this file.
PROJECTS = ("arm", "four_bar")
#: The package of ROS 2 that puts a robot behind ros2_control.
PACKAGE = "ros2_control"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("project", choices=(*PROJECTS, PACKAGE))
    add(parser, "folder", "new or empty (default: ./PROJECT)", complete=FOLDER, nargs="?")
    text = f"of {PACKAGE}: URDF file or bundled robot (default palletizer)"
    add(parser, "--robot", text, complete=robots_and_files())
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    if arguments.project == PACKAGE:
        return _write_package(arguments)
    if arguments.robot or robot_options(arguments):
        raise RobodynError(
            f"new {arguments.project} has a robot of its own: --robot and options of how it is "
            f"read are for new {PACKAGE}"
        )
    given = arguments.folder or arguments.project
    folder = new_folder(given)
    source = resources.files("robodyn.cli.new") / arguments.project
    files = {x.name: x.read_bytes() for x in source.iterdir() if x.is_file()}
    write_folder(folder, files)
    paths = [folder / name for name in sorted(files)]
    if arguments.json:
        print_json("new", project=arguments.project, files=paths)
        return 0
    print(*paths, sep="\n")
    print(f"\nnext: cd {given} && python run.py, and read README.md")
    if find_spec("matplotlib") is None:
        print(f"its pictures need matplotlib: {install_command('matplotlib', 'plot')}")
    return 0


def _write_package(arguments: argparse.Namespace) -> int:
    robot = rd.load(arguments.robot or "palletizer", **robot_options(arguments))
    given = arguments.folder or package_name(robot)
    folder = new_folder(given)
    check_package_name(folder.name)
    files, told = control_package(robot, folder.name)
    write_folder(folder, files)
    paths = [folder / name for name in sorted(files)]
    if arguments.json:
        print_json("new", project=PACKAGE, robot=robot.name, files=paths, told=told)
        return 0
    print(*paths, sep="\n")
    for line in told:
        print(f"  {line}")
    print(f"\nnext: read {given}/README.md")
    return 0
