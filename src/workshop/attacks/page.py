"""Generate the documentation's page on the points that attacks get; it is never written by hand."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import datetime, timezone

from coursekit.text import markdown_table
from workshop.attacks.trial import AttackOutcome

HEAD = """\
# Attacks on the grader

<!-- Made by `workshop attacks --markdown docs/attacks.md`: do not edit. -->

Each row is a submission that tries to get points for a wrong answer, or to do harm; the files are in `tests/attacks/`.
The column "points" shows how many points this kit gave for the tests that the attack must fail.
The flag `note` stands for a line in the report on the submission.
Submissions in the class "right" are correct answers that look odd; they must get their points.

Measured on {day} with `workshop attacks`: Python {python}, {cores} cores.

**{num_attacks} attacks: this kit gave points to {num_paid} of them.**

"""
COLUMNS = ("attack", "what it does", "class", "points", "flags that the instructor sees")

TAIL = """
## An attack of your own

Each file is named after its class of attacks and has the format of the [answer banks](../tests/answers/README.md).
Answers in `right.py` must raise no flags.
After each attack in `persistence.py`, an honest submission looks for traces of the attack.
`workshop attacks DIR` grades any folder of such files; `-k TEXT` selects attacks by a text in their name or title.
Its exit status is 1 if an attack gets points, leaves a trace, or does not raise a flag that it must raise.

```python
# %% always-equal
# title = "Return an object that is equal to everything"
# fails = ["loss-tests"]
# flags = ["odd result"]

# %% id="loss"
class Always: ...
```

| key | value |
| --- | --- |
| `title` | one line that says what the attack does |
| `lab` | optional: the lab that is submitted, if not `01-sgd` |
| `fails` | optional: the tests that must give no points; every other test must pass |
| `consequences` | optional: tests that may pass or fail, because they use the attacked answer |
| `flags` | optional: the flags that the instructor must see; `"one\\|other"` for either of two |

A cell with `id="<id>"` replaces the answer that has this id; an unmarked first cell replaces the answer `num-updates`.
All other answers are those of the solution.
A cell with `after="<id>"` is added after the cell that has this id.
A cell with `role="hand-in"` changes the submitted folder; it can use the names `folder`, `notebook` and `course`.
Such a cell runs on your machine with your permissions, so do not run a folder of attacks that you have not read.
`@MARK@` becomes a new word in each run; the word marks files, processes and sockets that an attack leaves behind.
`@COURSE@` is the path of a course folder that must not change.
"""


def page(outcomes: Sequence[AttackOutcome]) -> str:
    """Return the page as Markdown."""
    hostile = [outcome for outcome in outcomes if outcome.attack.kind != "right"]
    head = HEAD.format(
        day=datetime.now(tz=timezone.utc).date(),
        python=platform.python_version(),
        cores=os.cpu_count(),
        num_attacks=len(hostile),
        num_paid=sum(outcome.paid > 0 for outcome in hostile),
    )
    rows = sorted(outcomes, key=lambda one: (one.attack.kind == "right", one.attack.kind, one.attack.name))
    return head + markdown_table(COLUMNS, map(_row, rows)) + TAIL


def _row(outcome: AttackOutcome) -> tuple[str, ...]:
    attack = outcome.attack
    name = f"[{attack.name}](../tests/attacks/{attack.kind}.py)"
    points = f"{outcome.paid:g}" if attack.at_stake else ""
    return name, attack.title, attack.kind, points, outcome.flags
