"""Failed jobs are explained from what logs and accounting really say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coursekit.slurm.jobs.explain import explain, read_tail
from coursekit.slurm.jobs.failure_hints import LOG_HINTS
from coursekit.slurm.jobs.states import JobState

FAILED = JobState("FAILED", elapsed="00:00:09", exit_code="1:0")

# How logs end, and the beginning of the explanation. What a small Slurm can provoke, tests/slurm/jobs/test_on_slurm.py
# provokes; these are from machines that are not at hand (GPUs, Tcl modules, quotas), in the words of those programs.
ENDS = (
    pytest.param(
        "ModuleCmd_Load.c(213):ERROR:105: Unable to locate a modulefile for 'Horovod/0.16.0-CrayGNU-18.08-tf-1.12.0'",
        "The module Horovod/0.16.0-CrayGNU-18.08-tf-1.12.0 is not on this machine",
    ),
    pytest.param(
        "ERROR: Unable to locate a modulefile for 'tensorflow-gpu/py3/2.99'",
        "The module tensorflow-gpu/py3/2.99 is not on this machine",
    ),
    pytest.param(
        'Lmod has detected an error: These module(s) exist but cannot be loaded as requested: "Horovod/0.28.1"',
        "The module Horovod/0.28.1 is not on this machine, or needs another one first",
    ),
    pytest.param(
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=17.0. Some of your processes …",
        "The job used more memory",
    ),
    pytest.param(
        "slurmstepd: error: Detected 2 oom_kill events in StepId=17.batch.",
        "The job used more memory",
    ),
    pytest.param(
        "ResourceExhaustedError: OOM when allocating tensor with shape[64,112,112,64] on /device:GPU:0",
        "The GPU's memory",
    ),
    pytest.param(
        "failed to allocate 38.18GiB (40999649280 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "The GPU's",
    ),
    pytest.param(
        "NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "NCCL, which moves gradients",
    ),
    pytest.param(
        "horovod.common.exceptions.HorovodInternalError: ncclCommInitRank failed: ncclSystemError",
        "NCCL, which moves",
    ),
    pytest.param(
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks",
        "Ranks waited for one that did not come",
    ),
    pytest.param(
        "the deadline of 300 s passed; all ranks were ended. Where they stood:",
        "Ranks waited for one that did not come",
    ),
    pytest.param(
        "OSError: [Errno 122] Disk quota exceeded: 'jobs/03-keras-cnn-7'",
        "The disk is full, or your quota is used up",
    ),
    pytest.param(
        "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-11-20T17:00:00 DUE TO NODE FAILURE ***",
        "A node failed",
    ),
    pytest.param(
        "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-11-20T17:00:00 DUE TO PREEMPTION ***",
        "The job had to make room",
    ),
    pytest.param(
        "03-keras-cnn-train: the time limit is near; what is saved so far is in x.",
        "The job was told to",
    ),
    pytest.param(
        "NotImplementedError: your answer goes here",
        "An answer is still missing in the notebook",
    ),
    pytest.param(
        "E0000 failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        "The job saw no usable GPU",
    ),
    pytest.param(
        "[n1:123] PMIX ERROR: UNREACHABLE in file ptl_tcp.c at line 423",
        "MPI did not start",
    ),
)


@pytest.mark.parametrize(("line", "expected"), ENDS)
def test_the_end_of_a_log(line, expected):
    """One line among others is recognised, the first explanation is the right one, and it quotes the line."""
    found = explain(
        FAILED, f"lab 1/1 01-sgd: cell 1/29 imports\n{line}\nsrun: error: n1: task 0: Exited with exit code 1\n"
    )
    assert found[0].words.startswith(expected)
    assert found[0].evidence == line[:200]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (JobState("OUT_OF_MEMORY"), "The job used more memory than it had."),
        (JobState("TIMEOUT"), "The job reached its time limit."),
        (JobState("CANCELLED", cancelled_by="0"), "The job was cancelled by root."),
        (JobState("CANCELLED", cancelled_by="4294000"), "The job was cancelled by user 4294000."),
        (JobState("CANCELLED"), "The job was cancelled."),
        (JobState("NODE_FAIL"), "A node failed under the job, which is not your fault."),
        (JobState("FAILED", exit_code="9:0"), "The script was killed, mostly because memory ran out."),
        (JobState("FAILED", exit_code="127:0"), "The script called a program that is not there."),
    ],
)
def test_what_accounting_says(state, expected):
    """State and exit code are explained without a log; each names what it was recognised by."""
    (only,) = explain(state, "")
    assert only.words.startswith(expected)
    assert only.evidence in {f"Slurm's state {state.state}", f"Slurm's exit code {state.exit_code}"}


def test_a_log_counts_more_than_an_exit_code():
    """An exit code only hints; when the log knows, the hint is left out, and one line has one explanation."""
    log = "/var/spool/slurm_script: line 7: module: command not found\n"
    (only,) = explain(JobState("FAILED", exit_code="127:0"), log)
    assert only.words.startswith("The script's shell knows no `module`.")


def test_the_last_words_of_a_restarted_job_count():
    """A log that goes on after a restart is explained by its last start."""
    log = "bash: alpha: command not found\n…\nbash: omega: command not found\n"
    assert [e.evidence for e in explain(FAILED, log)] == ["bash: omega: command not found"]


def test_nothing_is_invented():
    """A job that completed needs no explanation, and a riddle gets none."""
    assert explain(JobState("COMPLETED", exit_code="0:0"), "slurm_script: line 1: x: command not found") == ()
    assert explain(FAILED, "all as usual\n") == ()


def test_few_words():
    """However much went wrong, three explanations are the most."""
    log = "\n".join(line for line, _ in (end.values for end in ENDS))
    assert len(explain(JobState("TIMEOUT"), log)) == 3


def test_the_rows_of_the_table_are_sentences():
    """Every row compiles and says in whole sentences what happened and what to do."""
    for row in LOG_HINTS:
        assert re.compile(row.pattern)
        assert row.words.format(name="x").endswith(".")


def test_only_the_end_of_a_log_is_read(tmp_path):
    """A log of any length is read in a moment: its last 64 kB, cut anywhere."""
    log = Path(tmp_path, "x.out")
    assert read_tail(log) == ""
    log.write_text("early\n" + "ü" * 100_000 + "\nlate\n")
    tail = read_tail(log)
    assert (len(tail.encode()) < 64_100, "early" in tail, tail.endswith("\nlate\n")) == (True, False, True)
