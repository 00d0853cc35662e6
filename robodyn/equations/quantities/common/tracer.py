"""The inputs, options and intermediate results that the equations of one program share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from robodyn.equations.forces import between_links, from_outside, in_joints, laws, planets
from robodyn.equations.forces.between_links import Attached
from robodyn.equations.forces.drives import (
    Sliding,
    gear_spring_forces,
    motor_friction_forces,
    winding_forces,
)
from robodyn.equations.loops import cut_friction
from robodyn.equations.loops.closure_rows import Coupled, stabilised
from robodyn.equations.loops.constraint import Related
from robodyn.equations.loops.constraint_violation import gap_of_row, gaps, violation
from robodyn.equations.loops.limb_axes import TurnedRows, turned_rows
from robodyn.equations.mechanism.bodies import Body, MechanismModel
from robodyn.equations.mechanism.frames import placement
from robodyn.equations.mechanism.state import BaseState, JointAtState, State, evaluate_joints
from robodyn.equations.quantities.common.numbers import options_with_numbers, with_numbers
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.common.symbolic_mechanism import SymbolicMechanism
from robodyn.equations.tree import frame_motion as fm
from robodyn.equations.tree.regressor import inertia_of
from robodyn.force_elements.force_law import ForceLaw
from robodyn.joints.common.cut import RelativeMotion
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, edge_of, inputs
from robodyn.symbolic.spatial import Placement, Twist, Wrench, summed
from robodyn.symbolic.vector import Mat3, Rotation, Vec3
from robodyn.tolerances import FRAME_ROUNDING

#: Numbers of an array: one, or several, row by row; a vector, a twist or a wrench is such a row.
Values: TypeAlias = "Number | Iterable[Values]"
#: Numbers of each output of a quantity.
Results = Mapping[str, Values]

_T = TypeVar("_T")


@dataclass(eq=False)
class Tracer:
    """Inputs and options of one program while its equations are traced.

    chosen: Options; with ``"numbers"`` those of the robot and of options are the last input, of
        which these are an example.
    numbers: Numbers of each input.
    kept: What equations have solved once for others of the same program.
    """

    given: Setup
    chosen: Mapping[str, Any]
    graph: Graph = field(default_factory=Graph)
    ports: list[Port] = field(default_factory=list)
    numbers: dict[str, list[Number]] = field(default_factory=dict)
    kept: dict[object, Any] = field(default_factory=dict)
    _along_limbs: dict[int, RelativeMotion] = field(default_factory=dict)

    def program(
        self, values: Callable[[Tracer], Sequence[Number]], ports: Sequence[Port] | None = None
    ) -> Program:
        """Some numbers as a program; its inputs are those of this one, if no others are given."""
        inner = Tracer(self.given, self.chosen)
        for port in self.ports if ports is None else ports:
            inner.add(port)
        edges = tuple(edge_of(inner.graph, x) for x in values(inner))
        outputs = (Port("values", (len(edges),)),)
        return Program("values", tuple(inner.ports), outputs, inner.graph, edges, self.setup.rates)

    def results(self, program: Program, **given: Sequence[Number]) -> list[Number]:
        """Results of such a program for the numbers of this one, and others that are given."""
        numbers = {**self.numbers, **given}
        return inline(program, [x for port in program.inputs for x in numbers[port.name]])

    def slopes(self, program: Program, by: str, **given: Sequence[Number]) -> list[list[Number]]:
        """The same of its derivatives by an input, a row for each result; those by q along v."""
        found, rows = self.results(jacobian(program, by), **given), len(program.results)
        columns = len(found) // max(rows, 1)  # a robot without joints has none
        return [found[columns * k : columns * (k + 1)] for k in range(rows)]

    def add(self, port: Port) -> None:
        """Declare an input."""
        first = sum(p.size for p in self.ports)
        self.ports.append(port)
        self.numbers[port.name] = inputs(self.graph, first, port.size)
        if port.name == "numbers":
            examples = [(x,) for x in self.chosen["numbers"]]
        elif port.name == "q":
            examples = [*zip(*self.chosen.get("postures", ()), strict=True)]
        else:
            return
        self.graph.examples.update(enumerate(examples, first))

    @property
    def setup(self) -> Setup:
        """The robot, of which numbers may be symbols."""
        if self._has_names:
            return self._with_names
        return self._symbolic[0] if "numbers" in self.numbers else self.given

    @property
    def _has_names(self) -> bool:
        """Whether numbers that have names are inputs, and declared."""
        symbols = self.chosen.get("symbols")
        return symbols is not None and self.numbers.keys() >= symbols.values.keys()

    @cached_property
    def _named(self) -> SymbolicMechanism:
        symbols = self.chosen["symbols"]
        numbers = {name: self.numbers[name][0] for name in symbols.values}
        return SymbolicMechanism(self.given.model, self.given.closures, symbols, numbers)

    @cached_property
    def _with_names(self) -> Setup:
        named = self._named
        closures = named.closures()
        resisting = tuple(x for x in closures if x.damping or x.friction)
        return replace(
            self.given,
            model=named.model(),
            closures=closures,
            cut_joint_friction=resisting,
            link_elements=named.link_elements(self.given.link_elements),
        )

    @property
    def options(self) -> Mapping[str, Any]:
        """Choices that shape the program, of which numbers may be symbols."""
        return self._symbolic[1] if "numbers" in self.numbers else self.chosen

    @cached_property
    def _symbolic(self) -> tuple[Setup, Mapping[str, Any]]:
        rest = iter(self.numbers["numbers"])

        def take(x: Number) -> Number:
            return next(rest) if x else x

        return with_numbers(self.given, take), options_with_numbers(self.chosen, take)

    @cached_property
    def model(self) -> MechanismModel:
        """Bodies; their inertias are inputs if that was asked for."""
        model = self.setup.model
        if not self.options.get("parameters"):
            return model
        bodies = []
        for body in model:
            ten = self.numbers["parameters"][10 * body.index : 10 * body.index + 10]
            inertia = inertia_of(model, body, ten)
            bodies.append(replace(body, inertia=inertia, lumped=inertia))
        return replace(
            model,
            bodies=tuple(bodies),
            lumped_armature=model.armature,
            lumped_rotors=model.rotors,
        )

    @property
    def zeros(self) -> list[Number]:
        """No speed, or no acceleration."""
        return [0.0] * self.model.nv

    @cached_property
    def free(self) -> list[int]:
        """Speeds that are not controlled."""
        controlled = self.options.get("controlled", ())
        return [k for k in range(self.model.nv) if k not in controlled]

    @property
    def v(self) -> list[Number]:
        """Speeds, zero where the quantity does not depend on them."""
        return self.numbers.get("v", self.zeros)

    @property
    def a(self) -> list[Number]:
        """Accelerations, zero where the quantity does not depend on them."""
        return self.numbers.get("a", self.zeros)

    @cached_property
    def state(self) -> State:
        """All joints."""
        (t,) = self.numbers.get("t", [0.0])
        return evaluate_joints(self.model, self.numbers["q"], self.v, t, self.base)

    @cached_property
    def base(self) -> BaseState:
        """The base, at rest unless the program has it as an input."""
        g_W, inertia = Vec3.of(self.setup.gravity), self.setup.base_inertia
        if "base_pose" not in self.numbers:
            return BaseState.at_rest(g_W, inertia)
        X = self.numbers["base_pose"]
        R = Rotation(Mat3(*X[0:3], *X[4:7], *X[8:11]))
        V, A = self.numbers["base_twist"], self.numbers["base_acceleration"]
        return BaseState(
            Placement(R, Vec3(X[3], X[7], X[11])),
            Twist(Vec3(*V[:3]), Vec3(*V[3:])),
            Twist(Vec3(*A[:3]), Vec3(*A[3:])),
            g_W,
            inertia,
        )

    @cached_property
    def wrenches(self) -> Mapping[int, Wrench]:
        """Wrenches from outside and of springs on bodies, the base too, about their origins."""
        given = [
            (place, self.numbers[f"wrench:{place}"]) for place in self.options.get("wrenches", ())
        ]
        from_user = [
            from_outside.on_body(self.state, place, Wrench(Vec3(*w[:3]), Vec3(*w[3:])), self.link)
            for place, w in given
        ]
        return summed([*self.passive_wrenches.items(), *from_user])

    @cached_property
    def held_by_world(self) -> bool:
        """Whether something on bodies depends on where they are, beside gravity."""
        given = self.options.get("wrenches", ())
        return any(map(from_outside.in_world, given)) or bool(self.passive_wrenches)

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Constraints, in the order of their names; only some, if so chosen."""
        chosen = self.options.get("rows")
        rows = self.all_rows if chosen is None else [self.all_rows[k] for k in chosen]
        return [self._stabilised(row) for row in rows]

    def _stabilised(self, row: Row) -> Row:
        if not self.options.get("stabilization"):
            return row
        return stabilised(row, self.v, *self.numbers["stabilization"])

    @cached_property
    def turned_rows(self) -> TurnedRows:
        """Rows along axes in which each has few speeds, except those of groups at the end."""
        chosen = [*self.options.get("rows", range(len(self.all_rows)))]
        grouped = sum(len(group.weights) for group in self.options.get("groups", ()))
        single = chosen[: len(chosen) - grouped]
        closures = self.setup.closures
        found = turned_rows(self.state, closures, self.rows, single, self._stabilised)
        self._along_limbs.update(found.motions)
        return found

    @cached_property
    def all_rows(self) -> Sequence[Row]:
        """Constraints, in the order of their names."""
        return self._of_all([c.rows(self.state) for c in self.setup.ties])

    @cached_property
    def gaps(self) -> Sequence[Row]:
        """Gaps of all constraints, in a measure that vanishes only if loops are closed."""
        return self._of_all([c.gaps(self.state) for c in self.setup.ties])

    @cached_property
    def residuals(self) -> Sequence[Number]:
        """The residuals of `gaps`, without slopes."""
        setup, state = self.setup, self.state
        others: tuple[Coupled | Related, ...] = (*setup.coupled, *setup.constraints)
        found = [row for c in setup.closures for row in c.gaps(state, still=True)]
        found += [row for c in others for row in c.gaps(state)]
        return [row.residual for row in found]

    @cached_property
    def violation(self) -> tuple[Number, Number]:
        """Square of the constraint violation of the state, as a fraction."""
        state, setup, v = self.state, self.setup, self.v
        along = self._along_limbs.get
        found = [gap for k, c in enumerate(setup.closures) for gap in gaps(state, c, along(k))]
        others: tuple[Coupled | Related, ...] = (*setup.coupled, *setup.constraints)
        found += [gap_of_row(row, v) for c in others for row in c.rows(state)]
        given = self.given
        return violation(found, given.row_units, v, given.speed_units)

    def _of_all(self, found: Sequence[Sequence[Row]]) -> list[Row]:
        """Rows of all constraints."""
        rows = [*chain.from_iterable(found)]
        for k in self.setup.idle_rows:  # what rounding leaves of zero is no slope
            rows[k] = replace(rows[k], jacobian={})
        return rows

    @cached_property
    def loop_wrenches(self) -> Mapping[int, Wrench]:
        """Wrenches of cut joints on bodies, given their multipliers."""

        def all_of_them() -> Iterator[tuple[int, Wrench]]:
            for c in self.setup.closures:
                lam = self.multipliers_of(c.name)
                on_predecessor, on_successor, _ = c.wrenches(self.state, lam)
                yield c.predecessor, on_predecessor
                yield c.successor, on_successor

        return summed(all_of_them())

    def multipliers_of(self, name: str) -> Sequence[Number]:
        """Multipliers of the rows of one of all constraints, where they are given."""
        return self.numbers["multipliers"][self.setup.rows_of[name]]

    def link(self, name: str) -> tuple[int, Placement]:
        """Body that carries a link, and the link frame on it."""
        body, X = self.model.frames[name]
        if self._has_names:
            return body, self._named.link(name)
        return body, placement(X, FRAME_ROUNDING)

    @cached_property
    def passive_wrenches(self) -> Mapping[int, Wrench]:
        """Wrenches on bodies by elements and laws between links, cut joints and the ground."""
        setup, state = self.setup, self.state
        cut = setup.cut_joint_friction if setup.passive else ()
        return summed(
            chain(
                between_links.wrenches(state, self.link_elements),
                cut_friction.friction_wrenches(state, cut, self.friction_speed, self.sliding),
                between_links.wrenches(state, self.ground),
                laws.wrenches(state, self.laws, self.link),
                planets.wrenches(state, setup.planets, setup.free_rotors),
            )
        )

    @cached_property
    def laws(self) -> Sequence[ForceLaw]:
        """Forces that are given as functions."""
        return self.setup.laws

    @cached_property
    def ground(self) -> Sequence[Attached]:
        """Planes with the points that may touch them."""
        return between_links.attached(self.setup.ground, self.link)

    @cached_property
    def link_elements(self) -> Sequence[Attached]:
        """Force elements between links, if they belong to the mechanism."""
        elements = self.setup.link_elements if self.setup.passive else ()
        return between_links.attached(elements, self.link)

    @cached_property
    def sliding(self) -> Sliding | None:
        """Friction of what slides; ``None`` where it is smooth in all directions."""
        if "sliding" not in self.numbers:
            return None
        keys, given = self.given.resisting, self.numbers["sliding"]
        rows = (given[k * len(keys) : (k + 1) * len(keys)] for k in range(3))
        return Sliding(dict(zip(keys, zip(*rows, strict=True), strict=True)))

    @property
    def friction_speed(self) -> Number | None:
        """Where smooth dry friction reaches 70 %; ``None`` where joints stick as modes."""
        return self.setup.friction_speed if self.sliding is None else None

    def passive(self) -> list[Number]:
        """Forces of the joints themselves: their stops, and what else belongs to the mechanism."""
        tau = self.zeros
        for body in self.model:
            forces = self.passive_of(body)
            for k, freedom, ratio in self.state[body.index].ratios:
                tau[k] = tau[k] + forces[freedom] * ratio
        return tau

    def passive_of(self, body: Body) -> list[Number]:
        """Forces of one joint itself, along its own freedoms."""
        setup, joint, shared = self.setup, self.state[body.index], self._shared_forces
        own = in_joints.joint_forces(body, joint, self.friction_speed, setup.passive)
        if self.sliding is not None:
            name, slides = body.description.name, self.sliding
            own = [x + slides.force((name, k), joint.v[k]) for k, x in enumerate(own)]
        given = laws.along_joint(self.laws, body, joint, self.state.t)
        own = [x + y for x, y in zip(own, given, strict=True)]
        return [own[0] + shared[body.index]] if body.index in shared else own

    @cached_property
    def _shared_forces(self) -> Mapping[int, Number]:
        """Of shared motors, elastic gears and windings, along the joint of each body."""
        setup, state = self.setup, self.state
        motors, smooth = setup.motor_friction, self.friction_speed
        found = motor_friction_forces(motors, state, smooth, self.sliding)
        for more in (
            gear_spring_forces(setup.gear_springs, state),
            winding_forces(setup.windings, state),
        ):
            for body, force in more.items():
                found[body] = found[body] + force if body in found else force
        return found

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The frames asked for; all, if none are named."""
        frames = self.options.get("frames")
        return tuple(self.model.frames) if frames is None else tuple(frames)

    def frame(self, name: str) -> fm.FrameMotion:
        """Motion of a frame, seen from the link asked for."""
        return self.frame_in(name, self.options.get("relative_to", "world"))

    def frame_in(self, name: str, reference: str) -> fm.FrameMotion:
        """Motion of a frame, seen from a link or the world."""
        body, X = self.link(name)
        if reference == "world":
            return self._body_motion(body).onto(X)
        return fm.relative(self.state, self.a, (body, X), self.link(reference))

    def world_axes(self, name: str) -> Rotation:
        """``R_WF`` of a frame if results are wanted in world axes, else no rotation."""
        if self.options.get("axes", "body") == "body":
            return Rotation()
        body, X = self.link(name)
        return Rotation((self._body_pose(body) @ X).R.matrix)

    def pose(self, name: str) -> Placement:
        """Pose of a frame in the link asked for, or the world."""
        body, X = self.link(name)
        reference = self.options.get("relative_to", "world")
        if reference == "world":
            return self._body_pose(body) @ X
        return fm.relative_pose(self.state, (body, X), self.link(reference))

    def _body_pose(self, body: int) -> Placement:
        """``X_WB`` of a body, from that of its parent."""
        return self._along_path("pose", body, self.base.X_WB, _pose_of_child)

    def _body_motion(self, body: int) -> fm.FrameMotion:
        """Motion of a body in the world, from that of its parent."""
        start = fm.of_base(self.base)
        return self._along_path("motion", body, start, lambda m, joint: fm.beyond(m, joint, self.a))

    def _along_path(
        self, what: str, body: int, start: _T, step: Callable[[_T, JointAtState], _T]
    ) -> _T:
        """A value of each body from that of its parent, computed once for each body."""
        found = start
        for i in self.model.path(body):
            if (what, i) not in self.kept:
                self.kept[what, i] = step(found, self.state[i])
            found = self.kept[what, i]
        return found


#: Equations of a quantity: the numbers of each output by name.
Trace: TypeAlias = Callable[[Tracer], Results]


def _pose_of_child(X_WP: Placement, joint: JointAtState) -> Placement:
    """``X_WB``: the rotation of the parent is multiplied out, as all bodies beyond need it."""
    return Placement(Rotation(X_WP.R.matrix), X_WP.p) @ joint.X
