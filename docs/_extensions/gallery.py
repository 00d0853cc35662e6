"""The gallery: a picture of every bundled robot and of every example, and motions.

``python docs/_extensions/gallery.py FILE`` draws the picture of the README alone.
"""

from __future__ import annotations

import ast
import contextlib
import io
import multiprocessing
import re
import runpy
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sphinx.application import Sphinx

import robodyn as rd
from robodyn.pictures.figure import STYLE

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ROBOTS = ROOT / "robodyn/urdf/robots"

#: What draws a picture, what it shows, and the file.
Job = tuple[Callable[[Any, Path], None], Any, Path]

#: Postures [rad, m] of robots that are hard to see in the zero posture.
BENT = {
    "arm7": {"shoulder_pitch": 0.7, "elbow_pitch": -1.4, "wrist_pitch": 0.9, "shoulder_yaw": 0.4},
    "cart_arms": {"left_elbow": -0.8, "right_elbow": 0.8, "column_turn": 0.3},
    "double_pendulum": {"shoulder": 0.6, "elbow": 0.7},
    "dual_arm": {
        "left_shoulder_pitch": -0.9, "left_elbow_pitch": -0.8, "right_shoulder_pitch": -0.4,
        "right_elbow_pitch": -1.5,
    },
    "pan_tilt": {"tilt": -0.3, "pan": 0.5},
    "prosthesis": {"elbow": -1.2},
    "puma560": {"joint2": -0.8, "joint3": 0.6, "joint5": 0.5},
    "satellite": {"boom_lift": 0.5, "boom_swing": 0.4, "camera": 0.6},
    "scara": {"shoulder": 0.5, "elbow": 0.9, "lift": 0.05},
}  # fmt: skip

PAGE = """# Gallery

Every bundled robot and every example, drawn by the library itself. `rd.load("watt")` loads a robot
by its name; `python examples/06_palletizer.py FILE.png` runs an example, and draws its picture.

## Bundled robots

At rest, with the forces in their joints: `robot.plot(q, wrenches=robot.joint_wrenches(q, v, a))`.

{robots}

## Motions

`run.animate("run.gif")` draws a motion.

{motions}

## Examples

{examples}
"""


def posture(robot: rd.Robot) -> np.ndarray:
    """A posture to draw, with closed loops."""
    q = robot.neutral()
    for name, angle in BENT.get(robot.name, {}).items():
        q[robot.joints[name].q] = angle
    return q


def draw_robot(name: str, path: Path) -> None:
    """At rest, with the forces in its joints."""
    robot = rd.load(name)
    q, rest = posture(robot), np.zeros(robot.nv)
    robot.plot(q, path, wrenches=robot.joint_wrenches(q, rest, rest))


def about(name: str) -> str:
    """What the file of a bundled robot says first."""
    comment = re.search(r"<!--(.*?)-->", (ROBOTS / f"{name}.urdf").read_text(), re.DOTALL)
    assert comment, f"{name}.urdf does not say what it is"
    return re.split(r"[.;:](?:\s|$)| in the x-z plane", " ".join(comment[1].split()))[0]


def draw_example(example: Path, path: Path) -> None:
    """Run it, check what it finds, and draw that."""
    names = runpy.run_path(str(example))
    result = names["main"]()
    names["check"](result)
    names["draw"](result, str(path))


def animate_four_bar(path: Path) -> None:
    """A four-bar linkage whose crank is driven, with the ways of both pins of its coupler."""
    robot = rd.load("four_bar").with_(frames={"middle": ("coupler", offset(0.14, 0.0, 0.12))})
    turn = rd.JointPath(lambda t: (3.0 * t, 3.0 + 0.0 * t, 0.0 * t))
    run = rd.simulate(robot, duration=2.0944, step=1e-3, controlled={"crank_drive": turn})
    run.animate(path, speed=0.8, fps=15, trace=["middle"], forces=True)


def animate_palletizer(path: Path) -> None:
    """A palletizer lifts its load: all four loops stay closed."""
    robot = rd.load("palletizer")
    ends = {"shoulder": (0.7, 0.1), "crank_drive": (0.5, -0.2)}
    q = robot.neutral()
    for name, (start, _) in ends.items():
        q[robot.joints[name].q] = start
    q = robot.assemble(q, hold=[*ends])

    def lift(start: float, end: float) -> rd.JointPath:
        half, w = (end - start) / 2, np.pi / 2
        return rd.JointPath(
            lambda t: (
                start + half * (1 - np.cos(w * t)),
                half * w * np.sin(w * t),
                half * w**2 * np.cos(w * t),
            )
        )

    controlled = {name: lift(*pair) for name, pair in ends.items()}
    still = {"locked": ["waist", "flange_drive"]}
    run = rd.simulate(robot, q0=q, duration=4.0, step=1e-2, controlled=controlled, **still)
    run.animate(path, speed=1.3, fps=12, trace=["flange"], forces=True)


