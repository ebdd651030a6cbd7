"""The running demo: JupyterHub, its proxy and its servers in one PID namespace, so that all of them end together."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coursekit.corrected_time import start_up
from coursekit.errors import CourseKitError
from coursekit.files import locked, write_file
from coursekit.processes import end_with_parent, plain_environment

LOGGER = logging.getLogger(__name__)
NUM_PORTS = 4
PROXY = "hub/node_modules/.bin/configurable-http-proxy"
PASSABLE = 0o711  # nobody can list it, but anyone who knows a path in it can follow that path
PRIVATE, PASSWORD = "hub", "password"  # JupyterHub's own folder in the demo's folder, and a file in that folder
START_TIMEOUT_S, END_TIMEOUT_S = 180, 20
NUM_LOG_LINES = 15
UNSHARE = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
# An ordinary user becomes root in a namespace; its other accounts are the user's subordinate ids.
AS_USER = ("--user", "--map-root-user", "--map-auto")


class Person(NamedTuple):
    """One account of the demo; `uid` is also the number of the account's group."""

    name: str
    full_name: str
    uid: int


# Debian does not give these numbers to ordinary accounts. The grading account belongs to a service; nobody logs in with
# it.
GRADER = Person("grader", "Formgrader", 60101)
INSTRUCTOR = Person("instructor", "Instructor", 60102)
STUDENTS = (
    Person("ada", "Ada Lovelace", 60103),
    Person("alan", "Alan Turing", 60104),
    Person("grace", "Grace Hopper", 60105),
)
PEOPLE = (GRADER, INSTRUCTOR, *STUDENTS)


@dataclass(frozen=True)
class DemoHub:
    """A running demo.

    `state` is the folder with its files, `address` is the address to open, `password` is the password of all accounts,
    and `process` is the first process in the namespaces.
    """

    state: Path
    address: str
    password: str
    log: Path
    process: subprocess.Popen[bytes]

    def wait(self) -> None:
        """Wait for Ctrl-C or SIGTERM; raise a `CourseKitError` if the hub ends by itself."""
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            self.process.wait()
            raise self._failure("ended by itself", "hub.ended")

    def wait_until_ready(self) -> None:
        """Wait until the hub answers; if it ends or is too slow, raise a `CourseKitError` with the end of its log."""
        deadline = start_up(START_TIMEOUT_S)
        while deadline.left_s():
            if self.process.poll() is not None:
                raise self._failure("did not start", "hub.no-start")
            with suppress(OSError), urllib.request.urlopen(f"{self.address}/hub/api/", timeout=5):  # noqa: S310 - our own
                return
            time.sleep(0.2)
        raise self._failure(f"did not answer in {START_TIMEOUT_S} s", "hub.no-answer")

    def _failure(self, what: str, code: str) -> CourseKitError:
        said = "\n".join(self.log.read_text(errors="replace").splitlines()[-NUM_LOG_LINES:])
        return CourseKitError(f"JupyterHub {what}; {self.log} ends with:\n{said}", code)


@contextmanager
def demo_hub(root: Path, port: int, state: Path | None = None, *, watch: bool = False) -> Iterator[DemoHub]:
    """Start JupyterHub on loopback, and yield it when it answers; after the block, stop it, its proxy and all servers.

    Args:
        root: the course checkout.
        port: the first of four ports.
        state: the folder for the users' files. By default, root gets build/hub in the checkout. An ordinary user, who
            could not remove other accounts' files from there, gets ~/.local/state/coursekit/hub.
        watch: whether to grade each submission at once and release its feedback.

    Raises:
        CourseKitError: the demo cannot start; the message says why.
    """
    is_root = os.geteuid() == 0
    of_user = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "coursekit" / "hub"
    root, state = root.resolve(), (state or (root / "build" / "hub" if is_root else of_user)).resolve()
    as_user = () if is_root else AS_USER
    _check_machine(as_user)
    _check_ports(port)
    if not (root / PROXY).exists():
        raise CourseKitError(f"{PROXY} is missing: `make hub` installs it (npm ci in hub/).", "hub.no-proxy")
    state.mkdir(mode=PASSABLE, parents=True, exist_ok=True)
    state.chmod(PASSABLE)
    (state / PRIVATE).mkdir(mode=0o700, exist_ok=True)
    with locked(state / PRIVATE / "lock", f"another demo is running in {state}: stop it first. [hub.runs-already]"):
        password = secrets.token_urlsafe(12)
        write_file(state / PRIVATE / PASSWORD, password.encode())
        words = (sys.executable, "-m", "coursekit.jupyter.hub.demo", root, state, port, *(["--watch"] if watch else []))
        log_file = state / PRIVATE / "jupyterhub.log"
        with log_file.open("wb") as log:
            process = subprocess.Popen(
                [*UNSHARE, *as_user, *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=root,
                env={**plain_environment(), "TMPDIR": os.environ.get("TMPDIR", "/tmp")},  # noqa: S108 - as tempfile
                start_new_session=True,  # only this process gets Ctrl-C, and it ends the others
                # The namespace ends with its first process; that process ends together with this one, however this one
                # ends.
                preexec_fn=end_with_parent,  # noqa: PLW1509 - one system call
            )
        LOGGER.info("JupyterHub runs in separate namespaces as process %d; its log is %s", process.pid, log_file)
        try:
            hub = DemoHub(state, f"http://127.0.0.1:{port}", password, log_file, process)
            hub.wait_until_ready()
            yield hub
        finally:
            process.kill()  # this kills the whole namespace: even two Ctrl-C in a row must not leave a server
            process.wait(END_TIMEOUT_S)


def _check_machine(as_user: tuple[str, ...]) -> None:
    try:
        tried = subprocess.run(["unshare", *as_user, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CourseKitError("the demo needs the program unshare: apt install util-linux.", "hub.no-unshare") from None
    if tried.returncode:
        raise CourseKitError(
            "the demo creates accounts for its users, which this machine does not let you do "
            f"({tried.stderr.strip() or 'no reason given'}): use sudo, or install uidmap and add a line for your "
            "account to /etc/subuid and /etc/subgid.",
            "hub.no-namespaces",
        )


def _check_ports(first: int) -> None:
    with ExitStack() as held:
        try:
            for port in range(first, first + NUM_PORTS):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
        except OSError:
            raise CourseKitError(
                f"port {port} is in use, and the demo needs {first} to {first + NUM_PORTS - 1}: "
                "choose others with --port (make hub PORT=...).",
                "hub.port-in-use",
            ) from None
