"""The outer wall: what can be seen, changed and reached behind it, by whoever runs it."""
# ruff: noqa: PTH114, PTH118, PTH123, PTH208, S108, SIM115  # what runs inside is as short as students' code

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.grading.walls import sandbox as walls
from coursekit.grading.walls.sandbox import View, command, hidden_folders, require_sandbox

# Settings of the PID and IPC namespaces, limits of a user namespace, and what everybody may ask to be told of.
OF_NAMESPACES = (
    *("/proc/sys/user/", "/proc/sys/fs/mqueue/", "/proc/sys/kernel/msg", "/proc/sys/kernel/auto_msgmni"),
    *("/proc/sys/kernel/sem", "/proc/sys/kernel/shm", "/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/pid_max"),
    "/proc/pressure/",
)
NO_VIEW = View({}, {}, 1 << 20)
needs_bwrap = pytest.mark.needs("bwrap")


def test_require_sandbox_accepts_what_works():
    """`none` works everywhere."""
    require_sandbox("none")


@needs_bwrap
def test_require_sandbox_accepts_bubblewrap_where_it_works():
    """Here it does."""
    require_sandbox("bwrap")


def test_a_kit_in_tmp_is_told():
    """Every process of a submission has a /tmp of its own, in which such a kit must be shown."""
    folders = [Path("/tmp/kit/.venv"), Path("/usr/lib"), Path("/tmp"), Path("/dev/shm/kit")]
    assert hidden_folders(folders) == [folders[0], folders[3]]


