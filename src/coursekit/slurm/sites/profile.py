"""The contents of a site's file: typed fields, which programs compute with, and lists of lines, which scripts print.

`docs/site-format.md` says what each key means, and which values are allowed.
Everything about a machine is in `slurm/sites/<name>.toml` and nowhere else.
Code asks a profile for features, never for its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Annotated

from coursekit.errors import CourseKitError
from coursekit.text import format_minutes
from coursekit.toml_files import MAY_BE_EMPTY, AtLeast

STATUSES = ("current", "retired")
# The ways to ask for GPUs of a node, each with the option for a number of them.
GPU_REQUESTS = {"none": "", "gres": "--gres=gpu:{}", "gpus-per-node": "--gpus-per-node={}"}
NO_GPU = "none"
JOB_SCRIPTS, SUFFIX = "slurm/jobs", ".sbatch"  # with a folder for each site

Count = Annotated[int, AtLeast(1)]
MaybeLines = Annotated[tuple[str, ...], MAY_BE_EMPTY]
MaybeText = Annotated[str, MAY_BE_EMPTY]


@dataclass(frozen=True)
class Partition:
    """One kind of node that a job can request; our commands take its name as `--partition`."""

    slurm_name: str
    requested: bool
    gpu: str
    cpu: MaybeText
    fabric: MaybeText
    gpu_request: str
    num_gpus_per_node: Count
    num_cpus_per_gpu: Count
    num_cpus_per_node: Count
    memory_gb: Count
    whole_nodes: bool
    num_nodes: Annotated[int, AtLeast(0)]
    default_time_min: Count
    max_time_min: Count
    max_num_nodes: Annotated[int, AtLeast(0)] = 0
    fabric_gbit_per_s: Annotated[int, AtLeast(0)] = 0
    directives: MaybeLines = ()
    features: MaybeLines = ()
    modules: MaybeLines = ()
    pytorch_modules: MaybeLines = ()
    account_suffix: MaybeText = ""
    qos: MaybeLines = ()
    shares_nodes_with: MaybeText = ""
    partition_qos: MaybeText = ""
    notes: MaybeLines = ()

    @property
    def has_gpus(self) -> bool:
        """Whether the nodes have GPUs; if not, `num_gpus_per_node` is the number of ranks."""
        return self.gpu != NO_GPU


@dataclass(frozen=True)
class Qos:
    """A quality of service: a set of limits that a job requests with `--qos`."""

    max_time_min: Annotated[int, AtLeast(0)] = 0
    max_num_gpus: Annotated[int, AtLeast(0)] = 0
    max_num_jobs_per_user: Annotated[int, AtLeast(0)] = 0
    max_num_submitted_per_user: Annotated[int, AtLeast(0)] = 0


@dataclass(frozen=True)
class Access:
    """How users log in."""

    login: tuple[str, ...]
    account_example: str
    notes: MaybeLines = ()


@dataclass(frozen=True)
class PyTorch:
    """Where PyTorch comes from.

    For the labs that need it, these modules and this container replace those of TensorFlow and Horovod.
    """

    modules: MaybeLines = ()
    container: MaybeText = ""
    venv: str = ".venv"  # the course's own packages beside it, in the checkout
    notes: MaybeLines = ()


@dataclass(frozen=True)
class Software:
    """Where TensorFlow and Horovod come from."""

    shell: str
    before: MaybeLines = ()
    modules: MaybeLines = ()
    after: MaybeLines = ()
    container: MaybeText = ""  # the words before a command that start it in the image with all this
    environment: Annotated[Mapping[str, str], MAY_BE_EMPTY] = field(default_factory=dict)
    notes: MaybeLines = ()
    pytorch: PyTorch = field(default_factory=PyTorch)
    venv: str = ".venv"  # the course's own packages beside it, in the checkout


@dataclass(frozen=True)
class LaunchSettings:
    """How ranks are started, and how they connect."""

    gpu_of_rank: str
    srun_options: MaybeLines = ()
    mpi: MaybeText = ""
    interface: MaybeText = ""


@dataclass(frozen=True)
class Storage:
    """Where files go."""

    scratch_variable: MaybeText
    dataset_variable: MaybeText
    imagenet: MaybeText
    notes: MaybeLines = ()


@dataclass(frozen=True)
class Jupyter:
    """How a browser reaches JupyterLab: through a hub, through a tunnel to the user's own job, or both."""

    address: MaybeText = ""
    tunnel: MaybeText = ""
    notes: MaybeLines = ()


