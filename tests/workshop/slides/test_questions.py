"""A question to the room becomes two slides: first without the answer, then with it."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from workshop.slides.deck import find_decks, slides_of
from workshop.slides.fill import Filler
from workshop.slides.questions import CLASS, with_answers

SLIDE = f"""
{CLASS}
## Question: sums

What is one and one?

- [ ] One.
  That is their product.
- [x] Two.
  They are counted.
- [ ] Eleven.
  Only as texts.

<!-- 1 min. Hands up. -->
<!-- 0.5 min. Why not eleven? -->
"""


def test_the_question_does_not_tell_and_the_answer_does():
    """Choices with letters, no explanation and no mark before; each note goes with its slide."""
    before, question, answer = with_answers(["# Lead", SLIDE])
    (asked,), (answered,) = slides_of(question), slides_of(answer)

    assert before == "# Lead"
    assert (asked.title, asked.minutes) == ("Question: sums", 1)
    assert (answered.title, answered.minutes) == ("Answer: sums", 0.5)
    assert "- **A.** One.\n- **B.** Two.\n- **C.** Eleven." in question
    assert [word for word in ("product", "counted", "right", "[x]", "Why not") if word in question] == []
    assert answer.count('class="choice right"') == 1
    assert answer.count('class="choice wrong"') == 2
    assert '<div class="choice right">\n\n**B.** Two. ✓\n\nThey are counted.' in answer


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Question: sums", "Sums", "no heading `## Question: what about`"),
        ("- [x] Two", "- [ ] Two", "question 'sums': exactly one choice of a quiz is right"),
        ("  They are counted.\n", "", "question 'sums': the choice 'Two.' has no explanation"),
        ("<!-- 1 min. Hands up. -->\n", "", "question 'sums': write two notes, .* not 1"),
    ],
)
def test_a_question_that_is_not_whole_is_refused(old, new, told):
    """The sentence names the question and what is missing."""
    assert old in SLIDE
    with pytest.raises(CourseKitError, match=told):
        list(with_answers([SLIDE.replace(old, new)]))


def test_a_wrong_question_names_its_deck(lecture):
    """The sentence has the deck and the question; a line of the deck would be a guess."""
    lecture.deck("# One", SLIDE.replace("- [x] Two", "- [ ] Two"))
    (deck,) = find_decks(lecture.root)

    with pytest.raises(CourseKitError, match=r"^slides/01-try\.md: question 'sums': exactly one choice"):
        Filler(lecture.root, lecture.root / "figures").fill(deck)
