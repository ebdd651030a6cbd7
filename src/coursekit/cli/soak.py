"""`coursekit soak`: judge the reference and some wrong answers many times, and tell every verdict that differs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from coursekit.errors import CourseKitError
from coursekit.grading.walls.sandbox import SANDBOXES, require_sandbox
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coursekit.grading.bank.answer_bank import BankAnswer
    from coursekit.grading.bank.soak import Soaked
    from coursekit.grading.judge.pool import PoolSettings
    from coursekit.grading.verdict import Verdict


@click.command(epilog="Example: coursekit soak 01 02 --times 50")
@click.argument("names", metavar="[LAB]...", nargs=-1)
@click.option("--times", "num_times", type=click.IntRange(min=2), default=50, show_default=True, help="Of each answer.")
@click.option(
    "--mutants", "num_mutants", type=click.IntRange(min=0), default=10, show_default=True, help="Of each lab."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the draw of mutants.")
@click.option("-k", "pattern", default="", help="Only answers with this text in their name.")
@click.option("--jobs", "num_slots", type=click.IntRange(min=1), help="Answers at a time.  [default: one per core]")
@click.option(
    "--load", "num_loops", type=click.IntRange(min=0), default=0, help="Busy loops beside them: a machine in need."
)
@click.option("--sandbox", type=click.Choice(SANDBOXES), default="bwrap", show_default=True, help="What stands around.")
def soak(  # noqa: PLR0913  # one for each option
    names: tuple[str, ...],
    *,
    num_times: int,
    num_mutants: int,
    seed: int,
    pattern: str,
    num_slots: int | None,
    num_loops: int,
    sandbox: str,
) -> None:
    """Judge the solution of LABs, or of all, and wrong answers of their banks, many times with fresh inputs.

    Exit status 1 tells that points or missing properties were not always the same, or that the machine failed.
    With --load each answer is judged once without it first: no verdict may depend on speed.
    """
    root = find_root()
    labs = select_labs(root, names)
    require_sandbox(sandbox)
    # These bring nbgrader with them, and a mistake in the arguments should show before that is loaded.
    from coursekit.grading.bank.answer_bank import load_bank  # noqa: PLC0415
    from coursekit.grading.bank.soak import choose  # noqa: PLC0415
    from coursekit.grading.judge.pool import PoolSettings, default_num_slots  # noqa: PLC0415
    from coursekit.labs.build.build import build_sources  # noqa: PLC0415

    console = Console()
    settings = PoolSettings(num_slots or default_num_slots(), sandbox)
    is_even = True
    for lab, source in build_sources(root, labs).items():
        bank = [one for one in load_bank(root / "tests" / "answers" / lab, source) if pattern in one.name]
        answers = choose(bank, num_mutants, seed)
        if pattern and len(answers) == 1:
            raise CourseKitError(f"no wrong answer to {lab} has {pattern!r} in its name.")
        is_even = _soak(lab, answers, source, num_times, num_loops, settings, console) and is_even
    if not is_even:
        raise SystemExit(1)


def _soak(  # noqa: PLR0913, PLR0917  # of `soak`
    lab: str,
    answers: Sequence[BankAnswer],
    source: Path,
    num_times: int,
    num_loops: int,
    settings: PoolSettings,
    console: Console,
) -> bool:
    """Soak one lab, tell how it went, and return whether every verdict was the same."""
    from coursekit.grading.bank.soak import soak as soak_answers  # noqa: PLC0415  # as above

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    started_s = time.monotonic()
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task(lab, total=len(answers) * num_times)

        def report(verdict: Verdict) -> None:
            progress.update(task, advance=1, description=f"{lab} {verdict.student}")
            num_done = int(progress.tasks[0].completed)
            if not console.is_terminal and num_done % len(answers) == 0:  # a log has no bar that moves
                console.print(f"{lab}: {num_done} of {len(answers) * num_times} verdicts", highlight=False)

        soaked = soak_answers(answers, source, num_times, settings, report, num_loops)
    return tell(lab, soaked, num_times, time.monotonic() - started_s, console)


def tell(lab: str, soaked: Sequence[Soaked], num_times: int, seconds: float, console: Console) -> bool:
    """Print what differed and what failed; return whether nothing did."""
    uneven = [one for one in soaked if one.differences]
    for one in soaked:
        for sentence in (*one.differences, *(f"needs another run: {fault}" for fault in one.faults)):
            console.print(f"{lab} {one.name}: {sentence}", markup=False, highlight=False, soft_wrap=True)
    num_faults = sum(len(one.faults) for one in soaked)
    more = f"; {num_faults} times the machine failed" if num_faults else ""
    console.print(
        f"{lab}: {len(soaked) - len(uneven)} of {len(soaked)} answers had the same verdict {num_times} times{more} "
        f"({seconds:.0f} s)",
        highlight=False,
    )
    return not uneven and not num_faults
