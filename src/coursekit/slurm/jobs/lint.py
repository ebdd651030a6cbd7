"""Traps of batch scripts that neither bash nor sbatch complains about."""

from __future__ import annotations

import re

DIRECTIVE = "#SBATCH"
WRONG_DIRECTIVE = re.compile(r"#\s+SBATCH\s|##+\s*SBATCH\s|#[Ss][Bb][Aa][Tt][Cc][Hh]\b")


def find_traps(script: str) -> list[str]:
    """Return what is wrong with the directives of a batch script, a sentence each with the number of the line."""
    traps: list[str] = []
    if not script.startswith("#!"):
        traps.append("line 1 must name the shell: #!/bin/bash")
    command = 0
    for number, line in enumerate(script.splitlines(), start=1):
        if line.startswith(DIRECTIVE + " "):
            traps += [f"line {number}: {words}" for words in _traps_of_directive(line, command)]
        elif WRONG_DIRECTIVE.match(line):
            traps.append(f"line {number}: Slurm ignores this line: a directive begins with {DIRECTIVE} and one space")
        elif line.strip() and not line.startswith("#") and not command:
            command = number
    return traps


def _traps_of_directive(line: str, command: int) -> list[str]:
    """Return the traps of one directive; `command` is the line of the first command above it, or 0."""
    option = line[len(DIRECTIVE) :].partition(" #")[0].strip()
    traps = []
    if command:
        traps.append(f"Slurm reads no directive below the first command (line {command})")
    if "$" in option:
        traps.append("Slurm does not fill in variables in directives")
    if not option.startswith("-"):
        traps.append("an option begins with a dash")
    if option.endswith("=") or "=<" in option:
        traps.append("the option has no value")
    return traps
