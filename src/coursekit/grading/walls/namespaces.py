"""The inner walls: a process of a submission gets namespaces of its own, so that it knows and reaches no other.

Three processes come from the one that calls `enter`:

* the *waiter*, which is the caller: it stays outside, passes signals on, and ends as the walled-off process ends;
* the *first*, process 1 of the new PID namespace, which runs nothing of the student's: it builds the walls,
  ends with the waiter, and with it the kernel ends everything inside, whatever it has become;
* the *walled-off* one, in which `enter` returns.

The network is not separated: ranks of a run talk over the loopback of the outer wall.

/proc is a fresh one where the kernel allows it. Where it does not (under bubblewrap as root, which covers parts of
/proc), the outer one stays: process numbers in it are the outer wall's, so psutil does not work inside, and command
lines of the processes within the outer wall can be read. It is safe: the kernel refuses to look into or signal
processes of an outer namespace.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from coursekit.errors import CourseKitError
from coursekit.grading.walls import system, waiter
from coursekit.grading.walls.allowance import set_rlimits
from coursekit.grading.walls.sandbox import CORE_PATTERN, HIDDEN, SHARED
from coursekit.grading.walls.syscalls import Filter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coursekit.grading.walls.allowance import Allowance
    from coursekit.grading.walls.waiter import HeldSignals

SHARED_VARIABLE = "COURSEKIT_SHARED"  # where the walled-off process finds the folder that it shares
OWN = "/tmp/own"  # noqa: S108  # its own, which stays; of one name for all, as names of files may travel between ranks
TERMINALS = "/dev/pts"
MAX_NUM_TERMINALS = 16  # the machine has some 3,000 for all who are behind walls; IPython takes one for `!command`
_OF_WAITER = system.NEW_USER | system.NEW_PIDS  # the latter takes hold for its children only
_OF_FIRST = system.NEW_MOUNTS | system.NEW_IPC | system.NEW_NAME  # the waiter keeps its /proc and /tmp
_PLAIN = system.NO_SUID | system.NO_DEVICES
# In /proc, root's without capabilities too.
_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi", "driver", "mtrr")
_READY = b"ready"
_OUR_FAULT = 70  # EX_SOFTWARE


def enter(allowance: Allowance, keep: Sequence[int] = ()) -> None:
    """Return in a new process behind walls; the calling one waits for it and never returns.

    Call it in a freshly forked process with a single thread.
    What is open stays open inside: close before what must not be seen.
    TMPDIR is set, the working directory is the private /tmp.

    Args:
        allowance: what the walled-off process gets.
        keep: descriptors that the waiter keeps open; it closes all others, so that no pipe is held open by it.

    Raises:
        CourseKitError: the walls cannot be built (in the calling process, from which nothing was started then).
    """
    refused = Filter() if allowance.walls else None
    if allowance.walls:
        _enter_new_namespaces()
    folder = "" if allowance.walls else tempfile.mkdtemp(prefix="coursekit-")
    listen, tell = os.pipe()
    held = waiter.HeldSignals()
    first = os.fork()
    if first == 0:
        os.close(listen)
        _first_process(allowance, refused, tell, held)
        _settle_in(allowance, folder)
        held.release()
        return
    os.close(tell)
    said = os.read(listen, len(_READY))  # no more: the status may follow at once
    if said != _READY:
        said += os.read(listen, 1000)
        os.waitpid(first, 0)
        os.close(listen)
        _remove(folder)
        held.release()
        raise CourseKitError(f"the inner walls cannot be built: {said.decode(errors='replace') or 'no reason given'}.")
    _be_waiter(first, listen, held, folder, keep)


def _be_waiter(first: int, listen: int, held: HeldSignals, folder: str, keep: Sequence[int]) -> NoReturn:
    try:
        held.forget_handlers()
        system.set_dumpable(False)
        waiter.close_all_but({listen, *keep})
        status = waiter.wait_for(first)
        _remove(folder)
        waiter.end_as(waiter.told_status(listen, otherwise=status))
    finally:
        os._exit(_OUR_FAULT)  # whatever happens, the caller's code runs once, inside


def _enter_new_namespaces() -> None:
    uid, gid = os.getuid(), os.getgid()
    try:
        system.unshare(_OF_WAITER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            Path("/proc/self", name).write_text(text)
    except OSError as error:
        too_many = "this account has as many as it may (then run fewer submissions at a time), or "
        raise CourseKitError(
            f"the inner walls cannot be built ({error.strerror}): {too_many if error.errno == errno.ENOSPC else ''}"
            "user namespaces cannot be nested on this machine; grade on one where they can, or name "
            "--sandbox none, which is no protection."
        ) from None


def _first_process(allowance: Allowance, refused: Filter | None, tell: int, held: HeldSignals) -> None:
    """Be the first process; return in the walled-off one."""
    try:
        system.end_with_parent(signal.SIGKILL)
        if refused:
            _build_walls(allowance)
            system.drop_capabilities()
            refused.load()
        else:
            system.no_new_privileges()
        system.set_dumpable(False)
        # Fails if the waiter was gone before this process was bound to end with it.
        os.write(tell, _READY)
    except BaseException as error:  # noqa: BLE001  # the waiter tells it
        with suppress(OSError):
            os.write(tell, f"{error}".encode()[:1000])
        os._exit(_OUR_FAULT)
    pid = -1
    try:
        pid = os.fork()
    finally:
        if pid < 0:
            os._exit(_OUR_FAULT)  # the waiter hears no status, and ends as this process does
    if pid == 0:
        os.close(tell)
        return
    try:
        held.forget_handlers()
        waiter.close_all_but({tell})
        waiter.tell_status(tell, waiter.wait_for(pid))
    finally:
        os._exit(_OUR_FAULT)  # not heard: what the pipe says counts


def _build_walls(allowance: Allowance) -> None:
    """Cover what is the outer wall's own; all the rest is read-only already, and stays so."""
    system.unshare(_OF_FIRST)
    system.mount("none", "/", None, system.RECURSIVE | system.SLAVE)
    if allowance.shared is not None:
        system.mount(str(allowance.shared), SHARED, None, system.BIND)
    kept = {path: os.open(path, os.O_PATH) for path in allowance.in_sight}
    own = None if allowance.own is None else os.open(allowance.own, os.O_PATH)
    options = f"size={allowance.tmp_bytes},nr_inodes={allowance.num_files},mode=1777"
    for path in HIDDEN:
        system.mount("tmpfs", path, "tmpfs", _PLAIN, options)
    for path, number in kept.items():
        Path(path).mkdir(parents=True, exist_ok=True)
        system.mount(f"/proc/self/fd/{number}", path, None, system.BIND | system.RECURSIVE)
        system.mount("none", path, None, system.BIND | system.REMOUNT | system.READ_ONLY | _PLAIN)
        os.close(number)
    if own is not None:
        Path(OWN).mkdir()
        system.mount(f"/proc/self/fd/{own}", OWN, None, system.BIND)
        os.close(own)
    if Path(TERMINALS).exists():
        options = f"newinstance,ptmxmode=0666,max={MAX_NUM_TERMINALS}"
        system.mount("devpts", TERMINALS, "devpts", system.NO_SUID | system.NO_PROGRAMS, options)
    try:
        system.mount("proc", "/proc", "proc", _PLAIN | system.NO_PROGRAMS)
    except PermissionError:
        return
    if not os.access(CORE_PATTERN, os.W_OK):
        return
    for path in (f"/proc/{name}" for name in _SETTINGS):
        if Path(path).exists():
            system.mount(path, path, None, system.BIND | system.RECURSIVE)
            system.mount(
                "none", path, None, system.BIND | system.REMOUNT | system.READ_ONLY | _PLAIN | system.NO_PROGRAMS
            )


def _settle_in(allowance: Allowance, folder: str) -> None:
    """Prepare the walled-off process itself."""
    if not allowance.walls:
        system.end_with_parent(signal.SIGKILL)
    system.set_dumpable(True)  # itself and its descendants may read it
    os.environ["TMPDIR"] = folder or HIDDEN[0]
    tempfile.tempdir = None
    os.chdir(os.environ["TMPDIR"])
    os.environ.pop(SHARED_VARIABLE, None)
    if allowance.shared is not None:
        os.environ[SHARED_VARIABLE] = SHARED if allowance.walls else str(allowance.shared)
    # When memory gets short in the slot, this is what the kernel should end, and not the kit's own processes.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    set_rlimits(allowance)


def _remove(folder: str) -> None:
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
