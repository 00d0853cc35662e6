"""The machine that code is generated for: its vector width, and from IR to object code.

LLVM is imported when it is first needed, which halves the time to import robodyn.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from dataclasses import dataclass
from typing import Any

from robodyn.codegen.llvm.once import once

__all__ = ["Target", "host", "load_object", "object_code", "optimised"]


@dataclass(frozen=True)
class Target:
    """What the emitter and the cache need to know of a CPU.

    Attributes
    ----------
    triple, cpu, features : str
        As LLVM names them.
    bits : int
        Width of a vector register.
    fma : bool
        Fused multiply-add in hardware.
    """

    triple: str
    cpu: str
    features: str
    bits: int
    fma: bool

    def lanes(self, dtype: str) -> int:
        """States in a vector of ``"double"`` or ``"float"``."""
        return max(1, self.bits // (64 if dtype == "double" else 32))

    @property
    def attributes(self) -> str:
        """Function attributes that make LLVM use the full width."""
        if self.bits < 512:
            return "nounwind"
        return 'nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512"'


@once
def _llvm() -> Any:
    """LLVM, ready for this CPU."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _resolve_libm(llvm)
    return llvm


@once
def host() -> Target:
    """The CPU this process runs on."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    if triple.startswith(("aarch64", "arm64")):
        bits, fma = 128, True
    else:
        fma = bool(features.get("fma"))
        wide = features.get("avx512f") and features.get("avx512dq")
        bits = 512 if wide else 256 if features.get("avx2") and fma else 64
    return Target(triple, llvm.get_host_cpu_name(), features.flatten(), bits, fma)


def _resolve_libm(llvm: Any) -> None:
    """Give the slow path of sin and cos its addresses."""
    libm: Any = None
    for name in (ctypes.util.find_library("m"), None, "msvcrt"):
        try:
            libm = ctypes.CDLL(name)
            libm.sin, libm.cos  # noqa: B018  (raises where they are missing)
            break
        except (OSError, AttributeError, TypeError):
            continue
    for function in ("sin", "cos"):
        address = ctypes.cast(getattr(libm, function), ctypes.c_void_p).value
        llvm.add_symbol(f"robodyn_{function}", address)


@once
def _machine() -> Any:
    target = host()
    return (
        _llvm()
        .Target.from_triple(target.triple)
        .create_target_machine(
            cpu=target.cpu,
            features=target.features,
            opt=2,
            reloc="pic",
            codemodel="small" if target.triple.startswith(("aarch64", "arm64")) else "jitdefault",
            jit=True,
        )
    )


def optimised(ir: str, loops: bool = True) -> str:
    """IR text after LLVM's passes.

    Parameters
    ----------
    ir : str
    loops : bool
        Unroll and vectorise loops. Those of a few rounds get longer by it, and no faster.
    """
    llvm = _llvm()
    module = llvm.parse_assembly(ir)
    module.triple = host().triple
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_unrolling = options.loop_interleaving = options.loop_vectorization = loops
    builder = llvm.create_pass_builder(_machine(), options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


def object_code(ir: str) -> bytes:
    """Compile IR text for this CPU, in the order of the IR."""
    module = _llvm().parse_assembly(ir)
    module.triple = host().triple
    return bytes(_machine().emit_object(module))


def load_object(code: bytes) -> Any:
    """Load object code; the returned engine owns it and gives addresses of its symbols."""
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _new_machine() -> Any:
    """An engine takes its target machine over, so each gets its own."""
    return _llvm().Target.from_triple(host().triple).create_target_machine(jit=True)
