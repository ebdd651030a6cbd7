"""The pages are under test: README is short, and every link of a page leads to a file, and to a heading in it."""

import re
from pathlib import Path

import pytest
import yaml

from coursekit import __version__

ROOT = Path(__file__).parents[1]
FOLDERS = (".", "docs", "labs", "slides", "solutions", "tests/answers")
DOCUMENTS = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md")) if path.name[0].isalpha()]
LARGEST_README = 8192  # bytes
FENCED = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"<!-- (\w+):begin -->\n(.*?)<!-- \1:end -->", re.DOTALL)


def anchors(page):
    """Return the names by which a link reaches the headings of a page, as GitHub forms them."""
    names = []
    for heading in re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        same = names.count(name)
        names.append(f"{name}-{same}" if same else name)
    return names


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_local_links_exist(document):
    """Every local link and picture of a document leads to a file of the repository, and to a heading that is there."""
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", FENCED.sub("", document.read_text())):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document

        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_anchors_are_those_of_github(tmp_path):
    """Signs go, blanks become hyphens, a second heading of the same name is counted, and code has no headings."""
    page = tmp_path / "page.md"
    page.write_text("# A student's day\n## `[access]`\n### Day 1\n```\n# no heading\n```\n### Day 1\n## Set up, once\n")

    assert anchors(page) == ["a-students-day", "access", "day-1", "day-1-1", "set-up-once"]


def test_the_readme_is_short():
    """The first page can be read in minutes: everything else has a page of its own."""
    assert len((ROOT / "README.md").read_bytes()) <= LARGEST_README


def test_no_block_that_a_command_fills_is_empty():
    """What `workshop readme` and `coursekit build` fill in is there, on the page that they fill."""
    pages = {name: dict(BLOCK.findall((ROOT / name).read_text())) for name in ("README.md", "docs/benchmarks.md")}

    assert {name: sorted(blocks) for name, blocks in pages.items()} == {
        "README.md": ["deadlock", "labs"],
        "docs/benchmarks.md": ["bench", "run"],
    }
    assert all(block.strip() for blocks in pages.values() for block in blocks.values())


def test_who_cites_the_kit_names_this_version():
    """CITATION.cff has the version of the package, and the keys that its format demands."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())

    assert citation["version"] == __version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
