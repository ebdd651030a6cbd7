"""The doctor: a list of small checks, each of which looks at one thing and says what it found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Callable

from coursekit.slurm.doctor import machine, versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coursekit.slurm.doctor.findings import Finding

# In the order of the table, each with what is shown while it runs.
CHECKS: tuple[tuple[str, Callable[[], Finding]], ...] = (
    ("Python", versions.check_python),
    ("TensorFlow", versions.check_tensorflow),
    ("Keras", versions.check_keras),
    ("Horovod", versions.check_horovod),
    ("JupyterLab", partial(versions.check_package, "jupyterlab", "JupyterLab")),
    ("nbgrader", partial(versions.check_package, "nbgrader", "nbgrader")),
    ("papermill", partial(versions.check_package, "papermill", "papermill")),
    ("Horovod's controllers", machine.check_controllers),
    ("Horovod's GPU operations", machine.check_gpu_operations),
    ("MPI", machine.check_mpi),
    ("GPUs", machine.check_gpus),
    ("Slurm", machine.check_slurm),
    ("the node", machine.check_node),
    ("the allocation", machine.check_allocation),
    ("the home folder", machine.check_home),
    ("temporary files", machine.check_temporary),
    ("the course folder", machine.check_course_folder),
    ("an allreduce between two ranks (a few seconds)", machine.check_allreduce),
)


def examine(announce: Callable[[str], None] = lambda _: None) -> Iterator[Finding]:
    """Run all checks in order; `announce` is told before each what is being looked at."""
    for subject, check in CHECKS:
        announce(subject)
        yield check()
