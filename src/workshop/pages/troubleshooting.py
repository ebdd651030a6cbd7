"""`docs/troubleshooting.md`: messages, what they mean, and what to do.

The tables on Slurm are those with which `coursekit jobs` explains a job; everything else is in the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coursekit.slurm.jobs.explain import WHY_ENDED, WHY_REFUSED, WHY_WAITING, Hint
from coursekit.text import markdown_table

PAGE = "docs/troubleshooting.md"
TEMPLATE = "troubleshooting.md.j2"
HEAD = ("what you see", "what it means, and what to do")
# Words for what `coursekit submit` fills in from the site and the shell.
OF_A_SITE = {
    "account": "the account is missing, wrong or not for this partition: set `SBATCH_ACCOUNT`",
    "qos": " NAME",
    "qos_remedy": "set `SBATCH_QOS` to one that you may use, or unset it",
    "constraint": "",
    "partition": "NAME",
    "reservation": " NAME",
    "without": "unset `SBATCH_RESERVATION`",
    "time": "ask for a shorter time",
    "limits": "see `sacctmgr show assoc` and `sacctmgr show qos`",
    "script": "tell the course's instructors that the site's profile is out of date",
}


def page() -> str:
    """Return the text of the page."""
    environment = Environment(  # noqa: S701  # Markdown has nothing to escape
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template(TEMPLATE).render(
        waiting=_table((one, row.words.format(job_id="JOB")) for row in WHY_WAITING for one in row.examples),
        refused=_table((one, row.words.format(**OF_A_SITE)) for row in WHY_REFUSED for one in row.examples),
        states=_table((state, row.words.format(by="")) for row in WHY_ENDED for state in row.states),
        exit_codes=_table((code, row.words) for row in WHY_ENDED for code in row.exit_codes),
        log=_table((one, meaning(row, one)) for row in WHY_ENDED for one in row.examples),
    )


def meaning(row: Hint, example: str) -> str:
    """Return the words of a row on a log's message, with the name from the example filled in."""
    found = re.search(row.pattern, example)
    return row.words.format(name=next(filter(None, found.groupdict().values()), "") if found else "")


def _table(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a table in alphabetical order, in which messages with one meaning share a row."""
    seen: dict[str, list[str]] = {}
    for words, what in pairs:
        seen.setdefault(f"{what[0].upper()}{what[1:].rstrip('.')}.", []).append(f"`{words}`")
    rows = [(", ".join(sorted(group, key=str.casefold)), what) for what, group in seen.items()]
    return markdown_table(HEAD, sorted(rows, key=lambda row: row[0].casefold())).rstrip("\n")
