"""Inside the demo's namespaces: change the view, make the course, and become JupyterHub.

unshare … python -m coursekit.jupyter.hub.demo_in_namespaces ROOT STATE PORT
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from coursekit.files import write_file
from coursekit.jupyter.hub.demo import STATE
from coursekit.jupyter.hub.people import COURSE, GRADER, INSTRUCTOR, PEOPLE, PRIVATE, accounts, roster
from coursekit.jupyter.hub.view import PASSABLE, change_view, make_folder
from coursekit.labs.lab import find_labs
from coursekit.paths import ROOT_VARIABLE

# What grading needs of the checkout; the account that grades gets a copy, which students cannot reach.
COPIED = ("labs", "slurm", "solutions")


def main() -> None:
    """Become JupyterHub; a failure is told on stderr and ends this process."""
    root, state, port = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    os.umask(0o022)
    homes, course = state / "home", state / "course"
    kit = homes / GRADER.name / "kit"
    homes.mkdir(mode=PASSABLE, exist_ok=True)
    for person in PEOPLE:
        make_folder(homes / person.name, person)
    make_folder(course, GRADER)
    labs = [lab.name for lab in find_labs(root)]
    _copy_kit(root, kit)
    change_view(root, state, accounts(homes))
    _as_grader(kit, "course", "init", "--name", COURSE, "--roster", "roster.csv", str(course))
    _as_grader(kit, "course", "release", *labs, "--force", "--course", str(course))

    config = root / "hub" / "jupyterhub_config.py"
    environment = {
        **os.environ,
        STATE: str(state),
        ROOT_VARIABLE: str(kit),
        "COURSEKIT_COURSE": str(course),
        "COURSEKIT_INSTRUCTORS": INSTRUCTOR.name,
        "COURSEKIT_HUB_PORT": port,
    }
    os.chdir(state / PRIVATE)
    jupyterhub = [sys.executable, "-m", "jupyterhub", "-f", str(config)]
    os.execve(sys.executable, jupyterhub, environment)  # noqa: S606 - no shell is wanted


def _copy_kit(root: Path, kit: Path) -> None:
    """Give the account that grades its own copy of what it needs, private to it."""
    kit.mkdir(mode=0o700, exist_ok=True)
    for name in COPIED:
        shutil.rmtree(kit / name, ignore_errors=True)
        shutil.copytree(root / name, kit / name)
    shutil.copy(root / "pyproject.toml", kit)
    write_file(kit / "roster.csv", roster().encode())
    for path in (kit, *kit.rglob("*")):
        os.chown(path, GRADER.uid, GRADER.uid)


def _as_grader(kit: Path, *words: str) -> None:
    environment = {**os.environ, "HOME": str(kit.parent), ROOT_VARIABLE: str(kit)}
    command = [sys.executable, "-m", "coursekit", *words]
    account = {"user": GRADER.uid, "group": GRADER.uid, "extra_groups": ()}
    subprocess.run(command, cwd=kit, env=environment, check=True, **account)  # type: ignore[call-overload]  # of a dict


if __name__ == "__main__":
    main()
