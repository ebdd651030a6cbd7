"""`workshop answers`: check the tests of a lab with a bank of answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn
from rich.table import Table

from coursekit.cli.grade import AT_A_TIME, TIMEOUT
from coursekit.cli.shared import LAB, counting_bar
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import PoolSettings, default_num_slots
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import runnable
from coursekit.paths import find_root
from workshop.answers.answer_bank import BankAnswer, load_bank
from workshop.answers.run_answers import AnswerResult, run_bank
from workshop.cli.shared import BANK, TEXT, matching

AS_EXPECTED = "as expected"


@click.command(epilog="Example: workshop answers 02 my-bank/ -k shard")
@LAB
@BANK
@AT_A_TIME
@TEXT
@TIMEOUT
@click.option("--alone", is_flag=True, help="Run each answer in its own notebook, with all tests that it can affect.")
@click.option("--messages", "all_messages", is_flag=True, help="Print the messages of all failed tests.")
def answers(  # noqa: PLR0913, PLR0917  # one for each option
    lab: str,
    folder: Path | None,
    num_slots: int | None,
    text: str,
    timeout_s: float,
    alone: bool,
    all_messages: bool,
) -> None:
    """Check the tests of LAB with right and wrong answers, and show where the tests are wrong.

    The answers are in tests/answers/LAB, or in another folder DIR in the same format.
    """
    root = find_root()
    (chosen,) = runnable(select_labs(root, [lab]), [lab], click.echo)
    require_sandbox()
    source = build_sources(root, [chosen])[chosen.name]
    place = folder or root / "tests" / "answers" / chosen.name
    bank = matching(load_bank(place, source), text)
    console = Console()
    settings = PoolSettings(num_slots or default_num_slots(), SubmissionLimits(notebook_s=timeout_s))
    results = _run(bank, source, settings, console, alone=alone)
    console.print(_table(chosen.name, results))
    different = [result for result in results if result.disagreements]
    if all_messages:
        for result in results:
            _tell(result, [f"{score.grade_id}: {score.message}" for score in result.scores if score.message], console)
    for result in different:
        _tell(result, result.disagreements, console)
    num_faults = sum(bool(result.fault) for result in results)
    more = f" {num_faults} not judged: the machine failed, not the answer." if num_faults else ""
    how = "each in a separate run" if alone else "in shared runs if they do not affect each other"
    console.print(
        f"\n{len(results) - len(different)} of {len(results)} answers as expected, {how}.{more}", highlight=False
    )
    if different:
        raise SystemExit(1)


def _tell(result: AnswerResult, sentences: Sequence[str], console: Console) -> None:
    console.print(f"\n[bold]{result.answer.name}[/]: {result.answer.title}", highlight=False)
    for sentence in sentences:
        console.print(f"- {sentence}", markup=False, highlight=False, soft_wrap=True)


def _run(
    bank: Sequence[BankAnswer], source: Path, settings: PoolSettings, console: Console, *, alone: bool
) -> tuple[AnswerResult, ...]:
    with counting_bar(console, TimeElapsedColumn()) as progress:
        task = progress.add_task("answers", total=len(bank))

        def report(result: AnswerResult) -> None:
            progress.update(task, advance=1, description=result.answer.name)
            if not console.is_terminal:  # a log has no moving bar
                console.print(f"{result.answer.name}: {_word(result)}, {result.seconds:.0f} s", highlight=False)

        return run_bank(bank, source, settings, report, alone=alone)


def _table(lab_name: str, results: Sequence[AnswerResult]) -> Table:
    table = Table(title=f"Answers to {lab_name}", title_justify="left")
    for name in ("answer", "expected", "got", "time", ""):
        table.add_column(name, justify="left" if name in {"answer", ""} else "right")
    for result in results:
        verdict = f"[{'green' if _word(result) == AS_EXPECTED else 'red'}]{_word(result)}[/]"
        table.add_row(result.answer.name, f"{result.expected:g}", f"{result.got:g}", f"{result.seconds:.0f} s", verdict)
    return table


def _word(result: AnswerResult) -> str:
    if result.fault:
        return "needs another run"
    return "disagrees" if result.disagreements else AS_EXPECTED
