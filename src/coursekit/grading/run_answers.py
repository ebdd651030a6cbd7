"""Run answers through the tests of a lab, and compare what the tests say with what they must say."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import nbformat

from coursekit.grading.cell_score import CellScore
from coursekit.grading.concerned import Lab
from coursekit.grading.execute import execute
from coursekit.grading.points import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
        seconds: Wall-clock time of its run, with the start of the kernel; several answers may have shared it.
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

    Tests that the answer cannot reach (see `concerned`) are not run; they count as passed, as with the solution.

    Args:
        answer: The answer; its cells must exist in the lab.
        source_notebook: The lab's source, `build/source/<lab>/<lab>.ipynb`; files beside it are copied too.
        timeout_s: Seconds for the whole notebook; tests that are not reached count as failed.
    """
    return asyncio.run(run_bank([answer], source_notebook, num_jobs=1, timeout_s=timeout_s))[0]


async def run_bank(
    answers: Sequence[Answer],
    source_notebook: Path,
    *,
    num_jobs: int,
    timeout_s: float = ANSWER_TIMEOUT_S,
    report: Callable[[AnswerResult], None] = lambda _: None,
) -> tuple[AnswerResult, ...]:
    """Run answers, `num_jobs` notebooks at a time; cancelling it (Ctrl-C under `asyncio.run`) ends every kernel.

    Answers that cannot reach each other's tests share a notebook, as if one student had made all these mistakes.

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
    notebook = nbformat.read(source_notebook, as_version=4)
    lab = Lab([cell for cell in notebook.cells if DRAWING not in cell.metadata.get("tags", [])])

    async def run_group(group: Sequence[Answer]) -> list[AnswerResult]:
        async with gate:
            results = await _run_group(group, source_notebook, lab, timeout_s)
        for result in results:
            report(result)
        return results

    groups = await asyncio.gather(*map(run_group, share_runs(answers, lab)))
    by_name = {result.answer.name: result for results in groups for result in results}
    return tuple(by_name[answer.name] for answer in answers)


def share_runs(answers: Sequence[Answer], lab: Lab) -> list[list[Answer]]:
    """Put answers into groups of which none can reach a test that another one is about."""
    groups: list[list[Answer]] = []
    reach = {answer.name: lab.tests_in_reach(answer.cells) for answer in answers}
    asked = {answer.name: reach[answer.name] - answer.consequences for answer in answers}
    for answer in answers:
        for group in groups:
            apart = all(
                answer.cells
                and other.cells
                and not answer.cells.keys() & other.cells.keys()
                and not reach[answer.name] & asked[other.name]
                and not reach[other.name] & asked[answer.name]
                for other in group
            )
            if apart:
                group.append(answer)
                break
        else:
            groups.append([answer])
    return groups


def default_num_jobs() -> int:
    """Return how many notebooks to run at once here: each starts two ranks or so."""
    return max(1, (os.cpu_count() or 1) // 2)


async def _run_group(group: Sequence[Answer], source_notebook: Path, lab: Lab, timeout_s: float) -> list[AnswerResult]:
    started = monotonic()
    notebook = nbformat.read(source_notebook, as_version=4)
    sources = {name: source for answer in group for name, source in answer.cells.items()}
    left_out = frozenset().union(*(answer.consequences for answer in group))
    notebook.cells = deepcopy(lab.cells_to_run(sources, left_out))
    for cell in notebook.cells:
        cell.source = sources.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    with _working_folder(source_notebook) as folder:
        scores = {one.grade_id: one for one in score(await execute(notebook, folder, timeout_s))}
    seconds = monotonic() - started
    return [AnswerResult(answer, _scores_of(answer, lab, scores), seconds) for answer in group]


def _scores_of(answer: Answer, lab: Lab, scores: Mapping[str, CellScore]) -> tuple[CellScore, ...]:
    """Return the scores of all tests but the consequences; those out of reach have the solution's full points."""
    reach = lab.tests_in_reach(answer.cells) if answer.cells else frozenset(scores)
    tests = [lab.cells[i].metadata.nbgrader for i in sorted(lab.tests)]
    return tuple(
        scores[test.grade_id]
        if test.grade_id in reach
        else CellScore(test.grade_id, float(test.points), float(test.points), "")
        for test in tests
        if test.grade_id not in answer.consequences
    )


@contextmanager
def _working_folder(source_notebook: Path) -> Iterator[Path]:
    """Give each run a folder of its own with the files of the lab, so that no run sees what another wrote."""
    with tempfile.TemporaryDirectory(prefix="answer-") as name:
        folder = Path(name, source_notebook.stem)
        shutil.copytree(source_notebook.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", "train.py"))
        yield folder
