"""The form for requesting nodes, the validation of its values, and messages that say why a server was refused or ended.

No value is trusted: `read_wish` checks all values, whether they come from the form, from an address typed by hand, or
from the hub's API. The reasons come from `coursekit.slurm.jobs`; this module has only those that must be worded
differently in a browser.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.pages import page_template
from coursekit.slurm.jobs.explain import explain, explain_refusal
from coursekit.slurm.jobs.job_script import JUPYTER_MIN
from coursekit.slurm.jobs.slurm_cli import COMPLETED, UNKNOWN, JobState
from coursekit.slurm.sites.profile import Partition, Site, account
from coursekit.text import counted, format_minutes

TEMPLATES = Path(__file__).with_name("templates")
NUM_RANKS = 2  # the labs are written for this number of ranks, and make little sense with fewer
MOST_NODES = 4  # for a notebook's server; larger jobs should be submitted as batch jobs
# Names as sites use them, without any character that a shell, Slurm or HTML could misread.
ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}|")
RESERVATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,-]{0,63}|")
NUMBER = re.compile(r"[0-9]{1,6}")
SAVED = "Your notebooks are as you last saved them."
ENDINGS = {
    "TIMEOUT": "It reached its time limit. Start it again, with more minutes if you need them. [server.time-limit]",
    COMPLETED: "It was shut down from within. [server.shut-down]",
}


@dataclass(frozen=True)
class ServerWish:
    """The resources that a student requests for a server."""

    partition: str  # the partition's name in the site's file
    num_nodes: int
    num_ranks_per_node: int  # ranks on each node, each with its own GPU if there are GPUs
    time_min: int
    account: str = ""  # the project, without the partition's suffix; '' for the student's default
    reservation: str = ""  # the reservation of a workshop; '' for none


def default_wish(site: Site) -> ServerWish:
    """Return the values that the form shows when it is first opened."""
    most_nodes, most_ranks, most_min = _most(site, site.partition())
    num_ranks = min(NUM_RANKS, most_ranks)
    num_nodes = min(math.ceil(NUM_RANKS / num_ranks), most_nodes)
    return ServerWish(site.default_partition, num_nodes, num_ranks, min(JUPYTER_MIN, most_min))


def read_wish(site: Site, given: Mapping[str, object]) -> ServerWish:
    """Check and return the values that a student requests; values that are missing or empty come from `default_wish`.

    The keys are the names of the fields of `ServerWish`. Each value is a text, a number or, as forms send it, a list
    that holds one of these.

    Raises:
        CourseKitError: a value is wrong; the message says what to write.
    """
    default = default_wish(site)
    values = {name: _text(given.get(name)) for name in asdict(default)}
    key = values["partition"] or default.partition
    if key not in site.partitions:
        raise CourseKitError(
            f"There is no such partition at {site.name}: choose one of {', '.join(site.partitions)}.",
            "partition.unknown",
        )
    partition = site.partitions[key]
    most_nodes, most_ranks, most_min = _most(site, partition)
    project = f"the project's name, such as {site.access.account_example}"
    if partition.account_suffix:
        project += f" (it automatically becomes {account(site, partition)})"
    return ServerWish(
        key,
        _number("Nodes", values["num_nodes"], default.num_nodes, most_nodes),
        _number(f"{_noun(partition)} per node", values["num_ranks_per_node"], default.num_ranks_per_node, most_ranks),
        _number("Minutes", values["time_min"], default.time_min, most_min),
        _name(ACCOUNT, "Project", values["account"].removesuffix(partition.account_suffix), project),
        _name(RESERVATION, "Reservation", values["reservation"], "the name that the instructors gave you"),
    )


def form_html(site: Site, shown: Mapping[str, object]) -> str:
    """Return the fields of the form as HTML.

    They are filled in with the values in `shown`, which were typed last, and otherwise with the defaults.
    """
    partitions = site.partitions
    most_nodes, most_ranks, most_min = map(max, zip(*(_most(site, partition) for partition in partitions.values())))
    return page_template("form.html", TEMPLATES).render(
        title=site.title,
        values={name: _text(shown.get(name, value)) for name, value in asdict(default_wish(site)).items()},
        partitions={key: _describe(site, partition) for key, partition in partitions.items()},
        noun="GPUs" if any(partition.has_gpus for partition in partitions.values()) else "Ranks",
        most_nodes=most_nodes,
        most_ranks=most_ranks,
        most_min=most_min,
        account_example=site.access.account_example,
        billing_unit=site.billing_unit,
    )


def _most(site: Site, partition: Partition) -> tuple[int, int, int]:
    """Return the maximum numbers of nodes, of ranks per node, and of minutes for a server on this partition."""
    nodes = min(number for number in (MOST_NODES, partition.max_num_nodes, partition.num_nodes) if number)
    qos = [site.qos[name] for name in (*partition.qos[:1], partition.partition_qos) if name]
    times = (partition.max_time_min, *(one.max_time_min for one in qos))
    return nodes, partition.num_gpus_per_node, min(time_min for time_min in times if time_min)


def _noun(partition: Partition) -> str:
    return "GPUs" if partition.has_gpus else "Ranks"


def _describe(site: Site, partition: Partition) -> str:
    nodes, ranks, time_min = _most(site, partition)
    gpu = f"{partition.gpu}, " if partition.has_gpus else ""
    return f"{gpu}up to {counted(nodes, 'node')} with {ranks} {_noun(partition)}, {format_minutes(time_min)}"


def _text(value: object) -> str:
    """Return a form value as a string; a form sends it as a list of one string, and a program may send a number."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if value is None:
        return ""
    return str(value).strip() if isinstance(value, (str, int)) else repr(value)


