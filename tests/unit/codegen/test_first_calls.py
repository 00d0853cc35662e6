"""First calls from many threads: machine code is made once, and lives as long as it is called."""

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support.processes import python

import robodyn as rd
from robodyn.codegen import Memo
from robodyn.codegen.llvm.target.once import once

pytestmark = pytest.mark.slow

FIRST_CALLS = Path(__file__).parents[2] / "support" / "first_calls.py"


@pytest.mark.parametrize("kind", ["tree", "closed", "minimal"])
def test_first_calls_from_many_threads(kind, tmp_path):
    """In processes of their own, since what goes wrong here ends a process."""
    environment = {"ROBODYN_CACHE_DIR": str(tmp_path)}
    for _ in range(4):  # the first compiles, the others find what it has kept
        command = [sys.executable, str(FIRST_CALLS), kind, "8"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_again_when_a_value_is_there(collects):
    found, before = [], gc.isenabled()

    def make():
        found.append(gc.isenabled())
        Memo().get(1, lambda: found.append(gc.isenabled()))
        found.append(gc.isenabled())
        raise ValueError

    (gc.enable if collects else gc.disable)()
    try:
        with pytest.raises(ValueError):
            Memo().get(1, make)
        assert gc.isenabled() == collects
        assert found == [False] * 3
    finally:
        (gc.enable if before else gc.disable)()


def test_a_memo_makes_a_value_once_and_forgets_what_raised():
    memo, made = Memo(), []

    def slow():
        time.sleep(0.01)
        made.append(1)
        return object()

    found = []
    threads = [threading.Thread(target=lambda: found.append(memo.get("x", slow))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len({id(x) for x in found}) == 1 and len(memo) == 1
    with pytest.raises(ZeroDivisionError):
        memo.get("y", lambda: 1 / 0)
    assert memo.get("y", lambda: memo.get("z", lambda: 3) + 1) == 4
    assert once(lambda: 5)() == 5


def test_a_method_outlives_the_function_it_calls():
    """A bound method keeps the machine code that it calls, even if nothing else does."""
    robot = rd.load("arm7")
    q = np.zeros(7)
    method = robot.mass_matrix
    want = method(q).copy()
    robot._made.evaluator._functions = Memo()
    gc.collect()
    for _ in range(50):
        np.testing.assert_array_equal(method(q), want)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_can_compile():
    code = (
        "import os, threading, time, robodyn as rd, numpy as np\n"
        "from robodyn.codegen.llvm.target.once import making\n"
        "def hold():\n"
        "    with making(): time.sleep(2)\n"
        "threading.Thread(target=hold, daemon=True).start()\n"
        "time.sleep(0.2)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    rd.load('double_pendulum').mass_matrix(np.zeros(2))\n"
        "    os._exit(0)\n"
        "raise SystemExit(os.waitpid(child, 0)[1])\n"
    )
    python("-W", "ignore", "-c", code, timeout=250)


def test_python_without_its_lock_calls_the_ordinary_way():
    """There, the entry would count references and read lists while others change them."""
    code = (
        "import sysconfig\n"
        "known = sysconfig.get_config_var\n"
        "sysconfig.get_config_var = lambda name: name == 'Py_GIL_DISABLED' or known(name)\n"
        "import runpy, numpy as np, robodyn as rd\n"
        "from robodyn.codegen.function import Function, _vectorcall_type\n"
        "assert _vectorcall_type() is None\n"
        "robot = rd.load('arm7')\n"
        "assert type(robot.function('mass_matrix')) is Function\n"
        "link = robot.link_names[-1]\n"
        "q = np.zeros(7)\n"
        "tau = robot.inverse_dynamics(q.tolist(), v=q, a=q, wrenches={link: np.ones(6)})\n"
        "assert tau.shape == (7,) and robot.frame_poses(q).shape[1:] == (4, 4)\n"
        f"runpy.run_path({str(FIRST_CALLS)!r})['main']('tree', 4)\n"
    )
    python("-c", code, timeout=250)
