"""Results as files."""

from __future__ import annotations

import json

import pytest

from coursekit.files import write_json
from coursekit.labs.cells import CellScore
from coursekit.labs.run.facts import Facts
from coursekit.labs.run.results import FailedCell, LabResult, format_speed

RESULT = LabResult(
    lab="01-a",
    title="Größe",
    verdict="failed",
    reason="why",
    scores=(CellScore("one", 1.5, 2.0, "PartialCredit"), CellScore("two", 3.0, 3.0, "")),
    time_s=1.25,
    peak_memory_mb=12.5,
    num_ranks=2,
    parameters={"rate": 0.1, "name": "x", "on": True},
    started="2026-01-01T00:00:00+00:00",
    failed_cell=FailedCell(3, "one", "1/0", "ZeroDivisionError"),
    facts=Facts("host", "device", 2, {"python": "3.11"}, "abc", dirty=True),
)


def test_a_result_comes_back_as_it_was_saved(tmp_path):
    """Nested records as well; fields of another version are left out."""
    write_json(tmp_path / "result.json", {**RESULT.to_json(), "of another version": 1})
    data = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert LabResult.from_json(data) == RESULT
    assert (data["points"], data["max_points"]) == (4.5, 5.0)


@pytest.mark.parametrize(
    ("images_per_s", "text"), [(0.0, "-"), (0.256, "0.256"), (61.54, "61.5"), (100.4, "100"), (2409.6, "2410")]
)
def test_speeds_are_short_and_plain(images_per_s, text):
    """Three digits where decimals matter, whole numbers above, a dash where nothing was measured."""
    assert format_speed(images_per_s) == text
