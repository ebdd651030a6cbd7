"""`workshop words`: what a list refuses is found, with its place; the committed list and texts agree."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.errors import CourseKitError
from workshop.cli.words import words
from workshop.words.check import Rule, Rules, findings, load_rules

ROOT = Path(__file__).parents[3]
RULES = load_rules()


@pytest.mark.parametrize("rule", RULES.rule, ids=[rule.example for rule in RULES.rule])
def test_each_pattern_finds_its_example_and_no_quotation(rule):
    """A pattern that finds nothing would hold nothing; a quotation may show any word."""
    assert rule.finds(rule.example)
    assert not rule.finds(f"not “{rule.example}”, but {rule.better}")


@pytest.mark.parametrize(
    "line",
    [
        "the minimum lies in the interval, and the walls of a room stand",
        "there are two ways out of a deadlock",
        "Who decides which version counts?",
        "N - 1 steps, 0.1 points, 21 GPUs, and 1 GPU",
        "the records, in the order in which they come; hands-on; stay; told",
        "the ring that made data-parallel training common",
    ],
)
def test_right_uses_are_left_alone(line):
    """Words with right uses raise no false alarm."""
    assert [rule.pattern for rule in RULES.rule if rule.finds(line)] == []


@pytest.fixture
def texts(tmp_path):
    """Return a checkout of two pages and a program that is not checked, and its rules."""
    for name, text in {"good.md": "Your job.\n", "bad.md": "Fine.\nTwo jobs OF YOURS.\n", "a.py": "of yours\n"}.items():
        (tmp_path / name).write_text(text)
    rule = Rule(pattern=r"\bof yours\b", better="your jobs", example="a job of yours")
    return tmp_path, Rules(checked=("*.md",), rule=(rule,))


def test_a_bad_sentence_is_found_with_file_and_line(texts):
    """The message names file, line, the words and better ones; case does not matter, other files are left out."""
    assert findings(*texts) == ["bad.md:2: “OF YOURS”; better: your jobs"]


def test_the_command_fails_with_what_it_found(texts, monkeypatch):
    """`make check` stops at the first text with a word that is out, after all findings were shown."""
    root, rules = texts
    monkeypatch.setattr("workshop.cli.words.find_root", lambda: root)
    monkeypatch.setattr("workshop.cli.words.load_rules", lambda: rules)
    ended = CliRunner().invoke(words)

    assert ended.output == "bad.md:2: “OF YOURS”; better: your jobs\n"
    assert isinstance(ended.exception, CourseKitError)


def test_the_texts_of_the_kit_are_clean():
    """What is checked has no word of the list."""
    assert findings(ROOT, RULES) == []
