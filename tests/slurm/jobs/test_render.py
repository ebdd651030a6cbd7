"""Job scripts: the committed ones are what sites, labs and templates make, and read well to bash and Slurm."""

import re
import subprocess
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs
from coursekit.slurm.jobs.render import render_all
from coursekit.slurm.sites.load import load_site, site_names

from ..conftest import render_job

ROOT = Path(__file__).parents[3]
SCRIPTS = sorted(ROOT.glob("slurm/jobs/*/*.sbatch"))

every_site = pytest.mark.parametrize("name", site_names(ROOT))


def directives_of(script):
    """Return the options that Slurm reads, without the words behind them."""
    lines = [line for line in script.splitlines() if line.startswith("#SBATCH ")]
    return [line.removeprefix("#SBATCH ").partition(" #")[0].strip() for line in lines]


@every_site
def test_committed_scripts_are_what_the_sources_make(name):
    """Whole texts: a change of a site, a lab or a template shows as a change of the scripts that it makes."""
    committed = {path.stem: path.read_text() for path in SCRIPTS if path.parent.name == name}

    assert committed == render_all(ROOT, load_site(ROOT, name))


@every_site
def test_a_site_has_a_script_for_every_lab_and_pattern(name):
    """Each lab as notebook, with a twin as training, all solutions, grading, and JupyterLab where one reaches it."""
    labs = [lab.name for lab in find_labs(ROOT)]
    trained = [lab for lab in labs if (ROOT / "labs" / lab / "train.py").exists()]
    jupyter = ["jupyter"] if load_site(ROOT, name).jupyter.tunnel else []

    expected = {*labs, *(f"{lab}-train" for lab in trained), "solutions", "grade", *jupyter}
    assert {path.stem for path in SCRIPTS if path.parent.name == name} == expected
    assert {"03-keras-cnn", "04-estimator-cnn"} <= set(trained)


def test_directives_ask_for_what_the_site_documents():
    """Karolina's second lab, held against its pages: two eighths of a node, a GPU with 16 cores each, no account."""
    assert directives_of((ROOT / "slurm/jobs/karolina/02-horovod-sgd.sbatch").read_text()) == [
        "--job-name=02-horovod-sgd",
        "--output=%x-%j.out",
        f"--partition={load_site(ROOT, 'karolina').partition().slurm_name}",
        "--nodes=1",
        "--ntasks-per-node=2",
        "--cpus-per-task=16",
        "--gpus-per-node=2",
        "--time=00:20:00",
        "--signal=B:TERM@120",
        "--requeue",
        "--open-mode=append",
    ]


def test_a_partition_brings_its_own_directives_and_modules():
    """Jean Zay's H100 nodes: chosen by a constraint, with their own cores, QOS and architecture module."""
    script = render_job(ROOT, "jean-zay", "lab", "02", partition="h100", num_nodes=3)

    assert {"--constraint=h100", "--gres=gpu:4", "--cpus-per-task=24", "--nodes=3"} <= set(directives_of(script))
    assert [line for line in script.splitlines() if line.startswith("module load")] == [
        "module load arch/h100",
        "module load tensorflow-gpu/py3/2.11.0",
    ]


def test_only_a_training_that_resumes_goes_back_into_the_queue_at_its_time_limit():
    """Another one would begin anew, and reach the limit again: its job ends, and says so."""
    requeued = {lab.name: lab.resumes for lab in find_labs(ROOT) if (ROOT / "labs" / lab.name / "train.py").exists()}

    assert {lab for lab, resumes in requeued.items() if resumes} == {"03-keras-cnn", "04-estimator-cnn", "08-pytorch"}
    for lab, resumes in requeued.items():
        assert ("scontrol requeue" in (ROOT / f"slurm/jobs/local/{lab}-train.sbatch").read_text()) == resumes


def test_a_lab_with_pytorch_loads_its_modules_in_place_of_the_others():
    """Jean Zay's H100 nodes, Daint's container, and a Slurm where PyTorch is one more package of .venv."""
    prefixes = ("module load", "export COURSEKIT_SRUN_FLAGS", "venv=", "# PyTorch", "# TensorFlow")
    scripts = {
        site: [
            line
            for line in render_job(ROOT, site, "lab", "08", partition=key).splitlines()
            if line.startswith(prefixes)
        ]
        for site, key in (("jean-zay", "h100"), ("daint-alps", ""), ("local", ""))
    }
    own = 'venv="${COURSEKIT_VENV:-$PWD/%s}" # the course\'s own packages, see docs/clusters.md'

    assert scripts == {
        "jean-zay": [
            "# PyTorch of this machine.",
            "module load arch/h100",
            "module load pytorch-gpu/py3/2.8.0",
            own % ".venv-torch",
        ],
        "daint-alps": [
            "# PyTorch of this machine.",
            own % ".venv-torch",
            'export COURSEKIT_SRUN_FLAGS="--environment=pytorch"',
        ],
        "local": [own % ".venv"],
    }


