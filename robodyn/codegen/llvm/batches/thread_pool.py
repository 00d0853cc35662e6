"""The machine code that spreads a batch over threads, as IR.

``parallel_for`` divides the rows of a batch into pieces, calls workers, and computes pieces as they
do until none is left. ``worker`` is the loop of a thread: wait to be called, compute pieces, report
that it is done. Neither needs the interpreter's lock. Both share a table of words: `HEAD`, then
`WORKER` for each worker.

After its work, a worker spins for some microseconds, in case there is more work, and then sleeps on
a lock of Python's C API, which all platforms have. To wake it takes as long as a batch of some
thousand states; to call one that spins takes little. The caller does not wait for workers that come
too late. So small batches use the workers that are awake, and wake one now and then, which stays
awake if many batches follow.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code, module_ir
from robodyn.codegen.llvm.builder.matrices import Words
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.target.target import chosen_target

#: Work (rows times operations) below which a second thread costs more than it brings, and for which
#: each further thread is called.
SHARED = 100_000

#: Work for which a thread is woken; batches of less wake one when they have done so much alone.
WORTHWHILE, ALONE = 400_000, 8_000_000

#: Pieces for each thread: a thread that comes late or is interrupted holds up a small part; and
#: work of a piece at least, which takes some tenths of a microsecond.
PIECES, PIECE = 8, 40_000

#: Number of times that a worker checks for work, or a lock is tried, before the thread sleeps.
SPINS = 500

#: Words of the pool: threads to use, workers that were started, lock held while they work,
#: functions of Python that acquire and release a lock, and work that was done alone; then the
#: batch: pieces that were taken, and from the end; how many there are, and what the kernel takes.
HEAD = (
    "threads", "ready", "busy", "acquire", "release", "alone",
    "taken", "from_end", "pieces", "kernel", "rows", "data", "strides",
)  # fmt: skip

#: Words of a worker: locks that are released to wake it, and when its work is done; what it does;
#: whether it was called for the batch; the table, and its number there.
WORKER = ("go", "done", "state", "called", "pool", "index")

#: What a worker does: it sleeps until it is woken, it looks whether it is called, it has been
#: called, it computes pieces.
ASLEEP, AWAKE, CALLED, AT_WORK = range(4)

#: Instructions that let a thread wait without work, by the beginning of a target's name.
_PAUSE = {
    "x86_64": "call void @llvm.x86.sse2.pause()",
    "aarch64": "call void @llvm.aarch64.hint(i32 1)",
    "arm64": "call void @llvm.aarch64.hint(i32 1)",
}


class _Pool:
    """The pool at an address, by default that of the parameter ``pool`` of a function.

    Every word is read anew each time, since other threads write them.
    """

    def __init__(self, code: Code, address: Number | None = None) -> None:
        self._address = code.argument("pool", "ptr") if address is None else address
        self._code, self._words = code, Words(code, self._address, HEAD)

    def at(self, name: str) -> str:
        """Address of a word."""
        return self._words.at(name)

    def word(self, name: str, kind: str = "i64") -> Number:
        """A word."""
        return self._code.put(f"load volatile {kind}, ptr {self.at(name)}", kind)

    def set(self, name: str, value: Number) -> None:
        """Change a word."""
        self._code.do(f"store volatile {value.kind} {value}, ptr {self.at(name)}")

    def of_worker(self, worker: Number, name: str) -> str:
        """Address of a word of a worker."""
        place = worker * len(WORKER) + (len(HEAD) + WORKER.index(name))
        return self._code.at(self._address, place, "i64")

    def lock(self, worker: Number, name: str) -> Number:
        """A lock of a worker."""
        return self._code.put(f"load volatile ptr, ptr {self.of_worker(worker, name)}", "ptr")

    def state(self, worker: Number) -> Number:
        """State of a worker."""
        at = self.of_worker(worker, "state")
        return self._code.put(f"load atomic i64, ptr {at} seq_cst, align 8", "i64")

    def set_state(self, worker: Number, state: int) -> None:
        """Set the state of a worker."""
        at = self.of_worker(worker, "state")
        self._code.do(f"store atomic i64 {state}, ptr {at} seq_cst, align 8")

    def becomes(self, worker: Number, state: int, before: int) -> Number:
        """Compare and swap the state of a worker; whether it was the expected one."""
        at, code = self.of_worker(worker, "state"), self._code
        order = "seq_cst seq_cst, align 8"
        pair = code.name(f"cmpxchg ptr {at}, i64 {before}, i64 {state} {order}")
        return code.put(f"extractvalue {{ i64, i1 }} {pair}, 1", "i1")

    def try_lock(self, lock: Number, wait: int = 0) -> Number:
        """Whether a lock was acquired; with ``wait`` the call returns when it was."""
        how = Number(self._code, str(wait), "i32")
        return self._code.call(self.word("acquire", "ptr"), "i32", lock, how).equals(1)

    def acquire(self, lock: Number) -> None:
        """Wait for a lock."""
        self._code.call("@wait", "void", self._address, lock)

    def release(self, lock: Number) -> None:
        """Release a lock."""
        self._code.call(self.word("release", "ptr"), "void", lock)

    def take(self, worker: int) -> None:
        """Compute pieces until none is left, as a worker or as the caller."""
        self._code.call("@take", "void", self._address, self._code.integer(worker))


def _least(code: Code, a: Number, b: Number) -> Number:
    return code.choose(a < b, a, b)


def _wait() -> Code:
    """Acquire a lock: try for a while, then sleep."""
    code = Code("@wait(ptr %pool, ptr %lock)", "internal void")
    pool, lock, sleep, end = _Pool(code), code.argument("lock", "ptr"), "sleep", "end"
    for _ in code.each(SPINS):
        more = code.label("more")
        code.branch(pool.try_lock(lock), end, more)
        code.begin(more)
    code.begin(sleep)
    pool.try_lock(lock, wait=1)
    code.begin(end)
    return code


def _take() -> Code:
    """Take pieces of the work in the pool until none is left.

    Who called the workers takes the first ones, and they the last ones: in a loop of calls with the
    same arrays each thread finds mostly in its caches what it has read and written before.
    """
    code = Code("@take(ptr %pool, i64 %worker)", "internal void")
    pool, following, compute, end = _Pool(code), "next", "compute", "end"
    pieces, rows, kernel = pool.word("pieces"), pool.word("rows"), pool.word("kernel", "ptr")
    data, strides = pool.word("data", "ptr"), pool.word("strides", "ptr")
    taken, own, from_end = pool.at("taken"), code.variable(0), pool.at("from_end")
    code.begin(following)
    k = code.put(f"atomicrmw add ptr {taken}, i64 1 seq_cst", "i64")
    code.branch(k < pieces, compute, end)
    code.begin(compute)
    piece = code.variable(own.value)
    with code.either(code.argument("worker", "i64").differs(0)) as (worker, caller):
        with worker:
            k = code.put(f"atomicrmw add ptr {from_end}, i64 1 seq_cst", "i64")
            piece.value = pieces - 1 - k
        with caller:
            own.value = own.value + 1
    first, last = (rows * k / pieces for k in (piece.value, piece.value + 1))
    code.call(kernel, "void", first, last, data, strides)
    code.go(following)
    code.begin(end)
    return code


def _pause(code: Code) -> None:
    """Let other threads of the core run for some cycles."""
    for name, instruction in _PAUSE.items():
        if chosen_target().triple.startswith(name):
            code.declare(instruction.replace("call", "declare").replace("i32 1", "i32"))
            code.do(instruction)


def _worker() -> Code:
    """The loop of a worker thread."""
    code = Code("@worker(ptr %own)")
    own = Words(code, "%own", WORKER)
    pool, index = _Pool(code, own.word("pool", "ptr")), own.word("index")
    go, done = pool.lock(index, "go"), pool.lock(index, "done")
    rounds = code.variable(0)
    asleep, awake, called, idle, tired = "asleep", "awake", "called", "idle", "tired"
    code.begin(asleep)
    pool.try_lock(go, wait=1)
    rounds.value = 0
    code.begin(awake)
    code.branch(pool.state(index).equals(CALLED), called, idle)
    code.begin(called)
    with code.when(pool.becomes(index, AT_WORK, CALLED)):
        pool.take(worker=1)
        pool.set_state(index, AWAKE)
        pool.release(done)
        rounds.value = 0
    code.go(awake)
    code.begin(idle)
    _pause(code)
    rounds.value = rounds.value + 1
    code.branch(rounds.value < SPINS, awake, tired)
    code.begin(tired)
    code.branch(pool.becomes(index, ASLEEP, AWAKE), asleep, awake)
    return code


def _call_workers() -> Code:
    """Call some workers, of which some may be woken; how many were called."""
    code = Code("@call_workers(ptr %pool, i64 %most, i64 %wake)", "internal i64")
    pool, most = _Pool(code), code.argument("most", "i64")
    called, wake = code.variable(0), code.variable(code.argument("wake", "i64"))
    for k in code.each(pool.word("ready")):
        with code.when(called.value < most):
            own = code.variable(0)
            own.value = pool.becomes(k, CALLED, AWAKE).extended()
            with code.when(own.value.equals(0) & (wake.value > 0)):
                with code.when(pool.becomes(k, CALLED, ASLEEP)):
                    pool.release(pool.lock(k, "go"))
                    wake.value = wake.value - 1
                    own.value = 1
            code.do(f"store volatile i64 {own.value}, ptr {pool.of_worker(k, 'called')}")
            called.value = called.value + own.value
    code.give(called.value)
    return code


def _await_workers() -> Code:
    """Wait for the workers that have started, and call off the others."""
    code = Code("@await_workers(ptr %pool)", "internal void")
    pool = _Pool(code)
    for k in code.each(pool.word("ready")):
        at = pool.of_worker(k, "called")
        called = code.put(f"load volatile i64, ptr {at}", "i64")
        with code.when(called.differs(0)):
            code.do(f"store volatile i64 0, ptr {at}")
            with code.when(~pool.becomes(k, AWAKE, CALLED)):
                pool.acquire(pool.lock(k, "done"))
    return code


def _parallel_for() -> Code:
    """Compute alone, or with others if that pays and no other batch has them."""
    given = "ptr %kernel, i64 %rows, i64 %work, i64 %lanes, ptr %data, ptr %strides"
    code = Code(f"@parallel_for(ptr %pool, {given})")
    pool, share, together, alone, end = _Pool(code), "share", "together", "alone", "end"
    rows, work, lanes = (code.argument(name, "i64") for name in ("rows", "work", "lanes"))
    kernel, data, strides = (code.argument(name, "ptr") for name in ("kernel", "data", "strides"))
    most = _least(code, pool.word("threads"), pool.word("ready") + 1)
    vectors = rows / lanes
    threads = _least(code, _least(code, most, work / SHARED + 1), vectors)
    code.branch(threads > 1, share, alone)
    code.begin(share)
    busy = pool.word("busy", "ptr")
    code.branch(pool.try_lock(busy), together, alone)
    code.begin(alone)
    code.call(kernel, "void", code.integer(0), rows, data, strides)
    code.go(end)
    code.begin(together)
    for name in ("taken", "from_end"):
        pool.set(name, code.integer(0))
    each = _least(code, work / (threads * PIECE), code.integer(PIECES))
    pool.set("pieces", _least(code, threads * code.choose(each > 1, each, 1), vectors))
    for name, value in {"kernel": kernel, "rows": rows, "data": data, "strides": strides}.items():
        pool.set(name, value)
    address, worth = code.argument("pool", "ptr"), work / WORTHWHILE
    wake = code.choose(pool.word("alone") > ALONE, worth + 1, worth)
    called = code.call("@call_workers", "i64", address, threads - 1, wake)
    with code.either(called > 0) as (others, nobody):
        with others:
            pool.set("alone", code.integer(0))
            pool.take(worker=0)
            code.call("@await_workers", "void", address)
        with nobody:
            pool.set("alone", pool.word("alone") + work)
            code.call(kernel, "void", code.integer(0), rows, data, strides)
    pool.release(busy)
    code.begin(end)
    return code


def thread_pool_ir() -> str:
    """IR of ``parallel_for`` and ``worker``.

    They take ``(pool, kernel, rows, work, lanes, data, strides)``, and the words of the worker.
    """
    helpers = _wait(), _take(), _call_workers(), _await_workers()
    return module_ir(*helpers, _worker(), _parallel_for())
