"""Workers on cores of their own: every submission gets its verdict, also when a worker dies."""

import os
from dataclasses import replace

import nbformat
import pytest

from coursekit.grading.judge.pool import PoolSettings, judge_all, shares
from coursekit.grading.judge.slot import SubmissionLimits
from coursekit.grading.submission.program import key_of

SETTINGS = PoolSettings(num_slots=2, limits=SubmissionLimits(notebook_s=60, cell_s=10, memory_gb=2))


@pytest.fixture
def source(small_lab, tmp_path):
    """The small lab's source as a file."""
    path = tmp_path / "01-small.ipynb"
    nbformat.write(small_lab, path)
    return path


@pytest.fixture
def jobs(work):
    """Three hand-ins: right, wrong, and one that kills its worker's neighbours if it can."""
    wrong = "def loss(*_):\n    return 7.0"
    works = [work(), work(loss=wrong), work(("imports", "import os, signal\nos.kill(-1, signal.SIGKILL)"))]
    return [replace(one, student=f"s{number}", key=str(number)) for number, one in enumerate(works)]


@pytest.mark.needs("bwrap")
def test_every_submission_gets_its_verdict(jobs, source):
    """Two at a time, whatever one of them does."""
    verdicts = {verdict.student: verdict for verdict in judge_all(jobs, {"01-small": source}, SETTINGS)}

    assert {student: (verdict.points, verdict.fault) for student, verdict in verdicts.items()} == {
        "s0": (3, ""),
        "s1": (1, ""),
        "s2": (3, ""),
    }
    assert [verdicts[f"s{number}"].key for number in range(3)] == ["0", "1", "2"]


def test_a_key_covers_all_that_a_verdict_depends_on(source, work):
    """Answers, tests and limits change it."""
    cells, other, tests = work().cells, work(loss="x = 1").cells, source.read_bytes()
    key = key_of("01-small", cells, tests, "6 GB")
    others = {key_of("01-small", *of) for of in ((other, tests, "6 GB"), (cells, tests, "9 GB"), (cells, b"", "6 GB"))}
    assert len(others - {key}) == 3


@pytest.mark.parametrize(("num_slots", "expected"), [(2, [[0, 3, 7], [2, 5]]), (6, [[]] * 6), (1, [[]])])
def test_slots_have_cores_of_their_own(monkeypatch, num_slots, expected):
    """All cores are used, none by two slots; too few cores, or a single slot, stay unbound."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 3, 5, 7})
    assert shares(num_slots) == expected
