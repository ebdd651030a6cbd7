"""Real Horovod ranks from a notebook: `ranks.run(function, …)`, ranks that stay, and the magics `%%ranks`, `%ranks`."""

from coursekit.ranks import allocation
from coursekit.ranks.errors import MachineTooSlowError, RankError, RankTimeoutError
from coursekit.ranks.forkserver import shared_server
from coursekit.ranks.launch import run
from coursekit.ranks.staying_here import pull, push, start

__all__ = ["MachineTooSlowError", "RankError", "RankTimeoutError", "pull", "push", "run", "start", "warm_up"]


def warm_up() -> None:
    """Start importing TensorFlow and Horovod for the ranks in the background, and return at once.

    Inside a Slurm allocation the first run starts a job step instead.
    """
    if not allocation.has_tasks_for(1):
        shared_server()


def load_ipython_extension(shell: object) -> None:
    """Provide `%%ranks` and `%ranks` after `%load_ext coursekit.ranks`."""
    from coursekit.ranks.magic import register  # noqa: PLC0415  # IPython is only there in notebooks

    register(shell)  # type: ignore[arg-type]
