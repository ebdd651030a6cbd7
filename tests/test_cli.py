"""`coursekit --help`: every verb by who uses it, each in one whole line, and nothing loaded for it."""

from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from coursekit.cli import COMMANDS, GROUPS, cli

PROGRAM = """
import sys
from coursekit.cli import cli
cli(["--help"], standalone_mode=False)
print(sorted(name for name in sys.modules if name.startswith("coursekit.")))
"""


def test_verbs_stand_by_who_uses_them_in_whole_lines_of_80_columns():
    """No line is wrapped or cut, no verb is missing, and none stands twice."""
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["--help"]).output.split("\n\n")[-len(GROUPS) :]
    expected = {f"{user}:": [[name, line] for name, line in commands.items()] for user, commands in GROUPS.items()}
    headed = [part.strip("\n").split("\n") for part in shown]
    assert {head: [re.split(r" {2,}", line.strip()) for line in lines] for head, *lines in headed} == expected
    assert max(len(line) for part in shown for line in part.split("\n")) <= 80
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


def test_help_loads_no_verb():
    """So it answers at once, although verbs bring nbgrader, papermill or TensorFlow with them."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['coursekit.cli', 'coursekit.errors']"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example(name):
    """The help of a verb, and of each verb within it, ends with a command that a newcomer can copy."""
    command = cli.get_command(click.Context(cli), name)
    for inner in (command, *getattr(command, "commands", {}).values()):
        words = name if inner is command else f"{name} {inner.name}"
        done = CliRunner().invoke(inner, ["--help"])
        assert done.exit_code == 0
        assert re.search(rf"^  Example: .*\bcoursekit {words}\b", done.output, re.MULTILINE)


@pytest.mark.parametrize("module", ["cli.run", "cli.execute", "slurm.rehearsal.course_copy", "grading.judge.worker"])
def test_what_touches_no_gradebook_starts_without_nbgrader(module):
    """Its import takes longer than all else that these do before their work begins."""
    program = f"import sys, coursekit.{module}; print('nbgrader' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
