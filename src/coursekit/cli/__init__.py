"""The `coursekit` command: every verb lives beside the code it drives and is imported only when called."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from coursekit import __version__
from coursekit.errors import CourseKitError

# By who uses them: what `coursekit --help` says of each, and where it is.
GROUPS = {
    "For students": {
        "execute": ("execute your notebook of a lab, ready to hand in", "coursekit.cli.execute:execute"),
        "submit": ("submit a lab as a job of a machine", "coursekit.cli.submit:submit"),
        "jobs": ("list your jobs, with how each goes or why it waits", "coursekit.cli.jobs:jobs"),
        "cancel": ("cancel a job of yours", "coursekit.cli.jobs:cancel"),
        "script": ("write a lab's training as a script, with your answers", "coursekit.cli.script:script"),
        "hand-in": ("pack a notebook and its jobs into a file to send", "coursekit.cli.hand_in:hand_in"),
    },
    "For instructors": {
        "course": ("make a course; release, collect, give feedback, export", "coursekit.cli.course:course"),
        "students-copy": (
            "write the folder to publish for students",
            "coursekit.cli.students_copy:students_copy",
        ),
        "link": ("print a link that opens labs on a JupyterHub", "coursekit.jupyter.link:link"),
        "render": ("write job scripts with an event's account and reservation", "coursekit.cli.render:render"),
        "class": ("show who has fetched, run, handed in and is graded", "coursekit.cli.class_:class_"),
        "collect": ("take hand-ins that came by e-mail or Moodle", "coursekit.cli.collect:collect"),
        "grade": ("grade hand-ins, each in a sandbox, and report", "coursekit.cli.grade:grade"),
        "hub": ("start a JupyterHub with made-up people, to try the course", "coursekit.cli.hub:hub"),
    },
    "For authors": {
        "build": ("make the students' notebooks and the job scripts", "coursekit.cli.build:build"),
        "run": ("execute the solved labs and report", "coursekit.cli.run:run"),
        "answers": ("hold a lab's tests against right and wrong answers", "coursekit.cli.answers:answers"),
        "soak": ("judge answers many times: is the verdict always the same?", "coursekit.cli.soak:soak"),
        "attacks": ("try to cheat the grader, and show what that pays", "coursekit.cli.attacks:attacks"),
        "slides": ("make the lecture, or some of its decks", "coursekit.cli.slides:slides"),
        "record": ("repeat the runs that the slides' figures are made from", "coursekit.cli.slides:record"),
        "readme": ("refresh the README's pictures and numbers", "coursekit.cli.readme:readme"),
    },
    "For a machine": {
        "doctor": ("check everything that the labs run on", "coursekit.cli.doctor:doctor"),
        "data": ("make data in ImageNet's form, or check a folder of it", "coursekit.cli.data:data"),
        "kernel": ("install a kernel for a centre's own JupyterHub", "coursekit.cli.kernel:kernel"),
        "sites": ("list the machines, or show one", "coursekit.cli.sites:sites"),
        "rehearse": ("run a site's job scripts in a private Slurm", "coursekit.cli.rehearse:rehearse"),
        "bench": ("measure how long things take, side by side", "coursekit.cli.bench:bench"),
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
        module, attribute = COMMANDS[cmd_name][1].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each verb, by who uses it."""
        del ctx
        for user, commands in GROUPS.items():
            with formatter.section(user):
                formatter.write_dl([(f"{name:{NAME_WIDTH}}", line) for name, (line, _) in commands.items()])


@click.group(cls=LazyGroup)
@click.version_option(__version__, prog_name="coursekit")
def cli() -> None:
    """Build, run, check and grade the labs of the course."""


def main() -> None:
    """Run the command line; a mistake the user can mend ends in one sentence and exit status 1."""
    try:
        cli(standalone_mode=True)
    except CourseKitError as error:
        click.echo(f"coursekit: {error}", err=True)
        sys.exit(1)
