"""The `coursekit` command: every verb lives beside the code it drives and is imported only when called."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from coursekit import __version__
from coursekit.errors import CourseKitError

COMMANDS = {
    "answers": "coursekit.grading.command:answers",
    "attacks": "coursekit.attacks.command:attacks",
    "bench": "coursekit.bench.command:bench",
    "build": "coursekit.building.command:build",
    "cancel": "coursekit.jobs.command:cancel",
    "class": "coursekit.classroom.command:class_",
    "collect": "coursekit.course.take_command:collect",
    "course": "coursekit.course.command:course",
    "data": "coursekit.imagenet.command:data",
    "doctor": "coursekit.environment.doctor_command:doctor",
    "execute": "coursekit.running.execute_command:execute",
    "grade": "coursekit.course.grade_command:grade",
    "hand-in": "coursekit.course.pack_command:hand_in",
    "hub": "coursekit.hub.command:hub",
    "jobs": "coursekit.jobs.command:jobs",
    "kernel": "coursekit.kernels.command:kernel",
    "link": "coursekit.links:link",
    "readme": "coursekit.running.readme_command:readme",
    "record": "coursekit.slides.command:record",
    "rehearse": "coursekit.rehearsal.command:rehearse",
    "render": "coursekit.jobs.render_command:render",
    "run": "coursekit.running.command:run",
    "script": "coursekit.building.script_command:script",
    "sites": "coursekit.sites.command:sites",
    "slides": "coursekit.slides.command:slides",
    "soak": "coursekit.grading.soak_command:soak",
    "students-copy": "coursekit.building.students_command:students_copy",
    "submit": "coursekit.jobs.submit_command:submit",
}


class LazyGroup(click.Group):
    """A group that imports a verb's module on use, so that `coursekit --help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in alphabetical order."""
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one verb, or None when it is unknown."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


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
