"""`Viewer`: shows a robot on a page in the browser."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.errors import (
    MissingExtraError,
    RobodynError,
    SettingsError,
    ShapeError,
    TopologyError,
)
from robodyn.robot import Robot
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.urdf.common.packages import PackageDirs
from robodyn.view.drawing.geometry import link_geometry
from robodyn.view.drawing.robot import Drawing
from robodyn.view.guard import Guard, guarded_server
from robodyn.view.panels import ForcesPanel, PlaybackPanel, PosePanel
from robodyn.view.posing import Slider, move, near_options

__all__ = ["Viewer"]

#: Hosts that mean all addresses of this machine, and the loopback address for each.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class Viewer:
    """A robot in the browser; serves until it is closed.

    Parameters
    ----------
    robot : Robot
    motion : Trajectory, optional
        To play.
    host : str
        Who may connect: by default this machine only. ``"0.0.0.0"``: anyone who can reach it and
        knows the token in ``url``, which is another each time.
    port : int
        The next free one is taken if it is in use.
    package_dirs : mapping of package name to path, path, or iterable of paths, optional
        Where meshes of ``package://`` lie.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        The posture shown. A robot whose loops do not close stands where the search for a closed
        posture starts, loops open, and each of its joints can be moved.
    why_open : str
        Why no closed posture is found; empty if there is one.
    server : viser.ViserServer

    Raises
    ------
    MissingExtraError
        If viser is not installed (extra ``view``).
    RobodynError
        If the host is not this machine, or the port is none; if the robot depends on time.
    """

    def __init__(
        self,
        robot: Robot,
        motion: Trajectory | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        package_dirs: PackageDirs = None,
    ) -> None:
        viser = _viser()
        if robot.depends_on_time:
            raise SettingsError(f"{robot.name!r} depends on time: a posture is not all of it")
        self.robot, self.motion = robot, motion
        self.why_open = _why_open(robot)
        self.q: FloatArray = robot.start() if self.why_open else robot.neutral()
        if motion is not None:
            self.q = np.array(motion.q[0], float)
        self.following = False
        self._sample: int | None = None if motion is None else 0
        self.lock = threading.RLock()
        _check_address(host, port)
        geometry = link_geometry(robot.mechanism, package_dirs)
        self._guard = Guard(host)
        self.server: Any = guarded_server(
            self._guard,
            lambda: viser.ViserServer(host=host, port=port, label=robot.name, verbose=False),
        )
        self.server.request_share_url = _not_shared  # which any page that connects could ask for
        try:
            self._build(geometry)
        except BaseException:
            self.server.stop()
            raise

    def _build(self, geometry: Any) -> None:
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        self.drawing = Drawing(self.server, self.robot, geometry, self.q)
        self._playback = None if self.motion is None else PlaybackPanel(self)
        self.pose_panel = PosePanel(self)
        self.forces_panel = ForcesPanel(self)
        with gui.add_folder("Show", expand_by_default=False):
            solid = gui.add_checkbox("shapes", True)
            clear = gui.add_checkbox("see through", False)
            skeleton = gui.add_checkbox("skeleton and joints", True)
            notes = "\n".join(self.drawing.notes)
            gui.add_text("not shown", notes, multiline=True, disabled=True, visible=bool(notes))
        for handle in (solid, clear, skeleton):
            handle.on_update(
                lambda _: self.drawing.show(
                    solid=solid.value, clear=clear.value, skeleton=skeleton.value
                )
            )
        self.shown = {"shapes": solid, "see through": clear, "skeleton": skeleton}
        self.redraw()

    # -- address --------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Address of the page; for other machines, it contains the access token."""
        host = self.server.get_host()
        shown = EVERYWHERE.get(host, host)
        place = f"http://{f'[{shown}]' if ':' in shown else shown}:{self.server.get_port()}"
        return f"{place}/{self._guard.token}/" if self._guard.token else place

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens on all addresses of this machine."""
        return self.server.get_host() in EVERYWHERE

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on visuals that could not be shown."""
        return self.drawing.notes

    # -- posture and motion ---------------------------------------------------------------------

    def show(self, q: ArrayLike) -> None:
        """Show a posture, shape (nq,) [rad, m]."""
        given = np.array(q, float)
        if given.shape != (self.robot.nq,) or not np.isfinite(given).all():
            raise ShapeError(
                f"q has shape {given.shape}, expected ({self.robot.nq},) and finite",
                name="q",
                given=given.shape,
            )
        self._set(given, sample=None)

    def pose(self, values: Mapping[Slider, float]) -> bool:
        """Set sliders with closed loops; ``False`` if the linkage cannot reach these values."""
        with self.lock:
            closed = not self.why_open
            opened = closed and self.drawing.gaps.texts  # it is shown as it stands at zero
            start = self.robot.neutral() if opened else self.q
            moved = move(self.robot, start, dict(values), closed=closed)
            # a slider that is where it should be is left alone: a hand may be on it
            follow = not moved.complete or bool(opened)
            self._set(moved.q, sample=None, complete=moved.complete, follow=follow)
        return moved.complete

    def close_loops(self) -> None:
        """Close the loops near the posture shown, and return a message on the result."""
        try:
            closed = self.robot.assemble(self.q)
        except RobodynError as error:
            self.pose_panel.say(str(error))
            return
        self.show(closed)
        self.pose_panel.say(near_options(self.robot, closed))

    def show_sample(self, k: int) -> None:
        """Show a sample of the motion."""
        assert self.motion is not None
        self._set(np.array(self.motion.q[k], float), sample=k)

    def _set(
        self, q: FloatArray, *, sample: int | None, complete: bool = True, follow: bool = True
    ) -> None:
        with self.lock:
            self.q, self._sample, self.following = q, sample, True
            try:
                if follow:
                    self.pose_panel.follow()
                self.pose_panel.show_gap(complete)
                self.redraw()
            finally:
                self.following = False

    def redraw(self) -> None:
        """Draw the current posture again."""
        with self.lock:
            self.drawing.place(self.q)
            self.forces_panel.draw()

    def motion_now(self) -> tuple[FloatArray, FloatArray, FloatArray] | tuple[()]:
        """Velocity, acceleration and forces of the sample shown; empty if no motion is shown."""
        if self._sample is None or self.motion is None:
            return ()
        k = self._sample
        return self.motion.v[k], self.motion.a[k], self.motion.tau[k]

    # -- serving --------------------------------------------------------------------------------

    def wait(self) -> None:
        """Serve until interrupted."""
        try:
            threading.Event().wait()
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        if self._playback is not None:
            self._playback.close()
        self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _why_open(robot: Robot) -> str:
    try:
        robot.neutral()
    except TopologyError as error:
        return error.problem
    return ""


def _check_address(host: str, port: int) -> None:
    """Check that a server can listen at an address; viser would wait forever if it cannot."""
    if not 0 <= port <= 65535:
        raise RobodynError(f"port is {port}, expected a number from 0 to 65535")
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as trial:
            trial.bind(address)
    except OSError as error:
        reason = error.strerror or error
        raise RobodynError(f"{host!r} is no address of this machine: {reason}") from error


def _viser() -> Any:
    try:
        import viser
    except ImportError as error:
        if error.name not in ("viser", None):
            raise RobodynError(f"viser does not start: {error}") from error
        raise MissingExtraError("viser", "view", "showing a robot in the browser") from None
    return viser


def _not_shared(verbose: bool = True) -> None:
    """Replaces viser's sharing through an external server, so that no data leave this machine."""
