"""From the name of a quantity to its compiled function: the only way to one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, by_name, numbers
from robodyn.codegen import CallForm, Function, Memo, MethodTable
from robodyn.codegen.calls.symbols import symbolic_array
from robodyn.equations.catalogue import QUANTITIES, trace
from robodyn.errors import SettingsError, ShapeError
from robodyn.evaluator.not_finite import NonFiniteDiagnosis
from robodyn.evaluator.options import FunctionOptions
from robodyn.evaluator.shared_functions import CopiedFunctions, SharedPrograms
from robodyn.model.changes.parameter_rows import ParameterRows
from robodyn.model.model import Model
from robodyn.model.states import refuse_wrong_states
from robodyn.motion.base_motion import BaseMotion
from robodyn.progress import progress
from robodyn.symbolic.graph import Program
from robodyn.symbolic.holds_symbols import holds_symbols
from robodyn.symbolic.python_code import PythonCode

__all__ = ["PLAIN", "Evaluator", "Wrenches"]


_ZERO = np.zeros(())

#: Of a call that gives arrays alone.
PLAIN = CallForm()

#: External wrenches by link name, each (..., 6) [N, N m].
Wrenches = Mapping[str, ArrayLike]


class Evaluator:
    """The functions of a model, each traced and compiled when it is first needed.

    Parameters
    ----------
    model : Model
    methods : MethodTable
        Methods that may go straight to a function once it is there.
    make : callable
        Makes a function of a program. Default: `Function`, which compiles.
    programs : SharedPrograms, optional
        Of a copy that differs in numbers from the robot it was made of: what it shares with others.
    rows : ParameterRows, optional
        Of many copies, which are computed with at once: the last leading axis of states counts
        them.
    trace : callable
        Makes a program of a quantity. Default: `robodyn.equations.catalogue.trace`, which
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
        self._makers: Memo[Callable[..., Any]] = Memo()

    def at(self, t: ArrayLike) -> Evaluator:
        """The same functions at a time, or at times of shape (...), of a model that depends on it.

        Raises
        ------
        ShapeError
            If ``t`` is no time. Symbols are one.
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
        """Refuse to compute with a model that depends on time, of which no time is known.

        Raises
        ------
        ShapeError
        """
        setup, name = self._model.setup, self._model.mechanism.name
        if self._time is None and setup.rheonomic:
            raise ShapeError(
                f"{name!r} depends on time ({', '.join(setup.timed)}): ask robot.at(t), with the "
                "time t [s], instead",
                name="t",
            )

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
            other._functions, other._slopes = Memo(), Memo()
        return other

    # -- functions ----------------------------------------------------------------------------

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity, for choices that shape its code.

        With ``rows`` among the options it is the one of a closed linkage.

        Parameters
        ----------
        name : str
        **options
            As the catalogue has them for this quantity.

        Raises
        ------
        UnknownNameError
            If there is no such quantity, link or option.
        SettingsError
            If the robot has closed loops, and the quantity is not defined for these.
        SingularError
            If it needs the acceleration of a joint that moves no mass.
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

    def call(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
        wrenches: Wrenches | None = None,
        **options: Any,
    ) -> Array:
        """The result of a quantity that has one.

        Parameters
        ----------
        name : str
        arrays : tuple of array_like
            Its inputs, in the order of the catalogue.
        base : BaseMotion, optional
            Of a robot with a moving base. Default: at rest.
        out : ndarray, optional
            Written to and returned.
        wrenches : mapping of link name to array_like, shape (..., 6), optional
        **options
            As for `function`.

        Raises
        ------
        ShapeError
            For what does not fit, and where results are not finite because an input is not, or is
            too large.
        SingularError
            Where accelerations are not determined, because joints move no mass in that posture.
        InconsistentStateError
            Where a loop that is solved in closed form does not close.
        """
        result: Array = self.results(name, arrays, base=base, out=out, wrenches=wrenches, **options)
        return result

    def caller(self, name: str) -> Callable[..., Array]:
        """What calls a quantity with arrays again and again: its function, where that is enough.

        It gives no numbers at positions that are none. Where joints are functions of others, which
        have no numbers at some positions, `call` says so, and it knows the time.
        """
        if self.of_state_alone and self.rows is None and not self._are_functions:
            return self.function(name)
        return lambda *arrays: self.call(name, arrays)

    def structured(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        *,
        base: BaseMotion | None = None,
        wrenches: Wrenches | None = None,
        form: CallForm | None = PLAIN,
        **options: Any,
    ) -> Any:
        """The result of a quantity whose row says how its arrays are put together.

        Arguments as for `results`.
        """
        found = self.results(name, arrays, base=base, wrenches=wrenches, form=form, **options)
        return self.made(name, found, **options)

    def made(self, name: str, found: tuple[Array, ...], **options: Any) -> Any:
        """What the row of a quantity makes of the arrays that its function gives."""
        make = self._maker(name, options)
        assert make is not None, f"the row of {name} does not say what its result is"
        return make(found)

    def _maker(self, name: str, options: Mapping[str, Any]) -> Callable[..., Any] | None:
        of_row = QUANTITIES[name].result
        if of_row is None:
            return None
        key = (name, *sorted(options.items()))
        return self._makers.get(key, lambda: of_row(self._model.setup, options))

    def results(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        *,
        base: BaseMotion | None = None,
        out: Any = None,
        wrenches: Wrenches | None = None,
        extra: tuple[Array, ...] = (),
        form: CallForm | None = None,
        **options: Any,
    ) -> Any:
        """All results of a quantity: a tuple where it has several.

        Arguments as for `call`, and

        Parameters
        ----------
        extra : tuple of ndarray, optional
            Inputs between the base's motion and the wrenches.
        form : CallForm, optional
            Of the call of the method of this name, if such calls may go to the function with these
            options. Default: the function's own options are those of the method, too.
        """
        if wrenches is not None:
            wrenches = by_name("wrenches", wrenches)
        links = tuple(wrenches or ())
        f = self.function(name, **options, **({"wrenches": links} if links else {}))
        motion = self._base_inputs(name, base)
        given = (*arrays, *motion, *extra, *(wrenches or {}).values())
        if self._model.setup.rheonomic and not QUANTITIES[name].timeless:
            given = (*given, self._time_beside(given))
        elif not extra and self.rows is None:
            bounded = QUANTITIES[name].input_names == ("q",) and not links and self._only_turns
            finite = bounded and not (QUANTITIES[name].solves or self._may_not_be_finite)
            if form is None:
                self._methods.bind(name, f, options, links, finite=finite)
            else:
                make = form.make or self._maker(name, options)
                names, places = (*form.names, *links), (*form.places, *[-1] * len(links))
                self._methods.bind_form(
                    form.method or name, f, replace(form, names=names, places=places, make=make)
                )
        found = f(*given, out=out)
        wrong = not all(map(all_finite, found if isinstance(found, tuple) else (found,)))
        unused = not wrong and f.partly_used  # what no result tells of
        if wrong or (unused and not all(all_finite(numbers("an argument", x)) for x in given)):
            refuse_wrong_states(self._model, f.inputs, given)
            if wrong and "rows" not in options and not QUANTITIES[name].guarded:
                controlled = self.options.speeds(options.get("controlled", ()))
                NonFiniteDiagnosis(self._model, self.function, self._mass_matrices).refuse(
                    name, f, given, found[0] if isinstance(found, tuple) else found, controlled
                )
        return found

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

    def bind(self, name: str, f: Function) -> None:
        """Let plain calls of a method go straight to a function; NaN sends them to the method."""
        if self.rows is None:
            self._methods.bind(name, f, guarded=True)

    def _base_inputs(self, name: str, base: BaseMotion | None) -> tuple[Array, ...]:
        settings = self._model.settings
        if settings.base == "moving" and QUANTITIES[name].base:
            motion = BaseMotion.at_rest() if base is None else base
            if not isinstance(motion, BaseMotion):
                raise ShapeError(
                    f"base is {type(motion).__name__}, expected a robodyn.BaseMotion", name="base"
                )
            return motion.pose, motion.twist, motion.acceleration
        if base is not None:
            raise ShapeError(
                f"base= given, but {self._model.mechanism.name!r} has a {settings.base} base; "
                "load it with base='moving'",
                name="base",
            )
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
