"""docs/troubleshooting.md shows messages that really come, in words that can be searched."""

import ast
import re
from pathlib import Path

import pytest

from coursekit.slurm.jobs.explain import WHY_ENDED, WHY_WAITING, explain, explain_pending
from coursekit.slurm.jobs.slurm_cli import JobState
from workshop.pages.troubleshooting import PAGE, TEMPLATE, meaning, page

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
WRITTEN = (ROOT / "src/workshop/pages" / TEMPLATE).read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`.*?`) \| .* \|$", re.MULTILINE)
OF_LOGS = [(row, example) for row in WHY_ENDED for example in row.examples]
FILLED_IN = "…"


def messages():
    """Yield every text in the product and the tools, with a mark in place of what is filled in."""
    for path in (*(ROOT / "src/coursekit").rglob("*.py"), *(ROOT / "tools").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(one.value) if isinstance(one, ast.Constant) else FILLED_IN for one in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.sub(r"\{[^{}]*\}", FILLED_IN, node.value)  # a text of a table, filled in by `format`
    yield re.sub(r"\$\{?\w+\}?", FILLED_IN, (ROOT / "tools/make-env").read_text(encoding="utf-8"))


def test_the_committed_page_is_fresh():
    """`workshop pages` would not change a byte of it."""
    assert page() == TEXT


def test_messages_that_are_written_by_hand_are_those_of_the_kit():
    """Each message in a table of the template stands in the code that prints it."""
    texts = list(messages())
    quoted = [one.strip(f"`{FILLED_IN} ") for one in ROW.findall(WRITTEN)]
    assert len(quoted) > 40
    assert [one for one in quoted if not any(one in text for text in texts)] == []


@pytest.mark.parametrize(("row", "example"), OF_LOGS, ids=[example for _, example in OF_LOGS])
def test_what_a_log_says_is_explained_as_on_the_page(row, example):
    """`coursekit jobs` gives for an example of the page the words beside it, and they come first."""
    assert explain(JobState("FAILED", exit_code="1:0"), f"{example}\n")[0].words == meaning(row, example)


def test_what_a_waiting_job_says_is_explained_as_on_the_page():
    """`coursekit jobs` finds the row of each example."""
    examples = [(row.words.format(job_id="5"), example) for row in WHY_WAITING for example in row.examples]
    expected = [f"Job 5 waits: {words} ({example})." for words, example in examples]
    assert [explain_pending("5", example) for _, example in examples] == expected


def test_no_reader_sees_an_expression():
    """What a table shows without an example of its own is plain words."""
    plain = [row.pattern for row in (*WHY_WAITING, *WHY_ENDED) if not row.seen]
    assert [pattern for pattern in plain if re.search(r"[\\^$.*+?{}()\[\]]|\|$|^\|", pattern)] == []


def test_each_table_is_in_alphabetical_order():
    """The page says so, and readers search by the first letter."""
    tables = [ROW.findall(table) for table in TEXT.split("\n\n") if table.startswith("| what you see")]
    assert len(tables) == 9
    assert tables == [sorted(table, key=str.casefold) for table in tables]
