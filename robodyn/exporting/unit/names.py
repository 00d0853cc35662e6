"""Names that a language allows."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from robodyn.codegen.text.assignments import legal_name
from robodyn.errors import SettingsError

__all__ = ["legal_name", "legal_names"]


def legal_names(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """The legal name of each name.

    Raises
    ------
    SettingsError
        If two names become the same.
    """
    found: dict[str, str] = {}
    for name in names:
        legal = legal_name(name, reserved)
        for other, taken in found.items():
            if taken == legal and other != name:
                raise SettingsError(
                    f"{other!r} and {name!r} both become {legal!r} in the code: rename one of them"
                )
        found[name] = legal
    return found
