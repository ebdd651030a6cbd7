"""Spelling: the decks, their README, and the words of the figures, checked by cspell in British English."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from coursekit.paths import node

ROOT = Path(__file__).parents[3]
SLIDES = ROOT / "slides"
CSPELL = SLIDES / "node_modules/cspell/bin.mjs"
TIMEOUT_S = 900


@pytest.fixture
def misspelt(tmp_path):
    """Give a function that returns the unknown words of texts, each as `name:line:column - Unknown word (…)`."""

    def check(texts):
        files = []
        for name, text in texts.items():
            files.append(tmp_path / name)
            files[-1].write_text(text, encoding="utf-8")
        options = ["--no-progress", "--no-summary", "--no-gitignore", "--config", SLIDES / "cspell.json"]
        ended = subprocess.run(
            [node(), CSPELL, "lint", *options, "--root", tmp_path, *files],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert ended.returncode in (0, 1), ended.stderr
        assert bool(ended.stdout.strip()) == bool(ended.returncode), ended.stderr
        return ended.stdout.splitlines()

    return check


def spoken(script):
    """Return what a figure's script says: the texts of CAPTION, and those of `words()`, a line each."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    parts = [
        part
        for part in tree.body
        if (isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "CAPTION")
        or (isinstance(part, ast.FunctionDef) and part.name == "words")
    ]
    return "\n".join(text for part in parts for text in _texts(part))


def _texts(tree):
    """Yield the texts below a node of a script, but for keys such as `row["gb_per_s"]`, and formats such as `.2f`."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    skipped = {ast.Subscript: "slice", ast.FormattedValue: "format_spec"}.get(type(tree))
    for name, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name != skipped:
                yield from _texts(child)


def test_decks_readme_and_figures_are_spelt_right(misspelt):
    """One run over all: starting cspell takes longer than reading."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in SLIDES.glob("*.md")}
    texts |= {f"figures-{path.stem}.txt": spoken(path) for path in (SLIDES / "figures").glob("*.py")}
    assert len(texts) > 1
    found = misspelt(texts)
    assert not found, "\n".join(found)


def test_a_misspelt_word_is_found(misspelt):
    """In prose and in a figure's words, and American spelling, too; code, formulas and marks are left alone."""
    found = misspelt(
        {
            "01-try.md": "The gradeint of `numpie` and $grdnt$ is {{ wrng.numbr }}.\n",
            "figures-try.txt": "Its behavior.\n",
        }
    )
    assert [line.partition(" - ")[2] for line in sorted(found)] == [
        "Unknown word (gradeint)",
        "Unknown word (behavior)",
    ]


def test_what_a_figure_says_is_its_caption_and_its_words(tmp_path):
    """Other texts of a script, such as its constants, keys and formats of numbers, are not checked."""
    script = tmp_path / "try.py"
    script.write_text(
        """'Docstrng.'
CAPTION = "A caption."
X = "xyzzy"
def words(row):
    return f"{row['stps']:.2f} steps"
"""
    )
    assert spoken(script) == "A caption.\n steps"
