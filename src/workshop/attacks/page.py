"""The page of the documentation on the points that attacks get: generated, never written by hand."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import version

from coursekit.text import markdown_table
from workshop.attacks.attack import CLASSES
from workshop.attacks.trial import AttackOutcome

HEAD = """\
# Attacks on the grader

<!-- Made by `workshop attacks --baseline --markdown docs/attacks.md`: do not edit. -->

Each row is a submission that tries to get points for a wrong answer, or to do harm; the files are in `tests/attacks/`.
The column "this kit" has the points that this kit gave for the tests that the attack must fail.
The column "nbgrader" has the points that `nbgrader autograde`, with its default settings, gave for the same tests.
The flag `note` stands for a line of the report on the submission.
Rows of the class "right" are right answers that look odd, and must get their point.

Measured on {day} with `workshop attacks --baseline`: Python {python}, nbgrader {nbgrader}, {cores} cores.
For nbgrader, lab 01 was reduced to its cells without pictures and TensorFlow.
nbgrader ran in a temporary course in a sandbox, so that no attack harmed the machine.
An attack that would harm it even so, or that needs a different lab, was not run with nbgrader.

**{num_attacks} attacks: this kit gave points to {num_paid}.
{num_tried} of them ask for points and were tried on stock nbgrader, which gave points to {num_before}.**

"""
COLUMNS = ("attack", "what it does", "class", "nbgrader", "this kit", "flags that the instructor sees")

TAIL = """
## An attack of your own

`workshop attacks DIR` grades a folder of such files from anywhere, `-k TEXT` only some of them.
Its exit status is 1 when one of them gets points, leaves a trace, or lacks a flag that it must raise.

```python
# /// attack
# title = "Return an object that is equal to everything"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["loss-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="loss"
class Always: ...
```

| key | value |
| --- | --- |
| `title` | one line that says what it tries |
| `lab` | the lab that is submitted |
| `class` | {classes} |
| `catalogue` | optional: numbers of the attack in other lists |
| `fails` | the tests that must give nothing; every other test must give its points |
| `consequences` | optional: tests that may go either way, since they use what is attacked |
| `flags` | what the run must show the instructor, often nothing; `"one\\|other"` for one of two |
| `baseline` | optional: why it is not tried on stock nbgrader |

A cell with `role="answer"` replaces that answer; all others are the solution's.
A cell with `after="<id>"` is added after the cell with this id.
A cell with `role="hand-in"` changes the submitted folder, with the names `folder`, `notebook` and `course`.
It runs on your machine with your rights, so try no folder that you have not read.
`@MARK@` becomes a different word in each run: it marks files, processes and sockets that are left behind.
`@COURSE@` is the path of a course folder that must stay as it is.
"""


def page(outcomes: Sequence[AttackOutcome], paid_before: Mapping[str, float]) -> str:
    """Return the page as Markdown; `paid_before` says by name what points stock nbgrader gave."""
    hostile = [outcome for outcome in outcomes if outcome.attack.kind != "right"]
    cheats = [paid_before[one.attack.name] for one in hostile if one.attack.name in paid_before and one.attack.fails]
    head = HEAD.format(
        day=datetime.now(tz=timezone.utc).date(),
        python=platform.python_version(),
        nbgrader=version("nbgrader"),
        cores=os.cpu_count(),
        num_attacks=len(hostile),
        num_paid=sum(outcome.paid > 0 for outcome in hostile),
        num_before=sum(points > 0 for points in cheats),
        num_tried=len(cheats),
    )
    rows = sorted(outcomes, key=lambda one: (one.attack.kind == "right", one.attack.kind, one.attack.name))
    tail = TAIL.replace("{classes}", ", ".join(f"`{name}`" for name in CLASSES))
    return head + markdown_table(COLUMNS, [_row(outcome, paid_before) for outcome in rows]) + tail


def _row(outcome: AttackOutcome, paid_before: Mapping[str, float]) -> tuple[str, ...]:
    attack = outcome.attack
    if attack.name not in paid_before:
        before = f"not run: {attack.baseline}" if attack.baseline else "not run"
    else:
        before = f"{paid_before[attack.name]:g}" if attack.at_stake else ""
    flags = ", ".join(sorted({flag.kind for flag in outcome.verdict.flags}))
    own = f"{outcome.paid:g}" if attack.at_stake else ""
    name = f"[{attack.name}](../tests/attacks/{attack.name}.py)"
    number = f" ({', '.join(attack.catalogue)})" if attack.catalogue else ""
    return name, f"{attack.title}{number}", attack.kind, before, own, flags
