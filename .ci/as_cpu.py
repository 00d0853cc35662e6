"""Run a command as on another CPU: what numpy, BLAS and robodyn's machine code choose there.

python .ci/as_cpu.py haswell python -m pytest tests/laws
"""

import os
import sys

from numpy._core._multiarray_umath import __cpu_dispatch__

#: Kernels of OpenBLAS, what numpy must do without, the target of robodyn's machine code.
CPUS = {
    "prescott": ("Prescott", ("AVX512", "V4", "AVX2", "FMA3", "V3"), "x86-64"),
    "haswell": ("Haswell", ("AVX512", "V4"), "x86-64-v3"),
    "zen": ("Zen", ("AVX512", "V4"), "x86-64-v3"),
}


def environment(name: str) -> dict[str, str]:
    """Variables that make libraries compute as on a CPU of that name."""
    blas, without, target = CPUS[name]
    disabled = [feature for feature in __cpu_dispatch__ if any(key in feature for key in without)]
    return {
        "OPENBLAS_CORETYPE": blas,
        "NPY_DISABLE_CPU_FEATURES": " ".join(disabled),
        "ROBODYN_TARGET": target,
    }


if __name__ == "__main__":
    os.execvpe(sys.argv[2], sys.argv[2:], os.environ | environment(sys.argv[1]))
