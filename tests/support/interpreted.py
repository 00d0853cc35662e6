"""Robots whose functions are evaluated by the plain interpreter.

Only what closes loops, which takes many calls, is compiled.
"""

import numpy as np

import robodyn as rd
from robodyn.codegen import Function
from robodyn.symbolic.evaluate import evaluate


class _Plain:
    """A program, called as a `robodyn.codegen.Function` is."""

    def __init__(self, program):
        self.program, self.inputs, self.partly_used = program, program.inputs, ()

    def __call__(self, *arrays, out=None):
        with np.errstate(invalid="ignore"):  # guards take roots of negative numbers
            results = [x.copy() for x in evaluate(self.program, *arrays)]
        if out is not None:
            out[...] = results[0]
        return results[0] if len(results) == 1 else tuple(results)


def _made(program):
    needed = program.name in ("loop_residual", "loop_jacobian")
    return Function(program) if needed else _Plain(program)


def interpreted(source, **options):
    """As `robodyn.load`, for tests of few states of many robots."""
    return as_interpreted(rd.load(source, **options))


def as_interpreted(robot):
    """The same robot, whose functions are evaluated by the plain interpreter."""
    return rd.Robot(robot.mechanism, robot.model.settings, make=_made)
