"""The text of Slurm's own files for a rehearsal: slurm.conf, gres.conf, slurmdbd.conf, and the nodes' names.

The accounting is here, too, as commands without the word `sacctmgr`: the cluster, its QOS with their limits, and its
accounts. A job beyond a limit is refused (DenyOnLimit) and does not wait for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.slurm.sites.profile import Qos, account
from workshop.rehearsal.shape import ClusterShape, qos_of

CLUSTER_NAME = "rehearsal"
LOOPBACK = "127.0.0.1"
# In the private folder of a rehearsal.
MUNGE_SOCKET, DATABASE_SOCKET, HOSTS, SLURM_CONF = "munge/socket", "database.socket", "hosts", "slurm.conf"
MIB_PER_GB = 1024
# Slurm then takes the first of these partitions in which a job with its account and constraints can run.
JOB_SUBMIT_LUA = """\
function slurm_job_submit(job, partitions, user)
    if job.partition == nil then
        job.partition = "{partitions}"
    end
    return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, user)
    return slurm.SUCCESS
end
"""


@dataclass(frozen=True)
class Ports:
    """The daemons' ports on loopback; those of `slurmd` by node."""

    slurmctld: int
    slurmdbd: int
    slurmd: Mapping[str, int]


def gpu_file(folder: Path, number: int | str) -> Path:
    """Return the file that stands for a GPU."""
    return folder / f"gpu{number}"


def slurm_conf(shape: ClusterShape, folder: Path, ports: Ports) -> str:
    """Return the text of slurm.conf."""
    lines = [
        f"ClusterName={CLUSTER_NAME}",
        f"SlurmctldHost={CLUSTER_NAME}({LOOPBACK})",
        f"SlurmctldPort={ports.slurmctld}",
        "SlurmUser=root",
        "SlurmdUser=root",
        # Daemons listen on the address of their host name, which is on loopback (see `hosts`).
        "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
        "AuthType=auth/munge",
        # A job that is requeued waits until its credential has expired.
        f"AuthInfo=socket={folder}/{MUNGE_SOCKET},cred_expire=15",
        f"StateSaveLocation={folder}/slurmctld",
        f"SlurmdSpoolDir={folder}/slurmd-%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd-%n.pid",
        # PMIx keeps its files here: two nodes of one machine must not share them.
        f"TmpFS={folder}/tmp-%n",  # noqa: S108  # in our own folder
        f"TaskProlog={folder}/task-prolog",
        f"PlugStackConfig={folder}/plugstack.conf",
        # A machine with two cores acts as nodes with a hundred, so there is no binding and no cgroups.
        "SlurmdParameters=config_overrides",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/linux",
        "JobAcctGatherFrequency=task=2",
        "JobAcctGatherParams=OverMemoryKill",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core_Memory",
        "GresTypes=gpu",
        "MpiDefault=pmix",  # starts MPI, like the default at sites whose profile names none
        "AccountingStorageType=accounting_storage/slurmdbd",
        f"AccountingStorageHost={LOOPBACK}",
        f"AccountingStoragePort={ports.slurmdbd}",
        f"AccountingStoragePass={folder}/{MUNGE_SOCKET}",
        "AccountingStorageEnforce=associations,limits,qos",
        "AccountingStorageTRES=gres/gpu",
        # A job that no partition could ever run is refused at once, as at a site.
        "EnforcePartLimits=ANY",
        "ReturnToService=2",
        "KillWait=5",
        "MessageTimeout=60",
        "SlurmctldTimeout=120",
        "SlurmdTimeout=300",
        "SchedulerParameters=bf_interval=5,sched_interval=5,batch_sched_delay=0",
    ]
    if job_submit_lua(shape):
        lines += ["JobSubmitPlugins=lua"]
    lines += [_node(shape, node, port) for node, port in ports.slurmd.items()]
    names = dict.fromkeys(shape.site.partitions[key].slurm_name for key in shape.nodes)
    lines += [_partition(shape, name) for name in names]
    return "\n".join(lines) + "\n"


def _node(shape: ClusterShape, node: str, port: int) -> str:
    partition = shape.owner(node)
    features = dict.fromkeys(
        name for key, nodes in shape.nodes.items() if node in nodes for name in shape.site.partitions[key].features
    )
    words = [
        f"NodeName={node} NodeHostname={node} NodeAddr={LOOPBACK} Port={port}",
        f"CPUs={partition.num_cpus_per_node} RealMemory={partition.memory_gb * MIB_PER_GB}",
    ]
    if partition.has_gpus:
        words.append(f"Gres=gpu:{partition.num_gpus_per_node}")
    if features:
        words.append(f"Feature={','.join(features)}")
    return " ".join(words)


