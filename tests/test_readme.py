"""The README is under test: every command and target is in it, and every path it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coursekit.cli import COMMANDS

ROOT = Path(__file__).parents[1]
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/gpus.md",
    "docs/instructor.md",
    "docs/schedule.md",
    "docs/security.md",
    "docs/site-format.md",
    "docs/sites.md",
    "docs/student.md",
    "labs/README.md",
    "slides/README.md",
    "tests/answers/README.md",
    "tests/answers/properties.md",
)


def make_targets():
    """Return the targets that `make` lists."""
    return re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command):
    """Every verb of the command line appears in the README."""
    assert f"coursekit {command}" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("target", [target for target in make_targets() if target != "help"])
def test_every_make_target_is_in_the_readme(target):
    """Every target of the Makefile appears in the README."""
    assert (
        f"`make {target}`" in (ROOT / "README.md").read_text() or f"make {target} " in (ROOT / "README.md").read_text()
    )


@pytest.mark.parametrize("document", DOCUMENTS)
def test_local_links_exist(document):
    """Every local link and picture of a document leads to a file of the repository."""
    path = ROOT / document
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text())
    missing = [link for link in links if not (path.parent / link).exists()]

    assert missing == []


def test_no_block_that_a_command_fills_is_empty():
    """What `coursekit readme` fills in from runs is there."""
    blocks = dict(
        re.findall(r"<!-- (\w+):begin -->\n(.*?)<!-- \1:end -->", (ROOT / "README.md").read_text(), re.DOTALL)
    )

    assert sorted(blocks) == ["bench", "deadlock", "labs", "run"]
    assert all(block.strip() for block in blocks.values())
