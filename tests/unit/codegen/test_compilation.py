"""Machine code in two tiers: the first at once, the full one from another process."""

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from support.kernels import run_kernel
from support.processes import python
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.codegen.llvm.compilation import background as module, mode
from robodyn.codegen.llvm.compilation.background import background
from robodyn.codegen.llvm.compilation.own_thread import in_own_thread
from robodyn.codegen.llvm.kernels.kernel_ir import batch_ir, scalar_ir
from robodyn.codegen.llvm.target.target import Recipe, chosen_target, load_object

QUANTITIES = ("forward_dynamics", "mass_matrix")

#: More than a vector has.
ROWS = 19

#: Of a process that is alone with its cache.
SCRIPT = """
import sys
import numpy as np
import robodyn as rd
robot = rd.load("arm7")
q, v = robot.neutral(), np.zeros(robot.nv)
"""


def both(ir):
    """The same program in the first tier and in full."""
    return [load_object(make(ir)) for make in (Recipe().first, Recipe().full)]


def computed(engine, program, arrays, name):
    """What one state, or many, give."""
    given = [x[0] if name == "packed" else x for x in arrays]
    return run_kernel(engine, name, program, given)


def states(robot, program):
    """Inputs of a program: postures whose loops are closed, at rest, and any forces."""
    rng = np.random.default_rng(0)
    postures = np.array([robot.random(rng) for _ in range(ROWS)])
    rest = "v" if robot.loops else ""
    return [
        postures if port.name == "q" else rng.normal(size=(ROWS, *port.shape)) * (port.name != rest)
        for port in program.inputs
    ]


@pytest.mark.slow
def test_both_tiers_give_the_same_bits():
    # The law: both do the operations of the IR, in which nothing may be reordered or fused.
    rng = np.random.default_rng(5)
    kinds = ("revolute", "prismatic", "helical", "floating", "revolute", "spherical")
    for robot in (rd.load("four_bar"), rd.load(random_mechanism(rng, kinds, friction=0.2))):
        for name in QUANTITIES:
            program = robot.function(name).program
            arrays = states(robot, program)
            for dtype, kind in (("double", float), ("float", np.float32)):
                given = [x.astype(kind) for x in arrays]
                for make, symbol in (
                    (scalar_ir, "packed"),
                    (scalar_ir, "rows"),
                    (batch_ir, "batch"),
                ):
                    first, full = both(make(program, chosen_target(), dtype))
                    found = zip(
                        computed(first, program, given, symbol),
                        computed(full, program, given, symbol),
                        strict=True,
                    )
                    for x, y in found:
                        assert np.isfinite(y).all()
                        assert x.tobytes() == y.tobytes(), (robot, name, dtype, symbol)


@pytest.fixture
def tiers(monkeypatch, tmp_path):
    """Nothing is on disk, and code comes in two tiers; the full code when a test waits for it."""
    monkeypatch.setattr(module, "GATHER", 3600.0)
    rd.load("double_pendulum").mass_matrix(np.zeros((40, 2)))  # what all functions share is there
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path / "cache"))
    background.finish()
    background.forget()
    rd.set_compilation("background")
    yield tmp_path / "cache" / "robodyn"
    background.finish()
    rd.set_compilation("eager")


def forward_dynamics():
    robot = rd.load("puma560")
    q = np.linspace(-0.5, 0.5, robot.nq)
    return robot.function("forward_dynamics"), (q, 0.3 * q, 2.0 * q)


def test_full_code_takes_the_place_of_the_first_tier(tiers):
    f, state = forward_dynamics()
    many = [np.tile(x, (40, 1)) for x in state]
    first, rows = f(*state), f(*many)
    early = f.rows_address(False), f.rows_address(True)
    assert not list(tiers.glob("*.o"))
    background.finish()
    assert len(list(tiers.glob("*.o"))) == 2
    assert not {*early} & {f.rows_address(False), f.rows_address(True)}
    # the same operations in the same order, by the law above
    assert f(*state).tobytes() == first.tobytes()
    assert f(*(x.tolist() for x in state)).tobytes() == first.tobytes()
    assert f(*many).tobytes() == rows.tobytes()


def test_compiled_says_what_still_waits(tiers):
    f, state = forward_dynamics()
    f(*state)
    assert rd.compiled()["forward_dynamics"] is False
    other = rd.load("double_pendulum").function("forward_dynamics")  # too short for two tiers
    other(*np.ones((3, 2)))
    assert rd.compiled()["forward_dynamics"] is False
    assert all(rd.compiled(wait=True).values())
    assert rd.compiled()["forward_dynamics"] is True


