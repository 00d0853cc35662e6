"""Quantities: each file has equations and the rows of the catalogue that call them.

Every file of this folder has a constant ``ROWS``, from names to `Quantity`; nothing else names it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from robodyn.equations.quantities.common.quantity import Quantity

__all__ = ["QUANTITIES"]


def _found() -> dict[str, Quantity]:
    """The rows of all files of this folder."""
    rows: dict[str, Quantity] = {}
    for file in pkgutil.iter_modules(__path__):
        if not file.ispkg:
            module = importlib.import_module(f"{__name__}.{file.name}")
            for name, row in module.ROWS.items():
                if rows.setdefault(name, row) is not row:
                    raise ValueError(f"two quantities are called {name!r}")
    return rows


#: Name -> quantity.
QUANTITIES: Mapping[str, Quantity] = _found()
