"""What is wrong with a deck's words is found: timing, headings, typed numbers, paths and commands."""

from __future__ import annotations

import pytest

from workshop.cli.slides import VERBS
from workshop.slides.check import check_deck
from workshop.slides.deck import load_deck, slides_of


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
        ("It took 3.2 s here", "the number '3.2 s' is typed"),
        ("up to 39 times", "the number '39 times' is typed"),
        ("90 % of it", "the number '90 %' is typed"),
        ("a buffer of 64 MB", "the number '64 MB' is typed"),
        ("See `labs/99-none`", "slide 1 (One) names labs/99-none, which does not exist"),
        ("See [it](figures/none.md)", "slide 1 (One) links to figures/none.md, which does not exist"),
        ("Type `coursekit fly 02`", "slide 1 (One) names `coursekit fly`, which is not a command"),
    ],
)
def test_a_fault_is_named(lecture, text, fault):
    """Each fault is one sentence, which begins with the deck."""
    (found,) = faults(lecture, f"# One\n\n{text}\n")

    assert found.startswith(f"slides/01-try.md: {fault}")


def test_minutes_add_up(lecture):
    """The notes' minutes are those of the header; a slide without a note or heading is named."""
    assert faults(lecture, "# One", "## Two\n<!-- 1.5 min. Say. -->", minutes=3) == [
        "slides/01-try.md: the notes of its slides add up to 2.5 min, its header says 3."
    ]
    assert faults(lecture, "# One", "Two\n<!-- no time -->", minutes=1) == [
        "slides/01-try.md: slide 2 has no heading (# or ##).",
        "slides/01-try.md: slide 2 () has no note <!-- N min. What to say. -->.",
    ]
