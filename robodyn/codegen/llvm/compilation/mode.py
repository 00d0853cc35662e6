"""The user's choice whether machine code is made in two tiers."""

from __future__ import annotations

import os
from typing import cast, get_args

from robodyn.arguments import checked_arguments
from robodyn.errors import SettingsError
from robodyn.literals import Compilation

_WAYS = get_args(Compilation)

_chosen: Compilation | None = None


@checked_arguments
def set_compilation(compilation: Compilation) -> None:
    """Set how code that is needed from now on is compiled; results are the same, bit for bit.

    Parameters
    ----------
    compilation : {"background", "eager"}
        ``"background"``: code that takes long to compile is made quickly at first, in a fifth of
        the time, and takes about twice as long to run. Another process makes the full code,
        which takes its place when it is ready. ``"eager"``: the call that needs code first
        waits for the full code.

    Raises
    ------
    UnknownNameError
        For another word.

    Examples
    --------
    >>> import robodyn as rd
    >>> before = rd.get_compilation()
    >>> rd.set_compilation("eager")     # full code at once, in this process
    >>> rd.set_compilation(before)
    """
    global _chosen
    _chosen = compilation


def get_compilation() -> Compilation:
    """Return how code is compiled.

    At first that is what the environment variable ``ROBODYN_COMPILATION`` says, or
    ``"background"``.

    Raises
    ------
    SettingsError
        If the variable says something else.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.get_compilation() in ("eager", "background")
    True
    """
    if _chosen is not None:
        return _chosen
    given = os.environ.get("ROBODYN_COMPILATION") or "background"
    if given not in _WAYS:
        expected = " or ".join(map(repr, _WAYS))
        raise SettingsError(f"ROBODYN_COMPILATION is {given!r}, expected {expected}")
    return cast(Compilation, given)
