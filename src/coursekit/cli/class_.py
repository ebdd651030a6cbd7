"""`coursekit class`: where the class stands, in the terminal and as a page."""

from __future__ import annotations

import time
import webbrowser
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from coursekit.errors import CourseKitError
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.course.folder import Course
    from coursekit.labs.lab import Lab

PERIOD_S = 10
NO_FILE = ""  # --page without a file


@click.command(name="class", epilog="Example: coursekit class 02 --page")
@click.argument("names", metavar="[LAB]...", nargs=-1)
@click.option(
    "--page", metavar="FILE.html", is_flag=False, flag_value=NO_FILE, help="[default: course/reports/class-….html]"
)
@click.option("--open", "opens", is_flag=True, help="Write the page and open it in the browser.")
@click.option("--anonymous", is_flag=True, help="Numbers for names, in an order of their own: for the projector.")
@click.option("--homes", metavar="PATTERN", default="", help="Look into students' homes, such as /home/{student}.")
@click.option("--watch", is_flag=True, help=f"Show it again every {PERIOD_S} s, until Ctrl-C.")
@click.option("--course", "folder", type=click.Path(file_okay=False, path_type=Path), help="[default: course/]")
def class_(  # noqa: PLR0913  # one for each option
    names: tuple[str, ...],
    *,
    page: str | None,
    opens: bool,
    anonymous: bool,
    homes: str,
    watch: bool,
    folder: Path | None,
) -> None:
    """Show per lab who has fetched, run, handed in and is graded, and what most students missed.

    What nothing tells is shown as "?"; `--page` writes the same with pictures as one page, for the instructor alone.
    """
    if page and not page.endswith(".html"):
        raise CourseKitError(f"--page writes HTML: name a file that ends in .html, not {page!r}, or none.")
    root = find_root()
    labs = select_labs(root, names)
    from coursekit.course.folder import find_course  # noqa: PLC0415  # as above
    from coursekit.course.pages import report_path  # noqa: PLC0415  # as above
    from coursekit.course.progress.signs import check_homes  # noqa: PLC0415  # nbgrader takes a second to import

    course = find_course(root, folder)
    view = _View(course, labs, check_homes(homes) if homes else "", anonymous, PERIOD_S if watch else 0)
    path = Path(page).absolute() if page else report_path(course, "class", now()) if opens or page is not None else None
    try:
        view.show(path)
        if path and opens and not webbrowser.open(path.as_uri()):
            click.echo("coursekit: no browser could be started here: open the page yourself.", err=True)
        while watch:
            time.sleep(PERIOD_S)
            view.show(path)
    except KeyboardInterrupt:
        if not watch:
            raise


def now() -> datetime:
    """Return the time with this machine's time zone."""
    return datetime.now().astimezone()


@dataclass(frozen=True)
class _View:
    """What is shown, again and again where `period_s` is not 0."""

    course: Course
    labs: Sequence[Lab]
    homes: str
    anonymous: bool
    period_s: int
    console: Console = field(default_factory=Console)

    def show(self, page: Path | None) -> None:
        """Read where the class stands, print it, and write the page if there is to be one."""
        from coursekit.course.progress.page import write_page  # noqa: PLC0415  # heavy
        from coursekit.course.progress.progress import read_class  # noqa: PLC0415  # as above
        from coursekit.course.progress.terminal import print_class  # noqa: PLC0415  # as above

        found = read_class(self.course, self.labs, self.homes, anonymous=self.anonymous)
        if self.period_s and self.console.is_terminal:
            self.console.clear()
        print_class(found, self.console)
        if not page:
            return
        try:
            write_page(page, found, now(), self.period_s)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CourseKitError(f"{page} cannot be written ({reason}): name another FILE for --page.") from None
        self.console.print(f"page: {page}", markup=False, highlight=False, soft_wrap=True)
