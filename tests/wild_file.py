"""What becomes of one description of a robot that somebody else wrote.

Run as a program, it is a worker: it reads a path a line and answers with records in JSON, each of
which adds to the one before, so that what is known outlives a crash of another reader.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.errors import PackageError
from robodyn.symbolic.evaluate import evaluate
from robodyn.urdf.common.document_kind import MJCF, SDF, URDF, XACRO, document_kind, outer_kind
from robodyn.urdf.common.packages import Packages
from robodyn.urdf.common.xml import decode, fragment, read_bytes, root_tag
from robodyn.urdf.xacro.expansion import expand

sys.path.insert(0, str(Path(__file__).parent))  # run as a program, or by pytest

#: States at which dynamics are compared.
STATES = 2

#: Robots with more degrees of freedom are not compiled.
SMALL = 9

#: Errors are relative to the largest entry of a result, but of such small ones to this.
LEAST = 1e-6

#: Names and numbers, in which messages of one kind differ.
PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|(?<![A-Za-z_])[-+]?\d[-+.\w]*|/[\w./+-]+")

#: Where messages begin to list what is particular to a file.
LISTS = re.compile(r"(; its arguments:|, from <|; there are|; looked in|; did you mean|\().*", re.S)

Record = dict[str, Any]


def records(path: Path) -> Iterator[Record]:
    """What is found out about a file, more each time.

    ``kind``; ``status`` is "loaded", "lenient", "refused" or "no robot"; ``reason`` and ``message``
    of what strict reading refuses; ``lenient_reason`` of what lenient reading does;
    ``seconds``; ``errors`` relative to Pinocchio, or ``not_compared``; ``read_by`` of what is
    refused: other readers that take it.
    """
    record: Record = {"file": str(path), "kind": None, "status": "refused"}
    try:
        text = decode(read_bytes(path), str(path))
        record["kind"] = document_kind(text)
    except rd.RobodynError as error:
        yield record | _why(error)
        return
    if not _is_robot(text, record["kind"]):
        yield record | {"status": "no robot"}
        return
    yield record
    began = time.perf_counter()
    robot: Any = None
    for status, strict in (("loaded", True), ("lenient", False)):
        try:
            with warnings.catch_warnings(record=True, action="always") as caught:
                robot = rd.load(path, passive=False, rigid=True, strict=strict)
            record["status"], record["warnings"] = status, [str(w.message) for w in caught]
            break
        except rd.RobodynError as error:
            record |= _why(error) if strict else {"lenient_reason": _kind_of(error)}
    record["seconds"] = time.perf_counter() - began
    yield record
    if robot is None:
        for name, reads in OTHERS.items():
            yield record | {"asked": name}  # if it crashes, this is known
            if reads(path, record["kind"]):
                record.setdefault("read_by", []).append(name)
    else:
        record |= {"nv": robot.nv, "loops": len(robot.loops)}
        yield record
        record |= _compared(path, robot, text, record["kind"])
    yield record


def _why(error: rd.RobodynError) -> Record:
    return {"reason": _kind_of(error), "message": str(error)}


def _kind_of(error: rd.RobodynError) -> str:
    """A message without what is particular to a file, so that alike ones are counted together."""
    problem = str(getattr(error, "problem", None) or error)
    if isinstance(error, PackageError):
        return "a package is not found"
    if "needs the argument" in problem:
        return "xacro: arguments are needed"
    if "holds macros alone" in problem:
        return "xacro: macros alone"
    shown = PARTICULARS.sub("..", LISTS.sub("", problem.splitlines()[0]))
    return f"{type(error).__name__}: {shown[:90]}"


def _is_robot(text: str, kind: str) -> bool:
    """Whether a document means to be a robot: schemas of SDF and parts of models do not."""
    outer = {URDF: "robot", SDF: "sdf", MJCF: "mujoco"}
    return kind == XACRO or root_tag(text) == outer.get(kind)


# -- Pinocchio -------------------------------------------------------------------------------------


def _compared(path: Path, robot: Any, text: str, kind: str) -> Record:
    """Errors relative to the largest entry, by quantity; or why there are none."""
    if kind not in (URDF, XACRO) or (kind == XACRO and outer_kind(text) != URDF):
        return {"not_compared": f"a file of {kind}"}
    if robot.nc or robot.mechanism.couplings:
        return {"not_compared": "it has loops"}
    if not robot.nv:
        return {"not_compared": "nothing moves"}
    try:
        from oracles.pinocchio_oracle import PinocchioOracle, read_by_pinocchio
    except ImportError:
        return {"not_compared": "no Pinocchio"}
    with tempfile.TemporaryDirectory() as folder:
        if kind == XACRO:
            root, _ = expand(text, str(path), {}, Packages())
            path = Path(folder, "expanded.urdf")
            path.write_text(fragment(root))
        model = read_by_pinocchio(path)
        if model is None:
            return {"not_compared": "Pinocchio refuses it"}
        try:
            oracle = PinocchioOracle(path, robot, model)
        except (rd.RobodynError, ValueError, SyntaxError) as error:
            return {"not_compared": f"{type(error).__name__}: {error}"[:100]}
    return _errors(robot, oracle)


def _errors(robot: Any, oracle: Any) -> Record:
    rng = np.random.default_rng(0)
    names = [name for name in robot.link_names if oracle.model.existBodyName(name)]
    worst: dict[str, float] = {}
    for _ in range(STATES):
        q = robot.random(rng)
        v, a, tau = rng.normal(size=(3, robot.nv))
        M = _computed(robot, "mass_matrix", q)
        pairs = {
            "inverse dynamics": (
                _computed(robot, "inverse_dynamics", q, v, a),
                oracle.inverse_dynamics(q, v, a),
            ),
            "mass matrix": (M, oracle.mass_matrix(q)),
            "poses": (
                _computed(robot, "frame_poses", q, frames=tuple(names)),
                np.array([oracle.frame_pose(q, name) for name in names]),
            ),
        }
        if np.linalg.cond(M) < 1e12:  # beyond, no digit of accelerations means anything
            pairs["forward dynamics"] = (
                _computed(robot, "forward_dynamics", q, v, tau),
                oracle.forward_dynamics(q, v, tau),
            )
        for name, (x, y) in pairs.items():
            size = max(LEAST, float(np.abs(y).max(initial=0.0)))
            error = float(np.abs(np.asarray(x) - y).max(initial=0.0)) / size
            worst[name] = max(worst.get(name, 0.0), error if np.isfinite(error) else np.inf)
    return {"errors": worst}


def _computed(robot: Any, name: str, *arrays: Any, **options: Any) -> Any:
    """A quantity: of large robots by the plain interpreter, which saves minutes of compilation."""
    function = robot.function(name, **options)
    if robot.nv <= SMALL:
        return function(*arrays)
    return evaluate(function.program, *arrays)[0]


# -- other readers ---------------------------------------------------------------------------------


def _pinocchio(path: Path, kind: str) -> bool:
    import pinocchio

    if kind == URDF:
        return bool(pinocchio.buildModelFromUrdf(str(path)).njoints)
    return kind == MJCF and bool(pinocchio.buildModelFromMJCF(str(path)).njoints)


def _pybullet(path: Path, kind: str) -> bool:
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        if kind == URDF:
            return bool(pybullet.loadURDF(str(path), physicsClientId=client) >= 0)
        load = {SDF: pybullet.loadSDF, MJCF: pybullet.loadMJCF}.get(kind)
        return load is not None and bool(load(str(path), physicsClientId=client))
    finally:
        pybullet.disconnect(client)


def _yourdfpy(path: Path, kind: str) -> bool:
    import yourdfpy

    if kind != URDF:
        return False
    options = dict.fromkeys(("build_scene_graph", "load_meshes", "load_collision_meshes"), False)
    return bool(yourdfpy.URDF.load(str(path), **options).robot.links)


def _mujoco(path: Path, kind: str) -> bool:
    import mujoco

    return kind == MJCF and bool(mujoco.MjModel.from_xml_path(str(path)).nbody)


def _quietly(reads: Any) -> Any:
    def whether(path: Path, kind: str) -> bool:
        try:
            with warnings.catch_warnings(action="ignore"):
                return bool(reads(path, kind))
        except Exception:  # whatever it raises, or it is not installed: it does not read it
            return False

    return whether


OTHERS = {
    "Pinocchio": _quietly(_pinocchio),
    "MuJoCo": _quietly(_mujoco),
    "yourdfpy": _quietly(_yourdfpy),
    "PyBullet": _quietly(_pybullet),
}


def main() -> None:
    """Answer paths from the standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # readers written in C++ talk a lot
        os.dup2(silence, stream)
    for line in sys.stdin:
        try:
            for record in records(Path(line.rstrip("\n"))):
                print(json.dumps(record), file=answers, flush=True)
            end = {}
        except rd.MissingExtraError as error:
            end = {"status": "refused", "reason": str(error)}
        except Exception as error:  # not one of ours: a fault of robodyn
            end = {"status": "crashed", "reason": f"{type(error).__name__}: {error}"[:150]}
        print(json.dumps(end | {"end": True}), file=answers, flush=True)


if __name__ == "__main__":
    main()
