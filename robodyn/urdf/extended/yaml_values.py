"""Words and lists of words from a YAML file, with line numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from robodyn.errors import MissingExtraError, UnknownNameError, UrdfError
from robodyn.urdf.common.xml import decode, read_bytes

#: How YAML writes an empty value.
_NULL = "tag:yaml.org,2002:null"


class Word(str):
    """A scalar as it is written, and its line."""

    __slots__ = ("line",)

    line: int

    def __new__(cls, text: str, line: int) -> Word:
        """The text, which knows its line."""
        word = super().__new__(cls, text)
        word.line = line
        return word


class YamlValues:
    """The values of a YAML file that is a mapping; ``keys`` are in the order of the file.

    Raises `UrdfError` if it is no YAML, no mapping, or says a key twice, and `MissingExtraError` if
    PyYAML is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.file = str(path)
        root = _parsed(path, self.file)
        self.keys: dict[str, Word] = {}
        self._nodes: dict[str, Any] = {}
        if root is None or root.id != "mapping":
            raise UrdfError("is no Extended URDF: it has no keys", file=self.file)
        for key, node in root.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise UrdfError("the key is no word", file=self.file, line=line)
            word = Word(key.value, line)
            if word in self.keys:
                first = f"first in line {self.keys[word].line}"
                raise self.error(word, f"the key is written twice ({first}); keep one", word)
            self.keys[word], self._nodes[word] = word, node

    def is_list(self, key: str) -> bool:
        """Whether the value is a list."""
        return key in self.keys and self._nodes[key].id == "sequence"

    def word(self, key: str) -> Word | None:
        """A single word; nothing if it is not there."""
        return None if self._is_empty(key) else self._word(self._nodes[key], key, "one word")

    def words(self, key: str) -> list[Word]:
        """A list of words."""
        return [self._word(node, key, "a list of names") for node in self._items(key)]

    def names(self, key: str) -> list[Word]:
        """A list of different words."""
        words = self.words(key)
        if len({*words}) < len(words):
            raise self.error(key, "is not a list of different names")
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
            return None if word is None else int(word)
        except ValueError:
            raise self.error(key, "is not a whole number") from None

    def unknown(self, key: str, word: Word, kind: str, known: Iterable[str]) -> UrdfError:
        """The error of a name that does not exist, with what was probably meant."""
        unknown = UnknownNameError(kind, word, known)
        error = self.error(key, str(unknown), word)
        error.suggestion = unknown.suggestions[0] if unknown.suggestions else None
        return error

    def error(self, key: str, message: str, word: Word | None = None) -> UrdfError:
        """An error in the value of a key, or in a word of it."""
        at = self.keys.get(key) if word is None else word
        return UrdfError(
            message, file=self.file, line=None if at is None else at.line, element=key or None
        )

    def _is_empty(self, key: str) -> bool:
        return key not in self.keys or self._nodes[key].tag == _NULL

    def _items(self, key: str, expected: str = "a list of names") -> list[Any]:
        if self._is_empty(key):
            return []
        if not self.is_list(key):
            raise self.error(key, f"is not {expected}")
        return list(self._nodes[key].value)

    def _word(self, node: Any, key: str, expected: str) -> Word:
        if node.id != "scalar" or node.tag == _NULL or not node.value.strip():
            raise self._wrong(key, expected, node)
        return Word(node.value, node.start_mark.line + 1)

    def _wrong(self, key: str, expected: str, node: Any) -> UrdfError:
        return self.error(key, f"is not {expected}", Word("", node.start_mark.line + 1))


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
