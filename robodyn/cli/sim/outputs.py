"""Output files of ``robodyn sim``, which are checked before the simulation."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from robodyn.cli.sim.control import Control
from robodyn.errors import MissingExtraError, RobodynError
from robodyn.files import check_image
from robodyn.simulation.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Outputs:
    """Output files of a motion.

    paths: By the option that asks for them: csv, npz, bag, plot.
    no_picture: Reason why no picture is drawn, if one was wanted.
    """

    paths: Mapping[str, Path]
    no_picture: str = ""

    def write(self, run: Trajectory, control: Control) -> Iterator[Path]:
        """Write all files, and yield the path of each."""
        for option, path in self.paths.items():
            if option == "bag":
                from robodyn.ros.bag import write_bag

                write_bag(run, path)
            elif option == "plot":
                _draw(path, run, control)
            else:
                run.save(path)
            yield path


def outputs_of(arguments: argparse.Namespace, robot_name: str) -> Outputs:
    """Output files from the options; by default a table and a picture.

    They are checked: a folder, a permission or an extra that is missing is an error before the
    simulation, not after it.
    """
    if arguments.no_plot and arguments.plot is not None:
        raise RobodynError("--plot and --no-plot contradict each other: leave one of them out")
    options = {name: getattr(arguments, name) for name in ("csv", "npz", "plot")}
    many, optional = arguments.batch is not None, not any(options.values())
    if optional:
        options["npz" if many else "csv"] = True
        options["plot"] = None if arguments.no_plot else True
    for name in ("csv", "bag"):
        if many and getattr(arguments, name) is not None:
            raise RobodynError(f"--{name} holds one motion, and --batch makes several: use --npz")
    why = ""
    if options["plot"] and importlib.util.find_spec("matplotlib") is None:
        missing = MissingExtraError("matplotlib", "plot", "drawing a trajectory")
        if not optional:
            raise missing
        options["plot"], why = None, str(missing)
    stem, paths = Path(robot_name).name, {}
    for name, ending in (("csv", ".csv"), ("npz", ".npz"), ("plot", ".png")):
        if options[name] is not None:
            own = isinstance(options[name], Path)
            paths[name] = options[name] if own else arguments.out / f"{stem}{ending}"
    if any(path.parent == arguments.out for path in paths.values()):
        _make(arguments.out)
    for name, path in paths.items():
        _check_parent(f"--{name}", path)
        if path.is_dir():
            raise RobodynError(f"--{name}: {str(path)!r} is a folder, expected the name of a file")
    if "plot" in paths:
        check_image(paths["plot"])
    if arguments.bag is not None:
        _check_bag(arguments.bag)
        paths["bag"] = arguments.bag
    if arguments.to is not None:
        _check_folder(arguments.to)
    order = ("csv", "npz", "bag", "plot")
    return Outputs({name: paths[name] for name in order if name in paths}, why)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise RobodynError(f"--out: cannot make the folder {str(folder)!r}: {reason}") from error


def _check_parent(option: str, path: Path) -> None:
    wrong = f"{option}: cannot write {str(path)!r}:"
    if not path.parent.is_dir():
        raise RobodynError(f"{wrong} no such folder: {str(path.parent)!r}; make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise RobodynError(f"{wrong} no permission to write into {str(path.parent)!r}")


def _check_bag(path: Path) -> None:
    from robodyn.bags.files import STORAGE, rosbags

    rosbags("writing a bag")
    _check_parent("--bag", path)
    if path.exists() and (path.is_dir() or path.suffix not in STORAGE):
        raise RobodynError(f"--bag: {str(path)!r} is there already; remove it first")


def _check_folder(path: Path) -> None:
    if path.name in ("", ".."):
        raise RobodynError(f"--to: {str(path)!r} is there already; give the name of a new folder")
    _check_parent("--to", path)
    for there in (path, path.with_name(f"{path.name}.partial")):
        if there.exists():
            raise RobodynError(f"--to: {str(there)!r} is there already; remove it first")


def _draw(path: Path, run: Trajectory, control: Control) -> None:
    """Plot positions, tracking errors if there is a reference, and torques."""
    from robodyn.cli.sim.summary import tracking_error
    from robodyn.pictures.curves import Panel, draw
    from robodyn.simulation.trajectory.panels import panel

    rows = [panel(run, "positions"), panel(run, "torques")]
    if control.reference is not None:
        names = tuple(run.joint_names[k] for k in control.reference.motors)
        off = tracking_error(run, control.reference)
        rows.insert(1, Panel("tracking error", off, "rad, m", names))
    else:
        rows.append(panel(run, "energy"))
    assert run.robot is not None
    draw(path, run.t, rows, title=f"{run.robot.name}: {control.name}")
