"""The options of ``robodyn sim``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, get_args

from robodyn.cli.options.completed import FILE, FOLDER, completed
from robodyn.cli.options.report import add_json
from robodyn.cli.options.robot import add_robot, add_robot_options
from robodyn.cli.options.values import file, named, number, numbers, one_of, whole
from robodyn.literals import Base
from robodyn.simulation.integrators import INTEGRATORS
from robodyn.simulation.limits.joint_limits import LIMITS

__all__ = ["CONTROLLERS", "REFERENCES", "add_arguments"]

CONTROLLERS = ("none", "hold", "pd", "computed-torque")
REFERENCES = ("sine", "point-to-point", "still")
BASES = get_args(Base)

#: Action that collects the values of an option that may be given several times.
MANY: dict[str, Any] = {"action": "append", "default": []}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser, default="puma560")
    add_json(parser)
    add_robot_options(parser)
    _add_robot(parser.add_argument_group("the robot"))
    _add_start(parser)
    _add_control(parser.add_argument_group("what drives it"))
    _add_surroundings(parser.add_argument_group("what acts on it"))
    _add_time(parser.add_argument_group("time"))
    written = "a table and a picture, in the folder, if none of --csv, --npz, --plot is given"
    _add_files(parser.add_argument_group("what is written", written))


def _add_robot(group: Any) -> None:
    group.add_argument(
        "--base",
        choices=BASES,
        type=one_of("--base", BASES),
        help="default: fixed",
    )
    base_path = group.add_argument(
        "--base-path", type=file("--base-path"), metavar="FILE",
        help="how the base moves: a table (CSV) of t, x, y, z, qx, qy, qz, qw [s, m], with a "
        "smooth path through its rows; it makes the base a moving one",
    )  # fmt: skip
    completed(base_path, FILE)
    group.add_argument(
        "--payload", **MANY, metavar="[LINK=]MASS[,X,Y,Z]",
        help="mass that a link (default: the last one) carries, at a point of it [kg, m]",
    )  # fmt: skip
    group.add_argument(
        "--payload-known", action="store_true", help="the controller knows of the payload"
    )


def _add_start(parser: argparse.ArgumentParser) -> None:
    group: Any = parser.add_argument_group("where it starts")
    position = named("--start", (), "JOINT=POSITION, several numbers as 1,2,3")
    group.add_argument(
        "--start", **MANY, type=position, metavar="JOINT=POSITION",
        help="posture (rad, m; several numbers: 1,2,3); loops are closed with these joints there",
    )  # fmt: skip
    speed = named("--speed", (), "JOINT=SPEED, several numbers as 1,2,3")
    group.add_argument(
        "--speed", **MANY, type=speed, metavar="JOINT=SPEED",
        help="speeds (rad/s, m/s); loops stay closed with these joints as fast",
    )  # fmt: skip
    group.add_argument(
        "--seed",
        metavar="NUMBER",
        type=whole("--seed", 0),
        help="start at a random posture, of this seed",
    )
    group.add_argument(
        "--batch", type=whole("--batch", 1), metavar="N",
        help="so many motions at once, from random postures",
    )  # fmt: skip


def _add_control(group: Any) -> None:
    group.add_argument(
        "--controller", choices=CONTROLLERS, type=one_of("--controller", CONTROLLERS),
        help="hold holds the weight, pd is a spring and a damper at "
        "each motor, and holds the weight (default: computed-torque if there are motors)",
    )  # fmt: skip
    gains = "a number, or one a motor with commas between"
    group.add_argument(
        "--stiffness", metavar="GAIN[,...]", type=numbers("--stiffness", (), gains),
        help="of computed-torque 1/s^2 (default 400), of pd N m/rad, N/m (default: 400/s^2 times "
        f"the inertia about the motor, loops open); {gains}",
    )  # fmt: skip
    group.add_argument(
        "--damping", metavar="GAIN[,...]", type=numbers("--damping", (), gains),
        help="1/s; of pd N m s/rad, N s/m (default: critical)",
    )  # fmt: skip
    group.add_argument(
        "--reference", choices=REFERENCES, type=one_of("--reference", REFERENCES),
        help="what motors follow (default: sine, or point-to-point if "
        "there is a goal)",
    )  # fmt: skip
    group.add_argument(
        "--amplitude", metavar="NUMBER", type=number("--amplitude", above=0.0),
        help="of sines, from one turning point to the other [rad, m]",
    )  # fmt: skip
    group.add_argument(
        "--frequency", metavar="NUMBER", type=number("--frequency", above=0.0), help="of sines [Hz]"
    )  # fmt: skip
    goal = named("--goal", (1,), "JOINT=POSITION")
    group.add_argument(
        "--goal", **MANY, type=goal, metavar="JOINT=POSITION",
        help="where a motor goes, point to point; others stay",
    )  # fmt: skip
    group.add_argument(
        "--arrival", type=number("--arrival", above=0.0, unit="s"), metavar="TIME",
        help="when it is there [s] (default: at the end)",
    )  # fmt: skip


def _add_surroundings(group: Any) -> None:
    wrench = named("--wrench", (3, 6), "LINK=FX,FY,FZ or LINK=FX,FY,FZ,MX,MY,MZ [N, N m]")
    group.add_argument(
        "--wrench", **MANY, type=wrench, metavar="LINK=FX,FY,FZ[,MX,MY,MZ]",
        help="force and moment on a link, in its axes [N, N m]",
    )  # fmt: skip
    group.add_argument(
        "--limits", choices=LIMITS, type=one_of("--limits", LIMITS), default="report",
        help="of positions, speeds and efforts: say where the motion leaves them (report, the "
        "default), also cut efforts to theirs (enforce), or neither (ignore)",
    )  # fmt: skip
    group.add_argument(
        "--stops", metavar="KIND",
        help="at the limits of joints: rigid, or rigid,RESTITUTION; or compliant,STIFFNESS, or "
        "compliant,STIFFNESS,DAMPING",
    )  # fmt: skip
    group.add_argument(
        "--stop-when", **MANY, metavar="CONDITION",
        help='end the motion where, for instance, "elbow > 1.2" or "speed of elbow < 0"',
    )  # fmt: skip
    point = named("--ground", (3,), "LINK=X,Y,Z [m]")
    group.add_argument(
        "--ground", **MANY, type=point, metavar="LINK=X,Y,Z",
        help="a point of a link, in its axes, that the ground resists [m]",
    )  # fmt: skip
    for name, least, text in (
        ("height", {}, "of the ground above the origin of the world [m]"),
        ("stiffness", {"above": 0.0}, "of the ground [N/m^1.5]"),
        ("damping", {"least": 0.0}, "of the ground [s/m]"),
        ("friction", {"least": 0.0}, "coefficient of friction of the ground"),
    ):
        option = f"--ground-{name}"
        limits: Any = least
        group.add_argument(option, type=number(option, **limits), metavar="NUMBER", help=text)


def _add_time(group: Any) -> None:
    group.add_argument(
        "--duration", metavar="TIME", type=number("--duration", least=0.0, unit="s"), default=4.0,
        help="seconds (default 4)",
    )  # fmt: skip
    group.add_argument(
        "--step", metavar="TIME", type=number("--step", above=0.0, unit="s"), default=1e-3,
        help="seconds (default 0.001)",
    )  # fmt: skip
    group.add_argument(
        "--integrator", metavar="NAME", default="rk4",
        choices=tuple(INTEGRATORS), type=one_of("--integrator", tuple(INTEGRATORS)),
        help=f"{', '.join(INTEGRATORS)} (default rk4)",
    )  # fmt: skip
    group.add_argument(
        "--tolerance", metavar="NUMBER", type=number("--tolerance", above=0.0),
        help="of integrators that choose their steps [rad, m] (default 1e-8)",
    )  # fmt: skip
    gains = "ALPHA or ALPHA,BETA [1/s]"
    group.add_argument(
        "--stabilization", type=numbers("--stabilization", (1, 2), gains), metavar="ALPHA[,BETA]",
        help="hold loops closed by gains [1/s], in place of closing them after every step",
    )  # fmt: skip
    group.add_argument(
        "--every", type=whole("--every", 1), default=1, metavar="K",
        help="keep every k-th step (default 1)",
    )  # fmt: skip


def _add_files(group: Any) -> None:
    out = group.add_argument("--out", type=Path, default=Path("out"), help="folder (default out)")
    completed(out, FOLDER)
    for option, ending in (("--csv", ".csv"), ("--npz", ".npz"), ("--plot", None)):
        what = {"--csv": "a table", "--npz": "all arrays", "--plot": "a picture"}[option]
        written = group.add_argument(
            option, nargs="?", const=True, metavar="FILE",
            type=file(option, (ending,) if ending else ()),
            help=f"write {what}; without a name, into the folder",
        )  # fmt: skip
        completed(written, FILE)
    group.add_argument("--no-plot", action="store_true", help="no picture")
    bag = group.add_argument(
        "--bag", type=file("--bag"), metavar="FILE",
        help="also write a bag of ROS 2: .mcap, .db3, or a folder (extra bag)",
    )  # fmt: skip
    completed(bag, FILE)
    folder = group.add_argument(
        "--to", type=file("--to"), metavar="FOLDER",
        help="also write samples to a new folder while the motion goes on, not to memory",
    )  # fmt: skip
    completed(folder, FOLDER)
