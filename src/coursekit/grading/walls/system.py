"""The system calls behind `namespaces`, which Python 3.9 to 3.11 do not offer (Linux, every architecture)."""

from __future__ import annotations

import ctypes
import os

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

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for new ones (unshare(2)); needs a single-threaded process."""
    _succeed(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system (mount(2))."""
    words = (source.encode(), target.encode(), kind.encode() if kind else None)
    _succeed(_libc.mount(*words, ctypes.c_ulong(flags), options.encode()), f"mount on {target}")


def end_with_parent(signal: int) -> None:
    """Have this process get a signal when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, int(signal))


def set_dumpable(dumpable: bool) -> None:
    """Say whether processes of the same user may look into this one: its memory, environment and open files."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))


def drop_capabilities() -> None:
    """Give up every capability, and for ever: no program that is started can bring one back."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), *_zeros(3)):
            break  # the kernel has no more
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)  # 0: this process
    nothing = (ctypes.c_uint32 * 6)()
    _succeed(_libc.capset(header, nothing), "capset")
    no_new_privileges()


def no_new_privileges() -> None:
    """Take away what set-uid programs give."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    _succeed(_libc.prctl(option, ctypes.c_ulong(value), *_zeros(3)), f"prctl {option}")


def _zeros(count: int) -> list[ctypes.c_ulong]:
    return [ctypes.c_ulong(0)] * count


def _succeed(status: int, what: str) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
