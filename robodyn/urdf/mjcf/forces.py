"""Forces between bodies of a compiled model: carried weight, a viscous medium, tendons in space.

A tendon between two sites is a spring; no other tendon in space has a counterpart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.description import Vector
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.point_spring import PointSpring
from robodyn.force_elements.stokes_drag import StokesDrag
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.urdf.mjcf.model import CompiledModel


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


def vector(x: Any) -> Vector:
    """Three numbers of an array."""
    a, b, c = (float(value) for value in x)
    return a, b, c


class Tendons:
    """What tendons become that are not fixed ones, and what of all has no counterpart.

    Tendons whose length is ``limited`` lose these limits; those whose forces have no counterpart
    are ``refused``, with the reason.
    """

    def __init__(self, compiled: CompiledModel) -> None:
        model, names = compiled.model, compiled.names
        springs: list[DescribedElement] = []
        self.limited: list[str] = []
        self.refused: dict[str, str] = {}
        elastic = not compiled.switched_off("SPRING")
        damped = not compiled.switched_off("DAMPER")
        for k, name in enumerate(names.tendons):
            stiffness = float(model.tendon_stiffness[k]) * elastic
            damping = float(model.tendon_damping[k]) * damped
            fixed = bool(compiled.coefficients(k))
            other = () if fixed else ("frictionloss", "armature")
            more = [
                what
                for what in (*other, "stiffnesspoly", "dampingpoly")
                if compiled.has(f"tendon_{what}", k)
            ]
            more += ["springyield"] if compiled.own("tendon_springyield", k) else []
            if model.tendon_limited[k]:
                self.limited.append(name)
            if not (stiffness or damping or more):
                continue
            low, high = (float(x) for x in model.tendon_lengthspring[k])
            sites = compiled.two_sites(k)
            if more:
                self.refused[name] = f"a tendon with {', '.join(more)} has no counterpart"
            elif sites is None and not fixed:
                self.refused[name] = (
                    "a tendon in space with stiffness or damping has a counterpart only where it "
                    "runs straight from one site to another"
                )
            elif stiffness and low != high:
                self.refused[name] = "a spring that is slack over a range has no counterpart"
            elif sites is not None:
                one, two = sites
                springs.append(
                    PointSpring(
                        names.bodies[model.site_bodyid[one]],
                        vector(model.site_pos[one]),
                        names.bodies[model.site_bodyid[two]],
                        vector(model.site_pos[two]),
                        stiffness,
                        low if stiffness else 0.0,
                        damping,
                        name,
                    )
                )
        self.springs = tuple(springs)
