"""The `coursekit` command: each verb has a file of its name here, which is imported only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from keyword import iskeyword

import click

from coursekit import __version__
from coursekit.errors import CourseKitError

# By who uses them: what `coursekit --help` says of each.
GROUPS = {
    "For students": {
        "execute": "execute your notebook of a lab, ready to hand in",
        "submit": "submit a lab as a job of a machine",
        "jobs": "list your jobs, with how each goes or why it waits",
        "cancel": "cancel a job of yours",
        "predict": "predict a training on more nodes, before you book them",
        "script": "write a lab's training as a script, with your answers",
        "hand-in": "pack a notebook and its jobs into a file to send",
    },
    "For instructors": {
        "course": "make a course; release, collect, give feedback, export",
        "students-copy": "write the folder to publish for students",
        "link": "print a link that opens labs on a JupyterHub",
        "render": "write job scripts with an event's account and reservation",
        "class": "show who has fetched, run, handed in and is graded",
        "take": "take hand-ins that came by e-mail or Moodle",
        "grade": "grade hand-ins, each in a sandbox, and report",
        "hub": "start a JupyterHub with made-up people, to try the course",
    },
    "For authors": {
        "build": "make the students' notebooks and the job scripts",
        "run": "execute the solved labs and report",
        "answers": "hold a lab's tests against right and wrong answers",
        "soak": "judge answers many times: is the verdict always the same?",
        "attacks": "try to cheat the grader, and show what that pays",
        "slides": "make the lecture, or some of its decks",
        "book": "make the course as a book: a site to read offline",
        "record": "repeat the runs that the slides' figures are made from",
        "readme": "refresh the README's pictures and numbers",
    },
    "For a machine": {
        "doctor": "check everything that the labs run on",
        "data": "make data in ImageNet's form, or check a folder of it",
        "kernel": "install a kernel for a centre's own JupyterHub",
        "sites": "list the machines, or show one",
        "rehearse": "run a site's job scripts in a private Slurm",
        "bench": "measure how long things take, side by side",
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
NAME_WIDTH = max(map(len, COMMANDS))


class LazyGroup(click.Group):
    """A group that imports a verb's module on use, so that `coursekit --help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, those of one kind of user together."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one verb, or None when it is unknown."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        name += "_" * iskeyword(name)
        command: click.Command = getattr(import_module(f"coursekit.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each verb, by who uses it."""
        del ctx
        for user, commands in GROUPS.items():
            with formatter.section(user):
                formatter.write_dl([(f"{name:{NAME_WIDTH}}", line) for name, line in commands.items()])


@click.group(cls=LazyGroup)
@click.version_option(__version__, prog_name="coursekit")
def cli() -> None:
    """Build, run, check and grade the labs of the course."""


def main() -> None:
    """Run the command line; a mistake the user can fix ends in one sentence and exit status 1."""
    try:
        cli(standalone_mode=True)
    except CourseKitError as error:
        click.echo(f"coursekit: {error}", err=True)
        sys.exit(1)
