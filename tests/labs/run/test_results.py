"""Results as files."""

from __future__ import annotations

import json

import pytest

from coursekit.labs.cells import CellScore
from coursekit.labs.run.facts import Facts
from coursekit.labs.run.folders import read_result, save_result
from coursekit.labs.run.formatting import format_speed
from coursekit.labs.run.results import FailedCell, LabResult

RESULT = LabResult(
    lab="01-a",
    title="Größe",
    verdict="failed",
    reason="why",
    note="",
    scores=(CellScore("one", 1.5, 2.0, "PartialCredit"), CellScore("two", 3.0, 3.0, "")),
    time_s=1.25,
    peak_memory_mb=12.5,
    num_ranks=2,
    parameters={"rate": 0.1, "name": "x", "on": True},
    fingerprint={"notebook": "abc"},
    started="2026-01-01T00:00:00+00:00",
    failed_cell=FailedCell(3, "one", "1/0", "ZeroDivisionError"),
    facts=Facts("host", "device", 2, {"python": "3.11"}, "abc", dirty=True),
)


def test_a_result_comes_back_as_it_was_saved(tmp_path):
    """Nested records as well, so that `--resume` reports the same."""
    save_result(tmp_path, RESULT)
    assert read_result(tmp_path, "01-a") == RESULT
    data = json.loads((tmp_path / "01-a.json").read_text(encoding="utf-8"))
    assert (data["schema"], data["points"], data["max_points"]) == (1, 4.5, 5.0)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 999}'])
def test_a_result_that_cannot_be_read_is_none(tmp_path, text):
    """A lab whose result is broken or of another version runs again."""
    (tmp_path / "01-a.json").write_text(text)
    assert read_result(tmp_path, "01-a") is None


@pytest.mark.parametrize(
    ("images_per_s", "text"), [(0.0, "-"), (0.256, "0.256"), (61.54, "61.5"), (100.4, "100"), (2409.6, "2410")]
)
def test_speeds_are_short_and_plain(images_per_s, text):
    """Three digits where decimals matter, whole numbers above, a dash where nothing was measured."""
    assert format_speed(images_per_s) == text
