"""`workshop soak`: judge the reference and some wrong answers many times, and tell every verdict that differs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from coursekit.cli.grade import IMAGE, JOBS, SANDBOX
from coursekit.cli.shared import LABS, counting_bar
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import PoolSettings, default_num_slots
from coursekit.grading.verdict import Verdict
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from workshop.answers.answer_bank import BankAnswer, load_bank
from workshop.answers.soak import Soaked, choose
from workshop.answers.soak import soak as soak_answers
from workshop.cli.shared import LOAD, TEXT, matching


@click.command(epilog="Example: workshop soak 01 02 --repeat 50")
@LABS
@click.option(
    "--repeat",
    "num_times",
    metavar="N",
    type=click.IntRange(min=2),
    default=50,
    show_default=True,
    help="Repetitions of each answer.",
)
@click.option(
    "--mutants",
    "num_mutants",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Wrong answers of each lab.",
)
@click.option(
    "--seed", metavar="N", type=int, default=1, show_default=True, help="Seed for the choice of wrong answers."
)
@TEXT
@JOBS
@LOAD
@SANDBOX
@IMAGE
def soak(  # noqa: PLR0913  # one for each option
    names: tuple[str, ...],
    *,
    num_times: int,
    num_mutants: int,
    seed: int,
    text: str,
    num_slots: int | None,
    num_loops: int,
    sandbox: str,
    image: Path | None,
) -> None:
    """Grade the solution and wrong answers of each LAB many times, and compare the verdicts.

    Without LAB, this is done for all labs. Every run has fresh inputs.
    With --load, each answer is first graded once without it, because no verdict may depend on speed.
    Exit status: 1 when points or messages differ between runs, or the machine fails, else 0.
    """
    root = find_root()
    labs = select_labs(root, names)
    require_sandbox(sandbox, image)
    console = Console()
    settings = PoolSettings(num_slots or default_num_slots(), sandbox, image)
    is_even = True
    for lab, source in build_sources(root, labs).items():
        bank = matching(load_bank(root / "tests" / "answers" / lab, source), text)
        answers = choose(bank, num_mutants, seed)
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
    started_s = time.monotonic()
    with counting_bar(console, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
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
