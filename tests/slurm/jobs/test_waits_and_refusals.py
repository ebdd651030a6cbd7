"""Why a job waits or was refused: the words of the installed Slurm are known, and the remedy is that of the site."""

import ctypes
from datetime import datetime
from pathlib import Path

import pytest

from coursekit.slurm.jobs.explain import WHY_REFUSED, explain_pending, explain_refusal, reason_of
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import account, limits

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

    unknown = {one for row in WHY_REFUSED for one in row.examples if one.lower() not in texts.lower()}
    assert unknown <= OF_COMMANDS


REFUSED_ACCOUNT = "Invalid account or account/partition combination specified"


@pytest.mark.parametrize("given", ["", "OPEN-99"])
def test_an_account_has_the_form_of_the_partition(monkeypatch, given):
    """At a site whose accounts end with the kind of node, the remedy shows that end, and who has set one sees which."""
    monkeypatch.setenv("SBATCH_ACCOUNT", given)
    site = load_site(ROOT, "jean-zay")
    forms = {key: account(site, partition) for key, partition in site.partitions.items()}
    assert {form.partition("@")[2] for form in forms.values()} >= {"v100", "a100", "h100"}

    for key, form in forms.items():
        said = explain_refusal(REFUSED_ACCOUNT, site, key)
        assert said.code == "refused.account"
        assert [part for part in (form, given, REFUSED_ACCOUNT) if part not in said.words] == []


def test_limits_of_the_qos_are_told():
    """What the profile knows of a QOS's limits is part of the sentence."""
    site = load_site(ROOT, "karolina")
    named = ((key, name) for key, one in site.partitions.items() for name in (*one.qos, one.partition_qos) if name)
    key, name = next((key, name) for key, name in named if limits(site, name))
    said = explain_refusal("Job violates accounting/QOS policy (job submit limit, …)", site, key)
    assert said.code == "refused.limits"
    assert limits(site, name) in said.words


def test_forgotten_variables_are_named(monkeypatch):
    """A variable that overrides the script without a word is pointed at; unknown refusals are quoted."""
    monkeypatch.setenv("SBATCH_PARTITION", "x")
    said = explain_refusal("No words for this", load_site(ROOT, "karolina"))

    assert said.code == "refused.unknown"
    assert [part for part in ("No words for this", " SBATCH_PARTITION.") if part not in said.words] == []


@pytest.mark.needs("squeue")
def test_every_reason_of_slurm_has_words(library):
    """No reason that Slurm's own library names is answered with a shrug, those of ended jobs excepted."""
    name = next(name for name in ("slurm_job_reason_string", "job_reason_string") if hasattr(library, name))
    function = getattr(library, name)
    function.restype = ctypes.c_char_p
    names = {function(number).decode() for number in range(300)}
    reasons = {name for name in names if not name.isdigit()}

    assert len(reasons) > 150
    assert {reason for reason in reasons if reason_of(reason).code == "wait.unknown"} == OF_ENDED_JOBS


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("", "not-looked-at"),
        ("ReqNodeNotAvail, Reserved for maintenance", "maintenance"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "nodes-down"),
        ("launch_failed_requeued_held", "held-after-launch"),
        ("AssocGrpCPUMinutesLimit", "hours-used-up"),
        ("QOSMaxJobsPerUserLimit", "too-many-jobs"),
        ("QOSMaxGRESPerUser", "limit-of-resources"),
        ("SomethingNew", "unknown"),
    ],
)
def test_the_first_row_that_fits_counts(reason, code):
    """The families of limits go from narrow to wide."""
    assert reason_of(reason).code == f"wait.{code}"


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2026-11-20T17:20:00", "17:20."),
        ("2026-11-21T09:00:00", "09:00 on Saturday, 21 November."),
        ("2026-11-20T16:00:00", "(JobHeldUser)."),
        ("", "(JobHeldUser)."),
    ],
)
def test_a_reason_in_words(start, expected):
    """With what to do about this job and Slurm's own word; an estimate of its start, unless it has passed."""
    said = explain_pending("5", "JobHeldUser", start, NOW)
    assert said.startswith(f"Job 5 waits: {reason_of('JobHeldUser').words.format(job_id='5')} (JobHeldUser).")
    assert said.endswith(expected)
