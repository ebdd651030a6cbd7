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

from coursekit.grading.concerned import concerned_cells
from coursekit.grading.execute import execute
from coursekit.grading.points import CellScore, is_test, score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nbformat import NotebookNode

    from coursekit.grading.answer_bank import Answer

# Cells that draw: nothing depends on them, and they take most of the time of a short lab.
DRAWING = "picture"
ANSWER_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class AnswerResult:
    """What the tests of a lab made of one answer.

    Attributes:
        answer: The answer.
        scores: One per test of the lab but the answer's consequences, in the order of the notebook.
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

    Tests that the answer does not concern (see `concerned`) are not run; they count as passed, as with the solution.

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
    notebook = nbformat.read(source_notebook, as_version=4)
    tests = [cell for cell in notebook.cells if is_test(cell)]
    tests = [test for test in tests if test.metadata.nbgrader.grade_id not in answer.consequences]
    cells = [cell for cell in notebook.cells if DRAWING not in cell.metadata.get("tags", [])]
    notebook.cells = concerned_cells(cells, answer.cells, left_out=answer.consequences)
    for cell in notebook.cells:
        cell.source = answer.cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    with _working_folder(source_notebook) as folder:
        executed = await execute(notebook, folder, timeout_s)
    scores = {one.grade_id: one for one in score(executed)}
    return AnswerResult(answer, tuple(_score_of(test, scores) for test in tests), monotonic() - started)


def _score_of(test: NotebookNode, scores: Mapping[str, CellScore]) -> CellScore:
    """Return a test's score; one that the answer does not concern has the full points of the solution."""
    name, points = test.metadata.nbgrader.grade_id, float(test.metadata.nbgrader.points)
    return scores.get(name, CellScore(name, points, points, ""))


@contextmanager
def _working_folder(source_notebook: Path) -> Iterator[Path]:
    """Give each run a folder of its own with the files of the lab, so that no run sees what another wrote."""
    with tempfile.TemporaryDirectory(prefix="answer-") as name:
        folder = Path(name, source_notebook.stem)
        shutil.copytree(source_notebook.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", "train.py"))
        yield folder
