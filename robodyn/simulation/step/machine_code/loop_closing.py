"""The end of a step of linkages: loops that have drifted apart are closed."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Number, Variable
from robodyn.codegen.llvm.builder.rows import Buffer, Rows
from robodyn.simulation.step.machine_code.block import Block
from robodyn.simulation.step.machine_code.variant import NEWTON, Plan
from robodyn.tolerances import LOOP_DRIFT

__all__ = ["closed"]

#: Address of an array, and from robot to robot.
Given = list[tuple[str, Number | int]]


def closed(block: Block, plan: Plan, extras: Given, q: Buffer, v: Buffer) -> Buffer:
    """Close the loops of a block; by how much they were open before the last correction.

    Each robot is corrected until its own loops are closed: what becomes of it depends on no other.

    Parameters
    ----------
    block : Block
    plan : Plan
    extras : list of (str, Number or int)
        Inputs of the corrections besides the state.
    q, v : Buffer
        Changed.
    """
    code = block.code
    dq, dv, gaps = block.buffer("v"), block.buffer("v"), block.buffer("1")
    state: Given = [(q.pointer, block.nq), (v.pointer, block.nv)]
    results: Given = [(dq.pointer, block.nv), (dv.pointer, block.nv), (gaps.pointer, 1)]
    if plan.stabilised:
        block.call("corrections", [*state, *extras, *results])
        return gaps
    moved = q if plan.flat else block.buffer("q")
    moving = code.variable(1)
    for n in code.each(NEWTON + 1):
        with code.when(moving.value.equals(1)):
            block.call("corrections", [*state, *extras, *results])
            moving.value = 0
            with code.when(n < NEWTON):
                if not plan.flat:
                    _move(block, q, dq, moved)
                _correct(block, gaps, Rows.of(q) + Rows.of(dq) if plan.flat else moved, q, moving)
    # the last corrections are there already: of positions they are within rounding
    (Rows.of(v) + Rows.of(dv)).keep(v, block.size("v"))
    if plan.flat:
        (Rows.of(q) + Rows.of(dq)).keep(q, block.size("q"))
    else:
        _move(block, q, dq, moved)
        block.copy(moved, q, "q")
    return gaps


def _move(block: Block, q: Buffer, dq: Buffer, moved: Buffer) -> None:
    widths = (block.nq, block.nv, block.nq)
    arrays = zip((q, dq, moved), widths, strict=True)
    block.call("integrate", [(x.pointer, width) for x, width in arrays])


def _correct(
    block: Block, gaps: Buffer, corrected: Rows | Buffer, q: Buffer, moving: Variable
) -> None:
    """Move the robots whose loops are open."""
    code = block.code
    rows = corrected if isinstance(corrected, Rows) else Rows.of(corrected)
    for r in code.each(block.count):
        with code.when(gaps.get(r) > LOOP_DRIFT):
            moving.value = 1
            for j in code.each(block.nq):
                at = r * block.nq + j
                q.put(at, rows.at(at))
