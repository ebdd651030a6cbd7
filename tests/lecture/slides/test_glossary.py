"""The glossary has one source, which people and slides can rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.lecture.slides.glossary import PAGE, glossary, load_glossary

ROOT = Path(__file__).parents[3]


def test_every_row_of_the_page_is_a_term():
    """No row is left out for its form; a slide shows the terms that it asks for, in its order."""
    rows = [line for line in (ROOT / PAGE).read_text().splitlines() if line.startswith("| ") and "---" not in line]
    meanings = load_glossary(ROOT)

    assert len(meanings) == len([row for row in rows if not row.startswith("| term |")])
    assert glossary(ROOT, "shard", "rank").splitlines()[2:] == [
        f"| **shard** | {meanings['shard']} |",
        f"| **rank** | {meanings['rank']} |",
    ]


def test_an_unknown_term_is_named():
    """Else a slide would lack it silently."""
    with pytest.raises(CourseKitError, match=r"docs/glossary.md has no term 'ranc'"):
        glossary(ROOT, "ranc")


def test_a_term_that_is_explained_twice_is_refused(tmp_path):
    """One meaning each."""
    (tmp_path / "docs").mkdir()
    (tmp_path / PAGE).write_text("| **rank** | one |\n| **rank** | two |\n")
    with pytest.raises(CourseKitError, match=r"explains a term twice: rank\."):
        load_glossary(tmp_path)
