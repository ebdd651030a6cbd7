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
from coursekit.slurm.jobs.submit import arguments_of, submit

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


@pytest.mark.parametrize(
    ("lab", "train", "given", "words"),
    [
        ("03-keras-cnn", False, {}, []),
        (
            *("03-keras-cnn", False, {"num_epochs": "3", "data": "a folder/with spaces"}),
            ["-p", "data", "a folder/with spaces", "-p", "num_epochs", "3"],
        ),
        ("03-keras-cnn", False, {"num_epochs": "many"}, "num_epochs"),
        ("03-keras-cnn", False, {"epochs": "3"}, "[parameter.unknown]"),
        ("03-keras-cnn", True, {"model": "ResNet50", "num_epochs": "90"}, ["--model=ResNet50", "--num-epochs=90"]),
        ("03-keras-cnn", True, {"num_ranks": "4"}, "[parameter.not-in-script]"),
        ("01-sgd", True, {}, "01-sgd"),
    ],
)
def test_parameters_stand_behind_the_script(course, lab, train, given, words):
    """In a job of the notebook as options of `coursekit execute`, in a training as those of train.py."""
    if isinstance(words, list):
        assert arguments_of(course, lab, given, train=train) == words
        return
    with pytest.raises(CourseKitError) as refused:
        arguments_of(course, lab, given, train=train)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"labs": ["99"]}, "'99'"),
        ({"labs": ["01", "02"], "site": "nowhere"}, "[answer.missing]"),
        ({"site": "nowhere"}, "[site.unknown]"),
        ({"partition": "gold"}, "[partition.unknown]"),
        ({"nodes": 9999}, "[job.nodes]"),
        ({"nodes": 2}, "[slurm.no-command]"),
        ({}, "[slurm.no-command]"),
    ],
)
def test_what_is_missing_is_said_in_order(course, monkeypatch, tmp_path, options, fault):
    """Lab, answers, site, partition, nodes, and at last sbatch: the first that is missing is named; nothing is left."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(course)
    with pytest.raises(CourseKitError) as refused:
        submit(**{"labs": ["01"], "site": "karolina", **options})
    assert fault in str(refused.value)
    assert not list(course.glob("jobs/*"))


def test_a_command_that_is_refused_leaves_no_file(course, monkeypatch):
    """The log is made with its first line, which is sbatch's."""
    monkeypatch.chdir(course)
    refused = CliRunner().invoke(submit_command, ["01", "--site", "nowhere"]).exception
    assert refused.code == "site.unknown"
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
    assert refused.exception.code == "answer.missing"
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
    """The message names a script that was not rendered yet, and the command that makes it; no lab is submitted."""
    shutil.copytree(course, tmp_path / "course")
    script = tmp_path / "course" / "slurm" / "jobs" / "karolina" / "01-sgd.sbatch"
    script.unlink()
    sbatch = tmp_path / "sbatch"
    sbatch.write_text(f"#!/bin/sh\necho $2 >> {tmp_path}/asked\necho 1\n")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path / "course")
    with pytest.raises(CourseKitError, match=r"slurm/jobs/karolina/01-sgd\.sbatch .*\[job-script\.missing\]"):
        submit(["03", "01"], "karolina")
    assert not (tmp_path / "asked").exists()


def answers(lab):
    """Return the names of the answer cells in a lab's source, read from its text."""
    lines = (ROOT / "solutions" / lab / f"{lab}.py").read_text().splitlines()
    cells = [line for line in lines if line.startswith("# %%") and 'role="answer"' in line and "[markdown]" not in line]
    return [(line.partition('id="')[2].partition('"')[0], '"script"' in line) for line in cells]


def test_missing_answers_are_named(tmp_path):
    """The released notebook is refused with the name of every answer; a script minds only those it is made of."""
    shutil.copytree(ROOT / "labs" / "03-keras-cnn", tmp_path / "labs" / "03-keras-cnn")
    everything = ", ".join(name for name, _ in answers("03-keras-cnn"))
    script = ", ".join(name for name, is_script in answers("03-keras-cnn") if is_script)
    assert script != everything
    for train, names in ((False, everything), (True, script)):
        with pytest.raises(CourseKitError, match=rf"03-keras-cnn\.ipynb .* {names}: "):
            arguments_of(tmp_path, "03-keras-cnn", {}, train=train)
