"""Folders of runs."""

from __future__ import annotations

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.run import folders
from coursekit.labs.run.folders import Request

REQUEST = Request(labs=("01-a",), num_ranks=2, given={"rate": "0.1"})


def test_runs_of_one_second_get_folders_of_their_own(tmp_path):
    """The newest one is the last one made, and remembers what was asked for."""
    made = [folders.create_run(tmp_path, Request((), number, {})) for number in (1, 2, 3)]
    assert len(set(made)) == 3
    assert folders.newest_run(tmp_path) == (made[-1], Request((), 3, {}))


def test_there_must_be_a_run_to_resume(tmp_path):
    """A folder whose request was never written is not a run."""
    (folders.runs_folder(tmp_path) / "2026-01-01T00-00-00").mkdir(parents=True)
    with pytest.raises(CourseKitError, match=r"--resume: there is no run in .* leave --resume out"):
        folders.newest_run(tmp_path)


def test_a_folder_belongs_to_one_process_at_a_time(tmp_path):
    """The second claim is refused, and the folder is free when the first has ended."""
    refusal = pytest.raises(CourseKitError, match="still being worked on")
    with folders.claimed(tmp_path), refusal, folders.claimed(tmp_path):
        pytest.fail("claimed twice")
    with folders.claimed(tmp_path):
        pass


@pytest.mark.parametrize(
    ("newer", "together"),
    [
        (Request((), None, {}), REQUEST),
        (Request(("02-b",), None, {}), Request(("01-a", "02-b"), 2, {"rate": "0.1"})),
        (Request((), 4, {"rate": "1", "steps": "3"}), Request(("01-a",), 4, {"rate": "1", "steps": "3"})),
    ],
    ids=["nothing new", "a lab", "options"],
)
def test_resume_adds_to_the_request(newer, together):
    """What is not said again stays as it was."""
    assert REQUEST.changed_by(newer) == together


def test_latest_leads_to_the_run_named_last(tmp_path):
    """A link that is there already is replaced."""
    for _ in range(2):
        folder = folders.create_run(tmp_path, REQUEST)
        folders.point_latest(folder)
        assert (folder.parent / "latest").resolve() == folder
