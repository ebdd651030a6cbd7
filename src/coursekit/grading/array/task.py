"""What a task of a grading array runs on its node: judge one batch, and add each verdict to a file as it is there.

    python -m coursekit.grading.array.task FOLDER

The gradebook is not touched here, and hand-ins run in sandboxes that get nothing of the job's environment.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from coursekit.errors import CourseKitError
from coursekit.grading.array.round_folder import append, open_round
from coursekit.grading.judge.pool import default_num_slots, judge_all, num_slots_for
from coursekit.grading.walls.sandbox import require_sandbox

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from coursekit.grading.judge.pool import PoolSettings
    from coursekit.grading.judge.slot import SubmissionLimits
    from coursekit.grading.submission.work import Submission
    from coursekit.grading.verdict import Verdict

ENDED_BY_SIGNAL = 128
MIB_PER_GB = 1024


def main() -> None:
    """Judge the batch of this task; the only argument is the round's folder."""
    signal.signal(signal.SIGTERM, _end)
    folder, task = Path(sys.argv[1]), int(os.environ["SLURM_ARRAY_TASK_ID"])
    start = f"{os.environ['SLURM_JOB_ID']}-{os.environ.get('SLURM_RESTART_COUNT', '0')}"
    this_round = open_round(folder)
    if this_round is None:
        sys.exit(f"{folder} holds no batches: `coursekit grade --slurm` makes and submits them.")
    done = {verdict.key for verdict in this_round.new_verdicts()}  # a job that Slurm started again
    submissions = [one for one in this_round.submissions(task) if one.key not in done]
    settings = this_round.settings()
    settings = replace(settings, num_slots=settings.num_slots or num_slots_here(settings.limits))
    print(f"{len(submissions)} hand-ins, {settings.num_slots} at a time, on {os.uname().nodename}", flush=True)
    with this_round.open_verdicts(task, start) as verdicts, closing(_judge(submissions, settings)) as stream:
        for number, verdict in enumerate(stream, 1):
            append(verdicts, verdict)
            print(f"{number} of {len(submissions)}: {verdict.seconds:.1f} s {verdict.fault}", flush=True)


def num_slots_here(limits: SubmissionLimits) -> int:
    """Return how many slots suit what Slurm has given to this task: the kernel may not hold it to that."""
    environ, num_cpus = os.environ, default_num_slots()
    num_cpus = min(num_cpus, int(environ.get("SLURM_CPUS_PER_TASK") or num_cpus))
    memory_mb = int(environ.get("SLURM_MEM_PER_NODE") or int(environ.get("SLURM_MEM_PER_CPU") or 0) * num_cpus)
    node_gb = psutil.virtual_memory().available / 2**30
    return num_slots_for(num_cpus, min(memory_mb / MIB_PER_GB if memory_mb else node_gb, node_gb), limits)


def _judge(submissions: Sequence[Submission], settings: PoolSettings) -> Generator[Verdict, None, None]:
    """Judge, or say of every hand-in why this node cannot."""
    try:
        require_sandbox(settings.sandbox, settings.image)
    except CourseKitError as error:
        fault = f"on {os.uname().nodename}: {error}"
        for submission in submissions:
            yield submission.not_judged(fault)
        return
    with closing(judge_all(submissions, settings)) as verdicts:
        yield from verdicts


def _end(number: int, _: object) -> None:
    """End in order, ahead of the time limit or when the job is cancelled: workers and sandboxes end with us."""
    sys.exit(ENDED_BY_SIGNAL + number)


if __name__ == "__main__":
    main()
