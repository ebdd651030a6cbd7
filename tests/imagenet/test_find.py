"""Finding data: a folder that is given, or the made one that the first call makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.imagenet import find_data

ASK = "from coursekit.imagenet import find_data; print(find_data())"
NAME = "imagenet-tiny"


def contents(folder):
    """Return the content of every file by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_processes_that_ask_at_once_get_the_same_whole_data(made, tmp_path):
    """Two ask while nothing is there: one line is said, the data is as from the command, and no GPU is looked at."""
    environ = {**os.environ, "COURSEKIT_DATA": str(tmp_path)}
    command = [sys.executable, "-c", ASK]
    asking = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(process.communicate(timeout=900)[0] for process in asking)
    place = tmp_path / NAME
    assert said == sorted([f"{place}\n", f"making 1224 images in {place}, once …\n{place}\n"])
    assert contents(place) == contents(made)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".{NAME}.lock", NAME]


def test_a_lost_file_is_made_again(made, tmp_path, monkeypatch, capsys):
    """Caches are cleaned up by programs that know nothing of their content."""
    shutil.copytree(made, tmp_path / NAME)
    (tmp_path / NAME / "train-00004-of-00016").unlink()
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path))
    assert contents(find_data()) == contents(made)
    assert "making" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"COURSEKIT_DATA": "{0}/a", "XDG_CACHE_HOME": "{0}/b"}, "a"),
        ({"COURSEKIT_DATA": "", "XDG_CACHE_HOME": "{0}/b"}, "b/coursekit"),
        ({"COURSEKIT_DATA": "", "XDG_CACHE_HOME": "", "HOME": "{0}/c"}, "c/.cache/coursekit"),
    ],
    ids=["own variable", "cache", "home"],
)
def test_the_place_follows_the_environment(made, tmp_path, monkeypatch, environ, place):
    """The kit's own variable goes before the user's cache; data that is there is not made again."""
    monkeypatch.setattr(subprocess, "run", None)
    for name, value in environ.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    (tmp_path / place).mkdir(parents=True)
    shutil.copytree(made, tmp_path / place / NAME)
    assert find_data() == tmp_path / place / NAME


def test_a_folder_that_is_given_must_hold_both_splits(tiny):
    """It is returned as it is, or a sentence says what it lacks."""
    assert find_data(str(tiny)) == Path(tiny)
    for path in tiny.glob("validation-*"):
        path.unlink()
    with pytest.raises(CourseKitError, match="holds no files validation-00000-of-"):
        find_data(str(tiny))


def test_a_place_that_cannot_be_written_names_the_variable(tmp_path, monkeypatch):
    """A file stands where the cache would be."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path / "file"))
    with pytest.raises(CourseKitError, match=r"cannot be made \(File exists\): set \$COURSEKIT_DATA to "):
        find_data()


def test_what_hinders_the_making_is_said(tmp_path, monkeypatch):
    """The sentence of the process that makes the data arrives."""
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "thesis.tex").touch()
    monkeypatch.setenv("COURSEKIT_DATA", str(tmp_path))
    with pytest.raises(CourseKitError, match=r"holds other things \(thesis.tex\): name an empty"):
        find_data()
