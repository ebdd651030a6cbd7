"""Slurm's commands are called with care, their failures are sentences, and their lines are read as they are."""

import pytest

from coursekit.slurm.jobs.slurm_cli import JobState, SlurmError, call, job_environment, parse_accounting


def program(folder, monkeypatch, name, text):
    """Put a program of this name on the PATH, in place of one of Slurm's that cannot be made to behave so."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_a_missing_command(monkeypatch, tmp_path):
    """On a machine without Slurm one sentence says where to go."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmError, match=r"squeue .*\[slurm\.no-command\]"):
        call("squeue")


def test_a_command_that_fails(monkeypatch, tmp_path):
    """Its own words are kept, without the prefixes that say nothing; a silent one is told by its status."""
    said = (
        "sbatch: error: invalid partition specified: x\\nsbatch: error: Batch job submission failed: Invalid partition"
    )
    program(tmp_path, monkeypatch, "sbatch", f"printf '{said}\\n' >&2; exit 1")
    with pytest.raises(SlurmError) as failed:
        call("sbatch")
    assert failed.value.words == "invalid partition specified: x, Invalid partition"
    assert (failed.value.code, failed.value.words in str(failed.value)) == ("slurm.failed", True)
    program(tmp_path, monkeypatch, "scancel", "exit 3")
    with pytest.raises(SlurmError, match=r"scancel .* 3 \[slurm\.failed\]"):
        call("scancel")


def test_a_command_that_hangs(monkeypatch, tmp_path):
    """Nobody waits for ever for a controller that does not answer."""
    program(tmp_path, monkeypatch, "squeue", "exec sleep 3600")
    with pytest.raises(SlurmError, match=r"squeue .*0\.5 s.*\[slurm\.busy\]"):
        call("squeue", timeout_s=0.5)


def test_a_job_does_not_inherit_the_job_it_was_submitted_from(monkeypatch):
    """A notebook inside an allocation submits jobs as a login node does; where the controller is stays known."""
    of_slurm = ("SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_MEM_PER_NODE", "SLURM_CPUS_PER_TASK")
    inherited = (*of_slurm, "FORCE_COLOR", "MPLBACKEND")
    for name in (*inherited, "SLURM_CONF", "SBATCH_ACCOUNT", "SLURM_CLUSTERS", "HOROVOD_RANK", "HOME"):
        monkeypatch.setenv(name, "7")
    kept = job_environment()
    assert {name for name in kept if kept[name] == "7"} >= {"SLURM_CONF", "SBATCH_ACCOUNT", "SLURM_CLUSTERS", "HOME"}
    assert not {*inherited, "HOROVOD_RANK"} & kept.keys()


@pytest.mark.needs("squeue")
def test_a_controller_that_is_down(monkeypatch, tmp_path):
    """Where nobody answers, one sentence says where to go, whichever command was called."""
    conf = tmp_path / "slurm.conf"
    conf.write_text(
        "ClusterName=x\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\nMessageTimeout=2\nNodeName=n\n"
    )
    monkeypatch.setenv("SLURM_CONF", str(conf))
    for words in (["squeue"], ["scancel", "5"], ["sbatch", "--wrap=true"]):
        with pytest.raises(SlurmError, match=rf"{words[0]} .*\[slurm\.away\]"):
            call(*words)


# As sacct of Slurm 22.05 wrote them: a job that completed, one that root cancelled, one whose step used too much
# memory, one that the time limit ended, one that never started; an array of which one task ran before the others were
# cancelled, and one with a limit; a job of two parts.
LINES = """\
1|COMPLETED|2026-11-20T17:41:02|00:00:23|main-1|1|0:0
1.batch|COMPLETED|2026-11-20T17:41:02|00:00:23|main-1|1.batch|0:0
7|CANCELLED by 0|2026-11-20T17:43:58|00:00:20|main-1|7|0:0
7.batch|CANCELLED|2026-11-20T17:43:58|00:00:20|main-1|7.batch|0:15
7.0|CANCELLED|2026-11-20T17:43:58|00:00:20|main-1|7.0|0:15
8|FAILED|2026-11-20T17:43:58|00:00:04|main-2|8|1:0
8.batch|FAILED|2026-11-20T17:43:58|00:00:04|main-2|8.batch|1:0
8.0|OUT_OF_MEMORY|2026-11-20T17:43:58|00:00:03|main-2|8.0|0:125
21|TIMEOUT|2026-11-20T17:44:02|00:01:24|main-2|21|0:0
23|CANCELLED by 0|Unknown|00:00:00|None assigned|23|0:0
24_1|FAILED|2026-11-20T17:44:02|00:00:04|main-2|25|1:0
24_1.0|OUT_OF_MEMORY|2026-11-20T17:44:02|00:00:03|main-2|25.0|0:125
24_[3-4,8]|CANCELLED by 0|Unknown|00:00:00|None assigned|24|0:0
26_[1-5:2%2]|PENDING|Unknown|00:00:00|None assigned|26|0:0
27+0|COMPLETED|2026-11-20T17:44:02|00:00:02|main-1|27|0:0
27+0.batch|COMPLETED|2026-11-20T17:44:02|00:00:02|main-1|27.batch|0:0
27+1|COMPLETED|2026-11-20T17:44:02|00:00:02|main-2|28|0:0
"""


def test_jobs_of_accounting():
    """A step that ran out of memory tells why its job failed; who cancelled is kept; values for nothing are ''.

    Tasks that never started share a line, and have no number of their own.
    """
    never = JobState("CANCELLED", "", "", "00:00:00", "", "0:0", "0")
    waiting = JobState("PENDING", "", "", "00:00:00", "", "0:0")
    at = "2026-11-20T17:44:02"
    assert parse_accounting(LINES) == {
        "1": JobState("COMPLETED", "", "2026-11-20T17:41:02", "00:00:23", "main-1", "0:0", number="1"),
        "7": JobState("CANCELLED", "", "2026-11-20T17:43:58", "00:00:20", "main-1", "0:0", "0", number="7"),
        "8": JobState("OUT_OF_MEMORY", "", "2026-11-20T17:43:58", "00:00:04", "main-2", "1:0", number="8"),
        "21": JobState("TIMEOUT", "", at, "00:01:24", "main-2", "0:0", number="21"),
        "23": never,
        "24_1": JobState("OUT_OF_MEMORY", "", at, "00:00:04", "main-2", "1:0", number="25"),
        **dict.fromkeys(("24_3", "24_4", "24_8"), never),
        **dict.fromkeys(("26_1", "26_3", "26_5"), waiting),
        "27+0": JobState("COMPLETED", "", at, "00:00:02", "main-1", "0:0", number="27"),
        "27+1": JobState("COMPLETED", "", at, "00:00:02", "main-2", "0:0", number="28"),
    }
    ran = {job_id for job_id, state in parse_accounting(LINES).items() if state.ever_ran}
    assert ran == {"1", "7", "8", "21", "24_1", "27+0", "27+1"}
