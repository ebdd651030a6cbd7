"""Programs run in a real sandbox, by the account that runs the tests and, if that is root, by an ordinary one too."""

import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from coursekit.grading.isolation.sandbox import hidden_folders, python_folders

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 900
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
# The ordinary account may not be able to read the environment; any Python can start a sandbox.
PYTHONS = {"own": [sys.executable], "ordinary": [*NOBODY, "/usr/bin/python3"]}
ACCOUNTS = list(PYTHONS) if os.getuid() == 0 else ["own"]

START = """
import json, os, sys
from pathlib import Path
from coursekit.grading.isolation.sandbox import command
shown, environ, extra, argv = json.loads(sys.argv[1])
words = command(argv, {inside: Path(outside) for inside, outside in shown.items()}, environ, 1 << 20)
words[1:1] = extra
os.execvp(words[0], words)
"""
ANSWER = """
import ctypes, errno, json, os, resource, select, signal, socket, sys, threading, time
from pathlib import Path
sys.path.insert(0, "/kit")
from inside import *
{source}
print(json.dumps({name}()))
"""


@pytest.fixture(scope="session")
def kit():
    """Return a folder with what a sandbox needs and with `inside.py`, readable for everyone."""
    folder = Path(tempfile.mkdtemp(prefix="kit-"))
    for name in ("__init__.py", "errors.py", "paths.py", "text.py", "grading/__init__.py", "grading/isolation"):
        source, target = ROOT / "src/coursekit" / name, folder / "coursekit" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    shutil.copy(Path(__file__).with_name("inside.py"), folder)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    yield folder
    shutil.rmtree(folder)


class Sandbox:
    """Runs functions in a sandbox, as an account.

    A function is sent as its source, below the imports of ANSWER, and returns plain data.
    """

    def __init__(self, kit, account):
        self.kit = kit
        self.account = account
        self.environ = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108  # the sandbox's own

    @property
    def kept_in_tmp(self):
        """What the sandbox's /tmp shows at first: nothing, unless the environment itself is in there."""
        folders = hidden_folders(python_folders()) if self.account == "own" else []
        return sorted({folder.parts[2] for folder in folders if folder.parts[1] == "tmp"})

    def command(self, function, extra=()):
        """Return the command line that runs a function and prints what it returns."""
        code = ANSWER.format(source=textwrap.dedent(inspect.getsource(function)), name=function.__name__)
        python = PYTHONS[self.account]
        argv = [python[-1], "-P", "-c", code]
        told = json.dumps([{"/kit": str(self.kit)}, self.environ, extra, argv])
        return [*python, "-c", START, told]

    def start(self, function, extra=(), **options):
        """Start a function; return the process."""
        return subprocess.Popen(
            self.command(function, extra),
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(self.kit), "SECRET": "of the parent"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            **options,
        )

    def run(self, function, extra=(), **options):
        """Return what a function returns."""
        with self.start(function, extra, **options) as process:
            try:
                output, errors = process.communicate(timeout=TIMEOUT_S)
            finally:
                process.kill()
        assert process.returncode == 0, errors
        return json.loads(output.splitlines()[-1])


@pytest.fixture(params=ACCOUNTS)
def sandbox(kit, request):
    """Return a way to run functions in a sandbox."""
    return Sandbox(kit, request.param)


@pytest.fixture
def own_sandbox(kit):
    """Return the same for the account that runs the tests alone."""
    return Sandbox(kit, "own")


@pytest.fixture
def ordinary_sandbox(kit):
    """Return the same for an account that is not root."""
    return Sandbox(kit, ACCOUNTS[-1])
