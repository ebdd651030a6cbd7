"""The form in which a student asks for nodes before a server starts, and the check of the values that come back.

No value is trusted: the form, an address typed by hand and the hub's API all pass through `read_wish`.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.pages import page_template
from coursekit.slurm.jobs.directives import JUPYTER_MIN
from coursekit.slurm.sites.profile_text import account, format_minutes
from coursekit.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coursekit.slurm.sites.profile import Partition, Site

TEMPLATES = Path(__file__).with_name("templates")
NUM_RANKS = 2  # what the labs are written for, and the cheapest that they are worth running on
MOST_NODES = 4  # of a notebook's server; larger jobs do not need a person in front of them
# Names as sites give them: nothing that a shell, Slurm or HTML could take for something else.
ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
RESERVATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,-]{0,63}")
NUMBER = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True)
class ServerWish:
    """What a server is to run on.

    Attributes:
        partition: a partition by its name in the site's file.
        num_ranks_per_node: ranks of a node, each with its GPU where there are GPUs.
        time_min: the time limit.
        account: the project, without the partition's suffix; '' for the student's default one.
        reservation: the reservation of a workshop; '' for none.
    """

    partition: str
    num_nodes: int
    num_ranks_per_node: int
    time_min: int
    account: str = ""
    reservation: str = ""


def default_wish(site: Site) -> ServerWish:
    """Return what the form says before anybody has typed."""
    kind = site.partitions[site.default_partition]
    num_ranks = min(NUM_RANKS, kind.num_gpus_per_node)
    num_nodes = min(math.ceil(NUM_RANKS / num_ranks), most_nodes(kind))
    return ServerWish(site.default_partition, num_nodes, num_ranks, min(JUPYTER_MIN, most_min(site, kind)))


def most_nodes(kind: Partition) -> int:
    """Return the most nodes that a server gets of a partition."""
    return min(number for number in (MOST_NODES, kind.max_num_nodes, kind.num_nodes) if number)


def most_min(site: Site, kind: Partition) -> int:
    """Return the longest time limit of a server, in minutes: that of the partition and of its QOS."""
    of_qos = (site.qos[name].max_time_min for name in (*kind.qos[:1], kind.partition_qos) if name)
    return min(time_min for time_min in (kind.max_time_min, *of_qos) if time_min)


def most_gpus(site: Site, kind: Partition) -> int:
    """Return the most GPUs of one job by its QOS; 0 for no such limit."""
    limits = [site.qos[name].max_num_gpus for name in (*kind.qos[:1], kind.partition_qos) if name]
    return min((limit for limit in limits if limit), default=0)


def read_wish(site: Site, given: Mapping[str, object]) -> ServerWish:
    """Check the values that somebody asks for; those left out or empty are as in `default_wish`.

    They stand by the names of `ServerWish`, as text or numbers, or lists of one, as forms send them.

    Raises:
        CourseKitError: in one sentence what is wrong and what to write.
    """
    default = default_wish(site)
    values = {name: _text(value) for name, value in given.items() if name in asdict(default)}
    key = values.get("partition") or default.partition
    if key not in site.partitions:
        raise CourseKitError(f"There is no such partition at {site.name}: choose one of {', '.join(site.partitions)}.")
    kind = site.partitions[key]
    noun, number = noun_of_ranks(kind), partial(_number, values, default)
    wish = ServerWish(
        partition=key,
        num_nodes=number("num_nodes", "Nodes", most_nodes(kind)),
        num_ranks_per_node=number("num_ranks_per_node", f"{noun} per node", kind.num_gpus_per_node),
        time_min=number("time_min", "Minutes", most_min(site, kind)),
        account=_account(site, kind, values.get("account", "")),
        reservation=_name(RESERVATION, "Reservation", values.get("reservation", ""), "the instructors' name for it"),
    )
    most = most_gpus(site, kind)
    if most and wish.num_nodes * wish.num_ranks_per_node > most:
        asked = f"{counted(wish.num_nodes, 'node')} with {wish.num_ranks_per_node} {noun} each"
        raise CourseKitError(f"{asked} are more than the {most} that one job may have in {key}: ask for fewer.")
    return wish


def noun_of_ranks(kind: Partition) -> str:
    """Return what there is one of for each rank, as the form calls it."""
    return "GPUs" if kind.has_gpus else "Ranks"


def form_html(site: Site, shown: Mapping[str, object]) -> str:
    """Return the fields of the form, as HTML; `shown` are values in place of the defaults: what was typed last."""
    kinds = site.partitions
    default = default_wish(site)
    known = {name: _text(value) for name, value in shown.items()}
    return page_template("form.html", TEMPLATES).render(
        title=site.title,
        values={name: known.get(name, str(value)) for name, value in asdict(default).items()},
        partitions={key: _describe(site, kind) for key, kind in kinds.items()},
        noun="GPUs" if any(kind.has_gpus for kind in kinds.values()) else "Ranks",
        most_nodes=max(most_nodes(kind) for kind in kinds.values()),
        most_ranks=max(kind.num_gpus_per_node for kind in kinds.values()),
        most_min=max(most_min(site, kind) for kind in kinds.values()),
        account_example=site.access.account_example,
        billing_unit=site.billing_unit,
    )


def _describe(site: Site, kind: Partition) -> str:
    gpu = f"{kind.gpu}, " if kind.has_gpus else ""
    size = f"{counted(most_nodes(kind), 'node')} with {kind.num_gpus_per_node} {noun_of_ranks(kind)}"
    return f"{gpu}up to {size}, {format_minutes(most_min(site, kind))}"


def _text(value: object) -> str:
    """Return a value as text: forms send lists of one, programs send numbers."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if value is None:
        return ""
    return str(value).strip() if isinstance(value, (str, int)) else repr(value)


def _number(values: Mapping[str, str], default: ServerWish, name: str, label: str, most: int) -> int:
    text = values.get(name) or str(min(getattr(default, name), most))
    if not NUMBER.fullmatch(text) or not 1 <= int(text) <= most:
        bigger = "; submit larger ones with `coursekit submit`" if name == "num_nodes" else ""
        raise CourseKitError(f"{label}: write a whole number from 1 to {most}{bigger}.")
    return int(text)


def _account(site: Site, kind: Partition, text: str) -> str:
    """Return the project, without the suffix that the partition's accounts have."""
    wanted = f"the project's name, such as {site.access.account_example}"
    if kind.account_suffix:
        wanted += f" (it becomes {account(site, kind)} by itself)"
    return _name(ACCOUNT, "Project", text.removesuffix(kind.account_suffix), wanted)


def _name(pattern: re.Pattern[str], label: str, text: str, wanted: str) -> str:
    if text and not pattern.fullmatch(text):
        raise CourseKitError(f"{label}: write {wanted}; letters, digits, dots, hyphens and underscores are allowed.")
    return text
