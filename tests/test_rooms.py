"""The contracts on imports: they hold, product and workshop are apart, and notebooks load no authoring tool."""

import os
import subprocess
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
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


def test_the_contracts_hold(tmp_path):
    """`make check` passes: no contract on imports is broken."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", ROOT / "pyproject.toml"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, "BROKEN" in done.stdout) == (0, False), done.stdout


def test_no_two_modules_import_each_other():
    """Not through others either, and not for types alone."""
    graph = grimp.build_graph("coursekit", "workshop")
    pairs = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    assert [pair for pair in pairs if graph.chain_exists(importer=pair[1], imported=pair[0])] == []


def test_learner_half_needs_no_authoring_tool_and_no_tensorflow():
    """Ranks, checks and pictures import none of the authoring tools; TensorFlow and Horovod wait for the ranks."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())

    assert loaded & {*AUTHORING, "tensorflow", "horovod", "keras"} == set()
