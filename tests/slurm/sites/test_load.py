"""A site's file is read strictly, its faults are named with file and key, and the committed ones can be typed."""

import subprocess
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.slurm.sites.load import load_site, load_sites, site_names

ROOT = Path(__file__).parents[3]

CONSTRAINT = 'directives = ["--constraint=cold&dark"]'
DEEP = " [partitions.deep]: "
# What is changed in the file, in which part of it that is noticed, a fact that is named, and the code.
DOUBT, ASKED = " [[confirm]] launch", 'command = "srun --mpi=list"'
WRONG = [
    ("billing_unit =", "depth = 20000\nbilling_unit =", ": ", "['depth']", "toml.unknown-key"),
    ("doubt =", "depth = 20000\ndoubt =", " [confirm.0]: ", "['depth']", "toml.unknown-key"),
    ('slurm_name = "abyss"\n', "", DEEP, "['slurm_name']", "toml.missing-key"),
    ('status = "current"', 'status = "sunk"', ": status ", "current, retired", "site.unknown-value"),
    ('partition = "deep"', 'partition = "abyss"', ": default_partition ", "deep, test", "site.unknown-value"),
    ('qos = ["dive"]', 'qos = ["dive", "float"]', f"{DEEP}qos ", "'float'", "site.unknown-value"),
    ('qos = ["dive"]', 'partition_qos = "x"', f"{DEEP}qos ", "'x'", "site.unknown-value"),
    ('with = "deep"', 'with = "test"', " [partitions.test]: shares_nodes_with ", "deep", "site.unknown-value"),
    ("default_time_min = 90", "default_time_min = 1441", f"{DEEP}default_time_min ", "max_time_min", "site.time"),
    (CONSTRAINT, 'directives = ["-C cold"]', f"{DEEP}directives ", "'-C cold'", "site.short-option"),
    # The labs pin `gpus[hvd.local_rank()]`: with one visible GPU, all ranks but the first would fail.
    (CONSTRAINT, 'directives = ["--gpus-per-task=1"]', f"{DEEP}directives ", "--gpus-per-task=1", "site.hides-gpus"),
    ('mpi = "pmix"', 'srun_options = ["--gpu-bind=none"]', " [launch]: srun_options ", "", "site.hides-gpus"),
    ("shell =", 'container = "--gpu-bind=none"\nshell =', " [software]: container ", "", "site.hides-gpus"),
    ('shell = "#!/bin/bash -l"', 'shell = "bash"', " [software]: shell ", "'bash'", "site.shell"),
    ("{node}:{port}", "{host}:{port}", " [jupyter]: tunnel ", "['host']", "site.tunnel"),
    ('tunnel = "ssh', '# tunnel = "ssh', " [jupyter]: address ", "tunnel", "site.no-jupyter"),
    ("num_nodes = 2\n", "num_nodes = 21\n", ": num_nodes ", "20", "site.nodes"),
    ("num_cpus_per_gpu = 8", "num_cpus_per_gpu = 9", DEEP, "36", "site.cpus"),
    ('gpu = "Kraken 8"', 'gpu = "none"', f"{DEEP}gpu ", "'gres'", "site.no-gpu"),
    ('key = "launch.mpi"', 'key = "launch.mpx"', f"{DOUBT}.mpx: key ", "nothing", "site.doubt-key"),
    (ASKED, f"{ASKED}\nfinds = 'a('", f"{DOUBT}.mpi: finds ", "at position 1", "site.doubt-pattern"),
    (ASKED, f'{ASKED}\nexpect = ["pmix"]', f"{DOUBT}.mpi: expect ", "finds", "site.doubt-pattern"),
    (ASKED, f'{ASKED}\nfinds = "x"\npartition = "sky"', f"{DOUBT}.mpi: partition ", "deep, test", "site.unknown-value"),
]


@pytest.mark.parametrize("row", WRONG)
def test_a_wrong_file_is_refused_with_its_place(checkout, row):
    """The message says in which part of the file, and what is wrong."""
    old, new, place, fact, code = row
    checkout.change(old, new)

    with pytest.raises(CourseKitError) as refused:
        checkout.load()

    assert refused.value.code == code
    assert str(refused.value).startswith(f"slurm/sites/nautilus.toml{place}")
    assert fact in str(refused.value)


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