@pytest.mark.parametrize(
    ("name", "image", "sentence"),
    [
        ("docker", None, "there is no sandbox 'docker'; choose one of bwrap, apptainer, none."),
        (
            "bwrap",
            None,
            (
                "bubblewrap is not installed (apt install bubblewrap, dnf install bubblewrap); without it name "
                "--sandbox apptainer, or grade on a machine that has it with --slurm."
            ),
        ),
    ],
)
def test_require_sandbox_fails_closed(monkeypatch, name, image, sentence):
    """What is not there is never replaced by something weaker: one sentence says how to get it."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CourseKitError) as caught:
        require_sandbox(name, image)
    assert str(caught.value) == sentence


def without_root(monkeypatch):
    """Pretend to be an ordinary user, as whom pytest need not run."""
    monkeypatch.setattr(os, "getuid", lambda: 1000)


def test_apptainer_must_be_there(monkeypatch):
    """Without it, one sentence says what to do."""
    without_root(monkeypatch)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CourseKitError, match="Apptainer is not installed or its module is not loaded"):
        require_sandbox("apptainer")


def test_apptainer_is_refused_for_root(monkeypatch):
    """It does not guard /proc/sys, whose owner root is also without capabilities."""
    monkeypatch.setattr(os, "getuid", lambda: 0)
    with pytest.raises(CourseKitError, match="grade as an ordinary user"):
        require_sandbox("apptainer", Path(__file__))


@pytest.mark.parametrize("image", [None, Path("/nonexistent/image.sif")])
def test_apptainer_needs_an_image(monkeypatch, tmp_path, image):
    """Without an image that exists there is no wall (a stand-in for Apptainer, which Debian does not have)."""
    without_root(monkeypatch)
    (tmp_path / "apptainer").write_text("#!/bin/sh\n")
    (tmp_path / "apptainer").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseKitError, match="--image FILE"):
        require_sandbox("apptainer", image)
    with pytest.raises(CourseKitError, match="--image FILE"):
        command("apptainer", NO_VIEW, ["true"])


def test_an_old_bubblewrap_is_refused(monkeypatch, tmp_path):
    """It could not limit the size of /tmp (a stand-in: only one version is installed)."""
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho bubblewrap 0.4.1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CourseKitError, match=r"bubblewrap 0\.4\.1 is too old.*0\.7 or newer"):
        require_sandbox("bwrap")


@needs_bwrap
def test_switched_off_user_namespaces_are_named(kit):
    """Where the kernel forbids user namespaces, the sentence points to Apptainer and Slurm."""
    code = "from coursekit.grading.walls.sandbox import require_sandbox; require_sandbox('bwrap')"
    forbidden = ["bwrap", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--dev-bind", "/", "/"]
    done = subprocess.run(
        [*forbidden, sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(kit)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "bubblewrap cannot build its wall on this machine" in last
    assert "user namespaces are probably switched off here" in last
    assert "--sandbox apptainer" in last
    assert "--slurm" in last


def visible():
    """Return every path that is on no mounted file system, and what is mounted."""
    import os

    mounts = {line.split()[1] for line in open("/proc/mounts")}
    found = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in mounts]
        found += [os.path.join(folder, name) for name in files]
        found += [path for name in folders if os.path.islink(path := os.path.join(folder, name))]
    return sorted(found), sorted(mounts)


@needs_bwrap
def test_nothing_is_visible_but_the_system_and_the_environment(wall):
    """All to be seen: links of the system's, the Python environment, what the caller names; no home, no course."""
    found, mounts = wall.run(visible)
    system = [path for path in ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin") if Path(path).is_symlink()]
    etc = [f"/etc/{name}" for name in ("group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd")]
    assert set(found) - set(etc) == set(system)
    python = walls.python_folders() if wall.account == "own" else []
    shown = {"/", "/usr", "/proc", "/dev", "/tmp", "/dev/shm", "/kit", "/etc/alternatives", *etc, *map(str, python)}
    assert {path for path in mounts if not path.startswith(("/dev/", "/proc/"))} | {"/dev/shm"} == shown


def looks_around():
    """Return what the process tells of itself."""
    import os

    from inside import status_lines

    return {
        "environ": dict(os.environ),
        "ids": [os.getuid(), os.getgid(), os.uname().nodename],
        "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
        "capabilities": status_lines("CapEff", "CapPrm", "CapBnd", "NoNewPrivs"),
        "folders": [os.listdir(path) for path in ("/tmp", "/dev/shm", "/shared")],
    }


@needs_bwrap
def test_nothing_of_the_parent_is_inherited(wall):
    """The environment is what the caller names; the ids are made up; no capability and no process is to be had."""
    assert wall.run(looks_around) == {
        "environ": {**wall.environ, "PWD": "/tmp"},
        "ids": [1000, 1000, "sandbox"],
        "processes": 2,  # bubblewrap's own, and this one
        "capabilities": {"CapEff": "0" * 16, "CapPrm": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"},
        "folders": [wall.kept_in_tmp, [], []],
    }


def writes():
    """Try to write everywhere."""
    import sys

    from inside import errno_of

    places = ("/", "/usr", "/usr/lib", "/etc", "/dev", "/kit", "/shared", sys.prefix)
    return {path: errno_of(open, f"{path}/x", "w") for path in places} | {
        "/etc/passwd": errno_of(open, "/etc/passwd", "a"),
        "/kit/inside.py": errno_of(open, "/kit/inside.py", "a"),
    }


@needs_bwrap
def test_everything_but_tmp_is_read_only(wall):
    """Neither what is there can be changed nor can something be added."""
    assert set(wall.run(writes).values()) <= {"EROFS", "EACCES"}


def finds_settings():
    """Return the settings of the kernel that can be written, in the outer wall and behind an inner one."""
    import os

    from inside import errno_of, walled

    def writable():
        found = []
        for top in (name for name in os.listdir("/proc") if not name.isdigit() and name not in ("self", "thread-self")):
            for folder, _, files in os.walk(f"/proc/{top}"):
                found += [os.path.join(folder, name) for name in files]
            found += [f"/proc/{top}"]
        return sorted(path for path in found if errno_of(os.open, path, os.O_WRONLY | os.O_NONBLOCK) == "")

    return [writable(), walled(writable)]


@needs_bwrap
def test_the_kernels_settings_cannot_be_written(wall):
    """Also not as root: core_pattern alone would be a way out. What is left belongs to the namespaces themselves."""
    found = [path for paths in wall.run(finds_settings) for path in paths]
    assert [path for path in found if not path.startswith(OF_NAMESPACES)] == []


def test_settings_cannot_be_written_behind_an_inner_wall_alone(kit):
    """Where /proc can be mounted afresh, root's settings are covered in it too."""
    code = (
        f"import sys; sys.path.insert(0, {str(kit)!r})\n"
        "import json, os\nfrom inside import errno_of, status_lines, walled\n"
        "path = '/proc/sys/kernel/core_pattern'\n"
        "look = lambda: [os.path.realpath('/proc/self'), errno_of(os.open, path, os.O_WRONLY)]\n"
        "print(json.dumps(walled(look)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    refused = "EROFS" if os.getuid() == 0 else "EACCES"
    assert json.loads(done.stdout) == ["/proc/2", refused]


def fills():
    """Fill the writable folders; return how much fitted in."""
    sizes = []
    for folder in ("/tmp", "/dev/shm"):
        size = 0
        try:
            with open(f"{folder}/x", "wb", buffering=0) as file:
                while size < 1 << 22:
                    size += file.write(bytes(1 << 12))
        except OSError as error:
            sizes.append([size, error.strerror])
    return sizes


@needs_bwrap
def test_tmp_is_as_large_as_said(wall):
    """A mebibyte fits in, and no more."""
    assert wall.run(fills) == [[1 << 20, "No space left on device"]] * 2


def connects():
    """Return the network's devices, whether the own loopback works, and what is reached outside."""
    import socket
    import sys

    from inside import errno_of

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


@needs_bwrap
def test_the_network_is_the_own_loopback(wall):
    """Processes inside reach each other, but no server of this machine and nothing beyond."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=300).close()  # it can be reached from outside
        with wall.start(connects, stdin=subprocess.PIPE) as process:
            output, errors = process.communicate(f"{port}\n", timeout=900)
    assert process.returncode == 0, errors
    assert json.loads(output) == [[[1, "lo"]], "x", "ECONNREFUSED", "ENETUNREACH"]


@needs_bwrap
def test_passed_descriptors_stay_open(own_wall):
    """The two sides talk over a socket that the caller passes on."""

    def answers():
        import socket
        import sys

        with socket.socket(fileno=int(sys.stdin.readline())) as peer:
            peer.sendall(peer.recv(100)[::-1])

    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = theirs.fileno()
        with own_wall.start(answers, stdin=subprocess.PIPE, pass_fds=[number]) as process:
            ours.sendall(b"ping")
            _, errors = process.communicate(f"{number}\n", timeout=900)
        assert process.returncode == 0, errors
        assert ours.recv(100) == b"gnip"


@needs_bwrap
def test_everything_inside_ends_with_the_program_that_started_it(wall):
    """A killed grader leaves no sandbox behind, not even a daemon in it."""

    def never_ends():
        import os
        import time

        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(1, b"up\n")
            time.sleep(3600)
        time.sleep(3600)

    with wall.start(never_ends) as process:
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
        "from coursekit.grading.walls.sandbox import View, command\n"
        "view = View({sys.argv[2] + '/grading': Path(sys.argv[2], 'grading')}, {}, 1 << 20)\n"
        "words = command('bwrap', view, ['/bin/sh', '-c', 'ls $1; echo >$1/x', 'sh', sys.argv[2]])\n"
        "os.execvp(words[0], words)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path, package],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("grading\n", 2), done.stderr
    assert "Read-only file system" in done.stderr


def test_without_a_sandbox_only_the_environment_is_replaced():
    """`none` is no wall: the same program sees all of the machine, but not the caller's variables."""
    words = command("none", View({}, {"A": "1 2", "B": "x=y"}, 0), ["/usr/bin/env"])
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "A=1 2\nB=x=y\n"


def test_apptainer_gets_the_same_view(tmp_path):
    """The command line as its manual has it; it was not run, for lack of an Apptainer."""
    view = View({"/kit/x.py": tmp_path / "x.py"}, {"HOME": "/tmp"}, 1 << 20)
    words = command("apptainer", view, ["python3", "-P"], image=Path("/images/tf.sif"))
    shown = {**{str(path): path for path in walls.python_folders()}, "/kit/x.py": tmp_path / "x.py"}
    shown["/shared"] = Path(walls.__file__).parent / "etc"
    mounts = [["--mount", f"type=bind,source={out},destination={path},ro"] for path, out in shown.items()]
    assert words == [
        *["apptainer", "exec", "--containall", "--cleanenv", "--no-home", "--no-eval", "--no-privs"],
        *["--no-mount", "home,cwd,hostfs,bind-paths", "--net", "--network", "none", "--hostname", "sandbox"],
        *["--env", "HOME=/tmp"],
        *(word for mount in mounts for word in mount),
        *["--pwd", "/tmp", "/images/tf.sif", "python3", "-P"],
    ]
