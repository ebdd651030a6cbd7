"""The `workshop` command; each verb is a module of the same name here, which is imported only when it is needed."""

from __future__ import annotations

import click

from coursekit import __version__
from coursekit.cli import LazyGroup, run_program

GROUPS = {
    "Test the tests": {
        "answers": "check a lab's tests with right and wrong answers",
        "mutants": "show small changes to a solution that a lab's tests miss",
        "attacks": "try to cheat the grader, and report what succeeds",
        "rehearse": "run a site's job scripts in a private Slurm",
    },
    "Measurements": {
        "bench": "run the benchmarks",
        "record": "repeat the runs behind the slides' figures",
    },
    "Texts": {
        "slides": "build the lecture, or some of its decks",
        "pages": "generate the pages on commands, troubleshooting and scaling",
        "book": "build the course as a website that can be read offline",
        "readme": "refresh the pictures and numbers on the pages",
        "words": "find words that the texts should not use",
    },
}


@click.group(cls=LazyGroup, package="workshop.cli", groups=GROUPS)
@click.version_option(__version__, prog_name="workshop")
def cli() -> None:
    """Test the tests of the course, measure the kit, and build its lecture and pages."""


def main() -> None:
    """Run the program `workshop`."""
    run_program(cli, "workshop")
