"""Why Slurm refused a script, in plain words, with what to do at that site."""

from __future__ import annotations

import os
from collections.abc import Mapping

from coursekit.ranks.environ import FOR_SBATCH
from coursekit.slurm.jobs.failure_hints import Hint
from coursekit.slurm.sites.profile import Partition, Site, account, limits
from coursekit.text import format_minutes

# Slurm's words (`slurm_strerror`), what they mean, and what to do. `{…}` is filled in by `explain_refusal`.
REFUSALS: tuple[Hint, ...] = (
    Hint("Invalid account or account/partition combination", "{account}"),
    Hint("Invalid qos specification", "the QOS{qos} is not yours or not for this partition: {qos_remedy}"),
    Hint("Invalid feature specification", "no node has the constraint that the script asks for{constraint}: {script}"),
    Hint(
        "Requested node configuration is not available",
        "no node of partition {partition} has what the script asks for (GPUs, CPUs or memory of one node, or "
        "that many nodes): ask for fewer {nodes}, or for another {elsewhere}",
    ),
    Hint(
        "Requested time limit is invalid",
        "its time limit is longer than the partition or QOS allows, or it has none: {time}",
    ),
    Hint(
        "Job violates accounting/QOS policy",
        "the job is larger or longer, or you have more jobs, than your account or QOS allows: {limits}",
    ),
    Hint("Invalid partition name specified", "there is no partition {partition} there: look with `sinfo --summarize`"),
    Hint("No partition specified or system default partition", "a partition must be named: add {elsewhere}"),
    Hint(
        "User's group not permitted to use this partition",
        "you may not use the partition {partition}: ask support to open it for you, or take another {elsewhere}",
    ),
    Hint(
        "Requested partition configuration not available now",
        "the partition {partition} does not take such a job now: it is closed, or the job asks for more "
        "nodes or time than it allows",
    ),
    Hint(
        "Required partition not available|Partition in DOWN state",
        "the partition {partition} is closed at present: take another {elsewhere}",
    ),
    Hint(
        "Requested reservation is invalid",
        "there is no reservation{reservation}: correct {reserved} or {without}",
    ),
    Hint(
        "Access denied to requested reservation",
        "the reservation{reservation} is not for you or your account: ask the course's instructors, or {without}",
    ),
    Hint("Requested reservation not usable now", "the reservation{reservation} is not open now: {without}"),
    Hint(
        "Invalid generic resource (gres) specification|Invalid GRES specification"
        "|Invalid Trackable RESource (TRES) specification",
        "the partition {partition} has no GPUs of that kind: {script}",
    ),
    Hint("Node count specification invalid", "you cannot get that many nodes: ask for fewer {nodes}"),
    Hint(
        "More processors requested than permitted", "the script asks for more CPUs than allowed: ask for fewer {nodes}"
    ),
    Hint(
        "CPU count specification invalid", "the script asks for a number of CPUs that the site does not take: {script}"
    ),
    Hint("Memory required by task is not available", "no node has as much memory as the script asks for: {script}"),
    Hint("Requested account has breached requested QOS usage threshold", "your project has used too much for this QOS"),
    Hint("Access/permission denied", "you may not submit jobs there: ask the site's support"),
    Hint("Invalid user id", "Slurm does not know you: ask the site's support"),
    Hint("System submissions disabled", "the site takes no jobs at present, for maintenance perhaps: try later"),
    Hint(
        "Socket timed out on send/recv operation",
        "Slurm is too busy to answer: {look}try again in a minute",
    ),
    Hint("unrecognized option", "the site's sbatch does not know an option of the script: {script}"),
)

EXPECTED = {"SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION"}  # what an event sets


def explain_refusal(
    words: str, site: Site, partition: str | None = None, of_form: Mapping[str, str] | None = None
) -> str:
    """Return one sentence on why `sbatch` refused a script.

    Args:
        words: what it said.
        site: the machine.
        partition: a name in its profile; its default when None.
        of_form: what to write in place of options and variables, where a form was filled in and not a command called.
    """
    fitting = (row.words for row in REFUSALS if any(one.lower() in words.lower() for one in row.examples))
    sentence = next(fitting, "")
    chosen = site.kind(partition)
    reason = f": {sentence.format(**_facts(site, chosen), **(of_form or _of_shell(site, chosen)))}" if sentence else ""
    return f"{site.name} refused the job{reason}. Slurm says: {words}.{'' if of_form else _overriding()}"


def _facts(site: Site, chosen: Partition) -> dict[str, str]:
    constraint = [line for line in chosen.directives if "constraint" in line]
    known = {name: limits(site, name) for name in (*chosen.qos, chosen.partition_qos) if name}
    told = "; ".join(f"{name} allows {words}" for name, words in known.items() if words)
    return {
        "partition": chosen.slurm_name,
        "constraint": f" ({', '.join(constraint)})" if constraint else "",
        "time": f"{chosen.slurm_name} allows {format_minutes(chosen.max_time_min)}, and a QOS may allow less",
        "limits": told or "see `sacctmgr show assoc` and `sacctmgr show qos`",
        "script": f"tell the course's instructors, the profile slurm/sites/{site.name}.toml is out of date",
    }


def _of_shell(site: Site, chosen: Partition) -> dict[str, str]:
    qos, reservation = os.environ.get("SBATCH_QOS", ""), os.environ.get("SBATCH_RESERVATION", "")
    return {
        "account": _account(account(site, chosen)),
        "qos": f" {qos}" if qos else "",
        "qos_remedy": f"set SBATCH_QOS to {' or '.join(chosen.qos)}" if chosen.qos else "unset SBATCH_QOS",
        "reservation": f" {reservation}" if reservation else "",
        "reserved": "SBATCH_RESERVATION",
        "without": "unset SBATCH_RESERVATION",
        "nodes": "--nodes",
        "elsewhere": "--partition",
        "look": "look with `coursekit jobs`, then ",
    }


def _account(form: str) -> str:
    given = os.environ.get("SBATCH_ACCOUNT", "")
    if not given:
        return f"no account was given, and there is no default one: `export SBATCH_ACCOUNT={form}`, with your project"
    return (
        f"the account {given} (SBATCH_ACCOUNT) does not exist, is not yours, or is not for this partition: "
        f"set one of the form {form}"
    )


def _overriding() -> str:
    """Return which variables may be to blame: they count more than the lines of a script, and are easily forgotten."""
    names = sorted(name for name in FOR_SBATCH if name in os.environ and name not in EXPECTED)
    return f" These variables of your shell override the script: {', '.join(names)}." if names else ""
