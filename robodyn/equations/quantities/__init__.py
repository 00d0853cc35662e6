"""Quantities: each file has equations and the rows of the catalogue that call them.

Every file of this folder has a constant ``ROWS``, from names to `Quantity`; nothing else names it.
"""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.equations.quantities.common.quantity import Quantity
from robodyn.registry import constants

__all__ = ["QUANTITIES"]


def _found() -> dict[str, Quantity]:
    """The rows of all files of this folder."""
    rows: dict[str, Quantity] = {}
    for of_file in constants(__name__, "ROWS").values():
        for name, row in of_file.items():
            if rows.setdefault(name, row) is not row:
                raise ValueError(f"two quantities are called {name!r}")
    return rows


#: Name -> quantity.
QUANTITIES: Mapping[str, Quantity] = _found()
