"""Names that a robot cannot have in C and C++, because something else has them."""

from __future__ import annotations

from robodyn.codegen.text.assignments import C_WORDS
from robodyn.exporting.templates import template

#: Macros of headers of C and of Windows, which are no names of anything.
MACROS = frozenset(
    "BUFSIZ EDOM EOF ERANGE FILENAME_MAX HUGE_VAL I M_E M_PI RAND_MAX alloca assert complex errno "
    "far fpclassify imaginary isinf isnan isnormal max min near offsetof setjmp signbit small "
    "stderr stdin stdout va_arg va_copy va_end va_start".split()
)


def _listed() -> frozenset[str]:
    """Names of the list beside this file, whose lines with ``#`` are headings."""
    text = template("reserved_names.txt")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(name for line in lines for name in line.split())


#: In lower case: some file systems do not tell capital letters from small ones.
RESERVED = C_WORDS | MACROS | _listed()
