"""What notebooks import on a compute node stands on few shoulders."""

from __future__ import annotations

import subprocess
import sys

AUTHORING = ("click", "jinja2", "jupytext", "nbclient", "nbconvert", "nbformat", "nbgrader", "papermill", "rich")
PROGRAM = """
import sys
import coursekit.imagenet, coursekit.pictures, coursekit.ranks, coursekit.throughput
import coursekit.pictures.training
from coursekit.checks import lab01_linear, lab02_properties, lab03_data, lab03_pieces, lab03_training
from coursekit.checks import lab04_data, lab04_pieces, lab04_training, lab05_feeding, lab05_records, lab05_training
from coursekit.checks import lab06_allreduce, lab06_costs, lab06_half_precision, lab07
import coursekit.pictures.feeding, coursekit.pictures.messages, coursekit.pictures.tensorboard, coursekit.imagenet.store
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_learner_half_needs_no_authoring_tool_and_no_tensorflow():
    """Ranks, checks and pictures import none of the authoring tools; TensorFlow and Horovod wait for the ranks."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())

    assert loaded & {*AUTHORING, "tensorflow", "horovod", "keras"} == set()
