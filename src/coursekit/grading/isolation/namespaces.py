"""Give a submission's process separate namespaces within the sandbox, so that it cannot see or reach any other process.

    caller of `enter`   becomes the waiter: it stays outside, passes signals on, and ends as the isolated process ends
      └ first           process 1 of the new PID namespace, which runs no student code: it mounts folders and ends
        │               with the waiter; when it ends, the kernel kills everything inside, including daemons
        └ isolated      the process in which `enter` returns

The first process reports to the waiter through a pipe. It writes "ready" or the reason why isolation failed and, at the
end, how the isolated process ended. The network is not separated, because the ranks of a run communicate over the
sandbox's loopback interface.

A new /proc is mounted if the kernel allows it. Under root, the kernel does not, because bubblewrap covers parts of
/proc; then the sandbox's /proc stays. In this case, the process numbers in /proc are those of the sandbox, so psutil
does not work inside, and the command lines of all processes in the sandbox can be read. This is safe, because the
kernel does not let any process inspect or signal processes of an outer namespace.
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

OWN = "/tmp/own"  # noqa: S108  # one path for every process's own folder, which outlives it: ranks may exchange names
TERMINALS = "/dev/pts"
MAX_NUM_TERMINALS = 16  # the whole machine has about 3,000; IPython uses one for `!command`
# The first two request stack traces; the others ask the process to end.
PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT)
_OF_WAITER = system.NEW_USER | system.NEW_PIDS  # the latter applies only to the waiter's children
_OF_FIRST = system.NEW_MOUNTS | system.NEW_IPC | system.NEW_NAME  # the waiter keeps the outer /proc and /tmp
_PLAIN = system.NO_SUID | system.NO_DEVICES
_READY = b"ready"
_STATUS = struct.Struct("i")
_OUR_FAULT = 70  # EX_SOFTWARE
# Few, because open files hold resources that the kernel counts for the whole account. These are epoll watches, whose
# number grows with the square of the number of files; files in transit through sockets (once there are 1024, no process
# with that limit can send more); and the buffers of pipes.
MAX_NUM_OPEN_FILES = 256
MAX_NUM_SIGNALS = 256  # pending signals of an isolated process and its descendants; timers also count
COUNTS_BY_NAMESPACE = (5, 14)  # the first kernel version that does, see `_settle_in`
NUM_TRUSTED = 2  # the waiter and the first process, which are also counted
CPU_GRACE_S = 5  # the time between SIGXCPU, which can be caught, and SIGKILL


@dataclass(frozen=True)
class Allowance:
    """Limits on what one isolated process and its descendants may use, and the folders that they see."""

    tmp_bytes: int  # size of the private /tmp, and of /dev/shm
    num_files: int  # how many files and folders fit into each of these two
    max_num_processes: int  # processes and threads at once (does not hold if the account outside is root)
    max_file_bytes: int
    max_memory_bytes: int  # how much data a single process may add to what it has on entry
    max_cpu_s: int  # seconds of CPU time of a single process
    shared: Path | None = None  # folder of the outer /tmp that appears inside as `sandbox.SHARED`, writable
    own: Path | None = None  # folder that appears inside as `OWN`, only for this process
    in_sight: tuple[str, ...] = ()  # folders of the outer /tmp that stay visible, but read-only, such as a kit


def enter(allowance: Allowance) -> None:
    """Start a new, isolated process and return in it; the calling process waits for it and never returns.

    Call this function in a freshly forked process with a single thread. Open files stay open in the new process, so
    first close all files that it must not see; the waiter closes all its own files. In the new process, TMPDIR and the
    working directory are the private /tmp. If the namespaces cannot be created, no process is started, and a
    `CourseKitError` is raised in the calling process.
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
    said = os.read(listen, len(_READY))  # no more bytes than that, because the status may follow at once
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
    """Isolate the calling process, which is the first one, report to the waiter, and return only in a new child.

    The first process reports "ready", or why it could not be isolated. Then it waits until the child has ended, and
    reports the child's status.
    """
    try:
        system.end_with_parent(signal.SIGKILL)
        _hide_and_mount(allowance)
        system.drop_capabilities()
        refused.load()
        system.set_dumpable(False)
        # This fails if the waiter ended before this process was set to end with it.
        os.write(tell, _READY)
    except BaseException as error:  # noqa: BLE001  # the waiter reports it
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
            os._exit(_OUR_FAULT)  # ignored if the pipe has reported a status
    os.close(tell)


def _be_waiter(first: int, listen: int) -> NoReturn:
    """Wait until the first process has ended, then end in the same way as the isolated process did."""
    try:
        status = _wait_for(first, keep=listen)
        told = os.read(listen, _STATUS.size)
        code = os.waitstatus_to_exitcode(_STATUS.unpack(told)[0] if len(told) == _STATUS.size else status)
        if code < 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
            os.kill(os.getpid(), -code)
        os._exit(code if code >= 0 else 128 - code)
    finally:
        os._exit(_OUR_FAULT)  # whatever happens, the caller's code must go on only in the isolated process


def _hide_and_mount(allowance: Allowance) -> None:
    """Hide the sandbox's writable folders under empty ones; everything else is already read-only and stays so."""
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
    if os.access(CORE_PATTERN, os.W_OK):  # the sandbox should have protected the settings in its own /proc
        raise CourseKitError("student code could change the kernel's settings", "sandbox.open-settings")


def _settle_in(allowance: Allowance) -> None:
    """Prepare this isolated process, and set limits for it and its descendants, which cannot raise them again.

    RLIMIT_DATA limits how much memory the process may add to what it has already. RLIMIT_AS would not do, because
    TensorFlow reserves far more addresses than it uses. The limit applies to each process separately; the watcher
    limits the sum. The kernel counts processes and pending signals per user and, since version 5.14, separately for
    each user namespace. On older kernels, these two limits are not set, because honest work in another slot would use
    them up.
    """
    system.set_dumpable(True)  # the process and its descendants may inspect it
    os.environ["TMPDIR"] = HIDDEN[0]
    tempfile.tempdir = None
    os.chdir(HIDDEN[0])
    # If the slot runs short of memory, the kernel should kill this process, and not one of the kit's own processes.
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
    """Block all signals in this process and its future children; the returned function unblocks them in its caller."""
    # The kernel must keep the status of a child that ends before its parent waits for it, even if the caller ignores
    # SIGCHLD.
    on_child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def release() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL if on_child is None else on_child)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    return release


def _wait_for(pid: int, keep: int) -> int:
    """Wait for a child, reap every orphan, pass signals on, and return the child's wait status.

    Meanwhile, no other process can inspect this process. It closes all its files except `keep`, so that it does not
    hold any pipe open.
    """
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError):  # for signals that the C library reserves
            signal.signal(number, signal.SIG_DFL)  # no handler of the caller may run in this process
    system.set_dumpable(False)
    for file in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  # numbers, not paths
        if file != keep:
            with suppress(OSError):  # the file of the listing itself is already closed
                os.close(file)
    while True:
        # Look for ended children before waiting, because setting handlers has dropped the signals of children that
        # ended earlier.
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == pid:
                    return ended[1]
        heard = signal.sigwait({signal.SIGCHLD, *PASSED_ON})
        if heard != signal.SIGCHLD:
            with suppress(ProcessLookupError):
                os.kill(pid, heard)
