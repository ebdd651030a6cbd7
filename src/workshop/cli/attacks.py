"""`workshop attacks`: try to cheat the grader, and show which points that gets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn
from rich.table import Table

from coursekit.cli.grade import IMAGE
from coursekit.cli.shared import counting_bar
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.slot import Slot
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from workshop.attacks.attack import Attack, load_attacks
from workshop.attacks.baseline import LAB, measure
from workshop.attacks.page import page
from workshop.attacks.trial import LIMITS, AttackedLab, AttackOutcome, run_attack
from workshop.cli.shared import BANK, TEXT, matching


@click.command(epilog="Example: workshop attacks -k frames --baseline")
@BANK
@TEXT
@click.option("--baseline", is_flag=True, help="Also measure the points that plain nbgrader gives, in a sandbox.")
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write the page docs/attacks.md.")
@click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "apptainer"]),
    default="bwrap",
    show_default=True,
    help="Sandbox to grade in.",
)
@IMAGE
def attacks(  # noqa: PLR0913, PLR0917  # click hands the options over by name
    folder: Path | None, text: str, baseline: bool, markdown: Path | None, sandbox: str, image: Path | None
) -> None:
    """Try to cheat the grader, and report which attacks succeed.

    For each attack, the table has the points that it earned, and whether an instructor is warned of it.
    The attacks are in tests/attacks, or in another folder DIR of the same form (docs/attacks.md).
    Cells with the role "hand-in" run on this machine with your rights, so read a folder before you try it.
    Exit status: 1 when an attack earns points, leaves a trace or raises no flag, else 0.
    """
    root = find_root()
    require_sandbox(sandbox, image)
    place = folder or root / "tests" / "attacks"
    bank = matching(load_attacks(place), text)
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
        markdown.write_text(page(outcomes, paid_before), encoding="utf-8")
    if bad:
        raise SystemExit(1)


def _courses(root: Path, bank: Sequence[Attack]) -> dict[str, AttackedLab]:
    labs = select_labs(root, sorted({attack.lab for attack in bank}))
    sources = build_sources(root, labs)
    return {name: AttackedLab(name, source, root / "labs" / name / f"{name}.ipynb") for name, source in sources.items()}


def _run(
    bank: Sequence[Attack], courses: dict[str, AttackedLab], console: Console, sandbox: str, image: Path | None
) -> list[AttackOutcome]:
    outcomes = []
    with Slot(sandbox, LIMITS, image=image) as slot, counting_bar(console, TimeElapsedColumn()) as progress:
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
    tried = [(attack, place / f"{attack.name}.py") for attack in bank if attack.lab == LAB and not attack.baseline]
    paid = {}
    with console.status("stock nbgrader") as status:
        for name, points in measure(tried, courses[LAB].source) if tried else ():
            paid[name] = points
            status.update(f"stock nbgrader: {name}")
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
