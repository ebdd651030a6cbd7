"""Failed jobs are explained from what logs and accounting really say."""

from pathlib import Path

import pytest

from coursekit.errors import codes_in
from coursekit.slurm.jobs.explain import WHY_ENDED, WHY_REFUSED, WHY_WAITING, explain, read_tail
from coursekit.slurm.jobs.slurm_cli import JobState

FAILED = JobState("FAILED", elapsed="00:00:09", exit_code="1:0")


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (JobState("OUT_OF_MEMORY"), "job.out-of-memory"),
        (JobState("CANCELLED"), "job.cancelled"),
        (JobState("NODE_FAIL"), "node.failed"),
        (JobState("FAILED", exit_code="9:0"), "job.killed"),
        (JobState("FAILED", exit_code="127:0"), "program.not-found"),
    ],
)
def test_what_accounting_says(state, code):
    """State and exit code are explained without a log; each names what it was recognised by."""
    (only,) = explain(state, "")
    assert only.code == code
    assert only.evidence in {f"Slurm's state {state.state}", f"Slurm's exit code {state.exit_code}"}


def test_who_cancelled_a_job_is_named():
    """By the account's name, if this machine knows it, else by its number."""
    root, other = (explain(JobState("CANCELLED", cancelled_by=number), "")[0].words for number in ("0", "4294000"))
    assert (" root." in root, " 4294000." in other) == (True, True)


def test_a_log_counts_more_than_an_exit_code():
    """An exit code only hints; when the log knows, the hint is left out, and one line has one explanation."""
    log = "/var/spool/slurm_script: line 7: module: command not found\n"
    assert [one.code for one in explain(JobState("FAILED", exit_code="127:0"), log)] == ["module.no-command"]


def test_codes_are_codes():
    """The name of each row in `hints.toml` can be found in a message."""
    codes = [row.code for row in (*WHY_WAITING, *WHY_REFUSED, *WHY_ENDED)]
    assert codes_in(" ".join(f"[{code}]" for code in codes)) == codes


def test_the_last_words_of_a_restarted_job_count():
    """A log that goes on after a restart is explained by its last start."""
    log = "bash: alpha: command not found\n…\nbash: omega: command not found\n"
    assert [e.evidence for e in explain(FAILED, log)] == ["bash: omega: command not found"]


def test_nothing_is_invented():
    """A job that completed needs no explanation, and a riddle gets none."""
    assert explain(JobState("COMPLETED", exit_code="0:0"), "slurm_script: line 1: x: command not found") == ()
    assert explain(FAILED, "all as usual\n") == ()


def test_only_the_end_of_a_log_is_read(tmp_path):
    """A log of any length is read in a moment: its last 64 kB, cut anywhere."""
    log = Path(tmp_path, "x.out")
    assert read_tail(log) == ""
    log.write_text("early\n" + "ü" * 100_000 + "\nlate\n")
    tail = read_tail(log)
    assert (len(tail.encode()) < 64_100, "early" in tail, tail.endswith("\nlate\n")) == (True, False, True)


TENSORFLOW = (
    "2026-11-20 17:00:01.123456: E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:266] failed call to "
    "cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
)
PAPERMILL = """Traceback (most recent call last):
  File "/course/.venv/bin/coursekit", line 8, in <module>
    sys.exit(main())
papermill.exceptions.PapermillExecutionError:
---------------------------------------------------------------------------
Exception encountered at "In [7]":
---------------------------------------------------------------------------
{kind}                                Traceback (most recent call last)
Cell In[7], line 3
{kind}: {text}

"""
SRUN = "srun: error: n1: task 0: Exited with exit code 1\n"
CANCELLED = "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-11-20T17:00:00 ***\n"
STALLED = (
    "[2026-11-20 17:00:00.1: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be "
    "reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for 60 seconds.\n"
)
LOST = (
    "horovod.common.exceptions.HorovodInternalError: [/tmp/gloo/transport/tcp/pair.cc:589] Read error "
    "[127.0.0.1]:4242: Connection reset by peer\n"
)

