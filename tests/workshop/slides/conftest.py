"""A small lecture of its own for each test: the kit's theme, style and programs, and decks that the test writes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

LEAD = """---
title: A try
minutes: {minutes}
---
"""


class Lecture:
    """A course checkout with a lecture and nothing else."""

    def __init__(self, root):
        """Make the folders."""
        self.root = root
        for name in ("figures", "recorders", "results", "facts", "published"):
            (root / "slides" / name).mkdir(parents=True)
        for name in ("solutions", "slurm", "labs"):
            (root / name).symlink_to(ROOT / name)
        (root / "pyproject.toml").write_text("")
        for name in ("theme.css", "figures/slides.mplstyle"):
            shutil.copyfile(ROOT / "slides" / name, root / "slides" / name)
        (root / "slides/node_modules").symlink_to(ROOT / "slides/node_modules")

    def deck(self, *slides, minutes=None, name="01-try"):
        """Write a deck of slides, each of one minute unless it has a note of its own, and return its path."""
        texts = [text if "<!--" in text else f"{text}\n\n<!-- 1 min. Say it. -->\n" for text in slides]
        path = self.root / "slides" / f"{name}.md"
        path.write_text(LEAD.format(minutes=minutes or len(slides)) + "\n" + "\n---\n\n".join(texts))
        return path

    def write(self, name, text):
        """Write a file of `slides/`."""
        path = self.root / "slides" / name
        path.write_text(text)
        return path


@pytest.fixture
def lecture(tmp_path):
    """Give a lecture without decks."""
    return Lecture(tmp_path)


@pytest.fixture(scope="session")
def whole_lecture():
    """Make the lecture as `make slides` does, and return the folder."""
    subprocess.run([sys.executable, "-m", "workshop", "slides"], cwd=ROOT, check=True, timeout=900)
    return ROOT / "build/slides"
