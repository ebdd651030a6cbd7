"""A deck is read strictly, and its slides are those that Marp sees."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from workshop.slides.deck import Slide, find_decks, load_deck, slides_of


def test_a_deck_says_what_its_header_says(lecture):
    """Title and minutes come from the header, the name from the file."""
    path = lecture.deck("# One", "## Two")
    (deck,) = find_decks(lecture.root)

    assert (deck.name, deck.title, deck.minutes) == ("01-try", "A try", 2)
    assert deck.path == path
    assert deck.body.startswith("\n# One")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# No header\n", "slides/01-try.md has no header: begin it with ---, title, minutes, ---."),
        ("---\ntitle: [\n---\n", "slides/01-try.md: the header is not valid YAML"),
        ("---\ntitle: A\nminutes: 1\nday: 2\n---\n", "unknown key(s) ['day']; allowed are"),
        ("---\ntitle: A\n---\n", "missing key(s) ['minutes']"),
        ("---\ntitle: A\nminutes: ten\n---\n", "minutes must be a whole number, not 'ten'"),
        ("---\nnothing\n---\n", "must be a table, not 'nothing'"),
    ],
)
def test_a_wrong_header_ends_in_one_sentence(lecture, text, message):
    """The sentence names the file and what is wrong."""
    path = lecture.write("01-try.md", text)

    with pytest.raises(CourseKitError) as error:
        load_deck(path)
    assert message in str(error.value)
    assert str(error.value).startswith("slides/01-try.md")


def test_slides_are_parted_by_rulers_outside_code():
    """A ruler in a code block parts nothing; headings and the notes' minutes are read from each slide."""
    text = "# One\n<!-- 1.5 min. Say. -->\n---\n## Two\n```yaml\na: 1\n---\n```\n<!-- _class: lab -->\n"

    assert slides_of(text) == (
        Slide(1, "One", 1.5, "# One\n<!-- 1.5 min. Say. -->"),
        Slide(2, "Two", 0.0, "## Two\n```yaml\na: 1\n---\n```\n<!-- _class: lab -->"),
    )
