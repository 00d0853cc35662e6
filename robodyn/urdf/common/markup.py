"""Elements and attributes as XML text that reads back equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np


def attributes(**values: object) -> str:
    """Attributes of a tag, each after a blank; those that are ``None`` are left out."""
    return "".join(
        f' {key}="{text_of(value).translate(_ESCAPES)}"'
        for key, value in values.items()
        if value is not None
    )


# What an attribute cannot hold as it is; line ends would read back as blanks.
_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\n": "&#10;",
        "\r": "&#13;",
        "\t": "&#9;",
    }
)


def text_of(value: object) -> str:
    """A value as the text of an attribute: numbers with all their digits, arrays with blanks."""
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")  # numpy's repr names the type
    if isinstance(value, tuple | list | np.ndarray):
        return " ".join(text_of(float(number)) for number in value)
    return str(value)


def element(tag: str, values: Mapping[str, object], children: Iterable[str] = ()) -> list[str]:
    """Lines of an element, indented as a child of the root; children are lines, too."""
    inner = ["  " + child for child in children]
    head = f"  <{tag}{attributes(**values)}"
    if not inner:
        return [head + "/>"]
    return [head + ">", *("  " + child for child in inner), f"  </{tag}>"]


def child(tag: str, **values: object) -> str:
    """An element with attributes alone, in one line."""
    return f"<{tag}{attributes(**values)}/>"
