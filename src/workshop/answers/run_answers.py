"""Grade answers by the tests of a lab like hand-ins, and compare the verdicts with the bank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import nbformat

from coursekit.grading.judge.pool import PoolSettings, judge_all
from coursekit.grading.submission.cells import Cells
from coursekit.grading.submission.program import DRAWING, read_program
from coursekit.grading.submission.student_folder import Submission
from coursekit.grading.verdict import Verdict
from coursekit.labs.cells import CellScore
from workshop.affected_tests import LabCells
from workshop.answers.answer_bank import BankAnswer

NUM_THROUGH_OTHERS = 2  # how many wrong answers to a cell are also judged by the tests of other answers
# What students add to a notebook: a helper above, an experiment below. Neither may change the verdict on any answer.
HELPER, EXPERIMENT = "import math", "%reset -f"
TestsByAnswer = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class AnswerResult:
    """The verdict of a lab's tests on one answer."""

    answer: BankAnswer
    scores: tuple[CellScore, ...]  # one per test of the lab except the answer's consequences, in notebook order
    seconds: float  # wall-clock time of its run, which several answers may share
    fault: str = ""  # why the machine could not run it, or ''

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
        """One sentence for each test that disagrees with the bank, or one on the fault; empty if all agree."""
        if self.fault:
            return (f"it needs another run: {self.fault}",)
        return tuple(sentence for score in self.scores if (sentence := self._disagreement(score)))

    def _disagreement(self, score: CellScore) -> str:
        codes = self.answer.fails.get(score.grade_id)
        if codes is None:
            return "" if score.passed else f"{score.grade_id} must pass, but failed: {score.message}"
        if score.passed:
            return f"{score.grade_id} must fail, but passed"
        missing = [code for code in codes if (f"[{code}" if "." in code else code) not in score.message]
        return f"{score.grade_id} failed without {', '.join(missing)}: {score.message}" if missing else ""


def run_bank(
    answers: Sequence[BankAnswer],
    source_notebook: Path,
    settings: PoolSettings,
    report: Callable[[AnswerResult], None] = lambda _: None,
    *,
    alone: bool = False,
) -> tuple[AnswerResult, ...]:
    """Run answers, several at a time, and return their results in the order of the answers.

    Answers that do not affect the tests that others must fail share a run, as if one student had made all mistakes.
    A test that several of them must pass then runs only once, and fails if any of them makes it fail.
    Tests that count for no answer of a run (see `asked_tests`) are not run, and count as passed, as with the solution.
    With `alone`, each answer has a separate run, and is judged by all tests that it can affect.
    The source notebook is `build/source/<lab>/<lab>.ipynb`, which must have the cells of all answers.
    `report` is called with each result when it is ready.
    """
    return run_banks({source_notebook: answers}, settings, report, alone=alone)[source_notebook]


def run_banks(
    banks: Mapping[Path, Sequence[BankAnswer]],
    settings: PoolSettings,
    report: Callable[[AnswerResult], None] = lambda _: None,
    *,
    alone: bool = False,
) -> dict[Path, tuple[AnswerResult, ...]]:
    """Run the answers to several labs, by source notebook, in one pool, so that no slot waits for a lab to end.

    Answers start in the order given; see `run_bank` for everything else.
    """
    labs = {source: lab_of(source) for source in banks}
    asked = {source: asked_tests(answers, labs[source], all_in_reach=alone) for source, answers in banks.items()}
    shared = [
        (source, group)
        for source, answers in banks.items()
        for group in ([[one] for one in answers] if alone else share_runs(answers, labs[source], asked[source]))
    ]
    results: dict[tuple[Path, str], AnswerResult] = {}
    doubtful: list[tuple[Path, list[BankAnswer]]] = []
    for source, found in _run_groups(shared, labs, asked, settings):
        if len(found) > 1 and any(result.disagreements for result in found):
            # Two unusual answers may be right and still not fit together, so each is judged in a separate run.
            doubtful += [(source, [result.answer]) for result in found]
            continue
        for result in found:
            results[source, result.answer.name] = result
            report(result)
    for source, (result,) in _run_groups(doubtful, labs, asked, settings):
        results[source, result.answer.name] = result
        report(result)
    return {source: tuple(results[source, answer.name] for answer in answers) for source, answers in banks.items()}


def _run_groups(
    groups: Sequence[tuple[Path, list[BankAnswer]]],
    labs: Mapping[Path, LabCells],
    asked: Mapping[Path, TestsByAnswer],
    settings: PoolSettings,
) -> Iterator[tuple[Path, list[AnswerResult]]]:
    """Yield the results of each group of answers to a lab when they are ready."""
    named = {(source.stem, f"group-{number}"): (source, group) for number, (source, group) in enumerate(groups)}
    jobs = [job_of(name, group, source, labs[source], asked[source]) for (_, name), (source, group) in named.items()]
    sources = {source.stem: source for source, _ in groups}
    left_out = {one.student: names for one, names in jobs}
    for verdict in judge_all([one for one, _ in jobs], sources, settings, left_out) if jobs else ():
        source, group = named[verdict.lab, verdict.student]
        yield source, [_result(answer, labs[source], asked[source][answer.name], verdict) for answer in group]


