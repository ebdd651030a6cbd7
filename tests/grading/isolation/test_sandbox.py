"""The sandbox: what can be seen, changed and reached in it, by any account that runs it."""
# ruff: noqa: PTH114, PTH118, PTH123, PTH208, S108, SIM115  # what runs inside is as short as students' code

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.grading.isolation import sandbox as kit_sandbox
from coursekit.grading.isolation.sandbox import hidden_folders, require_sandbox

from .inside import errno_of, fill, isolated, status_lines

# Settings of the PID and IPC namespaces, limits of a user namespace, and what everybody may ask to be told of.
OF_NAMESPACES = (
    *("/proc/sys/user/", "/proc/sys/fs/mqueue/", "/proc/sys/kernel/msg", "/proc/sys/kernel/auto_msgmni"),
    *("/proc/sys/kernel/sem", "/proc/sys/kernel/shm", "/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/pid_max"),
    "/proc/pressure/",
)
needs_bwrap = pytest.mark.needs("bwrap")


def test_a_kit_in_tmp_is_told():
    """Every process of a submission has a /tmp of its own, in which such a kit must be shown."""
    folders = [Path("/tmp/kit/.venv"), Path("/usr/lib"), Path("/tmp"), Path("/dev/shm/kit")]
    assert hidden_folders(folders) == [folders[0], folders[3]]


