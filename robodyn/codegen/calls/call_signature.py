"""The signature of a function: its inputs by name, for `inspect`, editors and notebooks."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Iterable
from typing import Any


class CallSignature:
    """Descriptor of the signature of an object with ``inputs``: these in order, and ``out``."""

    def __get__(self, function: Any, owner: type) -> inspect.Signature:
        if function is None:
            raise AttributeError("__signature__")
        names = _legal(port.name for port in function.inputs)
        given = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        out = inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        return inspect.Signature([*given, out])


def _legal(names: Iterable[str]) -> list[str]:
    """Names converted to Python identifiers: ``wrench[tool]`` becomes ``wrench_tool``."""
    found = ["out"]
    for name in names:
        word = re.sub(r"\W+", "_", name).strip("_")
        legal = word.isidentifier() and not keyword.iskeyword(word) and word not in found
        found.append(word if legal else f"input_{len(found)}")
    return found[1:]
