"""What scripts that judge many cases share: their command line, and what they print."""

import argparse
import time


def judge_many(doc, fuzz, count, only, told=dict, every=None):
    """Fates and faults of many cases, which are printed as they come.

    Parameters
    ----------
    doc : str
    fuzz : callable
        Of count, seed, what is asked for by ``--only``, and a report that it calls with fates,
        faults and, if it likes, what it has looked at.
    count : int
        Of cases where none is given.
    only : str
        What ``--only`` chooses from, in words; ``every``: all of it.
    told : callable
        From fates to what is printed of them.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=every, help=only)
    arguments = parser.parse_args()
    start, shown = time.perf_counter(), 0

    def report(fates, faults, what=None):
        nonlocal shown
        print(*faults[shown:], sep="\n", end="\n" * (len(faults) > shown))
        shown = len(faults)
        print(f"{time.perf_counter() - start:.0f} s: {what or told(fates)}", flush=True)

    fates, faults = fuzz(arguments.count, arguments.seed, arguments.only, report)
    report(fates, faults)
    return fates, faults
