"""Questions to the room: one slide of a deck becomes two, the question and, on the next page, the answer.

Such a slide has the class `question`, a heading `## Question: what about`, the question, and its choices as the labs'
quizzes have them, `- [ ] text` or `- [x] text` above an explanation; then two notes, of the question and of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coursekit.errors import CourseKitError
from coursekit.labs.build.additions import parse_quiz
from coursekit.quiz import LETTERS

CLASS = "<!-- _class: question -->"
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"^## Question: (.+)$", re.MULTILINE)
NUM_NOTES = 2
QUESTION = """
{mark}
## Question: {about}

{question}

{choices}

{note}
"""
ANSWER = """
<!-- _class: answer -->
## Answer: {about}

{choices}

{note}
"""
EXPLAINED = """\
<div class="choice {verdict}">

**{letter}.** {text} {sign}

{explanation}

</div>
"""


def with_answers(slides: Iterable[str]) -> Iterator[str]:
    """Yield the slides of a deck, and after each question its answer.

    Raises:
        CourseKitError: a question has no heading, no right choice, or not two notes; the message says which.
    """
    for slide in slides:
        if CLASS in slide:
            yield from _asked_and_answered(slide)
        else:
            yield slide


def _asked_and_answered(slide: str) -> Iterator[str]:
    heading = HEADING.search(slide)
    if not heading:
        raise CourseKitError("a slide of class question has no heading `## Question: what about`.")
    about = heading[1]
    notes = [comment for comment in COMMENT.findall(slide) if comment != CLASS]
    if len(notes) != NUM_NOTES:
        raise CourseKitError(
            f"question {about!r}: write two notes, of the question and of the answer, not {len(notes)}."
        )
    try:
        question, choices = parse_quiz(COMMENT.sub("", HEADING.sub("", slide)))
    except ValueError as error:
        raise CourseKitError(f"question {about!r}: {error}.") from None
    listed = "\n".join(f"- **{letter}.** {choice.text}" for letter, choice in zip(LETTERS, choices))
    explained = "\n".join(
        EXPLAINED.format(
            verdict="right" if choice.is_right else "wrong",
            letter=letter,
            text=choice.text,
            sign="\N{CHECK MARK}" if choice.is_right else "",
            explanation=choice.explanation,
        )
        for letter, choice in zip(LETTERS, choices)
    )
    yield QUESTION.format(mark=CLASS, about=about, question=question, choices=listed, note=notes[0])
    yield ANSWER.format(about=about, choices=explained, note=notes[1])
