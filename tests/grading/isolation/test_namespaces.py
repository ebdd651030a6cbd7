"""What an isolated process of a submission sees, may use and reaches, and how it ends."""
# ruff: noqa: ARG001, ARG005, B023, C901, PERF203, S108, SIM105  # what runs inside is as short as students' code
# ruff: noqa: PTH102, PTH109, PTH119, PTH123, PTH208, PTH211  # as above

import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from .inside import errno_of, fill, isolated, refusal, say, start, status_lines, status_of

counts_by_namespace = pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) < (5, 14), reason="needs Linux 5.14: counts per user namespace"
)


def test_a_process_gets_everything_of_its_own(sandbox):
    """A private /tmp as working directory, a PID namespace, and no capability, also for programs it starts."""

    def looks():
        open("/tmp/of-the-sandbox", "w").close()

        def look():
            return {
                "pid": os.getpid(),
                "ids": [os.getuid(), os.getgid()],
                "folders": [os.listdir(path) for path in ("/tmp", "/dev/shm", "/shared")],
                "cwd": [os.getcwd(), os.environ["TMPDIR"]],
                "status": status_lines("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs"),
            }

        return isolated(look)

    assert sandbox.run(looks) == {
        "pid": 2,
        "ids": [1000, 1000],
        "folders": [[], [], []],
        "cwd": ["/tmp", "/tmp"],
        "status": {**dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16), "NoNewPrivs": "1"},
    }


def test_processes_share_a_folder_and_nothing_else(sandbox):
    """Two processes at the same time: what one writes to /tmp or /dev/shm the other does not see, /shared both do."""

    def share():
        os.mkdir("/tmp/one")

        def write_and_look(name):
            def work(tell):
                for folder in ("/tmp", "/dev/shm", "/shared"):
                    Path(folder, name).touch()
                while len(os.listdir("/shared")) < 2:
                    pass
                found = [sorted(os.listdir(folder)) for folder in ("/tmp", "/dev/shm", "/shared")]
                say(tell, found)

            return work

        started = [start(write_and_look(name), shared=Path("/tmp/one")) for name in "ab"]
        found = [json.loads(said.readline()) for _, said in started]
        for one in started:
            status_of(*one)
        return [*found, sorted(os.listdir("/tmp")), sorted(os.listdir("/tmp/one"))]

    assert sandbox.run(share) == [
        [["a"], ["a"], ["a", "b"]],
        [["b"], ["b"], ["a", "b"]],
        sorted(["one", *sandbox.kept_in_tmp]),
        ["a", "b"],
    ]


def test_limits_hold(sandbox):
    """Sizes and numbers of files, memory and processor time end where the allowance does."""

    def use():
        def count(folder):
            try:
                for number in range(1000):
                    open(f"{folder}/{number}", "w").close()
            except OSError as error:
                return [number, error.strerror]

        def hog():
            try:
                bytearray(1 << 28)
            except MemoryError:
                return "MemoryError"

        def spin(tell):
            while True:
                pass

        folders = ("/tmp", "/dev/shm")
        spinning = start(spin, max_cpu_s=1)
        return {
            "size": [isolated(lambda: fill(folder), tmp_bytes=1 << 20) for folder in folders],
            "files": [isolated(lambda: count(folder), num_files=10) for folder in folders],
            "file size": isolated(lambda: fill("/tmp"), max_file_bytes=1 << 16),
            "memory": isolated(hog, max_memory_bytes=1 << 27),
            "less memory": isolated(hog, max_memory_bytes=1 << 29),
            "core": isolated(lambda: resource.getrlimit(resource.RLIMIT_CORE)),
            "time": os.WTERMSIG(status_of(*spinning)) == signal.SIGXCPU,
        }

    full = "No space left on device"
    assert sandbox.run(use) == {
        "size": [[1 << 20, full]] * 2,
        "files": [[9, full]] * 2,  # the folder itself is one
        "file size": [1 << 16, "File too large"],
        "memory": "MemoryError",
        "less memory": None,
        "core": [0, 0],
        "time": True,
    }


@counts_by_namespace
def test_a_fork_bomb_is_bounded(ordinary_sandbox):
    """The number of processes is limited for an ordinary account; for root the watcher counts them."""

    def explode():
        def bomb():
            number = 1
            try:
                while True:
                    if os.fork() == 0:
                        time.sleep(3600)
                    number += 1
            except OSError as error:
                return [number, error.strerror]

        return [isolated(bomb, max_num_processes=12), isolated(bomb, max_num_processes=12)]

    assert ordinary_sandbox.run(explode) == [[12, "Resource temporarily unavailable"]] * 2


