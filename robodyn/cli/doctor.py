"""``robodyn doctor``: checks of the installation, with the versions that a bug report needs."""

from __future__ import annotations

import argparse
import importlib
import math
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.options.output import print_json
from robodyn.codegen.llvm.batches.threads import processors
from robodyn.codegen.llvm.cache.object_code import folder, not_stored
from robodyn.codegen.llvm.cache.object_files import contents
from robodyn.codegen.llvm.target.target import chosen_target
from robodyn.installation import Requirement, install_command, installed_from, requirements
from robodyn.tolerances import PENDULUM_ROUNDING

#: Extras for the development of robodyn itself.
OF_DEVELOPERS = ("test", "dev", "docs")

#: Modules that can be imported only if the compiled part of their package works.
COMPILED = {"llvmlite": "llvmlite.binding", "lxml": "lxml.etree", "scipy": "scipy.linalg"}

#: A pendulum of some mass [kg] at 0.4 m, with 0.02 kg m^2 about its centre.
PENDULUM = """<robot name="pendulum"><link name="ground"/><link name="bob"><inertial>
<origin xyz="0 0 -0.4"/><mass value="{mass}"/>
<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
<joint name="pin" type="continuous"><parent link="ground"/><child link="bob"/><axis xyz="0 1 0"/>
</joint></robot>"""


@dataclass(frozen=True)
class Finding:
    """Result of a check.

    name, text: What was checked, and what was found.
    problem: What is wrong, and what to do; empty if nothing is wrong.
    """

    name: str
    text: str
    problem: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options: there are none of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    findings = [*_programs(), *_dependencies(), *_machine(), _cache(), _compilation()]
    extras = list(_extras())
    wrong = [found for found in findings if found.problem]
    if arguments.json:
        print_json("doctor", ok=not wrong, findings=[vars(x) for x in findings], extras=extras)
        return 2 if wrong else 0
    for found in findings:
        print(f"{found.name:12}  {found.text}")
        if found.problem:
            print(f"{'':12}  WRONG: {found.problem}")
    print("\nextras")
    for extra in extras:
        print(f"  {extra['name']:10}  {', '.join(extra['packages'])}")
    missing = [extra for extra in extras if not extra["installed"]]
    if missing:
        print(f"to install {missing[0]['name']}, and others likewise: {missing[0]['install']}")
    print(f"\n{len(wrong)} wrong" if wrong else "\nall is well", end="; ")
    print("to report a fault, send these lines and the shortest program that shows it")
    return 2 if wrong else 0


def _programs() -> Iterator[Finding]:
    text = f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    yield Finding("Python", text)
    how, where = installed_from()
    text = f"{rd.__version__}, installed from {where or 'an index'} ({how})"
    yield Finding("robodyn", f"{text}, in {Path(rd.__file__).parent}")


def _dependencies() -> Iterator[Finding]:
    """The packages that robodyn requires."""
    for needed in requirements():
        if not needed.extra:
            problem = (
                _import_error(needed.package) if needed.is_met else install_command(needed.text)
            )
            text = f"{needed.found or 'missing'} (robodyn needs {needed.text})"
            yield Finding(needed.package, text, problem)


def _import_error(package: str) -> str:
    """Why an installed package cannot be imported; empty if it can."""
    try:
        importlib.import_module(COMPILED.get(package, package))
    except Exception as error:
        again = install_command(package).replace("install", "install --force-reinstall", 1)
        return f"it cannot be imported ({type(error).__name__}: {error}): {again}"
    return ""


def _machine() -> Iterator[Finding]:
    yield Finding("system", f"{platform.platform()}, {platform.machine()}")
    name = os.environ.get("ROBODYN_TARGET", "native")
    try:
        target = chosen_target()
    except Exception as error:
        yield Finding("CPU", name, str(error))
        return
    fused = "with" if target.fma else "without"
    lanes = target.lanes("double")
    vectors = f"{lanes} number{'s'[: lanes > 1]} a vector, {fused} fused multiply-add"
    yield Finding("CPU", f"{target.cpu} ({target.triple}), {vectors}; ROBODYN_TARGET={name}")
    yield Finding("threads", f"{rd.get_num_threads()}, of {processors()} processors")


def _cache() -> Finding:
    """The folder of machine code."""
    where = folder()
    if where is None:
        return Finding("cache", "none, as ROBODYN_CACHE=0 says: every process compiles anew")
    count, size = contents(where)
    return Finding("cache", f"{where}, {count} files, {size / 2**20:.1f} MB")


def _compilation() -> Finding:
    """Compile one function, and compare what it computes with the formula of the pendulum."""
    mass = 1.0 + int.from_bytes(os.urandom(4)) / 2**32  # random, so that no cache has its code
    before, began = not_stored(), time.perf_counter()
    try:
        robot = rd.load(PENDULUM.format(mass=mass))
        (a,) = robot.forward_dynamics([0.3], [0.0], [1.0])
    except Exception as error:
        return Finding("compilation", "failed", f"{type(error).__name__}: {error}")
    taken = time.perf_counter() - began
    expected = (1.0 - mass * 9.81 * 0.4 * math.sin(0.3)) / (mass * 0.4**2 + 0.02)
    text = f"a pendulum in {taken:.2f} s"
    if not math.isclose(a, expected, rel_tol=PENDULUM_ROUNDING):
        return Finding("compilation", text, f"acceleration {a!r}, expected {expected!r}")
    if folder() and not_stored() > before:
        problem = (
            f"machine code could not be kept in {folder()}: it must be a folder of yours, with "
            "space left, that nobody else can write to; name another one in ROBODYN_CACHE_DIR"
        )
        return Finding("compilation", text, problem)
    return Finding("compilation", f"{text}, and kept" if folder() else text)


def _extras() -> Iterator[dict[str, Any]]:
    """The extras, whether they are installed, and how to get them."""
    by_extra: dict[str, list[Requirement]] = {}
    for needed in requirements():
        if needed.extra and needed.extra not in OF_DEVELOPERS:
            by_extra.setdefault(needed.extra, []).append(needed)
    for extra, wanted in sorted(by_extra.items()):
        yield {
            "name": extra,
            "installed": all(x.is_met for x in wanted),
            "packages": [f"{x.package} {x.found or 'missing'}" for x in wanted],
            "install": install_command(wanted[0].package, extra),
        }
