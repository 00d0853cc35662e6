"""Gains of controllers that are inputs of machine code, so that other gains are not traced anew.

Controllers of this library name the gains with which their forces are computed by arithmetic
alone. It is not known what controllers of users do with theirs, so that these are traced each time.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.cache.contents import contents, of_library
from robodyn.simulation.control.compiled_controller import Code, CompiledController
from robodyn.simulation.control.controller import stateful
from robodyn.simulation.control.tracing import Trace


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains of a controller; those that are zero stay in its equations.

    controller: A frozen dataclass.
    names: Attributes that are arrays of gains, by the fields from which they are made.
    """

    controller: Any
    names: Mapping[str, str]

    def key(self, same: bool) -> Hashable | None:
        """Key of all that the equations depend on; ``None`` where that is not known.

        ``same``: as for `contents`.
        """
        kind: Any = type(self.controller)
        given = tuple(getattr(self.controller, name) for name in _given(kind))
        found = contents(given, same=same)
        if found is None:
            return None
        zeros = tuple((x.shape, (x == 0.0).tobytes()) for x in self._arrays.values())
        key: tuple[Any, ...] = kind, zeros, same, found
        return key

    @cached_property
    def _arrays(self) -> dict[str, FloatArray]:
        return {name: getattr(self.controller, name) for name in self.names.values()}

    @cached_property
    def values(self) -> FloatArray:
        """The gains that are not zero, shape (n,)."""
        return np.concatenate([x[x != 0.0] for x in self._arrays.values()])

    def as_symbols(self, trace: Trace) -> Any:
        """The controller with symbols in place of these gains."""
        made, left = copy.copy(self.controller), trace.gains(len(self.values))
        for name, x in self._arrays.items():
            among, there = x.astype(object), x != 0.0
            count = int(there.sum())
            among[there], left = left[:count], left[count:]
            object.__setattr__(made, name, among)
        return made

    def given_to(self, compiled: CompiledController) -> CompiledController:
        """Machine code of such a controller, with these gains."""
        code = Code(compiled.code.function, (self.values, *compiled.code.constants))
        return replace(compiled, controller=stateful(self.controller), code=code)


@cache
def _given(kind: Any) -> tuple[str, ...]:
    """Names of the fields of a class of controllers that are given, and are no gains."""
    return tuple(x.name for x in fields(kind) if x.init and x.name not in kind.gain_arrays)


def gains_of(controller: Any) -> Gains | None:
    """The gains of a controller; ``None`` where there are none that can be inputs."""
    kind = type(controller)
    names = getattr(kind, "gain_arrays", None)
    if not names or not of_library(kind):
        return None
    found = Gains(controller, names)
    return found if len(found.values) else None
