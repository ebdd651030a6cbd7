"""CONTRIBUTING's walks through the code and its glossary are those of the code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "coursekit"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STATION = re.compile(r"^\d+\. `(\S+)`, `(\w+)`", re.MULTILINE)
WALK = re.compile(r"^### Walk: (.*?)\n(.*?)(?=^#)", re.DOTALL | re.MULTILINE)
WALKS = {title: STATION.findall(text) for title, text in WALK.findall(TEXT)}
MAX_NUM_STATIONS = 8
MAX_NUM_TERMS = 15


def file_of(station):
    """Return the file of a station, which is written as it is called below `src/coursekit/` or from the top."""
    return next(path for path in (SOURCE / station, ROOT / station) if path.is_file())


def test_there_are_three_walks_of_few_stations():
    """A walk is read without a pause: at most eight stations."""
    assert [0 < len(stations) <= MAX_NUM_STATIONS for stations in WALKS.values()] == [True] * 3


@pytest.mark.parametrize("title", WALKS)
def test_each_station_defines_what_it_names_and_is_named_before(title):
    """A station's file defines its name, and an earlier station's text has that name or the file's."""
    texts = ""
    for file, name in WALKS[title]:
        text = file_of(file).read_text(encoding="utf-8")
        if file.endswith(".py") and file_of(file).is_relative_to(SOURCE):
            defined = {getattr(node, "name", "") for node in ast.walk(ast.parse(text))}
            assert name in defined, f"{file} does not define {name}"
        else:
            assert name in text
        stem = Path(file).stem if file.endswith(".py") else Path(file).parent.name  # templates are loaded by folder
        assert not texts or re.search(rf"\b({name}|{stem})\b", texts), f"no station leads to {file}"
        texts += text


def test_the_glossary_is_short_and_its_terms_are_used():
    """At most fifteen terms, each a name that the code uses."""
    terms = re.findall(r"^\| `(\w+)` \|", TEXT.partition("## Glossary")[2].partition("\n## ")[0], re.MULTILINE)
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    assert 0 < len(terms) <= MAX_NUM_TERMS
    assert [term for term in terms if not re.search(rf"\b{term}\b", source)] == []
