"""Functions of robots that differ in numbers alone: one program, and machine code that they share.

A robot as it was loaded has its numbers in its machine code. Copies with other numbers have them
beside it, so that nothing is traced or compiled for the next one. What they share is kept under all
that shapes a program: the quantity, its options, which numbers are zero, and which rotors and light
speeds there are. Their geometry is the same object, of the robot that they are copies of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.codegen import Function, Memo, making
from robodyn.codegen.shared import Bound, SharedCode
from robodyn.equations.catalogue import Setup, derivatives_of, trace
from robodyn.equations.elimination.singularity import Probe
from robodyn.equations.quantities.common.numbers import (
    numbers_of,
    options_with_numbers,
    shape_of,
    trial_numbers,
    with_numbers,
)
from robodyn.symbolic.graph import Program


class SharedPrograms:
    """Programs of all copies of one robot that have its geometry.

    root: Of that robot.
    """

    def __init__(self, root: Setup) -> None:
        self._root = root
        self._shapes: dict[object, int] = {}
        self._found: Memo[Function | SharedCode] = Memo()

    def __len__(self) -> int:
        return len(self._found)

    def shape(self, key: object) -> int:
        """A number for all that robots of one shape have in common."""
        with making():
            return self._shapes.setdefault(key, len(self._shapes))

    def get(
        self, key: object, name: str, setup: Setup, options: Mapping[str, Any]
    ) -> Function | SharedCode:
        """A program of its key, traced for the first robot that asks for it.

        It is one function for all if no number of the robot enters it.
        """

        def make() -> Function | SharedCode:
            example = trial_numbers(self._root, setup, options)
            chosen = {**options, "numbers": example}
            program = trace(name, setup, chosen)
            before = sum(port.size for port in program.inputs[:-1])
            if max(program.needed, default=-1) >= before:
                derived = derivatives_of(name, setup, chosen, program)
                return SharedCode(replace(program, derived=derived))
            alone: Program = replace(program, inputs=program.inputs[:-1])
            derived = derivatives_of(name, setup, options, alone)
            return Function(replace(alone, derived=derived))

        return self._found.get((name, key), make)


class CopiedFunctions:
    """Functions of one copy, or of many that differ in rows of numbers.

    setup: Of the copy; of many, with numbers that are not zero where one of them has some.
    rows (robots, n), optional: Of many copies: the numbers of each.
    """

    def __init__(
        self, setup: Setup, programs: SharedPrograms, rows: FloatArray | None = None
    ) -> None:
        self._setup, self._programs, self._rows = setup, programs, rows

    @cached_property
    def _of_robot(self) -> tuple[int, FloatArray]:
        """Which shape the robot has, and its numbers."""
        there, numbers = numbers_of(lambda take: with_numbers(self._setup, take))
        shape = self._programs.shape((there, shape_of(self._setup)))
        return shape, np.array(numbers) if self._rows is None else self._rows

    def chosen(self, rows: IntArray) -> CopiedFunctions:
        """The same of some of many copies, in an order of one's own."""
        assert self._rows is not None
        return CopiedFunctions(self._setup, self._programs, self._rows[rows])

    def function(self, name: str, options: Mapping[str, Any]) -> Function:
        """The function of a quantity; options as the equations take them."""
        shape, numbers = self._of_robot
        key: object = (*sorted(options.items()), shape)
        if any(isinstance(x, Probe) for x in options.values()):
            there, of_options = numbers_of(lambda take: options_with_numbers(options, take))
            beside = np.broadcast_to(of_options, (*numbers.shape[:-1], len(of_options)))
            numbers = np.concatenate([numbers, beside], axis=-1)
            alike = ((x, _without_numbers(y)) for x, y in sorted(options.items()))
            key = (*alike, there, shape)
        shared = self._programs.get(key, name, self._setup, options)
        return shared if isinstance(shared, Function) else Function(Bound(shared, numbers))


def _without_numbers(option: object) -> object:
    if isinstance(option, Probe):
        return len(option.right), len(option.weights), option.ease
    return option
