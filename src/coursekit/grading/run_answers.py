"""Run answers through the tests of a lab, and compare what the tests say with what they must say."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import nbformat

from coursekit.grading.execute import execute
from coursekit.grading.points import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coursekit.grading.answer_bank import Answer
    from coursekit.grading.points import CellScore

# Cells that draw: nothing depends on them, and they take most of the time of a short lab.
SKIP_TAG = "picture"
ANSWER_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class AnswerResult:
    """What the tests of a lab made of one answer.

    Attributes:
        answer: The answer.
        scores: One per test of the lab, in the order of the notebook.
        seconds: Wall-clock time, with the start of the kernel.
    """

    answer: Answer
    scores: tuple[CellScore, ...]
    seconds: float

    @property
    def expected(self) -> float:
        """The points that the answer must earn."""
        return sum(score.max_points for score in self.scores if score.grade_id not in self.answer.fails)

    @property
    def got(self) -> float:
        """The points that it earned."""
        return sum(score.points for score in self.scores)

    @property
    def disagreements(self) -> tuple[str, ...]:
        """One sentence for each test that did not do what the bank says; none when all agree."""
        return tuple(sentence for score in self.scores if (sentence := self._disagreement(score)))

    def _disagreement(self, score: CellScore) -> str:
        words = self.answer.fails.get(score.grade_id)
        if words is None:
            return "" if score.passed else f"{score.grade_id} must pass, but failed: {score.message}"
        if score.passed:
            return f"{score.grade_id} must fail, but passed"
        missing = [word for word in words if word.lower() not in score.message.lower()]
        return f"{score.grade_id} failed without the words {missing}: {score.message}" if missing else ""


def run_answer(answer: Answer, source_notebook: Path, *, timeout_s: float = ANSWER_TIMEOUT_S) -> AnswerResult:
    """Execute and score a lab with one answer in place of the solution's.

    Args:
        answer: The answer; its cells must exist in the lab.
        source_notebook: The lab's source, `build/source/<lab>/<lab>.ipynb`; files beside it are copied too.
        timeout_s: Seconds for the whole notebook; tests that are not reached count as failed.
    """
    return asyncio.run(_run_answer(answer, source_notebook, timeout_s))


async def run_bank(
    answers: Sequence[Answer],
    source_notebook: Path,
    *,
    num_jobs: int,
    timeout_s: float = ANSWER_TIMEOUT_S,
    report: Callable[[AnswerResult], None] = lambda _: None,
) -> tuple[AnswerResult, ...]:
    """Run answers, `num_jobs` at a time; cancelling it (Ctrl-C under `asyncio.run`) ends every kernel.

    Args:
        answers: What to run.
        source_notebook: As for `run_answer`.
        num_jobs: How many notebooks may run at once.
        timeout_s: Seconds for each notebook.
        report: Called with each result when it is there.

    Returns:
        The results in the order of the answers.
    """
    gate = asyncio.Semaphore(num_jobs)

    async def run_one(answer: Answer) -> AnswerResult:
        async with gate:
            result = await _run_answer(answer, source_notebook, timeout_s)
        report(result)
        return result

    return tuple(await asyncio.gather(*map(run_one, answers)))


def default_num_jobs() -> int:
    """Return how many notebooks to run at once here: each starts two ranks or so."""
    return max(1, (os.cpu_count() or 1) // 2)


async def _run_answer(answer: Answer, source_notebook: Path, timeout_s: float) -> AnswerResult:
    started = monotonic()
    with _working_folder(source_notebook) as folder:
        executed = await execute(_answered(source_notebook, answer), folder, timeout_s, skip_tag=SKIP_TAG)
    return AnswerResult(answer, score(executed), monotonic() - started)


@contextmanager
def _working_folder(source_notebook: Path) -> Iterator[Path]:
    """Give each run a folder of its own with the files of the lab, so that no run sees what another wrote."""
    with tempfile.TemporaryDirectory(prefix="answer-") as name:
        folder = Path(name, source_notebook.stem)
        shutil.copytree(source_notebook.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", "train.py"))
        yield folder


def _answered(source_notebook: Path, answer: Answer) -> nbformat.NotebookNode:
    notebook = nbformat.read(source_notebook, as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answer.cells.get(grade_id, cell.source)
    return notebook
