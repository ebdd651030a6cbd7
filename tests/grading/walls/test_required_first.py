"""Commands that need a sandbox say that there is none before they build anything."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from coursekit.cli import cli
from coursekit.errors import CourseKitError

BUILDS = "coursekit.labs.build.build"  # and with it nbgrader, which takes seconds to load


@pytest.mark.parametrize("words", [("answers", "01"), ("soak", "01"), ("attacks",)])
def test_a_missing_sandbox_is_told_at_once(words, monkeypatch):
    """Without bubblewrap the sentence comes, and what builds labs is not even loaded."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delitem(sys.modules, BUILDS, raising=False)
    with pytest.raises(CourseKitError, match="bubblewrap"):
        CliRunner().invoke(cli, words, catch_exceptions=False)
    assert BUILDS not in sys.modules
