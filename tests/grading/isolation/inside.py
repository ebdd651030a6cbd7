"""What test functions need in the sandbox: isolated processes, and what came of them."""

import errno
import json
import os
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.grading.isolation.namespaces import Allowance, enter

PLENTY = {
    "tmp_bytes": 1 << 20,
    "num_files": 100,
    "max_num_processes": 30,
    "max_file_bytes": 1 << 24,
    "max_memory_bytes": 1 << 28,
    "max_cpu_s": 20,
}


def start(function, **changes):
    """Start a function in an isolated process; return its waiter's process id and a file with the lines it says."""
    listen, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            os.close(listen)
            enter(Allowance(**{**PLENTY, **changes}))
            status = function(tell) or 0
        finally:
            os._exit(status)
    os.close(tell)
    return pid, os.fdopen(listen)


def say(tell, value):
    """Send plain data to where `start` was called."""
    os.write(tell, json.dumps(value).encode() + b"\n")


def isolated(function, **changes):
    """Return what a function returns that runs in an isolated process."""
    pid, said = start(lambda tell: say(tell, function()), **changes)
    line = said.readline()
    status_of(pid, said)
    return json.loads(line)


def errno_of(function, *args):
    """Return the name of the error that a call ends with, '' if it succeeds."""
    try:
        function(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""


def fill(folder):
    """Write a file in a folder until an error comes; return its size and the error's words."""
    with open(f"{folder}/x", "wb", buffering=0) as file:  # noqa: PTH123  # as short as students' code
        size = 0
        try:
            while size < 1 << 22:
                size += file.write(bytes(1 << 12))
        except OSError as error:
            return [size, error.strerror]


def status_of(pid, said):
    """Wait for the end of what `start` has returned; return its wait status."""
    said.close()
    return os.waitpid(pid, 0)[1]


def status_lines(*names):
    """Return lines of /proc/self/status."""
    lines = (line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines())
    return {name: value for name, value in lines if name in names}


def refusal(**changes):
    """Return with which words `enter` refuses, 'it ran' if it does not."""
    listen, tell = os.pipe()
    if os.fork() == 0:
        try:
            enter(Allowance(**{**PLENTY, **changes}))
            os.write(tell, b"it ran")
        except CourseKitError as error:
            os.write(tell, str(error).encode())
        os._exit(0)
    os.close(tell)
    return os.read(listen, 1000).decode()
