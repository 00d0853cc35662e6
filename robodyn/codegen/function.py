"""A program as a callable object over arrays."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array
from robodyn.codegen.calls.arguments import (
    CallSignature,
    apart,
    as_inputs,
    as_outputs,
    check_count,
    rows,
)
from robodyn.codegen.calls.symbols import call_with_symbols, symbolic_array
from robodyn.codegen.kernels import CompiledCode, Kernels
from robodyn.codegen.llvm.batches import threads
from robodyn.codegen.llvm.target.once import once
from robodyn.codegen.shared import Bound, partly_used
from robodyn.codegen.vectorcall.signature import Parameter, Role, Signature
from robodyn.codegen.vectorcall.table import Table
from robodyn.codegen.vectorcall.vectorcall_type import (
    VectorcallType,
    never_changed,
    vectorcall_type,
)
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.literals import Precision
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.symbol_arrays import holds_symbols

#: States from which on parts of a batch are computed one after the other, so that inputs that are
#: the same in each part need no copies.
WIDE = 512

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # part of type checkers

    from robodyn.codegen.text.cuda import CudaFunction

    Result = TypeVar("Result", default=Any)
else:
    from typing import TypeVar

    Result = TypeVar("Result")


class Function(Generic[Result]):
    """A compiled program.

    Call it with one array an input, in the order of ``inputs``; leading axes are batches and
    broadcast together. It returns the output (a tuple if there are several), or writes it into
    ``out``. All-float32 inputs are computed in float32, everything else in float64.

    To type checkers a function of one output is a ``Function[NDArray[Any]]``, one of several a
    ``Function[tuple[NDArray[Any], ...]]``.

    A function does not check values: inputs that are not finite are accepted, and results that are
    not determined are NaN. Methods of robots raise errors instead.

    Attributes
    ----------
    name : str
    inputs, outputs : tuple of Port
        Names, shapes of one state and units.

    Raises
    ------
    ShapeError
        When called with arrays that do not fit.

    Examples
    --------
    >>> import robodyn as rd
    >>> f = rd.load("double_pendulum").function("inverse_dynamics")
    >>> f
    <Function inverse_dynamics(q[2], v[2], a[2]) -> tau[2]>
    >>> f([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).tolist()     # hanging
    [0.0, 0.0]
    """

    #: Machine code points into the signature, so it must live as long as the object.
    __slots__ = ("__dict__", "__weakref__", "_signature")

    __signature__ = CallSignature()

    def __new__(cls, source: Program | Bound) -> Self:
        """An instance of the type with fast calls, if this Python allows it."""
        fitting = cls is Function and Table.fits(source.inputs, source.outputs)
        fitting = fitting and not _rows_of(source)
        fast = _vectorcall_type() if fitting else None
        return object.__new__(cls if fast is None else fast.type)

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    #: Inputs of the machine code; rows of numbers of robots, if there are any, are the last one.
    code_inputs: tuple[Port, ...]
    table: Table | None
    _source: Program | Bound
    _signature: Signature
    _rows: Mapping[str, Array]
    _double: Kernels
    _float: Kernels

    def __init__(self, source: Program | Bound) -> None:
        inputs, outputs = source.inputs, source.outputs
        own = self.__dict__
        own.update(_source=source, name=source.name, inputs=inputs, outputs=outputs)
        own["_rows"] = _rows_of(source)
        own["code_inputs"] = _code_inputs(source)
        own["table"] = table = self._fast_table()
        for dtype in ("double", "float"):
            own[f"_{dtype}"] = (
                source.kernels(dtype, table)
                if isinstance(source, Bound)
                else Kernels(CompiledCode(source, dtype), dtype, table)
            )

    __setattr__ = __delattr__ = never_changed("a Function")

    def _fast_table(self) -> Table | None:
        """Table of this function for calls by machine code; ``None`` if there are none."""
        fast = _vectorcall_type()
        if fast is None or type(self) is not fast.type:
            return None
        table = Table(self.inputs, self.outputs, self.work, self.partly_used)
        signature = Signature(fast.common, _parameters(len(self.inputs)))
        signature.add(table)
        object.__setattr__(self, "_signature", signature)
        fast.attach(self, signature)
        return table

    @cached_property
    def partly_used(self) -> tuple[int, ...]:
        """Indices of inputs of which results need some numbers only.

        The motion of a base is left out, as `BaseMotion` has checked it.
        """
        source = self._source
        return source.code.partly_used if isinstance(source, Bound) else partly_used(source)

    def __repr__(self) -> str:
        takes = ", ".join(f"{port.name}{list(port.shape)}" for port in self.inputs)
        gives = ", ".join(f"{port.name}{list(port.shape)}" for port in self.outputs)
        return f"<Function {self.name}({takes}) -> {gives}>"

    def __reduce__(self) -> Any:
        return Function, (self._source,)

    @property
    def program(self) -> Program:
        """The equations, in which the numbers of the robot are constants."""
        source = self._source
        return source.folded if isinstance(source, Bound) else source

    @property
    def rows_of_numbers(self) -> Array | None:
        """Rows of numbers of robots, shape (robots, n), which are an input of the machine code."""
        return self._rows.get("double")

    @cached_property
    def operations(self) -> dict[str, int]:
        """Number of operations for one state: ``mul``, ``add``, ``div``, ``sqrt``, ``sincos``."""
        return self._source.operations()

    @checked_arguments
    def jacobian(self, name: str, *, raw: bool = False) -> Function[Result]:
        """Exact derivative of all outputs with respect to an input, as a Function.

        Coordinates of a robot are moved along its speeds: the derivative with respect to ``"q"``
        has nv columns, those of ``f(integrate(q, dq))`` at ``dq = 0``. Outputs are differentiated
        number by number.

        Parameters
        ----------
        name : str
            Name of an input.
        raw : bool
            Differentiate the numbers of the input one by one, those of quaternions too: nq columns.

        Raises
        ------
        UnknownNameError
            If there is no such input.
        """
        known = [port.name for port in self.inputs]
        if name not in known:
            raise UnknownNameError("input", name, known, f"function {self.name!r}")
        if isinstance(self._source, Bound):
            return Function(self._source.jacobian(name, raw))
        return Function(jacobian(self.program, name, raw))

    @checked_arguments
    def c_source(
        self,
        name: str | None = None,
        dtype: Precision = "double",
        *,
        constants: Mapping[str, float] | None = None,
    ) -> str:
        """C99 source for one state: no dependency but math.h, no allocation.

        Parameters
        ----------
        name : str, optional
            Of the C function. Default: the function's own.
        dtype : {"double", "float"}
        constants : mapping of str to float
            Numbers for inputs, as ``robot.symbols``: constants with these names, and no arguments.
        """
        from robodyn.codegen.text.cuda import c_source

        return c_source(self.program, name, dtype, constants)

    @checked_arguments
    def cuda_source(self, name: str | None = None, dtype: Precision = "double") -> str:
        """CUDA C source of a kernel over a batch, one thread a state.

        Parameters
        ----------
        name : str, optional
            Of the kernel. Default: the function's own.
        dtype : {"double", "float"}
        """
        from robodyn.codegen.text.cuda import cuda_source

        return cuda_source(self.program, name, dtype)

    @checked_arguments
    def cuda(self, dtype: Precision = "double") -> CudaFunction:
        """The function on a CUDA device, over cupy arrays (extra ``cuda``).

        Parameters
        ----------
        dtype : {"double", "float"}
            Of the arithmetic.
        """
        from robodyn.codegen.text.cuda import CudaFunction

        return CudaFunction(self.program, dtype)

    @checked_arguments
    def latex(self, *, constants: Mapping[str, float] | None = None) -> str:
        """The equations, with intermediate variables, as an ``align*`` environment of LaTeX.

        Parameters
        ----------
        constants : mapping of str to float
            Numbers for inputs, as ``robot.symbols``, which stand before the equations.
        """
        from robodyn.codegen.text.identities import with_identities
        from robodyn.codegen.text.latex import latex

        return latex(with_identities(self.program), constants)

    def _repr_latex_(self) -> str:
        """The equations in a notebook."""
        return self.latex()

    def casadi(self) -> Any:
        """The function in CasADi's symbols (extra ``casadi``).

        Names and shapes of inputs and outputs are those of the function, less what no identifier
        has; arrays of more than two axes have the first as rows and all others as columns. Inside
        are scalars (``SX``), so that CasADi's derivatives are as sparse as the equations; choices
        and guards are CasADi's own.

        Returns
        -------
        function : casadi.Function

        Raises
        ------
        MissingExtraError
            Without CasADi.

        Examples
        --------
        >>> import robodyn as rd
        >>> f = rd.load("double_pendulum").function("mass_matrix").casadi()
        >>> f
        Function(mass_matrix:(q[2])->(M[2x2]) SXFunction)
        """
        from robodyn.codegen.computer_algebra import casadi_function

        return casadi_function(self.program)

    def sympy(self) -> dict[str, Any]:
        """The inputs and the outputs in symbols of SymPy (extra ``sympy``), by name.

        Returns
        -------
        matrices : dict of name to sympy.Matrix
            Vectors are columns; arrays of more than two axes have the first as rows and all others
            as columns. Outputs are expressions in the symbols of the inputs, ``q_0`` and so on.

        Raises
        ------
        MissingExtraError
            Without SymPy.

        Examples
        --------
        >>> import robodyn as rd
        >>> found = rd.load("double_pendulum").function("mass_matrix").sympy()
        >>> sorted(found), found["M"].free_symbols  # of the angle between both links alone
        (['M', 'q'], {q_1})
        """
        from robodyn.codegen.computer_algebra import sympy_matrices
        from robodyn.codegen.text.identities import with_identities

        return sympy_matrices(with_identities(self.program))

    @property
    def address(self) -> int:
        """Address of ``void kernel(double *in0, ..., double *out0, ...)`` for one state."""
        self._refuse_rows()
        return self._double.address("scalar", "kernel")

    def _refuse_rows(self) -> None:
        """Raise an error if the function is that of many robots, whose numbers are an input."""
        if self._rows:
            _ = self.program  # which says so

    def rows_address(
        self,
        batch: bool,
        dtype: Precision = "double",
        numbers: bool = False,
        *,
        full: bool = False,
    ) -> int:
        """Address of ``void rows(begin, end, pointers, strides)``.

        Parameters
        ----------
        batch : bool
            Compute a vector of states at a time, which gives the same numbers.
        dtype : {"double", "float"}
        numbers : bool
            Take `code_inputs`, with rows of numbers where there are some.
        full : bool
            Wait for the full code. Otherwise the address is in the fastest code that is ready, and
            may be another one later.
        """
        if not numbers:
            self._refuse_rows()
        kernels = self._float if dtype == "float" else self._double
        several = batch and kernels.lanes > 1
        names = ("batch", "batch") if several else ("scalar", "rows")
        return kernels.address(*names) if full else kernels.current(*names)

    def lanes(self, dtype: Precision = "double") -> int:
        """How many states a vector has in ``"double"`` or ``"float"``."""
        return (self._float if dtype == "float" else self._double).lanes

    @cached_property
    def numba(self) -> Any:
        """``f.numba(in0, ..., out0, ...)``, to be called in ``numba.njit`` loops, for one state.

        All arrays are C-contiguous and of one dtype, float64 or float32; what is written overlaps
        nothing else. A wrong shape raises `ShapeError` there.
        """
        from robodyn.codegen.numba_call import numba_function

        self._refuse_rows()
        kernels = {"double": self._double, "float": self._float}
        return numba_function(
            self.inputs, self.outputs, lambda x: kernels[x].address("scalar", "kernel"), self
        )

    @cached_property
    def work(self) -> int:
        """Number of operations for one state, in which a sine counts as several."""
        counts = self.operations
        return sum(counts.values()) + 15 * counts["sincos"]

    def __call__(self, *arrays: ArrayLike, out: Any = None) -> Result:
        """Compute, for one state or a batch of them.

        Called with symbols, in a function that is traced, it returns symbols.
        """
        if any(map(holds_symbols, arrays)):
            return cast(Result, self._over_symbols(arrays, out))
        if self.table is not None and (fast := _vectorcall_type()) is not None:
            fast.called()
        if len(arrays) == len(self.inputs) + 1 and out is None:
            arrays, out = arrays[:-1], arrays[-1]
        if self._rows:
            single = all(isinstance(x, np.ndarray) and x.dtype == np.float32 for x in arrays)
            arrays = (*arrays, self._rows["float" if single else "double"])
        inputs, batch, dtype = as_inputs(self.code_inputs, arrays)
        results = as_outputs(self.outputs, out, batch, dtype)
        # Machine code assumes that outputs do not overlap inputs.
        written = results if out is None else apart(results, inputs)
        self._compute(self._float if dtype == np.float32 else self._double, inputs, written, batch)
        for result, computed in zip(results, written, strict=True):
            if result is not computed:
                result[...] = computed
        if out is not None:
            return cast(Result, out)
        shown = [result if result.shape else result[()] for result in results]
        return cast(Result, shown[0] if len(shown) == 1 else tuple(shown))

    def _over_symbols(self, arrays: Sequence[ArrayLike], out: Any) -> Any:
        """The equations with symbols for inputs, written into those that the symbols belong to."""
        check_count(self.inputs, len(arrays))
        if out is not None:
            raise ShapeError("out is given, but symbols are not written into arrays", name="out")
        given = [symbolic_array(p.name, x) for p, x in zip(self.inputs, arrays, strict=True)]
        results = call_with_symbols(self.program, given)
        shown = [result if result.shape else result[()] for result in results]
        return shown[0] if len(shown) == 1 else tuple(shown)

    def _compute(
        self, kernels: Kernels, inputs: list[Array], outputs: list[Array], batch: tuple[int, ...]
    ) -> None:
        count, ports = math.prod(batch), self.code_inputs
        if count == 0:
            return
        given = [*zip(inputs, ports, strict=True)]
        if math.prod(batch[1:]) >= WIDE and any(_repeated(batch, *x) for x in given):
            for k in range(batch[0]):
                some = [_at_first(k, batch, *x) for x in given]
                self._compute(kernels, some, [x[k] for x in outputs], batch[1:])
            return
        flat = [rows(x, port, batch) for x, port in given]
        arrays = [x for x, _ in flat] + outputs
        pointers = (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
        if count == 1:
            kernels.packed(pointers)
            return
        steps = [step for _, step in flat] + [port.size for port in self.outputs]
        strides = (ctypes.c_int64 * len(steps))(*steps)
        if kernels.lanes == 1 or 3 * count < kernels.lanes:
            kernels.rows(0, count, pointers, strides)
            return
        threads.start()
        work = count * self.work
        threads.parallel_for()(
            threads.pool(), kernels.batch, count, work, kernels.lanes, pointers, strides
        )


def _repeated(batch: tuple[int, ...], x: Array, port: Port) -> bool:
    """Whether an input is the same along some of the axes of a batch, but not along all."""
    leading = x.shape[: x.ndim - len(port.shape)]
    return leading != batch and any(n != 1 for n in leading)


def _at_first(k: int, batch: tuple[int, ...], x: Array, port: Port) -> Array:
    """An input at an index of the first axis of a batch."""
    if x.ndim - len(port.shape) < len(batch):
        return x
    return np.asarray(x[k if len(x) > 1 else 0])


@functools.cache
def _parameters(inputs: int) -> tuple[Parameter, ...]:
    """Those of a function of so many arrays."""
    array = Parameter("", Role.ARRAY, positional=True)
    return (*[array] * inputs, Parameter("out", Role.OUT, None, positional=True))


def _rows_of(source: Program | Bound) -> Mapping[str, Array]:
    return source.rows if isinstance(source, Bound) else {}


def _code_inputs(source: Program | Bound) -> tuple[Port, ...]:
    if isinstance(source, Bound) and source.rows:
        return source.code.for_rows.program.inputs
    return source.inputs


@once
def _vectorcall_type() -> VectorcallType | None:
    """The type of functions with fast calls, if this Python allows it."""
    return vectorcall_type(Function, Function.__call__)
