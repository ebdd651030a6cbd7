"""The private Slurm looks like its site, runs ranks on two nodes, and keeps to itself."""

import contextlib
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc")
pytestmark = pytest.mark.needs(*PROGRAMS)

DAEMONS = {"slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd"}
ELSEWHERE = (
    *("/etc/slurm", "/run/munge", "/var/run/munge", "/var/lib/mysql", "/var/spool/slurm", "/var/lib/slurm"),
    f"{tempfile.gettempdir()}/",  # of which a database deletes what looks like temporary tables
)
WHO_AM_I = "import horovod.tensorflow as hvd; hvd.init(); print(hvd.rank(), hvd.size(), hvd.local_rank())"


def test_partitions_are_the_profiles(slurm):
    """Names in Slurm, nodes, times, most nodes, accounts and QOS of every partition are those of the profile."""
    keys = (
        "PartitionName",
        "Nodes",
        "Default",
        "DefaultTime",
        "MaxTime",
        "MaxNodes",
        "AllowAccounts",
        "AllowQos",
        "QoS",
    )
    said = [dict(word.split("=", 1) for word in line.split()) for line in _lines(slurm, "show", "partition")]
    assert [tuple(row[key] for key in keys) for row in said] == [
        ("abyss", "deep-[1-2]", "YES", "01:30:00", "1-00:00:00", "UNLIMITED", "nemo-1@deep", "dive,snorkel", "N/A"),
        ("abyss_test", "deep-[1-2]", "NO", "00:10:00", "00:30:00", "1", "nemo-1@deep", "snorkel", "N/A"),
        ("caves", "caves-[1-2]", "NO", "01:00:00", "02:00:00", "UNLIMITED", "nemo-1@caves", "normal", "N/A"),
        ("shore", "shore-[1-2]", "NO", "01:00:00", "02:00:00", "UNLIMITED", "nemo-1", "normal", "tide"),
    ]


def test_nodes_are_the_profiles(slurm):
    """Every kind of node has the profile's CPUs, memory, GPUs and features, and takes jobs."""
    rows = slurm("sinfo", "--Node", "--noheader", "--format=%N|%c|%m|%G|%f|%T").stdout.splitlines()
    assert sorted(set(rows)) == [
        "caves-1|8|32768|gpu:2|narrow|idle",
        "caves-2|8|32768|gpu:2|narrow|idle",
        "deep-1|32|65536|gpu:4|cold,dark|idle",
        "deep-2|32|65536|gpu:4|cold,dark|idle",
        "shore-1|24|49152|gpu:1|sunny|idle",
        "shore-2|24|49152|gpu:1|sunny|idle",
    ]


def test_qos_have_the_profiles_limits(slurm):
    """Accounting knows every QOS with its limits, and refuses jobs beyond them at once."""
    words = ("--noheader", "--parsable2", "show", "qos", "format=Name,MaxWall,MaxTRES,MaxJobsPU,MaxSubmitPU,Flags")
    assert sorted(slurm("sacctmgr", *words).stdout.splitlines()) == [
        "dive|10:00:00|gres/gpu=6|||DenyOnLimit",
        "normal|||||",
        "snorkel|00:20:00||3||DenyOnLimit",
        "tide||||2|DenyOnLimit",
    ]


def test_accounts_have_the_profiles_qos(slurm):
    """Every form of the account may use its partitions' QOS; the default is that of the partition."""
    words = (
        "--noheader",
        "--parsable2",
        "show",
        "assoc",
        "where",
        "user=root",
        "format=Account,Partition,QOS,DefaultQOS",
    )
    assert sorted(slurm("sacctmgr", *words).stdout.splitlines()) == [
        "nemo-1@caves||normal|normal",
        "nemo-1@deep|abyss_test|snorkel|snorkel",
        "nemo-1@deep||dive,snorkel|dive",
        "nemo-1||normal|normal",
        "root||normal|",
    ]