# Logs as they are, of several programs, and the cause; the rest is noise or a consequence.
# What a small Slurm can provoke, tests/slurm/jobs/test_on_slurm.py provokes; these are from machines that are not at
# hand (GPUs, Tcl modules, quotas).
LOGS = {
    "failed cell": (TENSORFLOW + PAPERMILL.format(kind="ValueError", text="shapes differ") + SRUN, "program.raised"),
    "missing answer": (
        TENSORFLOW + PAPERMILL.format(kind="NotImplementedError", text="your answer goes here") + SRUN,
        "answer.missing",
    ),
    "cell without a module": (
        PAPERMILL.format(kind="ModuleNotFoundError", text="No module named 'pandas'"),
        "package.missing",
    ),
    "rank": (
        "1: Traceback (most recent call last):\n1: ZeroDivisionError: division by zero\n" + LOST,
        "program.raised",
    ),
    "quota": (TENSORFLOW + "OSError: [Errno 122] Disk quota exceeded: 'a'\n" + SRUN, "disk.full"),
    "oom, then lost": (
        LOST + "srun: error: n1: task 1: Out Of Memory\nslurmstepd: error: Detected 1 oom-kill event(s) in step 17.0\n",
        "job.out-of-memory",
    ),
    "no GPU at all": (TENSORFLOW + SRUN, "gpu.unusable"),
    "NCCL": (
        TENSORFLOW + "n1:12:34 [0] NCCL WARN x\nHorovodInternalError: ncclAllReduce failed: ncclSystemError\n",
        "nccl.failed",
    ),
    "two ranks on one GPU": (  # as an H200 said it
        TENSORFLOW + "HorovodInternalError: ncclCommInitRank failed: invalid usage (run with NCCL_DEBUG=WARN)\n" + SRUN,
        "gpu.shared",
    ),
    "time, interrupted": (
        "KeyboardInterrupt\nslurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***\n",
        "job.time-limit",
    ),
    "lmod": (
        (
            'Lmod has detected an error:  The following module(s) are unknown: "TensorFlow/2.99"\n\n'
            "Please check the version number.\nslurm_script: line 9: .venv/bin/python: No such file or directory\n"
        ),
        "venv.missing",
    ),
    "Open MPI": (
        "*** An error occurred in MPI_Init_thread\n*** on a NULL communicator\n[n1:99] Local abort before MPI_INIT\n"
        + SRUN,
        "mpi.not-started",
    ),
    "stalled": (TENSORFLOW + STALLED + CANCELLED, "collective.incomplete"),
    "stalled, since one failed": (
        STALLED + "1: Traceback (most recent call last):\n1: ValueError: no\n" + LOST,
        "program.raised",
    ),
    "no network": (
        TENSORFLOW + "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>\n" + SRUN,
        "network.unreachable",
    ),
    "tcl of 2018": (
        "ModuleCmd_Load.c(213):ERROR:105: Unable to locate a modulefile for 'a/1'\n" + SRUN,
        "module.unknown",
    ),
    "GPU memory of XLA, in short": (
        "failed to allocate 38.18GiB (40999649280 bytes) from device\n",
        "gpu.out-of-memory",
    ),
    "GPU memory, as a warning": (
        (
            "W0000 00:00:1795703636.321773   18029 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory "
            "trying to allocate 784.00MiB (rounded to 822083584)requested by op Conv2D\n"
        ),
        "gpu.out-of-memory",
    ),
    "GPU memory, as an error": (
        (
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with "
            "shape[256,112,112,64] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator "
            "GPU_0_bfc [Op:Conv2D] name: \n"
        ),
        "gpu.out-of-memory",
    ),
    "GPU memory, for cuDNN": (
        (
            "tensorflow.python.framework.errors_impl.NotFoundError: {{function_node __inference_step_4434}} "
            "No algorithm worked!  Error messages:\n  Profiling failure on CUDNN engine eng11{}: RESOURCE_EXHAUSTED: "
            "Out of memory while trying to allocate 16.00MiB. [tf-allocator-allocation-error='']\n"
        ),
        "gpu.out-of-memory",
    ),
    "GPU memory, for cuBLAS": (
        "tensorflow.python.framework.errors_impl.InternalError: No BLAS for stream.\n" + SRUN,
        "gpu.out-of-memory",
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_cause_comes_before_noise_and_consequences(name):
    """In a whole log the first explanation is the cause, and it quotes the line that says so."""
    log, code = LOGS[name]
    first = explain(FAILED, log)[0]
    assert (first.code, "{" in first.words) == (code, False)
    assert first.evidence
    assert first.evidence[:60] in " ".join(log.split())


def test_few_words():
    """However much went wrong, three explanations are the most."""
    log = "\n".join(log for log, _ in LOGS.values())
    assert len(explain(JobState("TIMEOUT"), log)) == 3
