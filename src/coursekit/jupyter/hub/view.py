"""What the processes of the demo see of this machine: the accounts made for it, and of the checkout no answers.

All of it is mounted in a mount namespace of the demo's own, so that nothing of it is left when its last process ends,
and nothing of this machine is changed: neither /etc/passwd nor the rights of a folder.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.grading.walls import system

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coursekit.jupyter.hub.people import Person

# The parts of the checkout that servers run from; none of them holds an answer.
SHOWN = (".venv", "src", "hub")
# Passable, not readable: who knows a path below may go there.
PASSABLE = 0o711


def change_view(root: Path, state: Path, files: dict[str, str]) -> None:
    """Hide the checkout except the shown parts, let everybody reach those, and replace files of /etc.

    Needs a mount namespace of its own, and root in it. The folder of the demo's `state` stays in view; `files` holds
    the name of a file in /etc and the text that is seen in its place.
    """
    shown = [*(root / name for name in SHOWN), state, Path(sys.base_prefix)]
    for folder in topmost({root, *barriers(shown)}):
        cover(folder, [path for path in shown if path.is_relative_to(folder)])
    change_etc(state / "etc", files)


def barriers(paths: Iterable[Path]) -> set[Path]:
    """Return the folders on the way to these paths through which others may not pass."""
    return {folder for path in paths for folder in path.parents if not folder.stat().st_mode & stat.S_IXOTH}


def topmost(folders: set[Path]) -> list[Path]:
    """Return those of the folders that lie in no other of them."""
    return sorted(folder for folder in folders if not folders & {*folder.parents})


def make_folder(folder: Path, person: Person) -> None:
    """Make a folder that is this person's alone, if it is not there."""
    folder.mkdir(mode=0o700, exist_ok=True)
    os.chown(folder, person.uid, person.uid)


def cover(folder: Path, shown: list[Path]) -> None:
    """Mount an empty folder over this one, and in it the paths that stay in view."""
    handles = [os.open(path, os.O_PATH) for path in shown]
    system.mount("tmpfs", str(folder), "tmpfs", 0, f"mode={PASSABLE:o},size=1m")
    for path, handle in zip(shown, handles):
        path.mkdir(mode=PASSABLE, parents=True)
        system.mount(f"/proc/self/fd/{handle}", str(path), None, system.BIND | system.RECURSIVE)
        os.close(handle)


def change_etc(folder: Path, files: dict[str, str]) -> None:
    """Mount a copy of /etc with these texts over it.

    A mount over one file of it would vanish as soon as somebody adds an account: that renames a new file over the old.
    """
    folder.mkdir(exist_ok=True)
    system.mount("tmpfs", str(folder), "tmpfs", 0, "mode=755")
    # The demo needs no file that root of a user's namespace may not read.
    subprocess.run(["cp", "--archive", "/etc/.", folder], stderr=subprocess.DEVNULL, check=False)
    for name, text in files.items():
        (folder / name).write_text(text)
    system.mount(str(folder), "/etc", None, system.BIND)
