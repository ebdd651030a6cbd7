"""A deck is read strictly, its slides are those that Marp sees, and what is wrong with its words is found."""

import pytest

from coursekit.errors import CourseKitError
from workshop.cli.slides import VERBS
from workshop.slides.check import check_deck
from workshop.slides.deck import Slide, find_decks, load_deck, slides_of


def test_a_deck_says_what_its_header_says(lecture):
    """Title and minutes come from the header, the name from the file."""
    path = lecture.deck("# One", "## Two")
    (deck,) = find_decks(lecture.root)

    assert (deck.name, deck.title, deck.minutes) == ("01-try", "A try", 2)
    assert deck.path == path
    assert deck.body.startswith("\n# One")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# No header\n", "deck.no-header"),
        ("---\ntitle: [\n---\n", "deck.invalid-header"),
        ("---\ntitle: A\nminutes: ten\n---\n", "minutes.*'ten'"),
    ],
)
def test_a_wrong_header_ends_in_one_sentence(lecture, text, words):
    """The sentence names the file and what is wrong."""
    with pytest.raises(CourseKitError, match=f"^slides/01-try.md.*{words}"):
        load_deck(lecture.write("01-try.md", text))


def test_slides_are_parted_by_rulers_outside_code():
    """A ruler in a code block parts nothing; headings and the notes' minutes are read from each slide."""
    text = "# One\n<!-- 1.5 min. Say. -->\n---\n## Two\n```yaml\na: 1\n---\n```\n<!-- _class: lab -->\n"

    assert slides_of(text) == (
        Slide(1, "One", 1.5, "# One\n<!-- 1.5 min. Say. -->"),
        Slide(2, "Two", None, "## Two\n```yaml\na: 1\n---\n```\n<!-- _class: lab -->"),
    )


def faults(lecture, *slides, minutes=None):
    """Return what is wrong with a deck of these slides."""
    deck = load_deck(lecture.deck(*slides, minutes=minutes))
    return check_deck(lecture.root, deck, slides_of(deck.body), VERBS)


def test_a_good_deck_has_no_faults(lecture):
    """Formulas, code, marks and notes may hold numbers; paths and commands that exist may be named."""
    text = (
        "## Good\n\nBatch 64 on 2 ranks, step 3 of 10, $10 s$, `8 GB`, {{ results.x }} s, ResNet50, TF 2.15\n\n"
        "```python\nsleep(10)  # 10 s\n```\n`labs/01-sgd`, `slurm/jobs/<site>/` and `coursekit run 02`\n"
        "[the lab](../labs/01-sgd/01-sgd.ipynb) and [a page](https://example.org)\n<!-- 1 min. Wait 30 s. -->"
    )

    assert faults(lecture, text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It took 3.2 s here", "'3.2 s'"),
        ("up to 39 times", "'39 times'"),
        ("90 % of it", "'90 %'"),
        ("a buffer of 64 MB", "'64 MB'"),
        ("See `labs/99-none`", "slide 1 (One) names labs/99-none,"),
        ("See [it](figures/none.md)", "slide 1 (One) links to figures/none.md,"),
        ("Type `coursekit fly 02`", "slide 1 (One) names `coursekit fly`,"),
    ],
)
def test_a_fault_is_named(lecture, text, fault):
    """Each fault is one sentence, which begins with the deck."""
    (found,) = faults(lecture, f"# One\n\n{text}\n")

    assert found.startswith("slides/01-try.md: ")
    assert fault in found


def test_minutes_add_up(lecture):
    """The notes' minutes are those of the header; a slide without a note or heading is named."""
    (wrong,) = faults(lecture, "# One", "## Two\n<!-- 1.5 min. Say. -->", minutes=3)
    assert all(one in wrong for one in (" 2.5 min", " 3."))
    found = faults(lecture, "# One", "Two\n<!-- no time -->", minutes=1)
    assert ["heading" in one for one in found] == [True, False]