@pytest.mark.slow
def test_code_comes_as_it_is_made_from_one_process(tiers, monkeypatch):
    processes, started = [], module._started
    monkeypatch.setattr(module, "GATHER", 0.0)
    monkeypatch.setattr(module, "IDLE", 3600.0)
    monkeypatch.setattr(
        module, "_started", lambda *x: processes.append(started(*x)) or processes[-1]
    )
    robot = rd.load("puma560")
    q = np.linspace(-0.5, 0.5, robot.nq)
    for name in ("forward_dynamics", "inverse_dynamics"):
        f = robot.function(name)
        found = f(q, 0.3 * q, 2.0 * q)
        early = f.rows_address(False)
        assert until(lambda f=f, early=early: f.rows_address(False) != early)
        assert f(q, 0.3 * q, 2.0 * q).tobytes() == found.tobytes()
    (process,) = processes
    assert process.poll() is None
    background.finish()
    assert process.poll() == 0


def test_addresses_that_leave_the_library_are_of_full_code(tiers):
    f, state = forward_dynamics()
    f(*state)
    early = f.rows_address(False)
    address = f.address
    assert f.rows_address(False) != early
    now = f.rows_address(False)
    background.finish()
    assert (f.address, f.rows_address(False)) == (address, now)


def test_the_environment_says_how_to_compile(monkeypatch):
    monkeypatch.setattr(mode, "_chosen", None)
    assert rd.get_compilation() == os.environ["ROBODYN_COMPILATION"]
    monkeypatch.setenv("ROBODYN_COMPILATION", "")
    assert rd.get_compilation() == "background"
    monkeypatch.setenv("ROBODYN_COMPILATION", "later")
    with pytest.raises(rd.SettingsError, match="ROBODYN_COMPILATION is 'later'"):
        rd.get_compilation()


def test_where_background_compiling_fails_the_first_tier_stays(tiers, monkeypatch, caplog):
    monkeypatch.setattr(module, "_PROGRAM", "raise SystemExit('no memory left')")
    f, state = forward_dynamics()
    first, early = f(*state), f.rows_address(False)
    with caplog.at_level(logging.WARNING):
        background.finish()
    (record,) = caplog.records
    assert "no memory left" in record.getMessage()
    assert f.rows_address(False) == early
    assert f(*state).tobytes() == first.tobytes()
    other = rd.load("puma560").function("inverse_dynamics")  # in full, at once
    other(*state)
    assert len(list(tiers.glob("*.o"))) == 1


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_full_code_comes_where_none_can_be_kept(tiers, monkeypatch, tmp_path, caplog, where):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path / where))
    f, state = forward_dynamics()
    f(*state)
    early = f.rows_address(False)
    background.finish()
    assert f.rows_address(False) != early
    assert not caplog.records


def test_a_process_that_dies_is_noticed(tiers, monkeypatch, caplog):
    monkeypatch.setattr(module, "_PROGRAM", "import os; os.abort()")
    f, state = forward_dynamics()
    f(*state)
    with caplog.at_level(logging.WARNING):
        background.finish()
    assert "ended with -6" in caplog.text


@pytest.mark.slow
def test_threads_do_not_notice_the_change(tiers):
    f, state = forward_dynamics()
    first, wrong, ended = f(*state).tobytes(), [], threading.Event()

    def call():
        while not ended.is_set():
            if f(*state).tobytes() != first:
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    background.finish()
    ended.set()
    for thread in threads:
        thread.join()
    assert not wrong


def environment(folder):
    return {**os.environ, "ROBODYN_CACHE_DIR": str(folder), "ROBODYN_COMPILATION": "background"}


