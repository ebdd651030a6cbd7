"""docs/commands.md has every command of both programs, as their help describes them."""

import re
from pathlib import Path

import click
import pytest

import coursekit.cli
import workshop.cli
from workshop.cli.pages import ARGUMENTS, PAGE, commands_page

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")


def commands_of(program, name):
    """Yield all commands of a program with their names, those within others too."""
    for verb in program.list_commands(click.Context(program)):
        command = program.get_command(click.Context(program), verb)
        yield f"{name} {verb}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{name} {verb}")


COMMANDS = dict(commands_of(coursekit.cli.cli, "coursekit"))


def test_the_committed_page_is_fresh():
    """`workshop pages` would not change a byte of it."""
    assert commands_page() == TEXT


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_has_all_that_the_command_takes(name):
    """It has a purpose, an example, and each argument and option with words of its own."""
    (section,) = re.findall(rf"^#{{3,4}} {name}\n(.*?)(?=^#|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    command = COMMANDS[name]
    rows = dict(re.findall(r"^\| `(.+?)` \| (.+) \|$", section, re.MULTILINE))
    options = {option for names in rows for option in re.findall(r"(?:^|, )(--?[\w-]+)", names)}
    arguments = [one for one in command.params if isinstance(one, click.Argument)]

    assert section.split("\n\n")[0].strip().endswith(".")
    assert f"Example: `{name}" in section
    assert options == {word for one in command.params if isinstance(one, click.Option) for word in one.opts}
    assert sum(words in ARGUMENTS.values() for words in rows.values()) == len(arguments)
    assert all(words.strip() for words in rows.values())


def test_every_command_of_the_authors_has_a_line():
    """In the last section, with the words of `workshop --help`."""
    listed = re.findall(r"^\| `(workshop .+)` \| (.+) \|$", TEXT, re.MULTILINE)
    groups = workshop.cli.GROUPS.values()
    assert listed == [(f"workshop {name}", line) for lines in groups for name, line in lines.items()]