def test_require_sandbox_fails_closed(monkeypatch):
    """What is not there is never replaced by something weaker: one sentence says how to get it."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CourseKitError) as caught:
        require_sandbox()
    assert caught.value.code == "sandbox.no-bubblewrap"


def run_python(code, *args, path, before=()):
    """Run code with the kit that is at a path, below other programs if there are any; return what came of it."""
    environ = {**os.environ, "PYTHONPATH": str(path)}
    words = [*before, sys.executable, "-c", code, *args]
    return subprocess.run(words, env=environ, capture_output=True, text=True, check=False)


@needs_bwrap
def test_switched_off_user_namespaces_are_named(kit):
    """Where the kernel forbids user namespaces, the sentence points to Slurm."""
    code = "from coursekit.grading.isolation.sandbox import require_sandbox; require_sandbox()"
    forbidden = ["bwrap", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--dev-bind", "/", "/"]
    done = run_python(code, path=kit, before=forbidden)
    assert done.returncode == 1
    assert done.stderr.endswith("[sandbox.not-started]\n")


def visible():
    """Return every path that is on no mounted file system, and what is mounted."""
    mounts = {line.split()[1] for line in open("/proc/mounts")}
    found = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in mounts]
        found += [os.path.join(folder, name) for name in files]
        found += [path for name in folders if os.path.islink(path := os.path.join(folder, name))]
    return sorted(found), sorted(mounts)


def test_nothing_is_visible_but_the_system_and_the_environment(sandbox):
    """All to be seen: links of the system's, the Python environment, what the caller names; no home, no course."""
    found, mounts = sandbox.run(visible)
    system = [path for path in ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin") if Path(path).is_symlink()]
    etc = [f"/etc/{name}" for name in ("group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd")]
    assert set(found) - set(etc) == set(system)
    python = kit_sandbox.python_folders() if sandbox.account == "own" else []
    shown = {"/", "/usr", "/proc", "/dev", "/tmp", "/dev/shm", "/kit", "/etc/alternatives", *etc, *map(str, python)}
    assert {path for path in mounts if not path.startswith(("/dev/", "/proc/"))} | {"/dev/shm"} == shown


def looks_around():
    """Return what the process tells of itself."""
    given = open("/proc/self/environ").read().split("\0")  # os.environ has what the kit's own import has set, too
    return {
        "environ": dict(line.split("=", 1) for line in given if line),
        "ids": [os.getuid(), os.getgid(), os.uname().nodename],
        "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
        "capabilities": status_lines("CapEff", "CapPrm", "CapBnd", "NoNewPrivs"),
        "folders": [os.listdir(path) for path in ("/tmp", "/dev/shm", "/shared")],
    }


def test_nothing_of_the_parent_is_inherited(sandbox):
    """The environment is what the caller names; the ids are made up; no capability and no process is to be had."""
    assert sandbox.run(looks_around) == {
        "environ": {**sandbox.environ, "PWD": "/tmp"},
        "ids": [1000, 1000, "sandbox"],
        "processes": 2,  # bubblewrap's own, and this one
        "capabilities": {"CapEff": "0" * 16, "CapPrm": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"},
        "folders": [sandbox.kept_in_tmp, [], []],
    }


def writes():
    """Try to write everywhere."""
    places = ("/", "/usr", "/usr/lib", "/etc", "/dev", "/kit", "/shared", sys.prefix)
    return {path: errno_of(open, f"{path}/x", "w") for path in places} | {
        "/etc/passwd": errno_of(open, "/etc/passwd", "a"),
        "/kit/inside.py": errno_of(open, "/kit/inside.py", "a"),
    }


def test_everything_but_tmp_is_read_only(sandbox):
    """Neither what is there can be changed nor can something be added."""
    assert set(sandbox.run(writes).values()) <= {"EROFS", "EACCES"}


def finds_settings():
    """Return the settings of the kernel that can be written, in the sandbox and in an isolated process."""

    def writable():
        found = []
        for top in (name for name in os.listdir("/proc") if not name.isdigit() and name not in ("self", "thread-self")):
            for folder, _, files in os.walk(f"/proc/{top}"):
                found += [os.path.join(folder, name) for name in files]
            found += [f"/proc/{top}"]
        return sorted(path for path in found if errno_of(os.open, path, os.O_WRONLY | os.O_NONBLOCK) == "")

    return [writable(), isolated(writable)]


def test_the_kernels_settings_cannot_be_written(sandbox):
    """Also not as root: core_pattern alone would be a way out. What is left belongs to the namespaces themselves."""
    found = [path for paths in sandbox.run(finds_settings) for path in paths]
    assert [path for path in found if not path.startswith(OF_NAMESPACES)] == []


def test_tmp_is_as_large_as_said(sandbox):
    """A mebibyte fits in, and no more."""

    def fills():
        return [fill("/tmp"), fill("/dev/shm")]

    assert sandbox.run(fills) == [[1 << 20, "No space left on device"]] * 2


def connects():
    """Return the network's devices, whether the own loopback works, and what is reached outside."""
    port = int(sys.stdin.readline())
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname(), timeout=300)
        server.accept()[0].sendall(b"x")
        received = client.recv(1).decode()
    return [
        socket.if_nameindex(),
        received,
        errno_of(socket.create_connection, ("127.0.0.1", port), 300),
        errno_of(socket.create_connection, ("192.0.2.1", 80), 300),
    ]


def test_the_network_is_the_own_loopback(sandbox):
    """Processes inside reach each other, but no server of this machine and nothing beyond."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=300).close()  # it can be reached from outside
        with sandbox.start(connects, stdin=subprocess.PIPE) as process:
            output, errors = process.communicate(f"{port}\n", timeout=900)
    assert process.returncode == 0, errors
    assert json.loads(output) == [[[1, "lo"]], "x", "ECONNREFUSED", "ENETUNREACH"]


def test_passed_descriptors_stay_open(own_sandbox):
    """The two sides talk over a socket that the caller passes on."""

    def answers():
        with socket.socket(fileno=int(sys.stdin.readline())) as peer:
            peer.sendall(peer.recv(100)[::-1])

    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = theirs.fileno()
        with own_sandbox.start(answers, stdin=subprocess.PIPE, pass_fds=[number]) as process:
            ours.sendall(b"ping")
            _, errors = process.communicate(f"{number}\n", timeout=900)
        assert process.returncode == 0, errors
        assert ours.recv(100) == b"gnip"


def test_everything_inside_ends_with_the_program_that_started_it(sandbox):
    """A killed grader leaves no sandbox behind, not even a daemon in it."""

    def never_ends():
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(1, b"up\n")
            time.sleep(3600)
        time.sleep(3600)

    with sandbox.start(never_ends) as process:
        assert process.stdout.readline() == "up\n"
        process.kill()
        assert process.stdout.read() == ""  # the daemon held the other end


@needs_bwrap
def test_a_kit_that_is_installed_in_the_environment_is_hidden(kit, tmp_path):
    """What students must not see is covered, also where the package is not installed in place."""
    package = tmp_path / "lib/coursekit"
    shutil.copytree(kit / "coursekit", package)
    (package / "checks").mkdir()
    code = (
        "import json, os, sys; from pathlib import Path; sys.prefix = sys.argv[1]\n"
        "from coursekit.grading.isolation.sandbox import command\n"
        "shown = {sys.argv[2] + '/grading': Path(sys.argv[2], 'grading')}\n"
        "words = command(['/bin/sh', '-c', 'ls $1; echo >$1/x', 'sh', sys.argv[2]], shown, {}, 1 << 20)\n"
        "os.execvp(words[0], words)"
    )
    done = run_python(code, tmp_path, package, path=tmp_path / "lib")
    assert (done.stdout, done.returncode) == ("grading\n", 2), done.stderr
    assert "Read-only file system" in done.stderr
