"""Start Horovod ranks in a notebook: `ranks.run(function, …)`, persistent ranks, and the magics `%%ranks`, `%ranks`."""

from coursekit import framework
from coursekit.ranks import fork_client
from coursekit.ranks.allocation import has_tasks_for
from coursekit.ranks.explain import MachineTooSlowError, RankError, RankTimeoutError
from coursekit.ranks.horovod_build import horovod_build
from coursekit.ranks.launch import run
from coursekit.ranks.persistent import pull, push, start

__all__ = ["MachineTooSlowError", "RankError", "RankTimeoutError", "horovod_build", "pull", "push", "run", "start"]


def warm_up(kind: str = framework.HOROVOD) -> None:
    """Start to import the ranks' framework (TensorFlow and Horovod, or PyTorch) in the background, and return at once.

    In a Slurm allocation, nothing is imported on this machine: the first run starts a job step instead.
    """
    framework.choose(kind)
    if not has_tasks_for(1):
        fork_client.shared.get()


def load_ipython_extension(shell: object) -> None:
    """Provide `%%ranks` and `%ranks`; `%load_ext coursekit.ranks` calls this."""
    from coursekit.ranks.magic import register  # IPython exists only in notebooks

    register(shell)  # type: ignore[arg-type]
