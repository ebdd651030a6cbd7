"""Call Slurm's commands, and read what they report about jobs; no other module calls them.

Each command has a time limit, and its failure is reported in one sentence.
The state of a job comes from the queue as long as the queue remembers the job, and then from accounting, if it is on.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from coursekit.environ import FOR_SBATCH, slurm_environ
from coursekit.waiting import AwayError

LOGGER = logging.getLogger(__name__)
TIMEOUT_S = 60.0  # a busy controller answers late, and tells commands to try again

# A kernel sets these for its own output (ipykernel's `init_io` and its launcher); in jobs, they put colours into logs.
KERNEL_VARIABLES = {"CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "MPLBACKEND", "PAGER", "GIT_PAGER", "JPY_PARENT_PID"}

# Slurm's commands print this if no controller is configured, or if it is down.
NO_SLURM = ("Could not establish a configuration source", "Unable to contact slurm controller")

PENDING, COMPLETED, FAILED, OUT_OF_MEMORY = "PENDING", "COMPLETED", "FAILED", "OUT_OF_MEMORY"
UNKNOWN = "UNKNOWN"  # our own state for a job that Slurm has forgotten
ENDED = frozenset((
    COMPLETED, FAILED, OUT_OF_MEMORY, "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE",
    "PREEMPTED", "REVOKED", "SPECIAL_EXIT",
))  # fmt: skip
# Names, folders and arguments may contain vertical bars and line breaks, so other characters separate fields and jobs.
FIELD, JOB = "\x1f", "\x1e"
QUEUE_FORMAT = FIELD.join(("%i", "%T", "%r", "%S", "%M", "%N", "%A", "%V", "%j", "%Z", "%o")) + JOB
ACCOUNTING_FORMAT = "JobID,State,Start,Elapsed,NodeList,JobIDRaw,ExitCode"
NO_VALUES = {"N/A", "Unknown", "None", "None assigned", "(null)"}
NOT_STARTED = {"", "0:00", "00:00:00"}


class SlurmError(AwayError):
    """A Slurm command failed.

    Attributes:
        words: the command's error message without the prefix `sbatch: error:`; '' if it printed none.
    """

    def __init__(self, message: str, code: str, words: str = "") -> None:
        super().__init__(message, code)
        self.words = words


def call(
    program: str,
    *words: str,
    folder: Path | None = None,
    environ: dict[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> str:
    """Run one of Slurm's commands, by default without variables that change its behaviour; return its output.

    Raises:
        SlurmError: the command is missing, fails, or does not end in time.
    """
    if shutil.which(program) is None:
        raise SlurmError(f"there is no {program} on this machine: go to a login node.", "slurm.no-command")
    try:
        ended = subprocess.run(
            [program, *words],
            cwd=folder,
            env=slurm_environ() if environ is None else environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SlurmError(
            f"{program} gave no answer in {timeout_s:g} s: Slurm is busy; try again later.", "slurm.busy"
        ) from None
    LOGGER.info("%s: status %d: %s", shlex.join([program, *words]), ended.returncode, ended.stdout + ended.stderr)
    if ended.returncode:
        said = without_prefix(ended.stderr, program)
        if any(words in said for words in NO_SLURM):
            raise SlurmError(
                f"{program} finds no Slurm: go to a login node, or try later if you are on one ({said}).", "slurm.away"
            )
        raise SlurmError(f"{program} failed: {said or f'exit status {ended.returncode}'}", "slurm.failed", said)
    return ended.stdout


def job_environment() -> dict[str, str]:
    """Return this process's environment without the variables of the job or kernel in which it may be running."""
    return {name: value for name, value in slurm_environ(FOR_SBATCH).items() if name not in KERNEL_VARIABLES}


