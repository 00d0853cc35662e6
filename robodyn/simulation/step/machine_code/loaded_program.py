"""The machine code of a step, made once for each integrator and variant."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from robodyn.codegen.llvm.builder.load_program import program_code
from robodyn.codegen.llvm.target.once import Memo, making
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.step.machine_code.step_program import StepProgram, step_program
from robodyn.simulation.step.machine_code.variant import StepVariant

__all__ = ["LoadedProgram", "loaded_program"]

_RUN = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


class LoadedProgram:
    """The program of an integrator in memory.

    Parameters
    ----------
    program : StepProgram
    place : mapping of str to int
        Where each argument stands in the table.

    Attributes
    ----------
    run : callable
        ``(begin, end, address of the table, unused)``, in the best code there is yet.
    address : int
        Of that function.
    """

    run: Any
    address: int

    def __init__(self, program: StepProgram, place: Mapping[str, int]) -> None:
        self.program, self.place = program, place
        self._code = program_code(program.ir, "a step", long=True)
        with making():
            self._code.when_full(self._take)
            self._take()

    def _take(self) -> None:
        self.address = self._code.address("run")
        self.run = _RUN(self.address)


_programs: Memo[LoadedProgram] = Memo()


def loaded_program(integrator: Integrator, variant: StepVariant) -> LoadedProgram:
    """The program of an integrator."""

    def make() -> LoadedProgram:
        program = step_program(integrator, variant)
        place = {name: k for k, name in enumerate(variant.arguments)}
        return LoadedProgram(program, place)

    return _programs.get((integrator, variant), make)
