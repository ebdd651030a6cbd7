"""The private Slurm takes and refuses what its site would, has the site's software, and keeps to itself."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from .conftest import NEEDS_SLURM

pytestmark = NEEDS_SLURM

DAEMONS = {"slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd"}
ELSEWHERE = (
    *("/etc/slurm", "/run/munge", "/var/run/munge", "/var/lib/mysql", "/var/spool/slurm", "/var/lib/slurm"),
    f"{tempfile.gettempdir()}/",  # of which a database deletes what looks like temporary tables
)
ACCOUNT = "Invalid account or account/partition combination specified"
NODE = "Requested node configuration is not available"
POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
QOS = "Invalid qos specification"
MODULE = """\
module purge
module load {module} || {{ echo "no module"; exit 1; }}
echo "$COURSEKIT_REHEARSED_MODULES"
which python
"""


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--account=nemo-1@caves", "--partition=abyss"], ACCOUNT),
        (["--qos=tide"], QOS),  # that of another partition
        (["--constraint=warm"], "Invalid feature specification"),
        (["--constraint=sunny"], NODE),  # a feature of another partition
        (["--gres=gpu:5"], NODE),
        (["--cpus-per-task=33"], NODE),
        (["--mem=65G"], NODE),
        (["--nodes=2", "--gres=gpu:4"], POLICY),  # more GPUs than the QOS allows
        (["--time=11:00:00"], POLICY),
        (["--time=25:00:00"], "Requested time limit is invalid (missing or exceeds some limit)"),
        (["--partition=abyss_test", "--nodes=2"], "Node count specification invalid"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_what_the_site_would_refuse_is_refused(slurm, words, reason):
    """When the job is submitted and in Slurm's own words, instead of leaving it to wait for ever."""
    said = slurm("sbatch", *words, "--output=/dev/null", "--wrap=true")
    assert (said.returncode, said.stderr.splitlines()[-1].endswith(f": {reason}")) == (1, True)


def test_the_limit_of_submitted_jobs_is_the_profiles(slurm):
    """Two jobs may stand in a queue with that limit, and a third is refused; the two are cancelled in the end."""
    words = ("sbatch", "--parsable", "--account=nemo-1", "--partition=shore", "--output=/dev/null", "--wrap=sleep 60")
    first, second, third = slurm(*words), slurm(*words), slurm(*words)
    cancelled = slurm("scancel", first.stdout.strip(), second.stdout.strip())
    assert (first.returncode, second.returncode, cancelled.returncode) == (0, 0, 0)
    assert "QOSMaxSubmitJobPerUserLimit" in third.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--partition=abyss", "--qos=snorkel", "--time=20", "--nodes=2", "--gres=gpu:4", "--constraint=cold&dark"],
        ["--partition=abyss_test", "--nodes=1", "--time=20"],
        ["--account=nemo-1", "--partition=shore", "--constraint=sunny", "--cpus-per-task=24"],
        ["--time=10:00:00", "--gres=gpu:3", "--nodes=2", "--mem=64G"],
    ],
)
def test_what_is_within_the_limits_is_taken(slurm, words):
    """Of partition and QOS."""
    assert slurm("sbatch", "--test-only", *words, "--wrap=true").returncode == 0


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
    show = 'echo "$(hostname) $SLURMD_NODENAME ${TMPDIR##*/} $(ls /dev/shm)"; touch /dev/shm/x'
    said = slurm("srun", "--nodes=2", "--constraint=cold", "bash", "-c", show)
    assert sorted(said.stdout.splitlines()) == ["deep-1 deep-1 tmp-deep-1 ", "deep-2 deep-2 tmp-deep-2 "]


@pytest.mark.parametrize(
    ("module", "is_known"),
    [("water", True), ("Horovod/0.28.1-salt", True), ("pressure/2", True), ("Horovod/0.28.2", False)],
)
def test_a_login_shell_loads_the_profiles_modules(slurm, module, is_known):
    """A module puts the Python that rehearses on the PATH; one that the profile does not name cannot be loaded."""
    clean = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin"}
    said = slurm("srun", "--nodes=1", "bash", "-l", "-c", MODULE.format(module=module), **clean)
    found = [module, str(Path(sys.executable).parent / "python")]
    assert (said.returncode, said.stdout.split()) == ((0, found) if is_known else (1, ["no", "module"]))


def test_the_sites_option_asks_for_a_description(slurm, tmp_path):
    """`--environment=NAME` is taken where a folder of EDF_PATH or ~/.edf holds NAME.toml, else refused."""
    (tmp_path / "edf").mkdir()
    words = ("srun", "--nodes=2", "--environment=coursekit", "hostname")
    refused = slurm(*words, EDF_PATH=f"{tmp_path}:{tmp_path}/edf", HOME=str(tmp_path))
    (tmp_path / "edf" / "coursekit.toml").touch()
    taken = slurm(*words, EDF_PATH=f"{tmp_path}:{tmp_path}/edf", HOME=str(tmp_path))
    (tmp_path / "edf").rename(tmp_path / ".edf")
    at_home = slurm(*words, HOME=str(tmp_path))
    assert (refused.returncode != 0, "coursekit.toml" in refused.stderr) == (True, True)
    assert sorted(taken.stdout.split()) == sorted(at_home.stdout.split()) == ["deep-1", "deep-2"]


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