def test_calls_that_take_what_nobody_counts_are_refused(sandbox):
    """Memory without a process or a folder, further namespaces, watches, keys, and other cores; threads are not."""

    def ask():
        libc = ctypes.CDLL(None, use_errno=True)
        new_user, any_key, size = 0x10000000, 0, 1 << 20

        def answers():
            calls = {
                "unshare": lambda: libc.unshare(new_user),
                "clone": lambda: libc.syscall(56, new_user | 17, 0, 0, 0, 0),
                "clone3": lambda: libc.syscall(435, 0, 0),
                "memfd_create": lambda: libc.memfd_create(b"x", 0),
                "shmget": lambda: libc.shmget(any_key, size, 0o1600),
                "msgget": lambda: libc.msgget(any_key, 0o1600),
                "semget": lambda: libc.semget(any_key, 1, 0o1600),
                "inotify": libc.inotify_init,
                "io_uring": lambda: libc.syscall(425, 1, 0),
                "io_setup": lambda: libc.syscall(206, 1, 0),
                "mq_open": lambda: libc.syscall(240, b"x", os.O_CREAT | os.O_RDWR, 0o600, None),
                "vmsplice": lambda: libc.syscall(278, 1, None, 0, 0),
                "add_key": lambda: libc.syscall(248, b"user", b"x", b"x", 1, -2),
                "keyctl": lambda: libc.syscall(250, 10, -3, b"user", b"ticket", 0),  # looks for a Kerberos ticket
                "affinity": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
            }
            found = {}
            for name, call in calls.items():
                ctypes.set_errno(0)
                try:
                    call()
                    found[name] = ctypes.get_errno()
                except OSError as error:
                    found[name] = error.errno
            thread = threading.Thread(target=found.update, args=({"thread": 0},))
            thread.start()
            thread.join()
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            return {**found, "fork": os.waitpid(pid, 0)[1]}

        return isolated(answers)

    found = sandbox.run(ask)
    assert {name: found.pop(name) for name in ("clone3", "thread", "fork")} == {"clone3": 38, "thread": 0, "fork": 0}
    assert (len(found), {*found.values()}) == (14, {errno.EPERM})


@counts_by_namespace
def test_what_the_kernel_counts_for_an_account_is_not_used_up(sandbox):
    """Who takes all that it gets of open files, signals, files on their way and terminals leaves enough for others."""

    def take():
        libc = ctypes.CDLL(None, use_errno=True)

        def queue_signal():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
            if libc.sigqueue(os.getpid(), signal.SIGRTMIN, None):
                raise OSError(ctypes.get_errno(), "sigqueue")

        def count(step):
            number = 0
            try:
                while number < 200_000:
                    step()
                    number += 1
            except OSError:
                pass
            return number

        def hog(tell):
            terminals = count(os.openpty)
            os.closerange(tell + 1, 300)
            ours, _theirs = socket.socketpair()
            in_flight = 200 * count(lambda: socket.send_fds(ours, [b"x"], [0] * 200))
            say(tell, [terminals, in_flight, count(queue_signal), count(os.pipe)])
            time.sleep(600)

        def work():
            queue_signal()
            main, _ = os.openpty()
            select.epoll().register(main)
            _, tell = os.pipe()
            os.set_blocking(tell, False)
            return os.write(tell, bytes(1 << 13))

        def launch():
            ours, theirs = socket.socketpair()
            socket.send_fds(ours, [b"x"], [0] * 200)
            return len(socket.recv_fds(theirs, 1, 200)[1])

        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))  # as an account has it that has changed nothing
        hogs = [start(hog) for _ in range(4)]
        took = [said.readline() for _, said in hogs]
        done = [isolated(work), launch()]
        for pid, said in hogs:
            os.kill(pid, signal.SIGKILL)
            status_of(pid, said)
        return [took, done]

    took, done = sandbox.run(take)
    for line in took:
        terminals, in_flight, signals, num_pipes = json.loads(line)
        assert (terminals, signals, in_flight <= 400, num_pipes <= 128) == (16, 256, True, True)
    assert done == [1 << 13, 200]


def test_an_own_folder_stays_when_its_process_has_ended(sandbox):
    """It is /tmp/own for each process, nobody else's, and what lies in it is seen from outside, links unfollowed."""

    def leave():
        def write(name):
            def work():
                Path("/tmp/own", name).write_text(name)
                os.symlink("/etc/passwd", "/tmp/own/link")
                return os.listdir("/tmp/own")

            return work

        for name in "ab":
            os.mkdir(f"/tmp/{name}")
        seen = [sorted(isolated(write(name), own=Path(f"/tmp/{name}"))) for name in "ab"]
        return [seen, [Path(f"/tmp/{name}/{name}").read_text() for name in "ab"]]

    assert sandbox.run(leave) == [[["a", "link"], ["b", "link"]], ["a", "b"]]


def test_the_waiter_ends_as_the_process_does(sandbox):
    """Exit codes and deadly signals are the same outside, also of a hundred processes that end at once."""

    def end():
        codes = [0, 1, 77, 255] * 25
        signals = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGUSR2)
        exited = [os.WEXITSTATUS(status_of(*start(lambda tell: code))) for code in codes]
        return [
            exited,
            [os.WTERMSIG(status_of(*start(lambda tell: os.kill(os.getpid(), number)))) for number in signals],
        ]

    signals = [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGUSR2]
    assert sandbox.run(end) == [[0, 1, 77, 255] * 25, signals]


