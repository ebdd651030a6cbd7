"""The program that runs inside the demo's namespaces: it creates accounts and a course, and becomes JupyterHub.

unshare … python -m coursekit.jupyter.hub.demo ROOT STATE PORT [--watch]

It also hides the answers. Everything that it mounts disappears when the last process ends, and nothing on this machine
is changed, neither /etc/passwd nor the permissions of any folder.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jupyterhub.spawner import LocalProcessSpawner

from coursekit.files import write_file
from coursekit.grading.isolation import system
from coursekit.jupyter.hub.demo_hub import GRADER, INSTRUCTOR, PASSABLE, PASSWORD, PEOPLE, PRIVATE, STUDENTS
from coursekit.labs.lab import find_labs
from coursekit.labs.needs import lacking
from coursekit.paths import ROOT_VARIABLE

START_TIMEOUT_S = 600  # JupyterHub measures only wall-clock time
# The parts of the checkout from which servers run; they do not contain any answers.
SHOWN = (".venv", "src", "hub")
# The parts of the checkout that grading needs; the grading account gets a copy that students cannot reach.
COPIED = ("labs", "slurm", "solutions", "students")


def configure(c: Any) -> None:
    """Add the settings that only the demo needs to JupyterHub's configuration."""
    c.JupyterHub.authenticator_class = "shared-password"
    c.SharedPasswordAuthenticator.user_password = Path(PASSWORD).read_text()  # main() has changed to the file's folder
    c.JupyterHub.spawner_class = LocalProcessSpawner
    c.JupyterHub.db_url = "sqlite:///jupyterhub.sqlite"
    c.JupyterHub.cookie_secret_file = "cookie_secret"  # noqa: S105 - the name of a file
    c.Spawner.ip = "127.0.0.1"
    c.Spawner.start_timeout = START_TIMEOUT_S
    c.Spawner.http_timeout = START_TIMEOUT_S


def main() -> None:
    """Prepare the demo and become JupyterHub; a failure is reported on stderr and ends this process."""
    root, state, port = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    os.umask(0o022)
    homes, course = state / "home", state / "course"
    kit = homes / GRADER.name / "kit"
    homes.mkdir(mode=PASSABLE, exist_ok=True)
    for folder, person in ((course, GRADER), *((homes / person.name, person) for person in PEOPLE)):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, person.uid, person.uid)
    labs = [lab.name for lab in find_labs(root) if not lacking(lab)]
    _copy_kit(root, kit)
    shown = [*(root / name for name in SHOWN), state, Path(sys.base_prefix)]
    show_only(shown, hidden=(root,))
    change_etc(state / "etc", _accounts(homes))
    _as_grader(kit, "course", "init", "--name", "demo", "--roster", "roster.csv", str(course))
    _as_grader(kit, "course", "release", *labs, "--force", "--course", str(course))
    if "--watch" in sys.argv:  # it ends together with everything else here
        _start_as_grader(kit, "grade", "--watch", "--feedback", "--course", str(course))

    environment = {
        **os.environ,
        ROOT_VARIABLE: str(kit),
        "COURSEKIT_COURSE": str(course),
        "COURSEKIT_INSTRUCTORS": INSTRUCTOR.name,
        "COURSEKIT_HUB_PORT": port,
    }
    os.chdir(state / PRIVATE)
    jupyterhub = [sys.executable, "-m", "jupyterhub", "-f", str(root / "hub" / "jupyterhub_config.py")]
    os.execve(sys.executable, jupyterhub, environment)  # noqa: S606 - no shell is wanted


def _copy_kit(root: Path, kit: Path) -> None:
    """Give the grading account a private copy of the parts of the checkout that it needs, and a roster."""
    kit.mkdir(mode=0o700, exist_ok=True)
    for name in COPIED:
        shutil.rmtree(kit / name, ignore_errors=True)
        shutil.copytree(root / name, kit / name)
    shutil.copy(root / "pyproject.toml", kit)
    rows = [(one.name, *one.full_name.split(), f"{one.name}@localhost") for one in STUDENTS]
    roster = "\n".join(map(",".join, [("id", "first_name", "last_name", "email"), *rows]))
    write_file(kit / "roster.csv", f"{roster}\n".encode())
    for path in (kit, *kit.rglob("*")):
        os.chown(path, GRADER.uid, GRADER.uid)


def _as_grader(kit: Path, *words: str) -> None:
    process = _start_as_grader(kit, *words)
    if status := process.wait():
        raise subprocess.CalledProcessError(status, process.args)


def _start_as_grader(kit: Path, *words: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "HOME": str(kit.parent), ROOT_VARIABLE: str(kit)}
    command = [sys.executable, "-m", "coursekit", *words]
    uid = GRADER.uid
    return subprocess.Popen(command, cwd=kit, env=environment, user=uid, group=uid, extra_groups=())


def _accounts(homes: Path) -> dict[str, str]:
    """Return the texts of this machine's files `passwd` and `group`, with the demo's accounts added, keyed by name."""
    names = {person.name for person in PEOPLE}
    texts = {}
    for file, line in (
        ("passwd", "{0.name}:x:{0.uid}:{0.uid}:{0.full_name}:{1}/{0.name}:/bin/bash\n"),
        ("group", "{0.name}:x:{0.uid}:\n"),
    ):
        there = Path("/etc", file).read_text().splitlines(keepends=True)
        kept = [entry for entry in there if entry.partition(":")[0] not in names]
        texts[file] = "".join([*kept, *(line.format(person, homes) for person in PEOPLE)])
    return texts


def show_only(paths: Iterable[Path], hidden: Iterable[Path] = ()) -> None:
    """Hide the folders in `hidden`, and each parent of `paths` that other accounts may not enter; keep `paths` visible.

    An empty folder is mounted over each of them, and the `paths` below it are mounted again inside the empty folder.
    """
    paths = list(paths)
    covered = {folder for path in paths for folder in path.parents if not folder.stat().st_mode & stat.S_IXOTH}
    covered |= {*hidden}
    for folder in covered:
        if covered & {*folder.parents}:
            continue  # it is inside another hidden folder
        shown = [path for path in paths if path.is_relative_to(folder)]
        handles = [os.open(path, os.O_PATH) for path in shown]
        system.mount("tmpfs", str(folder), "tmpfs", 0, f"mode={PASSABLE:o},size=1m")
        for path, handle in zip(shown, handles):
            path.mkdir(mode=PASSABLE, parents=True)
            system.mount(f"/proc/self/fd/{handle}", str(path), None, system.BIND | system.RECURSIVE)
            os.close(handle)


def change_etc(folder: Path, files: dict[str, str]) -> None:
    """Mount a copy of /etc, in which the given files have new texts, over /etc.

    A mount over a single file would vanish as soon as somebody adds an account, because the file is replaced then.
    """
    folder.mkdir(exist_ok=True)
    system.mount("tmpfs", str(folder), "tmpfs", 0, "mode=755")
    # The demo needs none of the files that root in a user namespace may not read.
    subprocess.run(["cp", "--archive", "/etc/.", folder], stderr=subprocess.DEVNULL, check=False)
    for name, text in files.items():
        (folder / name).write_text(text)
    system.mount(str(folder), "/etc", None, system.BIND)


if __name__ == "__main__":
    main()
