"""What people do themselves during a lecture works as it stands on its slide."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.lecture.slides.deck import find_decks, slides_of

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)
ON_PURPOSE = "# Fails on purpose."
SLIDES = [(deck.name, slide) for deck in find_decks(ROOT) for slide in slides_of(deck.body) if slide.is_hands_on]


def test_every_slide_has_something_to_run():
    """The first deck has one, and each of them a block."""
    assert SLIDES[0][0] == "00-welcome"
    assert [slide.title for _, slide in SLIDES if not BLOCK.search(slide.text)] == []


@pytest.mark.parametrize("slide", [slide for _, slide in SLIDES], ids=[f"{deck}-{one.number}" for deck, one in SLIDES])
def test_it_runs_as_it_stands(slide, tmp_path):
    """Python and commands end well and say something; what fails on purpose names a rank."""
    for language, code in BLOCK.findall(slide.text):
        command = [sys.executable, "-c", code] if language == "python" else ["bash", "-euc", code]
        cwd = tmp_path if language == "python" else ROOT
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)
        assert bool(ended.returncode) == (ON_PURPOSE in code), ended.stderr
        assert "rank" in ended.stderr if ON_PURPOSE in code else ended.stdout.strip()
