"""The table in slides/README.md: every topic of the documents that the course grew from leads to a slide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coursekit.lecture.slides.deck import slides_of

pytestmark = pytest.mark.needs("chromium")

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| (?P<topic>[^|]+) \| (?P<where>[^|]*) \|$", re.MULTILINE)
PLACE = re.compile(r"\[(?P<deck>\d\d\w?-[\w-]+)\]\((?P=deck)\.md\): (?P<title>.+)")


def rows():
    """Return topic and place of every row, by document."""
    _, *parts = (ROOT / "slides/README.md").read_text().partition("## What covers what")[2].split("\n### ")
    return {
        part.partition("\n")[0]: [row for row in ROW.findall(part) if not row[0].startswith(("Topic", "---"))]
        for part in parts
    }


@pytest.fixture
def titles(whole_lecture):
    """Return the headings of every deck, as it is shown."""
    texts = {path.stem: path.read_text().split("---\n", 2)[2] for path in whole_lecture.glob("*.md")}
    return {name: [slide.title for slide in slides_of(text)] for name, text in texts.items()}


def test_all_four_documents_are_in_the_table():
    """Each has a part of its own, with at least a dozen topics."""
    assert [(name, len(topics) >= 12) for name, topics in rows().items()] == [
        ("CSCS, 2019", True),
        ("IT4Innovations, 2023", True),
        ("IDRIS", True),
        ("NTU Singapore, 2019", True),
    ]


def test_every_topic_leads_to_a_slide(titles):
    """No row is open: deck and slide exist, or the row says why the topic is not taught."""
    wrong = []
    for document, topics in rows().items():
        for topic, where in topics:
            place = PLACE.fullmatch(where)
            if place and place["title"] in titles.get(place["deck"], []):
                continue
            if not where.startswith("not taught: "):
                wrong.append(f"{document}: {topic}: {where or 'nowhere'}")

    assert wrong == []


def test_headings_are_told_apart(titles):
    """No two slides of a deck have the same heading, so that a table can name them."""
    twice = {name: sorted({one for one in all_ if all_.count(one) > 1}) for name, all_ in titles.items()}

    assert {name: found for name, found in twice.items() if found} == {}
