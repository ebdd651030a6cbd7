"""`workshop attacks`: try to cheat the grader, and show the points that each attempt earns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn
from rich.table import Table

from coursekit.cli.shared import counting_bar
from coursekit.grading.isolation.sandbox import require_sandbox
from coursekit.grading.judge.slot import Slot
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import runnable
from coursekit.paths import find_root
from workshop.attacks.attack import Attack, load_attacks
from workshop.attacks.page import page
from workshop.attacks.trial import LIMITS, AttackedLab, AttackOutcome, run_attack
from workshop.cli.shared import BANK, TEXT, matching


@click.command(epilog="Example: workshop attacks -k frames")
@BANK
@TEXT
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write docs/attacks.md to FILE.")
def attacks(folder: Path | None, text: str, markdown: Path | None) -> None:
    """Try to cheat the grader, and report which attacks succeed.

    The table shows the points that each attack earned, and the flags that warn an instructor of the attack.
    The attacks are in tests/attacks, or in another folder DIR in the same format (docs/attacks.md).
    Cells with the role "hand-in" run on this machine with your permissions, so read the attacks before you run them.
    Exit status: 1 if an attack earns points, leaves a trace or raises no flag, else 0.
    """
    root = find_root()
    require_sandbox()
    bank = matching(load_attacks(folder or root / "tests" / "attacks"), text)
    console = Console()
    asked = select_labs(root, sorted({attack.lab for attack in bank}))
    sources = build_sources(root, runnable(asked, (), console.print))
    bank = [attack for attack in bank if attack.lab in sources]
    labs = {name: AttackedLab(name, source, root / "labs" / name / f"{name}.ipynb") for name, source in sources.items()}
    outcomes = _run(bank, labs, console)
    console.print(_table(outcomes))
    for outcome in outcomes:
        for sentence in outcome.complaints:
            console.print(f"- {outcome.attack.name}: {sentence}", markup=False, highlight=False, soft_wrap=True)
    bad = [outcome for outcome in outcomes if outcome.complaints]
    console.print(f"\n{len(outcomes) - len(bad)} of {len(outcomes)} attacks ended as they should.", highlight=False)
    if markdown:
        markdown.write_text(page(outcomes), encoding="utf-8")
    if bad:
        raise SystemExit(1)


def _run(bank: Sequence[Attack], labs: dict[str, AttackedLab], console: Console) -> list[AttackOutcome]:
    outcomes = []
    with Slot(LIMITS) as slot, counting_bar(console, TimeElapsedColumn()) as progress:
        task = progress.add_task("attacks", total=len(bank))
        for attack in bank:
            progress.update(task, description=attack.name)
            outcomes.append(run_attack(attack, labs[attack.lab], slot))
            progress.advance(task)
            if not console.is_terminal:  # a log has no moving bar
                state = "not as it should be" if outcomes[-1].complaints else "as it should be"
                console.print(f"{attack.name}: {state}, {outcomes[-1].verdict.seconds:.1f} s", highlight=False)
    return outcomes


def _table(outcomes: Sequence[AttackOutcome]) -> Table:
    table = Table(title="Attacks", title_justify="left")
    for name in ("attack", "class", "points", "flags", ""):
        table.add_column(name, justify="right" if name == "points" else "left")
    for outcome in outcomes:
        state = "[red]see below[/]" if outcome.complaints else "[green]as it should[/]"
        table.add_row(outcome.attack.name, outcome.attack.kind, f"{outcome.paid:g}", outcome.flags, state)
    return table
