"""Methods of a robot about its frames: poses, twists, accelerations, Jacobians."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from robodyn.motion.base_motion import BaseMotion
from robodyn.robot_core import RobotCore

__all__ = ["FrameMethods"]

Array = NDArray[Any]


class FrameMethods(RobotCore):
    """Motion of frames; see `robodyn.Robot`."""

    def frame_pose(
        self,
        q: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Pose ``X_WF`` of a frame, shape (..., 4, 4) [1, m], in the world or in another link."""
        return self._call(  # type: ignore[no-any-return]
            "frame_pose", (q,), base, out, frame=frame, relative_to=relative_to
        )

    def frame_twist(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Twist of a frame's origin, shape (..., 6) [m/s, rad/s], in body or world axes."""
        return self._call(  # type: ignore[no-any-return]
            "frame_twist", (q, v), base, out, frame=frame, relative_to=relative_to, axes=axes
        )

    def frame_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        classical: bool = False,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Acceleration of a frame, shape (..., 6) [m/s^2, rad/s^2].

        The derivative of the body twist, in body or world axes; with ``classical=True`` the
        acceleration of the frame's origin (what an observer at rest in ``relative_to`` sees).
        """
        return self._call(  # type: ignore[no-any-return]
            "frame_acceleration",
            (q, v, a),
            base,
            out,
            frame=frame,
            relative_to=relative_to,
            axes=axes,
            classical=bool(classical),
        )

    def frame_jacobian(
        self,
        q: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Jacobian J of a frame's twist, shape (..., 6, nv) [m, 1]: twist = J v (base at rest)."""
        return self._call(  # type: ignore[no-any-return]
            "frame_jacobian", (q,), base, out, frame=frame, relative_to=relative_to, axes=axes
        )

    def frame_jacobian_dot(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: str = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Time derivative of `frame_jacobian`, shape (..., 6, nv) [m/s, 1/s]."""
        return self._call(  # type: ignore[no-any-return]
            "frame_jacobian_dot",
            (q, v),
            base,
            out,
            frame=frame,
            relative_to=relative_to,
            axes=axes,
        )
