"""What the site would refuse, the rehearsal refuses, in Slurm's own words, when the job is submitted."""

import pytest

PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc")
pytestmark = pytest.mark.needs(*PROGRAMS)

REFUSED = "sbatch: error: Batch job submission failed: "
ACCOUNT = "Invalid account or account/partition combination specified"
POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param(["--account=nobody"], ACCOUNT, id="no such account"),
        pytest.param(["--account=nemo-1@caves", "--partition=abyss"], ACCOUNT, id="account of another partition"),
        pytest.param(["--partition=lagoon"], "Invalid partition name specified", id="no such partition"),
        pytest.param(["--qos=fly"], "Invalid qos specification", id="no such QOS"),
        pytest.param(["--qos=tide"], "Invalid qos specification", id="QOS of another partition"),
        pytest.param(["--partition=abyss_test", "--qos=dive"], "Invalid qos specification", id="QOS not allowed there"),
        pytest.param(["--constraint=warm"], "Invalid feature specification", id="no such feature"),
        pytest.param(["--constraint=sunny"], "Requested node configuration is not available", id="feature elsewhere"),
        pytest.param(["--gres=gpu:5"], "Requested node configuration is not available", id="more GPUs than a node has"),
        pytest.param(["--cpus-per-task=33"], "Requested node configuration is not available", id="too many CPUs"),
        pytest.param(["--mem=65G"], "Requested node configuration is not available", id="too much memory"),
        pytest.param(["--nodes=2", "--gres=gpu:4"], POLICY, id="more GPUs than the QOS allows"),
        pytest.param(["--time=11:00:00"], POLICY, id="longer than the QOS allows"),
        pytest.param(
            ["--time=25:00:00"],
            "Requested time limit is invalid (missing or exceeds some limit)",
            id="longer than the partition allows",
        ),
        pytest.param(
            ["--partition=abyss_test", "--nodes=2"],
            "Node count specification invalid",
            id="over the partition's MaxNodes",
        ),
    ],
)
def test_refused_with_slurms_words(slurm, words, reason):
    """A job that could never run at the site is refused at once, and not left to wait for ever."""
    said = slurm("sbatch", *words, "--output=/dev/null", "--wrap=true")
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == REFUSED + reason


def test_the_limit_of_submitted_jobs_is_the_profiles(slurm):
    """Two jobs may stand in a queue with that limit, and a third is refused; the two are cancelled in the end."""
    words = ("sbatch", "--parsable", "--account=nemo-1", "--partition=shore", "--output=/dev/null", "--wrap=sleep 60")
    first, second, third = slurm(*words), slurm(*words), slurm(*words)
    cancelled = slurm("scancel", first.stdout.strip(), second.stdout.strip())
    assert (first.returncode, second.returncode, cancelled.returncode) == (0, 0, 0)
    assert third.stderr.splitlines() == ["sbatch: error: QOSMaxSubmitJobPerUserLimit", REFUSED + POLICY]


@pytest.mark.parametrize(
    "words",
    [
        ["--partition=abyss", "--qos=snorkel", "--time=20", "--nodes=2", "--gres=gpu:4", "--constraint=cold&dark"],
        ["--partition=abyss_test", "--nodes=1", "--time=20"],
        ["--account=nemo-1", "--partition=shore", "--constraint=sunny", "--cpus-per-task=24"],
        ["--time=10:00:00", "--gres=gpu:3", "--nodes=2", "--mem=64G"],
    ],
)
def test_accepted_within_the_limits(slurm, words):
    """Jobs within the limits of partition and QOS are taken."""
    assert slurm("sbatch", "--test-only", *words, "--wrap=true").returncode == 0
