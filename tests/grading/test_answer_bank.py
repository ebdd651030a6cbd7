"""Banks of answers are read strictly, and every mistake is named with its file and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.grading.answer_bank import Answer, load_bank

BLOCK = """\
# /// answer
# title = "Every rank takes the first half"
# verdict = "wrong"
#
# [fails]
# shard-tests = ["disjoint"]
# mean-tests = []
# ///
"""

CELL = """
# %% role="answer" id="shard"
def shard(x, rank, size):
    return x[: len(x) // size]
"""


def test_answers_are_read_whole(bank, source):
    """Title, tests that must fail with their words, and the cells' new sources, sorted by name."""
    second = '# %% role="answer" id="mean"\nimport statistics\n\nmean = statistics.fmean\n'
    bank("same-half", BLOCK + CELL + "\n" + second)
    bank("fmean", f'# /// answer\n# title = "A library"\n# verdict = "right"\n# ///\n\n{second}')

    answers = load_bank(bank.folder, source)

    mean = "import statistics\n\nmean = statistics.fmean"
    assert answers == (
        Answer("fmean", "A library", {}, {"mean": mean}),
        Answer(
            "same-half",
            "Every rank takes the first half",
            {"shard-tests": ("disjoint",), "mean-tests": ()},
            {"shard": "def shard(x, rank, size):\n    return x[: len(x) // size]", "mean": mean},
        ),
    )


def test_the_documented_example_is_an_answer(bank, source):
    """The file that tests/answers/README.md shows can be copied as it stands, for a lab with those cells."""
    readme = Path(__file__).parents[1] / "answers" / "README.md"
    example = re.search(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)[1]
    bank("example", example.replace("train-tests", "mean-tests"))

    (answer,) = load_bank(bank.folder, source)

    assert answer.fails == {"shard-tests": ("disjoint",), "mean-tests": ("shard", "union")}
    assert list(answer.cells) == ["shard"]


def test_magics_are_read_as_in_the_solution(bank, source):
    """A commented magic becomes one and a comment stays one, as the builder does for the lab itself."""
    head = '# /// answer\n# title = "M"\n# verdict = "right"\n# ///\n'
    bank("magic", head + '# %% role="answer" id="mean"\n# %time 1\n# copy the weights\nx = 1\n')

    assert load_bank(bank.folder, source)[0].cells == {"mean": "%time 1\n# copy the weights\nx = 1"}


def test_an_empty_bank_is_refused(bank, source):
    """A folder without answers is a mistake, not a success."""
    with pytest.raises(CourseKitError, match=re.escape(f"{bank.folder} holds no answers")):
        load_bank(bank.folder, source)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", 1, "starts with the line '# /// answer'"),
        ("\n\nx = 1\n" + BLOCK + CELL, 3, "starts with the line '# /// answer'"),
        (BLOCK.replace("# /// answer", "# /// script") + CELL, 1, "starts with the line '# /// answer'"),
        (BLOCK.removesuffix("# ///\n") + CELL, 1, "this block is never closed"),
        (BLOCK.replace("# verdict", "#verdict") + CELL, 3, "every line of this block starts with '# '"),
        (BLOCK.replace('= "wrong"', "= wrong") + CELL, 3, "not valid TOML"),
        (
            BLOCK.replace("# verdict", "# veredict") + CELL,
            3,
            "unknown key 'veredict'; allowed are title, verdict, fails",
        ),
        (BLOCK.replace("Every rank takes the first half", " ") + CELL, 2, "the title must be one line of text"),
        (BLOCK.replace('"wrong"', '"bad"') + CELL, 3, 'the verdict must be "right" or "wrong"'),
        (BLOCK.replace('"wrong"', '"right"') + CELL, 5, "a right answer fails no test"),
        ('# /// answer\n# title = "T"\n# verdict = "wrong"\n# ///\n' + CELL, 1, "a wrong answer needs [fails]"),
        (
            BLOCK.replace("mean-tests", "median-tests") + CELL,
            7,
            "no test 'median-tests'; its tests are shard-tests, mean-",
        ),
        (BLOCK.replace('["disjoint"]', '"disjoint"') + CELL, 6, "shard-tests needs a list of words"),
        (BLOCK.replace('"disjoint"', '""') + CELL, 6, "shard-tests needs a list of words"),
        (BLOCK.replace('"disjoint"', "") + CELL, 5, "at least one of these tests must say something"),
        (BLOCK, 8, "must follow the block"),
        (BLOCK + "x = 1\n" + CELL, 9, "must follow the block"),
        (BLOCK + CELL.replace('"shard"', '"chart"'), 10, "no answer cell 'chart'; it has shard, mean"),
        (BLOCK + CELL.replace('"shard"', '"shard-tests"'), 10, "no answer cell 'shard-tests'"),
        (BLOCK + CELL.replace(' id="shard"', ""), 10, "a cell here is code and its marker"),
        (BLOCK + CELL.replace('role="answer"', 'role="tests"'), 10, "a cell here is code and its marker"),
        (BLOCK + CELL.replace("%% role", "%% [markdown] role"), 10, "a cell here is code and its marker"),
        (BLOCK + CELL.replace("%% role", "%% points=2 role"), 10, "a cell here is code and its marker"),
        (BLOCK + CELL + CELL, 14, "the cell 'shard' is answered twice"),
        (BLOCK + CELL + '\n# %% role="answer" id="mean"\n\n', 14, "this answer is empty"),
    ],
)
def test_mistakes_are_named_with_file_and_line(bank, source, text, line, sentence):
    """Nothing that is unknown, missing or contradictory passes."""
    path = bank("mistake", text)

    with pytest.raises(CourseKitError) as caught:
        load_bank(bank.folder, source)

    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert sentence in str(caught.value)
