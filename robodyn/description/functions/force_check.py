"""Checks of force laws, made at some states."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.force_elements.force_law import ForceLaw
from robodyn.joints import joint_kind
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Program
from robodyn.tolerances import FORCE_OF_POTENTIAL

#: ``(kind, nq, nv)`` of a joint.
Size = tuple[str, int, int]

#: Number of states at which a law is checked.
TRIALS = 16


def check_law(law: ForceLaw, slope: Program | None, size: Size) -> None:
    """Refuse a law that is not finite, not smooth at rest, or not the gradient of its energy.

    slope: The force that its energy has, if both were given.
    size: Of its joint; no kind of one that acts on frames.
    """
    force = f"force {law.name!r}"
    x, w, t = _trials(law, size)
    with np.errstate(all="ignore"):
        good = np.isfinite(_values(law.law, x, w, t)).all(axis=1)
        if not good.any():
            raise ShapeError(f"{force} is not a finite number anywhere", name="law")
        x, t, still = x[good], t[good], 0.0 * w[good]
        rest = _values(law.law, x, still, t)
        slopes = _values(jacobian(law.law, "w"), x, still, t)
        if not (np.isfinite(rest).all() and np.isfinite(slopes).all()):
            raise ShapeError(
                f"{force} is not smooth at rest: where nothing moves, it or its slope along speeds "
                "is no number. Of the size of a speed take sqrt(w * w + s**2) with a small speed s",
                name="law",
            )
        if slope is None:
            return
        wanted = _values(slope, x, still, t)
    error = np.nan_to_num(np.abs(rest - wanted), nan=np.inf).max(axis=1)
    k = int(np.argmax(error / (1.0 + np.abs(rest).max(axis=1))))
    if not error[k] <= FORCE_OF_POTENTIAL * (1.0 + np.abs(rest[k]).max()):
        raise ShapeError(
            f"{force} is not the slope of its potential: in a posture where nothing moves it is "
            f"{rest[k].round(6).tolist()}, and the slope gives {wanted[k].round(6).tolist()}. With "
            "law=None the force is the slope",
            name="potential",
        )


def _trials(law: ForceLaw, size: Size) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Positions, speeds and times at which a law is checked."""
    kind, n, m = size
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, (TRIALS, n))
    if law.joint and joint_kind(kind).coordinates.quaternion:
        x[:, -4:] /= np.linalg.norm(x[:, -4:], axis=1, keepdims=True)
    elif len(law.places) == 1:
        R = np.linalg.qr(rng.normal(size=(TRIALS, 3, 3)))[0]
        R = R * np.linalg.det(R)[:, None, None]
        x = np.concatenate([R, x[:, :3, None]], axis=2).reshape(TRIALS, 12)
    return x, rng.normal(size=(TRIALS, m)), rng.uniform(size=(TRIALS, 1))


def _values(program: Program, *arrays: FloatArray) -> FloatArray:
    """First result of a program at states, shape (n, m)."""
    given = dict(zip(("x", "w", "t"), arrays, strict=False))
    found = evaluate(program, *(given[port.name] for port in program.inputs))[0]
    return np.asarray(found, float).reshape(len(arrays[0]), -1)
