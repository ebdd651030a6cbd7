"""What is checked before a job is submitted, and what goes behind its script."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.slurm.jobs.arguments import notebook_options, train_options
from coursekit.slurm.jobs.submit import SubmitOptions, submit_lab

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a checkout with the answers of labs 01 and 03."""
    root = tmp_path_factory.mktemp("course")
    for name in ("labs", "slurm", "solutions"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    for name, source in build_sources(root, select_labs(root, ["01", "03"])).items():
        shutil.copy(source, root / "labs" / name / f"{name}.ipynb")
    return root


def notebook(course, name):
    """Return a lab's notebook."""
    return course / "labs" / name / f"{name}.ipynb"


def test_parameters_of_a_notebook(course):
    """Each parameter becomes an option of the command in the job, of the type of its default."""
    path = notebook(course, "03-keras-cnn")
    assert notebook_options(path, {}) == []
    assert notebook_options(path, {"num_epochs": "3", "data": "a folder/with spaces"}) == [
        *("-p", "num_epochs", "3"),
        *("-p", "data", "a folder/with spaces"),
    ]
    with pytest.raises(CourseKitError, match=r"^-p: num_epochs must be a whole number"):
        notebook_options(path, {"num_epochs": "many"})
    with pytest.raises(CourseKitError, match=r"^-p: 03-keras-cnn\.ipynb has no parameter epochs; it has .*num_epochs"):
        notebook_options(path, {"epochs": "3"})


def test_parameters_of_a_script(course):
    """The script's options are written as it has them; others are refused, as is what is no script."""
    path = notebook(course, "03-keras-cnn")
    assert train_options(path, {"model": "ResNet50", "num_epochs": "90"}) == ["--model=ResNet50", "--num-epochs=90"]
    with pytest.raises(CourseKitError, match=r"^-p: the script of 03-keras-cnn does not use num_ranks: "):
        train_options(path, {"num_ranks": "4"})
    with pytest.raises(CourseKitError, match=r"^the lab 01-sgd has no script"):
        train_options(notebook(course, "01-sgd"), {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (SubmitOptions("08", "karolina"), "there is no lab '08'; the labs are 01-sgd, 02-"),
        (SubmitOptions("02", "nowhere"), "labs/02-horovod-sgd/02-horovod-sgd.ipynb has no answer yet in "),
        (SubmitOptions("01", "nowhere"), "there is no site 'nowhere': slurm/sites/ has barbora, "),
        (
            SubmitOptions("01", "karolina", partition="gold"),
            "karolina has no partition 'gold': slurm/sites/karolina.toml has ",
        ),
        (SubmitOptions("01", "karolina", num_nodes=0), "--nodes is 0, but a job has at least 1 node"),
        (SubmitOptions("01", "karolina", ranks_per_node=0), "--ranks-per-node is 0, but a job has at least 1 node"),
        (SubmitOptions("01", "karolina", num_nodes=9999), "karolina, partition qgpu: 9999 nodes; a job has from 1 to "),
        (SubmitOptions("01", "karolina", num_nodes=2), "there is no sbatch here: submit on a login node of Karolina, "),
        (SubmitOptions("01", "karolina", event=Path("gone.toml")), "gone.toml is missing: write it."),
        (SubmitOptions("01", "karolina", train=True), "the lab 01-sgd has no script: submit it without --train."),
        (
            SubmitOptions("01", "karolina"),
            "there is no sbatch here: submit on a login node of Karolina, IT4Innovations, Ostrava",
        ),
    ],
)
def test_what_is_missing_is_said_in_order(course, monkeypatch, tmp_path, options, message):
    """Lab, answers, site, partition, nodes, and at last sbatch: the first that is missing is named; nothing is left."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseKitError) as refused:
        submit_lab(course, options)
    assert str(refused.value).startswith(message)
    assert not list(course.glob("jobs/*"))


def test_a_site_without_scripts(course, tmp_path):
    """A script that was not rendered yet is asked for by the command that makes it."""
    shutil.copytree(course, tmp_path / "course")
    script = tmp_path / "course" / "slurm" / "jobs" / "karolina" / "01-sgd.sbatch"
    script.unlink()
    with pytest.raises(CourseKitError) as refused:
        submit_lab(tmp_path / "course", SubmitOptions("01", "karolina"))
    assert str(refused.value) == ("slurm/jobs/karolina/01-sgd.sbatch is missing: make it with `coursekit build`.")
