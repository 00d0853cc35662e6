"""A motion whose steps machine code does, and the arguments of that code."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.codegen import Function
from robodyn.codegen.llvm.batches import threads
from robodyn.codegen.llvm.programs.addresses import address_of
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.loads.loads import Loads, LoadsAt, Table, instants
from robodyn.simulation.step.machine_code.operations import StepVariant
from robodyn.simulation.step.machine_code.step_program import LoadedProgram, loaded_program

#: Numbers of robots, of coordinates, of speeds and of numbers of the controller's state.
Sizes = tuple[int, int, int, int]


class ArgumentValues:
    """Values of the arguments; keeps their arrays alive.

    program: Its arguments are these.
    dtype: Of the state and forces.
    values: The table itself.
    address: Address of the table.
    states: Arrays of the state and forces by name.
    """

    def __init__(self, program: LoadedProgram, sizes: Sizes, dtype: np.dtype[Any]) -> None:
        self.values, self.place = np.zeros(len(program.place), np.int64), program.place
        self.address = address_of(self.values)
        self._arrays: dict[str, Any] = {}
        n, nq, nv, size = sizes
        block, (of_q, of_v, single) = min(n, BLOCK), program.room
        self.set(**_memory(), nq=nq, nv=nv, robots=n, block=block, state_size=size)
        self.set(room=block * (of_q * nq + of_v * nv + single), instants=len(program.instants))
        self.states = {
            "q": np.zeros((n, nq), dtype),
            "v": np.zeros((n, nv), dtype),
            "tau": np.zeros((n, nv), dtype),
            "applied": np.zeros((n, nv)),
            "controller_state": np.zeros((n, size)),
            "controller_state_before": np.zeros((n, size)),
            "reached": np.zeros(n, np.int64),
            "stuck": np.zeros(n, np.int64),
        }
        for name, x in self.states.items():
            self.set(**{name: address_of(x)})

    def set(self, **values: int) -> None:
        """Set sizes and addresses."""
        for name, value in values.items():
            self.values[self.place[name]] = value

    def point(self, name: str, array: Any) -> None:
        """Set the address of an array, and keep the array alive."""
        self._arrays[name] = array
        self.values[self.place[name]] = address_of(array)

    def point_table(self, name: str, table: Table) -> None:
        """Set the address and the strides of an input's values."""
        self.point(name, table.values)
        self.set(**{f"{name}_step": table.step, f"{name}_row": table.row})

    def let_go(self) -> None:
        """Keep no arrays but those of the state any longer."""
        self._arrays.clear()


@functools.cache
def _memory() -> dict[str, int]:
    """Addresses of Python's functions that allocate and free memory."""
    functions = {"allocate": "PyMem_RawMalloc", "free": "PyMem_RawFree"}
    pointers = {key: getattr(ctypes.pythonapi, name) for key, name in functions.items()}
    return {key: ctypes.cast(x, ctypes.c_void_p).value or 0 for key, x in pointers.items()}


#: Largest number of robots in a block, so that the data of a step fit into the CPU's caches; and
#: the smallest one, if there are few robots for each thread.
BLOCK, SMALLEST_BLOCK = 64, 8

#: Number of instants in the tables of paths and loads.
TABLED = 2048

#: Function that does a step of a robot, both given by their indices.
Fallback = Callable[[int, int], None]


