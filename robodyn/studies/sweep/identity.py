"""Identity of a sweep, by hashes of its content: only the sweep that wrote a file may resume it."""

from __future__ import annotations

import copyreg
import functools
import hashlib
import platform
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any

import numpy as np

from robodyn.robot import Robot
from robodyn.studies.sweep.grid import ArgumentValues, Grid
from robodyn.studies.sweep.rows import Study
from robodyn.version import __version__

#: Types whose ``repr`` is their whole content.
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))

#: Types of module-level constants that are part of a function's content.
CONSTANT = (bool, int, float, complex, str, bytes, tuple, frozenset, np.ndarray, np.generic)


def digest(value: Any) -> str:
    """A hash of a value by its content, as sixteen hexadecimal digits.

    Arrays, dataclasses and collections count with all they hold, but not with the file and line
    that a description was read from. Functions count with their code,
    their defaults, the variables around them, and the functions, constants, robots and frozen
    dataclasses of their module that they name; lists and mappings among these are not looked at, as
    they may be memories. Modules, classes and functions of other modules count with their names,
    other objects with what pickle would keep of them.
    """
    return _digest(value, {})[:16]


def _digest(value: Any, known: dict[int, tuple[str, Any]]) -> str:
    if id(value) in known:
        return known[id(value)][0]
    known[id(value)] = "within itself", value
    said = hashlib.sha256()
    for part in _parts(value):
        text = part if isinstance(part, str) else _digest(part.value, known)
        said.update(f"{len(text)}:{text}".encode())
    known[id(value)] = said.hexdigest(), value  # which keeps it, and so its id
    return known[id(value)][0]


class _Inner:
    """A part of a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _parts(value: Any) -> Iterable[str | _Inner]:
    """The parts of a value."""
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, PLAIN):
        yield repr(value)
    elif isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject:
        array = np.asarray(value)
        yield f"{array.dtype.str} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    elif isinstance(value, Mapping):
        for key in sorted(value, key=digest):
            yield from (_Inner(key), _Inner(value[key]))
    elif isinstance(value, set | frozenset):
        yield from sorted(map(digest, value))
    elif isinstance(value, list | tuple):
        yield from map(_Inner, value)
    elif isinstance(value, types.FunctionType):
        yield from map(_Inner, _function(value))
    elif isinstance(value, types.CodeType):
        yield from map(_Inner, _code(value))
    elif isinstance(value, types.MethodType):
        yield from map(_Inner, (value.__self__, value.__func__))
    elif isinstance(value, functools.partial):
        yield from map(_Inner, (value.func, value.args, value.keywords))
    elif isinstance(value, type | types.ModuleType | types.BuiltinFunctionType | np.ufunc):
        yield f"{getattr(value, '__module__', '')}.{value.__name__}"
    elif is_dataclass(value):
        own = [field for field in fields(value) if field.init and not _is_place(field)]
        yield from (_Inner(getattr(value, field.name)) for field in own)
        yield from map(_Inner, _call_of(kind))
    else:
        yield from map(_Inner, _reduced(value))


def _is_place(field: Field[Any]) -> bool:
    """Whether a field says where in which file something stands, and nothing of its content."""
    return not field.compare and field.name in ("file", "line")


def _function(function: types.FunctionType) -> tuple[Any, ...]:
    """Content of a function, without its module: that of a script is ``__main__``."""
    code, own = function.__code__, function.__globals__
    used = []
    for name in sorted(_global_names(code)):
        value = own.get(name)
        ours = isinstance(value, types.FunctionType) and value.__globals__ is own
        if ours or isinstance(value, CONSTANT) or _is_frozen(value):
            used.append((name, value))
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    enclosed = [x for x in cells if not isinstance(x, list | dict | set)]
    return (
        function.__qualname__,
        code,
        function.__defaults__,
        function.__kwdefaults__,
        used,
        enclosed,
    )


def _is_frozen(value: Any) -> bool:
    """Whether an object is immutable."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return isinstance(value, Robot) or (parameters is not None and parameters.frozen)


def _is_filled(cell: types.CellType) -> bool:
    """Whether an enclosed variable has a value yet."""
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _code(code: types.CodeType) -> tuple[Any, ...]:
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, code.co_consts, *names, code.co_argcount, code.co_flags


def _global_names(code: types.CodeType) -> set[str]:
    """Global names that code and its nested functions use."""
    inner = (x for x in code.co_consts if isinstance(x, types.CodeType))
    return {*code.co_names}.union(*map(_global_names, inner))


def _call_of(kind: type) -> tuple[Callable[..., Any], ...]:
    """``__call__`` of a class, if it has one."""
    call = getattr(kind, "__call__", None)  # noqa: B004
    return (call,) if isinstance(call, types.FunctionType) else ()


def _reduced(value: Any) -> tuple[Any, ...]:
    """The pickled content of an object; its class if it cannot be pickled."""
    calls = _call_of(type(value))
    try:
        reduced = value.__reduce_ex__(2)
    except Exception:
        return calls
    if isinstance(reduced, str):
        return reduced, *calls
    make, arguments = reduced[0], reduced[1]
    if make is copyreg.__newobj__:  # type: ignore[attr-defined]
        make, arguments = arguments[0], arguments[1:]
    state = [list(x) if n > 0 and x is not None else x for n, x in enumerate(reduced[2:])]
    return make, arguments, state, *calls


#: How labels are printed: as numpy does by default, but in short.
PRINTED: Any = {
    "precision": 8, "threshold": 6, "edgeitems": 2, "linewidth": 75, "suppress": False,
    "nanstr": "nan", "infstr": "inf", "formatter": None, "sign": "-", "floatmode": "maxprec",
    "legacy": False,
}  # fmt: skip


def identity(study: Study, grid: Grid, seed: int | None, batch: int | None) -> dict[str, str]:
    """Everything that the results depend on, as text by name."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {
        "the study": _name(study),
        "the arguments": ", ".join(axis.name for axis in grid.axes),
        "product": str(grid.product),
        **{f"values[{axis.name!r}]": _shown(axis) for axis in grid.axes},
        "seed": str(seed),
        "batch": str(batch),
        "the code of the study and what it uses": f"#{digest(study)}",
        "the version of robodyn": __version__,
        "the version of Python": python,
    }


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Descriptions of the differences, causes before consequences."""
    found = []
    for name in [*here, *(name for name in there if name not in here)]:
        if there.get(name) != here.get(name):
            old, new = (x.get(name, "nothing") for x in (there, here))
            found.append(name if old.startswith("#") else f"{name}: {old} there, {new} here")
    return found


def _name(study: Study) -> str:
    inner = study.func if isinstance(study, functools.partial) else study
    return getattr(inner, "__qualname__", type(inner).__qualname__)


def _shown(axis: ArgumentValues) -> str:
    """Labels in short, with a digest of their full content."""
    with np.printoptions(**PRINTED):  # whatever is set elsewhere
        labels = np.array2string(axis.labels, separator=", ")
    mark = digest((axis.labels, axis.objects))
    return f"{len(axis)} values {' '.join(labels.split())} #{mark}"
