"""`coursekit answers`: hold the tests of a lab against a bank of answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from coursekit.errors import CourseKitError
from coursekit.grading.walls.sandbox import SANDBOXES, require_sandbox
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.grading.bank.answer_bank import BankAnswer
    from coursekit.grading.bank.run_answers import AnswerResult
    from coursekit.grading.judge.pool import PoolSettings

AS_EXPECTED = "as expected"


@click.command(epilog="Example: coursekit answers 02 my-bank/ -k shard")
@click.argument("lab")
@click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--jobs", "num_jobs", type=click.IntRange(min=1), help="Answers at a time.  [default: one for each core]")
@click.option("-k", "pattern", default="", help="Only answers with this text in their name or title.")
@click.option(
    "--timeout-s", type=click.FloatRange(min=1), default=600, show_default=True, help="For one run, of its own time."
)
@click.option("--load", "num_loops", type=click.IntRange(min=0), default=0, help="Busy loops beside the answers.")
@click.option("--messages", "all_messages", is_flag=True, help="Print what each failed test says, expected or not.")
@click.option("--sandbox", type=click.Choice(SANDBOXES), default="bwrap", show_default=True, help="What stands around.")
def answers(  # noqa: PLR0913, PLR0917  # one for each option
    lab: str,
    folder: Path | None,
    num_jobs: int | None,
    pattern: str,
    timeout_s: float,
    num_loops: int,
    all_messages: bool,
    sandbox: str,
) -> None:
    """Run a bank of right and wrong answers through the tests of LAB, and show where the tests disagree with it.

    The bank is tests/answers/LAB, or any folder DIR of the same form. For the former, the ranks that tests looked at
    are kept in its layouts.json.
    """
    root = find_root()
    (chosen,) = select_labs(root, [lab])
    require_sandbox(sandbox)
    # These bring nbgrader with them, and a mistake in the arguments should show before that is loaded.
    from coursekit.grading.bank.answer_bank import load_bank  # noqa: PLC0415
    from coursekit.grading.bank.properties import note_layouts  # noqa: PLC0415
    from coursekit.grading.bank.soak import busy  # noqa: PLC0415
    from coursekit.grading.judge.pool import PoolSettings, default_num_slots  # noqa: PLC0415
    from coursekit.grading.judge.slot import SubmissionLimits  # noqa: PLC0415
    from coursekit.labs.build.build import build_sources  # noqa: PLC0415

    source = build_sources(root, [chosen])[chosen.name]
    place = folder or root / "tests" / "answers" / chosen.name
    bank = _matching(load_bank(place, source), pattern)
    console = Console()
    settings = PoolSettings(num_jobs or default_num_slots(), sandbox, limits=SubmissionLimits(notebook_s=timeout_s))
    with busy(num_loops):
        results = _run(bank, source, settings, console)
    if folder is None:
        note_layouts(place, [score for result in results for score in result.scores])
    console.print(_table(chosen.name, results))
    different = [result for result in results if result.disagreements]
    if all_messages:
        for result in results:
            _tell(result, [f"{score.grade_id}: {score.message}" for score in result.scores if score.message], console)
    for result in different:
        _tell(result, result.disagreements, console)
    num_faults = sum(bool(result.fault) for result in results)
    more = f" {num_faults} not judged: the machine failed, not the answer." if num_faults else ""
    console.print(f"\n{len(results) - len(different)} of {len(results)} answers as expected.{more}", highlight=False)
    if different:
        raise SystemExit(1)


def _tell(result: AnswerResult, sentences: Sequence[str], console: Console) -> None:
    console.print(f"\n[bold]{result.answer.name}[/]: {result.answer.title}", highlight=False)
    for sentence in sentences:
        console.print(f"- {sentence}", markup=False, highlight=False, soft_wrap=True)


def _matching(bank: Sequence[BankAnswer], pattern: str) -> list[BankAnswer]:
    chosen = [answer for answer in bank if pattern.lower() in f"{answer.name}\n{answer.title}".lower()]
    if not chosen:
        names = ", ".join(answer.name for answer in bank)
        raise CourseKitError(f"no answer has {pattern!r} in its name or title; the answers are {names}.")
    return chosen


def _run(
    bank: Sequence[BankAnswer], source: Path, settings: PoolSettings, console: Console
) -> tuple[AnswerResult, ...]:
    from coursekit.grading.bank.run_answers import run_bank  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("answers", total=len(bank))

        def report(result: AnswerResult) -> None:
            progress.update(task, advance=1, description=result.answer.name)
            if not console.is_terminal:  # a log has no bar that moves
                console.print(f"{result.answer.name}: {_word(result)}, {_seconds(result)}", highlight=False)

        return run_bank(bank, source, settings, report)


def _table(lab_name: str, results: Sequence[AnswerResult]) -> Table:
    table = Table(title=f"Answers to {lab_name}", title_justify="left")
    for name in ("answer", "expected", "got", "time", ""):
        table.add_column(name, justify="left" if name in {"answer", ""} else "right")
    for result in results:
        verdict = f"[{'green' if _word(result) == AS_EXPECTED else 'red'}]{_word(result)}[/]"
        table.add_row(result.answer.name, f"{result.expected:g}", f"{result.got:g}", _seconds(result), verdict)
    return table


def _seconds(result: AnswerResult) -> str:
    """Return the time of a run; of one that answers shared, nobody knows whose it was."""
    shared = f" for {result.num_sharing} together" if result.num_sharing > 1 else ""
    return f"{result.seconds:.0f} s{shared}"


def _word(result: AnswerResult) -> str:
    if result.fault:
        return "needs another run"
    return "disagrees" if result.disagreements else AS_EXPECTED
