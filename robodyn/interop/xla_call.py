"""What XLA is told of a function, for the machine code that calls it (`xla_handler`)."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import IntArray
from robodyn.codegen import Function
from robodyn.codegen.llvm.batches import threads
from robodyn.literals import Precision


def called(function: Function, dtype: Precision) -> IntArray:
    """The table for a function, as `xla_handler.WORDS` has it.

    function: Has to stay as long as its code may be called.
    dtype {"double", "float"}
    """
    threads.start()
    ports = (*function.inputs, *function.outputs)
    run = threads.parallel_for_address()
    lanes = function.lanes(dtype)
    kernels = [function.rows_address(batch, dtype, full=True) for batch in (False, True)]
    head = [*kernels, lanes, function.work, run, threads.pool()]
    counts = [len(function.inputs), len(function.outputs)]
    return np.array([*head, *counts, *(port.size for port in ports)], np.int64)
