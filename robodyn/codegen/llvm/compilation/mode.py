"""Whether machine code is made in two tiers: what the user has chosen."""

from __future__ import annotations

import os

from robodyn.arguments import checked_arguments
from robodyn.errors import SettingsError

__all__ = ["get_compilation", "set_compilation"]

_WAYS = ("background", "eager")

_chosen: str | None = None


@checked_arguments
def set_compilation(compilation: str) -> None:
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
    SettingsError
    """
    global _chosen
    _chosen = _known("compilation", compilation)


def get_compilation() -> str:
    """Return how code is compiled.

    At first that is what the environment variable ``ROBODYN_COMPILATION`` says, or
    ``"background"``.

    Raises
    ------
    SettingsError
        If the variable says something else.
    """
    if _chosen is not None:
        return _chosen
    return _known("ROBODYN_COMPILATION", os.environ.get("ROBODYN_COMPILATION") or "background")


def _known(name: str, given: str) -> str:
    if given not in _WAYS:
        expected = " or ".join(map(repr, _WAYS))
        raise SettingsError(f"{name} is {given!r}, expected {expected}")
    return given
