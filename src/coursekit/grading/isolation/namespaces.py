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
import re
import resource
import signal
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from coursekit.errors import CourseKitError
from coursekit.grading.isolation import system
from coursekit.grading.isolation.sandbox import CORE_PATTERN, HIDDEN, SHARED

OWN = "/tmp/own"  # noqa: S108  # its own, which stays; of one name for all, as names of files may travel between ranks
TERMINALS = "/dev/pts"
MAX_NUM_TERMINALS = 16  # the machine has some 3,000 for all isolated processes; IPython takes one for `!command`
# The first two ask for stack traces, the others to end.
PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT)
_OF_WAITER = system.NEW_USER | system.NEW_PIDS  # the latter takes hold for its children only
_OF_FIRST = system.NEW_MOUNTS | system.NEW_IPC | system.NEW_NAME  # the waiter keeps its /proc and /tmp
_PLAIN = system.NO_SUID | system.NO_DEVICES
_READY = b"ready"
_STATUS = struct.Struct("i")
_OUR_FAULT = 70  # EX_SOFTWARE
# Few, as the kernel counts what they hold for the account: watches of epoll by the square, files on their way through
# sockets, of which anybody with a limit of 1024 may send no more when there are as many, and buffers of pipes.
MAX_NUM_OPEN_FILES = 256
MAX_NUM_SIGNALS = 256  # that wait, of an isolated process with its descendants; timers count, too
COUNTS_BY_NAMESPACE = (5, 14)  # version of the kernel
NUM_TRUSTED = 2  # the waiter and the first process count too
CPU_GRACE_S = 5  # between SIGXCPU, which can be caught, and SIGKILL


@dataclass(frozen=True)
class Allowance:
    """What one isolated process and its descendants get."""

    tmp_bytes: int  # size of the private /tmp, and that of /dev/shm
    num_files: int  # how many files and folders fit into each of them
    max_num_processes: int  # processes and threads at once (not for a root outside)
    max_file_bytes: int
    max_memory_bytes: int  # data that a single process may add to what it has when it enters
    max_cpu_s: int  # seconds on a core, of a single process
    shared: Path | None = None  # folder of the outer /tmp that appears inside as `sandbox.SHARED`, writable
    own: Path | None = None  # the same as `OWN`, for this process alone
    in_sight: tuple[str, ...] = ()  # folders of the outer /tmp that stay, read-only: a kit that is installed there


def enter(allowance: Allowance) -> None:
    """Return in a new, isolated process; the calling one waits for it and never returns.

    Call it in a freshly forked process with a single thread.
    What is open stays open inside: close before what must not be seen. The waiter closes all that it has.
    TMPDIR and the working directory are the private /tmp.
    Where the namespaces cannot be created, nothing is started, and the calling process gets a `CourseKitError`.
    """
    refused = system.Filter()
    _enter_new_namespaces()
    listen, tell = os.pipe()
    release_signals = _hold_signals()
    first = os.fork()
    if first == 0:
        os.close(listen)
        _be_first(allowance, refused, tell)
        _settle_in(allowance)
        release_signals()
        return
    os.close(tell)
    said = os.read(listen, len(_READY))  # no more: the status may follow at once
    if said != _READY:
        said += os.read(listen, 1000)
        os.waitpid(first, 0)
        os.close(listen)
        release_signals()
        reason = said.decode(errors="replace") or "no reason given"
        raise CourseKitError(f"the sandbox cannot isolate a process: {reason}.", "sandbox.not-isolated")
    _be_waiter(first, listen)


