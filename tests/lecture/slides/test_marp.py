"""Marp's browser and its files are gone when a deck is printed, also when that fails.

That no process is left is asked after every test, in tests/conftest.py.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.lecture.slides import marp

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture
def temporary(monkeypatch):
    """Give the folder that programs take for temporary files, with a path short enough for Chromium's socket."""
    with tempfile.TemporaryDirectory(prefix="try-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture
def deck(tmp_path):
    """Give a deck of one slide, with the theme beside it."""
    (tmp_path / "theme.css").write_text("/* @theme plain */")
    path = tmp_path / "deck.md"
    path.write_text("---\ntheme: plain\n---\n# One slide\n")
    return path


def test_printing_leaves_a_pdf_and_nothing_else(pytestconfig, deck, temporary):
    """The PDF is there; the browser is gone, and its profile, too."""
    (pdf,) = marp.to_pdf(pytestconfig.rootpath, [deck])

    assert pdf.read_bytes().startswith(b"%PDF-")
    assert list(temporary.iterdir()) == []


def test_printing_that_takes_too_long_is_ended_and_says_so(pytestconfig, deck, temporary, monkeypatch):
    """A browser that hangs is not left behind, and the person reads which deck it was."""
    monkeypatch.setattr(marp, "TIMEOUT_S", 0.7)

    with pytest.raises(CourseKitError, match=r"^Marp could not make deck.pdf: it was not done after 0.7 s$"):
        marp.to_pdf(pytestconfig.rootpath, [deck])

    assert list(temporary.iterdir()) == []
