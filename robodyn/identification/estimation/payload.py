"""`identify_payload`: inertia of a payload from a motion of the robot that carries it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import expect
from robodyn.caller import warn
from robodyn.description import Inertia
from robodyn.equations.tree.regressor import PARAMETERS
from robodyn.errors import ConvergenceWarning, SettingsError
from robodyn.identification.bodies.consistent import (
    UnknownInertia,
    ball,
    body_of,
    in_body,
    inertia_in,
    nearest_possible,
    thickened,
    warn_of_unfinished_search,
)
from robodyn.identification.data.measurements import Measurements, measured
from robodyn.identification.estimation.equations import CondensedEquations, Fit, equations
from robodyn.identification.estimation.identify import (
    PRIOR,
    checked_prior,
    estimated,
    noise_of,
    of_all_parameters,
    structure,
)
from robodyn.results import BaseParameters
from robodyn.robot import Robot
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import DETERMINED_MASS

#: Half the sum of squared residuals, in units of the noise, by which a guess may make a fit worse.
MISFIT = 10.0
#: Index of the mass among the parameters of a body.
MASS = PARAMETERS.index("m")


@dataclass(frozen=True, eq=False)
class Payload:
    """An identified payload of a robot.

    Attributes
    ----------
    robot : Robot
        Without it.
    link : str
        Link or frame in which it was asked for.
    inertia : Inertia
        Of a body that there can be, in that frame; what motions of the robot do not tell of it is
        that of the guess.
    base : BaseParameters
        The combinations of its ten numbers that motions of the robot tell, about the origin and in
        the axes of the body's link: estimates that do not depend on any guess.
    covariance : ndarray, shape (r, r)
        Of ``base.values``.
    noise : ndarray, shape (u,) [N m, N]
        Standard deviation of the forces that are left, at each independent joint.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> arm = rd.load("double_pendulum")
    >>> t = np.linspace(0, 2, 200)
    >>> w = np.array([2.0, 3.0])
    >>> q, v = np.sin(t[:, None] * w), w * np.cos(t[:, None] * w)
    >>> a = -(w**2) * q
    >>> load = rd.Inertia(0.5, rd.Pose((0, 0, -1)))
    >>> tau = arm.with_(payload={"lower": load}).inverse_dynamics(q, v, a)
    >>> payload = rd.identify_payload(arm, rd.Measurements(t, q, v, a, tau), "lower")
    >>> round(payload.inertia.mass * payload.inertia.origin.xyz[2], 6)     # 0.5 kg times -1 m
    -0.5
    """

    robot: Robot
    link: str
    inertia: Inertia
    base: BaseParameters
    covariance: FloatArray
    noise: FloatArray

    def __repr__(self) -> str:
        off = self.mass_deviation
        known = "as guessed: motions do not tell it" if off is None else f"+- {2.0 * off:.2g} kg"
        return f"<Payload at {self.link!r}: {self.inertia.mass:.6g} kg {known}>"

    @property
    def mass_deviation(self) -> float | None:
        """Standard deviation of the mass [kg]; None where motions of the robot do not tell it.

        It is then that of the guess, as far as its place and inertia leave one.
        """
        C = self.base.combination
        mass = np.array([float(k == MASS) for k in range(len(PARAMETERS))])
        part = np.linalg.lstsq(C.T, mass, rcond=None)[0]
        if np.abs(C.T @ part - mass).max() > DETERMINED_MASS:
            return None
        return float(np.sqrt(part @ self.covariance @ part))

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation of each of ``base.values``, shape (r,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def carried(self) -> Robot:
        """The robot with the payload."""
        body = body_of(self.robot, self.link)
        inertia = inertia_in(self.robot, in_body(self.robot, self.inertia, self.link), body)
        return self.robot.with_(payload={body: inertia})

    def in_frame(self, frame: str) -> Inertia:
        """The payload in another frame.

        Parameters
        ----------
        frame : str
            A link, or a frame of a tool, of the body that carries it.

        Raises
        ------
        UnknownNameError, SettingsError
        """
        if body_of(self.robot, frame) != body_of(self.robot, self.link):
            raise SettingsError(
                f"{frame!r} of {self.robot.name!r} does not carry it: {self.link!r} is on another "
                "body"
            )
        return inertia_in(self.robot, in_body(self.robot, self.inertia, self.link), frame)


@checked_arguments
def identify_payload(
    robot: Robot,
    data: Measurements | Trajectory,
    link: str,
    *,
    guess: Inertia | None = None,
    noise: ArrayLike | None = None,
    prior: float = PRIOR,
) -> Payload:
    """Identify a payload that is fixed to a link, from a motion of the robot with it.

    Parameters
    ----------
    robot : Robot
        Without the payload; all its own parameters are taken as known.
    data : Measurements or Trajectory
        Of a motion with it, as `identify` takes them.
    link : str
        A link or a frame of a tool. The inertia is given in its frame.
    guess : Inertia, optional
        In that frame: what motions of the robot do not tell is taken from it. Default: a ball of
        water of the mass that was found, about the origin of the body's link.
    noise : array_like, shape () or (u,), optional [N m, N]
        As in `identify`.
    prior : float
        As in `identify`.

    Returns
    -------
    payload : Payload

    Raises
    ------
    IdentificationError
        With ``.parameters``, those that the data do not excite, or that no motor feels.
    UnknownNameError, SettingsError, ShapeError

    Warns
    -----
    ConvergenceWarning
        The guess is so far from the payload that it changes what the motion tells, or the search
        for a body that can exist does not come to its end.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> robot = rd.load("scara")
    >>> hand, load = robot.body_names[-1], rd.Inertia.from_matrix(1.5, [0.1, 0.02, 0.0], np.eye(3))
    >>> motion = rd.excitation(robot, period=4.0, acceleration=10.0, iterations=1)
    >>> t = np.arange(0.0, 4.0, 0.02)
    >>> q, v, a = map(np.array, zip(*map(motion, t.tolist())))
    >>> tau = robot.with_(payload={hand: load}).inverse_dynamics(q, v, a)
    >>> found = rd.identify_payload(robot, rd.Measurements(t, q, v, a, tau), hand)
    >>> round(found.inertia.mass, 6), np.round(found.inertia.origin.xyz[:2], 6).tolist()
    (1.5, [0.1, 0.02])
    """
    data = measured(robot, data)
    prior = checked_prior(prior)
    body = body_of(robot, link)
    first = len(PARAMETERS) * robot.body_names.index(body)
    chosen = np.arange(first, first + len(PARAMETERS))
    described, scale = structure(robot, chosen, data.q[0])
    at = equations(robot, data)
    known = at.of(chosen[described.columns], at.W @ robot.dynamic_parameters).condensed()
    base, found, _ = estimated(known, described, scale, noise_of(noise, known))
    known = of_all_parameters(known, base)
    p = ball(1.0)
    for _ in range(3):  # from a ball of a far smaller mass the search ends beside the true one
        p, ended = _possible(known, found, ball(float(p[0])), ball(float(p[0])), prior)
    if not ended:
        warn_of_unfinished_search()
    if guess is not None:
        expect("guess", guess, Inertia)
        by_water, given = p, thickened(in_body(robot, guess, link))
        most = _misfit(known, found, by_water) + MISFIT
        for start in (given, by_water):  # what motions do not tell stays that of the start
            p, _ = _possible(known, found, given, start, prior)
            if _misfit(known, found, p) <= most:
                break
        else:
            message = (
                f"guess weighs {guess.mass:.4g} kg and draws what the motion tells away from it: "
                f"{p[0]:.6g} kg, but {by_water[0]:.6g} kg without the guess. Give a guess nearer "
                f"to the payload, or a smaller prior (now {prior:g})"
            )
            warn(ConvergenceWarning(message))
    return Payload(robot, link, inertia_in(robot, p, link), base, found.covariance, found.noise)


def _possible(
    at: CondensedEquations, found: Fit, reference: FloatArray, start: FloatArray, prior: float
) -> tuple[FloatArray, bool]:
    """Ten parameters of a physical body nearest to a reference; whether the search has ended."""
    W, y = at.weighted(found.noise)
    ten = np.arange(len(PARAMETERS))
    nothing = np.zeros(0, np.intp)
    body = UnknownInertia(ten, ten, reference)
    return nearest_possible(W, y, [body], nothing, start, prior)


def _misfit(at: CondensedEquations, found: Fit, p: FloatArray) -> float:
    """Half the sum of squared residuals in units of the noise, as `nearest_possible` has it."""
    W, y = at.weighted(found.noise)
    return 0.5 * float(((W @ p - y) ** 2).sum())
