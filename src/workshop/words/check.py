"""Find the words of `words.toml` in the kit's texts, line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from coursekit.toml_files import load

RULES = Path(__file__).with_name("words.toml")
QUOTATION = re.compile("“[^”]*”")


@dataclass(frozen=True)
class Rule:
    """A pattern that is nearly always wrong, what to write instead, and an example text that matches."""

    pattern: str
    better: str
    example: str

    def finds(self, line: str) -> str:
        """Return the first words in a line that this rule refuses, or ''; quotations are ignored."""
        found = re.search(self.pattern, QUOTATION.sub("", line), re.IGNORECASE)
        return found[0] if found else ""


@dataclass(frozen=True)
class Rules:
    """The rules, and the globs of the files to which they apply."""

    checked: tuple[str, ...]
    rule: tuple[Rule, ...]


def load_rules(path: Path = RULES) -> Rules:
    """Read the rules from a file."""
    return load(Rules, path)


def files_of(root: Path, rules: Rules) -> list[Path]:
    """Return the files of a checkout that are checked."""
    return sorted({path for pattern in rules.checked for path in root.glob(pattern)})


def findings(root: Path, rules: Rules) -> list[str]:
    """Return a message for each line that a rule refuses, with the file, the line number and better words."""
    return [
        f"{path.relative_to(root)}:{number}: “{words.strip()}”; better: {rule.better}"
        for path in files_of(root, rules)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for rule in rules.rule
        if (words := rule.finds(line))
    ]
