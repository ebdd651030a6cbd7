"""The course checkout is found from anywhere inside it, and packages that hide those of this environment."""

import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.paths import closed_to_others, find_root, shadowed, socket_folder


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch):
    monkeypatch.delenv("COURSEKIT_ROOT", raising=False)


@pytest.fixture
def checkout(tmp_path):
    """Return a folder with what makes a checkout, and a folder deep inside it."""
    (tmp_path / "course" / "solutions" / "01-sgd").mkdir(parents=True)
    (tmp_path / "course" / "pyproject.toml").touch()
    return tmp_path / "course"


def test_the_nearest_checkout_above_is_found(checkout):
    """From the checkout itself or any folder in it, the checkout is found."""
    inner = checkout / "solutions" / "01-sgd"

    assert [find_root(checkout), find_root(inner)] == [checkout, checkout]


def test_the_search_starts_in_the_working_directory(checkout, monkeypatch):
    """Without a start the working directory counts."""
    monkeypatch.chdir(checkout / "solutions")

    assert find_root() == checkout


def test_the_variable_wins(checkout, tmp_path, monkeypatch):
    """COURSEKIT_ROOT names the checkout from outside it."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout))

    assert find_root(tmp_path) == checkout


def test_without_a_checkout_there_is_an_error(checkout, tmp_path, monkeypatch):
    """Outside of one; and a wrong COURSEKIT_ROOT is not passed over in silence, not even inside a checkout."""
    with pytest.raises(CourseKitError, match=rf"^{tmp_path} .*\[checkout\.not-found\]$"):
        find_root(tmp_path)
    monkeypatch.setenv("COURSEKIT_ROOT", str(tmp_path))
    with pytest.raises(CourseKitError, match=rf"{tmp_path}.*\[checkout\.wrong-root\]$"):
        find_root(checkout)


def test_a_python_in_a_private_folder_is_told_unless_the_environment_lies_there_too(tmp_path):
    """The outermost folder that keeps others out is named; a link to the program counts as the program."""
    home, course = tmp_path / "home", tmp_path / "course"
    (home / "inner" / "bin").mkdir(parents=True)
    (course / ".venv" / "bin").mkdir(parents=True)
    for folder in (*tmp_path.parents[:2], tmp_path):
        folder.chmod(folder.stat().st_mode | 0o001)  # pytest's own are private
    program, link = home / "inner" / "bin" / "python3", course / ".venv" / "bin" / "python"
    program.touch()
    link.symlink_to(program)
    assert closed_to_others(str(link), str(course / ".venv")) == ""

    (home / "inner").chmod(0o700)
    home.chmod(0o750)

    assert f"{program} lies in {home}," in closed_to_others(str(link), str(course / ".venv"))
    assert closed_to_others(str(link), str(home / ".venv")).endswith(
        f"lies in {home / 'inner'}, which only its owner enters"
    )


def test_sockets_are_where_temporary_files_are_unless_its_path_is_too_long(monkeypatch):
    """Up to the last byte that a socket's path may have; then another folder is taken, and nothing is left in any."""
    with tempfile.TemporaryDirectory(prefix="try-", dir="/tmp") as short:
        monkeypatch.setattr("tempfile.tempdir", short)
        room = 107 - len(short)
        assert [socket_folder(room), socket_folder(room + 1)] == [short, str(Path(short).parent)]
        with socket.socket(socket.AF_UNIX) as one, pytest.raises(OSError, match="too long"):
            one.bind(f"{short}/".ljust(108, "x"))
        assert list(Path(short).iterdir()) == []


def write_modules(folder, *names):
    """Write empty modules, given by file, and return the folder."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return str(folder)


def test_whatever_pythonpath_hides_is_named_with_its_folder(tmp_path, monkeypatch):
    """Packages, modules, archives and parts of a namespace, in every folder; Python itself finds them there."""
    site = write_modules(tmp_path / "site", "click/__init__.py", "six.py", "google/protobuf/__init__.py", "mine.py")
    other = write_modules(tmp_path / "other", "zmq/__init__.py")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("rich/__init__.py", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((site, other, f"{tmp_path}/packed.zip", f"{tmp_path}/gone")))
    assert shadowed() == (
        f"PYTHONPATH leads to another click, google.protobuf, six, in {site}, and to another zmq, in {other}, "
        f"and to another rich, in {tmp_path}/packed.zip: unset PYTHONPATH"
    )
    ask = "import sys, importlib.util as u; print([u.find_spec(name).origin for name in sys.argv[1:]])"
    names = ("click", "google.protobuf", "six", "zmq", "rich")
    found = subprocess.run([sys.executable, "-c", ask, *names], capture_output=True, text=True, check=True).stdout
    assert found.count(str(tmp_path)) == len(names)


def test_what_hides_nothing_is_not_told_of(tmp_path, monkeypatch):
    """Packages of one's own, one in a namespace, a folder that is no package, and the environment's own folder."""
    own = Path(sysconfig.get_path("purelib"))
    (tmp_path / "link").symlink_to(own)
    plugin = write_modules(tmp_path / "plugin", "mine/__init__.py", "google/mine/__init__.py", "numpy/data.txt")
    source = str(Path(__file__).parents[1] / "src")
    for folders in ("", os.pathsep, os.pathsep.join((plugin, source, str(own), str(tmp_path / "link")))):
        monkeypatch.setenv("PYTHONPATH", folders)
        assert shadowed() == ""


def test_packages_of_the_home_folder_are_told_of(tmp_path, monkeypatch):
    """They come ahead of an environment of conda, with folders that .pth files there add, and behind one of venv."""
    home = write_modules(tmp_path / "home", "six.py")
    added = write_modules(tmp_path / "added", "click/__init__.py")
    monkeypatch.setattr("site.ENABLE_USER_SITE", True)
    monkeypatch.setattr("site.USER_SITE", home)
    own = sys.path.copy()
    monkeypatch.setattr("sys.path", [*own, home, added])
    assert shadowed() == ""
    monkeypatch.setattr("sys.path", [home, added, *own])
    words = f"the home folder leads to another six, in {home}, and to another click, in {added}"
    assert shadowed() == f"{words}: export PYTHONNOUSERSITE=1"
