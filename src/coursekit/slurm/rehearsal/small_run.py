"""The environment of rehearsed jobs: a student's, and parameters with which a training takes seconds."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from coursekit.slurm.rehearsal.namespaces import plain_environment
from coursekit.slurm.rehearsal.slurm_files import LOOPBACK

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.slurm.rehearsal.cluster import Cluster

# Scripts and notebooks read these; what the caller has set comes first.
SMALL_RUN = {
    "COURSEKIT_NUM_RANKS": "2",
    "COURSEKIT_PARAMETERS": "model=SmallCNN image_size=32 max_num_steps=4",
    "COURSEKIT_TRAIN_OPTIONS": "--model SmallCNN --image-size 32 --num-epochs 1",
    "COURSEKIT_LABS": "01",
    "COURSEKIT_JUPYTER_IP": LOOPBACK,
    "HOROVOD_CYCLE_TIME": "10",  # ms; MPI waits by polling, which takes the few cores here from those it waits for
}


def job_environment(cluster: Cluster, home: Path) -> dict[str, str]:
    """Return the environment in which job scripts are submitted.

    Args:
        cluster: a running one.
        home: a folder of its own, in place of the home folder: nothing there is read, and nothing is left.
    """
    settings = home / ".jupyter"
    settings.mkdir(parents=True, exist_ok=True)
    # At a site nobody is root; here everybody is, which JupyterLab refuses unless told.
    (settings / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": {"allow_root": True}}))
    return {**plain_environment(), "USER": "root", "HOME": str(home), **cluster.environ, **small_run()}


def small_run() -> dict[str, str]:
    """Return the variables of a small run, with what the caller's environment says in their place."""
    return {name: os.environ.get(name, value) for name, value in SMALL_RUN.items()}
