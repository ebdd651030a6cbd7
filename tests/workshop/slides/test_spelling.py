"""Spelling: the decks and their README, checked by cspell in British English."""

import subprocess
from pathlib import Path

from coursekit.paths import node

ROOT = Path(__file__).parents[3]
SLIDES = ROOT / "slides"
CSPELL = SLIDES / "node_modules/cspell/bin.mjs"
TIMEOUT_S = 900


def test_decks_and_readme_are_spelt_right(tmp_path):
    """One run over all, and over a text with a wrong word in it, as starting cspell takes longer than reading."""
    wrong = tmp_path / "wrong.md"
    wrong.write_text("The gradeint of `numpie` and $grdnt$ is {{ wrng.numbr }}.\n")
    options = ["--no-progress", "--no-summary", "--no-gitignore", "--config", SLIDES / "cspell.json", "--root", "/"]
    ended = subprocess.run(
        [node(), CSPELL, "lint", *options, wrong, *SLIDES.glob("*.md")],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    found = ended.stdout.splitlines()

    assert [line.rpartition(" - ")[2] for line in found] == ["Unknown word (gradeint)"], ended.stdout + ended.stderr
