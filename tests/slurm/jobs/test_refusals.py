"""Why Slurm refused a script: its own words are recognised, and the remedy is that of the site."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from coursekit.slurm.jobs.explain import HINTS, explain_refusal
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import account

ROOT = Path(__file__).parents[3]
OF_COMMANDS = {"unrecognized option", "Memory required by task is not available"}  # sbatch's own, or other versions'


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION", "SBATCH_PARTITION"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.needs("sbatch")
def test_the_table_holds_slurms_own_words():
    """Every pattern is part of an error text of the installed Slurm's library, so that it can be met at all."""
    library = ctypes.CDLL(str(next(Path("/usr/lib").glob("*/slurm-wlm/libslurmfull.so"))))
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
