"""Job scripts whose software is in a container, which Charliecloud starts on a rehearsed Slurm.

The image has a root folder of its own, with the environment at a path that this machine does not have: whatever a
script starts elsewhere fails. Programs and libraries are this machine's `/usr`, since an image with TensorFlow takes
minutes to make.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from coursekit.slurm.sites.load import load_site
from workshop.rehearsal.cluster import Cluster
from workshop.rehearsal.course_copy import make_course
from workshop.rehearsal.jobs import TRAIN_OPTIONS, job_environment, small_words

from ...slurm.conftest import render_job
from .conftest import NEEDS_SLURM

pytestmark = [*NEEDS_SLURM, pytest.mark.needs("ch-run")]

ROOT = Path(__file__).parents[3]
SITE, NUM_NODES, NUM_RANKS = "boxed", 2, 4
WAIT_S = 600
NOTEBOOK, TRAINING = "02-horovod-sgd", "03-keras-cnn-train"
VENV = "/opt/coursekit-in-the-image/.venv"
MARK = "/etc/coursekit-image"  # a file of the image
LINKS = ("bin", "sbin", "lib", "lib64")
MADE = ("/proc", "/sys", "/dev", "/tmp", "/home", "/etc")  # noqa: S108  # ch-run mounts here
# Of /tmp, ch-run would mount the folder TMPDIR alone; what Slurm's commands need lies beside it.
BORROWED = tuple(map(Path, ("/usr", "/tmp", ROOT, sys.prefix, sys.base_prefix)))  # noqa: S108
# Each rank says where it is, and what the ranks add up.
CELL = f"""\
import json
from pathlib import Path

from coursekit import ranks


def where():
    import socket

    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    total = hvd.allreduce(tf.constant(hvd.rank() + 1.0), op=hvd.Sum)
    return [socket.gethostname(), Path("{MARK}").read_text(), float(total)]


print(json.dumps(ranks.run(where, num_ranks={NUM_RANKS})))
"""


def make_image(folder, borrowed):
    """Make an image as a folder, and return how a command is started in it; what is borrowed is mounted then."""
    outermost = {path for path in borrowed if not {*borrowed} & set(path.parents)}
    for path in map(Path, (*MADE, *outermost, Path(VENV).parent)):
        (folder / path.relative_to("/")).mkdir(parents=True, exist_ok=True)
    for name in LINKS:
        (folder / name).symlink_to(f"usr/{name}")
    for name in ("passwd", "group", "hosts", "resolv.conf"):  # ch-run mounts those of the machine over them
        (folder / "etc" / name).touch()
    (folder / MARK.lstrip("/")).write_text("in the image")
    (folder / VENV.lstrip("/")).symlink_to(sys.prefix)
    return " ".join(("ch-run", *(f"--bind={path}" for path in outermost), str(folder), "--"))


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """What became of a notebook's job on two nodes and of a training's on one: states, logs and executed notebook."""
    with Cluster(load_site(ROOT, "local"), num_nodes=NUM_NODES) as cluster:
        course = make_course(ROOT, cluster.folder / "course")
        container = make_image(tmp_path_factory.mktemp("image"), (*BORROWED, cluster.folder))
        keys = f'[software]\nvenv = "{VENV}"\ncontainer = "{container}"\n'
        site = (ROOT / "slurm/sites/local.toml").read_text().replace("num_nodes = 1", f"num_nodes = {NUM_NODES}")
        (course / f"slurm/sites/{SITE}.toml").write_text(site.replace("[software]\n", keys))
        ask_ranks(course / f"labs/{NOTEBOOK}/{NOTEBOOK}.ipynb")
        environ = job_environment(cluster, cluster.folder / "home")
        sbatch(course, environ, NOTEBOOK, render_job(course, SITE, "lab", "02", num_nodes=NUM_NODES))
        sbatch(course, environ, TRAINING, render_job(course, SITE, "train", "03", num_nodes=1))
        words = ("sacct", "--allocations", "--noheader", "--parsable2", "--format=JobName,State")
        deadline = time.monotonic() + WAIT_S
        # Accounting lags behind the queue.
        while (
            cluster.call("squeue", "--noheader") or "RUNNING" in cluster.call(*words)
        ) and time.monotonic() < deadline:
            time.sleep(0.2)
        yield SimpleNamespace(
            states=cluster.call(*words).split(),
            logs="\n".join(path.read_text() for path in sorted(course.glob("*.out"))),
            notebooks=list(course.glob(f"jobs/{NOTEBOOK}-*/{NOTEBOOK}.ipynb")),
        )


def ask_ranks(path):
    """Leave a notebook nothing but its parameters, which it must have, and the cell that asks the ranks."""
    notebook = nbformat.read(path, as_version=4)
    parameters = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    notebook.cells = [*parameters, nbformat.v4.new_code_cell(CELL)]
    nbformat.write(notebook, path)


def sbatch(course, environ, name, text):
    """Submit a job script with the options of a small training."""
    script = course / f"{name}.sbatch"
    script.write_text(text)
    options, _ = small_words(script, course)
    environ = {**environ, TRAIN_OPTIONS: options}
    subprocess.run(["sbatch", script.name], cwd=course, env=environ, stdout=subprocess.DEVNULL, check=True)


def test_every_script_completes_in_the_container(ended):
    """Two ranks of the training, each in a container of its own, meet by MPI."""
    assert not Path(VENV).exists()
    assert ended.states == [f"{name}|COMPLETED" for name in (NOTEBOOK, TRAINING)], ended.logs
    assert f"{TRAINING}: trained on 2 ranks" in ended.logs


def test_ranks_of_a_notebook_are_in_the_container_on_every_node(ended):
    """The notebook runs in the image, and so do the tasks of the job step that it starts, with right results."""
    (output,) = nbformat.read(ended.notebooks[0], as_version=4).cells[-1].outputs
    total = sum(range(1, NUM_RANKS + 1))
    assert json.loads(output.text) == [[f"main-{number}", "in the image", total] for number in (1, 1, 2, 2)]
