"""Why a job waits or was refused: the words of the installed Slurm are known, and the remedy is that of the site."""

import ctypes
from datetime import datetime
from pathlib import Path

import pytest

from coursekit.slurm.jobs.explain import HINTS, explain_pending, explain_refusal
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import account

ROOT = Path(__file__).parents[3]
OF_COMMANDS = {"unrecognized option", "Memory required by task is not available"}  # sbatch's own, or other versions'


NOW = datetime(2026, 11, 20, 17, 0)  # noqa: DTZ001  # as Slurm's, without a zone
# Reasons of a job that has ended; no waiting job has them.
OF_ENDED_JOBS = {"SystemFailure", "NonZeroExitCode", "TimeLimit", "InactiveLimit", "OutOfMemory"}


@pytest.fixture
def library():
    """Return the installed Slurm's own library."""
    return ctypes.CDLL(str(next(Path("/usr/lib").glob("*/slurm-wlm/libslurmfull.so"))))


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION", "SBATCH_PARTITION"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.needs("sbatch")
def test_the_table_holds_slurms_own_words(library):
    """Every pattern is part of an error text of the installed Slurm's library, so that it can be met at all."""
    library.slurm_strerror.restype = ctypes.c_char_p
    texts = " | ".join(library.slurm_strerror(number).decode() for number in range(1000, 6000))

    unknown = {one for row in HINTS.refused for one in row.examples if one.lower() not in texts.lower()}
    assert unknown <= OF_COMMANDS


def test_an_account_has_the_form_of_the_partition():
    """At a site whose accounts end with the kind of node, the remedy shows that end."""
    site = load_site(ROOT, "jean-zay")
    suffixes = {account(site, site.partitions[key]).partition("@")[2] for key in site.partitions}
    assert suffixes >= {"v100", "a100", "h100"}
    form = account(site, site.partitions[site.default_partition])

    words = "Invalid account or account/partition combination specified"
    assert explain_refusal(words, site, site.default_partition) == (
        "jean-zay refused the job: no account was given, and there is no default one: "
        f"`export SBATCH_ACCOUNT={form}`, with your project. Slurm says: {words}."
    )


def test_a_wrong_account_is_named(monkeypatch):
    """Who has set an account sees which, and what it should look like."""
    monkeypatch.setenv("SBATCH_ACCOUNT", "OPEN-99")
    site = load_site(ROOT, "karolina")
    words = "Invalid account or account/partition combination specified"

    assert explain_refusal(words, site, "qgpu") == (
        "karolina refused the job: the account OPEN-99 (SBATCH_ACCOUNT) does not exist, is not yours, or is not for "
        f"this partition: set one of the form OPEN-00-00. Slurm says: {words}."
    )


def test_limits_of_the_qos_are_told():
    """What the profile knows of a QOS's limits is part of the sentence."""
    site = load_site(ROOT, "karolina")
    said = explain_refusal("Job violates accounting/QOS policy (job submit limit, …)", site, "qgpu_exp")
    qos = site.qos["qgpu_exp"]
    assert f"{qos.max_num_jobs_per_user} running, {qos.max_num_submitted_per_user} running or waiting" in said


def test_forgotten_variables_are_named(monkeypatch):
    """A variable that overrides the script without a word is pointed at; unknown refusals are quoted."""
    monkeypatch.setenv("SBATCH_PARTITION", "x")
    site = load_site(ROOT, "karolina")

    assert explain_refusal("No words for this", site, "qgpu") == (
        "karolina refused the job. Slurm says: No words for this. "
        "These variables of your shell override the script: SBATCH_PARTITION."
    )


@pytest.mark.needs("squeue")
def test_every_reason_of_slurm_has_words(library):
    """No reason that Slurm's own library names is answered with a shrug, those of ended jobs excepted."""
    name = next(name for name in ("slurm_job_reason_string", "job_reason_string") if hasattr(library, name))
    function = getattr(library, name)
    function.restype = ctypes.c_char_p
    names = {function(number).decode() for number in range(300)}
    reasons = {name for name in names if not name.isdigit()}

    assert len(reasons) > 150
    shrugged = {reason for reason in reasons if "does not know" in explain_pending("5", reason)}
    assert shrugged == OF_ENDED_JOBS


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("Priority", "other jobs are ahead of it"),
        (
            "ReqNodeNotAvail, Reserved for maintenance",
            "maintenance begins before it could end: ask for a shorter time, or wait for it",
        ),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "nodes that it needs are down, switched off or reserved"),
        ("JobHeldUser", "you hold it: `scontrol release 5` releases it"),
        ("launch_failed_requeued_held", "its node could not start it: `scontrol release 5` tries again"),
        ("AssocGrpCPUMinutesLimit", "your project has used up its hours: ask the course's instructors"),
        ("QOSMaxJobsPerUserLimit", "you, or your project, have as many jobs as allowed: wait for one to end"),
        ("QOSMaxGRESPerUser", "your jobs, or your project's, use all that they may use at once: wait for one to end"),
        ("SomethingNew", "Slurm gives a reason that this kit does not know"),
    ],
)
def test_a_reason_in_words(reason, expected):
    """A sentence says why, what to do where one can do something, and Slurm's own word."""
    assert explain_pending("5", reason, now=NOW) == f"Job 5 waits: {expected} ({reason})."


def test_a_job_without_a_reason():
    """Until Slurm has looked at a job it gives none."""
    assert explain_pending("5", "") == "Job 5 waits: Slurm has not looked at it yet."


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2026-11-20T17:20:00", " Slurm expects it to start at 17:20."),
        ("2026-11-21T09:00:00", " Slurm expects it to start at 09:00 on Saturday, 21 November."),
        ("2026-11-20T16:00:00", ""),
        ("", ""),
    ],
)
def test_the_start_that_slurm_expects(start, expected):
    """An estimate is told by the clock; one that has passed, or none, is left out."""
    assert (
        explain_pending("5", "Priority", start, NOW) == f"Job 5 waits: other jobs are ahead of it (Priority).{expected}"
    )
