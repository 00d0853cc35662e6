"""The machine code that spreads a batch over threads, as IR.

``parallel_for`` cuts the rows of a batch in pieces, wakes workers and takes pieces like them until
none is left; ``worker`` is what a thread does all its life: wait for work, take pieces, say so.
Neither needs the interpreter's lock. Threads wait on locks of Python's C API, which all platforms
have. What both know stands in a table of words: `HEAD`, then `WORKER` for each worker.
"""

from __future__ import annotations

from collections.abc import Callable

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


class _Writer:
    """Lines of a function, with names for words in memory."""

    def __init__(self, first: str) -> None:
        self.lines, self.count = [first], 0

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def do(self, text: str) -> None:
        self.lines.append(text if text.endswith(":") else f"  {text}")

    def at(self, name: str) -> str:
        return self.put(f"getelementptr i64, ptr %pool, i64 {HEAD.index(name)}")

    def load(self, name: str, kind: str = "i64") -> str:
        # volatile: other threads write these words
        return self.put(f"load volatile {kind}, ptr {self.at(name)}")

    def lock(self, k: str, name: str) -> str:
        """A lock of a worker."""
        skipped = self.put(f"mul i64 {k}, {len(WORKER)}")
        word = self.put(f"add i64 {skipped}, {len(HEAD) + WORKER.index(name)}")
        at = self.put(f"getelementptr i64, ptr %pool, i64 {word}")
        return self.put(f"load volatile ptr, ptr {at}")

    def acquire(self, lock: str) -> None:
        self.do(f"call void @wait(ptr %pool, ptr {lock})")

    def release(self, lock: str) -> None:
        self.do(f"call void {self.load('release', 'ptr')}(ptr {lock})")

    def least(self, a: str, b: str) -> str:
        less = self.put(f"icmp slt i64 {a}, {b}")
        return self.put(f"select i1 {less}, i64 {a}, i64 {b}")

    def end(self) -> list[str]:
        return [*self.lines, "}"]


def _wait() -> list[str]:
    """Acquire a lock: try for a while, then sleep."""
    w = _Writer("define internal void @wait(ptr %pool, ptr %lock) {")
    acquire = w.load("acquire", "ptr")
    w.do("br label %try")
    w.do("try:")
    w.do("%k = phi i64 [ 0, %0 ], [ %next, %more ]")
    got = w.put(f"call i32 {acquire}(ptr %lock, i32 0)")
    w.do(f"br i1 {w.put(f'icmp eq i32 {got}, 1')}, label %end, label %more")
    w.do("more:")
    w.do("%next = add i64 %k, 1")
    w.do(f"br i1 {w.put(f'icmp slt i64 %next, {PATIENCE}')}, label %try, label %sleep")
    w.do("sleep:")
    w.put(f"call i32 {acquire}(ptr %lock, i32 1)")
    w.do("br label %end")
    w.do("end:")
    w.do("ret void")
    return w.end()


def _take() -> list[str]:
    """Take pieces of the work in the pool until none is left."""
    w = _Writer("define internal void @take(ptr %pool) {")
    pieces, rows, kernel = w.load("pieces"), w.load("rows"), w.load("kernel", "ptr")
    data, strides = w.load("data", "ptr"), w.load("strides", "ptr")
    following = w.at("next")
    w.do("br label %next")
    w.do("next:")
    k = w.put(f"atomicrmw add ptr {following}, i64 1 seq_cst")
    w.do(f"br i1 {w.put(f'icmp slt i64 {k}, {pieces}')}, label %compute, label %end")
    w.do("compute:")
    cuts = []
    for piece in (k, w.put(f"add i64 {k}, 1")):
        product = w.put(f"mul i64 {rows}, {piece}")
        cuts.append(w.put(f"sdiv i64 {product}, {pieces}"))
    w.do(f"call void {kernel}(i64 {cuts[0]}, i64 {cuts[1]}, ptr {data}, ptr {strides})")
    w.do("br label %next")
    w.do("end:")
    w.do("ret void")
    return w.end()


def _worker() -> list[str]:
    w = _Writer("define void @worker(ptr %pool, i64 %index) {")
    go, done = w.lock("%index", "go"), w.lock("%index", "done")
    w.do("br label %loop")
    w.do("loop:")
    w.acquire(go)
    w.do("call void @take(ptr %pool)")
    w.release(done)
    w.do("br label %loop")
    return w.end()


def _parallel_for() -> list[str]:
    w = _Writer(
        "define void @parallel_for(ptr %pool, ptr %kernel, i64 %rows, i64 %work, i64 %lanes, "
        "ptr %data, ptr %strides) {"
    )
    most = w.least(w.load("threads"), w.put(f"add i64 {w.load('ready')}, 1"))
    paying = w.put(f"sdiv i64 %work, {WORTHWHILE}")
    vectors = w.put("sdiv i64 %rows, %lanes")
    threads = w.least(w.least(most, w.put(f"add i64 {paying}, 1")), vectors)
    w.do(f"br i1 {w.put(f'icmp sgt i64 {threads}, 1')}, label %try, label %alone")
    w.do("try:")
    busy = w.load("busy", "ptr")
    mine = w.put(f"call i32 {w.load('acquire', 'ptr')}(ptr {busy}, i32 0)")
    w.do(f"br i1 {w.put(f'icmp eq i32 {mine}, 1')}, label %give, label %alone")
    w.do("alone:")
    w.do("call void %kernel(i64 0, i64 %rows, ptr %data, ptr %strides)")
    w.do("ret void")
    w.do("give:")
    pieces = w.least(w.put(f"mul i64 {threads}, {PIECES}"), vectors)
    given = {"next": "i64 0", "pieces": f"i64 {pieces}", "kernel": "ptr %kernel"}
    given |= {"rows": "i64 %rows", "data": "ptr %data", "strides": "ptr %strides"}
    for name, value in given.items():
        w.do(f"store volatile {value}, ptr {w.at(name)}")
    helpers = w.put(f"sub i64 {threads}, 1")
    _each(w, "wake", "give", helpers, lambda k: w.release(w.lock(k, "go")))
    w.do("call void @take(ptr %pool)")
    w.do("br label %rest")
    w.do("rest:")
    _each(w, "await", "rest", helpers, lambda k: w.acquire(w.lock(k, "done")))
    w.release(busy)
    w.do("ret void")
    return w.end()


def _each(w: _Writer, label: str, before: str, count: str, body: Callable[[str], None]) -> None:
    """``for k in range(count): body(k)``; there is at least one."""
    w.do(f"br label %{label}")
    w.do(f"{label}:")
    w.do(f"%{label}_k = phi i64 [ 0, %{before} ], [ %{label}_next, %{label} ]")
    body(f"%{label}_k")
    w.do(f"%{label}_next = add i64 %{label}_k, 1")
    more = w.put(f"icmp slt i64 %{label}_next, {count}")
    w.do(f"br i1 {more}, label %{label}, label %{label}_end")
    w.do(f"{label}_end:")


def thread_pool_ir() -> str:
    """IR of ``parallel_for`` and ``worker``.

    They take ``(pool, kernel, rows, work, lanes, data, strides)`` and ``(pool, index)``.
    """
    return "\n".join([*_wait(), *_take(), *_worker(), *_parallel_for()])
