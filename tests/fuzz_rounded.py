"""Linkages in files with few digits, judged by their exact geometry.

Each case is a linkage, a structure or a misfit of `support.linkage_shapes` with any joint cut, any
frames, closed by any joint, and written as URDF, SDF or MJCF with 4 to 16 digits. It has to load
and to do what the exact geometry does, to the digits, or to say once what it takes for rounding;
structures have to stay stiff; of misfits the error has to name a remedy that works.

``python tests/fuzz_rounded.py --count 10000`` makes many, ``make fuzz`` likewise; ``--case NUMBER``
shows one with its file.
"""

import argparse
import collections
import sys
import time

from support.rounded_judge import GOOD, case, verdict


def fuzz(count, seed=0, first=0, report=None, **chosen):
    """Judge cases; return how many met which fate by digits and closing joint, and the faults.

    Parameters
    ----------
    count : int
        Of cases; numbers that give none are left out.
    seed, first : int
    report : callable, optional
        Called with each case and its verdict.
    **chosen
        As of `support.rounded_judge.case`.
    """
    fates, faults, number, done = collections.Counter(), [], first, 0
    while done < count:
        made = case(number, seed, **chosen)
        number += 1
        if made is None:
            continue
        done += 1
        found = verdict(made)
        fates[made.digits.label, made.linkage.closing, found.fate] += 1
        if found.fate not in GOOD:
            faults.append((made, found))
        if report is not None:
            report(made, found)
    return fates, faults


def shrunk(made, found, **chosen):
    """The plainest case that meets the same fate, what was chosen for it, and its verdict."""
    plain = {
        "deep": False, "arm": False, "base": "fixed", "flipped": False, "style": "g",
        "notation": "loop", "frames": "aligned",
    }  # fmt: skip
    others = [{"closing": kind} for kind in ("as drawn", "spherical")]
    others += [{"only": (part,)} for part in ("xyz", "rpy", "axis")]
    others += [{"frames": "z along joints"}, {"name": "four_bar"}]
    for change in [*({key: value} for key, value in plain.items()), *others]:
        simpler = case(made.number, made.seed, **{**chosen, **change})
        if simpler is None:
            continue
        again = verdict(simpler)
        if again.fate == found.fate:
            made, found, chosen = simpler, again, {**chosen, **change}
    return made, chosen, found


def table(fates):
    """Fates by digits, and by closing joint, as text."""
    lines = []
    for title, key in (("digits", 0), ("closed by", 1)):
        rows = collections.defaultdict(collections.Counter)
        for label, number in fates.items():
            rows[label[key]][label[2]] += number
        lines.append(title)
        for row in sorted(rows):
            told = ", ".join(f"{fate} {n}" for fate, n in rows[row].most_common())
            lines.append(f"  {row}: {told}")
    return "\n".join(lines)


def main():
    """Judge many cases from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="show one case, with its file")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--role", choices=("linkage", "structure", "misfit"))
    parser.add_argument("--name", help="of a shape")
    parser.add_argument("--shrink", action="store_true", help="make the case of --case plainer")
    arguments = parser.parse_args()
    chosen = {k: getattr(arguments, k) for k in ("role", "name") if getattr(arguments, k)}
    if arguments.case is not None:
        made = case(arguments.case, arguments.seed, **chosen)
        if made is None:
            print("there is no such case")
            return 2
        found = verdict(made)
        if arguments.shrink:
            made, chosen, found = shrunk(made, found, **chosen)
            print(f"case({made.number}, {made.seed}, **{chosen})")
        print(made.what, found.fate, found.told, made.text, sep="\n")
        return 0
    start, seen, wrong = time.perf_counter(), collections.Counter(), 0

    def report(made, found):
        nonlocal wrong
        seen[made.digits.label, made.linkage.closing, found.fate] += 1
        if found.fate not in GOOD:
            wrong += 1
            print(f"{found.fate} | case {made.number} | {made.what} | {found.told}", flush=True)
        if sum(seen.values()) % 100 == 0:
            print(
                f"{time.perf_counter() - start:.0f} s, {sum(seen.values())} cases, {wrong} wrong",
                flush=True,
            )
        if time.perf_counter() - start > arguments.seconds:
            raise TimeoutError

    try:
        fuzz(arguments.count, arguments.seed, arguments.first, report, **chosen)
    except TimeoutError:
        pass
    print(table(seen))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
