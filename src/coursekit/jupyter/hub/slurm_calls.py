"""Slurm's commands, called by the hub for a student: they do not hold up the hub and see none of its secrets."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from coursekit.slurm.jobs.slurm_cli import TIMEOUT_S, SlurmError, without_prefix
from coursekit.slurm.jobs.states import (
    ACCOUNTING_FORMAT,
    QUEUE_FORMAT,
    UNKNOWN,
    JobState,
    parse_accounting,
    parse_queue,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The part of the hub's environment that Slurm's commands need; students must not read the rest, such as keys.
NEEDED = ("PATH", "LANG", "LC_ALL", "SLURM_CONF", "TZ")
FORGOTTEN = "Invalid job id specified"
RUNNING = "RUNNING"
FIRST_NODE = "%B|"  # before the columns that `parse_queue` knows


async def call_as(prefix: Sequence[str], *words: str, environ: Mapping[str, str] | None = None, text: str = "") -> str:
    """Run a command and return what it printed.

    Args:
        prefix: the words that make it run as the student, such as `sudo -E -u ada`; () for the hub's own account.
        words: the command.
        environ: its variables; those of `NEEDED` when None.
        text: what it reads.

    Raises:
        SlurmError: it is not there, failed, or gave no answer; `words` holds what it said.
    """
    variables = {name: os.environ[name] for name in NEEDED if name in os.environ} if environ is None else environ
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *prefix, *words, env=dict(variables), stdin=pipe, stdout=pipe, stderr=pipe, cwd="/"
        )
    except OSError as error:
        raise SlurmError(f"{words[0]} cannot be started: {error.strerror}.") from None
    try:
        out, said = await asyncio.wait_for(process.communicate(text.encode()), TIMEOUT_S)
    except asyncio.TimeoutError:  # Python 3.9 has it apart from TimeoutError
        raise SlurmError(f"{words[0]} gave no answer in {TIMEOUT_S:g} s.") from None
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        reason = without_prefix(said.decode(errors="replace"), words[0])
        raise SlurmError(f"{words[0]} failed: {reason or process.returncode}", reason)
    return out.decode(errors="replace")


async def look_as(prefix: Sequence[str], job_id: str) -> tuple[JobState, str]:
    """Return the state of a job, and the first of its nodes, '' while it does not run.

    Raises:
        SlurmError: Slurm does not answer, which says nothing about the job.
    """
    queued, node = None, ""
    try:
        line = await call_as(
            prefix, "squeue", f"--jobs={job_id}", "--states=all", "--noheader", f"--format={FIRST_NODE}{QUEUE_FORMAT}"
        )
    except SlurmError as error:
        if FORGOTTEN not in error.words:
            raise
    else:
        node, _, rest = line.strip().partition("|")
        queued = parse_queue(rest).get(job_id)
    if queued and not queued.ended:
        return queued, node if queued.state == RUNNING else ""  # nodes may still boot
    try:
        words = (f"--jobs={job_id}", "--parsable2", "--noheader", f"--format={ACCOUNTING_FORMAT}")
        accounted = parse_accounting(await call_as(prefix, "sacct", *words)).get(job_id)
    except SlurmError:  # a site without accounting
        accounted = None
    if accounted and accounted.ended:
        return accounted, ""
    return queued or JobState(UNKNOWN), ""
