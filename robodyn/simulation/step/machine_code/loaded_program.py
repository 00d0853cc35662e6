"""The machine code of a step, made once for each integrator and variant."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from robodyn.codegen.llvm.builder.load_program import LoadedFunction
from robodyn.codegen.llvm.target.once import Memo
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.step.machine_code.step_program import StepProgram, step_program
from robodyn.simulation.step.machine_code.variant import StepVariant

__all__ = ["LoadedProgram", "loaded_program"]

_RUN = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, eq=False)
class LoadedProgram:
    """The loaded machine code of the steps of an integrator.

    place: Index of each argument in the table.
    function: ``(begin, end, address of the table, unused)``.
    """

    program: StepProgram
    place: Mapping[str, int]
    function: LoadedFunction


_programs: Memo[LoadedProgram] = Memo()


def loaded_program(integrator: Integrator, variant: StepVariant) -> LoadedProgram:
    """The program of an integrator."""

    def make() -> LoadedProgram:
        program = step_program(integrator, variant)
        place = {name: k for k, name in enumerate(variant.arguments)}
        function = LoadedFunction(program.ir, "run", "a step", _RUN)
        return LoadedProgram(program, place, function)

    return _programs.get((integrator, variant), make)
