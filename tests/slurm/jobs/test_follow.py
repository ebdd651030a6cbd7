"""A log is read as it grows, and what a job left is found, also after restarts."""

from dataclasses import replace

from coursekit.errors import codes_in
from coursekit.files import write_json
from coursekit.labs.cells import CellScore
from coursekit.labs.run.results import FailedCell, LabResult
from coursekit.slurm.jobs import follow as following
from coursekit.slurm.jobs.follow import LogReader, describe_result, follow_job
from coursekit.slurm.jobs.remembered import SubmittedJob, executed_notebook, read_result, remember

JOB = SubmittedJob("7", "01-sgd", "01-sgd", "local", "x.sbatch", "2026-11-20T17:00:00+00:00")
RESULT = LabResult("01-sgd", "SGD", "passed", "", (), 16.8, 400.0, 1, {})


def test_the_last_start_counts(tmp_path):
    """A job that was put back into the queue leaves a folder for each start; the tenth comes after the ninth."""
    assert (read_result(tmp_path, JOB), executed_notebook(tmp_path, JOB)) == (None, None)
    for name in ("01-sgd-7", "01-sgd-7-attempt-9", "01-sgd-7-attempt-10"):
        folder, result = tmp_path / "jobs" / name, replace(RESULT, reason=name)
        folder.mkdir(parents=True)
        write_json(folder / "result.json", result.to_json())
        (folder / "01-sgd.ipynb").touch()
        assert read_result(tmp_path, JOB) == result
        assert executed_notebook(tmp_path, JOB) == folder / "01-sgd.ipynb"
    (tmp_path / "jobs" / "01-sgd-7-attempt-11").mkdir()  # this start left nothing, and the one before is not its own
    assert (read_result(tmp_path, JOB), executed_notebook(tmp_path, JOB)) == (None, None)


def test_a_verdict_in_words():
    """Points and time are told; a lab that stopped shows why and the end of the traceback."""
    scores = (CellScore("loss-tests", 2.0, 2.0, ""), CellScore("step-tests", 0.0, 3.0, "x"))
    cell = FailedCell(7, "gradient", "1 / 0", "ZeroDivisionError: division by zero")
    failed = replace(RESULT, verdict="failed", reason="division by zero", scores=scores, failed_cell=cell)

    assert [one for one in ("01-sgd", "passed", "16.8 s", "1 rank") if one not in describe_result(RESULT)] == []
    head, why, error = describe_result(failed).splitlines()
    assert "2 / 5 points" in head
    assert failed.reason in why
    assert error == cell.error


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


# Its controller is restarted while the job runs.
SQUEUE = """#!/bin/sh
read -r number <calls
echo $((number + 1)) >calls
row() {
    printf '%s\\037' 7 "$1" "$2" 2026-11-20T17:30:00 0:05 n1 7 2026-11-20T17:00:00 01-sgd /x
    printf 'x.sbatch\\036\\n'
}
case $number in
1 | 2 | 5) row RUNNING None ;;
3 | 4) echo "slurm_load_jobs error: Unexpected message received" >&2; exit 1 ;;
*) row FAILED NonZeroExitCode ;;
esac
"""


def test_a_slurm_that_is_away_is_asked_again(tmp_path, monkeypatch, capsys):
    """Following says once that it is away, once that it is back, and goes on to the end of the job."""
    (tmp_path / "squeue").write_text(SQUEUE)
    (tmp_path / "squeue").chmod(0o755)
    (tmp_path / "calls").write_text("1\n")
    (tmp_path / "solutions").mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "01-sgd-7.out").write_text("step 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("COURSEKIT_ROOT", str(tmp_path))
    for name in ("READ_S", "FIRST_PAUSE_S", "LAST_PAUSE_S"):
        monkeypatch.setattr(following, name, 0.01)
    remember(tmp_path, JOB)

    assert follow_job(7) is False
    running, log, away, back, *_ = capsys.readouterr().out.splitlines()
    assert ("n1" in running, log, codes_in(away), codes_in(back)) == (True, "step 1", ["slurm.failed"], [])
