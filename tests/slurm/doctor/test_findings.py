"""Asking other programs: what they say, and that none outlives its limit."""

from __future__ import annotations

import pytest

from coursekit.slurm.doctor.findings import Finding, ProgramAnswer, ask

LIMIT_S = 300  # no program here needs it


def test_answer_has_status_output_and_complaint(programs):
    """The output comes stripped, and of the error output the last line counts."""
    program = programs("program", "echo '  one  '; echo two; echo first >&2; echo last >&2; exit 3")

    assert ask([str(program)], LIMIT_S) == ProgramAnswer(3, "one  \ntwo", "last")


def test_missing_program_is_an_answer(tmp_path):
    """A program that does not exist gives no status, and says so instead of raising."""
    answer = ask([str(tmp_path / "nothing")], LIMIT_S)

    assert (answer.status, answer.output) == (None, "")
    assert "No such file or directory" in answer.complaint


def test_limit_ends_a_program_with_its_children(programs):
    """A program that hangs is ended with what it started; the fixture of every test looks for processes."""
    program = programs("program", "sleep 600 & sleep 600")

    assert ask([str(program)], 0.2) == ProgramAnswer(None, "", "no answer within 0.2 s")


def test_program_that_crashes_says_by_which_signal(programs):
    """A crash (here that of a library compiled for another processor) is named."""
    program = programs("program", "kill -ILL $$")

    assert ask([str(program)], LIMIT_S) == ProgramAnswer(-4, "", "ended by SIGILL")


def test_program_sees_no_surrounding_launcher(programs, monkeypatch):
    """Inside an MPI job, programs that are asked must not take themselves for one of its ranks."""
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    monkeypatch.setenv("HOROVOD_RANK", "3")
    program = programs("program", 'echo "[$OMPI_COMM_WORLD_RANK$HOROVOD_RANK]"')

    assert ask([str(program)], LIMIT_S).output == "[]"


@pytest.mark.parametrize(
    ("state", "needed", "hinders"),
    [
        ("good", True, False),
        ("missing", True, True),
        ("wrong", True, True),
        ("missing", False, False),
        ("wrong", False, False),
    ],
)
def test_only_what_is_needed_hinders(state, needed, hinders):
    """What only some sites have may be missing or wrong."""
    assert Finding("name", state, "text", needed=needed).hinders is hinders
