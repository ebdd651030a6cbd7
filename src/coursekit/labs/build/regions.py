"""Find solution regions and hidden tests by nbgrader's markers; check these more strictly than nbgrader does."""

from __future__ import annotations

import re
from typing import NamedTuple

from coursekit.errors import STUB, CourseKitError

SOLUTION = "SOLUTION"
HIDDEN_TESTS = "HIDDEN TESTS"
# The placeholders for answers in a student's notebook.
CODE_STUB = f'raise NotImplementedError("{STUB}")'
TEXT_STUB = "*Your answer goes here.*"

# nbgrader acts on these words anywhere in a line; texts that contain them must never reach a student.
MARKER_WORDS = tuple(f"{edge} {name}" for name in (SOLUTION, HIDDEN_TESTS, "MARK SCHEME") for edge in ("BEGIN", "END"))

EXACT = re.compile(r"(?P<indent>\s*)### (?P<edge>BEGIN|END) (?P<name>SOLUTION|HIDDEN TESTS)\s*")
# A comment that the author must have meant as a marker.
NEARLY = re.compile(r"\s*#+\s*(begin|end)\s+(solutions?|hidden\s+tests?|mark\s+scheme)\s*:?\s*", re.IGNORECASE)


class RegionError(CourseKitError):
    """A malformed region."""


class Region(NamedTuple):
    """The lines between two markers; `begin` and `end` are the line numbers of the markers in the cell, from 0."""

    name: str
    begin: int
    end: int
    lines: tuple[str, ...]


def find_regions(source: str) -> tuple[Region, ...]:
    """Return the regions of a cell in order.

    Raises:
        RegionError: a marker is misspelt, is inside another region or has no counterpart, a region is empty, or a
            solution is not indented like its marker (the stub will be indented like the marker).
    """
    lines = source.splitlines()
    regions: list[Region] = []
    begin, name = -1, ""  # of the open region
    for i, line in enumerate(lines):
        marker = EXACT.fullmatch(line)
        if marker is None:
            if NEARLY.fullmatch(line) or any(word in line for word in MARKER_WORDS):
                raise RegionError(
                    "a region's marker must be alone on its line, such as `### BEGIN SOLUTION`", "region.marker"
                )
        elif marker["edge"] == "BEGIN":
            if name:
                raise RegionError(
                    f"BEGIN {marker['name']} is inside another region: end that region first", "region.nested"
                )
            begin, name = i, marker["name"]
        elif marker["name"] != name:
            raise RegionError(f"END {marker['name']} has no BEGIN {marker['name']} before it", "region.no-begin")
        else:
            inside = tuple(lines[begin + 1 : i])
            first = next((line for line in inside if line.strip()), None)
            if first is None:
                raise RegionError(f"the region BEGIN {name} is empty: write the text that it hides", "region.empty")
            if name == SOLUTION and _indent(first) != _indent(lines[begin]):
                raise RegionError("BEGIN SOLUTION is not indented like the line after it: align them", "region.indent")
            regions.append(Region(name, begin, i, inside))
            name = ""
    if name:
        raise RegionError(f"BEGIN {name} has no END {name} after it in this cell", "region.no-end")
    return tuple(regions)


def outside_regions(source: str) -> list[str]:
    """Return the lines of a cell that are outside all regions, without markers."""
    hidden = {i for region in find_regions(source) for i in range(region.begin, region.end + 1)}
    return [line for i, line in enumerate(source.splitlines()) if i not in hidden]


def without_markers(source: str) -> str:
    """Return a cell's text as a student would have written it, without region markers."""
    return "\n".join(line for line in source.splitlines() if not EXACT.fullmatch(line))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
