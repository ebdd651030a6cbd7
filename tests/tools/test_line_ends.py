"""A clone has the files as they are in the checkout, whatever git is told about line ends."""

import subprocess
from pathlib import Path

import pytest

from coursekit.labs.build.students_copy import students_files

ROOT = Path(__file__).parents[2]
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@b.c")

pytestmark = pytest.mark.needs("git")


def git(folder, *words, given=None):
    """Run git in a folder, without the settings of whoever runs the tests, and return what it prints."""
    environ = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
    }
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environ, input=given, capture_output=True, check=True, text=True
    )
    return done.stdout


def repository(folder, files):
    """Make a repository of files, given by path with what is in them, with one commit."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    git(folder, "init")
    git(folder, "add", "--all", "--force")
    git(folder, *IDENTITY, "commit", "--quiet", "--message=all")
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a repository of what is in this checkout now, committed or not."""
    names = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    files = {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}
    return repository(tmp_path_factory.mktemp("checkout"), files)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a repository of what students get."""
    return repository(tmp_path_factory.mktemp("copy"), students_files(ROOT))


@pytest.mark.parametrize("origin", ["checkout", "copy"])
def test_git_for_windows_changes_no_line_ends(origin, request, tmp_path):
    """With core.autocrlf, which git for Windows sets, a clone still has every file as it is: scripts start."""
    original = request.getfixturevalue(origin)
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", str(original), "clone")
    names = git(original, "ls-files", "-z").split("\0")[:-1]
    assert {"Makefile", "tools/make-env", "slurm/jobs/karolina/01-sgd.sbatch"} <= set(names)
    assert [name for name in names if (tmp_path / "clone" / name).read_bytes() != (original / name).read_bytes()] == []


def test_what_has_attributes_is_there(checkout):
    """Each pattern of .gitattributes fits a file: none names one that is gone."""
    lines = (checkout / ".gitattributes").read_text().splitlines()
    patterns = [line.split()[0] for line in lines if line and not line.startswith("#")]
    marks = {f"mark{i}": pattern for i, pattern in enumerate(patterns)}
    (checkout / ".git" / "info" / "attributes").write_text(
        "".join(f"{pattern} {mark}\n" for mark, pattern in marks.items())
    )
    names = git(checkout, "ls-files")
    found = git(checkout, "check-attr", "--stdin", *marks, given=names).splitlines()
    fitting = {line.split(": ")[-2] for line in found if line.endswith(": set")}
    assert [pattern for mark, pattern in marks.items() if mark not in fitting] == []
