"""From the name of a quantity to its result: the only way to one.

A part asks for a quantity with arrays and options. The evaluator chooses the program that stands
for it, runs it, looks at the guard, and where this speaks has what answers otherwise compute the
same arrays. It puts the result together, and lets further calls of the method that asked for it go
straight to machine code.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, by_name, expect, numbers
from robodyn.codegen import Function, Memo, MethodTable
from robodyn.codegen.calls.arguments import written
from robodyn.codegen.calls.symbols import symbolic_array
from robodyn.equations.catalogue import CONSTRAINED, QUANTITIES, trace
from robodyn.errors import SettingsError, ShapeError
from robodyn.evaluator.not_finite import NonFiniteDiagnosis
from robodyn.evaluator.options import FunctionOptions
from robodyn.evaluator.shared_functions import CopiedFunctions, SharedPrograms
from robodyn.model.changes.parameter_rows import ParameterRows
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices
from robodyn.model.states import refuse_wrong_states
from robodyn.motion.base_motion import BaseMotion, not_moving_error
from robodyn.progress import progress
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.graph import Program
from robodyn.symbolic.python_code import PythonCode
from robodyn.symbolic.symbol_arrays import holds_symbols

_ZERO = np.zeros(())

#: External wrenches by link name, each (..., 6) [N, N m].
Wrenches = Mapping[str, ArrayLike]

Options: TypeAlias = Mapping[str, Any]


#: Options that say what is done where loops are open: ``drifting``, nothing, as within a step.
OF_LOOPS = ("drifting", "stabilization")


class Programs(Protocol):
    """Which program stands for a quantity of a robot."""

    def options(self, name: str, options: Options) -> Options | None:
        """Options of the function that computes a quantity, NaN where it does not hold.

        ``None`` where there is none, and only a fallback answers.
        """

    def gains(self, stabilization: tuple[float, float]) -> tuple[Array, ...]:
        """Inputs of a function that stabilises constraints; none where there are none."""

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity without a guard of states, with constraint forces of loops."""


class TreePrograms:
    """Programs of a robot without constraints: one for each choice of options."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.function = evaluator.function

    def options(self, name: str, options: Options) -> Options:
        """The options themselves, but for what is said of loops."""
        return {x: y for x, y in options.items() if x not in OF_LOOPS}

    def gains(self, stabilization: tuple[float, float]) -> tuple[Array, ...]:
        """No gains, as there is nothing to stabilise."""
        return ()


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of a fallback; it gives arrays, or None if there is nothing else.

    arrays: Inputs of the quantity.
    options: As a part gave them; ``stabilization`` is the gains.
    found: What the function gave; None if there is none.
    """

    arrays: tuple[Any, ...]
    options: Options
    wrenches: Wrenches
    base: BaseMotion | None
    found: Any


