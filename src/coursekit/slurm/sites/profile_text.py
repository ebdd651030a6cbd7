"""What a profile says, in the words of the terminal and of the page in `docs/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.slurm.sites.profile import GPU_REQUESTS, NO_GPU

if TYPE_CHECKING:
    from coursekit.slurm.sites.profile import Partition, Site


def format_minutes(time_min: int) -> str:
    """Return minutes as "10 min", "20 h" or "1 h 30 min"."""
    hours, minutes = divmod(time_min, 60)
    parts = [f"{hours} h"] if hours else []
    return " ".join([*parts, f"{minutes} min"] if minutes or not hours else parts)


def gpus_of_node(partition: Partition) -> str:
    """Return "4 x NVIDIA V100", or "none"."""
    return f"{partition.num_gpus_per_node} x {partition.gpu}" if partition.has_gpus else NO_GPU


def request(partition: Partition) -> tuple[str, ...]:
    """Return the options of `sbatch` that ask for whole nodes of this kind, the number of nodes aside."""
    gpus = GPU_REQUESTS[partition.gpu_request].format(partition.num_gpus_per_node)
    return (
        *([f"--partition={partition.slurm_name}"] if partition.requested else []),
        *partition.directives,
        *([gpus] if gpus else []),
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
