"""tools/make-env: which Python it takes."""

import json
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
    python("python3")

    outcome = find()

    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "python3.10\n", "")


@pytest.mark.parametrize("works", [True, False])
def test_python_of_the_environment_comes_first(works, checkout, python, find):
    """An existing .venv decides, whatever else is installed, but for one whose base Python was removed."""
    python("python3.11")
    inside = checkout / ".venv" / "bin" / "python"
    inside.parent.mkdir(parents=True)
    if works:
        python("inside").rename(inside)
    else:
        inside.symlink_to("/nowhere/python3.11")

    assert find().stdout == ("inside\n" if works else "python3.11\n")


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
    too_new = programs("python3.14", "exit 1")

    outcome = find(PYTHON=str(too_new))

    assert (outcome.returncode, outcome.stdout) == (1, "")
    (sentence,) = outcome.stderr.splitlines()
    assert f"PYTHON={too_new}" in sentence


def test_tensorflow_decides_which_python_comes_first(python, find):
    """Today's TensorFlow takes the newest Python there is from 3.13 down, the old one none above 3.11."""
    for name in ("python3.10", "python3.11", "python3.13"):
        python(name)

    assert [find(TENSORFLOW=version).stdout for version in ("2.15", "2.21")] == ["python3.11\n", "python3.13\n"]


def test_tensorflow_that_was_asked_for_stays(checkout, python, find):
    """Without TENSORFLOW the stamp of .venv decides, and the default where it names none."""
    (checkout / "tools" / "make_env.py").write_text(
        "import os; print(os.environ.get('TENSORFLOW'), os.environ['COURSEKIT_TENSORFLOW'])"
    )
    python("python3")
    stamp = checkout / ".venv" / "coursekit-stamp.json"
    stamp.parent.mkdir()
    stamp.write_text(json.dumps({"folder": "x", "tensorflow": "2.15", "locks": []}, indent=1))
    asked = [find().stdout, find(TENSORFLOW="2.21").stdout]
    stamp.write_text(json.dumps({"folder": "x"}, indent=1))

    assert [*asked, find().stdout] == ["2.15 2.15\n", "2.21 2.21\n", "None 2.21\n"]


def test_tensorflow_without_a_lock_is_refused_in_one_sentence(find):
    """Only what there are pins for can be asked for."""
    outcome = find(TENSORFLOW="2.18")

    assert (outcome.returncode, outcome.stdout) == (1, "")
    (sentence,) = outcome.stderr.splitlines()
    assert "TENSORFLOW=2.18" in sentence


@pytest.fixture
def too_new(programs, link):
    """A python3 of a version without TensorFlow, which only makes virtual environments, among a system's programs."""
    link("mkdir", "sed")
    programs("python3", f'[ "$1" = -m ] && exec {BASE_PYTHON} "$@"; exit 1')


@pytest.mark.usefixtures("too_new")
def test_no_network_is_one_sentence(link, find):
    """When uv cannot fetch a Python, one sentence says what to install and names the conda way; exit status 1."""
    link("uv")

    nowhere = {"XDG_DATA_HOME": "/nowhere", "PYENV_ROOT": "/nowhere"}
    outcome = find(**nowhere, UV_PYTHON_INSTALL_MIRROR="http://127.0.0.1:9", UV_HTTP_RETRIES="0")

    assert outcome.returncode == 1
    assert outcome.stdout.startswith("make env: ")
    (sentence,) = outcome.stderr.splitlines()
    assert "conda env create -f environment.yml" in sentence
