"""What a site's file says: typed fields for what programs compute with, lists of lines for what scripts just print.

Everything about a machine stands in `slurm/sites/<name>.toml` and nowhere else.
Code asks a profile for features, never for its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from coursekit.errors import CourseKitError
from coursekit.text import format_minutes
from coursekit.toml_files import MAY_BE_EMPTY, AtLeast

STATUSES = ("current", "retired")
# How GPUs of a node are asked for, and the option for that many of them.
GPU_REQUESTS = {"none": "", "gres": "--gres=gpu:{}", "gpus-per-node": "--gpus-per-node={}"}
NO_GPU = "none"

Count = Annotated[int, AtLeast(1)]
MaybeLines = Annotated[tuple[str, ...], MAY_BE_EMPTY]
MaybeText = Annotated[str, MAY_BE_EMPTY]


@dataclass(frozen=True)
class Partition:
    """One kind of node to ask for, under the name that `--partition` of our commands takes.

    Attributes:
        slurm_name: the partition's name in Slurm.
        requested: whether job scripts name it; some sites choose the partition from the other directives.
        gpu: the GPU in words; `none` for nodes without.
        cpu: the processors of a node in words; '' where not known.
        fabric: the network between nodes in words; '' where not known, or where there is one node only.
        fabric_gbit_per_s: what a node sends over it at most, in one direction; 0 where that is not known.
        gpu_request: how GPUs are asked for: `gres`, `gpus-per-node`, or `none` where they come with the node.
        num_gpus_per_node: GPUs, and so ranks, of a node; ranks, where there are no GPUs.
        num_cpus_per_gpu: what a rank asks for with `--cpus-per-task`.
        num_cpus_per_node: what Slurm counts as CPUs of a node: cores, or hardware threads.
        memory_gb: memory of a node.
        whole_nodes: whether a job gets, and pays for, whole nodes, however few of their GPUs it asks for.
        num_nodes: how many such nodes the site has; 0 where it is not known.
        max_num_nodes: the most that one job may have; 0 for no limit of its own.
        default_time_min: the time limit of a job without `--time`.
        max_time_min: the longest time limit.
        directives: further lines for `#SBATCH`, without that word: a constraint, a hint.
        features: the features of its nodes, for `--constraint`.
        modules: modules to load after those of the site.
        account_suffix: what is added to the project's name: `@v100`.
        qos: names of the QOS that jobs may ask for here, the default first.
        partition_qos: the QOS whose limits Slurm itself attaches to the partition; jobs do not ask for it.
        shares_nodes_with: another partition with the very same nodes; '' for nodes of its own.
        notes: sentences for people.
    """

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
    account_suffix: MaybeText = ""
    qos: MaybeLines = ()
    shares_nodes_with: MaybeText = ""
    partition_qos: MaybeText = ""
    notes: MaybeLines = ()

    @property
    def has_gpus(self) -> bool:
        """Whether the nodes have GPUs; without, `num_gpus_per_node` counts ranks."""
        return self.gpu != NO_GPU


@dataclass(frozen=True)
class Qos:
    """A quality of service: limits of its own, asked for with `--qos`.

    Attributes:
        max_time_min: the longest time limit; 0, here and below, for no limit.
        max_num_gpus: GPUs of one job.
        max_num_jobs_per_user: jobs of a user that run at the same time.
        max_num_submitted_per_user: jobs of a user that run or wait.
    """

    max_time_min: Annotated[int, AtLeast(0)] = 0
    max_num_gpus: Annotated[int, AtLeast(0)] = 0
    max_num_jobs_per_user: Annotated[int, AtLeast(0)] = 0
    max_num_submitted_per_user: Annotated[int, AtLeast(0)] = 0


@dataclass(frozen=True)
class Access:
    """How people get in.

    Attributes:
        login: commands, one a line.
        account_example: what a project's name looks like; it is the account of the rehearsal.
        notes: sentences worth knowing before the first login.
    """

    login: tuple[str, ...]
    account_example: str
    notes: MaybeLines = ()


@dataclass(frozen=True)
class Software:
    """Where TensorFlow and Horovod come from.

    Attributes:
        shell: the first line of scripts.
        before: lines before modules are loaded, such as `module purge`.
        modules: modules to load, in this order.
        after: lines after that, such as `unset http_proxy`.
        srun_options: options of `srun` that bring ranks into a container, such as `--environment=coursekit`.
        environment: variables for NCCL, MPI and the fabric.
        notes: sentences on how the course's own packages get there.
    """

    shell: str
    before: MaybeLines = ()
    modules: MaybeLines = ()
    after: MaybeLines = ()
    srun_options: MaybeLines = ()
    environment: Annotated[Mapping[str, str], MAY_BE_EMPTY] = field(default_factory=dict)
    notes: MaybeLines = ()


@dataclass(frozen=True)
class LaunchSettings:
    """How ranks are started and meet.

    Attributes:
        srun_options: for every job step of ranks, `--mpi` excepted.
        mpi: the value of `srun --mpi`; '' for the site's default.
        interface: the network interface for Gloo; '' for that of the host's name.
        gpu_of_rank: one sentence on which GPU a rank sees and pins.
    """

    gpu_of_rank: str
    srun_options: MaybeLines = ()
    mpi: MaybeText = ""
    interface: MaybeText = ""


@dataclass(frozen=True)
class Storage:
    """Where files go.

    Attributes:
        scratch_variable: the variable of the fast folder, without the dollar sign; '' if the site has no such folder.
        dataset_variable: the variable of the shared data sets' folder; '' where there is none.
        imagenet: the folder of ImageNet's TFRecord files, which may begin with `$` and a variable; '' where not known.
        notes: sentences on quotas, and on what is removed when.
    """

    scratch_variable: MaybeText
    dataset_variable: MaybeText
    imagenet: MaybeText
    notes: MaybeLines = ()


@dataclass(frozen=True)
class Jupyter:
    """How a browser reaches JupyterLab: by a hub, by a tunnel to a job of one's own, or both.

    Attributes:
        address: the hub's address; '' if the site has no hub.
        tunnel: the SSH command, which may use `{user}`, `{node}` and `{port}`; '' where tunnels are blocked.
        notes: sentences on how to begin and end.
    """

    address: MaybeText = ""
    tunnel: MaybeText = ""
    notes: MaybeLines = ()


@dataclass(frozen=True)
class ToConfirm:
    """A fact that was not confirmed.

    Attributes:
        key: what is in doubt, such as `launch.mpi` or `partitions.v100`.
        doubt: why.
        command: what to type on the machine to know.
    """

    key: str
    doubt: str
    command: str


@dataclass(frozen=True)
class Site:
    """One machine.

    Attributes:
        name: the file's name.
        title: the machine and its centre.
        status: `current` or `retired`.
        summary: one sentence.
        default_partition: that of the committed job scripts.
        num_nodes: how many nodes trainings and the run of all solutions ask for; notebooks ask for the smallest piece.
        internet_on_nodes: whether compute nodes reach the internet.
        billing_unit: the smallest piece that is charged, in words.
        access: how people get in.
        software: where TensorFlow and Horovod come from.
        launch: how ranks are started and meet.
        storage: where files go.
        jupyter: how a browser reaches JupyterLab.
        partitions: by the name that `--partition` of our commands takes.
        qos: by name.
        references: published speeds, as sentences with their source, for reports to stand next to.
        confirm: facts in doubt.
    """

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
    references: MaybeLines = ()
    confirm: Annotated[tuple[ToConfirm, ...], MAY_BE_EMPTY] = ()

    def kind(self, name: str | None = None) -> Partition:
        """Return a partition by the name that `--partition` takes, the default without one.

        Raises:
            CourseKitError: the site has no such partition.
        """
        key = name or self.default_partition
        if key not in self.partitions:
            names = ", ".join(sorted(self.partitions))
            raise CourseKitError(f"{self.name} has no partition {key!r}: slurm/sites/{self.name}.toml has {names}.")
        return self.partitions[key]


def gpus_of_node(partition: Partition) -> str:
    """Return "4 x NVIDIA V100", or "none"."""
    return f"{partition.num_gpus_per_node} x {partition.gpu}" if partition.has_gpus else NO_GPU


def gpu_options(partition: Partition, num_gpus: int) -> list[str]:
    """Return the option that asks for that many GPUs on each node; none where GPUs come with the node."""
    option = GPU_REQUESTS[partition.gpu_request].format(num_gpus)
    return [option] if option else []


def request(partition: Partition) -> tuple[str, ...]:
    """Return the options of `sbatch` that ask for whole nodes of this kind, the number of nodes aside."""
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
    """Return what a QOS limits, "" for nothing."""
    qos = site.qos[name]
    words = (
        (qos.max_time_min, format_minutes(qos.max_time_min)),
        (qos.max_num_gpus, f"{qos.max_num_gpus} GPUs"),
        (qos.max_num_jobs_per_user, f"{qos.max_num_jobs_per_user} running"),
        (qos.max_num_submitted_per_user, f"{qos.max_num_submitted_per_user} running or waiting"),
    )
    return ", ".join(text for number, text in words if number)
