"""The sandbox: one command line that starts a program with a view of its own of the machine.

Inside there is the system's software, the Python environment, and what the caller names, all of it read-only;
empty folders /tmp and /dev/shm of limited size; a network that consists of its own loopback; and no other process.
There is no home, no course, no socket of any service, and no variable that the caller did not name.
Descriptors that the caller passes on stay open: that is how the two sides talk.

It does not limit memory and processes (`cgroups` and `watcher` do), nor isolate the processes of one submission from
each other (`namespaces` does).
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.grading.isolation.system import Filter
from coursekit.paths import PACKAGE

SANDBOXES = ("bwrap", "apptainer", "none")
SHARED = "/shared"  # an empty folder: where `namespaces` shows a process what it shares with its peers
CORE_PATTERN = "/proc/sys/kernel/core_pattern"
HOSTNAME = "sandbox"
HIDDEN = ("/tmp", "/dev/shm")  # noqa: S108  # which every process of a submission has for itself
UID = 1000
OLDEST_BWRAP = (0, 7)  # the first that limits the size of a tmpfs
TRIAL_TIMEOUT_S = 300.0  # of an empty sandbox, on the busiest machine

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_LINKER = ("/etc/ld.so.cache", "/etc/alternatives")  # where libraries are; Debian's BLAS and MPI are links through it
_MADE = Path(__file__).parent / "etc"  # accounts and hosts of a machine that has one user and no neighbours


@dataclass(frozen=True)
class View:
    """What a program in the sandbox sees, in addition to what every Python needs.

    Attributes:
        read_only: paths inside, and what is shown there, a file or a folder.
        environ: the whole environment.
        tmp_bytes: size of /tmp, and that of /dev/shm.
    """

    read_only: Mapping[str, Path]
    environ: Mapping[str, str]
    tmp_bytes: int


def require_sandbox(name: str, image: Path | None = None) -> None:
    """Return when this sandbox works here.

    Raises:
        CourseKitError: it does not; nothing may run then.
    """
    if name not in SANDBOXES:
        raise CourseKitError(f"there is no sandbox {name!r}: choose one of {', '.join(SANDBOXES)}.")
    if name == "bwrap":
        _require_bwrap()
        Filter()  # which `namespaces` needs
    elif name == "apptainer":
        _require_apptainer(image)


def command(name: str, view: View, argv: Sequence[str], *, image: Path | None = None) -> list[str]:
    """Return the command line that runs `argv` in a sandbox.

    It never falls back to a weaker sandbox; `require_sandbox` says whether the one named works here.
    The program ends when the process that started it does (not with "none", which isolates nothing).
    Paths in `argv` are as they are inside; only Apptainer needs an image, that of the container.
    """
    if name == "bwrap":
        return _bwrap(view, argv)
    if name == "apptainer":
        return _apptainer(view, argv, image)
    if name == "none":
        return ["env", "-i", *(f"{key}={value}" for key, value in view.environ.items()), *argv]
    raise CourseKitError(f"there is no sandbox {name!r}: choose one of {', '.join(SANDBOXES)}.")


def python_folders() -> list[Path]:
    """Return the folders of this Python and of its virtual environment outside /usr."""
    folders = dict.fromkeys(Path(folder) for folder in (sys.base_prefix, sys.prefix))
    return [folder for folder in folders if Path("/usr") not in (folder, *folder.parents)]


def hidden_folders(folders: Sequence[Path]) -> list[Path]:
    """Return those of these folders that a private /tmp would hide, such as a checkout in /tmp."""
    return [folder for folder in folders if any(Path(hidden) in folder.parents for hidden in HIDDEN)]


def installed_kit() -> list[Path]:
    """Return the folder of this package if it is inside the environment: it holds what students must not see."""
    return [PACKAGE] if any(folder.resolve() in PACKAGE.parents for folder in python_folders()) else []


def _bwrap(view: View, argv: Sequence[str]) -> list[str]:
    words = ["bwrap", "--unshare-all", "--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME]
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    for name, value in view.environ.items():
        words += ["--setenv", name, value]
    words += [word for path in _SYSTEM for word in _as_it_is(Path(path))]
    words += ["--proc", "/proc", *_guarded_proc(), "--dev", "/dev"]
    for path in HIDDEN:
        words += ["--perms", "1777", "--size", str(view.tmp_bytes), "--tmpfs", path]
    for path in _LINKER:
        words += ["--ro-bind-try", path, path]
    for file in sorted(_MADE.iterdir()):
        words += ["--ro-bind", str(file), f"/etc/{file.name}"]
    for folder in python_folders():
        words += ["--ro-bind", str(folder), str(folder)]
    covered = [str(folder) for folder in installed_kit()]
    for path in covered:
        words += ["--tmpfs", path]
    for inside, outside in view.read_only.items():
        words += ["--ro-bind", str(outside), inside]
    words += ["--dir", SHARED]
    # These are file systems of the sandbox's own, which could be filled without limit.
    for path in (*covered, "/dev", "/"):
        words += ["--remount-ro", path]
    return [*words, "--chdir", "/tmp", "--", *argv]  # noqa: S108  # the sandbox's own


def _as_it_is(path: Path) -> list[str]:
    """Return bwrap's words for a folder of the system, which may be a link."""
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def _guarded_proc() -> list[str]:
    """Return bwrap's words that make the kernel's settings read-only, if this account owns them: root does.

    Root without capabilities still owns them, and /proc/sys/kernel/core_pattern names a program that the kernel runs.
    An ordinary user owns none of them; leaving /proc as it is lets `namespaces` mount a fresh one.
    """
    if os.getuid() != 0 and not os.access(CORE_PATTERN, os.W_OK):  # root may bear another number in a namespace
        return []
    entries = sorted(path for path in Path("/proc").iterdir() if not path.name.isdigit() and not path.is_symlink())
    settings = [str(path) for path in entries if path.is_dir() or path.lstat().st_mode & stat.S_IWUSR]
    return [word for path in settings for word in ("--ro-bind-try", path, path)]