def until(done):
    """Wait for another process."""
    for _ in range(2400):
        if done():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_code_is_kept_although_the_process_has_ended(tmp_path):
    text = SCRIPT + "for _ in range(20): robot.inverse_dynamics(q, v, v)"
    process = python(
        "-X", "dev", "-W", "error", "-c", text, check=False, env=environment(tmp_path), timeout=300
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    assert until(lambda: len(list(tmp_path.rglob("*.o"))) >= 3)  # entry, threads, dynamics


LIBRARIES = """
import importlib.machinery as machinery, threading
elsewhere = []
create = machinery.ExtensionFileLoader.create_module
def recorded(self, spec):
    if threading.current_thread() is not threading.main_thread():
        elsewhere.append(spec.name)
    return create(self, spec)
machinery.ExtensionFileLoader.create_module = recorded
robot.forward_dynamics(q, v, v)
from robodyn.codegen.llvm.compilation.background import background
background.finish()
import sys
print("subprocess" in sys.modules, *elsewhere)
"""


@pytest.mark.slow
def test_threads_load_no_shared_libraries(tmp_path):
    # Libraries of USD let other threads of Python run while the dynamic linker waits for them; a
    # thread that loads another library then waits for the linker, and lets nothing run.
    process = python("-c", SCRIPT + LIBRARIES, check=False, env=environment(tmp_path), timeout=300)
    assert (process.stdout, process.stderr) == ("True\n", "")


INTERRUPTED = """
import signal
inside = done = False
def interrupt(*_):
    global inside
    if inside:
        inside = False  # another one may come before the first is caught
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
print("ready", flush=True)
while not done:
    try:
        inside = True
        a = robot.forward_dynamics(q, v, v)
        J = robot.function("forward_dynamics").jacobian("q")(q, v, v)
        inside, done = False, True
    except KeyboardInterrupt:
        pass
from robodyn.codegen.llvm.compilation.background import background
background.finish()
assert robot.forward_dynamics(q, v, v).tobytes() == a.tobytes()
print(background.takes(1))
"""


@pytest.mark.slow
def test_interrupts_leave_all_usable(tmp_path):
    text = SCRIPT + INTERRUPTED
    rng = np.random.default_rng(2)
    process = subprocess.Popen(
        [sys.executable, "-c", text], env=environment(tmp_path), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    for pause in rng.uniform(0.0, 0.05, 12):
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)  # what objects leave unclosed is said on stderr
    assert out == "True\n"


def test_threads_with_little_stack_can_compile(monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE", "0")
    f, found = rd.load("stewart").function("mass_matrix"), []
    inputs = [np.zeros(port.shape) for port in f.inputs]
    before = threading.stack_size(128 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(f(*inputs)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert len(found) == 1


def test_what_a_thread_of_its_own_raises_comes_through():
    with pytest.raises(ZeroDivisionError):
        in_own_thread(lambda: 1 // 0)


ENDING = """
import os
import threading
from robodyn.codegen.llvm.target import target
begun, compile_ = threading.Event(), target.object_code
def object_code(*given):
    begun.set()
    code = compile_(*given)
    os.write(1, b"done")
    return code
f = robot.function("forward_dynamics").jacobian("q")
robot.gravity_forces(q)
target.object_code = object_code
threading.Thread(target=f, args=(q, v, v), daemon=True).start()
begun.wait()
"""


@pytest.mark.slow
@pytest.mark.parametrize("compilation", ["eager", "background"])
def test_the_end_of_python_waits_for_llvm(tmp_path, compilation):
    given = {**environment(tmp_path), "ROBODYN_COMPILATION": compilation}
    command = [sys.executable, "-c", SCRIPT + ENDING]
    assert subprocess.check_output(command, env=given, timeout=300) == b"done"


def arm(k):
    """An arm that no other test has."""
    links, joints = [rd.Link("base")], []
    for j in range(6):
        inertia = rd.Inertia(
            1.0 + 0.01 * k, rd.Pose((0.02, 0.01 * k, -0.2)), 0.01, 0, 0, 0.02, 0, 0.02
        )
        links.append(rd.Link(f"link{j}", inertia))
        axis = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))[(j + k) % 2]
        joints.append(rd.Joint(f"joint{j}", "revolute", links[j].name, links[-1].name, axis=axis))
    return rd.load(rd.Mechanism(f"arm{k}", tuple(links), tuple(joints)))


def test_freed_robots_leave_nothing(tiers):
    """Their machine code goes, and is compiled for nobody; a robot that stays gets its own."""
    kept = arm(0)
    f = kept.function("forward_dynamics")
    f(*np.ones((3, 6)))
    codes = weakref.WeakSet()
    submit = background.submit

    def noted(order, install):
        codes.add(install.__self__)
        submit(order, install)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(background, "submit", noted)
        for k in range(1, 6):
            arm(k).function("forward_dynamics")(*np.ones((3, 6)))
    assert len(background._wanted) > 1
    gc.collect()
    assert not codes
    early = f.rows_address(False)
    background.finish()
    assert f.rows_address(False) != early
    assert not background._wanted
    assert sum(len(x[1]) for x in background._given_up.values()) < module.MOST_GIVEN_UP
    assert len(list(tiers.glob("*.o"))) == 1  # that of the robot which is still there
