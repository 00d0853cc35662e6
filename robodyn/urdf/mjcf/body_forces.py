"""Forces on the bodies of a compiled model: weight that is carried, and a viscous medium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.description import Vector
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.stokes_drag import StokesDrag
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.urdf.mjcf.names import Names

__all__ = ["body_forces", "unread_of_medium", "vector"]


def body_forces(model: Any, names: Names) -> tuple[DescribedElement, ...]:
    """The ``gravcomp`` of each body, and what the viscosity of the medium is to it."""
    return tuple(_body_forces(model, names))


def _body_forces(model: Any, names: Names) -> Iterator[DescribedElement]:
    viscosity = float(model.opt.viscosity)
    shaped = _of_shape(model)
    for body, name in enumerate(names.bodies):
        mass, center = float(model.body_mass[body]), vector(model.body_ipos[body])
        held = mass * float(model.body_gravcomp[body])
        if held > 0.0:
            yield WeightCompensation(name, center, held, f"gravcomp of {name}")
        if viscosity and mass and body not in shaped:
            diameter = _diameter(mass, np.array(model.body_inertia[body]))
            yield StokesDrag(name, center, diameter, viscosity, f"viscosity on {name}")


def unread_of_medium(model: Any, names: Names) -> Iterator[tuple[str, str]]:
    """What a medium does that has no counterpart: the element, and why."""
    if model.opt.density:
        yield (
            "<option>",
            "the density of a medium, whose drag grows with the square of the speed, has no "
            "counterpart; its viscosity has one",
        )
    if model.opt.viscosity and np.any(model.opt.wind):
        yield "<option>", "wind has no counterpart: the medium is at rest"
    for body in sorted(_of_shape(model)) if model.opt.viscosity or model.opt.density else ():
        reason = "the forces of a medium by the shape of a geom (fluidshape) have no counterpart"
        yield f"body {names.bodies[body]!r}", reason


def _of_shape(model: Any) -> set[int]:
    """Bodies on which the medium acts by the shapes of their geoms."""
    by_shape = np.asarray(model.geom_fluid)[:, :1].ravel() > 0.0
    return {int(body) for body in np.asarray(model.geom_bodyid)[by_shape]}


def _diameter(mass: float, moments: Any) -> float:
    """Of the sphere that MuJoCo takes: the mean edge of the box with the body's inertia [m]."""
    squares = 6.0 / mass * (moments.sum() - 2.0 * moments)
    return float(np.sqrt(np.maximum(squares, 0.0)).mean())


def vector(x: Any) -> Vector:
    """Three numbers of an array."""
    a, b, c = (float(value) for value in x)
    return a, b, c
