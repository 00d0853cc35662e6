"""Minimal coordinates: loops of planar linkages substituted in closed form."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn.equations.linkage import Linkage, postures
from robodyn.equations.loops import Closure
from robodyn.equations.mechanism import MechanismModel, build
from robodyn.errors import AssemblyError, TopologyError, UnknownNameError
from robodyn.loop_order import solution_order
from robodyn.model import (
    Model,
    Settings,
    drives_of,
    effective_mechanism,
    mass_matrix_at,
    model_of,
)
from robodyn.planar_loops import NotPlanar, PlanarLoop, place_of, planar_loop

__all__ = ["minimal_model", "own_coordinates"]

Array = NDArray[np.float64]

#: Cosines, sines, and lengths [m], of a posture that count as those of a branch.
SAME = 1e-6


def minimal_model(tree_form: Model, settings: Settings, q: Array) -> Model:
    """Model without constraints of a linkage whose loops have a closed form.

    Parameters
    ----------
    tree_form : Model
        The same robot in tree coordinates.
    settings : Settings
    q : ndarray, shape (nq,)
        A closed posture of it; it says which way each loop is assembled.

    Raises
    ------
    TopologyError
        If a loop has no closed form, or the posture does not say how it is assembled.
    """
    linkages = _linkages(tree_form, settings, q)
    following = {i for linkage in linkages for i in linkage.dependent}
    joints = tuple(
        dataclasses.replace(joint, follows=i in following)
        for i, joint in enumerate(tree_form.tree.joints)
    )
    tree = dataclasses.replace(tree_form.tree, joints=joints)
    effective = effective_mechanism(tree_form.mechanism, settings)
    drives = drives_of(effective, settings)
    bodies = build(tree, snap=settings.snap, drives=drives, linkages=linkages)
    setup = dataclasses.replace(tree_form.setup, model=bodies, closures=(), coupled=())
    M = _mass_matrix(tree_form, bodies, own_coordinates(tree_form.bodies, bodies, q))
    return model_of(tree_form.mechanism, effective, settings, tree, setup, M)


def own_coordinates(tree_form: MechanismModel, minimal: MechanismModel, q: Array) -> Array:
    """Coordinates of the independent joints, shape (..., nq), of those of all, (..., nq)."""
    picked: dict[int, int] = {}
    for one, other in zip(tree_form, minimal, strict=True):
        for (k, *_), (own, *_) in zip(one.q, other.q, strict=False):
            picked[own] = k
    return np.asarray(q)[..., [picked[own] for own in range(minimal.nq)]]


def _mass_matrix(tree_form: Model, bodies: MechanismModel, q: Array) -> Array:
    """Beside the posture, which may have symmetries, if loops close there."""
    try:
        return mass_matrix_at(
            bodies, [float(x) for x in q + 0.01 * np.sin(1.0 + np.arange(len(q)))]
        )
    except (ValueError, ZeroDivisionError):
        pass
    try:
        return mass_matrix_at(bodies, [float(x) for x in q])
    except (ValueError, ZeroDivisionError):
        raise AssemblyError(
            f"loops of {tree_form.mechanism.name!r} do not close in these branches with the "
            "independent joints at their neutral position",
            residual=np.zeros(0),
            q=q,
        ) from None


def _linkages(tree_form: Model, settings: Settings, q: Array) -> tuple[Linkage, ...]:
    setup = tree_form.setup
    _check_names(tree_form, settings)
    loops, reasons = _planar(setup.model, setup.closures)
    for coupling in setup.coupled:
        reasons[coupling.name] = "it couples more than two joints"
    for constraint in setup.constraints:
        reasons[constraint.name] = "it is a constraint of its user"
    if not reasons:
        order = solution_order(
            {name: loop.bodies for name, loop in loops.items()},
            _wanted(tree_form),
            _forced(tree_form, settings),
        )
        reasons = {name: _unsolved(tree_form, left) for name, left in order.left.items()}
    if reasons:
        told = "; ".join(f"{name!r}: {reason}" for name, reason in reasons.items())
        raise TopologyError(
            f"loops without closed form: {told}. Load with coordinates='tree'",
            file=tree_form.mechanism.file,
            element=f"robot {tree_form.mechanism.name!r}",
        )
    chosen = dict(settings.branches)
    return tuple(
        _assembled(tree_form, loops[name], pair, q, chosen.get(name)) for name, pair in order.steps
    )


def _check_names(tree_form: Model, settings: Settings) -> None:
    known = [c.name for c in tree_form.setup.closures]
    for name, sign in settings.branches:
        if name not in known:
            raise UnknownNameError("loop", name, known, repr(tree_form.mechanism.name))
        if sign not in (1, -1):
            raise UnknownNameError("branch", str(sign), ("1", "-1"), f"loop {name!r}")


def _planar(
    model: MechanismModel, closures: Sequence[Closure]
) -> tuple[dict[str, PlanarLoop], dict[str, str]]:
    loops, reasons = {}, {}
    for closure in closures:
        try:
            loops[closure.name] = planar_loop(model, closure)
        except NotPlanar as error:
            reasons[closure.name] = str(error)
    return loops, reasons


def _wanted(tree_form: Model) -> list[int]:
    """Bodies whose joints are marked as independent, else those with motors."""
    marked = [j.name for j in tree_form.mechanism.joints if j.independent]
    names = marked or [name for name, _ in tree_form.mechanism.actuators]
    bodies = {body.description.name: body.index for body in tree_form.bodies}
    return [bodies[name] for name in names if name in bodies]


def _forced(tree_form: Model, settings: Settings) -> set[int]:
    """Bodies whose joints must be independent: something needs their angle, or their one speed."""
    effective = effective_mechanism(tree_form.mechanism, settings)
    rotors = {drive.joint for drive in drives_of(effective, settings) if drive.inertia}
    users = Counter(k for body in tree_form.bodies for k, *_ in body.q)
    forced = set()
    for body in tree_form.bodies:
        told = body.description
        springy = told.stiffness and told.kind != "prismatic"
        if springy or told.name in rotors or any(users[k] > 1 for k, *_ in body.q):
            forced.add(body.index)
    return forced


def _unsolved(tree_form: Model, left: Sequence[int]) -> str:
    names = ", ".join(tree_form.bodies.bodies[i].description.name for i in left)
    if len(left) < 2:
        return (
            "fewer than two of its joints can follow the others: too many have motors with rotors, "
            "springs or mimic joints, or no order of its neighbours leaves it two"
        )
    return f"{names} remain unknown, and only two at a time can be solved for"


def _assembled(
    tree_form: Model, loop: PlanarLoop, pair: tuple[int, int], q: Array, branch: int | None
) -> Linkage:
    """A loop in the branch asked for, or in that of the posture."""
    linkage = Linkage(loop.name, loop.predecessor, loop.successor, pair)
    if branch is not None:
        return dataclasses.replace(linkage, branch=branch)
    places = {i: place_of(tree_form.bodies.bodies[i], q) for i in loop.bodies}
    fitting = []
    for sign in (1, -1):
        tried = dataclasses.replace(linkage, branch=sign)
        try:
            found = postures(tried, places)
        except (ValueError, ZeroDivisionError):
            continue
        gaps = [a - places[i] for a, i in zip(found, pair, strict=True)]
        if max(float(gap.squared) for gap in gaps) < SAME**2:  # type: ignore[arg-type]
            fitting.append(tried)
    both_slide = all(tree_form.bodies.bodies[i].joint.kind == "prismatic" for i in pair)
    if len(fitting) == 1 or (fitting and both_slide):
        return fitting[0]
    names = " and ".join(tree_form.bodies.bodies[i].description.name for i in pair)
    raise TopologyError(
        f"at the neutral posture {names} stand where two ways to assemble the loop meet: say which "
        f"is meant by branches={{{loop.name!r}: +1 or -1}}",
        file=tree_form.mechanism.file,
        element=f"loop {loop.name!r}",
    )
