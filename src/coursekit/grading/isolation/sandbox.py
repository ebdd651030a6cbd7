"""Build the sandbox: a bubblewrap command line that runs a program with a restricted view of the machine.

The program sees the system's software, the Python environment and the files that the caller names, all of them
read-only. It also sees the folders /tmp and /dev/shm, which are empty at first and limited in size, and a network that
has only a private loopback interface. It sees no other processes, no home folder, no course folder, no socket of any
service, and only those environment variables that the caller names. Descriptors that the caller passes on stay open, so
that the two sides can communicate through them.

The sandbox does not limit memory or the number of processes (`watcher` does), and does not isolate the processes of one
submission from each other (`namespaces` does).
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.grading.isolation.system import Filter
from coursekit.paths import PACKAGE

SHARED = "/shared"  # empty; `namespaces` mounts here the folder that a process shares with its peers
CORE_PATTERN = "/proc/sys/kernel/core_pattern"
HOSTNAME = "sandbox"
HIDDEN = ("/tmp", "/dev/shm")  # noqa: S108  # each process of a submission has its own two
UID = 1000

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_LINKER = ("/etc/ld.so.cache", "/etc/alternatives")  # for finding libraries; the second leads to Debian's BLAS and MPI
_MADE = Path(__file__).parent / "etc"  # an /etc with one account and no other hosts


def require_sandbox() -> None:
    """Raise a `CourseKitError` with the reason if the sandbox does not work on this machine, so that no code runs."""
    if shutil.which("bwrap") is None:
        raise CourseKitError(
            "bubblewrap is not installed (apt install bubblewrap, dnf install bubblewrap): "
            "install it, or grade on a machine that has it (slurm/jobs/SITE/grade.sbatch).",
            "sandbox.no-bubblewrap",
        )
    line = command(["/usr/bin/env", "true"], {}, {}, 1 << 20)
    trial = subprocess.run(line, capture_output=True, text=True, check=False)
    if trial.returncode:
        raise CourseKitError(
            f"bubblewrap cannot start a sandbox on this machine ({trial.stderr.strip() or 'it gave no reason'}): "
            "it is older than version 0.7 (of 2022), or user namespaces are switched off here; "
            "install a newer version, or grade on a machine that allows namespaces (slurm/jobs/SITE/grade.sbatch).",
            "sandbox.not-started",
        )
    Filter()  # `namespaces` needs it


def python_folders() -> list[Path]:
    """Return the folders of this Python and of its virtual environment that are outside /usr."""
    folders = dict.fromkeys(Path(folder) for folder in (sys.base_prefix, sys.prefix))
    return [folder for folder in folders if Path("/usr") not in (folder, *folder.parents)]


def hidden_folders(folders: Sequence[Path]) -> list[Path]:
    """Return those of the given folders that a private /tmp would hide, such as a checkout in /tmp."""
    return [folder for folder in folders if any(Path(hidden) in folder.parents for hidden in HIDDEN)]


def command(
    argv: Sequence[str], read_only: Mapping[str, Path], environ: Mapping[str, str], tmp_bytes: int
) -> list[str]:
    """Return the command line that runs `argv` in the sandbox; paths in `argv` are paths inside it.

    `read_only` maps each path inside to the file or folder shown there, in addition to everything that any Python
    program needs. `environ` is the whole environment; `tmp_bytes` is the size of /tmp, and also of /dev/shm. The
    program ends when the process that started it ends. `require_sandbox` tests whether such a command line works.
    """
    words = ["bwrap", "--unshare-all", "--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME]
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    for name, value in environ.items():
        words += ["--setenv", name, value]
    words += [word for path in _SYSTEM for word in _as_it_is(Path(path))]
    words += ["--proc", "/proc", *_guarded_proc(), "--dev", "/dev"]
    for path in HIDDEN:
        words += ["--perms", "1777", "--size", str(tmp_bytes), "--tmpfs", path]
    for path in _LINKER:
        words += ["--ro-bind-try", path, path]
    for file in sorted(_MADE.iterdir()):
        words += ["--ro-bind", str(file), f"/etc/{file.name}"]
    for folder in python_folders():
        words += ["--ro-bind", str(folder), str(folder)]
    # If the kit is installed in the environment, its package contains files that students must not see.
    covered = [str(PACKAGE)] if any(folder.resolve() in PACKAGE.parents for folder in python_folders()) else []
    for path in covered:
        words += ["--tmpfs", path]
    for inside, outside in read_only.items():
        words += ["--ro-bind", str(outside), inside]
    words += ["--dir", SHARED]
    # These file systems belong to the sandbox. If they stayed writable, a program could fill them without limit.
    for path in (*covered, "/dev", "/"):
        words += ["--remount-ro", path]
    return [*words, "--chdir", "/tmp", "--", *argv]  # noqa: S108  # the sandbox's own


def _as_it_is(path: Path) -> list[str]:
    """Return the bwrap arguments that show a system folder at its usual path, as a link if it is a link."""
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def _guarded_proc() -> list[str]:
    """Return the bwrap arguments that make the kernel's settings read-only if this account owns them, as root does.

    Even without capabilities, root still owns these settings and could change them. For example,
    /proc/sys/kernel/core_pattern names a program that the kernel runs. An ordinary user owns none of them, so for such
    a user /proc stays as it is, and `namespaces` can mount a new /proc.
    """
    if os.getuid() != 0 and not os.access(CORE_PATTERN, os.W_OK):  # root may have another id in a namespace
        return []
    entries = sorted(path for path in Path("/proc").iterdir() if not path.name.isdigit() and not path.is_symlink())
    settings = [str(path) for path in entries if path.is_dir() or path.lstat().st_mode & stat.S_IWUSR]
    return [word for path in settings for word in ("--ro-bind-try", path, path)]


if __name__ == "__main__":  # the doctor calls this
    try:
        require_sandbox()
    except CourseKitError as error:
        sys.exit(f"{error}")
