"""The page that says what of the books is in is fresh, complete, and names what is there."""

import re

from coverage_page import PAGE, ROOT, page, sections

#: How many names of each kind the lists have, section by section.
COMPLETE = (
    {"C": 60},
    {"C": 76},
    {"S": 44},
    {"O": 39},
    {"G": 4},
    {"SY": 12, "MU": 12, "PM": 5},
)


def test_the_page_is_what_the_script_writes():
    assert PAGE.read_text() == page(), "run python tests/coverage_page.py"


def test_nothing_is_left_out():
    for counts, rows in zip(COMPLETE, sections().values(), strict=True):
        names = [f"{letter}{k}" for letter, n in counts.items() for k in range(1, n + 1)]
        assert [row.name for row in rows] == names


def test_modules_and_tests_are_there():
    lost = []
    for rows in sections().values():
        for row in rows:
            if not row.built:
                assert len(row.test.split()) >= 5, f"{row.name}: no reason"
                continue
            file, name = row.function
            there = file.exists() and re.search(rf"^def {name}\(", file.read_text(), re.MULTILINE)
            homes = (ROOT / "robodyn" / row.module, ROOT / row.module)
            if not there or not any(home.exists() for home in homes):
                lost.append((row.name, row.module, str(file.relative_to(ROOT)), name))
    assert not lost
