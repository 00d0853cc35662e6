"""Interface of the viewer that panels use."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.robot import Robot
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.view.drawing.robot import Drawing
from robodyn.view.panels.posing import Slider


class PanelViewer(Protocol):
    """Interface of the viewer that panels use; see `robodyn.view.app.Viewer`."""

    server: Any
    robot: Robot
    motion: Trajectory | None
    drawing: Drawing
    q: NDArray[np.float64]
    following: bool
    lock: Any
    why_open: str

    def show(self, q: ArrayLike) -> None:
        """Show a posture."""

    def pose(self, values: Mapping[Slider, float], *, by_hand: bool = False) -> bool:
        """Set sliders with closed loops; ``False`` if the linkage cannot reach these values."""

    def close_loops(self) -> None:
        """Close the loops near the posture shown, and return a message on the result."""

    def show_time(self, t: float) -> None:
        """Show the motion at a time from its start."""

    def redraw(self) -> None:
        """Draw the current posture again."""

    @property
    def url(self) -> str:
        """Address of the page."""

    def paused(self) -> AbstractContextManager[None]:
        """Context in which playback is paused; at its end the posture is the same as before."""

    def motion_now(self) -> tuple[NDArray[np.float64], ...]:
        """Velocity, acceleration and forces of the sample shown; empty at rest."""
