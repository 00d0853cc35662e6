"""Time of one method called in every form, as a Markdown table, with the plain call beside it.

Then batches that are larger than the caches, beside the time to fill their results with zeros, and
batches of few states on one thread and on two. All forms take turns in one process, so that what
else the machine does hits all of them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pinocchio as pin
from contestants import pair
from versus_pinocchio import least

import robodyn as rd

#: Call of one state -> what is timed.
SINGLE = {
    "positional arrays": "robot.inverse_dynamics(q, v, a)",
    "into `out=`": "robot.inverse_dynamics(q, v, a, out=out)",
    "by keyword": "robot.inverse_dynamics(q=q, v=v, a=a)",
    "`base=None`": "robot.inverse_dynamics(q, v, a, base=None)",
    "`wrenches={link: array}`": "robot.inverse_dynamics(q, v, a, wrenches=wrenches)",
    "its function, `wrenches`": "pushed(q, v, a, wrench)",
    "one list": "robot.inverse_dynamics(q_list, v, a)",
    "three lists": "robot.inverse_dynamics(q_list, v_list, a_list)",
    "a reversed slice": "robot.inverse_dynamics(q[::-1], v, a)",
    "a column": "robot.inverse_dynamics(columns[:, 0], v, a)",
    "float32 beside float64": "robot.inverse_dynamics(q32, v, a)",
    "all float32": "robot.inverse_dynamics(q32, v32, a32)",
    "integers": "robot.inverse_dynamics(q_int, v, a)",
    "frame_pose": 'robot.frame_pose(q, "panda_link7")',
    "its function, frame_pose": "pose(q)",
    "frame_jacobian": 'robot.frame_jacobian(q, "panda_link7")',
    "frame_jacobian, world axes": 'robot.frame_jacobian(q, "panda_link7", axes="world")',
    "frame_twist": 'robot.frame_twist(q, v, "panda_link7")',
    "Pinocchio, one frame": "pin.framesForwardKinematics(model, data, q)",
    "joint_wrenches": "robot.joint_wrenches(q, v, a)",
    "a loop of frame_pose over all frames": "[robot.frame_pose(q, name) for name in names]",
    "frame_poses": "robot.frame_poses(q)",
    "frame_twists": "robot.frame_twists(q, v)",
    "frame_jacobians": "robot.frame_jacobians(q)",
}

#: Call of a batch -> what is timed.
BATCH = {
    "contiguous rows": "robot.inverse_dynamics(Q, V, A, out=out)",
    "rows of wider arrays": "robot.inverse_dynamics(Q2, V2, A2, out=out)",
    "rows in reverse order": "robot.inverse_dynamics(Q[::-1], V[::-1], A[::-1], out=out)",
    "columns": "robot.inverse_dynamics(QT.T, VT.T, AT.T, out=out)",
    "float32 beside float64": "robot.inverse_dynamics(Q32, V, A, out=out)",
    "one posture, many speeds": "robot.inverse_dynamics(q, V, A, out=out)",
    "frame_poses": "robot.frame_poses(Q)",
}

#: Call of a batch whose results take `LARGE_BYTES` -> what is timed.
LARGE = {
    "zeros into `out=`": "out.fill(0.0)",
    "mass matrices into `out=`": "robot.mass_matrix(Q, out=out)",
    "their function": "mass(Q, out=out)",
    "a new array": "mass(Q)",
    "float32 into `out=`": "mass(Q32, out=out32)",
}
LARGE_BYTES = 90 << 20

#: States of batches for one thread and for two, and calls that are timed together.
STATES, TOGETHER = (128, 256, 512, 1024, 4096, 16384), 40


def rows(robot: Any, statements: dict[str, str], names: dict[str, Any], seconds: float) -> None:
    """Print times of the statements that this version knows."""
    known = {}
    for label, text in statements.items():
        try:
            eval(text, names)
        except AttributeError:
            continue
        known[label] = text
    times = least(known, names, seconds)
    first = next(iter(times.values()))
    for label, t in times.items():
        count = names.get("count", 1)
        print(f"| {label} | {1e9 * t / count:.0f} | {t / first:.2f} |")


def large_results(name: str, seconds: float) -> None:
    """Print times a state of mass matrices that do not fit into the caches."""
    p = pair(name, 64)
    robot, count = p.robot, LARGE_BYTES // (8 * p.robot.nv**2)
    Q = np.resize(p.ours[0], (count, robot.nq))
    names = {"robot": robot, "mass": robot.function("mass_matrix"), "count": count, "Q": Q}
    names |= {"out": np.empty((count, robot.nv, robot.nv)), "Q32": Q.astype(np.float32)}
    names["out32"] = names["out"].astype(np.float32)
    print(f"\n| {name}, {LARGE_BYTES >> 20} MB | ns a state | of the first |\n|---|---|---|")
    rows(robot, LARGE, names, seconds)


def on_threads(robot: Any, X: list[np.ndarray], seconds: float) -> None:
    """Print times of a call on one thread and on two, of batches one after the other."""
    print("\n| states | one thread [us] | two | of one |\n|---|---|---|---|")
    f = robot.function("inverse_dynamics")
    for n in STATES:
        given, out = [np.resize(x, (n, x.shape[1])) for x in X], np.empty((n, robot.nv))
        best = {1: np.inf, 2: np.inf}
        end = time.perf_counter() + seconds / len(STATES)
        while time.perf_counter() < end:
            for count in best:
                rd.set_num_threads(count)
                f(*given, out=out)
                start = time.perf_counter()
                for _ in range(TOGETHER):
                    f(*given, out=out)
                best[count] = min(best[count], (time.perf_counter() - start) / TOGETHER)
        one, two = best[1] * 1e6, best[2] * 1e6
        print(f"| {n} | {one:.2f} | {two:.2f} | {two / one:.2f} |")
    rd.set_num_threads(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each table")
    parser.add_argument("--states", type=int, default=512, help="in a batch")
    seconds = parser.parse_args().seconds
    n = parser.parse_args().states
    p = pair("panda", max(n, 64))
    robot, (Q, V, A) = p.robot, p.ours
    rd.set_num_threads(1)
    q, v, a = (x[0].copy() for x in (Q, V, A))
    link = robot.link_names[-1]
    names: dict[str, Any] = dict(zip("qva", (q, v, a), strict=True))
    names |= {f"{key}_list": x.tolist() for key, x in zip("qva", (q, v, a), strict=True)}
    names |= {f"{key}32": x.astype(np.float32) for key, x in zip("qva", (q, v, a), strict=True)}
    names |= {
        "robot": robot,
        "pin": pin,
        "model": p.model,
        "data": p.model.createData(),
        "out": np.empty(robot.nv),
        "q_int": np.arange(robot.nq),
        "columns": np.repeat(q[:, None], 2, axis=1),
        "wrench": np.ones(6),
        "wrenches": {link: np.ones(6)},
        "pushed": robot.function("inverse_dynamics", wrenches=(link,)),
        "pose": robot.function("frame_pose", frame="panda_link7"),
        "names": robot.frame_names,
    }
    print("| one state | ns | of the first |\n|---|---|---|")
    rows(robot, SINGLE, names, seconds)
    X = [x[:n].copy() for x in (Q, V, A)]
    names |= {"count": n, "out": np.empty((n, robot.nv))}
    names |= dict(zip("QVA", X, strict=True))
    for key, x in zip("QVA", X, strict=True):
        names[f"{key}2"] = np.repeat(x, 2, axis=1)[:, : robot.nv]
        names[f"{key}T"] = x.T.copy()
    names["Q32"] = X[0].astype(np.float32)
    print(f"\n| {n} states | ns a state | of the first |\n|---|---|---|")
    rows(robot, BATCH, names, seconds)
    print("\n| states | ns a call | of the first |\n|---|---|---|")
    few = {"count": 1, "robot": robot}
    for k in (1, 2, 3, 4, 7, 8, 9, 15, 16):
        few |= {f"{key}{k}": x[:k].copy() for key, x in zip("QVA", X, strict=True)}
    calls = {f"{k}": f"robot.inverse_dynamics(Q{k}, V{k}, A{k})" for k in (1, 2, 3, 4, 7, 8, 9, 16)}
    rows(robot, calls, few, seconds)
    for name in ("anymal", "talos"):
        large_results(name, seconds)
    on_threads(robot, X, seconds)


if __name__ == "__main__":
    main()
