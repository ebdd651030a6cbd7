"""`coursekit attacks`: try to cheat the grader, and show what that pays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from coursekit.errors import CourseKitError
from coursekit.grading.walls.sandbox import require_sandbox
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.grading.attacks.attack import Attack
    from coursekit.grading.attacks.trial import AttackedLab, AttackOutcome


@click.command(epilog="Example: coursekit attacks -k frames --baseline")
@click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("-k", "pattern", default="", help="Only attacks with this text in their name, title or class.")
@click.option("--baseline", is_flag=True, help="Also measure what nbgrader as it comes pays, behind a wall.")
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the table as a page, as docs/attacks.md.")
@click.option("--sandbox", type=click.Choice(["bwrap", "apptainer"]), default="bwrap", show_default=True)
@click.option("--image", type=click.Path(path_type=Path), help="The container image, for Apptainer.")
def attacks(  # noqa: PLR0913, PLR0917  # click hands the options over by name
    folder: Path | None, pattern: str, baseline: bool, markdown: Path | None, sandbox: str, image: Path | None
) -> None:
    """Grade a folder of attacks, and say which were paid, which no instructor would see, and what they left behind.

    The folder is tests/attacks, or any folder DIR of the same form (docs/attacks.md).
    Cells with the role "hand-in" run on this machine with your rights, so try no folder that you have not read.
    The exit status is 1 when an attack pays, leaves a trace or raises no flag.
    """
    root = find_root()
    require_sandbox(sandbox, image)
    # This brings nbgrader with it, and a mistake in the arguments should show before that is loaded.
    from coursekit.grading.attacks.attack import load_attacks  # noqa: PLC0415

    place = folder or root / "tests" / "attacks"
    bank = _matching(load_attacks(place), pattern)
    console = Console()
    courses = _courses(root, bank)
    outcomes = _run(bank, courses, console, sandbox, image)
    paid_before = _measure(bank, place, courses, console) if baseline else {}
    console.print(_table(outcomes, paid_before))
    for outcome in outcomes:
        for sentence in outcome.complaints:
            console.print(f"- {outcome.attack.name}: {sentence}", markup=False, highlight=False, soft_wrap=True)
    bad = [outcome for outcome in outcomes if outcome.complaints]
    console.print(f"\n{len(outcomes) - len(bad)} of {len(outcomes)} attacks ended as they should.", highlight=False)
    if markdown:
        from coursekit.grading.attacks.page import page  # noqa: PLC0415

        markdown.write_text(page(outcomes, paid_before), encoding="utf-8")
    if bad:
        raise SystemExit(1)


def _matching(bank: Sequence[Attack], pattern: str) -> list[Attack]:
    chosen = [one for one in bank if pattern.lower() in f"{one.name}\n{one.title}\n{one.kind}".lower()]
    if not chosen:
        raise CourseKitError(f"no attack has {pattern!r} in its name, title or class.")
    return chosen


def _courses(root: Path, bank: Sequence[Attack]) -> dict[str, AttackedLab]:
    from coursekit.grading.attacks.trial import AttackedLab  # noqa: PLC0415
    from coursekit.labs.build.build import build_sources  # noqa: PLC0415

    labs = select_labs(root, sorted({attack.lab for attack in bank}))
    sources = build_sources(root, labs)
    return {name: AttackedLab(name, source, root / "labs" / name / f"{name}.ipynb") for name, source in sources.items()}


def _run(
    bank: Sequence[Attack], courses: dict[str, AttackedLab], console: Console, sandbox: str, image: Path | None
) -> list[AttackOutcome]:
    from coursekit.grading.attacks.trial import LIMITS, run_attack  # noqa: PLC0415
    from coursekit.grading.judge.slot import Slot  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    outcomes = []
    with Slot(sandbox, LIMITS, image=image) as slot, Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("attacks", total=len(bank))
        for attack in bank:
            progress.update(task, description=attack.name)
            outcomes.append(run_attack(attack, courses[attack.lab], slot))
            progress.advance(task)
            if not console.is_terminal:  # a log has no bar that moves
                state = "not as it should be" if outcomes[-1].complaints else "as it should be"
                console.print(f"{attack.name}: {state}, {outcomes[-1].verdict.seconds:.1f} s", highlight=False)
    return outcomes


def _measure(
    bank: Sequence[Attack], place: Path, courses: dict[str, AttackedLab], console: Console
) -> dict[str, float]:
    from coursekit.grading.attacks.baseline import LAB, measure  # noqa: PLC0415

    tried = [(attack, place / f"{attack.name}.py") for attack in bank if attack.lab == LAB and not attack.baseline]
    paid = {}
    with console.status("nbgrader as it comes") as status:
        for name, points in measure(tried, courses[LAB].source) if tried else ():
            paid[name] = points
            status.update(f"nbgrader as it comes: {name}")
    return paid


def _table(outcomes: Sequence[AttackOutcome], paid_before: dict[str, float]) -> Table:
    table = Table(title="Attacks", title_justify="left")
    for name in ("attack", "class", "nbgrader pays", "this kit pays", "flags", ""):
        table.add_column(name, justify="right" if name.endswith("pays") else "left")
    for outcome in outcomes:
        attack = outcome.attack
        before = f"{paid_before[attack.name]:g}" if attack.name in paid_before else "not run"
        state = "[red]see below[/]" if outcome.complaints else "[green]as it should[/]"
        flags = ", ".join(sorted({flag.kind for flag in outcome.verdict.flags}))
        table.add_row(attack.name, attack.kind, before, f"{outcome.paid:g}", flags, state)
    return table
