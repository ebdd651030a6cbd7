"""A folder of small programs to put on the PATH, and checkouts to make environments in."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASE_PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def programs(tmp_path):
    """An empty folder for programs and a function that writes shell scripts into it; `programs.folder` is its path."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def write(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    write.folder = folder
    return write


@pytest.fixture
def link(programs):
    """A function that puts programs of this machine into the folder."""

    def link_all(*names):
        for name in names:
            (programs.folder / name).symlink_to(shutil.which(name))

    return link_all


@pytest.fixture
def checkout(tmp_path):
    """A copy of what `make env` reads, for it to make environments in."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "students", folder / "students")
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements-*.lock")):
        shutil.copy(path, folder)
    return folder


@pytest.fixture
def variables(tmp_path, programs):
    """Variables of a shell with an empty home and only the folder of programs on its PATH."""
    kept = {name: os.environ[name] for name in ("LANG", "SSL_CERT_FILE") if name in os.environ}
    places = {"HOME": str(tmp_path / "home"), "PATH": str(programs.folder)}
    return {**kept, **places, "PYTHONDONTWRITEBYTECODE": "1", "COURSEKIT_TENSORFLOW": "2.15"}


@pytest.fixture
def ask(checkout, variables):
    """A function that returns the value of a Python expression about tools/, or the message of a refusal."""

    def evaluate(expression, **extra):
        setup = "import sys; sys.path.insert(0, 'tools'); import json, gpus, horovod_wheel, make_env, shell; "
        command = [BASE_PYTHON, "-EsS", "-c", f"{setup}print(json.dumps({expression}))"]
        done = subprocess.run(
            command, cwd=checkout, env={**variables, **extra}, capture_output=True, text=True, check=False
        )
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr.splitlines()[-1]

    return evaluate
