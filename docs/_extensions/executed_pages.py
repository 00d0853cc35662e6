"""Run the code of each page, check what it prints, and show the figures that it draws.

A page is read as a doctest. Its blocks share one namespace, and run in a new folder with the files
that the page shows in full (a line with the name, then a block). If output differs from that on the
page, a warning names file and line, and ``make docs`` fails. If a block assigns a matplotlib Figure
to a name, its picture is inserted below the block.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: A file that a page shows in full: its name, and a block with its text.
SHOWN = re.compile(r"^`([\w.-]+)`:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
#: Front matter of a page whose code needs a package that the manual does without.
NEEDED = re.compile(r"---\nneeds: (\w+)\n---\n")
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def run_page(text: str, name: str, folder: Path) -> tuple[str, list[tuple[int, str]]]:
    """Run the blocks of a page in a folder, which is emptied first.

    Returns
    -------
    text : str
        The page, with a line for each picture: its path within the folder.
    failures : list of (line, message)
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file, content in SHOWN.findall(text):
        (folder / file).write_text(content)
    page = _Page(name, folder)
    with contextlib.chdir(folder):
        out = BLOCK.sub(lambda block: block[0] + page.run(block, text), text)
    return out, page.failures


class _Page:
    """The namespace of a page, its failures, and its pictures."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.shown: list[Any] = []
        self.failures: list[tuple[int, str]] = []

    def run(self, block: re.Match[str], text: str) -> str:
        """Markdown of the pictures that a block draws."""
        line = text.count("\n", 0, block.start(1))
        test = doctest.DocTestParser().get_doctest(block[1], self.names, self.name, None, line)
        said: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.REPORT_NDIFF)
        runner.run(test, out=said.append, clear_globs=False)
        if runner.failures:
            self.failures.append((line + 1, "".join(said)))
        self.names = test.globs
        return "".join(map(self.picture, self.new_figures()))

    def new_figures(self) -> list[Any]:
        """Figures in the namespace that were not inserted yet."""
        found = {id(v): v for v in self.names.values() if type(v).__name__ == "Figure"}
        new = [figure for figure in found.values() if not any(figure is x for x in self.shown)]
        self.shown += new
        return new

    def picture(self, figure: Any) -> str:
        """Save a figure in the folder, and return the line that shows it."""
        path = self.folder / f"{len(list(self.folder.glob('picture*.png'))) + 1:02d}.png"
        path = path.with_name(f"picture{path.name}")
        figure.savefig(path, dpi=144, bbox_inches="tight", facecolor="white")
        return f"\n![{figure.get_label() or 'What the code above draws'}]({path})\n"


def _run_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Run a page when Sphinx reads it."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md" or ">>>" not in source[0]:
        return
    needed = NEEDED.match(source[0])
    if needed and not find_spec(needed[1]):
        logger.info("the code of %s is not run here: it needs %s", docname, needed[1])
        return
    folder = Path(app.outdir).parent / "pages" / docname
    text, failures = run_page(source[0], docname, folder)
    for line, message in failures:
        logger.warning("%s", message, location=(docname, line))
    # Sphinx takes paths of pictures relative to the folder of sources.
    text = text.replace("\n\n```\n", "\n```\n")  # what doctest wants at the end of a block
    source[0] = text.replace(f"]({folder}", f"](/{os.path.relpath(folder, app.srcdir)}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx run pages as it reads them."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    app.connect("source-read", _run_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
