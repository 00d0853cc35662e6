"""Machine code that is compiled quickly, for tests that compute little with it.

With ``ROBODYN_TEST_CODE=quick``, as `make test` has it, programs get the code of the first tier
alone. LLVM makes it in less than half the time, and its results are those of the full code, bit for
bit (`tests/unit/codegen/test_compilation.py`). Its cache is its own, as both have the same keys.
"""

import os
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".pytest_cache" / "quick_code"

#: Characters of IR: longer code of the first tier may need more of the stack than a thread has.
LONG = 1_000_000


def compile_quickly() -> None:
    """Have this process compile the first tier where it would compile the full code."""
    from robodyn.codegen.llvm.compilation import machine_code

    compiled = machine_code._compiled

    def quick(make, ir):
        return compiled(make.__self__.first if len(ir) < LONG else make, ir)

    os.environ["ROBODYN_CACHE_DIR"] = str(CACHE)
    machine_code._compiled = quick
