"""The machine code that spreads a batch over threads, as IR.

``parallel_for`` divides the rows of a batch into pieces, wakes workers, and computes pieces as they
do until none is left. ``worker`` is the loop of a thread: wait for work, compute pieces, report
that it is done. Neither needs the interpreter's lock. Threads wait on locks of Python's C API,
which all platforms have. Both share a table of words: `HEAD`, then `WORKER` for each worker.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code, module_ir
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.builder.words import Words

__all__ = ["HEAD", "WORKER", "WORTHWHILE", "thread_pool_ir"]

#: Work (rows times operations) below which a second thread costs more than it brings.
WORTHWHILE = 400_000

#: Pieces for each thread: a thread that comes late or is interrupted holds up a small part.
PIECES = 8

#: How often a lock is tried before a thread goes to sleep, which takes longer to end than to begin.
PATIENCE = 500

#: Words of the pool: threads to use, workers that wait, lock held while they work, and functions
#: of Python that acquire and release a lock; then the work: next piece, pieces, and what the kernel
#: takes.
HEAD = (
    "threads", "ready", "busy", "acquire", "release",
    "next", "pieces", "kernel", "rows", "data", "strides",
)  # fmt: skip

#: Words of a worker: locks that are released when work is there, and when it is done.
WORKER = ("go", "done")


class _Pool:
    """The pool, as a function reads it whose first parameter it is.

    Every word is read anew each time, since other threads write them.
    """

    def __init__(self, code: Code) -> None:
        self._code, self._words = code, Words(code, "%pool", HEAD)
        self._address = code.argument("pool", "ptr")

    def at(self, name: str) -> str:
        """Where a word stands."""
        return self._words.at(name)

    def word(self, name: str, kind: str = "i64") -> Number:
        """A word."""
        return self._code.put(f"load volatile {kind}, ptr {self.at(name)}", kind)

    def set(self, name: str, value: Number) -> None:
        """Change a word."""
        self._code.do(f"store volatile {value.kind} {value}, ptr {self.at(name)}")

    def lock(self, worker: Number, name: str) -> Number:
        """A lock of a worker."""
        place = worker * len(WORKER) + (len(HEAD) + WORKER.index(name))
        at = self._code.at(self._address, place, "i64")
        return self._code.put(f"load volatile ptr, ptr {at}", "ptr")

    def try_lock(self, lock: Number, wait: int = 0) -> Number:
        """Whether a lock was acquired; with ``wait`` it always is, sooner or later."""
        how = Number(self._code, str(wait), "i32")
        return self._code.call(self.word("acquire", "ptr"), "i32", lock, how).equals(1)

    def acquire(self, lock: Number) -> None:
        """Wait for a lock."""
        self._code.call("@wait", "void", self._address, lock)

    def release(self, lock: Number) -> None:
        """Give a lock back."""
        self._code.call(self.word("release", "ptr"), "void", lock)

    def take(self) -> None:
        """Compute pieces until none is left."""
        self._code.call("@take", "void", self._address)


def _least(code: Code, a: Number, b: Number) -> Number:
    return code.choose(a < b, a, b)


def _wait() -> Code:
    """Acquire a lock: try for a while, then sleep."""
    code = Code("@wait(ptr %pool, ptr %lock)", "internal void")
    pool, lock, sleep, end = _Pool(code), code.argument("lock", "ptr"), "sleep", "end"
    for _ in code.each(PATIENCE):
        more = code.label("more")
        code.branch(pool.try_lock(lock), end, more)
        code.begin(more)
    code.begin(sleep)
    pool.try_lock(lock, wait=1)
    code.begin(end)
    return code


def _take() -> Code:
    """Take pieces of the work in the pool until none is left."""
    code = Code("@take(ptr %pool)", "internal void")
    pool, following, compute, end = _Pool(code), "next", "compute", "end"
    pieces, rows, kernel = pool.word("pieces"), pool.word("rows"), pool.word("kernel", "ptr")
    data, strides = pool.word("data", "ptr"), pool.word("strides", "ptr")
    place = pool.at("next")
    code.begin(following)
    k = code.put(f"atomicrmw add ptr {place}, i64 1 seq_cst", "i64")
    code.branch(k < pieces, compute, end)
    code.begin(compute)
    first, last = (rows * piece / pieces for piece in (k, k + 1))
    code.call(kernel, "void", first, last, data, strides)
    code.go(following)
    code.begin(end)
    return code


def _worker() -> Code:
    """What a thread does all its life."""
    code = Code("@worker(ptr %pool, i64 %index)")
    pool, index, again = _Pool(code), code.argument("index", "i64"), "again"
    go, done = pool.lock(index, "go"), pool.lock(index, "done")
    code.begin(again)
    pool.acquire(go)
    pool.take()
    pool.release(done)
    code.go(again)
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
    threads = _least(code, _least(code, most, work / WORTHWHILE + 1), vectors)
    code.branch(threads > 1, share, alone)
    code.begin(share)
    busy = pool.word("busy", "ptr")
    code.branch(pool.try_lock(busy), together, alone)
    code.begin(alone)
    code.call(kernel, "void", code.integer(0), rows, data, strides)
    code.go(end)
    code.begin(together)
    pool.set("next", code.integer(0))
    pool.set("pieces", _least(code, threads * PIECES, vectors))
    for name, value in {"kernel": kernel, "rows": rows, "data": data, "strides": strides}.items():
        pool.set(name, value)
    for k in code.each(threads - 1):
        pool.release(pool.lock(k, "go"))
    pool.take()
    for k in code.each(threads - 1):
        pool.acquire(pool.lock(k, "done"))
    pool.release(busy)
    code.begin(end)
    return code


def thread_pool_ir() -> str:
    """IR of ``parallel_for`` and ``worker``.

    They take ``(pool, kernel, rows, work, lanes, data, strides)`` and ``(pool, index)``.
    """
    return module_ir(_wait(), _take(), _worker(), _parallel_for())
