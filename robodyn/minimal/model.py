"""Minimal coordinates: loops substituted in closed form."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint
from robodyn.equations.closed_form.linkage import Linkage, Posture
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Body, MechanismModel, build
from robodyn.errors import AssemblyError, TopologyError, UnknownNameError
from robodyn.force_elements import acts
from robodyn.joints.common.evaluate import evaluate, places_of
from robodyn.minimal.loop_order import Order, solution_order
from robodyn.minimal.planar_loops import NotPlanar, PlanarLoop, planar_loop
from robodyn.minimal.spatial_loops import NotSpatial, SpatialLoop, spatial_loop
from robodyn.model.joint_inertias import mass_diagonals_at
from robodyn.model.model import Model, model_of
from robodyn.model.model_setup import constraints_of, drives_of, effective_mechanism
from robodyn.model.settings import Settings

Loop = PlanarLoop | SpatialLoop


def closed_forms(tree_form: Model, settings: Settings) -> dict[str, Loop]:
    """All loops of a linkage, each by a family with a closed form; no posture is needed for that.

    tree_form: In tree coordinates.
    Raises TopologyError: If some loop is of no such family, or too many of its joints remain
        unknown.
    """
    setup = tree_form.setup
    known = [cut.name for cut in tree_form.tree.cuts]
    for name, _ in settings.branches:
        if name not in known:
            raise UnknownNameError("loop", name, known, repr(tree_form.mechanism.name))
    cuts = setup.closures[: len(tree_form.tree.cuts)]
    loops, reasons = _recognised(setup.model, cuts)
    if reasons:
        raise _unsolvable(tree_form, reasons)
    _ordered(tree_form, loops)
    return loops


def minimal_model(
    tree_form: Model,
    settings: Settings,
    loops: Mapping[str, Loop],
    q: FloatArray,
    idle_rows: tuple[int, ...] = (),
) -> Model:
    """Model of a linkage whose loops have a closed form, without their constraints.

    Couplings and constraints of users stay constraints, over the joints that do not follow.

    tree_form: The same robot in tree coordinates.
    loops: Its `closed_forms`.
    q (nq,): A closed posture of it, which determines the branch of each loop.
    idle_rows: Its `implied_rows`, which no motion breaks.
    Raises TopologyError: If the posture does not say how a loop is assembled, or is a dead point of
        all that could follow.
    """
    linkages = _linkages(tree_form, settings, loops, q)
    following = {i for linkage in linkages for i in linkage.dependent}
    joints = tuple(
        dataclasses.replace(joint, follows=joint.follows or i in following)
        for i, joint in enumerate(tree_form.tree.joints)
    )
    tree = dataclasses.replace(tree_form.tree, joints=joints)
    effective = effective_mechanism(tree_form.mechanism, settings)
    drives = drives_of(effective, settings)
    bodies = build(
        tree,
        snap=settings.snap(tree.cuts),
        drives=drives,
        linkages=linkages,
        followers=tree_form.bodies.followers,
    )
    # of these, loops have no constraints any more
    others = constraints_of(
        bodies, tree_form.mechanism, tree_form.effective, settings.snap(tree.cuts)
    )
    setup = dataclasses.replace(tree_form.setup, model=bodies, idle_rows=idle_rows, **others)
    posture = _posture_beside(tree_form, bodies, own_coordinates(tree_form.bodies, bodies, q))
    return model_of(tree_form.mechanism, effective, settings, tree, setup, posture)


def own_coordinates(
    tree_form: MechanismModel, minimal: MechanismModel, q: FloatArray
) -> FloatArray:
    """Coordinates of the independent joints, shape (..., nq), of those of all, (..., nq)."""
    picked: dict[int, int] = {}
    for one, other in zip(tree_form, minimal, strict=True):
        for (k, *_), (own, *_) in zip(one.q, other.q, strict=False):
            picked[own] = k
    return np.asarray(q)[..., [picked[own] for own in range(minimal.nq)]]


def _posture_beside(tree_form: Model, bodies: MechanismModel, q: FloatArray) -> tuple[float, ...]:
    """A closed posture near the given one, which may have symmetries; else the given one."""
    for tried in (q + 0.01 * np.sin(1.0 + np.arange(len(q))), q):
        posture = tuple(float(x) for x in tried)
        try:
            mass_diagonals_at(bodies, posture)
            return posture
        except (ValueError, ZeroDivisionError):
            pass
    raise AssemblyError(
        f"loops of {tree_form.mechanism.name!r} do not close in these branches with the "
        "independent joints at their neutral position",
        residual=np.zeros(0),
        q=q,
    )


def _linkages(
    tree_form: Model, settings: Settings, loops: Mapping[str, Loop], q: FloatArray
) -> tuple[Linkage, ...]:
    """Loops with their dependent joints, in the order of their solution."""
    loops = _regular(tree_form, loops, q)
    order = _ordered(tree_form, loops)
    chosen = dict(settings.branches)
    return tuple(
        _assembled(tree_form, loops[name].linkage(follow), q, chosen.get(name))
        for name, follow in order.steps
    )


def _regular(tree_form: Model, loops: Mapping[str, Loop], q: FloatArray) -> dict[str, Loop]:
    """Loops with the ways to solve them that lead to a posture."""
    found: dict[str, Loop] = {}
    reasons = {}
    for name, loop in loops.items():
        postures = {i: _posture(tree_form.bodies.bodies[i], q) for i in loop.bodies}
        try:
            found[name] = loop.regular(postures) if isinstance(loop, SpatialLoop) else loop
        except NotSpatial as dead:
            reasons[name] = str(dead)
    if reasons:
        raise _unsolvable(tree_form, reasons)
    return found


def _ordered(tree_form: Model, loops: Mapping[str, Loop]) -> Order:
    held = _held(tree_form)
    order = solution_order(
        {name: (loop.bodies, loop.candidates) for name, loop in loops.items()},
        sorted(_bodies(tree_form, [name for name, _ in tree_form.mechanism.actuators])),
        held,
    )
    if order.left:
        reasons = {name: _unsolved(tree_form, loops[name], held) for name in order.left}
        raise _unsolvable(tree_form, reasons)
    return order


def _of_split(joint: str) -> str:
    return (
        f"{joint!r} closes it and needs a coordinate (of a motor or a spring, or as others refer "
        "to it); let a joint without one close it"
    )


def _unsolvable(tree_form: Model, reasons: Mapping[str, str]) -> TopologyError:
    split = {cut.name: cut.rejoins for cut in tree_form.tree.cuts if not isinstance(cut, Joint)}
    told = "; ".join(
        f"{name!r}: {_of_split(split[name]) if split.get(name) else reason}"
        for name, reason in reasons.items()
    )
    return TopologyError(
        f"loops without closed form: {told}. Load with coordinates='tree'",
        file=tree_form.mechanism.file,
        element=f"robot {tree_form.mechanism.name!r}",
    )


def _recognised(
    model: MechanismModel, closures: Sequence[Closure]
) -> tuple[dict[str, Loop], dict[str, str]]:
    loops: dict[str, Loop] = {}
    reasons = {}
    for closure in closures:
        try:
            loops[closure.name] = planar_loop(model, closure)
        except NotPlanar as not_planar:
            try:
                loops[closure.name] = spatial_loop(model, closure)
            except NotSpatial as not_spatial:
                reasons[closure.name] = f"not planar, {not_planar}; nor spatial, {not_spatial}"
    return loops, reasons


def _bodies(tree_form: Model, names: Sequence[str]) -> list[int]:
    bodies = {body.description.name: body.index for body in tree_form.bodies}
    return [bodies[name] for name in names if name in bodies]


def _held(tree_form: Model) -> set[int]:
    """Bodies whose joints must be independent, as a user marks them or something uses them."""
    marked = [j.name for j in tree_form.mechanism.joints if j.independent]
    setup = tree_form.setup
    users = Counter(k for body in tree_form.bodies for k, *_ in body.q)
    users.update(2 * [k for coupling in setup.coupled for k, *_ in coupling.weights])
    forces = {*_bodies(tree_form, [force.joint for force in setup.laws])}
    held = set(_bodies(tree_form, marked))
    held |= {i for one in tree_form.bodies.followers for i in one.bodies}
    read = {i for constraint in setup.constraints for i in constraint.bodies}
    for body in tree_form.bodies:
        wants_angle = acts(body.description, "elastic") or body.index in read | forces
        shared = any(users[k] > 1 for k, *_ in body.q)
        if shared or (wants_angle and not body.joint.kind.is_slider):
            held.add(body.index)
    return held


def _unsolved(tree_form: Model, loop: Loop, held: set[int]) -> str:
    free = [i for i in sorted(loop.bodies) if i not in held]
    names = ", ".join(tree_form.bodies.bodies[i].description.name for i in free)
    loop_bodies = {*loop.bodies}
    if not any(held.isdisjoint(follow) for follow in loop.candidates):
        tying = [x.name for x in tree_form.setup.constraints if loop_bodies & {*x.bodies}]
        told = f", or their angles are read by constraint {', '.join(tying)}" if tying else ""
        acting = [
            x.joint for x in tree_form.setup.laws if {*_bodies(tree_form, [x.joint])} & loop_bodies
        ]
        if acting:
            told += (
                f", or forces of theirs are functions of their angles ({', '.join(acting)}): give "
                "these as rd.Force(on=) or rd.Force(between=), which need no joint"
            )
        return (
            "too few of its joints can follow the others: too many are marked as independent, or "
            f"have springs, stops or mimic joints{told}"
        )
    counts = sorted({len(follow) for follow in loop.candidates})
    many = " or ".join(("one", "two", "three")[n - 1] for n in counts)
    return f"{names} remain unknown, and only {many} at a time can be solved for"


def _posture(body: Body, q: FloatArray) -> Posture:
    """Pose of a joint at a known position."""
    own = [float(q[k]) * factor + offset for k, factor, offset in body.q]
    return Posture(places_of(body.joint, own), evaluate(body.joint, own, [0.0] * len(body.speeds)))


def _assembled(tree_form: Model, linkage: Linkage, q: FloatArray, branch: int | None) -> Linkage:
    """A loop in the branch asked for, or in that of the posture."""
    bodies = tree_form.bodies.bodies
    postures = {i: _posture(bodies[i], q) for i in linkage.bodies}
    linkage = linkage.counted_from(postures)
    if branch is not None:
        if branch not in linkage.branches:
            known = [str(sign) for sign in linkage.branches]
            raise UnknownNameError("branch", str(branch), known, f"loop {linkage.name!r}")
        return dataclasses.replace(linkage, branch=branch)
    fitting = linkage.fitting(postures)
    all_slide = all(bodies[i].joint.kind.is_slider for i in linkage.dependent)
    if len(fitting) == 1 or (fitting and all_slide):
        return dataclasses.replace(linkage, branch=fitting[0])
    names = " and ".join(bodies[i].description.name for i in linkage.dependent)
    signs = ", ".join(f"{sign:+d}" for sign in linkage.branches)
    raise TopologyError(
        f"at the neutral posture {names} stand where two ways to assemble the loop meet: say which "
        f"is meant by branches={{{linkage.name!r}: one of {signs}}}",
        file=tree_form.mechanism.file,
        element=f"loop {linkage.name!r}",
    )
