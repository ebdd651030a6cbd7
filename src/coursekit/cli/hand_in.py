"""`coursekit hand-in`: pack a file that a student sends to the instructor, for courses without a shared exchange."""

import getpass
import os
from pathlib import Path

import click

from coursekit.cli.shared import LAB
from coursekit.course.hand_in.pack import StudentWork, find_work, pack
from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import ID
from coursekit.times import shown, utc


@click.command("hand-in", epilog="Example: coursekit hand-in 02")
@LAB
@click.option("--student", metavar="ID", help="Your id in the course.  [default: your user name on this machine]")
def hand_in(lab: str, student: str | None) -> None:
    """Pack your notebook for LAB into a single file that you can send to your instructor.

    The file is written to the current folder. It also contains the records of your newest jobs for this lab.
    LAB is the name of a lab, the beginning of its name, or the path of your notebook.
    Without a path, the command looks for the notebook in the current folder, then in a subfolder with the lab's name,
    and then in labs/ of the checkout.
    """
    whose = student or getpass.getuser()
    if not ID.fullmatch(whose):
        raise CourseKitError(
            f"{whose!a} is not an id: give yours with --student, made of letters, digits and . _ - @.", "student.no-id"
        )
    work = find_work(lab, Path.cwd())
    path = pack(work, whose, Path.cwd())
    for line in _lines(work):
        print(line)
    print(f"written: {os.path.relpath(path)} ({path.stat().st_size / 1e3:.0f} kB), as the hand-in of {whose}")
    print("Send this one file to your instructor as it is, by e-mail or through your learning platform.")
    print("You may hand in again: the newest gradable version counts; a late version counts only if none was on time.")


def _lines(work: StudentWork) -> list[str]:
    num_filled = work.num_answers - len({*work.missing, *work.taken})
    lines = [
        f"{work.lab}: {os.path.relpath(work.notebook)}, saved at {shown(utc(work.notebook.stat().st_mtime))}",
        f"  {num_filled} of {work.num_answers} exercises are answered",
    ]
    if work.missing:
        lines.append(f"  ! {len(work.missing)} still contain the stub: {', '.join(work.missing)}")
    if work.taken:
        lines.append(f"  ! taken from the solution, without points: {', '.join(work.taken)}")
    return [*lines, *([f"  {job}" for job in work.jobs] or ["  no job records: there are none in jobs/"])]
