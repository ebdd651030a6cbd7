"""`coursekit class`: where the class stands, in the terminal and as a page."""

from __future__ import annotations

import time
import webbrowser
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console

from coursekit.errors import CourseKitError
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root

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
    from coursekit.course.folder import find_course  # noqa: PLC0415  # nbgrader takes a second to import
    from coursekit.course.progress.page import write_page  # noqa: PLC0415  # as above
    from coursekit.course.progress.progress import read_class  # noqa: PLC0415  # as above
    from coursekit.course.progress.signs_of_work import check_homes  # noqa: PLC0415  # as above
    from coursekit.course.progress.terminal import print_class  # noqa: PLC0415  # as above

    course, console = find_course(root, folder), Console()
    pattern = check_homes(homes) if homes else ""
    path = Path(page).absolute() if page else course.report("class", now()) if opens or page is not None else None

    def show() -> None:
        """Read where the class stands, print it, and write the page if there is to be one."""
        found = read_class(course, labs, pattern, anonymous=anonymous)
        if watch and console.is_terminal:
            console.clear()
        print_class(found, console)
        if not path:
            return
        try:
            write_page(path, found, now(), PERIOD_S if watch else 0)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CourseKitError(f"{path} cannot be written ({reason}): name another FILE for --page.") from None
        console.print(f"page: {path}", markup=False, highlight=False, soft_wrap=True)

    try:
        show()
        if path and opens and not webbrowser.open(path.as_uri()):
            click.echo("coursekit: no browser could be started here: open the page yourself.", err=True)
        while watch:
            time.sleep(PERIOD_S)
            show()
    except KeyboardInterrupt:
        if not watch:
            raise


def now() -> datetime:
    """Return the time with this machine's time zone."""
    return datetime.now().astimezone()