# What lab 02 and JupyterLab ask for (nodes, ranks on each), what the lab is charged, and what a training asks for.
PIECES = {
    "barbora": ((1, 4), "1 whole node with 4 GPUs", 1.3, (2, 4)),
    "daint-alps": ((1, 4), "1 whole node with 4 GPUs", 1.3, (2, 4)),
    "jean-zay": ((1, 2), "2 GPUs", 0.7, (2, 4)),
    "karolina": ((1, 2), "2 GPUs", 0.7, (2, 8)),
    "local": ((1, 2), "", 0, (1, 2)),
    "piz-daint": ((2, 1), "2 whole nodes with 2 GPUs", 0.7, (2, 1)),
}


def nodes_and_tasks(script):
    """Return how many nodes a script asks for, and tasks on each."""
    values = dict(option.partition("=")[::2] for option in directives_of(script))
    return int(values["--nodes"]), int(values["--ntasks-per-node"])


@every_site
def test_a_lab_asks_for_the_smallest_piece_with_two_ranks(name):
    """No more than its ranks need, but all GPUs of nodes that are charged as a whole; its first lines say the cost."""
    piece, charged, gpu_hours, of_training = PIECES[name]
    script = render_job(ROOT, name, "lab", "02")
    cost = (
        f"at most {gpu_hours} GPU hours for a student ({charged} for 20 min), {40 if gpu_hours > 1 else 20} GPU hours"
    )

    assert nodes_and_tasks(script) == nodes_and_tasks(render_job(ROOT, name, "jupyter")) == piece
    assert nodes_and_tasks(render_job(ROOT, name, "train", "03")) == of_training
    assert (f"# Cost: {cost} for a class of 30.\n" if charged else "# Cost: no GPU hours.\n") in script


@every_site
def test_the_way_to_two_nodes_stands_in_the_script(name):
    """Where the piece is one node of several, options of sbatch spread it; `coursekit submit` renders the same."""
    line = re.search(
        r"^# One rank on each of two nodes: sbatch (.*) slurm/", render_job(ROOT, name, "lab", "02"), re.MULTILINE
    )
    assert bool(line) is (PIECES[name][0][0] == 1 and name != "local")

    if line:
        spread = render_job(ROOT, name, "lab", "02", num_nodes=2, num_tasks_per_node=1)
        assert set(line[1].split()) <= set(directives_of(spread))
        assert nodes_and_tasks(spread) == (2, 1)
    assert "two nodes" not in render_job(ROOT, name, "lab", "01")


def test_nodes_alone_mean_all_their_gpus():
    """`--nodes` without a number of ranks takes what nodes have, for the larger run."""
    assert nodes_and_tasks(render_job(ROOT, "jean-zay", "lab", "02", num_nodes=2)) == (2, 4)
    assert nodes_and_tasks(render_job(ROOT, "jean-zay", "lab", "02", num_tasks_per_node=4)) == (1, 4)
    assert nodes_and_tasks(render_job(ROOT, "jean-zay", "lab", "01", num_nodes=1)) == (1, 1)


def test_doubts_about_software_stand_in_the_script():
    """Where modules are loaded, with the command that will tell; doubts about other partitions do not."""
    script = render_job(ROOT, "jean-zay", "lab", "02")
    before, _, _ = script.partition("\nmodule load ")

    assert "2.11.0 existed" in before
    assert "\n# To know: module purge; module load tensorflow-gpu/py3/2.11.0; python3 -c " in before
    assert "arch/a100" not in script
    assert "arch/h100" in render_job(ROOT, "jean-zay", "lab", "02", partition="h100").partition("\nmodule purge")[0]


@pytest.mark.needs("shellcheck")
def test_bash_and_shellcheck_find_nothing():
    """Every script parses, and has none of the faults that shellcheck knows."""
    subprocess.run(["bash", "-n", *SCRIPTS], check=True)
    done = subprocess.run(["shellcheck", *SCRIPTS], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_holds_no_account_and_ends_in_words(path):
    """Account, reservation and path of nobody; the first failing command ends it; the log's name holds the job's."""
    script = path.read_text()

    options = directives_of(script)
    assert not [option for option in options if option.startswith(("--account", "--reservation", "-A"))]
    assert "--output=%x-%j.out" in options
    assert "\nset -euo pipefail" in script
    assert "/home/" not in script


def test_an_account_has_the_suffix_of_its_partition():
    """A script may name a project and a reservation, as the hub's do."""
    options = directives_of(render_job(ROOT, "jean-zay", "lab", "01", account="abc", reservation="course"))

    assert {"--account=abc@v100", "--reservation=course"} <= set(options)


@pytest.mark.parametrize(
    ("options", "code", "most"),
    [
        ({"partition": "k80"}, "partition.unknown", "a100, h100, v100, v100-8"),
        ({"partition": "a100", "num_nodes": 99}, "job.nodes", " 52"),
        ({"num_tasks_per_node": 5}, "job.ranks", " 4"),
    ],
)
def test_bad_wishes_get_one_sentence(options, code, most):
    """What was wrong, and what there is."""
    with pytest.raises(CourseKitError) as refused:
        render_job(ROOT, "jean-zay", "lab", "02", **options)
    assert refused.value.code == code
    assert most in str(refused.value)