def _enter_new_namespaces() -> None:
    uid, gid = os.getuid(), os.getgid()
    try:
        system.unshare(_OF_WAITER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            Path("/proc/self", name).write_text(text)
    except OSError as error:
        too_many = "this account has reached its limit (then grade fewer submissions at a time with --jobs), or "
        reason = f"{error.strerror}): {too_many if error.errno == errno.ENOSPC else ''}"
        raise CourseKitError(
            f"the sandbox cannot create namespaces for a process ({reason}"
            "this machine does not allow nested user namespaces (then grade on a machine that does).",
            "sandbox.no-namespaces",
        ) from None


def _be_first(allowance: Allowance, refused: system.Filter, tell: int) -> None:
    """Isolate this process, the first, and tell the waiter so, or why that failed; return in a child of it.

    The first stays until the child has ended, and tells its status.
    """
    try:
        system.end_with_parent(signal.SIGKILL)
        _hide_and_mount(allowance)
        system.drop_capabilities()
        refused.load()
        system.set_dumpable(False)
        # Fails if the waiter was gone before this process was bound to end with it.
        os.write(tell, _READY)
    except BaseException as error:  # noqa: BLE001  # the waiter tells it
        with suppress(OSError):
            os.write(tell, f"{error}".encode()[:1000])
        os._exit(_OUR_FAULT)
    pid = -1
    try:
        if pid := os.fork():
            status = _wait_for(pid, keep=tell)
            with suppress(BrokenPipeError):
                os.write(tell, _STATUS.pack(status))
    finally:
        if pid:
            os._exit(_OUR_FAULT)  # not heard where the pipe has said a status
    os.close(tell)


def _be_waiter(first: int, listen: int) -> NoReturn:
    """Wait until the first has ended, and end the way that the isolated process did."""
    try:
        status = _wait_for(first, keep=listen)
        told = os.read(listen, _STATUS.size)
        code = os.waitstatus_to_exitcode(_STATUS.unpack(told)[0] if len(told) == _STATUS.size else status)
        if code < 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
            os.kill(os.getpid(), -code)
        os._exit(code if code >= 0 else 128 - code)
    finally:
        os._exit(_OUR_FAULT)  # whatever happens, the caller's code runs once, inside


def _hide_and_mount(allowance: Allowance) -> None:
    """Hide what belongs to the sandbox alone; everything else is read-only already, and stays so."""
    system.unshare(_OF_FIRST)
    system.mount("none", "/", None, system.RECURSIVE | system.SLAVE)
    writable = {SHARED: allowance.shared, OWN: allowance.own}
    sources = {**{path: path for path in allowance.in_sight}, **writable}
    kept = {path: os.open(source, os.O_PATH) for path, source in sources.items() if source is not None}
    options = f"size={allowance.tmp_bytes},nr_inodes={allowance.num_files},mode=1777"
    for path in HIDDEN:
        system.mount("tmpfs", path, "tmpfs", _PLAIN, options)
    for path, number in kept.items():
        Path(path).mkdir(parents=True, exist_ok=True)
        system.mount(f"/proc/self/fd/{number}", path, None, system.BIND | system.RECURSIVE)
        if path not in writable:
            system.mount("none", path, None, system.BIND | system.REMOUNT | system.READ_ONLY | _PLAIN)
        os.close(number)
    if Path(TERMINALS).exists():
        options = f"newinstance,ptmxmode=0666,max={MAX_NUM_TERMINALS}"
        system.mount("devpts", TERMINALS, "devpts", system.NO_SUID | system.NO_PROGRAMS, options)
    with suppress(PermissionError):
        system.mount("proc", "/proc", "proc", _PLAIN | system.NO_PROGRAMS)
    if os.access(CORE_PATTERN, os.W_OK):  # the sandbox guards them in its own /proc, which then cannot be replaced
        raise CourseKitError("the kernel's settings could be changed", "sandbox.open-settings")


def _settle_in(allowance: Allowance) -> None:
    """Prepare the isolated process itself, and limit it and all that it starts; none can raise a limit again.

    Memory is limited by RLIMIT_DATA, relative to what the process has: TensorFlow reserves far more addresses
    (RLIMIT_AS) than it uses. Every process has that limit for itself, so the sum is the watcher's business.
    The kernel counts processes and waiting signals per user, and since 5.14 those of a user namespace for themselves:
    only there are these limits of its own, which honest work of another slot cannot use up.
    """
    system.set_dumpable(True)  # itself and its descendants may read it
    os.environ["TMPDIR"] = HIDDEN[0]
    tempfile.tempdir = None
    os.chdir(HIDDEN[0])
    # When memory gets short in the slot, this is what the kernel should end, and not the kit's own processes.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    limit = system.lower_limit
    for unused in (resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_RTPRIO):
        limit(unused, 0)
    limit(resource.RLIMIT_NOFILE, MAX_NUM_OPEN_FILES)
    limit(resource.RLIMIT_FSIZE, allowance.max_file_bytes)
    limit(resource.RLIMIT_CPU, allowance.max_cpu_s, allowance.max_cpu_s + CPU_GRACE_S)
    limit(resource.RLIMIT_DATA, system.data_bytes() + allowance.max_memory_bytes)
    if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= COUNTS_BY_NAMESPACE:
        limit(resource.RLIMIT_NPROC, allowance.max_num_processes + NUM_TRUSTED)
        limit(resource.RLIMIT_SIGPENDING, MAX_NUM_SIGNALS)


def _hold_signals() -> Callable[[], None]:
    """Keep signals back from this process and its coming children, until they call what is returned."""
    # A child that ends before its parent waits must be remembered, whatever the caller does with its children.
    on_child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def release() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL if on_child is None else on_child)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    return release


def _wait_for(pid: int, keep: int) -> int:
    """Return the wait status of a child, after reaping it and every orphan; pass signals on meanwhile.

    Nobody can look into this process then, and of its open files `keep` remains: no pipe is held open by it.
    """
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError):  # those that the C library keeps for itself
            signal.signal(number, signal.SIG_DFL)  # no handler of the caller's runs in this process
    system.set_dumpable(False)
    for file in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  # numbers, no paths
        if file != keep:
            with suppress(OSError):  # the listing's own is closed already
                os.close(file)
    while True:
        # Look before listening: new handlers have dropped what the kernel told of children that ended before.
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == pid:
                    return ended[1]
        heard = signal.sigwait({signal.SIGCHLD, *PASSED_ON})
        if heard != signal.SIGCHLD:
            with suppress(ProcessLookupError):
                os.kill(pid, heard)
