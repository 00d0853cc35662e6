"""Write docs/theory/coverage.md: what of the books is in, by which module, and which test shows it.

``python tests/coverage_page.py`` writes the page from ``tests/support/coverage.txt``, in which a
line is ``name | in words | module | test``: the module below ``robodyn/``, the test below
``tests/`` as ``file::name``. A line without a module, ``-``, says why there is none.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TABLE, PAGE = ROOT / "tests/support/coverage.txt", ROOT / "docs/theory/coverage.md"

HEAD = """\
# What of the books is in

Claims, systems, closed solutions and tables of numbers of Wittenburg, *Dynamics of Systems of Rigid
Bodies* (1977), by the names that the tests of robodyn give them: C1, C2, ... are formulas and
methods in the order of the book, S the systems of chapter 5, its examples and problems among them,
O closed solutions of chapters 1 to 4 and 6, G tables of numbers; SY, MU and PM are what Sayers
(1991), Mufti (1983) and the manual of PyMbs ask of a program. A module does it, and a test shows
it; often more tests do than the one that is named. Modules stand below `robodyn/`, tests below
`tests/`. A line without a module says why there is none.

This page is made by `tests/coverage_page.py`; a test fails where a module or a test is not there.
"""


class Row(NamedTuple):
    """A line of the table: a module and a test, or neither and a reason."""

    name: str
    words: str
    module: str
    test: str

    @property
    def built(self) -> bool:
        """It names a module and a test."""
        return self.module != "-"

    @property
    def function(self) -> tuple[Path, str]:
        """The file of the test, and the name of its function."""
        file, _, name = self.test.partition("::")
        return ROOT / "tests" / f"{file}.py", f"test_{name}"

    def line(self) -> str:
        """The line of the page."""
        if not self.built:
            return f"| {self.name} | {self.words} | | {self.test} |"
        file, name = self.function
        below = file.relative_to(ROOT / "tests").as_posix()
        return f"| {self.name} | {self.words} | `{self.module}` | `{below}`: `{name}` |"


def sections() -> dict[str, list[Row]]:
    """Titles of the table, and what stands below each."""
    found: dict[str, list[Row]] = {}
    for text in TABLE.read_text().splitlines():
        if text.startswith("# "):
            rows = found[text.removeprefix("# ")] = []
        else:
            rows.append(Row(*re.split(r"\s+\|\s+", text)))
    return found


def page() -> str:
    """The text of the page."""
    lines = [HEAD]
    for title, rows in sections().items():
        lines += [f"## {title}", "", "| name | what | module | test |", "|---|---|---|---|"]
        lines += [*(row.line() for row in rows), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
