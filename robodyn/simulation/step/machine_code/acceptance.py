"""The end of a step: its results become the state of the robots whose motion continues."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.rows import Buffer
from robodyn.codegen.llvm.builder.values import Number, Variable
from robodyn.simulation.step.machine_code.block import Block
from robodyn.simulation.step.machine_code.variant import StepVariant
from robodyn.simulation.step.operations.step import DIVERGED


def accept_step(
    block: Block,
    variant: StepVariant,
    k: Number,
    new: tuple[Buffer, Buffer],
    gaps: Buffer | None,
    going: Variable,
) -> None:
    """Accept the results of step ``k``, or end the motion of the block.

    A robot whose result is NaN, too large, or leaves loops open keeps its state, and is marked as
    stuck. ``going`` becomes zero then.
    """
    code = block.code
    total, open_loops = code.variable(0.0), code.variable(0)
    for x, kind in zip(new, "qv", strict=True):
        for i in code.each(block.size(kind)):
            total.add(_square(x, i))
    if gaps is not None:
        for r in code.each(block.count):
            open_loops.add(code.choose(gaps.get(r) < variant.apart, code.integer(0), 1))
    fine = (total.value < DIVERGED) & open_loops.value.equals(0)
    with code.when(fine):
        for name, x in zip("qv", new, strict=True):
            block.copy(x, block.state(name, name), name)
    with code.when(~fine):
        going.value = 0
        for r in code.each(block.count):
            _accept_robot(block, variant, k, r, new, gaps)


def _accept_robot(
    block: Block,
    variant: StepVariant,
    k: Number,
    r: Number,
    new: tuple[Buffer, Buffer],
    gaps: Buffer | None,
) -> None:
    """Update the state of a robot if its new state is valid."""
    code, table = block.code, block.table
    fine = _small(new[0], r, block.nq) & _small(new[1], r, block.nv)
    if gaps is not None:
        fine = fine & (gaps.get(r) < variant.apart)
    table.indices("reached").put(k + 1, block.first + r)
    with code.when(fine):
        for name, source, width in (("q", new[0], block.nq), ("v", new[1], block.nv)):
            target = table.array(name, block.real).part((block.first + r) * width)
            for j in code.each(width):
                target.put(j, source.get(r * width + j))
    with code.when(~fine):
        table.indices("stuck").put(1, block.first + r)


def _small(x: Buffer, r: Number, width: Number) -> Number:
    """Whether the elements of a robot's state are not NaN, and not too large."""
    total = x.code.variable(0.0)
    for j in x.code.each(width):
        total.value = total.value + _square(x, r * width + j)
    return total.value < DIVERGED


def _square(x: Buffer, i: Number) -> Number:
    """The square of a number, in double precision."""
    value = x.code.real(x.get(i), "double")
    return value * value
