"""The machine code of a step, made once for each integrator and variant."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.codegen.llvm.builder.load_program import load_program
from robodyn.codegen.llvm.target.once import Memo
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.step.machine_code.step_program import StepProgram, step_program
from robodyn.simulation.step.machine_code.variant import StepVariant

__all__ = ["LoadedProgram", "loaded_program"]

_RUN = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, eq=False)
class LoadedProgram:
    """The program of an integrator in memory.

    Attributes
    ----------
    program : StepProgram
    run : callable
        ``(begin, end, address of the table, unused)``.
    address : int
        Of that function.
    place : mapping of str to int
        Where each argument stands in the table.
    """

    program: StepProgram
    run: Any
    address: int
    place: Mapping[str, int]


_programs: Memo[LoadedProgram] = Memo()


def loaded_program(integrator: Integrator, variant: StepVariant) -> LoadedProgram:
    """The program of an integrator."""

    def make() -> LoadedProgram:
        program = step_program(integrator, variant)
        address, engine = load_program(program.ir, "run", long=True)
        run = _RUN(address)
        run.engine = engine  # type: ignore[attr-defined]
        place = {name: k for k, name in enumerate(variant.arguments)}
        return LoadedProgram(program, run, ctypes.cast(run, ctypes.c_void_p).value or 0, place)

    return _programs.get((integrator, variant), make)
