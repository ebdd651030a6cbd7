"""docs/teach.md names wrong answers that are in the banks, and sections that can be skipped."""

import re
from pathlib import Path

import nbformat

from coursekit.labs.cells import is_solution
from coursekit.labs.lab import find_labs
from workshop.block import read_blocks

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "teach.md").read_text()
LABS = {lab.name[:2]: lab for lab in find_labs(ROOT)}


def skippable(lab):
    """Return the sections of which no later one uses an answer, as (number, title, minutes)."""
    sections = []
    for cell in nbformat.read(ROOT / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4).cells:
        for title, minutes in re.findall(r"(?m)^## (.*) \((\d+) minutes\)$", cell.source):
            sections.append(((lab.name[:2], title, minutes), []))
        if sections and is_solution(cell):
            sections[-1][1].append(cell.id)
    return {place for place, answers in sections if not {*answers} & {*lab.ways_out}}


def test_every_mistake_is_in_the_bank_of_its_lab():
    """Each lab has its part of the page, and each answer that it names is a wrong one."""
    parts = dict(re.findall(r"(?ms)^### Lab (\d\d)\n(.*?)(?=^##)", PAGE))

    assert parts.keys() == LABS.keys()
    for number, part in parts.items():
        names = re.findall(r"`(\w+-[\w-]+)`", part)
        bank = {block.name: block.facts for block in read_blocks(ROOT / "tests" / "answers" / LABS[number].name)}

        assert [name for name in names if not bank.get(name, {}).get("fails")] == []
        assert len(names) > 3
        for row in re.findall(r"(?m)^\| .* \| (`.*`) \| (`.*`) \|$", part):
            codes, answers = (re.findall(r"`(.*?)`", cell) for cell in row)
            told = {word for name in answers for words in bank[name]["fails"].values() for word in words}
            assert {*codes} <= told


def test_no_later_section_needs_what_may_be_skipped():
    """Every row of the table is a section of its lab, with its minutes, and no answer of it is used later."""
    rows = set(re.findall(r"(?m)^\| (\d\d) \| (.*) \| (\d+) \|$", PAGE))

    assert rows
    assert rows <= set().union(*map(skippable, LABS.values()))