def without_prefix(said: str, program: str) -> str:
    """Return a Slurm command's message on one line, without the command's name."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for prefix in (f"{program}: ", "error: ", "Batch job submission failed: "):
        lines = [line.removeprefix(prefix) for line in lines]
    return ", ".join(lines)


@dataclass(frozen=True)
class JobState:
    """One job as Slurm describes it; a field is '' if Slurm gives no value.

    Attributes:
        state: Slurm's name for the state, such as `PENDING`; `UNKNOWN` for a job that it has forgotten.
        reason: why it is waiting or has ended, as Slurm writes it.
        start: when it started or is expected to start, such as `2026-11-20T17:30:00`, in the machine's time zone.
        elapsed: how long it has run, as `[days-]hours:minutes:seconds` or shorter.
        exit_code: `status:signal` of its script.
        cancelled_by: the number of the user who cancelled it.
        submitted: when it was submitted, written like `start`.
        command: its script, and the arguments of the script.
        number: the SLURM_JOB_ID in its script, once it has nodes; it differs between the tasks of an array.
    """

    state: str
    reason: str = ""
    start: str = ""
    elapsed: str = ""
    nodes: str = ""
    exit_code: str = ""
    cancelled_by: str = ""
    name: str = ""
    submitted: str = ""
    folder: str = ""
    command: str = ""
    number: str = ""

    @property
    def ended(self) -> bool:
        """Whether the job has ended."""
        return self.state in ENDED

    @property
    def ever_ran(self) -> bool:
        """Whether the job started to run its script."""
        return self.nodes != "" or self.elapsed not in NOT_STARTED  # some jobs fail within their first second


def look(job_ids: Iterable[str], queue: Mapping[str, JobState] | None = None) -> dict[str, JobState]:
    """Return the state of each job; to avoid a second query, pass the result of `read_queue` as `queue`.

    Raises:
        SlurmError: Slurm does not answer.
    """
    queue = read_queue() if queue is None else queue
    wanted = list(job_ids)
    gone = [job_id for job_id in wanted if job_id not in queue or queue[job_id].ended]
    accounts = {}
    if gone:
        # If a task never started, accounting lists only its array.
        numbers = dict.fromkeys(re.split("[_+]", job_id)[0] for job_id in gone)
        with suppress(SlurmError):  # accounting may be off, or may not answer
            text = call(
                "sacct", "--parsable2", "--noheader", f"--jobs={','.join(numbers)}", f"--format={ACCOUNTING_FORMAT}"
            )
            accounts = parse_accounting(text)
    states = {}
    for job_id in wanted:
        queued, accounted = queue.get(job_id), accounts.get(job_id)
        # Accounting lags behind by a few seconds, but then has more information.
        newest = accounted if accounted and (accounted.ended or not queued) else queued
        states[job_id] = newest or JobState(UNKNOWN)
    return states


def read_queue() -> dict[str, JobState]:
    """Return your own jobs that the controller still remembers: waiting, running, or ended in the last few minutes.

    Raises:
        SlurmError: Slurm does not answer.
    """
    text = call("squeue", f"--user={os.getuid()}", "--states=all", "--array", "--noheader", f"--format={QUEUE_FORMAT}")
    return parse_queue(text)


def parse_queue(text: str) -> dict[str, JobState]:
    """Return the state of each job in squeue's output, which is in `QUEUE_FORMAT`."""
    jobs = {}
    for line in text.split(JOB):
        job_id, *words = map(_value, line.removeprefix("\n").split(FIELD))
        if len(words) == QUEUE_FORMAT.count(FIELD):
            state, reason, start, elapsed, nodes, number, submitted, name, folder, command = words
            about = {"name": name, "submitted": submitted, "folder": folder, "command": command}
            jobs[job_id] = JobState(state, reason, start, elapsed, nodes, number=nodes and number, **about)
    return jobs


def parse_accounting(text: str) -> dict[str, JobState]:
    """Return the state of each job in sacct's output.

    If a step of a failed job ran out of memory, the state of the job is OUT_OF_MEMORY.
    """
    jobs: dict[str, JobState] = {}
    for line in text.splitlines():
        job_id, state, start, elapsed, nodes, number, exit_code = (_value(word) for word in line.split("|"))
        first, _, by = state.partition(" by ")
        job_id, _, step = job_id.partition(".")
        if not step:
            job = JobState(first, "", start, elapsed, nodes, exit_code, cancelled_by=by, number=nodes and number)
            jobs.update(dict.fromkeys(_tasks(job_id), job))
        elif first == OUT_OF_MEMORY and jobs[job_id].state == FAILED:
            jobs[job_id] = replace(jobs[job_id], state=OUT_OF_MEMORY)
    return jobs


def _tasks(job_id: str) -> list[str]:
    """Return the jobs that an id stands for: for `7_[1,5-9:2%4]`, they are 7_1, 7_5, 7_7 and 7_9.

    The `%4` means that Slurm runs at most four of them at a time.
    """
    array, bracket, listed = job_id.partition("[")
    if not bracket:
        return [job_id]
    spans = re.findall(r"(\d+)-?(\d*):?(\d*)(?:,|$)", listed.rstrip("]").partition("%")[0])
    ranges = (range(int(first), int(last or first) + 1, int(step or 1)) for first, last, step in spans)
    return [f"{array}{task}" for tasks in ranges for task in tasks]


def _value(word: str) -> str:
    return "" if word in NO_VALUES else word
