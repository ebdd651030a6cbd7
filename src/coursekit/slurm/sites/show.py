"""A site in the terminal: everything a student or a maintainer wants, with a mark on what is in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.slurm.sites.profile import Site, account, gpus_of_node, limits, request
from coursekit.text import counted, format_minutes

UNKNOWN = "not known"
INDENT = 2
CODE = "cyan"
HEADINGS = ("site", "machine and its partitions", "status, GPUs of a node")


def show_list(console: Console, sites: Sequence[Site]) -> None:
    """Print the table of all sites, below each its partitions."""
    table = Table(*HEADINGS, box=box.SIMPLE_HEAD, pad_edge=False)
    for site in sites:
        table.add_row(escape(site.name), escape(site.title), site.status, style="bold")
        for key, partition in site.partitions.items():
            table.add_row("", escape(f"  {key}{_default(site, key)}"), escape(gpus_of_node(partition)))
    console.print(table)


def show_site(console: Console, site: Site, costs: Sequence[str]) -> None:
    """Print everything that a site's file says; what was not confirmed carries the number of its note at the end.

    `costs` are lines on what its jobs cost.
    """
    marks = _Marks(site)
    console.print(f"[bold]{escape(site.title)}[/] ({site.name}, {site.status})", highlight=False)
    _lines(console, [f"{site.summary}", f"Charged: {site.billing_unit}."], indent=0)
    _section(console, "Access", marks.of("access"))
    partition = site.kind()
    job = [
        f"export SBATCH_ACCOUNT={account(site, partition)} # yours in its place",
        f"sbatch slurm/jobs/{site.name}/LAB.sbatch",
    ]
    _lines(console, [*site.access.login, *job], CODE)
    _notes(console, site.access.notes)
    _section(console, "Cost", marks.of("billing_unit"))
    _lines(console, costs)
    _section(console, "Partitions", marks.of("partitions", parts=False))
    for key in site.partitions:
        _show_partition(console, site, key, marks)
    asked_for = sorted({name for partition in site.partitions.values() for name in partition.qos})
    if asked_for:
        _section(console, "QOS", marks.of("qos"))
        _lines(console, [f"{name}: {limits(site, name) or UNKNOWN}" for name in asked_for])
    _show_software(console, site, marks)
    _show_rest(console, site, marks)
    _section(console, "To be confirmed on the machine", "")
    for number, note in enumerate(site.confirm, start=1):
        _lines(console, [f"?{number} {note.key}: {note.doubt}."])
        _lines(console, [note.command], CODE, 2 * INDENT)
    if not site.confirm:
        _lines(console, ["nothing"])


def _default(site: Site, key: str) -> str:
    return " (default)" if key == site.default_partition and len(site.partitions) > 1 else ""


def _show_software(console: Console, site: Site, marks: _Marks) -> None:
    software = site.software
    _section(console, "Software", marks.of("software"))
    modules = [f"module load {name}" for name in software.modules]
    variables = [f"export {name}={value}" for name, value in software.environment.items()]
    _lines(console, [*software.before, *modules, *software.after, *variables], CODE)
    _notes(console, software.notes)
    _section(console, "Ranks", marks.of("launch"))
    mpi = [f"--mpi={site.launch.mpi}"] if site.launch.mpi else []
    options = " ".join(("srun", *mpi, *site.launch.srun_options, *software.srun_options))
    _lines(console, [f"{options} python train.py"], CODE)
    over = f" over {site.launch.interface}" if site.launch.interface else ""
    meeting = f"Ranks of a notebook meet over Gloo{over}, or over MPI where Horovod has no Gloo."
    _notes(console, [meeting, site.launch.gpu_of_rank])


def _show_rest(console: Console, site: Site, marks: _Marks) -> None:
    storage = site.storage
    _section(console, "Files", marks.of("storage"))
    named = (("scratch", storage.scratch_variable), ("data sets", storage.dataset_variable))
    _lines(console, [f"{what}: ${variable}" for what, variable in named if variable], CODE)
    _lines(console, [f"ImageNet: {storage.imagenet}"] if storage.imagenet else [], CODE)
    _notes(console, storage.notes)
    reach = "reach the internet" if site.internet_on_nodes else "do not reach the internet"
    _notes(console, [f"Compute nodes {reach}.{marks.of('internet_on_nodes')}"])
    _section(console, "JupyterLab", marks.of("jupyter"))
    _lines(console, [text for text in (site.jupyter.address, site.jupyter.tunnel) if text], CODE)
    _notes(console, site.jupyter.notes)
    if site.references:
        _section(console, "Published speeds", marks.of("references"))
        _notes(console, site.references)


def _show_partition(console: Console, site: Site, key: str, marks: _Marks) -> None:
    """Print one partition: what its nodes are, how long jobs may be, and how it is asked for."""
    partition = site.partitions[key]

    def marked(text: str, *names: str) -> str:
        return text + "".join(marks.of(f"partitions.{key}.{name}") for name in names)

    mark = marks.of(f"partitions.{key}", parts=False)
    heading = f"  [bold]{escape(key)}[/]{_default(site, key)}: {partition.slurm_name} in Slurm[yellow]{mark}[/]"
    console.print(heading, highlight=False)
    nodes = counted(partition.num_nodes, "node") if partition.num_nodes else f"number of nodes {UNKNOWN}"
    most = f", at most {partition.max_num_nodes} for a job" if partition.max_num_nodes else ""
    longest, default_time = format_minutes(partition.max_time_min), format_minutes(partition.default_time_min)
    facts = [
        marked(f"GPUs of a node: {gpus_of_node(partition)}", "gpu", "num_gpus_per_node"),
        marked(
            f"a node: {partition.num_cpus_per_node} CPUs, {partition.memory_gb} GB", "num_cpus_per_node", "memory_gb"
        ),
        marked(f"processors: {partition.cpu or UNKNOWN}", "cpu"),
        marked(f"fabric: {partition.fabric or UNKNOWN}", "fabric"),
        marked(f"a rank: {counted(partition.num_cpus_per_gpu, 'CPU')}", "num_cpus_per_gpu"),
        *([marked("jobs get whole nodes", "whole_nodes")] if partition.whole_nodes else []),
        marked(f"size: {nodes}{most}", "num_nodes", "max_num_nodes"),
        marked(f"time: at most {longest}; {default_time} for jobs that do not say", "max_time_min", "default_time_min"),
        marked(f"account: {account(site, partition)}", "account_suffix"),
        *([marked(f"QOS: {', '.join(partition.qos)}", "qos")] if partition.qos else []),
        *([f"limits of its own: {limits(site, partition.partition_qos)}"] if partition.partition_qos else []),
        *partition.notes,
    ]
    _lines(console, [f"- {fact}" for fact in facts], indent=2 * INDENT)
    _lines(console, [marked(" ".join(request(partition)), "gpu_request", "directives")], CODE, 2 * INDENT)
    _lines(console, [marked(f"module load {name}", "modules") for name in partition.modules], CODE, 2 * INDENT)


class _Marks:
    """The numbers of the notes that doubt a key."""

    def __init__(self, site: Site) -> None:
        self.keys = [note.key for note in site.confirm]

    def of(self, key: str, *, parts: bool = True) -> str:
        """Return " ?1 ?3" for the notes on a key and, with `parts`, on keys below it; "" for none."""
        numbers = [
            number
            for number, doubted in enumerate(self.keys, start=1)
            if doubted == key or (parts and doubted.startswith(f"{key}."))
        ]
        return "".join(f" ?{number}" for number in numbers)


def _section(console: Console, title: str, mark: str) -> None:
    console.print(f"\n[bold]{title}[/][yellow]{mark}[/]", highlight=False)


def _notes(console: Console, notes: Iterable[str]) -> None:
    _lines(console, [f"- {note}" for note in notes])


def _lines(console: Console, lines: Iterable[str], style: str = "", indent: int = INDENT) -> None:
    for line in lines:
        console.print(" " * indent + line, style=style, markup=False, highlight=False, soft_wrap=True)
