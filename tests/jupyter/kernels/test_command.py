"""`coursekit kernel`: installed, checked for real, listed; bad input gets a sentence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.jupyter.kernels.installed import log_file

COURSEKIT = Path(sys.executable).with_name("coursekit")


@pytest.fixture
def coursekit(course):
    """A function that calls the command in the course's folder and returns status, output and error output."""
    del course

    def run(*words, **variables):
        environ = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
        done = subprocess.run(
            [COURSEKIT, *words], env={**environ, **variables}, capture_output=True, text=True, check=False, timeout=900
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_installed_kernel_is_started_and_asked(coursekit, home, course):
    """A kernel in a path with spaces starts, has what the labs need, and two ranks add up; nothing is left."""
    installed = coursekit("kernel", "install", "--site", "local")
    folder = home / ".local" / "share" / "jupyter" / "kernels" / "coursekit-local"
    assert installed == (
        0,
        (
            f"coursekit-local: “Course on A small Slurm of your own” is in {folder}.\n"
            "In JupyterLab, choose it for a notebook: Kernel > Change Kernel.\n"
            "On a node, see whether it works: coursekit kernel check coursekit-local\n"
        ),
        "",
    )
    assert coursekit("kernel", "list") == (0, f"coursekit-local\t{folder}\n", "")

    status, output, errors = coursekit("kernel", "check", "--json")

    report = json.loads(output)
    found = {finding["name"]: (finding["state"], finding["text"]) for finding in report["findings"]}
    allreduce, kernel = found.pop("Allreduce, 2 ranks"), found.pop("Kernel")
    assert (status, report["ready"], errors) == (0, True, "")
    assert found == {
        "Python": ("good", f"{sys.version.split()[0]} ({course}/.venv/bin/python)"),
        "coursekit": ("good", f"0.1.0 from {Path(__file__).parents[3]}/src/coursekit"),
        "TensorFlow": ("good", "2.15.1"),
        "Horovod": ("good", "0.28.1"),
        "Allocation": ("missing", "not inside a Slurm job"),
    }
    assert re.fullmatch(r"coursekit-local, started in [\d.]+ s", kernel[1])
    assert re.fullmatch(r"[\d.]+ ms for 1 MB; .*", allreduce[1])


def test_check_shows_why_a_kernel_does_not_start(coursekit, course):
    """With exit status 1, the table has the launcher's sentence, and the last line where to read all of it."""
    coursekit("kernel", "install", "--site", "local", "--name", "mine")
    (course / ".venv").unlink()

    status, output, _ = coursekit("kernel", "check", "mine", COLUMNS="400")

    assert status == 1
    assert f"mine did not start: there is no environment in {course}/.venv: make it, as" in output
    assert output.splitlines()[-2:] == ["Fix first: Kernel.", f"What its launcher said last: {log_file('mine')}"]


def test_check_ends_a_kernel_that_does_not_answer(coursekit, course):
    """A launcher that hangs is stopped when the time is over, with what it started."""
    (course / ".venv").unlink()
    (course / ".venv" / "bin").mkdir(parents=True)
    python = course / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\nsetsid sleep 3600 &\nsleep 3600\n")
    python.chmod(0o755)
    coursekit("kernel", "install", "--site", "local")

    status, output, _ = coursekit("kernel", "check", "--timeout", "1", COLUMNS="400")

    assert status == 1
    assert "coursekit-local did not start: no word within 1 s" in output


def test_check_names_what_a_kernel_cannot_import(coursekit, home):
    """A kernel of another Python, without the package, starts and is told what it lacks."""
    folder = home / ".local" / "share" / "jupyter" / "kernels" / "bare"
    folder.mkdir(parents=True)
    code = "import sys; sys.modules.update(coursekit=None); from ipykernel.kernelapp import main; main()"
    argv = [sys.executable, "-c", code, "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Bare", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))

    status, output, _ = coursekit("kernel", "check", "bare", "--json")

    states = {finding["name"]: finding["state"] for finding in json.loads(output)["findings"]}
    assert (status, states) == (
        1,
        {
            "Kernel": "good",
            "Python": "good",
            "coursekit": "missing",
            "TensorFlow": "missing",
            "Horovod": "missing",
            "Allocation": "missing",
            "Allreduce, 2 ranks": "wrong",
        },
    )


def test_installing_again_replaces(coursekit, course):
    """The second installation's site, partition and environment are in place of the first's; no other file is left."""
    place = ("--prefix", str(course / "a prefix"), "--name", "labs")
    coursekit("kernel", "install", "--site", "karolina", *place)
    coursekit("kernel", "install", "--site", "jean-zay", "--partition", "h100", *place, COURSEKIT_VENV="other venv")
    folder = course / "a prefix" / "share" / "jupyter" / "kernels" / "labs"
    spec = json.loads((folder / "kernel.json").read_text())
    loaded = re.findall(r"^(module .*|export COURSEKIT_VENV=.*)$", (folder / "launch.sh").read_text(), re.MULTILINE)

    assert sorted(path.name for path in folder.iterdir()) == ["kernel.json", "launch.sh"]
    assert spec == {
        "argv": ["/bin/bash", "{resource_dir}/launch.sh", "-f", "{connection_file}"],
        "display_name": "Course on Jean Zay, IDRIS, Orsay, h100",
        "language": "python",
        "interrupt_mode": "signal",
        "metadata": {"debugger": True, "coursekit": {"site": "jean-zay", "partition": "h100"}},
    }
    assert loaded == [
        f"export COURSEKIT_VENV='{course}/other venv'",
        "module purge",
        "module load arch/h100",
        "module load tensorflow-gpu/py3/2.11.0",
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["install", "--site", "mars"],
            "there is no site 'mars': slurm/sites/ has barbora, daint-alps, jean-zay, karolina, local, piz-daint.",
        ),
        (
            ["install", "--site", "karolina", "--partition", "tiny"],
            "karolina has no partition 'tiny': slurm/sites/karolina.toml has qgpu, qgpu_exp.",
        ),
        (
            ["install", "--site", "local", "--name", "../x"],
            "'../x' is not a name for a kernel: use small letters, digits, dots and hyphens, such as coursekit-local.",
        ),
        (["check"], "there is no kernel of the course: coursekit kernel install --site NAME makes one."),
    ],
)
def test_bad_input_gets_a_sentence(coursekit, home, words, sentence):
    """The sentence says what there is, and nothing is written."""
    status, output, errors = coursekit("kernel", *words)

    assert (status, output, errors) == (1, "", f"coursekit: {sentence}\n")
    assert not list(home.rglob("kernels"))


def test_unknown_kernel_lists_the_known_ones(coursekit):
    """A name that Jupyter does not know is answered with those that it does."""
    status, _, errors = coursekit("kernel", "check", "mars")

    assert (status, errors.startswith("coursekit: there is no kernel 'mars': Jupyter finds ")) == (1, True)
    assert "python3" in errors


def test_several_kernels_must_be_named(coursekit):
    """Without a name, check asks which of the course's kernels is meant."""
    for site in ("local", "karolina"):
        coursekit("kernel", "install", "--site", site)

    assert coursekit("kernel", "check")[2] == (
        "coursekit: there are several kernels of the course, name one: coursekit-karolina, coursekit-local.\n"
    )
