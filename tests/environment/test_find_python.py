"""tools/make-env: which Python it takes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BASE_PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def find(checkout, variables, link):
    """A function that runs tools/make-env, with a stand-in for make_env.py that prints which Python runs it."""
    link("dirname")
    (checkout / "tools" / "make_env.py").write_text("import os; print(os.environ['FOUND'])")

    def run(**extra):
        command = [checkout / "tools" / "make-env"]
        return subprocess.run(command, env={**variables, **extra}, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def python(programs):
    """A function that puts a working Python under a name; what it runs finds that name in FOUND."""
    return lambda name: programs(name, f'FOUND={name} exec {BASE_PYTHON} "$@"')


def test_shim_that_does_not_run_is_passed_over(programs, python, find):
    """A python3.11 that only says that it is not there does not count; the next name is taken."""
    programs("python3.11", "echo 'python3.11: command not found' >&2; exit 127")
    python("python3.10")
    python("python3.9")

    outcome = find()

    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "python3.10\n", "")


def test_python_of_the_environment_comes_first(checkout, python, find):
    """An existing .venv decides, so that a second call does not depend on what else is installed."""
    python("python3.11")
    inside = checkout / ".venv" / "bin" / "python"
    inside.parent.mkdir(parents=True)
    python("inside").rename(inside)

    assert find().stdout == "inside\n"


def test_broken_environment_is_passed_over(checkout, python, find):
    """A .venv whose base Python was removed does not stop the search."""
    python("python3.9")
    inside = checkout / ".venv" / "bin" / "python"
    inside.parent.mkdir(parents=True)
    inside.symlink_to("/nowhere/python3.11")

    assert find().stdout == "python3.9\n"


def test_pyenv_version_outside_the_path_is_found(python, find, tmp_path):
    """A Python that pyenv has built but does not select is found in its folder."""
    inside = tmp_path / "pyenv" / "versions" / "3.10.13" / "bin" / "python"
    inside.parent.mkdir(parents=True)
    python("pyenv-3.10").rename(inside)

    assert find(PYENV_ROOT=str(tmp_path / "pyenv")).stdout == "pyenv-3.10\n"


def test_python_variable_overrides(python, find):
    """PYTHON=... is taken although another one comes first on the list."""
    python("python3.11")
    chosen = python("mine")

    assert find(PYTHON=str(chosen)).stdout == "mine\n"


def test_unsuitable_python_variable_is_refused_in_one_sentence(python, programs, find):
    """PYTHON=... that is too new is not replaced by another one behind the user's back."""
    python("python3.11")
    too_new = programs("python3.12", "exit 1")

    outcome = find(PYTHON=str(too_new))

    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert outcome.stderr == (
        f"make env: PYTHON={too_new} is not a Python 3.9, 3.10 or 3.11 that runs: "
        "name another one, or leave PYTHON unset to have one found.\n"
    )


def test_no_python_is_one_sentence(programs, find):
    """Without a suitable Python there is one sentence with what to install and the conda way, and exit status 1."""
    programs("python3", "exit 1")

    outcome = find(XDG_DATA_HOME="/nowhere", PYENV_ROOT="/nowhere")

    assert (outcome.returncode, outcome.stdout) == (1, "")
    (sentence,) = outcome.stderr.splitlines()
    assert sentence.startswith("make env: no Python 3.9, 3.10 or 3.11 was found: install one ")
    assert "conda env create -f environment.yml" in sentence
