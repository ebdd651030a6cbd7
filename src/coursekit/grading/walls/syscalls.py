"""System calls that no answer needs, which the kernel refuses behind the inner walls (seccomp(2), by libseccomp).

What they would take is counted by nobody, or is the whole account's: memory that lies in no process and in no folder,
namespaces and watches, of which an account has so many and no more, and the cores of other slots.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno

from coursekit.errors import CourseKitError
from coursekit.grading.walls.system import NEW_USER

LIBRARY = "libseccomp.so.2"  # 2.5 or newer, of 2020
REFUSED = (
    # A new user namespace brings all others, and the right to mount folders in memory of any size.
    *("unshare", "setns"),
    # Memory that stays when no process maps it.
    *("memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open", "vmsplice"),
    # Of these the kernel counts how many an account has, or how much memory they take.
    *("inotify_init", "inotify_init1", "fanotify_init", "add_key", "request_key", "keyctl"),
    # Of these the whole machine has so many and no more.
    "io_setup",
    # Kernel interfaces with memory of their own.
    *("io_uring_setup", "bpf", "perf_event_open", "userfaultfd"),
    # The slot's cores are all that it gets.
    "sched_setaffinity",
)

# <seccomp.h>
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_MASKED_EQ = 7
_UNKNOWN = -1  # a name; other negative numbers are calls that this architecture does not have


class _Comparison(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64))


class Filter:
    """The refusal, made ready before a process is walled off, in which nothing more can be looked for.

    Raises:
        CourseKitError: the library is not there, or too old.
    """

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            self._library = ctypes.CDLL(LIBRARY)
        if not hasattr(self, "_library") or self._number("clone3") == _UNKNOWN:
            raise CourseKitError(
                f"the inner walls cannot be built: {LIBRARY} of version 2.5 or newer is missing "
                "(apt install libseccomp2, dnf install libseccomp)."
            )
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(_ALLOW))
        for name in REFUSED:
            self._refuse(name, errno.EPERM)
        # Its arguments lie in memory, where no filter can look: the C library then takes `clone`.
        self._refuse("clone3", errno.ENOSYS)
        self._refuse("clone", errno.EPERM, _Comparison(0, _MASKED_EQ, NEW_USER, NEW_USER))

    def load(self) -> None:
        """Have the kernel refuse them to this process and to all that it starts, for ever.

        Raises:
            OSError: it does not.
        """
        _succeed(self._library.seccomp_load(self._context), "seccomp_load")

    def _refuse(self, name: str, number: int, *comparisons: _Comparison) -> None:
        """Add a rule; a call that this machine or this library does not have needs none."""
        call = self._number(name)
        rules = (_Comparison * len(comparisons))(*comparisons)
        if call >= 0:
            _succeed(
                self._library.seccomp_rule_add_array(self._context, _ERRNO | number, call, len(comparisons), rules),
                f"a rule for {name}",
            )

    def _number(self, name: str) -> int:
        return int(self._library.seccomp_syscall_resolve_name(name.encode()))


def _succeed(status: int, what: str) -> None:
    if status:
        raise OSError(-status, f"{what} failed")
