"""What Windows, macOS and ARM need, as far as it shows on this machine."""

import os
import re
import sys
from pathlib import Path

import pytest
from support.processes import python

from robodyn.codegen.llvm.batches.threads import processors
from robodyn.codegen.llvm.cache import object_files
from robodyn.codegen.llvm.cache.object_code import folder

#: Machines, with the first bytes of their objects: COFF, Mach-O and ELF.
OTHERS = {
    "x86_64-pc-windows-msvc x86-64-v3": "64 86",
    "arm64-apple-darwin23 apple-m1": "cf fa ed fe 0c 00 00 01",
    "aarch64-unknown-linux-gnu generic": "7f 45 4c 46",
}

#: Compiles functions with vectors of 128 bits, which every CPU has, and then all of it once more
#: for others. LLVM ends the process where it cannot.
PROGRAM = """
import re, sys
import llvmlite.binding as llvm
from robodyn.codegen.llvm.target import target
from robodyn.codegen.llvm.target.target import Target, chosen_target
here = chosen_target()
target.chosen_target = lambda: Target(here.triple, here.cpu, here.features, 128, True)
from robodyn.codegen.llvm.target.target import Recipe
full, texts = Recipe.full, []
def kept(recipe, ir):
    texts.append((recipe, ir))
    return full(recipe, ir)
Recipe.full = kept
import numpy as np
import robodyn as rd
from robodyn.codegen.llvm.batches import thread_pool
rd.set_compilation("eager")
robot = rd.load("four_bar")
q, rest = np.tile(robot.neutral(), (64, 1)), np.zeros((64, robot.nv))
robot.forward_dynamics(q[0], rest[0], rest[0])
robot.forward_dynamics(q, rest, rest)
robot.joint_wrenches(q[0], rest[0], rest[0])
rd.simulate(robot, duration=0.01)
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
for machine in sys.argv[1:]:
    triple, cpu = machine.split()
    there = Target(triple, cpu, "", 128, True)
    model = "jitdefault" if "x86" in triple else "small"
    made = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, opt=2, reloc="pic", codemodel=model, jit=True)
    target._machine = lambda level=2: made
    target.chosen_target = thread_pool.chosen_target = lambda: there
    for recipe, ir in texts:
        if "@llvm.x86." in ir or "@llvm.aarch64." in ir:
            ir = thread_pool.thread_pool_ir()  # the only one that knows the machine
        called = re.findall(r"declare .*?@([\\w.]+)", ir)
        print(machine, full(recipe, ir)[:8].hex(" "), *called, sep=",")
"""


@pytest.mark.slow
def test_code_is_made_for_other_machines():
    environment = {"ROBODYN_CACHE": "0"}
    done = python("-c", PROGRAM, *OTHERS, env=environment)
    lines = [line.split(",") for line in done.stdout.splitlines()]
    assert len(lines) > 10 * len(OTHERS)
    assert {machine for machine, *_ in lines} == set(OTHERS)
    assert all(first.startswith(OTHERS[machine]) for machine, first, *_ in lines)
    # what it calls is LLVM's, which becomes code, or has an address that robodyn knows
    called = {name for line in lines for name in line[2:]}
    assert not [name for name in called if not re.match(r"llvm\.|robodyn_", name)]


#: What Windows lacks is taken away before anything is imported.
WITHOUT = """
import os, sys
for name in ("fork", "register_at_fork", "sched_getaffinity", "memfd_create", "geteuid", "getuid",
             "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "fchmod", "chown"):
    if hasattr(os, name):
        delattr(os, name)
os.supports_fd = set()
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
"""

AS_ON_WINDOWS = """
import numpy as np
import robodyn as rd
from robodyn.cli import main
robot = rd.load("four_bar")
q = np.tile(robot.neutral(), (4096, 1))
assert np.isfinite(robot.forward_dynamics(q, 0 * q, 0 * q)).all()
assert rd.get_num_threads() == os.cpu_count()
run = rd.simulate(robot, duration=0.1)
run.save("run.csv")
run.save("run.npz")
rd.Trajectory.load("run.npz")
assert main(["doctor"]) == 0
assert main(["new", "arm"]) == 0
assert main(["export", "four_bar", "mass_matrix", "--out", "code"]) == 0
"""


@pytest.mark.slow
def test_what_posix_alone_has_is_not_needed(tmp_path):
    environment = {"ROBODYN_CACHE_DIR": str(tmp_path / "cache")}
    done = python("-c", WITHOUT + AS_ON_WINDOWS, env=environment, cwd=tmp_path)
    assert "all is well" in done.stdout
    assert list((tmp_path / "cache" / "robodyn").glob("*.o"))


def test_processors_where_the_system_does_not_say_which(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    assert processors() == 12
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("win32", {"LOCALAPPDATA": "C"}, Path("C/robodyn")),
        ("win32", {}, None),
        ("darwin", {"HOME": "/Users/me"}, Path("/Users/me/Library/Caches/robodyn")),
        ("linux", {"HOME": "/home/me"}, Path("/home/me/.cache/robodyn")),
        ("linux", {"HOME": "/home/me", "XDG_CACHE_HOME": "/x"}, Path("/x/robodyn")),
        ("win32", {"ROBODYN_CACHE_DIR": "/d"}, Path("/d/robodyn")),
        ("darwin", {"ROBODYN_CACHE": "0"}, None),
    ],
)
def test_where_code_is_kept(monkeypatch, system, variables, expected):
    for name in ("LOCALAPPDATA", "XDG_CACHE_HOME", "ROBODYN_CACHE_DIR", "ROBODYN_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert folder() == expected


def test_code_is_kept_where_there_are_no_users_and_no_flags(monkeypatch, tmp_path):
    for name in ("geteuid", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(os, "supports_fd", set())
    assert object_files.write(tmp_path / "cache", "key", b"code")
    assert object_files.read(tmp_path / "cache", "key") == b"code"


def test_a_file_in_use_is_left_alone(monkeypatch, tmp_path):
    """Windows does not replace a file that another process has open."""
    assert object_files.write(tmp_path, "key", b"code")

    def in_use(*paths):
        raise PermissionError(13, "in use")

    monkeypatch.setattr(os, "replace", in_use)
    assert not object_files.write(tmp_path, "key", b"other")
    assert object_files.read(tmp_path, "key") == b"code"
    assert [path.name for path in tmp_path.iterdir()] == ["key.o"]
