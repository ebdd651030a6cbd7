"""The demo while it runs: JupyterHub, its proxy and servers in one PID namespace, which all end together."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.files import locked
from coursekit.grading.walls import system
from coursekit.jupyter.hub import proxy
from coursekit.jupyter.hub.people import PEOPLE, PRIVATE, Person, make_tokens
from coursekit.jupyter.hub.view import PASSABLE
from coursekit.ranks.deadline import start_up
from coursekit.slurm.rehearsal.namespaces import plain_environment

if TYPE_CHECKING:
    from types import TracebackType

NUM_PORTS = 4
START_TIMEOUT_S = 180
END_TIMEOUT_S = 20
NUM_LOG_LINES = 15
UNSHARE = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
# An ordinary user is root in a namespace where the subordinate ids that the machine gives them are the accounts.
AS_USER = ("--user", "--map-root-user", "--map-auto")


class DemoHub:
    """JupyterHub on loopback, for a `with` block.

    Args:
        root: the course checkout.
        port: the first of four ports.
        state: the folder that keeps the people's files; when None, build/hub of the checkout, or for an ordinary user,
            who could not remove what other accounts own there, ~/.local/state/coursekit/hub.

    Attributes:
        address: what to open in a browser.
        tokens: the token of everybody who logs in.
        log: what JupyterHub and the servers print.

    Raises:
        CourseKitError: it cannot start; the message says why.
    """

    def __init__(self, root: Path, port: int, state: Path | None = None) -> None:
        self.root = root.resolve()
        self.state = (state or _default_state(root)).resolve()
        self.address = f"http://127.0.0.1:{port}"
        self.log = self.state / PRIVATE / "jupyterhub.log"
        self.tokens: dict[Person, str] = {}
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = ExitStack()

    @property
    def pid(self) -> int:
        """Return the process that holds all others; 0 when nothing runs."""
        return self._process.pid if self._process else 0

    def start(self) -> DemoHub:
        """Start everything and return when the hub answers."""
        _check_machine()
        _check_ports(self._port)
        proxy.command(self.root / "hub")  # raises if it is not installed
        self.state.mkdir(mode=PASSABLE, parents=True, exist_ok=True)
        self.state.chmod(PASSABLE)
        self.log.parent.mkdir(mode=0o700, exist_ok=True)
        self._lock.enter_context(
            locked(self.state / PRIVATE / "lock", f"another demo runs in {self.state}: end it first.")
        )
        tokens = make_tokens(self.state)
        self.tokens = {person: tokens[person.name] for person in PEOPLE if person.name in tokens}
        words = (sys.executable, "-m", "coursekit.jupyter.hub.demo_in_namespaces", self.root, self.state, self._port)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*UNSHARE, *(() if os.geteuid() == 0 else AS_USER), *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.root,
                env={**plain_environment(), "TMPDIR": os.environ.get("TMPDIR", "/tmp")},  # noqa: S108 - as tempfile
                start_new_session=True,  # Ctrl-C is for this process; it ends the others in order
                # The namespace dies with its holder, and the holder with this process, however it ends.
                preexec_fn=lambda: system.end_with_parent(signal.SIGKILL),  # noqa: PLW1509 - one system call
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise
        return self

    def wait(self) -> None:
        """Wait until the hub ends by itself or Ctrl-C or SIGTERM ends the waiting.

        Raises:
            CourseKitError: the hub ended by itself.
        """
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            if self._process:
                self._process.wait()
                raise self._failure("ended by itself")

    def close(self) -> None:
        """End the hub, its proxy and every server; safe to call twice."""
        if self._process is not None:
            # Two Ctrl-C in a row must not leave a server.
            self._process.kill()
            self._process.wait(END_TIMEOUT_S)
            self._process = None
            self._lock.close()

    def __enter__(self) -> DemoHub:  # noqa: PYI034  # typing has Self from Python 3.11 on
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wait_until_ready(self) -> None:
        deadline = start_up(START_TIMEOUT_S)
        while not self._answers():
            if self._process is None or self._process.poll() is not None:
                raise self._failure("did not start")
            if not deadline.left_s():
                raise self._failure(f"did not answer in {START_TIMEOUT_S} s")
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/hub/api/", timeout=5) as reply:  # noqa: S310 - our own
                return bool(reply.status == 200)  # noqa: PLR2004 - HTTP's word for yes
        except (urllib.error.URLError, OSError):
            return False

    def _failure(self, what: str) -> CourseKitError:
        said = "\n".join(self.log.read_text(errors="replace").splitlines()[-NUM_LOG_LINES:])
        return CourseKitError(f"JupyterHub {what}; {self.log} ends with:\n{said}")


def _default_state(root: Path) -> Path:
    if os.geteuid() == 0:
        return root / "build" / "hub"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "coursekit" / "hub"


def _check_machine() -> None:
    if shutil.which("unshare") is None:
        raise CourseKitError("the demo needs the program unshare: apt install util-linux.")
    if os.geteuid() == 0:
        return
    tried = subprocess.run(["unshare", *AS_USER, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise CourseKitError(
            "the demo makes accounts for its people, and this machine does not let you "
            f"({tried.stderr.strip() or 'no reason given'}): use sudo, or have uidmap installed and a line for you in "
            "/etc/subuid and /etc/subgid."
        )


def _check_ports(first: int) -> None:
    for port in range(first, first + NUM_PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                raise CourseKitError(
                    f"port {port} is in use, and the demo needs {first} to {first + NUM_PORTS - 1}: "
                    "choose others with --port (make hub PORT=...)."
                ) from None
