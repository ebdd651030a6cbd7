"""`coursekit kernel`: installed and asked for real; bad input gets a sentence."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_installed_kernel_is_started_and_asked(coursekit, home, answer_of):
    """A kernel in a path with spaces starts, has what the labs need, and two ranks add up; nothing is left."""
    status, output, _ = coursekit("kernel", "install", "--site", "local")
    folder = home / ".local" / "share" / "jupyter" / "kernels" / "coursekit-local"
    assert (status, str(folder) in output) == (0, True)

    (words,) = re.findall("`(!.*)`", output)
    answer_of("coursekit-local", f"{words} --json report.json")

    findings = {finding["name"]: finding for finding in json.loads(Path("report.json").read_text())["findings"]}
    asked = ("Python", "TensorFlow", "Horovod", "Allreduce, 2 ranks")
    assert {name: findings[name]["state"] for name in asked} == dict.fromkeys(asked, "good")


def test_installing_again_replaces(coursekit, course):
    """The second installation's environment is in place of the first's; no other file is left."""
    place = ("--prefix", str(course / "a prefix"))
    coursekit("kernel", "install", "--site", "jean-zay", "--partition", "h100", *place)
    coursekit("kernel", "install", "--site", "jean-zay", "--partition", "h100", *place, COURSEKIT_VENV="other venv")
    folder = course / "a prefix" / "share" / "jupyter" / "kernels" / "coursekit-jean-zay-h100"
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
    ("words", "part"),
    [
        (["install", "--site", "mars"], "[site.unknown]"),
        (["install", "--site", "karolina", "--partition", "tiny"], "[partition.unknown]"),
    ],
)
def test_bad_input_gets_a_sentence(coursekit, home, words, part):
    """The sentence says what there is, and nothing is written."""
    status, output, errors = coursekit("kernel", *words)

    assert (status, output, errors.count("\n")) == (1, "", 1)
    assert part in errors
    assert not list(home.rglob("kernels"))