def _apptainer(view: View, argv: Sequence[str], image: Path | None) -> list[str]:
    """Return Apptainer's command line, as its manual has it; NOT RUN: Debian has no Apptainer to test it with.

    The image supplies the system's libraries, the host the Python environment, which must fit them.
    /tmp and /dev/shm are Apptainer's own, in memory, with the size that the site has set; `view.tmp_bytes` is not used.
    Whether an ordinary user may have `--network none` is the site's decision; Apptainer fails where not.
    """
    if image is None:
        raise CourseKitError("Apptainer needs a container image: give your site's with --image FILE.")
    words = ["apptainer", "exec", "--containall", "--cleanenv", "--no-home", "--no-eval", "--no-privs"]
    words += ["--no-mount", "home,cwd,hostfs,bind-paths", "--net", "--network", "none", "--hostname", HOSTNAME]
    for name, value in view.environ.items():
        words += ["--env", f"{name}={value}"]
    shown = {**{str(folder): folder for folder in python_folders()}, **view.read_only, SHARED: _MADE}
    for inside, outside in shown.items():
        words += ["--mount", f"type=bind,source={outside},destination={inside},ro"]
    return [*words, "--pwd", "/tmp", str(image), *argv]  # noqa: S108  # the sandbox's own


def _require_bwrap() -> None:
    if shutil.which("bwrap") is None:
        raise CourseKitError(
            "bubblewrap is not installed (apt install bubblewrap, dnf install bubblewrap): "
            "install it, use --sandbox apptainer, or grade on a machine that has it (slurm/jobs/SITE/grade.sbatch)."
        )
    said = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout
    version = tuple(int(number) for number in re.findall(r"\d+", said)[:2])
    if version < OLDEST_BWRAP:
        raise CourseKitError(
            f"{said.strip() or 'this bwrap'} is too old, since it cannot limit the size of /tmp: "
            f"install bubblewrap {'.'.join(map(str, OLDEST_BWRAP))} or newer, or use --sandbox apptainer."
        )
    line = command("bwrap", View({}, {}, 1 << 20), ["/usr/bin/env", "true"])
    try:
        trial = subprocess.run(line, capture_output=True, text=True, check=False, timeout=TRIAL_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise CourseKitError(
            f"bubblewrap started no sandbox within {TRIAL_TIMEOUT_S:.0f} s: try again when the machine is less busy."
        ) from None
    if trial.returncode:
        raise CourseKitError(
            f"bubblewrap cannot start a sandbox on this machine ({trial.stderr.strip() or 'it gave no reason'}): "
            "user namespaces are probably switched off here; "
            "use --sandbox apptainer, or grade on a machine that allows them (slurm/jobs/SITE/grade.sbatch)."
        )


def _require_apptainer(image: Path | None) -> None:
    if os.getuid() == 0:
        raise CourseKitError(
            "Apptainer cannot isolate root, who owns the kernel's settings: grade as an ordinary user."
        )
    if shutil.which("apptainer") is None:
        raise CourseKitError(
            "Apptainer is not installed or its module is not loaded: load the module, or use --sandbox bwrap."
        )
    if image is None or not image.exists():
        named = f"{image} does not exist" if image else "none is given"
        raise CourseKitError(f"Apptainer needs a container image, and {named}: give your site's with --image FILE.")
