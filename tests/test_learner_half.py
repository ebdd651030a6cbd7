"""What notebooks import on a compute node stands on few shoulders."""

from __future__ import annotations

import subprocess
import sys

AUTHORING = ("click", "jinja2", "jupytext", "nbclient", "nbconvert", "nbformat", "nbgrader", "papermill", "rich")
PROGRAM = """
import sys
import coursekit.checks.linear, coursekit.checks.properties, coursekit.pictures, coursekit.ranks
import coursekit.imagenet, coursekit.throughput
import coursekit.pictures.estimator
from coursekit.checks import estimator_data, estimator_evaluation, estimator_model, estimator_runs, workers
from coursekit.checks import costs, digits_training, feeding, half_precision, messages, records, slow_store
from coursekit.checks import steps_together
import coursekit.pictures.feeding, coursekit.pictures.messages, coursekit.pictures.tensorboard, coursekit.imagenet.store
import coursekit.pictures.graphs, coursekit.pictures.profiles
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_learner_half_needs_no_authoring_tool_and_no_tensorflow():
    """Ranks, checks and pictures import none of the authoring tools; TensorFlow and Horovod wait for the ranks."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())

    assert loaded & {*AUTHORING, "tensorflow", "horovod", "keras"} == set()
