"""The machine that code is generated for: its vector width, and from IR to object code.

That is the CPU of this process, or what the environment variable ``ROBODYN_TARGET`` names: a level
of the architecture that many CPUs have, for which all of them compute the same bits.

LLVM is imported when it is first needed, which halves the time to import robodyn.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any, Literal

from robodyn.codegen.llvm.target.once import Memo, once, wait_for_at_fork
from robodyn.errors import SettingsError
from robodyn.quick_dataclass import dataclass

#: Functions of C that machine code calls, as ``robodyn_`` and the name: sines of huge angles, other
#: functions, and memory that is too large for the stack.
C_FUNCTIONS = (
    "sin", "cos", "atan2", "exp", "log", "tanh", "sinh", "cosh", "floor", "malloc", "free"
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """Properties of a CPU that the code generator and the cache use.

    triple, cpu, features: As LLVM names them.
    bits: Width of a vector register.
    fma: Fused multiply-add in hardware.
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

    lock: Any = getattr(llvm.ffi.lib, "_lock", None)
    if hasattr(lock, "__enter__"):  # threads free code of robots that are gone at any time
        wait_for_at_fork(lock)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _resolve_libc(llvm)
    return llvm


@dataclass(frozen=True)
class _Level:
    """A level of an architecture: what all CPUs of it have.

    cpu: As LLVM names it.
    bits: Width of a vector register that code for it uses.
    fma: Fused multiply-add in hardware.
    needs: Features by which a CPU of the level is known, as LLVM names them.
    """

    cpu: str
    bits: int
    fma: bool
    needs: frozenset[str] = frozenset()


_AVX2 = frozenset("avx avx2 bmi bmi2 f16c fma lzcnt movbe".split())
_AVX512 = _AVX2 | frozenset("avx512f avx512bw avx512cd avx512dq avx512vl".split())

#: Names of ``ROBODYN_TARGET`` beside ``native``, by architecture; those of x86-64 are the levels
#: that its psABI defines and compilers take as ``-march=``.
_LEVELS: dict[str, dict[str, _Level]] = {
    "x86_64": {
        "x86-64": _Level("x86-64", 64, False),
        "x86-64-v3": _Level("x86-64-v3", 256, True, _AVX2),
        "x86-64-v4": _Level("x86-64-v4", 512, True, _AVX512),
    },
    "aarch64": {"armv8-a": _Level("generic", 128, True)},
}


@once
def chosen_target() -> Target:
    """The target of all code of this process: ``ROBODYN_TARGET``, or the CPU it runs on.

    Raises SettingsError: ``ROBODYN_TARGET`` is no name of a target, or this CPU cannot run code for
        it.
    """
    llvm = _llvm()
    name = os.environ.get("ROBODYN_TARGET", "") or "native"
    triple, features = llvm.get_process_triple(), llvm.get_host_cpu_features()
    return target_named(name, triple, llvm.get_host_cpu_name(), features)


def target_named(name: str, triple: str, cpu: str, features: Mapping[str, bool]) -> Target:
    """The target of a name, on a given CPU.

    name: ``"native"``, or a level of the architecture.
    triple, cpu: Of the CPU that will run the code, as LLVM names them.
    features: What that CPU has.
    """
    architecture = triple.partition("-")[0].replace("arm64", "aarch64").replace("amd64", "x86_64")
    levels = _LEVELS.get(architecture, {})
    if name == "native":
        widest = [level for level in levels.values() if _has(features, level)]
        bits, fma = (widest[-1].bits, widest[-1].fma) if widest else (64, False)
        text = ",".join(("+" if has else "-") + key for key, has in sorted(features.items()))
        return Target(triple, cpu, text, bits, fma)
    if name not in levels:
        known = ", ".join(["native", *levels])
        raise SettingsError(f"ROBODYN_TARGET is {name!r}, expected one of {known}")
    level = levels[name]
    missing = sorted(key for key in level.needs if not features.get(key))
    if missing:
        usable = ", ".join(["native", *(key for key in levels if _has(features, levels[key]))])
        raise SettingsError(
            f"ROBODYN_TARGET is {name!r}, and this CPU ({cpu}) cannot run such code: it has no "
            f"{', '.join(missing)}; take one of {usable}"
        )
    return Target(triple, level.cpu, "", level.bits, level.fma)


