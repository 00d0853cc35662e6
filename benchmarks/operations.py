"""Operations of the bundled robots before and after sums are shortened, as a Markdown table."""

from __future__ import annotations

import argparse
import warnings
from unittest.mock import patch

import robodyn as rd
from robodyn.equations import catalogue

QUANTITIES = ("mass_matrix", "inverse_dynamics", "forward_dynamics")


def operations(name: str, quantity: str) -> int:
    """All of them, sine and cosine of an angle as one."""
    return sum(rd.load(name).function(quantity).operations.values())


def counts(name: str, quantity: str) -> str:
    """Operations without and with shorter sums."""
    try:
        # equations that are kept on disk have shorter sums
        with (
            patch.object(catalogue, "cached_program", lambda origin, make: make()),
            patch.object(catalogue, "simplified", lambda program, cost: program),
        ):
            before = operations(name, quantity)
    except rd.ActuationError:  # no straight-line code for these motors
        return "-"
    after = operations(name, quantity)
    return str(after) if before == after else f"{before} to {after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=rd.robots())
    print("| sums | " + " | ".join(x.replace("_", " ") for x in QUANTITIES) + " |")
    print("|---" * (len(QUANTITIES) + 1) + "|")
    warnings.simplefilter("ignore")  # of couplings and masses, which do not matter here
    for name in parser.parse_args().robots:
        print("| " + " | ".join([name, *(counts(name, x) for x in QUANTITIES)]) + " |", flush=True)


if __name__ == "__main__":
    main()
