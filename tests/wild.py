"""How other people's robots fare: ``python tests/wild.py FOLDER``, or ``make wild DIR=FOLDER``.

Every URDF, xacro, SDF and MJCF below the folders is loaded, strictly and then leniently. Counted
are those that load, load leniently, or are refused, with reasons; dynamics are compared with
Pinocchio where that reads the file; and of what is refused leniently, which other readers take it.
Each file is left to a worker process, so that one that hangs or crashes ends nothing else.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

#: What descriptions are called; an ``.xml`` counts if it is one.
ENDINGS = (".urdf", ".xacro", ".sdf", ".xml", ".mjcf", ".world")

#: Relative errors above these are differences, and not rounding.
EQUAL = collections.defaultdict(lambda: 1e-9, {"forward dynamics": 1e-6})

#: So many examples of each kind are shown.
SHOWN = 3

STATUSES = ("loaded", "lenient", "refused", "crashed", "too slow")

Record = dict[str, Any]


class Worker:
    """A process that looks at one file after another, and is replaced when it dies or hangs."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._process: subprocess.Popen[str] | None = None

    def look_at(self, path: Path) -> Record:
        """Record of a file; what is known of it if the process dies or takes too long."""
        if self._process is None or self._process.poll() is not None:
            self._process = self._started()
        record: Record = {"file": str(path)}
        assert self._process.stdin is not None
        print(path, file=self._process.stdin, flush=True)
        end = time.monotonic() + self._patience
        while not record.pop("end", False):
            try:
                line = self._answers.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self.stop()
                return _ended(record, "too slow")
            if not line:
                self.stop()
                return _ended(record, "crashed")
            record |= json.loads(line)
        record.pop("asked", None)
        return record

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, str(Path(__file__).with_name("wild_file.py"))]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=_pass_on, args=(process, self._answers), daemon=True).start()
        return process

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _pass_on(process: subprocess.Popen[str], answers: queue.SimpleQueue[str]) -> None:
    """Lines that a process writes, then an empty one."""
    assert process.stdout is not None
    for line in process.stdout:
        answers.put(line)
    answers.put("")


def _ended(record: Record, how: str) -> Record:
    """The record of a file at which the process ended: another reader's fault, or ours."""
    asked = record.pop("asked", None)
    if asked is not None:
        return record | {"ended": f"{how} in {asked}"}
    if record.get("seconds") is not None:
        return record | {"not_compared": how}
    return record | {"status": how, "reason": how}


def files_below(folders: Iterable[Path]) -> list[Path]:
    """Files that may be descriptions, each once."""
    found = {
        path.resolve(): path
        for folder in folders
        for path in ([folder] if folder.is_file() else sorted(folder.rglob("*")))
        if path.suffix in ENDINGS and path.is_file()
    }
    return [path for path in found.values() if path.suffix != ".xml" or _is_mjcf(path)]


def _is_mjcf(path: Path) -> bool:
    with path.open("rb") as stream:
        return b"<mujoco" in stream.read(4096)


def look_at(files: Sequence[Path], jobs: int, patience: float) -> list[Record]:
    """Records of files, in their order, without those that are no robots."""
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    workers = [Worker(patience) for _ in range(jobs)]
    for worker in workers:
        free.put(worker)
    done = 0

    def by_one(path: Path) -> Record:
        nonlocal done
        worker = free.get()
        try:
            return worker.look_at(path)
        finally:
            free.put(worker)
            done += 1
            if sys.stderr.isatty():
                print(f"\r{done} of {len(files)}", end="", file=sys.stderr, flush=True)

    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            found = list(pool.map(by_one, files))
    finally:
        for worker in workers:
            worker.stop()
    return [record for record in found if record.get("status") != "no robot"]


def table(records: Sequence[Record]) -> str:
    """What became of them, for a person."""
    lines = [f"{len(records)} descriptions"]
    for kind, alike in _grouped(records, "kind"):
        counts = collections.Counter(record["status"] for record in alike)
        told = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
        lines.append(f"  {kind}: {told}")
    for status, reason in (("lenient", "reason"), ("refused", "lenient_reason")):
        these = [record for record in records if record["status"] == status]
        lines += _listed(f"{status}: {len(these)}", these, reason)
    broken = [r for r in records if r["status"] in ("crashed", "too slow")]
    lines += _listed(f"crashed or too slow: {len(broken)}", broken, "reason")
    return "\n".join([*lines, *_others(records), *_comparison(records)])


def _others(records: Sequence[Record]) -> list[str]:
    two = [record for record in records if len(record.get("read_by", ())) >= 2]
    lines = _listed(f"refused, and read by two others: {len(two)}", two, "lenient_reason")
    ended = [record for record in records if "ended" in record]
    return lines + (_listed("other readers that broke down", ended, "ended") if ended else [])


def _comparison(records: Sequence[Record]) -> list[str]:
    compared = [record for record in records if "errors" in record]
    names = dict.fromkeys(name for record in compared for name in record["errors"])
    lines = [f"compared with Pinocchio: {len(compared)}"]
    worst = []
    for name in names:
        record = max(compared, key=lambda r: r["errors"].get(name, 0.0))
        worst.append(f"{name} {record['errors'][name]:.1e}")
        differ = [r for r in compared if r["errors"].get(name, 0.0) > EQUAL[name]]
        for r in sorted(differ, key=lambda r: -r["errors"][name]):
            lines.append(f"  differs: {name} by {r['errors'][name]:.1e}: {r['file']}")
    lines.append(f"  worst errors: {', '.join(worst) or 'none'}")
    others = [record for record in records if "not_compared" in record]
    return lines + _listed(f"not compared: {len(others)}", others, "not_compared", examples=0)


def _listed(title: str, records: Sequence[Record], key: str, *, examples: int = SHOWN) -> list[str]:
    lines = [title]
    for reason, alike in _grouped(records, key):
        lines.append(f"  {len(alike):5} {reason}")
        lines += [f"          {record['file']}" for record in alike[:examples]]
    return lines


def _grouped(records: Sequence[Record], key: str) -> list[tuple[str, list[Record]]]:
    """Records by what they have under a key, the most first."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(str(record.get(key) or "unknown"), []).append(record)
    return sorted(groups.items(), key=lambda pair: -len(pair[1]))


def main(argv: Sequence[str] | None = None) -> int:
    """Look at folders; 1 if something crashed, took too long, or differs from Pinocchio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", nargs="+", type=Path, help="folders, or files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a list of records")
    parser.add_argument("--jobs", type=int, default=2, help="workers (default 2)")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds a file (default 60)")
    arguments = parser.parse_args(argv)
    for folder in arguments.folder:
        if not folder.exists():
            parser.error(f"{folder} does not exist")
    records = look_at(files_below(arguments.folder), arguments.jobs, arguments.patience)
    print(table(records))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(records, indent=1))
    bad = any(r["status"] in ("crashed", "too slow") for r in records) or any(
        error > EQUAL[name] for r in records for name, error in r.get("errors", {}).items()
    )
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