#: What computes the arrays of a quantity where its program does not hold; it refuses wrong states.
Fallback: TypeAlias = Callable[[Request], Any]


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The program that stands for a quantity with some options.

    make: Puts the result together.
    timed: The time is its last input.
    checked: What is not finite has a reason that can be told.
    binds: Methods may call it: it computes what they stand for, of the arguments alone.
    finite: Results are finite wherever the arguments are.
    place: Where the number of a joint goes in the inputs that are given by joint.
    """

    function: Function | None
    make: Callable[..., Any] | None
    timed: bool = False
    checked: bool = True
    binds: bool = False
    finite: bool = False
    place: Callable[[str | int], int | None] | None = None


class Evaluator:
    """The functions of a model, each traced and compiled when it is first needed.

    methods: Methods that may go straight to a function once it is there.
    make: Makes a function of a program. Default: `Function`, which compiles.
    programs, optional: Of a copy that differs in numbers from the robot it was made of: what it
        shares with others.
    rows, optional: Of many copies, which are computed with at once: the last leading axis of states
        counts them.
    trace: Makes a program of a quantity. Default: `robodyn.equations.catalogue.trace`, which
        simplifies it: that takes longer than a few calls without a compiler.
    """

    #: Time, or times [s], of a model that depends on time; `at` sets it.
    _time: Array | None = None

    def __init__(
        self,
        model: Model,
        methods: MethodTable,
        make: Callable[[Program], Function] = Function,
        programs: SharedPrograms | None = None,
        rows: ParameterRows | None = None,
        trace: Callable[..., Program] = trace,
    ) -> None:
        self._model, self._methods, self._make, self._trace = model, methods, make, trace
        self._copied: CopiedFunctions | None = None
        if programs is not None and rows is None:
            self._copied = CopiedFunctions(model.setup, programs)
        elif programs is not None and rows is not None:
            self._copied = CopiedFunctions(rows.example, programs, rows.numbers)
        #: Parameters of many copies, where functions are those of all of them.
        self.rows = rows
        #: Checks options of functions, and resolves names in them.
        self.options = FunctionOptions(model)
        self._functions: Memo[Function] = Memo()
        self._slopes: Memo[Function] = Memo()
        self._interpreted: Memo[PythonCode] = Memo()
        self._chosen: Memo[_Chosen] = Memo()
        #: Which program stands for a quantity.
        self.programs: Programs = TreePrograms(self)
        self._fallbacks: Mapping[str, Fallback] | None = None

    def answering(self, programs: Programs, fallbacks: Mapping[str, Fallback]) -> Evaluator:
        """The same of a closed linkage, with constraint forces.

        fallbacks: By the name of the quantity.
        """
        other = copy.copy(self)
        other.programs, other._fallbacks, other._chosen = programs, fallbacks, Memo()
        return other

    def at(self, t: ArrayLike) -> Evaluator:
        """The same functions at a time, or at times of shape (...), of a model that depends on it.

        Raises ShapeError: If ``t`` is no time. Symbols are one.
        """
        other = copy.copy(self)
        if holds_symbols(t):
            other._time = symbolic_array("t", t)
            return other
        other._time = time = numbers("t", t)
        if not np.isfinite(time).all():
            raise ShapeError("t holds times that are not finite", name="t", given=t)
        return other

    @property
    def time(self) -> Array:
        """The time, or times, shape (...) [s]; zero of a model that does not depend on it."""
        return _ZERO if self._time is None else self._time

    @property
    def when(self) -> str:
        """The time in words, where there is one."""
        if self._time is None:
            return ""
        return f" at {self._time:g} s" if not self._time.ndim else f" at {self._time.size} times"

    def refuse_without_time(self) -> None:
        """Refuse to compute with a model that depends on time, of which no time is known."""
        setup, name = self._model.setup, self._model.mechanism.name
        if self._time is None and setup.rheonomic:
            raise ShapeError(
                f"{name!r} depends on time ({', '.join(setup.timed)}): ask robot.at(t), with the "
                "time t [s], instead",
                name="t",
            )

    @property
    def has_loops(self) -> bool:
        """Whether constraints act, so that states may be wrong."""
        return self._fallbacks is not None

    @cached_property
    def of_state_alone(self) -> bool:
        """Whether functions take nothing but a state and forces: neither a base nor the time."""
        return self._model.settings.base != "moving" and not self._model.setup.rheonomic

    @property
    def times(self) -> tuple[int, ...]:
        """Leading axes of the times; none of a model that does not depend on time."""
        return () if self._time is None else self._time.shape

    def of_states(self, batch: tuple[int, ...], rows: Any) -> Evaluator:
        """The same functions for some states, counted over the axes of a batch.

        They are at the times of these states, and those of the copies that the states are of.
        """
        if not self.times and self.rows is None:
            return self
        other = copy.copy(self)
        if self.times:
            (other._time,) = self._times(batch, rows)
        if self.rows is not None:
            assert self._copied is not None
            other._copied = self._copied.chosen(np.asarray(rows) % len(self.rows))
            other._functions, other._slopes, other._chosen = Memo(), Memo(), Memo()
        return other

    # -- functions ----------------------------------------------------------------------------

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity, for choices that shape its code.

        With ``rows`` among the options it is the one of a closed linkage.

        **options: As the catalogue has them for this quantity.
        Raises UnknownNameError: If there is no such quantity, link or option.
        Raises SettingsError: If the robot has closed loops, and the quantity is not defined for
            these.
        Raises SingularError: If it needs the acceleration of a joint that moves no mass.
        """
        if options:
            options = self.options.key(options)
        key = (name, *sorted(options.items()))
        return self._functions.get(key, lambda: self._made(name, options))

    def _made(self, name: str, options: Mapping[str, Any]) -> Function:
        """A function, which shares its code with others where only numbers differ."""
        setup, chosen = self.options.resolved(name, options)
        if self._copied is not None and setup is self._model.setup and "symbols" not in chosen:
            return self._copied.function(name, chosen)
        if self.rows is not None:
            raise SettingsError(
                f"{name} with {', '.join(options)} is not computed for rows of parameters: take "
                "robot.of_rows(k), one after the other"
            )
        return self._make(self._trace(name, setup, chosen))

    def derivative(self, name: str, by: str, **options: Any) -> Function:
        """The function of the derivatives of a quantity by one of its inputs.

        Arguments as for `function`; ``by`` is the name of an input, as `Function.jacobian` has it.
        """
        key = (name, by, *sorted(self.options.key(options).items()))
        return self._slopes.get(key, lambda: self.function(name, **options).jacobian(by))

    def program(self, name: str, options: Mapping[str, Any]) -> Program:
        """The program of a quantity; arguments as for `function`."""
        if self.rows is not None:  # refused where numbers enter it, which differ from row to row
            return self.function(name, **options).program
        setup, chosen = self.options.resolved(name, options)
        with progress(f"working out the equations of {name}"):
            return self._trace(name, setup, chosen)

    def interpreted(
        self, name: str, *, t: float | None = None, **options: Any
    ) -> Callable[..., Any]:
        """A function of q, or of q and v, evaluated without a compiler: for a few calls.

        Of a model that depends on time it is that of ``t`` [s], by default the evaluator's; a base
        that moves is at rest.
        """
        key = (name, *sorted(options.items()))
        code = self._interpreted.get(key, lambda: PythonCode(self.program(name, options)))
        time = self._time if t is None else t
        rest = self._base_inputs(name, None)
        inputs: tuple[Any, ...] = (*rest, time) if code.program.inputs[-1].name == "t" else rest
        single = len(code.program.outputs) == 1

        def computed(*arrays: ArrayLike) -> Any:
            with np.errstate(
                invalid="ignore", divide="ignore"
            ):  # NaN says so, as machine code does
                found = code(*arrays, *inputs)
            return found[0] if single else found

        return computed

    # -- calls --------------------------------------------------------------------------------

    def call(self, name: str, arrays: tuple[ArrayLike, ...], **given: Any) -> Array:
        """The result of a quantity that has one array; arguments and errors as for `answer`."""
        found: Array = self.answer(name, arrays, **given)
        return found

    def answer(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        *,
        method: str = "",
        make: Callable[..., Any] | None = None,
        of_inputs: bool = False,
        **given: Any,
    ) -> Any:
        """The result of a quantity, as the method of a robot returns it.

        If the method runs, and the arrays are those that it was called with, further calls of this
        form go straight to machine code.

        arrays: Its inputs, in the order of the catalogue.
        method: Name of the method. Default: that of the quantity.
        make, optional: Puts the result together, of the arrays that there are. It is always the
            same for a form of call. Default: what the row of the quantity says.
        of_inputs: ``make`` takes the inputs besides; those by joint may be None.
        **given: As for `results`, which raises errors.
        """
        chosen, inputs, found = self._computed(name, arrays, **given)
        make = make or chosen.make
        count = len(inputs) if of_inputs else 0
        if chosen.binds and given.get("stabilization") is None:
            assert chosen.function is not None
            self._methods.answered(
                method or name, chosen.function, arrays, finite=chosen.finite, make=make,
                made_of=count, place=chosen.place,
            )  # fmt: skip
        return found if make is None or found is None else make(found, *inputs[:count])

    def results(self, name: str, arrays: tuple[ArrayLike, ...], **given: Any) -> Any:
        """All arrays of a quantity: a tuple where it has several.

        base, optional: Of a robot with a moving base. Default: at rest.
        out, optional: Written to and returned.
        wrenches (..., 6), optional
        multipliers, optional: Of constraints, where they are known; else the program finds them.
        stabilization, optional: Gains ``alpha``, ``beta`` [1/s], for loops that may be open.
        fallback, optional: Where the program does not hold. Default: that of the robot, if it has
            one.
        Others are options, as for `function`.

        Raises ShapeError: For what does not fit, and where results are not finite because an input
            is not, or is too large.
        Raises SingularError: Where accelerations are not determined, because joints move no mass in
            that posture.
        Raises InconsistentStateError: Where a loop that is solved in closed form does not close.
        """
        return self._computed(name, arrays, **given)[-1]

    def _computed(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        *,
        base: BaseMotion | None = None,
        out: Any = None,
        wrenches: Wrenches | None = None,
        multipliers: Array | None = None,
        stabilization: tuple[float, float] | None = None,
        fallback: Fallback | None = None,
        **options: Any,
    ) -> tuple[_Chosen, tuple[Any, ...], Any]:
        """The program that was chosen, its inputs, and the arrays of the quantity."""
        given: tuple[Any, ...] = (*arrays, *self._base_inputs(name, base))
        known = multipliers is not None
        if known:
            given = (*given, multipliers)
        if stabilization is not None:
            given = (*given, *self.programs.gains(stabilization))
            options["stabilization"] = True
        links: tuple[str, ...] = ()
        if wrenches is not None:
            wrenches = by_name("wrenches", wrenches)
            links, given = tuple(wrenches), (*given, *wrenches.values())
        key = (name, links, known, *options.items())
        try:
            chosen = self._chosen.get(key, lambda: self._choose(name, links, options, known))
        except TypeError:  # names in a list
            options = self.options.key(options)
            key = (name, links, known, *options.items())
            chosen = self._chosen.get(key, lambda: self._choose(name, links, options, known))
        f = chosen.function
        found: Any = None
        inputs = (*given, self._time_beside(given)) if chosen.timed else given
        if f is not None:
            found = f(*inputs, out=out)
            wrong = not all(map(all_finite, found if isinstance(found, tuple) else (found,)))
            # some numbers of inputs no result tells of
            if wrong or not all(
                all_finite(numbers("an argument", inputs[k])) for k in f.partly_used
            ):
                refuse_wrong_states(self._model, f.inputs, inputs)
            if not wrong:
                return chosen, given, found
        other = fallback or (self._fallbacks or {}).get(name)
        if other is not None:
            if stabilization is not None:
                options["stabilization"] = stabilization
            found = other(Request(arrays, options, wrenches or {}, base, found))
            return chosen, given, found if out is None else written(found, out)
        assert f is not None, f"nothing computes {name}"
        if chosen.checked:
            controlled = self.options.speeds(options.get("controlled", ()))
            NonFiniteDiagnosis(self._model, self.function, self._mass_matrices).refuse(
                name, f, inputs, found[0] if isinstance(found, tuple) else found, controlled
            )
        return chosen, given, found

    def _choose(
        self, name: str, links: tuple[str, ...], options: Options, multipliers: bool
    ) -> _Chosen:
        """The program for a quantity with wrenches on some links; ``multipliers`` are given."""
        quantity, setup = QUANTITIES[name], self._model.setup
        wanted = options if multipliers else self.programs.options(name, options)
        make = None if quantity.result is None else quantity.result(setup, options)
        if wanted is None:
            return _Chosen(None, make)
        timed = setup.rheonomic and not quantity.timeless
        of_tree = setup.closed and self._fallbacks is None and name in CONSTRAINED
        bounded = quantity.input_names == ("q",) and not links and self._only_turns
        function = self.function(name, **wanted, **({"wrenches": links} if links else {}))
        return _Chosen(
            function,
            make,
            timed=timed,
            checked="rows" not in wanted and not quantity.guarded,
            binds=isinstance(function, Function) and not (timed or multipliers or of_tree),
            finite=bounded and not (quantity.solves or self._may_not_be_finite),
            place=self._places(options["controlled"]) if quantity.by_joint else None,
        )

    def _places(self, controlled: tuple[int, ...]) -> Callable[[str | int], int | None]:
        """Where the number of a joint or speed stands: those of controlled speeds come first."""
        others = (k for k in range(self._model.bodies.nv) if k not in controlled)
        order = (*controlled, *others)

        def place(joint: str | int) -> int | None:
            speeds = (joint,) if isinstance(joint, int) else speed_indices(self._model, joint)
            return order.index(speeds[0]) if len(speeds) == 1 else None

        return place

    def caller(
        self, name: str, otherwise: Callable[..., Array] | None = None, **options: Any
    ) -> Callable[..., Array]:
        """What calls a quantity with arrays again and again: its function, where that is enough.

        Without a guard it gives no numbers at positions that are none. Where joints are functions
        of others, which have no numbers at some positions, `call` says so, and it knows the time.

        otherwise: Called where the function does not hold, or there is none. Default: `call`.
        """

        def called(*arrays: ArrayLike) -> Array:
            return self.call(name, arrays, **options)

        otherwise, wanted = otherwise or called, self.programs.options(name, options)
        alone = self.of_state_alone and self.rows is None and not self._are_functions
        if wanted is None or not alone:
            return otherwise
        f = self.function(name, **wanted)
        if wanted == options:
            return f

        def guarded(*arrays: ArrayLike) -> Array:
            found: Array = f(*arrays)
            return found if all_finite(found) else otherwise(*arrays)

        return guarded

    @cached_property
    def _may_not_be_finite(self) -> bool:
        """Whether results may not be finite at states that are."""
        return self._model.has_quaternions or self._are_functions

    @cached_property
    def _only_turns(self) -> bool:
        """Whether coordinates are angles, of which sines and cosines enter: nothing overflows."""
        kinds = [joint.kind for joint in self._model.joints.values() if joint.kind.nv]
        return all(kind.turning and all(kind.turning) for kind in kinds)

    @cached_property
    def _are_functions(self) -> bool:
        """Whether joints follow others, or are given by functions of their coordinates."""
        bodies = self._model.bodies
        maps = any(body.joint.map is not None for body in bodies)
        return bool(bodies.linkages or bodies.followers) or maps

    def environment(self, name: str, base: BaseMotion | None) -> tuple[Array, ...]:
        """The last inputs of a function: the base's motion, by default at rest, and the time."""
        rest = self._base_inputs(name, base)
        timed = self._model.setup.rheonomic and not QUANTITIES[name].timeless
        return rest if self._time is None or not timed else (*rest, self._time)

    def _base_inputs(self, name: str, base: BaseMotion | None) -> tuple[Array, ...]:
        settings = self._model.settings
        if settings.base == "moving" and QUANTITIES[name].base:
            motion = BaseMotion.at_rest() if base is None else base
            expect("base", motion, BaseMotion)
            return motion.pose, motion.twist, motion.acceleration
        if base is not None:
            raise not_moving_error(self._model.mechanism.name, settings.base)
        return ()

    def _time_beside(self, arrays: Sequence[ArrayLike]) -> Array:
        """The time, in single precision where all else is and it is one number."""
        assert self._time is not None, "no time is set for a model that depends on time"
        single = not self._time.ndim and all(
            isinstance(x, np.ndarray) and x.dtype == np.float32 for x in arrays
        )
        return self._time.astype(np.float32) if single else self._time

    def _mass_matrices(self, q: Array, batch: tuple[int, ...], rows: Array) -> Array:
        """Mass matrices of some states of a batch, shape (n, nv, nv)."""
        found = self.of_states(batch, rows).function("mass_matrix")(q, *self._times(batch, rows))
        return np.asarray(found)

    def _times(self, batch: tuple[int, ...], rows: Any) -> tuple[Array, ...]:
        """The time of some rows of a batch; nothing for a model that does not depend on it."""
        if not self._model.setup.rheonomic:
            return ()
        assert self._time is not None, "no time is set for a model that depends on time"
        return (np.asarray(np.broadcast_to(self._time, batch).reshape(-1)[rows]),)
