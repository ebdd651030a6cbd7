"""A log is read as it grows, and what a job left is found, also after restarts."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from coursekit.files import write_json
from coursekit.labs.cells import CellScore
from coursekit.labs.run.results import FailedCell, LabResult
from coursekit.slurm.jobs.follow import LogReader, describe_result, read_pictures, save_pictures
from coursekit.slurm.jobs.remembered import SubmittedJob, executed_notebook, read_result

SUBMITTED = datetime(2026, 11, 20, 17, 0, tzinfo=timezone.utc)
JOB = SubmittedJob("7", "01-sgd", "01-sgd", "local", "x.sbatch", SUBMITTED.isoformat())
RESULT = LabResult("01-sgd", "SGD", "passed", "", (), 16.8, 400.0, 1, {})
PICTURES = (b"\x89PNG first", b"\x89PNG second")


def leave(root, folder, minutes, result):
    """Leave a result and a notebook with two pictures, as a job does, minutes after the submission."""
    path = root / "jobs" / folder
    path.mkdir(parents=True)
    write_json(path / "result.json", result.to_json())
    data = [{"image/png": base64.b64encode(content).decode() + "\n"} for content in PICTURES]
    outputs = [{"data": one, "metadata": {"image/png": {"alt": f"picture {n}"}}} for n, one in enumerate(data)]
    cells = [{"id": "text"}, {"id": "plot", "outputs": [{"text": "words"}, *outputs]}]
    (path / "01-sgd.ipynb").write_text(json.dumps({"cells": cells}))
    time = (SUBMITTED + timedelta(minutes=minutes)).timestamp()
    for name in ("result.json", "01-sgd.ipynb"):
        os.utime(path / name, (time, time))


def test_the_last_start_counts(tmp_path):
    """A job that was put back into the queue leaves a folder for each start; the tenth comes after the ninth."""
    assert (read_result(tmp_path, JOB), executed_notebook(tmp_path, JOB)) == (None, None)
    for number, folder in enumerate(("01-sgd-7", "01-sgd-7-attempt-9", "01-sgd-7-attempt-10")):
        result = replace(RESULT, reason=folder)
        leave(tmp_path, folder, minutes=1 + number, result=result)
        assert read_result(tmp_path, JOB) == result
        assert executed_notebook(tmp_path, JOB) == tmp_path / "jobs" / folder / "01-sgd.ipynb"
    (tmp_path / "jobs" / "01-sgd-7-attempt-11").mkdir()  # this start left nothing, and the one before is not its own
    assert (read_result(tmp_path, JOB), executed_notebook(tmp_path, JOB)) == (None, None)


def test_an_older_job_of_the_same_number_is_another(tmp_path):
    """What was there before the submission is not shown as this job's."""
    leave(tmp_path, "01-sgd-7", minutes=-60, result=RESULT)
    assert (read_result(tmp_path, JOB), executed_notebook(tmp_path, JOB)) == (None, None)


def test_pictures_are_read_and_saved(tmp_path):
    """Every picture comes with its text alternative, and is written beside the notebook."""
    leave(tmp_path, "01-sgd-7", minutes=1, result=RESULT)
    notebook = executed_notebook(tmp_path, JOB)

    assert [(p.cell, p.content, p.alt) for p in read_pictures(notebook)] == [
        ("plot", PICTURES[0], "picture 0"),
        ("plot", PICTURES[1], "picture 1"),
    ]
    paths = save_pictures(notebook)
    assert [path.name for path in paths] == ["picture-1-plot.png", "picture-2-plot.png"]
    assert [path.read_bytes() for path in paths] == list(PICTURES)
    notebook.write_text("half a noteb")
    assert read_pictures(notebook) == []


def test_a_verdict_in_words():
    """Points and time are told; a lab that stopped shows why and the end of the traceback."""
    scores = (CellScore("loss-tests", 2.0, 2.0, ""), CellScore("step-tests", 0.0, 3.0, "x"))
    cell = FailedCell(7, "gradient", "1 / 0", "ZeroDivisionError: division by zero")
    failed = replace(RESULT, verdict="failed", reason="stopped by an error", scores=scores, failed_cell=cell)

    assert describe_result(RESULT) == "01-sgd: passed, in 16.8 s on 1 rank."
    assert describe_result(failed) == (
        "01-sgd: failed, 2 / 5 points, in 16.8 s on 1 rank.\n"
        "It did not pass: stopped by an error.\n"
        "ZeroDivisionError: division by zero"
    )


def test_what_is_new_is_read_once(tmp_path):
    """A log that is not there yet reads as nothing, and a letter that was written in halves as one."""
    path = tmp_path / "job.out"
    reader = LogReader(path)
    assert reader.read() == ""
    path.write_bytes(b"first\nf")
    assert reader.read() == "first\nf"
    assert reader.read() == ""
    letter = "ü".encode()
    with path.open("ab") as log:
        log.write(letter[:1])
        log.flush()
        assert reader.read() == ""
        log.write(letter[1:] + b"r\n")
    assert reader.read() == "ür\n"


def test_a_log_that_begins_again_is_read_from_its_beginning(tmp_path):
    """A requeued job without --open-mode=append starts its log anew."""
    path = tmp_path / "job.out"
    reader = LogReader(path)
    path.write_text("the first start\n")
    assert reader.read() == "the first start\n"
    path.write_text("again\n")
    assert reader.read() == "again\n"
    path.unlink()
    assert reader.read() == ""
