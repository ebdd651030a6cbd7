"""tools/make-env: which Python it takes."""

import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

BASE_PYTHON = os.path.realpath(sys.executable)
BUILD_LOCK = Path(__file__).parents[2] / "tools" / "build-requirements.lock"


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
    assert outcome.stderr == (
        f"make env: PYTHON={too_new} is not a Python from 3.10 to 3.13 that runs, which TensorFlow 2.21 takes: "
        "name another one, or leave PYTHON unset to have one found.\n"
    )


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
    assert outcome.stderr == ("make env: TENSORFLOW=2.18 is none of 2.15, 2.21: set one of them, or leave it unset.\n")


NOWHERE = {"XDG_DATA_HOME": "/nowhere", "PYENV_ROOT": "/nowhere"}
FETCHING = (
    "make env: no Python from 3.10 to 3.13 was found: having uv fetch Python 3.13 (log in build/env/python.log)\n"
)


@pytest.fixture
def mirror(tmp_path):
    """Variables with which uv fetches a Python 3.13 from a folder, where a script stands for the interpreter."""
    script = f'#!/bin/sh\nFOUND="$0" exec {BASE_PYTHON} "$@"\n'
    data = f"lib/python3.13/_sysconfigdata__linux_{platform.machine()}-linux-gnu.py"  # uv writes its own paths into it
    files = {
        **dict.fromkeys(["bin/python", "bin/python3", "bin/python3.13"], script),
        data: "# system configuration generated and used by the sysconfig module\nbuild_time_vars = {}\n",
    }
    release = tmp_path / "mirror" / "20240713"
    release.mkdir(parents=True)
    archive = release / "cpython-3.13.9-install_only.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"python/{name}")
            member.size, member.mode = len(text), 0o755
            tar.addfile(member, io.BytesIO(text.encode()))
    version = {"name": "cpython", "major": 3, "minor": 13, "patch": 9, "prerelease": "", "variant": None}
    system = {"arch": {"family": platform.machine(), "variant": None}, "os": "linux", "libc": "gnu"}
    releases = "https://github.com/astral-sh/python-build-standalone/releases/download"
    source = {
        "url": f"{releases}/20240713/{archive.name}",
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "build": "20240713",
    }
    known = tmp_path / "downloads.json"
    known.write_text(json.dumps({"cpython-3.13.9-linux": {**version, **system, **source}}))
    return {"UV_PYTHON_INSTALL_MIRROR": release.parent.as_uri(), "UV_PYTHON_DOWNLOADS_JSON_URL": str(known)}


@pytest.fixture
def too_new(programs, link):
    """A python3 of a version without TensorFlow, which only makes virtual environments, among a system's programs."""
    link("mkdir", "sed")
    programs("python3", f'[ "$1" = -m ] && exec {BASE_PYTHON} "$@"; exit 1')


@pytest.mark.usefixtures("too_new")
@pytest.mark.parametrize("folder", ["XDG_DATA_HOME", "UV_PYTHON_INSTALL_DIR"])
def test_uv_fetches_a_python_from_a_mirror(folder, link, find, mirror, tmp_path):
    """Where no Python suits, uv fetches one and a line says so; the next time it is found without a word."""
    link("uv")
    places = {**NOWHERE, folder: str(tmp_path / "pythons")}

    fetched, found_again = find(**places, **mirror), find(**places)

    log = (tmp_path / "checkout" / "build" / "env" / "python.log").read_text()
    assert (fetched.returncode, fetched.stderr) == (0, ""), log
    announced, python = fetched.stdout.splitlines(keepends=True)
    assert announced == FETCHING
    assert Path(python).is_relative_to(tmp_path / "pythons")
    assert (found_again.returncode, found_again.stdout, found_again.stderr) == (0, python, "")
    assert not (tmp_path / "home" / ".local" / "bin").exists()


@pytest.mark.usefixtures("too_new")
def test_uv_itself_is_the_pinned_one(find, mirror, tmp_path):
    """Without uv on the PATH a Python of any version installs it, and refuses one that is not the pinned one."""
    pin = re.search(r"^uv==(\S+)", BUILD_LOCK.read_text(), re.MULTILINE)[1]
    (tmp_path / f"uv-{pin}-py3-none-any.whl").write_bytes(b"something else")

    outcome = find(**NOWHERE, **mirror, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))

    assert_no_python(outcome)
    log = (tmp_path / "checkout" / "build" / "env" / "python.log").read_text()
    assert f"uv=={pin}" in log
    assert "DO NOT MATCH THE HASHES" in log


@pytest.mark.usefixtures("too_new")
def test_no_network_is_one_sentence(link, find):
    """When uv cannot fetch a Python, one sentence says what to install and names the conda way; exit status 1."""
    link("uv")

    assert_no_python(find(**NOWHERE, UV_PYTHON_INSTALL_MIRROR="http://127.0.0.1:9", UV_HTTP_RETRIES="0"))


def assert_no_python(outcome):
    """Assert that the outcome is the sentence about what to install."""
    assert (outcome.returncode, outcome.stdout) == (1, FETCHING)
    (sentence,) = outcome.stderr.splitlines()
    assert sentence.startswith("make env: no Python from 3.10 to 3.13 was found: install one ")
    assert "conda env create -f environment.yml" in sentence
