"""Make kernel calls that some Python versions lack, and filter a process's calls, on every Linux architecture."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import resource
import sys
from pathlib import Path

from coursekit.errors import CourseKitError

NEW_MOUNTS = 0x00020000
NEW_NAME = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PIDS = 0x20000000

READ_ONLY = 1
NO_SUID = 2
NO_DEVICES = 4
NO_PROGRAMS = 8
REMOUNT = 32
BIND = 4096
RECURSIVE = 16384
SLAVE = 1 << 19

# Calls that no answer needs. They take resources that no limit counts, or that belong to the whole account: memory that
# is in no process and no folder; namespaces and watches, of which an account has a fixed number; and the cores of other
# slots.
LIBRARY = "libseccomp.so.2"  # version 2.5 (of 2020) or newer
REFUSED = (
    # With a new user namespace, a process can create all other kinds, and mount in-memory folders of any size.
    *("unshare", "setns"),
    # These create memory that remains even if no process maps it.
    *("memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open", "vmsplice"),
    # For each account, the kernel limits how many of these there are, or how much memory they take.
    *("inotify_init", "inotify_init1", "fanotify_init", "add_key", "request_key", "keyctl"),
    # The whole machine has a fixed number of these.
    "io_setup",
    # These kernel interfaces allocate their own memory.
    *("io_uring_setup", "bpf", "perf_event_open", "userfaultfd"),
    # A submission gets only the slot's cores.
    "sched_setaffinity",
)

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522

# <seccomp.h>
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_MASKED_EQ = 7
_UNKNOWN = -1  # stands for an unknown name; other negative numbers are calls that this architecture does not have

_libc = ctypes.CDLL(None, use_errno=True)
_ZEROS = [ctypes.c_ulong(0)] * 3  # arguments that most options of `prctl` do not use


def unshare(flags: int) -> None:
    """Move this process, which must have a single thread, into new namespaces of the kinds in `flags` (unshare(2))."""
    _succeed(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system of the given kind at `target` (mount(2))."""
    words = (source.encode(), target.encode(), kind.encode() if kind else None)
    _succeed(_libc.mount(*words, ctypes.c_ulong(flags), options.encode()), f"mount on {target}")


def end_with_parent(signal: int) -> None:
    """Make the kernel send this process the given signal when the thread that started this process ends."""
    _prctl(_PR_SET_PDEATHSIG, int(signal))


def set_dumpable(dumpable: bool) -> None:
    """Set whether processes of the same user may inspect this process's memory, environment and open files."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def drop_capabilities() -> None:
    """Give up all capabilities permanently, so that no program that this process starts can get one back."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), *_ZEROS):
            break  # the kernel has no more
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)  # 0: this process
    nothing = (ctypes.c_uint32 * 6)()
    _succeed(_libc.capset(header, nothing), "capset")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)  # set-uid programs then grant no rights


def data_bytes() -> int:
    """Return how many bytes of private writable memory this process has allocated, whether it has used them or not."""
    found = re.search(r"^VmData:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def lower_limit(limit: int, soft: int, hard: int | None = None) -> None:
    """Set a limit for this process and its descendants, but never above the present hard limit (setrlimit(2))."""
    _, ceiling = resource.getrlimit(limit)
    most = sys.maxsize if ceiling == resource.RLIM_INFINITY else ceiling
    resource.setrlimit(limit, (min(soft, most), min(soft if hard is None else hard, most)))


class _Comparison(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64))


class Filter:
    """A filter that refuses the calls in `REFUSED` (seccomp(2)); create it while the library can still be found."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            self._library = ctypes.CDLL(LIBRARY)
        if not hasattr(self, "_library") or self._number("clone3") == _UNKNOWN:
            raise CourseKitError(
                f"the sandbox needs {LIBRARY}, version 2.5 or newer, which is not installed here: install it "
                "(apt install libseccomp2, dnf install libseccomp).",
                "sandbox.no-libseccomp",
            )
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(_ALLOW))
        for name in REFUSED:
            self._refuse(name, errno.EPERM)
        # A filter cannot read the arguments of clone3, which are in memory. If clone3 is refused, the C library uses
        # `clone`.
        self._refuse("clone3", errno.ENOSYS)
        self._refuse("clone", errno.EPERM, _Comparison(0, _MASKED_EQ, NEW_USER, NEW_USER))

    def load(self) -> None:
        """Make the kernel refuse these calls to this process and its descendants from now on, permanently."""
        self._succeed(self._library.seccomp_load(self._context), "seccomp_load")

    def _refuse(self, name: str, number: int, *comparisons: _Comparison) -> None:
        """Add a rule that refuses a call, if this machine and this library have that call."""
        call, num_rules = self._number(name), len(comparisons)
        rules = (_Comparison * num_rules)(*comparisons)
        if call >= 0:
            status = self._library.seccomp_rule_add_array(self._context, _ERRNO | number, call, num_rules, rules)
            self._succeed(status, f"a rule for {name}")

    def _number(self, name: str) -> int:
        return int(self._library.seccomp_syscall_resolve_name(name.encode()))

    @staticmethod
    def _succeed(status: int, what: str) -> None:
        if status:
            raise OSError(-status, f"{what} failed")


def _prctl(option: int, value: int) -> None:
    _succeed(_libc.prctl(option, ctypes.c_ulong(value), *_ZEROS), f"prctl {option}")


def _succeed(status: int, what: str) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
