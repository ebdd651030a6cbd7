"""A kernel that is started for real, asked, and always stopped."""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

from coursekit.processes import StopSignals, end_marked
from coursekit.ranks.environ import kernel_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_client.blocking.client import BlockingKernelClient
    from jupyter_client.manager import KernelManager

POLL_S = 1.0
SAID = "said"


class NotStartedError(Exception):
    """The kernel did not start; the message is what its launcher said last."""


@dataclass(frozen=True)
class KernelReply:
    """What a kernel said to one question.

    Attributes:
        facts: what it printed as lines of JSON objects, later ones over earlier ones.
        error: the error that it ended with, such as `ModuleNotFoundError: …`; '' without one.
    """

    facts: dict[str, Any]
    error: str


@contextmanager
def running(name: str, timeout_s: float) -> Iterator[KernelConversation]:
    """Start a kernel as JupyterLab does, in this folder, and end it and all that it started.

    Raises:
        NotStartedError: it ended, or said nothing for so long.
    """
    from jupyter_client.manager import KernelManager  # noqa: PLC0415  # slow, and only needed here

    with StopSignals().handled(), tempfile.TemporaryDirectory(prefix="coursekit-kernel-") as place:
        folder = Path(place)
        manager = KernelManager(kernel_name=name)
        try:
            with (folder / SAID).open("w") as said:
                manager.start_kernel(env=kernel_environment(folder), stdout=said, stderr=said)
            client = manager.blocking_client()
            client.start_channels()
            try:
                _wait(manager, client, folder, timeout_s)
                yield KernelConversation(manager, client)
            finally:
                client.stop_channels()
        finally:
            if manager.has_kernel:
                manager.shutdown_kernel(now=True)
            end_marked(folder)  # also ranks, and what the launcher was at


def _wait(manager: KernelManager, client: BlockingKernelClient, folder: Path, timeout_s: float) -> None:
    try:
        client.wait_for_ready(timeout=timeout_s)
    except RuntimeError:  # it died, or the time is over
        words = (folder / SAID).read_text(errors="replace").strip().splitlines()
        silent = f"no word within {timeout_s:g} s" if manager.is_alive() else "it ended without a word"
        raise NotStartedError(words[-1] if words else silent) from None


class KernelConversation:
    """Questions to a running kernel."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self._manager = manager
        self._client = client

    def ask(self, code: str, limit_s: float) -> KernelReply:
        """Let the kernel run code that prints lines of JSON; never raises for what happens there."""
        request = self._client.execute(code, store_history=False, allow_stdin=False)
        deadline_s = time.monotonic() + limit_s
        output, error = "", ""
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=POLL_S)
            except Empty:
                message = None
            if message is None or message["parent_header"].get("msg_id") != request:
                if not self._manager.is_alive():
                    return KernelReply(_facts(output), "the kernel died")
                if time.monotonic() > deadline_s:
                    return KernelReply(_facts(output), f"no answer within {limit_s:g} s")
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream" and content["name"] == "stdout":
                output += content["text"]
            elif kind == "error":
                error = f"{content['ename']}: {content['evalue']}"
            elif kind == "status" and content["execution_state"] == "idle":
                return KernelReply(_facts(output), error)


def _facts(output: str) -> dict[str, Any]:
    """Return the values of the lines of JSON objects; other lines, such as those of a start-up file, are skipped."""
    facts: dict[str, Any] = {}
    for line in output.splitlines():
        if line.startswith("{"):
            facts.update(json.loads(line))
    return facts