def animate_swing_up(path: Path) -> None:
    """A double pendulum with a motor at its elbow alone swings up, and stands (example 12)."""
    result = runpy.run_path(str(ROOT / "examples/12_swing_up.py"))["main"]()
    result["run"][:5000].animate(path, fps=12, trace=["tip"])


def offset(x: float, y: float, z: float) -> np.ndarray:
    """A pose that is moved alone."""
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


MOTIONS: dict[str, Callable[[Path], None]] = {
    "four_bar": animate_four_bar,
    "palletizer": animate_palletizer,
    "swing_up": animate_swing_up,
}


def write_gallery(folder: Path) -> None:
    """Draw all pictures into a folder, and write its page, ``index.md``.

    Raises
    ------
    AssertionError
        If an example is wrong by its own measure.
    """
    folder.mkdir(parents=True, exist_ok=True)
    jobs: list[Job] = [(draw_example, path, folder / f"{path.stem}.png") for path in EXAMPLES]
    jobs += [(_animate, name, folder / f"{name}.gif") for name in MOTIONS]
    jobs += [(draw_robot, name, folder / f"{name}.png") for name in rd.robots()]
    _draw_all(jobs)
    robots, motions, examples = [], [], []
    for name in rd.robots():
        robots.append(_card(f"`{name}`", f"{name}.png", about(name)))
    for name, animate in MOTIONS.items():
        text = " ".join((animate.__doc__ or "").split())
        motions.append(f"![{text}]({name}.gif)\n\n{text}\n")
    for example in EXAMPLES:
        text = (ast.get_docstring(ast.parse(example.read_text())) or "").split("\n\n")[0]
        text = " ".join(text.split())
        examples.append(f"### {example.stem}\n\n{text}\n\n![{text}]({example.stem}.png)\n")
    cards = "::::{grid} 1 2 2 2\n:gutter: 3\n\n" + "\n".join(robots) + "::::"
    page = PAGE.format(robots=cards, motions="\n".join(motions), examples="\n".join(examples))
    (folder / "index.md").write_text(page)


def _animate(name: str, path: Path) -> None:
    MOTIONS[name](path)


def _draw_all(jobs: list[Job]) -> None:
    """Draw in as many processes as there are cores, where a process can be forked."""
    if "fork" not in multiprocessing.get_all_start_methods():
        for job in jobs:
            _draw(job)
        return
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as pool:
        for _ in pool.map(_draw, jobs):  # raises what a drawing raised
            pass


def _draw(job: Job) -> None:
    from matplotlib import style

    draw, what, path = job
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore", rd.errors.LimitWarning)
        with contextlib.redirect_stdout(io.StringIO()):
            draw(what, path)


def _card(title: str, picture: str, text: str) -> str:
    return f":::{{grid-item-card}} {title}\n:img-top: {picture}\n{text}\n:::\n"


def draw_palletizer(path: Path) -> None:
    """The picture of the README: a palletizer carries a sack, with the forces in its joints."""
    from matplotlib import style
    from matplotlib.figure import Figure

    sack = rd.Inertia.from_matrix(40.0, (0.0, 0.0, -0.25), np.diag([1.2, 1.0, 1.6]))
    robot = rd.load("palletizer").with_(payload={"flange": sack})
    q, rest = robot.neutral(), np.zeros(robot.nv)
    for name, angle in {"shoulder": 0.45, "crank_drive": 0.15}.items():
        q[robot.joints[name].q] = angle
    q = robot.assemble(q, hold=["waist", "shoulder", "crank_drive", "flange_drive"])
    with style.context(["default", STYLE]):
        axis = Figure((8.5, 6.4), layout="constrained").subplots()
        robot.plot(q, path, wrenches=robot.joint_wrenches(q, rest, rest), axes=axis)


def _write(app: Sphinx) -> None:
    """Draw the gallery where something is newer than it is."""
    page = Path(app.srcdir) / "gallery" / "index.md"
    sources = [Path(__file__), *EXAMPLES, *(ROOT / "robodyn").rglob("*.py")]
    newest = max(path.stat().st_mtime for path in sources)
    if not page.exists() or page.stat().st_mtime < newest:
        write_gallery(page.parent)


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx draw the gallery before it reads pages."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    draw_palletizer(Path(sys.argv[1]))
