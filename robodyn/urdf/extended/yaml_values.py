"""Words and lists of words from a YAML file, with line numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn.errors import MissingExtraError, UnknownNameError, UrdfError
from robodyn.urdf.common.xml import decode, read_bytes

#: How YAML writes an empty value.
_NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True)
class Word:
    """A scalar as it is written."""

    text: str
    line: int


class YamlValues:
    """The values of a YAML file that is a mapping.

    Raises `UrdfError` if it is no YAML, no mapping, or says a key twice, and `MissingExtraError` if
    PyYAML is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.file = str(path)
        root = _parsed(path, self.file)
        self._values: dict[str, Any] = {}
        self._lines: dict[str, int] = {}
        if root is None or root.id != "mapping":
            raise UrdfError("is no Extended URDF: it has no keys", file=self.file)
        for key, value in root.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise UrdfError("the key is no word", file=self.file, line=line)
            if key.value in self._values:
                raise UrdfError(
                    f"the key is written twice (first in line {self._lines[key.value]}); keep one",
                    file=self.file,
                    line=line,
                    element=key.value,
                )
            self._values[key.value], self._lines[key.value] = value, line

    @property
    def keys(self) -> list[Word]:
        """All keys, in the order of the file."""
        return [Word(key, line) for key, line in self._lines.items()]

    def has(self, key: str) -> bool:
        """Whether the key is there, with a value or without."""
        return key in self._values

    def is_list(self, key: str) -> bool:
        """Whether the value is a list."""
        return self.has(key) and self._values[key].id == "sequence"

    def word(self, key: str) -> Word | None:
        """A single word; nothing if it is not there."""
        if self._is_empty(key):
            return None
        return self._word(self._values[key], key, "one word")

    def words(self, key: str) -> list[Word]:
        """A list of words."""
        return [self._word(node, key, "a list of names") for node in self._items(key)]

    def names(self, key: str) -> list[Word]:
        """A list of different words."""
        words = self.words(key)
        if len({word.text for word in words}) < len(words):
            raise self._wrong(key, "a list of different names")
        return words

    def pairs(self, key: str) -> list[tuple[Word, Word]]:
        """A list of pairs of words."""
        expected, found = "a list of pairs of names", []
        for node in self._items(key, expected):
            if node.id != "sequence" or len(node.value) != 2:
                raise self._wrong(key, expected, node)
            one, other = (self._word(end, key, expected) for end in node.value)
            found.append((one, other))
        return found

    def number(self, key: str) -> int | None:
        """A whole number; nothing if it is not there."""
        word = self.word(key)
        try:
            return None if word is None else int(word.text)
        except ValueError:
            raise self._wrong(key, "a whole number") from None

    def unknown(self, key: str, word: Word, kind: str, known: Iterable[str]) -> UrdfError:
        """The error of a name that does not exist, with what was probably meant."""
        error = UnknownNameError(kind, word.text, known)
        return UrdfError(
            str(error),
            file=self.file,
            line=word.line,
            element=key or None,
            suggestion=error.suggestions[0] if error.suggestions else None,
        )

    def error(self, key: str, message: str, line: int | None = None) -> UrdfError:
        """An error in the value of a key."""
        return UrdfError(message, file=self.file, line=line or self._lines.get(key), element=key)

    def _is_empty(self, key: str) -> bool:
        return not self.has(key) or self._values[key].tag == _NULL

    def _items(self, key: str, expected: str = "a list of names") -> list[Any]:
        if self._is_empty(key):
            return []
        if not self.is_list(key):
            raise self._wrong(key, expected)
        return list(self._values[key].value)

    def _word(self, node: Any, key: str, expected: str) -> Word:
        if node.id != "scalar" or node.tag == _NULL or not node.value.strip():
            raise self._wrong(key, expected, node)
        return Word(str(node.value), node.start_mark.line + 1)

    def _wrong(self, key: str, expected: str, node: Any = None) -> UrdfError:
        line = None if node is None else node.start_mark.line + 1
        return self.error(key, f"is not {expected}", line)


def _parsed(path: Path, file: str) -> Any:
    """The file as nodes with their places; nothing is constructed from tags."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("PyYAML", "yaml", f"reading {path.name}") from error
    try:
        return yaml.compose(decode(read_bytes(path), file), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or " ".join(str(error).split())
        line = None if mark is None else mark.line + 1
        raise UrdfError(f"is no YAML: {what}", file=file, line=line) from error
    except RecursionError:
        raise UrdfError("is no Extended URDF: it is nested too deeply", file=file) from None
