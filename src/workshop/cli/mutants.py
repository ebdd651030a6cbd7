"""`workshop mutants`: show small changes to a lab's solution that its tests miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn
from rich.table import Table

from coursekit.cli.grade import AT_A_TIME
from coursekit.cli.shared import LAB, counting_bar
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.pool import PoolSettings, default_num_slots
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import runnable
from coursekit.paths import find_root
from workshop.answers.mutants import Judged, judge_mutants, load_harmless, mutants_of, sample
from workshop.answers.mutate import Mutant

LIMITS = SubmissionLimits(notebook_s=300.0, cell_s=20.0)  # many mutants never end; a right answer takes seconds


@click.command(epilog="Example: workshop mutants 02 -k shard")
@LAB
@AT_A_TIME
@click.option("-k", "text", metavar="TEXT", default="", help="Only mutants with this text in their name.")
@click.option("--sample", "num_mutants", type=click.IntRange(min=1), help="Only this many mutants, the same each time.")
def mutants(lab: str, num_slots: int | None, text: str, num_mutants: int | None) -> None:
    """Make one small change at a time to the solution of LAB, and show which changes the lab's tests miss.

    tests/mutants/LAB.toml lists changes that the exercises allow, with the reasons; these changes are not judged.
    Exit status: 1 if any other change survives or cannot be judged, else 0.
    """
    root = find_root()
    (chosen,) = runnable(select_labs(root, [lab]), [lab], click.echo)
    require_sandbox()
    source = build_sources(root, [chosen])[chosen.name]
    found = mutants_of(source)
    harmless = load_harmless(root / "tests" / "mutants" / f"{chosen.name}.toml", found)
    wanted = [one for one in found if text.lower() in one.name.lower() and one.name not in harmless]
    wanted = sample(wanted, num_mutants) if num_mutants else wanted
    console = Console()
    judged = _run(wanted, source, PoolSettings(num_slots or default_num_slots(), LIMITS), console)
    console.print(_table(chosen.name, judged, harmless, found))
    survivors = [one.mutant for one in judged if one.survived]
    for mutant in survivors:
        console.print(f"\n[bold]{mutant.cell}[/]: {mutant.change}\n", highlight=False, end="")
        console.print(mutant.diff, markup=False, highlight=False, soft_wrap=True)
    faults = [one for one in judged if one.fault]
    more = f" {len(faults)} not judged: the machine failed, not the answer." if faults else ""
    num_refused = len(judged) - len(survivors) - len(faults)
    console.print(f"\n{num_refused} of {len(judged)} mutants refused.{more}", highlight=False)
    if survivors or faults:
        raise SystemExit(1)


def _run(wanted: Sequence[Mutant], source: Path, settings: PoolSettings, console: Console) -> list[Judged]:
    judged = []
    with counting_bar(console, TimeElapsedColumn()) as progress:
        task = progress.add_task("mutants", total=len(wanted))
        for one in judge_mutants(wanted, source, settings):
            judged.append(one)
            progress.update(task, advance=1, description=one.mutant.cell)
            if not console.is_terminal:  # a log has no moving bar
                state = one.fault or ("SURVIVED" if one.survived else "refused")
                console.print(f"{one.mutant.name}: {state}", markup=False, highlight=False, soft_wrap=True)
    return judged


def _table(lab: str, judged: Sequence[Judged], harmless: Mapping[str, str], found: Sequence[Mutant]) -> Table:
    """Return a table with the numbers of mutants for each exercise."""
    run, survived = (Counter(one.mutant.cell for one in some) for some in (judged, [o for o in judged if o.survived]))
    recorded = Counter(mutant.cell for mutant in found if mutant.name in harmless)
    table = Table(title=f"Mutants of {lab}", title_justify="left")
    for name in ("exercise", "judged", "refused", "survived", "recorded as harmless"):
        table.add_column(name, justify="left" if name == "exercise" else "right")
    for cell in dict.fromkeys(mutant.cell for mutant in found):
        if run[cell] or recorded[cell]:
            counts = (run[cell], run[cell] - survived[cell], survived[cell], recorded[cell])
            table.add_row(cell, *map(str, counts))
    return table
