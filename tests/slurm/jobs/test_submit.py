"""What is checked before a job is submitted, and what goes behind its script."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.cli.submit import submit as submit_command
from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.slurm.jobs.remembered import recall_all
from coursekit.slurm.jobs.submit import check_answers, notebook_options, submit, train_options

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
        *("-p", "data", "a folder/with spaces"),
        *("-p", "num_epochs", "3"),
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
    with pytest.raises(CourseKitError, match=r"01-sgd.* has no script"):
        train_options(notebook(course, "01-sgd"), {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lab": "99"}, "there is no lab '99'; the labs are 01-sgd, 02-"),
        ({"lab": "02", "site": "nowhere"}, "labs/02-horovod-sgd/02-horovod-sgd.ipynb has no answer yet in "),
        ({"site": "nowhere"}, "there is no site 'nowhere': slurm/sites/ has barbora, "),
        ({"partition": "gold"}, "karolina has no partition 'gold': slurm/sites/karolina.toml has "),
        ({"nodes": 9999}, "karolina, partition qgpu: 9999 nodes; a job has from 1 to "),
        ({"train": True}, "the lab 01-sgd has no script: submit it without --train."),
        ({"nodes": 2}, "there is no sbatch here: submit on a login node of Karolina, "),
        ({}, "there is no sbatch here: submit on a login node of Karolina, "),
    ],
)
def test_what_is_missing_is_said_in_order(course, monkeypatch, tmp_path, options, message):
    """Lab, answers, site, partition, nodes, and at last sbatch: the first that is missing is named; nothing is left."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(course)
    with pytest.raises(CourseKitError) as refused:
        submit(**{"lab": "01", "site": "karolina", **options})
    assert str(refused.value).startswith(message)
    assert not list(course.glob("jobs/*"))


def test_a_command_that_is_refused_leaves_no_file(course, monkeypatch):
    """The log is made with its first line, which is sbatch's."""
    monkeypatch.chdir(course)
    refused = CliRunner().invoke(submit_command, ["01", "--site", "nowhere"]).exception
    assert str(refused).startswith("there is no site 'nowhere': ")
    assert not list(course.glob("jobs/*"))


def test_what_slurm_was_asked_stands_in_a_log_and_with_v_on_stderr(course, monkeypatch, tmp_path):
    """The whole command and what it answered; the file is the call's own."""
    sbatch = tmp_path / "sbatch"
    sbatch.write_text("#!/bin/sh\necho 'sbatch: error: Invalid account' >&2\nexit 1\n")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    command = [sys.executable, "-m", "coursekit", "-v", "submit", "01", "--site", "karolina"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False, timeout=900)
    (log,) = (course / "jobs").glob("submit-*.log")
    for said in (log.read_text(), done.stderr):
        assert re.search(r"INFO sbatch .*karolina/01-sgd\.sbatch.*: status 1: sbatch: error: Invalid account", said)
    assert done.returncode == 1
    shutil.rmtree(log.parent)


def test_several_labs_are_jobs_of_their_own_or_none(course, monkeypatch, tmp_path):
    """With all answers there, sbatch gets each lab's script once; if one lab lacks answers, it gets none of them."""
    sbatch = tmp_path / "sbatch"
    sbatch.write_text(f"#!/bin/sh\necho $2 >> {tmp_path}/asked\nwc -l < {tmp_path}/asked\n")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(course)
    refused = CliRunner().invoke(submit_command, ["01", "02", "03", "--site", "karolina"])
    assert "02-horovod-sgd.ipynb has no answer yet in " in str(refused.exception)
    assert not (tmp_path / "asked").exists()

    done = CliRunner().invoke(submit_command, ["3", "01", "--site", "karolina"], catch_exceptions=False)
    assert (done.exit_code, len(done.output.splitlines())) == (0, 2)
    scripts = [Path(line).name for line in (tmp_path / "asked").read_text().splitlines()]
    assert scripts == ["01-sgd.sbatch", "03-keras-cnn.sbatch"]
    assert [(job.job_id, job.lab) for job in recall_all(course)] == [("1", "01-sgd"), ("2", "03-keras-cnn")]
    for option in (["--follow"], ["-p", "num_epochs", "3"]):
        assert CliRunner().invoke(submit_command, ["01", "03", "--site", "karolina", *option]).exit_code == 2
    shutil.rmtree(course / "jobs")


def test_a_site_without_scripts(course, monkeypatch, tmp_path):
    """A script that was not rendered yet is asked for by the command that makes it."""
    shutil.copytree(course, tmp_path / "course")
    script = tmp_path / "course" / "slurm" / "jobs" / "karolina" / "01-sgd.sbatch"
    script.unlink()
    monkeypatch.chdir(tmp_path / "course")
    with pytest.raises(CourseKitError, match=r"^slurm/jobs/karolina/01-sgd\.sbatch is missing: .*coursekit build"):
        submit("01", "karolina")


@pytest.fixture
def released(tmp_path):
    """Return a checkout with the released notebooks of labs 01 and 03."""
    for name in ("01-sgd", "03-keras-cnn"):
        shutil.copytree(ROOT / "labs" / name, tmp_path / "labs" / name)
    return tmp_path


def answers(lab):
    """Return the names of the answer cells in a lab's source, read from its text."""
    lines = (ROOT / "solutions" / lab / f"{lab}.py").read_text().splitlines()
    cells = [line for line in lines if line.startswith("# %%") and 'role="answer"' in line and "[markdown]" not in line]
    return [(line.partition('id="')[2].partition('"')[0], '"script"' in line) for line in cells]


def test_missing_answers_are_named(released):
    """The released notebook is refused with the name of every answer; a script minds only those it is made of."""
    everything = ", ".join(name for name, _ in answers("03-keras-cnn"))
    script = ", ".join(name for name, is_script in answers("03-keras-cnn") if is_script)
    assert script != everything
    for only_script, names in ((False, everything), (True, script)):
        with pytest.raises(CourseKitError) as refused:
            check_answers(released, "03-keras-cnn", only_script=only_script)
        assert f"03-keras-cnn.ipynb has no answer yet in {names}: " in str(refused.value)
