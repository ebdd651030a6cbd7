"""A site's file is read strictly, its faults are named with file and key, and the committed ones can be typed."""

import subprocess
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.slurm.sites.load import load_site, load_sites, site_names

ROOT = Path(__file__).parents[3]

CONSTRAINT = 'directives = ["--constraint=cold&dark"]'
HIDES = "which shows a rank only its own GPU"

# What is changed in the file, in which part of it that is noticed, and what the sentence says of it.
WRONG = [
    ("billing_unit =", "depth = 20000\nbilling_unit =", "", "unknown key(s) ['depth']; allowed are title, "),
    ("shell =", "depth = 20000\nshell =", " [software]", "unknown key(s) ['depth']; allowed are shell, "),
    ('slurm_name = "a', 'depth = 2\nslurm_name = "a', " [partitions.deep]", "unknown key(s) ['depth']; allowed are "),
    ("max_time_min = 600", "depth = 2", " [qos.dive]", "unknown key(s) ['depth']; allowed are max_time_min, "),
    ("doubt =", "depth = 20000\ndoubt =", " [confirm.0]", "unknown key(s) ['depth']; allowed are key, doubt, command"),
    ('title = "Nautilus, Vulcania"\n', "", "", "missing key(s) ['title']; needed are "),
    ('imagenet = ""\n', "", " [storage]", "missing key(s) ['imagenet']; needed are "),
    ('slurm_name = "abyss"\n', "", " [partitions.deep]", "missing key(s) ['slurm_name']; needed are "),
    ('command = "srun --mpi=list"\n', "", " [confirm.0]", "missing key(s) ['command']; needed are "),
    ('status = "current"', 'status = "sunk"', "", "status is 'sunk', but must be one of current, retired."),
    ('partition = "deep"', 'partition = "abyss"', "", "default_partition is 'abyss', but must be one of deep, test."),
    ('qos = ["dive"]', 'qos = ["dive", "float"]', " [partitions.deep]", "qos is 'float', but must be one of dive."),
    ('qos = ["dive"]', 'partition_qos = "x"', " [partitions.deep]", "qos is 'x', but must be one of dive."),
    ('with = "deep"', 'with = "test"', " [partitions.test]", "shares_nodes_with is 'test', but must be one of deep."),
    ("default_time_min = 90", "default_time_min = 1441", " [partitions.deep]", "must not be above max_time_min"),
    (CONSTRAINT, 'directives = ["-C cold"]', " [partitions.deep]", "directives has '-C cold': write the long form"),
    # The labs pin `gpus[hvd.local_rank()]`: with one visible GPU, all ranks but the first would fail.
    (CONSTRAINT, 'directives = ["--gpus-per-task=1"]', " [partitions.deep]", f"has '--gpus-per-task=1', {HIDES}"),
    ('mpi = "pmix"', 'srun_options = ["--gpu-bind=none"]', " [launch]", f"srun_options has '--gpu-bind=none', {HIDES}"),
    ("shell =", 'container = "--gpu-bind=none"\nshell =', " [software]", f"container has '--gpu-bind=none', {HIDES}"),
    ('shell = "#!/bin/bash -l"', 'shell = "bash"', " [software]", "shell must begin with #!"),
    ("{node}:{port}", "{host}:{port}", " [jupyter]", "tunnel uses ['host']; allowed are {node}, {port}, {user}."),
    ('tunnel = "ssh', '# tunnel = "ssh', " [jupyter]", "address or tunnel must say how a browser reaches JupyterLab"),
    ("num_nodes = 2\n", "num_nodes = 21\n", "", "num_nodes is 21, but a job of the default partition has at most 20 "),
    ("num_cpus_per_gpu = 8", "num_cpus_per_gpu = 9", " [partitions.deep]", "4 ranks with 9 CPUs each need 36, but "),
    ('gpu = "Kraken 8"', 'gpu = "none"', " [partitions.deep]", "gpu is \"none\", but gpu_request is 'gres'"),
]


@pytest.mark.parametrize(("old", "new", "place", "words"), WRONG)
def test_a_wrong_file_is_refused_with_its_place(checkout, old, new, place, words):
    """One sentence says in which part of the file, what is wrong, and what would fit."""
    checkout.change(old, new)

    with pytest.raises(CourseKitError) as refused:
        checkout.load()

    assert str(refused.value).startswith(f"slurm/sites/nautilus.toml{place}: ")
    assert words in str(refused.value)


def test_a_fabric_that_nobody_names_is_in_doubt():
    """It is empty, and what to type on the machine stands in the list of doubts; a single node has none."""
    doubted = {(site.name, note.key) for site in load_sites(ROOT) for note in site.confirm}
    empty = {
        (site.name, f"partitions.{key}.fabric")
        for site in load_sites(ROOT)
        for key, kind in site.partitions.items()
        if not kind.fabric and kind.num_nodes != 1
    }

    assert empty
    assert empty <= doubted


@pytest.mark.parametrize("name", site_names(ROOT))
def test_a_shell_understands_every_command(name):
    """What is printed to be typed, and what scripts hold."""
    site = load_site(ROOT, name)
    lines = [*site.access.login, *site.software.before, *site.software.after, *(c.command for c in site.confirm)]

    done = subprocess.run(["bash", "-n"], input="\n".join(lines), text=True, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
