"""A site in the terminal: everything that a student or a maintainer wants to know, and what is in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.slurm.sites.profile import Site, account, gpus_of_node, limits, request
from coursekit.text import counted, format_minutes

UNKNOWN = "not known"
CODE = "cyan"


def show_list(console: Console, sites: Sequence[Site]) -> None:
    """Print the table of all sites, each followed by its partitions."""
    table = Table("site", "machine and its partitions", "status, GPUs of a node", box=box.SIMPLE_HEAD, pad_edge=False)
    for site in sites:
        table.add_row(escape(site.name), escape(site.title), site.status, style="bold")
        for key, partition in site.partitions.items():
            table.add_row("", escape(f"  {key}{_default(site, key)}"), escape(gpus_of_node(partition)))
    console.print(table)


def show_site(console: Console, site: Site, costs: Sequence[str]) -> None:
    """Print everything that a site's file says; `costs` are lines on what its jobs cost."""
    software, launch, storage, jupyter = site.software, site.launch, site.storage, site.jupyter
    console.print(f"[bold]{escape(site.title)}[/] ({site.name}, {site.status})", highlight=False)
    _print(console, [site.summary, f"Charged: {site.billing_unit}."], indent=0)
    own = f"export SBATCH_ACCOUNT={account(site, site.partition())} # put your own here"
    commands = [*site.access.login, own, f"sbatch {site.script('LAB')}"]
    _section(console, "Access", commands, site.access.notes)
    _section(console, "Cost")
    _print(console, costs)
    _section(console, "Partitions")
    for key in site.partitions:
        _show_partition(console, site, key)
    if site.qos:
        _section(console, "QOS", notes=[f"{name}: {limits(site, name) or UNKNOWN}" for name in site.qos])
    modules = [f"module load {name}" for name in software.modules]
    variables = [f"export {name}={value}" for name, value in software.environment.items()]
    _section(console, "Software", [*software.before, *modules, *software.after, *variables], software.notes)
    if software.pytorch.modules or software.pytorch.notes:
        modules = [f"module load {name}" for name in software.pytorch.modules]
        _section(console, "PyTorch, instead of these", modules, software.pytorch.notes)
    mpi = [f"--mpi={launch.mpi}"] if launch.mpi else []
    container = [software.container] if software.container else []
    srun = " ".join(("srun", *mpi, *launch.srun_options, *container, "python train.py"))
    over = f" over {launch.interface}" if launch.interface else ""
    meeting = f"The ranks of a notebook connect{over} with Gloo, or with MPI if Horovod lacks Gloo."
    _section(console, "Ranks", [srun], [meeting, launch.gpu_of_rank])
    named = (("scratch", storage.scratch_variable), ("data sets", storage.dataset_variable))
    folders = [f"{what}: ${variable}" for what, variable in named if variable]
    folders += [f"ImageNet: {storage.imagenet}"] if storage.imagenet else []
    reach = "reach the internet" if site.internet_on_nodes else "do not reach the internet"
    _section(console, "Files", folders, [*storage.notes, f"Compute nodes {reach}."])
    _section(console, "JupyterLab", [text for text in (jupyter.address, jupyter.tunnel) if text], jupyter.notes)
    _section(console, "To be confirmed on the machine", notes=[] if site.confirm else ["nothing"])
    for note in site.confirm:
        _print(console, [f"- {note.key}: {note.doubt}."])
        _print(console, [note.where + note.command], CODE, indent=4)


def _show_partition(console: Console, site: Site, key: str) -> None:
    """Print one partition: its nodes, how long jobs may run, and how to ask for it."""
    partition = site.partitions[key]
    console.print(f"  [bold]{escape(key)}[/]{_default(site, key)}: {partition.slurm_name} in Slurm", highlight=False)
    nodes = counted(partition.num_nodes, "node") if partition.num_nodes else f"number of nodes {UNKNOWN}"
    most = f", at most {partition.max_num_nodes} for a job" if partition.max_num_nodes else ""
    longest, default_time = format_minutes(partition.max_time_min), format_minutes(partition.default_time_min)
    facts = [
        f"GPUs of a node: {gpus_of_node(partition)}",
        f"a node: {partition.num_cpus_per_node} CPUs, {partition.memory_gb} GB",
        f"processors: {partition.cpu or UNKNOWN}",
        f"fabric: {partition.fabric or UNKNOWN}",
        f"a rank: {counted(partition.num_cpus_per_gpu, 'CPU')}",
        *(["jobs get whole nodes"] if partition.whole_nodes else []),
        f"size: {nodes}{most}",
        f"time: at most {longest}; {default_time} for jobs that set no limit",
        f"account: {account(site, partition)}",
        *([f"QOS: {', '.join(partition.qos)}"] if partition.qos else []),
        *([f"its own limits: {limits(site, partition.partition_qos)}"] if partition.partition_qos else []),
        *partition.notes,
    ]
    _print(console, [f"- {fact}" for fact in facts], indent=4)
    modules = (f"module load {name}" for name in partition.modules)
    _print(console, [" ".join(request(partition)), *modules], CODE, indent=4)
    if partition.pytorch_modules:
        loads = " ".join(f"module load {name};" for name in partition.pytorch_modules)
        _print(console, [f"for PyTorch: {loads[:-1]}"], CODE, indent=4)


def _default(site: Site, key: str) -> str:
    return " (default)" if key == site.default_partition and len(site.partitions) > 1 else ""


def _section(console: Console, title: str, commands: Iterable[str] = (), notes: Iterable[str] = ()) -> None:
    console.print(f"\n[bold]{title}[/]", highlight=False)
    _print(console, commands, CODE)
    _print(console, [f"- {note}" for note in notes])


def _print(console: Console, lines: Iterable[str], style: str = "", indent: int = 2) -> None:
    for line in lines:
        console.print(" " * indent + line, style=style, markup=False, highlight=False, soft_wrap=True)
