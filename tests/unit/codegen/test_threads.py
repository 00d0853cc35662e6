"""Batches spread over threads: the caller comes back when all rows are done, and not before."""

import ctypes
import threading
import time

import pytest
from support.processes import python

from robodyn.codegen.llvm.batches import threads
from robodyn.codegen.llvm.batches.thread_pool import WORTHWHILE

#: Of machine code that works at rows ``first`` to ``last``.
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
ROWS = 240


@pytest.fixture(params=[2, 4])
def workers(request):
    """As many threads as that, the caller's own among them."""
    before = threads.get_num_threads()
    threads.set_num_threads(request.param)
    threads.start()
    yield request.param
    threads.set_num_threads(before)


def spread(kernel, work=100 * WORTHWHILE):
    threads.parallel_for()(
        threads.pool(), ctypes.cast(kernel, ctypes.c_void_p), ROWS, work, 1, None, None
    )


class Recorder:
    """A kernel that remembers which rows were computed, and by which threads."""

    def __init__(self, before):
        self.before = before
        self.times, self.by = [0] * ROWS, set()
        self.kernel = KERNEL(self._compute)

    def _compute(self, first, last, data, strides):
        new = threading.get_ident() not in self.by
        self.by.add(threading.get_ident())
        self.before(new)
        for k in range(first, last):
            self.times[k] += 1


def test_the_caller_waits_for_every_worker(workers):
    caller = threading.get_ident()
    for _ in range(3):
        all_there = threading.Barrier(workers)

        def slow_in_workers(new, all_there=all_there):
            if new:  # every thread gets a piece before any gets a second one
                all_there.wait(30.0)
            if threading.get_ident() != caller:
                time.sleep(0.05)

        recorder = Recorder(slow_in_workers)
        spread(recorder.kernel)
        done = list(recorder.times)
        time.sleep(0.15)  # who is not waited for would still write
        assert done == [1] * ROWS, f"{done.count(0)} rows were not done when the call came back"
        assert recorder.times == done
        assert len(recorder.by) == workers


def test_a_batch_while_another_is_spread_is_computed_by_its_own_caller(workers):
    """The workers are busy; nobody waits for them, and no row is done twice."""
    begun, others_done = threading.Event(), threading.Event()

    def long(new):
        begun.set()
        assert others_done.wait(30.0)

    first, others = Recorder(long), [Recorder(lambda new: None) for _ in range(3)]
    callers = [threading.Thread(target=spread, args=(x.kernel,)) for x in (first, *others)]
    callers[0].start()
    assert begun.wait(30.0)
    for caller in callers[1:]:
        caller.start()
    for caller in callers[1:]:
        caller.join(30.0)
    others_done.set()
    callers[0].join(30.0)
    assert first.times == [1] * ROWS
    for caller, other in zip(callers[1:], others, strict=True):
        assert other.times == [1] * ROWS
        assert other.by == {caller.ident}


COROUTINES = """
import _thread
def at_once(function, arguments, keywords={}):
    function(*arguments, **keywords)
    return 1
_thread.start_new_thread = at_once
import numpy as np
import robodyn as rd
rd.set_num_threads(3)
robot = rd.load("puma560")
print(robot.mass_matrix(np.zeros((20000, 6))).shape, robot.assemble(robot.neutral()).shape)
"""


@pytest.mark.slow
def test_threads_of_python_may_be_coroutines():
    """As after gevent's monkey patching, which lets one thread run all of them in turns."""
    done = python("-c", COROUTINES, check=False, timeout=100)
    assert done.stdout == "(20000, 6, 6) (6,)\n", done.stderr


def test_where_no_thread_can_be_started_there_are_fewer(monkeypatch):
    before = threads.get_num_threads()
    python = threads._python

    def refusing(name, *kinds):
        return (lambda *_: threads.NO_THREAD) if "start" in name else python(name, *kinds)

    monkeypatch.setattr(threads, "_python", refusing)
    threads.set_num_threads(threads.MAX_THREADS)
    threads.start()
    assert threads.get_num_threads() == threads._words[1] + 1
    recorder = Recorder(lambda new: None)
    spread(recorder.kernel)
    assert recorder.times == [1] * ROWS
    threads.set_num_threads(before)
