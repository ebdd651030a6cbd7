"""Why a student's server waits, was refused or is gone: the sentences that the hub's pages show.

The words are those of `coursekit.slurm.jobs`, but for what reads otherwise in a browser: fields of the form in place of
variables, and a server in place of a script.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from coursekit.slurm.jobs.explain import explain
from coursekit.slurm.jobs.failure_hints import Hint
from coursekit.slurm.jobs.refusals import explain_refusal
from coursekit.slurm.jobs.states import COMPLETED, UNKNOWN
from coursekit.slurm.sites.profile_text import account, format_minutes

if TYPE_CHECKING:
    from coursekit.jupyter.hub.form import ServerWish
    from coursekit.slurm.jobs.states import JobState
    from coursekit.slurm.sites.profile import Site

MINUTE_S, DAY_S = 60, 86400
SAVED = "Notebooks are as they were last saved."
ENDINGS = {
    "TIMEOUT": f"It reached its time limit. {SAVED} Start it again, with more minutes if you need them.",
    "NODE_FAIL": f"A node failed under it, which is not your fault. {SAVED} Start it again.",
    "BOOT_FAIL": "A node did not start, which is not your fault. Start it again.",
    "PREEMPTED": f"It had to make room for a more important job. {SAVED} Start it again.",
    COMPLETED: f"It was shut down from within. {SAVED}",
}
# What `batchspawner-singleuser` says on a node that cannot reach the hub; `slurm.jobs` takes it for the internet.
NO_HUB = re.compile(r"Max retries exceeded with url: \S*/api/batchspawner")
NO_HUB_WORDS = (
    "Its node did not reach the hub, which is not your fault: tell the course's instructors. "
    "(COURSEKIT_HUB_ADDRESS is to be an address of the hub that nodes see.)"
)
REFUSALS: tuple[Hint, ...] = (
    Hint("Invalid account or account/partition combination", "{account}"),
    Hint("Requested time limit is invalid", "{minutes} min are more than {partition} or its QOS allows: ask for less"),
    Hint(
        "reservation",
        "the reservation {reservation} does not exist, is not open now, or is not for your project: "
        "ask the course's instructors, or leave the field empty",
    ),
    Hint("Invalid qos specification", "its QOS is not for your project there: take another partition, or ask support"),
    Hint("Socket timed out", "Slurm is too busy to answer: try again in a minute"),
    Hint("Requested node configuration is not available", "no such nodes are in {partition}: ask for fewer or others"),
)


def explain_refused(words: str, site: Site, wish: ServerWish) -> str:
    """Return one sentence on why Slurm refused a server, in the words of the form."""
    facts = {
        "account": _account(site, wish),
        "minutes": str(wish.time_min),
        "partition": wish.partition,
        "reservation": wish.reservation,
    }
    for pattern, sentence in REFUSALS:
        if pattern.lower() in words.lower():
            return f"{site.name} refused your server: {sentence.format(**facts)}. Slurm says: {words}."
    return explain_refusal(words, site, wish.partition)


def explain_ended(job_id: str, state: JobState, log: str = "", log_name: str = "") -> str:
    """Return why a server is gone and since when; `log` is the end of the job's log, `log_name` where it lies."""
    if state.state == UNKNOWN:
        return f"Your server is gone: Slurm no longer knows its job {job_id}. {SAVED}"
    ran_s = seconds(state.elapsed)
    at = f" at {_end(state.start, ran_s)}" if ran_s else ""
    after = f" after {_in_words(ran_s)}" if ran_s else " at once"
    where = f" on {state.nodes}" if state.nodes else ""
    return f"Your server (job {job_id}{where}) ended{at}{after}: {_cause(state, log, log_name)}"


def explain_too_long(waits: str, limit_s: float) -> str:
    """Return what to say of a server whose job was cancelled since it waited too long; `waits` says why it did."""
    return (
        f"After {_in_words(limit_s)} without a start, the longest that the hub waits, the job was cancelled. {waits} "
        "Ask for fewer nodes or less time, or try another partition."
    )


def seconds(elapsed: str) -> int:
    """Return a time as Slurm writes it, `[days-]hours:minutes:seconds` or shorter, in seconds; 0 for none."""
    days, _, clock = elapsed.rpartition("-")
    total = 0
    try:
        for part in clock.split(":"):
            total = total * MINUTE_S + int(part)
        return total + int(days or 0) * DAY_S
    except ValueError:
        return 0


def _in_words(time_s: float) -> str:
    return format_minutes(round(time_s / MINUTE_S)) if time_s >= MINUTE_S else f"{time_s:g} s"


def _cause(state: JobState, log: str, log_name: str) -> str:
    if NO_HUB.search(log):
        return NO_HUB_WORDS
    words = ENDINGS.get(state.state) or " ".join(each.words for each in explain(state, log)[:1])
    more = f"Its log {log_name} says more." if log_name and state.state not in ENDINGS else ""
    return " ".join(part for part in (words or f"Slurm calls it {state.state}.", more) if part)


def _end(start: str, ran_s: int) -> str:
    try:
        return f"{datetime.fromisoformat(start) + timedelta(seconds=ran_s):%H:%M on %d %B}"
    except ValueError:
        return "a time unknown"


def _account(site: Site, wish: ServerWish) -> str:
    example = account(site, site.partitions[wish.partition])
    if not wish.account:
        return f"you have no default project there: write yours into the field Project, such as {example}"
    return f"the project {wish.account} does not exist, is not yours, or is not for {wish.partition}: write another"
