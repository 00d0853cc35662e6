"""Names that a language allows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from robodyn.errors import SettingsError

__all__ = ["legal_name", "legal_names"]


def legal_name(name: str, reserved: Collection[str] = ()) -> str:
    """A name of ASCII letters, digits and underscores that begins with a letter.

    Parameters
    ----------
    name : str
    reserved : collection of str
        Words that it may not be; an underscore is added to these.
    """
    legal = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not legal[:1].isalpha():
        legal = f"f_{legal}"
    return f"{legal}_" if legal in reserved else legal


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