def _partition(shape: ClusterShape, slurm_name: str) -> str:
    """Return a partition's line; in Slurm, one name may stand for several kinds of node."""
    keys = [key for key in shape.nodes if shape.site.partitions[key].slurm_name == slurm_name]
    partitions = [shape.site.partitions[key] for key in keys]
    nodes = dict.fromkeys(node for key in keys for node in shape.nodes[key])
    # Slurm keeps accounts in lower case.
    accounts = dict.fromkeys(account(shape.site, partition).lower() for partition in partitions)
    allowed_qos = dict.fromkeys(name for partition in partitions for name in qos_of(partition))
    words = [
        f"PartitionName={slurm_name} Nodes={','.join(nodes)} State=UP",
        f"Default={'YES' if shape.site.default_partition in keys else 'NO'}",
        f"DefaultTime={partitions[0].default_time_min} MaxTime={max(one.max_time_min for one in partitions)}",
        f"DefMemPerCPU={min(one.memory_gb * MIB_PER_GB // one.num_cpus_per_node for one in partitions)}",
        f"AllowAccounts={','.join(accounts)} AllowQos={','.join(allowed_qos)}",
    ]
    if qos_of_partition := next((partition.partition_qos for partition in partitions if partition.partition_qos), ""):
        words.append(f"QOS={qos_of_partition}")
    if all(partition.max_num_nodes for partition in partitions):
        words.append(f"MaxNodes={max(partition.max_num_nodes for partition in partitions)}")
    return " ".join(words)


def gres_conf(shape: ClusterShape, folder: Path) -> str:
    """Return the text of gres.conf: each GPU is a file, because Slurm wants a device to allocate."""
    numbers = {node: shape.owner(node).num_gpus_per_node for node in shape.all_nodes if shape.owner(node).has_gpus}
    files = {node: gpu_file(folder, f"[0-{number - 1}]" if number > 1 else 0) for node, number in numbers.items()}
    return "".join(f"NodeName={node} Name=gpu File={file}\n" for node, file in files.items())


def job_submit_lua(shape: ClusterShape) -> str:
    """Return the Lua plugin that gives a job all partitions that job scripts do not name; '' if there is no choice."""
    partitions = [shape.site.partitions[key] for key in shape.nodes]
    names = dict.fromkeys(partition.slurm_name for partition in partitions if not partition.requested)
    return JOB_SUBMIT_LUA.format(partitions=",".join(names)) if len(names) > 1 else ""


def slurmdbd_conf(folder: Path, ports: Ports) -> str:
    """Return the text of slurmdbd.conf."""
    lines = [
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/{MUNGE_SOCKET}",
        f"DbdHost={CLUSTER_NAME}",
        f"DbdAddr={LOOPBACK}",
        f"DbdPort={ports.slurmdbd}",
        "CommunicationParameters=NoInAddrAny",
        "SlurmUser=root",
        f"PidFile={folder}/slurmdbd.pid",
        f"ArchiveDir={folder}",
        "StorageType=accounting_storage/mysql",
        "StorageHost=localhost",
        "StorageUser=root",
        "StorageLoc=slurm",
    ]
    return "\n".join(lines) + "\n"


def hosts(shape: ClusterShape) -> str:
    """Return the text that replaces /etc/hosts: every node is this machine."""
    return "".join(f"{LOOPBACK} {name}\n" for name in ("localhost", CLUSTER_NAME, *shape.all_nodes))


def rounds_before_slurmctld(shape: ClusterShape, user: str) -> list[list[list[str]]]:
    """Return rounds of commands to run before slurmctld starts; commands of one round may run at the same time."""
    qos = [["add", "qos", name, "Flags=DenyOnLimit", *_limits(qos)] for name, qos in shape.site.qos.items()]
    rounds = [[["add", "cluster", CLUSTER_NAME]], qos]
    return rounds + [[command] for account in shape.accounts for command in _account(shape, account, user)]


def round_after_slurmctld(shape: ClusterShape) -> list[list[str]]:
    """Return commands that limit GPUs; accounting knows GPUs only after slurmctld has started."""
    limits = {name: qos.max_num_gpus for name, qos in shape.site.qos.items() if qos.max_num_gpus}
    return [["modify", "qos", name, "set", f"MaxTRESPerJob=gres/gpu={limit}"] for name, limit in limits.items()]


def _account(shape: ClusterShape, account: str, user: str) -> list[list[str]]:
    partitions = [shape.site.partitions[key] for key in shape.accounts[account]]
    allowed = [name for partition in partitions for name in qos_of(partition)]
    # First without a partition, for jobs that leave the choice to Slurm; then for each partition with another default.
    return [
        ["add", "account", account, *_qos_words(allowed)],
        ["add", "user", user, f"Account={account}", *_qos_words(allowed)],
        *(
            ["add", "user", user, f"Account={account}", f"Partition={one.slurm_name}", *_qos_words(qos_of(one))]
            for one in partitions
            if qos_of(one)[0] != allowed[0]
        ),
    ]


def _limits(qos: Qos) -> list[str]:
    limits = {
        "MaxWall": qos.max_time_min,
        "MaxJobsPerUser": qos.max_num_jobs_per_user,
        "MaxSubmitJobsPerUser": qos.max_num_submitted_per_user,
    }
    return [f"{name}={limit}" for name, limit in limits.items() if limit]


def _qos_words(allowed: Sequence[str]) -> list[str]:
    return [f"QOS={','.join(dict.fromkeys(allowed))}", f"DefaultQOS={allowed[0]}"]
