"""Make citations such as ``[W 5.100]`` links to the work in theory/bibliography.md.

A line of the bibliography that begins ``**[W, Wittenburg]**`` is the work that ``[W ...]`` and
``[Wittenburg ...]`` mean, in pages and docstrings. A citation of a work that is not there is a
warning.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

PAGE = "theory/bibliography"
CITATION = re.compile(r"\[((?:Del?\s|Van\s)?[A-Z][A-Za-z]*(?: et al\.)?),?\s[^\]\[]*\d[^\]\[]*\]")


class CitedWorks(SphinxPostTransform):
    """Link citations in the text of a page to the bibliography."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace citations in all text that is not code or a link already."""
        if self.env.docname == PAGE:
            return
        works = works_of(Path(self.env.srcdir))
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, (nodes.literal, nodes.literal_block, nodes.reference)):
                continue
            if parts := self.split(str(text), works):
                text.parent.replace(text, parts)

    def split(self, text: str, works: dict[str, str]) -> list[nodes.Node]:
        """The text around citations, and links in their place; nothing where none is cited."""
        parts: list[nodes.Node] = []
        end = 0
        for found in CITATION.finditer(text):
            work = " ".join(found[1].split())
            if work not in works:
                logger.warning("%s is not in %s.md", found[0], PAGE, location=self.env.docname)
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, PAGE)
            link = nodes.reference(
                "", found[0], refuri=f"{uri}#{works[work]}", internal=True, classes=["cited"]
            )
            parts += [nodes.Text(text[end : found.start()]), link]
            end = found.end()
        return [*parts, nodes.Text(text[end:])] if parts else []


def works_of(sources: Path) -> dict[str, str]:
    """Key of each work in the bibliography -> its anchor."""
    keys = re.findall(r"^\((work-[\w-]+)\)=\n\*\*\[([^\]]+)\]\*\*", _text(sources), re.MULTILINE)
    return {key: anchor for anchor, names in keys for key in names.split(", ")}


def _text(sources: Path) -> str:
    return (sources / f"{PAGE}.md").read_text()


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx link citations as it writes pages."""
    app.add_post_transform(CitedWorks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
