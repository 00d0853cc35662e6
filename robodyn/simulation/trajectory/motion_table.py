"""A motion as a table of its joints, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.html_tables import html_table, sparkline
from robodyn.robot import Robot
from robodyn.simulation.loads.column_names import force_unit, speed_names, speed_units

HEAD = ("joint", "position", "from", "to", "largest speed", "largest torque")


def motion_table(title: str, run: Any) -> str:
    """HTML of a trajectory whose robot is known, with samples."""
    robot, several = run.robot, run.q.shape[1:-1]
    facts = [f"{run.t[-1] - run.t[0]:.4g} s", f"{len(run)} samples"]
    facts += [f"{np.prod(several):.0f} motions at once"] if several else []
    facts += [f"{len(run.events)} events"] if run.events else []
    if robot.nc:
        gap = float(np.abs(run.loop_residual).max(initial=0.0))
        closed = gap <= robot.model.settings.closure_tolerance
        facts.append("loops closed" if closed else f"loops open by {gap:.2g} m or rad at most")
    return html_table(title, HEAD, _rows(robot, run.q, run.v, run.tau), facts=facts)


def _rows(robot: Robot, q: FloatArray, v: FloatArray, tau: FloatArray) -> Iterator[tuple[Any, ...]]:
    columns = _position_columns(robot)
    speeds = zip(speed_names(robot), speed_units(robot), strict=True)
    for k, (name, unit) in enumerate(speeds):
        shown = _shown(q[..., columns[k]], unit) if k in columns else ("", "", "")
        yield name, *shown, _most(v[..., k], f"{unit}/s"), _most(tau[..., k], force_unit(unit))


def _position_columns(robot: Robot) -> dict[int, int]:
    """Indices in q by indices in v, without quaternions."""
    found: dict[int, int] = {}
    for name in robot.joint_names:
        joint = robot.joints[name]
        turning = 4 if joint.kind.coordinates.quaternion else 0
        plain = range(joint.q.start, joint.q.stop - turning)
        found |= dict(zip(range(joint.v.start, joint.v.stop), plain, strict=False))
    return found


def _shown(x: Array, unit: str) -> tuple[str, str, str]:
    """Curve of the first motion, and the range of all motions."""
    first = x.reshape(len(x), -1)[:, 0]
    low, high = (f"{round(float(end), 12):.4g} {unit}" for end in (x.min(), x.max()))
    return sparkline(first), low, high


def _most(x: Array, unit: str) -> str:
    known = np.abs(x[~np.isnan(x)])
    return f"{known.max():.4g} {unit}" if known.size else ""
