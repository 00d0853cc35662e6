"""`identify`: parameters of a robot from measured motions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import each, number
from robodyn.caller import warn
from robodyn.equations.tree.regressor import PARAMETERS
from robodyn.errors import ConvergenceWarning, IdentificationError, SettingsError
from robodyn.identification.bodies.consistent import (
    UnknownInertia,
    ball,
    nearest_possible,
    thickened,
    warn_of_unfinished_search,
)
from robodyn.identification.data.measurements import Measurements, measured
from robodyn.identification.estimation.equations import (
    CondensedEquations,
    Fit,
    equations,
    fit,
    hidden,
    random_regressors,
    selected,
)
from robodyn.identification.estimation.identified import Identified
from robodyn.literals import Unexcited
from robodyn.parts.parameters import base_of
from robodyn.results import BaseParameters
from robodyn.robot import Robot
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import VISIBLE_EFFECT, ZERO_COLUMN

#: Default weight of the description relative to the data.
PRIOR = 1e-3
#: Part of a column of the regressor that base parameters of one branch may leave out.
OTHER_BRANCH = 1e-2
#: Initial mass of a body that is described without mass [kg].
SOME_MASS = 0.1


@checked_arguments
def identify(
    robot: Robot,
    data: Measurements | Trajectory,
    *,
    parameters: Iterable[str] | None = None,
    noise: ArrayLike | None = None,
    consistent: bool = True,
    prior: float = PRIOR,
    unexcited: Unexcited = "error",
) -> Identified:
    """Inertial parameters, rotor inertias and friction of a robot from a measured motion.

    Base parameters, the combinations that motions depend on, are estimated by weighted least
    squares, with error bars. Of all parameters that go with them the result has those nearest to
    the description; they make a robot again, `Identified.robot`. Forces that close loops drop out,
    so closed linkages need the forces of their motors alone.

    Parameters
    ----------
    robot : Robot
        As it is described: what is not identified is known, and what the data do not say stays.
    data : Measurements or Trajectory
        Of a trajectory all arrays count as measured; where they are noisy,
        `Measurements.filtered` makes measurements of its positions and forces.
    parameters : names, optional
        Of `Robot.dynamic_parameter_names`; a body stands for its ten, a joint for its rotor
        inertia, damping and friction. Default: all bodies with mass, rotors of all motors, and the
        friction of joints that have motors or are described as having some.
    noise : array_like, shape () or (u,), optional [N m, N]
        Standard deviation of the forces at each independent joint, if it is known. Default: what
        is left of the forces says.
    consistent : bool
        Bodies, rotors and friction are such that they can exist: masses positive, inertias those of
        some distribution of mass, friction not negative. Otherwise they are the nearest in the
        sense of least squares.
    prior : float
        Weight of the description, if ``consistent``: at 1 it counts as about one sample.
    unexcited : {"error", "keep"}
        What becomes of base parameters that the data say nothing of.

    Returns
    -------
    identified : Identified

    Raises
    ------
    IdentificationError
        With ``.parameters``, those that the data do not excite, or of which they show ratios alone.
    UnknownNameError, SettingsError, ShapeError
        For parameters that do not exist, and data that do not fit the robot.

    Warns
    -----
    ConvergenceWarning
        No force is measured or known at some joints, so that noise of accelerations draws their
        parameters toward zero; or a linkage is assembled in several ways in the data, of which one
        shows less than the others; or the search for bodies that can exist does not come to its
        end.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> robot = rd.load("pan_tilt")
    >>> motion = rd.excitation(robot, period=4.0, acceleration=20.0, iterations=2)
    >>> heavier = robot.with_(parameters={"camera.m": 2.0})
    >>> q, v, a = map(np.array, zip(*map(motion, np.arange(0.0, 4.0, 0.01).tolist())))
    >>> tau = heavier.inverse_dynamics(q, v, a)
    >>> found = rd.identify(robot, rd.Measurements(np.arange(0.0, 4.0, 0.01), q, v, a, tau))
    >>> found.unexcited
    ()
    >>> bool(np.abs(found.robot.inverse_dynamics(q, v, a) - tau).max() < 1e-6)
    True

    Notes
    -----
    [Gautier 1991] for base parameters, [Lee, Wensing and Park 2020] for consistent ones.
    """
    data = measured(robot, data)
    prior = checked_prior(prior)
    chosen = selected(robot, parameters)
    described, scale = structure(robot, chosen, data.q[0])
    at = equations(robot, data)
    _check_branches(robot, at.W[..., chosen], described)
    rest = np.delete(at.W, chosen, axis=2) @ np.delete(robot.dynamic_parameters, chosen)
    known = at.of(chosen[described.columns], rest).condensed()
    base, found, unseen = estimated(known, described, scale, noise_of(noise, known), unexcited)
    p0 = robot.dynamic_parameters[chosen]
    if consistent:
        p = _consistent(robot, chosen, of_all_parameters(known, base), found, prior)
    else:
        p = p0 + _least_change(base, base.values - base.combination @ p0, scale)
    values = dict(zip(base.parameter_names, p.tolist(), strict=True))
    return Identified(
        robot, base, described.values, found.covariance, found.noise, known.names, values, unseen
    )


def checked_prior(given: float) -> float:
    """The weight of the description, checked."""
    prior = number("prior", given)
    if not 0.0 < prior < np.inf:
        raise SettingsError(f"prior is {prior!r}, expected a positive number")
    return prior


def _check_branches(robot: Robot, W: FloatArray, described: BaseParameters) -> None:
    """Warn if a linkage shows more in the data than the base parameters of one branch."""
    size = np.sqrt((W**2).mean(axis=(0, 1)))
    beyond = W - W[..., described.columns] @ described.combination
    part = np.sqrt((beyond**2).mean(axis=(0, 1)))
    more = (part > OTHER_BRANCH * size) & (size > ZERO_COLUMN * size.max(initial=0.0))
    if robot.tree_form.nc and more.any():
        names = np.array(described.parameter_names)[more][:3]
        message = (
            f"these data show more of {robot.name!r} than it does in the way of assembly of their "
            f"first sample, such as of {', '.join(names)}: what is found is wrong. Identify it "
            "from one motion, on one branch"
        )
        warn(ConvergenceWarning(message))


def structure(
    robot: Robot, chosen: NDArray[np.intp], near: FloatArray | None = None
) -> tuple[BaseParameters, FloatArray]:
    """The base parameters of a robot, and the usual size of each regressor column.

    Linkages are assembled as they are near a posture, by default the neutral one.
    """
    W = random_regressors(robot, np.random.default_rng(0), chosen, near)
    scale = np.sqrt((W**2).mean(axis=(0, 1)))
    seen = scale > ZERO_COLUMN * scale.max(initial=0.0)
    size = np.where(seen, scale, 1.0)
    names = tuple(robot.dynamic_parameter_names[k] for k in chosen)
    p = robot.dynamic_parameters[chosen]
    found = base_of(names, size * p, W * seen / size, VISIBLE_EFFECT)
    if not len(found):
        raise IdentificationError(
            f"no motion of {robot.name!r} shows anything of {', '.join(names)}", parameters=names
        )
    combination = found.combination * size / size[found.columns][:, None]
    return BaseParameters(names, found.columns, combination, combination @ p), size


def estimated(
    at: CondensedEquations,
    described: BaseParameters,
    scale: FloatArray,
    noise: FloatArray | None,
    unexcited: Unexcited | None = None,
) -> tuple[BaseParameters, Fit, tuple[str, ...]]:
    """Estimates of the base parameters, and the ones that the data do not excite.

    ``unexcited`` is None where nobody can choose: then they are an error that offers no choice.
    """
    W, columns = at.W, described.columns
    if at.samples * len(at.names) < len(columns):
        raise IdentificationError(
            f"{at.samples} samples of {len(at.names)} forces are too few for {len(columns)} base "
            "parameters",
            parameters=described.names,
        )
    V, hides = hidden(W, scale[columns])
    unseen = tuple(name for name, x in zip(described.names, hides, strict=True) if x)
    if unseen and unexcited != "keep":
        choice = "; or say unexcited='keep', and they stay as described" if unexcited else ""
        raise IdentificationError(
            f"the data do not excite {', '.join(unseen)}: move other joints, or faster{choice}",
            parameters=unseen,
        )
    found = fit(at, noise, described.values, V if unseen else None)
    found.covariance[hides, hides] = np.inf
    _check_forces(found, at.names, described.names)
    base = BaseParameters(described.parameter_names, columns, described.combination, found.values)
    return base, found, unseen


def _check_forces(found: Fit, rows: tuple[str, ...], parameters: tuple[str, ...]) -> None:
    """Say which joints have no force, so that noise of accelerations draws parameters to zero."""
    silent = ", ".join(name for name, x in zip(rows, found.silent, strict=True) if x)
    if found.silent.all():
        raise IdentificationError(
            f"no force is measured or known at {silent}: such motions show ratios of parameters "
            "alone. Drive a joint, or leave a body whose mass is known out of parameters=",
            parameters=parameters,
        )
    if silent:
        message = (
            f"no force is measured or known at {silent}: noise of accelerations draws the "
            "parameters there toward zero, which the error bars do not count. Drive these joints "
            "while measuring, or filter less (Measurements.filtered, cutoff=)"
        )
        warn(ConvergenceWarning(message))


def noise_of(noise: ArrayLike | None, at: CondensedEquations) -> FloatArray | None:
    """The given standard deviation of each row."""
    if noise is None:
        return None
    of = f", for {', '.join(at.names)}"
    return each(
        "noise", noise, len(at.names), "a positive number", lambda x: np.isfinite(x) & (x > 0.0), of
    )


def of_all_parameters(at: CondensedEquations, base: BaseParameters) -> CondensedEquations:
    """The equations of base parameters as equations of all parameters.

    Columns of parameters that no motion depends on are zero, without rounding errors.
    """
    return replace(at, W=at.W @ base.combination)


def _least_change(base: BaseParameters, change: FloatArray, scale: FloatArray) -> FloatArray:
    """The smallest change of all parameters with the given change of the base parameters."""
    C = base.combination / scale
    return np.asarray(np.linalg.pinv(C) @ change / scale)


def _consistent(
    robot: Robot, chosen: NDArray[np.intp], at: CondensedEquations, found: Fit, prior: float
) -> FloatArray:
    """Physically consistent parameters of bodies, rotors and joints."""
    W, y = at.weighted(found.noise)
    p0 = robot.dynamic_parameters
    start, bodies, left = p0[chosen], [], np.ones(len(chosen), bool)
    for body in range(len(robot.body_names)):
        own = np.flatnonzero((chosen >= 10 * body) & (chosen < 10 * body + 10))
        if not len(own):
            continue
        ten = p0[10 * body : 10 * body + 10]
        reference = thickened(ten) if ten[0] > 0.0 else ball(SOME_MASS)
        which = chosen[own] - len(PARAMETERS) * body
        start[own], left[own] = reference[which], False
        bodies.append(UnknownInertia(own, which, reference))
    positive = np.flatnonzero(left)
    size = np.linalg.norm(W[:, positive], axis=0)
    one_noise = 1.0 / np.where(size > 0.0, size, 1.0)
    start[positive] = np.where(start[positive] > 0.0, start[positive], one_noise)
    p, ended = nearest_possible(W, y, bodies, positive, start, prior)
    if not ended:
        warn_of_unfinished_search()
    return p
