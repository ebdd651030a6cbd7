"""The Makefile lists its targets, and needs no environment to do so."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def make():
    """A function that runs make in the checkout and returns what it prints."""
    # The make that runs these tests hands its own flags and variables on: not to this one.
    environ = {"PATH": os.environ["PATH"]}

    def run(*words):
        done = subprocess.run(["make", *words], cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
        return done.stdout

    return run


def test_make_alone_lists_every_target(make):
    """`make` prints each target with a line of explanation, in the order of the files, and does nothing else."""
    text = (ROOT / "Makefile").read_text() + (ROOT / "students" / "Makefile").read_text()
    targets = " ".join(re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)).split()

    assert re.findall(r"^make ([a-z-]+) +\S.*$", make(), re.MULTILINE) == targets


def test_check_fails_when_labs_are_stale(tmp_path, checkout, programs):
    """`make check` builds, and a lab that differs from the committed one ends it with a sentence."""
    for name in ("ruff", "mypy", "lint-imports", "python", "make-env"):
        programs(name, "exit 0")
    programs("workshop", "exit 0")
    programs("coursekit", "mkdir -p labs/01; cp solution labs/01/01.ipynb")
    (checkout / ".venv").mkdir()
    programs.folder.rename(checkout / ".venv" / "bin")
    shutil.copy(checkout / ".venv" / "bin" / "make-env", checkout / "tools" / "make-env")
    (checkout / "solution").write_text("first")
    identity = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **identity}

    def call(*command):
        return subprocess.run(command, cwd=checkout, env=environ, capture_output=True, text=True, check=False)

    call("git", "init")
    stale = call("make", "check")
    call("git", "add", "labs")
    call("git", "commit", "-m", "labs")
    fresh = call("make", "check")
    (checkout / "solution").write_text("second")

    assert (fresh.returncode, fresh.stderr) == (0, "")
    for outcome in (stale, call("make", "check")):
        assert outcome.returncode == 2
        assert outcome.stderr.splitlines()[0] == (
            "make check: these differed from what their sources generate; they are up to date now: commit them."
        )
