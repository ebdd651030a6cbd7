"""A process of a submission gets namespaces of its own, nested in the sandbox's, so that it sees and reaches no other.

    caller of `enter`   becomes the waiter: it stays outside, passes signals on, and ends as the isolated process ends
      └ first           process 1 of the new PID namespace, which runs nothing of the student's: it mounts folders and
        │               ends with the waiter, and with it the kernel ends everything inside, whatever it has become
        └ isolated      the one in which `enter` returns

The first tells the waiter over a pipe: "ready", or why the isolation failed; at the end, how the third has ended.
The network is not separated: ranks of a run talk over the loopback of the sandbox.

/proc is a fresh one where the kernel allows it. Where it does not (under bubblewrap as root, which covers parts of
/proc), the sandbox's stays: process numbers in it are the sandbox's, so psutil does not work inside, and command
lines of the processes in the sandbox can be read. It is safe: the kernel refuses to look into or signal
processes of an outer namespace.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import struct
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from coursekit.errors import CourseKitError
from coursekit.grading.isolation import system
from coursekit.grading.isolation.allowance import Allowance, set_rlimits
from coursekit.grading.isolation.sandbox import CORE_PATTERN, HIDDEN, SHARED

SHARED_VARIABLE = "COURSEKIT_SHARED"  # where the isolated process finds the folder that it shares
OWN = "/tmp/own"  # noqa: S108  # its own, which stays; of one name for all, as names of files may travel between ranks
TERMINALS = "/dev/pts"
MAX_NUM_TERMINALS = 16  # the machine has some 3,000 for all isolated processes; IPython takes one for `!command`
PASSED_ON = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)  # SIGUSR1 asks for stack traces, the others to end
_OF_WAITER = system.NEW_USER | system.NEW_PIDS  # the latter takes hold for its children only
_OF_FIRST = system.NEW_MOUNTS | system.NEW_IPC | system.NEW_NAME  # the waiter keeps its /proc and /tmp
_PLAIN = system.NO_SUID | system.NO_DEVICES
# In /proc, root's without capabilities too.
_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi", "driver", "mtrr")
_READY = b"ready"
_STATUS = struct.Struct("i")
FAILED = "the sandbox cannot create namespaces for a process"
_OUR_FAULT = 70  # EX_SOFTWARE


def enter(allowance: Allowance, keep: Sequence[int] = ()) -> None:
    """Return in a new, isolated process; the calling one waits for it and never returns.

    Call it in a freshly forked process with a single thread.
    What is open stays open inside: close before what must not be seen.
    TMPDIR is set, the working directory is the private /tmp.

    Args:
        allowance: what the isolated process gets.
        keep: descriptors that the waiter keeps open; it closes all others, so that no pipe is held open by it.

    Raises:
        CourseKitError: the namespaces cannot be created (in the calling process, from which nothing was started then).
    """
    refused = system.Filter() if allowance.isolated else None
    if allowance.isolated:
        _enter_new_namespaces()
    folder = "" if allowance.isolated else tempfile.mkdtemp(prefix="coursekit-")
    listen, tell = os.pipe()
    held = _HeldSignals()
    first = os.fork()
    if first == 0:
        os.close(listen)
        _build_or_tell_why(allowance, refused, tell)
        _fork_isolated(tell, held)
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
        raise CourseKitError(f"{FAILED}: {said.decode(errors='replace') or 'no reason given'}.")
    _be_waiter(first, listen, held, folder, keep)


def _enter_new_namespaces() -> None:
    uid, gid = os.getuid(), os.getgid()
    try:
        system.unshare(_OF_WAITER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            Path("/proc/self", name).write_text(text)
    except OSError as error:
        too_many = "this account has reached its limit (then grade fewer submissions at a time with --jobs), or "
        raise CourseKitError(
            f"{FAILED} ({error.strerror}): {too_many if error.errno == errno.ENOSPC else ''}"
            "this machine does not allow nested user namespaces (then grade on a machine that does). "
            "With --sandbox none grading works here too, but nothing protects the machine."
        ) from None


def _build_or_tell_why(allowance: Allowance, refused: system.Filter | None, tell: int) -> None:
    """Isolate this process, the first, and tell the waiter so; or tell it why that failed, and end."""
    try:
        system.end_with_parent(signal.SIGKILL)
        if refused:
            _hide_and_mount(allowance)
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


def _fork_isolated(tell: int, held: _HeldSignals) -> None:
    """Return in a child of this process, the first, which stays until the child has ended, and tells its status."""
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
        status = _wait_for(pid, held, keep=[tell])
        with suppress(BrokenPipeError):
            os.write(tell, _STATUS.pack(status))
    finally:
        os._exit(_OUR_FAULT)  # not heard: what the pipe says counts


def _be_waiter(first: int, listen: int, held: _HeldSignals, folder: str, keep: Sequence[int]) -> NoReturn:
    try:
        status = _wait_for(first, held, keep=[listen, *keep])
        _remove(folder)
        told = os.read(listen, _STATUS.size)
        _end_as(int(_STATUS.unpack(told)[0]) if len(told) == _STATUS.size else status)
    finally:
        os._exit(_OUR_FAULT)  # whatever happens, the caller's code runs once, inside


def _hide_and_mount(allowance: Allowance) -> None:
    """Hide what belongs to the sandbox alone; everything else is read-only already, and stays so."""
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
        _show_read_only(f"/proc/self/fd/{number}", path, _PLAIN)
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
    if os.access(CORE_PATTERN, os.W_OK):
        for path in (f"/proc/{name}" for name in _SETTINGS):
            if Path(path).exists():
                _show_read_only(path, path, _PLAIN | system.NO_PROGRAMS)


def _show_read_only(source: str, target: str, flags: int) -> None:
    system.mount(source, target, None, system.BIND | system.RECURSIVE)
    system.mount("none", target, None, system.BIND | system.REMOUNT | system.READ_ONLY | flags)


def _settle_in(allowance: Allowance, folder: str) -> None:
    """Prepare the isolated process itself."""
    if not allowance.isolated:
        system.end_with_parent(signal.SIGKILL)
    system.set_dumpable(True)  # itself and its descendants may read it
    os.environ["TMPDIR"] = folder or HIDDEN[0]
    tempfile.tempdir = None
    os.chdir(os.environ["TMPDIR"])
    os.environ.pop(SHARED_VARIABLE, None)
    if allowance.shared is not None:
        os.environ[SHARED_VARIABLE] = SHARED if allowance.isolated else str(allowance.shared)
    # When memory gets short in the slot, this is what the kernel should end, and not the kit's own processes.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    set_rlimits(allowance)


class _HeldSignals:
    """Signals that are kept back from a process and its coming children, until each says what it does with them."""

    def __init__(self) -> None:
        # A child that ends before its parent waits must be remembered, whatever the caller does with its children.
        self._on_child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def release(self) -> None:
        """Let them come, and be handled as they were."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL if self._on_child is None else self._on_child)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def forget_handlers(self) -> None:
        """Keep them back for ever, for `_wait_for`: no handler of the caller's runs in this process."""
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with suppress(OSError):  # those that the C library keeps for itself
                signal.signal(number, signal.SIG_DFL)


def _wait_for(pid: int, held: _HeldSignals, keep: Iterable[int]) -> int:
    """Return the wait status of a child, after reaping it and every orphan; pass signals on meanwhile.

    Nobody can look into this process then, and of its open files those in `keep` remain.
    """
    held.forget_handlers()
    system.set_dumpable(False)
    kept = set(keep)
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  # numbers, no paths
        if number not in kept:
            with suppress(OSError):  # the listing's own is closed already
                os.close(number)
    while True:
        # Look before listening: `forget_handlers` has dropped what the kernel told of children that ended before.
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == pid:
                    return ended[1]
        heard = signal.sigwait({signal.SIGCHLD, *PASSED_ON})
        if heard != signal.SIGCHLD:
            with suppress(ProcessLookupError):
                os.kill(pid, heard)


def _end_as(status: int) -> NoReturn:
    """End this process, which handles no signal, the way a wait status tells."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status))


def _remove(folder: str) -> None:
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