def asked_tests(answers: Sequence[BankAnswer], lab: LabCells, *, all_in_reach: bool = False) -> TestsByAnswer:
    """Return the ids of the tests by which each answer is judged, by answer name.

    These are all tests that it can affect, with one exception. Whether a mistake in one answer costs points of another
    depends far more on the other's tests than on the mistake. So of the wrong answers to the same cells, only the first
    are judged by tests that they affect through another answer, unless `all_in_reach` is set.
    """
    asked = {}
    num_wrong = Counter[frozenset[str]]()
    for answer in answers:
        cells = frozenset(answer.cells)
        num_wrong[cells] += bool(answer.fails)
        reach = lab.tests_in_reach(answer.cells) if cells else frozenset(lab.ids[i] for i in lab.tests)
        if answer.fails and num_wrong[cells] > NUM_THROUGH_OTHERS and not all_in_reach:
            reach = lab.tests_in_direct_reach(answer.cells) | {*answer.fails}
        asked[answer.name] = reach
    return asked


def share_runs(answers: Sequence[BankAnswer], lab: LabCells, asked: TestsByAnswer) -> list[list[BankAnswer]]:
    """Group answers so that none can affect a test that another answer of its group must fail or may fail."""
    groups: list[list[BankAnswer]] = []
    reach = {answer.name: lab.tests_in_reach(answer.cells) for answer in answers}

    def disturbs(one: BankAnswer, other: BankAnswer, merged: Mapping[str, str]) -> bool:
        """Whether one may fail a test that counts for the other: by the bank, or through other answers' cells."""
        counts = asked[other.name] - other.consequences
        return bool(counts & {*one.fails, *one.consequences}) or bool(
            one.fails and counts & (lab.tests_in_reach(one.cells, merged) - reach[one.name])
        )

    def fit(group: Sequence[BankAnswer]) -> bool:
        merged = {name: source for answer in group for name, source in answer.cells.items()}
        are_apart = all(answer.cells for answer in group) and len(merged) == sum(len(one.cells) for one in group)
        return are_apart and not any(disturbs(one, other, merged) for one, other in permutations(group, 2))

    for answer in answers:
        group = next((group for group in groups if fit([*group, answer])), None)
        if group is None:
            groups.append([answer])
        else:
            group.append(answer)
    return groups


def lab_of(source_notebook: Path) -> LabCells:
    """Return the cells of a lab's source that grading runs."""
    notebook = nbformat.read(source_notebook, as_version=4)
    return LabCells([cell for cell in notebook.cells if DRAWING not in cell.metadata.get("tags", [])])


def job_of(
    name: str, group: Sequence[BankAnswer], source_notebook: Path, lab: LabCells, asked: TestsByAnswer
) -> tuple[Submission, tuple[str, ...]]:
    """Return a submission with these answers and otherwise the solution's, and the tests that are not run."""
    program = read_program(source_notebook.stem, nbformat.read(source_notebook, as_version=4))
    sources = {part.name: part.source for part in program.run if part.is_answer}
    changed = {name: source for answer in group for name, source in answer.cells.items()}
    consequences = frozenset().union(*(answer.consequences for answer in group))
    unasked = {lab.ids[i] for i in lab.tests}.difference(*(asked[answer.name] for answer in group))
    cells = lab.cells_to_run(changed, consequences | unasked)
    wanted = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells}
    left_out = tuple(part.name for part in program.judged if part.name not in wanted)
    around = (("", HELPER), (program.order[-1], EXPERIMENT))
    return Submission(name, source_notebook.stem, cells=Cells({**sources, **changed}, around)), left_out


def _result(answer: BankAnswer, lab: LabCells, asked: frozenset[str], verdict: Verdict) -> AnswerResult:
    """Return the scores of all tests except consequences; tests that do not count get the solution's full points."""
    if verdict.fault:
        return AnswerResult(answer, (), verdict.seconds, verdict.fault)
    found = {score.grade_id: score for score in verdict.scores}
    tests = [lab.cells[i].metadata.nbgrader for i in sorted(lab.tests)]
    scores = tuple(
        found[test.grade_id]
        if test.grade_id in asked
        else CellScore(test.grade_id, float(test.points), float(test.points), "")
        for test in tests
        if test.grade_id not in answer.consequences
    )
    return AnswerResult(answer, scores, verdict.seconds)