def _has(features: Mapping[str, bool], level: _Level) -> bool:
    return all(features.get(key) for key in level.needs)


def _resolve_libc(llvm: Any) -> None:
    """Give machine code the functions of C that it calls: `C_FUNCTIONS`."""
    library: Any = None
    for name in (None, "libm.so.6", "msvcrt"):  # the process itself has them, but for Windows
        try:
            library = ctypes.CDLL(name)
            for function in C_FUNCTIONS:
                getattr(library, function)  # raises where it is missing
            break
        except (OSError, AttributeError, TypeError):
            continue
    for function in C_FUNCTIONS:
        address = ctypes.cast(getattr(library, function), ctypes.c_void_p).value
        llvm.add_symbol(f"robodyn_{function}", address)


_machines: Memo[Any] = Memo()


def _machine(level: int = 2) -> Any:
    """LLVM's code generator for the target."""

    def make() -> Any:
        target = chosen_target()
        arm = target.triple.startswith(("aarch64", "arm64"))
        of_triple = _llvm().Target.from_triple(target.triple)
        return of_triple.create_target_machine(
            cpu=target.cpu,
            features=target.features,
            opt=level,
            reloc="pic",
            codemodel="small" if arm else "jitdefault",
            jit=True,
        )

    return _machines.get(level, make)


def prepare() -> None:
    """Initialise LLVM, once in a process."""
    for level in (0, 1, 2):
        _machine(level)


def optimised(ir: str, loops: bool = True) -> str:
    """IR text after LLVM's passes.

    loops: Unroll and vectorise loops. Those of a few rounds get longer by it, and no faster.
    """
    llvm = _llvm()
    module = llvm.parse_assembly(ir)
    module.triple = chosen_target().triple
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_unrolling = options.loop_interleaving = options.loop_vectorization = loops
    builder = llvm.create_pass_builder(_machine(), options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


def in_registers(ir: str) -> str:
    """IR text whose variables are in registers and that is the same otherwise.

    For code that is written as it should run: this takes a hundredth of the time of `optimised`.
    """
    llvm = _llvm()
    module = llvm.parse_assembly(ir)
    builder = llvm.create_pass_builder(_machine(), llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(module, builder)
    return str(module)


def object_code(ir: str, level: int = 2) -> bytes:
    """Compile IR text for the target.

    level: How much is looked for that makes the code faster: 2 is all; 1 takes a fourth less time,
        for code that is no slower where values are in memory; 0 takes a fifth of the time, for code
        that takes twice as long to run.
    """
    module = _llvm().parse_assembly(ir)
    module.triple = chosen_target().triple
    return bytes(_machine(level).emit_object(module))


@dataclass(frozen=True)
class Recipe:
    """Passes and level for compiling IR to object code.

    Results are the same for all recipes, bit for bit: operations are those of the IR, in which
    fused multiply-adds are explicit and nothing may be reordered. Recipes differ in where values
    are stored.

    passes: Over the IR: none, those that put variables into registers, or LLVM's usual ones, with
        long loops unrolled and vectorised or without.
    level: Of the code generator, 0 to 2.
    """

    passes: Literal["none", "registers", "usual", "loops"] = "none"
    level: int = 2

    def full(self, ir: str) -> bytes:
        """Object code of the full tier."""
        if self.passes == "registers":
            ir = in_registers(ir)
        elif self.passes != "none":
            ir = optimised(ir, loops=self.passes == "loops")
        return object_code(ir, self.level)

    def first(self, ir: str) -> bytes:
        """Object code of the first tier, compiled several times faster but slower to run."""
        return object_code(ir, 0)


def load_object(code: bytes) -> Any:
    """Load object code; the returned engine owns it and gives addresses of its symbols."""
    llvm = _llvm()
    # an engine takes its target machine over, so each gets its own
    machine = llvm.Target.from_triple(chosen_target().triple).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
