"""Forces on bodies of a compiled model: carried weight, and those of a viscous medium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.stokes_drag import StokesDrag
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.urdf.mjcf.model import CompiledModel, vector


def body_forces(compiled: CompiledModel) -> Iterator[DescribedElement]:
    """The ``gravcomp`` of each body, and what the viscosity of the medium is to it."""
    model, names = compiled.model, compiled.names
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


def unread_of_medium(compiled: CompiledModel) -> Iterator[tuple[str, str]]:
    """What a medium does that has no counterpart: the element, and why."""
    model, names = compiled.model, compiled.names
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
