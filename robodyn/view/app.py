"""`Viewer`: shows a robot on a page in the browser."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import wrong_shape
from robodyn.errors import RobodynError, SettingsError, TopologyError, UnknownNameError
from robodyn.literals import ArrowKind
from robodyn.robot import Robot
from robodyn.shapes.geometry import link_geometry
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.urdf.common.packages import PackageDirs
from robodyn.view.capture import Exports, PicturesPanel
from robodyn.view.drawing.arrows import KINDS
from robodyn.view.drawing.robot import Drawing
from robodyn.view.drawing.scene import Camera
from robodyn.view.pages import Pages
from robodyn.view.panels.drawn import ForcesPanel, Legend, PartsPanel
from robodyn.view.panels.playback import PlaybackPanel
from robodyn.view.panels.posing import PosePanel, Slider, move, near_options
from robodyn.view.recording import check_motion
from robodyn.view.server import EVERYWHERE, start_server


class Viewer:
    """Shows a robot on a page in the browser, until it is closed.

    Parameters
    ----------
    robot : Robot
    motion : Trajectory, optional
        A motion of the robot to play.
    host : str
        Address at which the server listens. Default: only browsers on this machine can connect.
        ``"0.0.0.0"``: all that can reach this machine and know the random token in ``url``.
    port : int
        If it is in use, the next free one is taken.
    package_dirs : mapping of package name to path, path, or iterable of paths, optional
        Folders of the packages of meshes with ``package://`` in their names.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        The posture shown. If no closed posture is found, it is the start of the search for one,
        with open loops, and each joint can be moved.
    why_open : str
        Why no closed posture was found; empty if one was.
    server : viser.ViserServer

    Raises
    ------
    MissingExtraError
        If viser is not installed (extra ``view``).
    RobodynError
        If the host is not an address of this machine, the port is not valid, or the robot depends
        on time.
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
        if robot.depends_on_time:
            raise SettingsError(f"{robot.name!r} depends on time: a posture is not all of it")
        if motion is not None:
            check_motion(motion, robot, "the motion")
        self.robot, self.motion = robot, motion
        self.why_open = _why_open(robot)
        self.q: FloatArray = robot.start() if self.why_open else robot.neutral()
        if motion is not None:
            self.q = np.array(motion.q[0], float)
        self.following = False
        self._sample: int | None = None if motion is None else 0
        self.lock = threading.RLock()
        self._closed, self._pausing = threading.Event(), threading.Lock()
        self.server: Any
        self.server, self._guard = start_server(host, port, robot.name)
        try:
            self._build(link_geometry(robot.mechanism, package_dirs))
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
        legend = Legend(self)
        self.parts_panel = PartsPanel(self)
        self.forces_panel = ForcesPanel(self, legend, self.parts_panel)
        self._pages = Pages(self.server, self._camera_moved)
        self._exports = Exports(self, self._pages)
        PicturesPanel(self, self._exports)
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
        """Whether the server listens on all addresses of this machine."""
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
            raise wrong_shape("q", given.shape, f"({self.robot.nq},) and finite")
        self._set(given, sample=None)

    def pose(self, values: Mapping[Slider, float], *, by_hand: bool = False) -> bool:
        """Set sliders with closed loops; ``False`` if the linkage cannot reach these values.

        Parameters
        ----------
        values : mapping of Slider to float [rad, m]
        by_hand : bool
            The user is moving the sliders, so they are set only if the linkage cannot follow them.
        """
        with self.lock:
            closed = not self.why_open
            opened = closed and self.drawing.gaps.texts  # the posture shown has open loops
            start = self.robot.neutral() if opened else self.q
            moved = move(self.robot, start, dict(values), closed=closed)
            follow = not (by_hand and moved.complete) or bool(opened)
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

    def show_time(self, t: float) -> None:
        """Show the last sample of the motion at or before a time [s] from its start."""
        assert self.motion is not None
        since = self.motion.t - self.motion.t[0]
        k = max(int(np.searchsorted(since, t + 1e-9, "right")) - 1, 0)
        self._set(np.array(self.motion.q[k], float), sample=k)

    def show_arrows(self, *kinds: ArrowKind, numbers: bool = True, scale: float = 1.0) -> None:
        """Draw forces in joints as arrows; without an argument, none.

        Parameters
        ----------
        *kinds : {"forces", "moments", "torques"}
            Forces and moments of the parent on the child, torques of motors.
        numbers : bool
            Write the sizes [N, N m] of the longest arrows beside them.
        scale : float
            Factor of the lengths of all arrows, 0.1 to 5.

        Raises
        ------
        UnknownNameError, SettingsError
        """
        for kind in kinds:
            if kind not in KINDS:
                raise UnknownNameError("kind of arrow", kind, KINDS)
        if not 0.1 <= scale <= 5.0:
            raise SettingsError(f"scale is {scale!r}, expected 0.1 to 5")
        with self.lock:
            self.forces_panel.show(kinds, numbers=numbers, scale=scale)

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

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Context in which playback is paused; at its end the page shows the same as before.

        One thread at a time can enter it, and has to do so before it takes `lock`.
        """
        playback = self._playback
        with self._pausing:
            q, sample, camera = self.q, self._sample, self.drawing.arrows.camera
            playing = playback is not None and playback.playing.value
            if playback is not None:
                playback.playing.value = False
            try:
                yield
            finally:
                self.drawing.arrows.camera = camera
                if not self._closed.is_set():
                    self._set(q, sample=sample)
                    if playback is not None:
                        playback.playing.value = playing

    def _camera_moved(self, camera: Camera) -> None:
        """Place the numbers beside arrows for a camera."""
        with self.lock:
            self.drawing.arrows.camera = camera
            self.forces_panel.draw()

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

    # -- pictures --------------------------------------------------------------------------------

    def screenshot(
        self, path: str | os.PathLike[str], *, size: tuple[int, int] | None = None
    ) -> None:
        """Write an image of the robot, as shown by the page that was used last.

        If no page is open, a browser without a window draws the image: a Chromium, or the program
        that the environment variable ``CHROMIUM`` names.

        Parameters
        ----------
        path : path
            ``.png`` or ``.jpg``.
        size : (int, int), optional [px]
            Width and height. Default: those of the page, or 1280 x 800.

        Raises
        ------
        ShapeError, SettingsError, MissingFileError, FileError
        RobodynError
            If no page is open and there is no browser; if the page does not answer.
        """
        self._exports.screenshot(path, size)

    def video(
        self,
        path: str | os.PathLike[str],
        *,
        size: tuple[int, int] | None = None,
        rate: float = 30.0,
        speed: float = 1.0,
    ) -> None:
        """Write a video of the motion, drawn by the same page as for `screenshot`.

        Parameters
        ----------
        path : path
            ``.mp4`` (H.264) or ``.gif``.
        size : (int, int), optional [px]
            Width and height, made even. Default: those of the page, or 1280 x 800.
        rate : float [1/s]
            Frames a second.
        speed : float
            Speed of playback: 0.5 shows the motion half as fast.

        Raises
        ------
        ShapeError, SettingsError, MissingFileError, FileError, MissingExtraError
        RobodynError
            If no page is open and there is no browser; if the page does not answer.
        """
        self._exports.video(path, size, rate=rate, speed=speed)

    def write_html(self, path: str | os.PathLike[str], *, dark: bool = False) -> None:
        """Write the scene and the motion as one web page, which needs no server and no network.

        The page can be opened in any browser, or put on a web site: the scene can be turned, and
        the motion plays. It has no panels.

        Parameters
        ----------
        path : path
            ``.html``; its size is about 1 MB plus that of the meshes.
        dark : bool
            Draw on a dark background.

        Raises
        ------
        ShapeError, MissingFileError, FileError
        """
        self._exports.html(path, dark=dark)

    def _repr_html_(self) -> str:
        """The page as a frame of a notebook."""
        url = escape(self.url)
        return (
            f'<iframe src="{url}" title="{escape(self.robot.name)}" width="100%" height="520" '
            f'style="border:1px solid #8888"></iframe><a href="{url}" target="_blank">{url}</a>'
        )

    # -- serving --------------------------------------------------------------------------------

    def wait(self) -> None:
        """Wait until Ctrl-C, or until another thread closes the viewer."""
        try:
            self._closed.wait()
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._pages.close()
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