@pytest.mark.parametrize(
    ("words", "node"),
    [
        ([], "deep-1"),
        (["--account=nemo-1@caves", "--constraint=narrow"], "caves-1"),
        (["--account=nemo-1", "--partition=shore"], "shore-1"),
    ],
)
def test_the_partition_follows_from_account_and_constraint(slurm, words, node):
    """Where job scripts do not name a partition, Slurm finds it, as at the site; a named one is taken."""
    assert slurm("srun", *words, "hostname").stdout == f"{node}\n"


def test_every_node_has_a_name_and_temporary_files_of_its_own(slurm):
    """Tasks see their node's name as host name, a TMPDIR of the node's own, and an empty /dev/shm of its own."""
    show = (
        'test "$(hostname)" = "$SLURMD_NODENAME" && echo "$(hostname) ${TMPDIR##*/} $(ls /dev/shm)"; touch /dev/shm/x'
    )
    said = slurm("srun", "--nodes=2", "--constraint=cold", "bash", "-c", show)
    assert sorted(said.stdout.split("\n")) == ["", "deep-1 tmp-deep-1 ", "deep-2 tmp-deep-2 "]


def test_tasks_get_the_gpus_of_their_node(slurm):
    """GPUs are handed out by number, and a task sees those of its step only."""
    said = slurm("srun", "--gres=gpu:3", "bash", "-c", "echo $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS")
    assert said.stdout == "0,1,2 0,1,2\n"


@pytest.mark.needs("mpicc")
def test_ranks_of_two_nodes_meet_over_pmix(slurm):
    """Horovod with MPI, started by `srun --mpi=pmix` on two nodes, has two ranks, each the first of its node."""
    said = slurm(
        *("srun", "--nodes=2", "--ntasks=2", "--mpi=pmix", sys.executable, "-c", WHO_AM_I),
        HOROVOD_CONTROLLER="mpi",
        HOROVOD_CPU_OPERATIONS="mpi",
        TF_CPP_MIN_LOG_LEVEL="3",
    )
    assert sorted(said.stdout.splitlines()) == ["0 2 0", "1 2 0"], said.stderr


@pytest.mark.parametrize("mpi", [["--mpi=pmi2"], []])
def test_tasks_start_without_pmix(slurm, mpi):
    """`srun --mpi=pmi2` and plain `srun` start a task on each node; PMI-2 tells it its rank."""
    said = slurm("srun", *mpi, "--nodes=2", "bash", "-c", "echo $(hostname) $SLURM_PROCID ${PMI_RANK-} ${PMI_SIZE-}")
    assert sorted(said.stdout.splitlines()) == (["deep-1 0 0 2", "deep-2 1 1 2"] if mpi else ["deep-1 0", "deep-2 1"])


def test_daemons_listen_on_loopback_only(cluster):
    """Each daemon that listens does so on 127.0.0.1: two for the cluster, and one for each of six nodes."""
    # A daemon's child may have its sockets for a moment, too.
    addresses = {
        connection.laddr
        for process in _processes_of(cluster)
        for connection in _of(process.net_connections, "inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert [address.ip for address in addresses] == ["127.0.0.1"] * 8


def test_nothing_of_the_machines_own_slurm_is_open(cluster):
    """No daemon reads or writes where the machine's own, or another rehearsal's, has its files."""
    paths = [path for process in _processes_of(cluster) for path in _open_paths(process)]
    inside = f"{cluster.folder}/"
    assert any(path.startswith(inside) for path in paths)
    assert [path for path in paths if path.startswith(ELSEWHERE) and not path.startswith(inside)] == []


def _lines(slurm, *words):
    return slurm("scontrol", "--oneliner", *words).stdout.splitlines()


def _processes_of(cluster):
    """Return the daemons among the processes that this one has started."""
    del cluster  # the only one that this process runs
    children = psutil.Process().children(recursive=True)
    return [process for process in children if _of(process.name) in DAEMONS]


def _open_paths(process):
    """Return the files that a process has open, also those that are deleted already."""
    with contextlib.suppress(FileNotFoundError):
        return [str(link.readlink()) for link in Path("/proc", str(process.pid), "fd").iterdir()]
    return []


def _of(question, *words):
    """Return what a process says, nothing if it has just ended: a daemon's child does one thing and ends."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return question(*words)
    return ()