class CompiledMotion:
    """Steps of one robot or of many by machine code, which updates their state.

    loads: Loads on the robot, which are functions of time.
    q, v (n, nq), (n, nv): State at the start. Its precision is that of the motion: float64, or, for
        robots without loops, float32.
    controller, optional
    effort (nv,), optional: Largest efforts of the controller.
    tabled, optional: Number of instants in the tables of paths and loads.
    q, v, tau (n, nq), (n, nv), (n, nv): The present state, and the forces of the controller, which
        the caller sets if Python calls the controller.
    controller_state, controller_state_before (n, state_size): State of the controller after its
        latest sample, and before it.
    applied (n, nv): Forces that acted before the latest sample.
    """

    def __init__(
        self,
        loads: Loads,
        integrator: Integrator,
        times: FloatArray,
        q: FloatArray,
        v: FloatArray,
        controller: CompiledController | None = None,
        effort: FloatArray | None = None,
        tabled: int | None = None,
    ) -> None:
        self._rows = TABLED if tabled is None else tabled
        assert loads.functions is not None
        self._loads, self._driven, functions = loads, loads.driven, loads.functions
        self.controller = controller
        self._functions, self._times = functions, np.ascontiguousarray(times)
        variant = StepVariant(
            flat=functions.integrate is None,
            driven=bool(self._driven),
            closed=functions.corrections is not None,
            stabilised=loads.gains is not None,
            dynamics=len(functions.dynamics.code_inputs) - functions.before_loads,
            control=-1 if controller is None else controller.extras,
            corrections=len(functions.corrections.code_inputs) - 2 if functions.corrections else 0,
            cut=controller is not None and effort is not None,
            real="float" if v.dtype == np.float32 else "double",
        )
        self._real = variant.real
        self._code = loaded_program(integrator, variant)
        size = 0 if controller is None else controller.state_size
        self._sizes = len(q), q.shape[-1], v.shape[-1], size
        try:
            self._arguments = self._code.spare[self._sizes].pop()
        except LookupError:
            self._arguments = ArgumentValues(self._code, self._sizes, v.dtype)
        states = self._arguments.states
        self.q, self.v, self.tau = states["q"], states["v"], states["tau"]
        self.applied = states["applied"]
        self.controller_state = states["controller_state"]
        self.controller_state_before = states["controller_state_before"]
        self._reached, self._stuck = states["reached"], states["stuck"]
        for x in states.values():
            x.fill(0)
        self.q[...], self.v[...] = q, v
        #: Whether loads are arguments of the program.
        self._loaded = bool(variant.driven or variant.dynamics or variant.corrections)
        #: First instant in the tables, and the one after the last. There are at most ``tabled``,
        #: also without loads, as callers have room for so many samples.
        self._tabled = (0, 0)
        self._set_arrays(effort)

    # -- arguments ----------------------------------------------------------------------------

    def _set_functions(self) -> None:
        """Set the addresses of functions, of which faster code may be ready now."""
        given, several = self._arguments, len(self.q) > 1
        for name in ("dynamics", "integrate", "rate", "corrections"):
            f: Function | None = getattr(self._functions, name)
            if f is not None:
                given.set(**{name: f.rows_address(several, self._real, numbers=True)})
        if self.controller is not None:
            given.set(control=self.controller.address(several))

    def _set_arrays(self, effort: FloatArray | None) -> None:
        """Set the addresses of arrays that do not change."""
        given = self._arguments
        given.point("times", self._times)
        if effort is not None:
            given.point("effort", np.ascontiguousarray(effort, self.v.dtype))
        driven = self._driven
        if driven:
            coordinates, speeds = (np.ascontiguousarray(x, np.int64) for x in driven.places)
            given.point("driven_q", coordinates)
            given.point("driven_v", speeds)
            given.point("free_v", np.ascontiguousarray(driven.free, np.int64))
            given.set(driven_nq=len(coordinates), driven_nv=len(speeds), free_nv=len(driven.free))

    def samples(
        self, arrays: Sequence[FloatArray], first: int = 0, rows: IntArray | None = None
    ) -> None:
        """Set the arrays for samples from a step on: q, v, a and tau, shape (samples, [n,] ...).

        They have the precision of the motion. ``rows``, shape (instants + 1,): Number of samples
        before each instant; default: a sample is recorded at each.
        """
        for name, x in zip(("q", "v", "a", "tau"), arrays, strict=True):
            self._arguments.point(f"samples_{name}", x)
        rows = np.arange(len(self._times) + 1) if rows is None else rows
        self._arguments.point("rows", np.ascontiguousarray(rows, np.int64))
        self._arguments.set(before=int(rows[first]))

    def samples_of_controller(self, array: FloatArray) -> None:
        """Set the array for the controller's recorded state, shape (samples, n, recorded)."""
        self._arguments.point("samples_controller_state", array)
        self._arguments.set(recorded=array.shape[-1])

    def begin_samples(self, first: int) -> None:
        """Write samples of every step from ``first`` on to the start of the same arrays again."""
        self._arguments.set(before=first)

    def sampled_inputs(self, first: int) -> tuple[int, LoadsAt | None, list[Table]] | None:
        """Functions of time at as many steps from ``first`` on as the tables hold.

        Returns the instant after the last one, loads and signals; ``None`` if the tables have them.
        """
        needed = min(first + 2, len(self._times))
        if self._tabled[0] <= first and needed <= self._tabled[1]:
            return None
        stop, loads = min(first + self._rows, len(self._times)), None
        signals: list[Table] = []
        if self._loaded:
            at = instants(self._times[first : stop + 1], self._code.instants)
            loads = self._loads.at(at[: stop - first].reshape(-1))
        if self.controller is not None:
            signals = self.controller.tables(self._times, first, stop)
        return stop, loads, signals

    def fill_tables(self, first: int) -> int:
        """Fill the tables from ``first`` on, unless they hold the next step.

        If a function of time raises an exception, nothing is changed. Returns the last instant.
        """
        sampled = self.sampled_inputs(first)
        if sampled is not None:
            self.load_tables(first, *sampled)
        return self._tabled[1] - 1

    def load_tables(
        self, first: int, stop: int, loads: LoadsAt | None, signals: Sequence[Table]
    ) -> None:
        """Fill the tables from ``first`` to before ``stop``."""
        self._set_functions()
        self._tabled = first, stop
        self._arguments.set(table=first)
        self._point_tables("control", signals)
        if loads is not None:
            own, dtype = self._functions, self.v.dtype
            for name, x in zip("qva", loads.driven, strict=False):
                self._arguments.point(f"path_{name}", np.ascontiguousarray(x, dtype))
            self._point_tables("dynamics", loads.tables(own.dynamics, own.before_loads, dtype))
            if own.corrections is not None:
                self._point_tables("corrections", loads.tables(own.corrections, 2, dtype))

    def replace_signals(self, first: int, tables: Sequence[Table]) -> None:
        """Give signals of the controller, from one on, other values than in the tables."""
        self._point_tables("control", tables, first)

    def _point_tables(self, function: str, tables: Sequence[Table], first: int = 0) -> None:
        for k, table in enumerate(tables, first):
            self._arguments.point_table(f"{function}{k}", table)

    def end(self) -> None:
        """Let a later motion have the arrays of the state; this one is over."""
        if len(self.q) == 1:
            self._arguments.let_go()
            self._code.spare.setdefault(self._sizes, []).append(self._arguments)

    # -- steps --------------------------------------------------------------------------------

    def advance(self, first: int, last: int, final: bool, fallback: Fallback | None = None) -> int:
        """Record and do the steps from one instant to another, and return the one reached.

        first, last: Instants.
        final: Record the sample of the last instant as well.
        fallback: Called with the indices of a step and of a robot if straight-line code returns
            NaN, to do that step. The robot is at the start of the step, and its sample there may be
            wrong. Default, for a single robot: the motion stops there.
        """
        while first < last or final:
            if first < self._tabled[0] or first + 2 > self._tabled[1]:
                self.fill_tables(first)
            if first == 0 and self.controller is not None:
                initial = self.controller.initial_rows(self._times, self.q, self.v)
                self.tau[...], self.controller_state[...] = 0.0, initial
            stop = min(last, self._tabled[1] - 1)
            reached = self._until(first, stop, final and stop == last, fallback)
            if reached < stop or stop == last:
                return reached
            first = stop
        return last

    def advance_from(
        self, first: int, steps: int, state: tuple[FloatArray, ...], final: bool = False
    ) -> int:
        """Record and do up to so many steps of one robot from a state, and return how many.

        ``state``: q, v, and forces if Python gives them.
        """
        for x, given in zip((self.q, self.v, self.tau), state, strict=False):
            x[0] = given
        steps = min(steps, self.fill_tables(first) - first)
        return self.advance(first, first + steps, final) - first

    def _until(self, first: int, last: int, final: bool, fallback: Fallback | None) -> int:
        """Record and do steps as far as the tables hold."""
        given, at = self._arguments, self._arguments.place["first"]
        values = given.values
        values[given.place["last"]], values[given.place["final"]] = last, final
        if len(self.q) == 1:  # the usual case, in few lines
            while True:
                values[at] = first
                self._code.function.run(0, 1, given.address, None)
                if not self._stuck[0]:
                    return last
                first = int(self._reached[0])
                self._stuck[0] = 0
                if fallback is None:
                    return first - 1
                fallback(first - 1, 0)
        values[at] = first
        self._reached[:] = last
        self._in_threads(last - first + final)
        if not self._stuck.any():
            return last
        assert fallback is not None, "only a single robot goes on without one"
        waiting = self._waiting(0, len(self.q))
        while waiting:  # the earliest steps first, in whatever blocks the robots are
            first, begin, end = waiting.pop(0)
            for r in begin + np.flatnonzero(self._stuck[begin:end]):
                self._stuck[r] = 0
                fallback(first - 1, int(r))
            values[at] = first
            self._reached[begin:end] = last
            self._code.function.run(begin, end, given.address, None)
            waiting = sorted(waiting + self._waiting(begin, end))
        return last

    def _waiting(self, begin: int, end: int) -> list[tuple[int, int, int]]:
        """Steps at which blocks have stopped, as a robot needs ``fallback``, and the blocks."""
        reached = self._reached[begin:end]
        cuts = [0, *(np.flatnonzero(np.diff(reached)) + 1), end - begin]
        return sorted(
            (int(reached[b]), begin + int(b), begin + int(e))
            for b, e in pairwise(cuts)
            if self._stuck[begin + b : begin + e].any()
        )

    def _in_threads(self, steps: int) -> None:
        """All robots, spread over threads where that is worth it."""
        threads.start()
        n = len(self.q)
        work = 4 * steps * n * self._functions.dynamics.work
        # groups that parallel_for does not divide; each thread gets at least two
        together = min(max(n // (2 * threads.get_num_threads()), SMALLEST_BLOCK), BLOCK, n)
        threads.parallel_for()(
            threads.pool(),
            self._code.function.address,
            n,
            work,
            together,
            self._arguments.address,
            None,
        )


class SingleStep:
    """Single steps of one robot, of any length, under loads that do not change with time.

    q, v (1, nq), (1, nv): The state after a step.
    """

    def __init__(self, loads: Loads, integrator: Integrator) -> None:
        self._times = np.array([0.0, 1.0])
        rest = np.zeros((1, loads.robot.nq)), np.zeros((1, loads.robot.nv))
        self._motion = CompiledMotion(loads, integrator, self._times, *rest)
        self._samples = [np.empty((2, x.shape[1])) for x in (rest[0], *[rest[1]] * 3)]
        self._motion.samples(self._samples)
        self.q, self.v = self._motion.q, self._motion.v

    def step(self, q: FloatArray, v: FloatArray, tau: FloatArray, h: float) -> bool:
        """Do a step of ``h`` [s] from a state under forces; False where it cannot be done."""
        self._times[1] = h
        return self._motion.advance_from(0, 1, (q, v, tau)) == 1
