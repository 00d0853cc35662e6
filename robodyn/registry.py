"""Registries: folders in which every file that has a constant of some name is a kind."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any


def constants(package: str, name: str) -> dict[str, Any]:
    """Constants of a name in the files of a folder, by the name of the file, in their order.

    package: The folder, as the ``__name__`` of its ``__init__.py``, which is being imported.
    """
    files = (x.name for x in pkgutil.iter_modules(sys.modules[package].__path__) if not x.ispkg)
    modules = {file: importlib.import_module(f"{package}.{file}") for file in files}
    return {file: getattr(x, name) for file, x in modules.items() if hasattr(x, name)}
