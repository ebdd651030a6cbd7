"""Notebooks of other courses, with `%ipcluster` and `%%px`, run from top to bottom; their numbers are NumPy's."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import numpy as np

FOLDER = Path(__file__).parent / "notebooks"
TIMEOUT_S = 900
# Without these limits papermill would lose what a busy machine says late.
PROGRAM = f"""
import sys, papermill
limits = dict(start_timeout={TIMEOUT_S}, iopub_timeout={TIMEOUT_S})
papermill.execute_notebook(*sys.argv[1:], kernel_name="python3", progress_bar=False, **limits)
"""
CONFIG = 'c.InteractiveShellApp.extensions.append("coursekit.ranks.px")\n'


def execute(name, folder):
    """Execute a notebook with papermill in a folder; return it with its outputs.

    Every kernel knows the magics by a folder of IPython's settings; docs/ranks.md shows the line.
    """
    notebook = jupytext.read(FOLDER / f"{name}.md")
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / f"{name}.ipynb")
    (folder / "ipython" / "profile_default").mkdir(parents=True)
    (folder / "ipython" / "profile_default" / "ipython_config.py").write_text(CONFIG)
    environ = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, f"{name}.ipynb", "executed.ipynb"],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return nbformat.read(folder / "executed.ipynb", as_version=4)


def cell(notebook, text):
    """Return the cell that has this text."""
    (found,) = [cell for cell in notebook.cells if text in cell.source]
    return found


def values(notebook, text):
    """Return by rank the values that the ranks showed below a cell, in lines such as `[1] 0.5`."""
    shown = "".join(output.get("text", "") for output in cell(notebook, text).outputs)
    lines = dict(re.fullmatch(r"\[(\d+)\] (.*)", line).groups() for line in shown.splitlines())
    return {int(rank): ast.literal_eval(value) for rank, value in lines.items()}


def num_figures(notebook, text):
    """Return how many pictures a cell shows."""
    return sum("image/png" in output.get("data", {}) for output in cell(notebook, text).outputs)


RATE, BATCH_SIZE, NUM_EPOCHS = 0.1, 4, 5  # of the notebook "line"


def line_by_numpy(num_ranks):
    """Return slope and offset after every step; in the first one, each rank's gradient is at its own beginning."""
    x = np.linspace(-1, 1, 32)
    y = 2 * x - 0.5 + 0.1 * np.sin(20 * x)
    where = np.tile(np.arange(num_ranks, dtype=float)[:, None], (1, 2))
    points = []
    for first in [*range(0, len(x) // num_ranks, BATCH_SIZE)] * NUM_EPOCHS:
        gradients = []
        for rank, (slope, offset) in enumerate(where):
            batch = slice(num_ranks * first + rank, num_ranks * (first + BATCH_SIZE), num_ranks)
            error = slope * x[batch] + offset - y[batch]
            gradients.append([2 * np.mean(error * x[batch]), 2 * np.mean(error)])
        where = np.tile(where[0] - RATE * np.mean(gradients, axis=0), (num_ranks, 1))
        points.append(where[0])
    return points


def test_sgd_on_a_line(tmp_path):
    """All ranks take the way that NumPy finds, without a word of the kit in the notebook; each draws its own."""
    notebook = execute("line", tmp_path)
    points = values(notebook, "\ntrajectory.points")
    np.testing.assert_allclose([points[0], points[1]], [line_by_numpy(num_ranks=2)] * 2, rtol=1e-4, atol=1e-5)
    assert points[0] == points[1]
    assert num_figures(notebook, "plt.contour") == 2
    assert [*values(notebook, "tf.version.VERSION")] == [0]


def test_a_network_on_pictures(tmp_path):
    """Both ranks hold the same network, which tells all pictures apart; one rank draws."""
    notebook = execute("pictures", tmp_path)
    assert values(notebook, "model.fit") == {0: 1.0, 1: 1.0}
    assert values(notebook, "model.predict") == {0: [0, 1] * 16, 1: [0, 1] * 16}
    sums = values(notebook, "model.get_weights")
    assert sums[0] == sums[1]
    assert len(sums[0]) == 4
    assert num_figures(notebook, "axis.imshow") == 1
