"""The machine code of a step, made once for each integrator and variant."""

from __future__ import annotations

import ctypes
from typing import Any

from robodyn.codegen.llvm.builder.load_program import load_program
from robodyn.codegen.llvm.target.once import Memo
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.step.machine_code.step_program import StepProgram, step_program
from robodyn.simulation.step.machine_code.variant import StepVariant

__all__ = ["loaded_program"]

_RUN = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)

_programs: Memo[tuple[StepProgram, Any]] = Memo()


def loaded_program(integrator: Integrator, variant: StepVariant) -> tuple[StepProgram, Any]:
    """The program of an integrator, and its function ``run`` to be called."""

    def make() -> tuple[StepProgram, Any]:
        program = step_program(integrator, variant)
        address, engine = load_program(program.ir, "run", long=True)
        run = _RUN(address)
        run.engine = engine  # type: ignore[attr-defined]
        return program, run

    return _programs.get((integrator, variant), make)
