"""A folder of small programs to put on the PATH, and checkouts to make environments in."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASE_PYTHON = os.path.realpath(sys.executable)
LIMIT_S = 3000  # of a command that hangs; a busy machine compiles Horovod for half an hour


@contextmanager
def made_checkout(folder, *settings):
    """Run `make env` with these settings in a copy of this checkout; give a function that runs a program there.

    The program must succeed; what it printed is returned.
    """
    checkout = folder / "checkout"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():  # not deleted, and not committed yet
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name, follow_symlinks=False)

    def run(*command):
        # Nothing of the run around this one.
        environ = {name: value for name, value in os.environ.items() if not re.match("PYTEST|TENSORFLOW", name)}
        done = subprocess.run(
            command, cwd=checkout, env=environ, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    run("make", "env", *settings)
    yield run
    shutil.rmtree(checkout)  # it has a gigabyte


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