@dataclass(frozen=True)
class ToConfirm:
    """A fact that has not been confirmed, and the command that settles it; see `questions.Question`.

    Without `finds`, the fact is settled by the questions that are asked about every site.
    """

    key: str
    doubt: str
    command: str
    finds: MaybeText = ""
    expect: MaybeLines = ()
    partition: MaybeText = ""

    @property
    def where(self) -> str:
        """Where the command runs: "on a node of qgpu: ", or "" for the login node."""
        return f"on a node of {self.partition}: " if self.partition else ""


@dataclass(frozen=True)
class Site:
    """One machine."""

    name: str
    title: str
    status: str
    summary: str
    default_partition: str
    num_nodes: Count
    internet_on_nodes: bool
    billing_unit: str
    access: Access
    software: Software
    launch: LaunchSettings
    storage: Storage
    jupyter: Jupyter
    partitions: Mapping[str, Partition]
    qos: Annotated[Mapping[str, Qos], MAY_BE_EMPTY] = field(default_factory=dict)
    confirm: Annotated[tuple[ToConfirm, ...], MAY_BE_EMPTY] = ()

    def script(self, job: str) -> str:
        """Return the path of a job's committed script in the checkout."""
        return f"{JOB_SCRIPTS}/{self.name}/{job}{SUFFIX}"

    def partition(self, name: str | None = None) -> Partition:
        """Return the partition with the name that `--partition` takes, or the default one if there is no name.

        Raises:
            CourseKitError: the site has no such partition.
        """
        key = name or self.default_partition
        if key not in self.partitions:
            names = ", ".join(sorted(self.partitions))
            raise CourseKitError(
                f"{self.name} has no partition {key!r}: slurm/sites/{self.name}.toml has {names}.", "partition.unknown"
            )
        return self.partitions[key]


def with_pytorch(site: Site) -> Site:
    """Return a site for the labs that need PyTorch: its modules and container replace those of TensorFlow and Horovod.

    If both venvs have the same name, PyTorch is just one more package in the course's own venv, and nothing changes.
    """
    software, pytorch = site.software, site.software.pytorch
    if pytorch.venv == software.venv:
        return site
    own = replace(software, modules=pytorch.modules, container=pytorch.container, venv=pytorch.venv)
    partitions = {key: replace(one, modules=one.pytorch_modules) for key, one in site.partitions.items()}
    return replace(site, software=own, partitions=partitions)


def srun_options(container: str) -> tuple[str, ...]:
    """Return the `srun` options at the beginning of `container`: the options of an engine that Slurm itself starts."""
    return tuple(takewhile(lambda word: word.startswith("-"), container.split()))


def gpus_of_node(partition: Partition) -> str:
    """Return "4 x NVIDIA V100", or "none"."""
    return f"{partition.num_gpus_per_node} x {partition.gpu}" if partition.has_gpus else NO_GPU


def gpu_options(partition: Partition, num_gpus: int) -> list[str]:
    """Return the option that asks for this number of GPUs on each node; none if GPUs come with the node."""
    option = GPU_REQUESTS[partition.gpu_request].format(num_gpus)
    return [option] if option else []


def request(partition: Partition) -> tuple[str, ...]:
    """Return the `sbatch` options that ask for whole nodes of this kind, except the number of nodes."""
    return (
        *([f"--partition={partition.slurm_name}"] if partition.requested else []),
        *partition.directives,
        *gpu_options(partition, partition.num_gpus_per_node),
        f"--ntasks-per-node={partition.num_gpus_per_node}",
        f"--cpus-per-task={partition.num_cpus_per_gpu}",
    )


def account(site: Site, partition: Partition) -> str:
    """Return what an account for this partition looks like."""
    return site.access.account_example + partition.account_suffix


def limits(site: Site, name: str) -> str:
    """Return what a QOS limits, in words; "" if it limits nothing."""
    qos = site.qos[name]
    words = (
        (qos.max_time_min, format_minutes(qos.max_time_min)),
        (qos.max_num_gpus, f"{qos.max_num_gpus} GPUs"),
        (qos.max_num_jobs_per_user, f"{qos.max_num_jobs_per_user} running"),
        (qos.max_num_submitted_per_user, f"{qos.max_num_submitted_per_user} running or waiting"),
    )
    return ", ".join(text for number, text in words if number)