def _number(label: str, text: str, default: int, most: int) -> int:
    number = text or str(min(default, most))
    if not NUMBER.fullmatch(number) or not 1 <= int(number) <= most:
        bigger = "; for more, use `coursekit submit`" if label == "Nodes" else ""
        raise CourseKitError(f"{label}: write a whole number from 1 to {most}{bigger}.", "form.no-number")
    return int(number)


def _name(pattern: re.Pattern[str], label: str, text: str, wanted: str) -> str:
    if not pattern.fullmatch(text):
        raise CourseKitError(
            f"{label}: write {wanted}; letters, digits, dots, hyphens and underscores are allowed.", "form.no-name"
        )
    return text


def explain_refused(words: str, site: Site, wish: ServerWish) -> str:
    """Return one sentence that says, in terms of the form's fields, why Slurm refused to start a server."""
    chosen = f"the project {wish.account} does not exist, is not yours, or may not use {wish.partition}: write another"
    none = "you have no default project there: write yours into the field Project, such as "
    return explain_refusal(
        words,
        site,
        wish.partition,
        {
            "account": chosen if wish.account else none + account(site, site.partitions[wish.partition]),
            "qos": "",
            "qos_remedy": "choose another partition, or ask support",
            "reservation": f" {wish.reservation}",
            "without": "leave the field Reservation empty",
        },
    ).words


def explain_ended(job_id: str, state: JobState, log: str) -> str:
    """Return sentences that say why a server is gone; `log` is the path of the server's log."""
    if state.state == UNKNOWN:
        return f"Your server is gone: Slurm no longer knows its job {job_id}. {SAVED} [server.unknown]"
    where = f" on {state.nodes}" if state.nodes else ""
    after = f"after {state.elapsed}" if state.ever_ran else "at once"
    words = ENDINGS.get(state.state) or " ".join(each.words for each in explain(state, "")).replace("Submit", "Start")
    cause = words or f"Slurm reports it as {state.state}."
    return f"Your server (job {job_id}{where}) ended {after}: {cause} {SAVED} The server's log {log} says more."