def test_signals_are_passed_on(sandbox):
    """What asks for stack traces or for the end reaches the process, with its own handlers in place."""

    def signal_it():
        signals = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM)

        def hear(tell):
            heard = []
            for number in signals:
                signal.signal(number, lambda number, frame: [heard.append(number), say(tell, number)])
            say(tell, "up")
            while len(heard) < len(signals):
                time.sleep(0.01)
            return 5

        pid, said = start(hear)
        lines = [said.readline()]
        for number in signals:
            os.kill(pid, number)
            lines.append(said.readline())
        return [*map(str.strip, lines), os.WEXITSTATUS(status_of(pid, said))]

    signals = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM)
    assert sandbox.run(signal_it) == ['"up"', *(str(int(number)) for number in signals), 5]


def test_nothing_survives(sandbox):
    """A detached daemon ends when the process ends, and when the waiter is killed, however it shields itself."""

    def detach():
        def daemonise(wait_s):
            def work(tell):
                ready, told = os.pipe()
                for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                    try:
                        signal.signal(number, signal.SIG_IGN)
                    except OSError:
                        pass
                ctypes.CDLL(None).prctl(1, 0)  # not with the parent
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        say(tell, "up")
                        os.write(told, b"x")
                        time.sleep(3600)
                    os._exit(0)
                os.read(ready, 1)
                time.sleep(wait_s)

            return work

        ended = []
        for wait_s, kill in ((0, False), (3600, True)):
            pid, said = start(daemonise(wait_s))
            line = said.readline()
            if kill:
                os.kill(pid, signal.SIGKILL)
            ended.append([line, said.read()])  # returns when the daemon's end is closed
            status_of(pid, said)
        return ended

    assert sandbox.run(detach) == [['"up"\n', ""]] * 2  # long before the daemon's hour is over


def test_the_waiter_holds_nothing_open(sandbox):
    """A pipe that the process closes is closed, though its waiter lives on."""

    def close():
        def close_it(tell):
            os.close(tell)
            time.sleep(3600)

        pid, said = start(close_it)
        told = said.read()
        os.kill(pid, 9)
        status_of(pid, said)
        return told

    assert sandbox.run(close) == ""


def test_other_processes_cannot_be_touched(sandbox):
    """Neither the waiter, the launcher nor the first process can be signalled, traced or read."""

    def attack():
        def trace(pid):
            libc = ctypes.CDLL(None, use_errno=True)
            return "" if libc.ptrace(16, pid, 0, 0) == 0 else errno.errorcode[ctypes.get_errno()]

        def try_all():
            own = os.path.basename(os.path.realpath("/proc/self"))
            others = [name for name in os.listdir("/proc") if name.isdigit() and name != own]
            secrets = [f"/proc/{name}/{file}" for name in others for file in ("environ", "mem", "maps")]
            links = [f"/proc/{name}/{link}" for name in others for link in ("cwd", "exe", "root")]
            os.kill(1, signal.SIGKILL)  # the kernel shields the first process from its own namespace
            os.kill(1, signal.SIGSEGV)
            return {
                "read": sorted({errno_of(open, path, "rb") for path in secrets}),
                "links": sorted({errno_of(os.readlink, path) for path in links}),
                "signal all": errno_of(os.kill, -1, signal.SIGKILL),  # everybody in reach: nobody
                "signal": sorted({errno_of(os.kill, pid, 0) for pid in range(3, 300)}),
                "trace": [trace(1), trace(3)],
            }

        return isolated(try_all)

    assert sandbox.run(attack) == {
        "read": ["EACCES"],
        "links": ["EACCES"],
        "signal all": "ESRCH",
        "signal": ["ESRCH"],
        "trace": ["EPERM", "ESRCH"],
    }


def test_mounts_cannot_be_changed(sandbox):
    """Mounts stay as they are; a user namespace in which they could be changed is refused."""

    def move():
        libc = ctypes.CDLL(None, use_errno=True)

        def try_mounts():
            return [
                libc.umount2(b"/tmp", 2),
                libc.umount2(b"/proc", 2),
                libc.mount(b"none", b"/usr", None, 32 | 4096, None),
                libc.mount(b"none", b"/", None, 32 | 4096, None),
                libc.mount(b"tmpfs", b"/shared", b"tmpfs", 0, None),
                libc.mount(b"/", b"/shared", None, 4096, None),  # to see what is beneath
                libc.chroot(b"/tmp"),
                libc.unshare(0x10000000 | 0x00020000),
            ]

        return isolated(try_mounts)

    assert sandbox.run(move) == [-1] * 8


def test_an_impossible_isolation_is_one_sentence(own_sandbox):
    """Where user namespaces cannot be nested, or a folder not be shared, nothing runs; the caller hears why."""

    def fail_at_once():
        return refusal()

    def fail_as_first_process():
        return refusal(shared=Path("/nonexistent"))

    said = own_sandbox.run(fail_at_once, extra=["--unshare-user", "--disable-userns"])
    assert said.endswith("[sandbox.no-namespaces]")
    assert own_sandbox.run(fail_as_first_process).endswith("[sandbox.not-isolated]")
