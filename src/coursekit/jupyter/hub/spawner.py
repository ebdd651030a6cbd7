"""A student's server as a job: submitted with our script, watched while it waits, its end explained.

batchspawner's `SlurmSpawner`, with other insides: it calls Slurm without a shell, and asks accounting how a job ended.
It never leaves a job behind that the hub has lost sight of.
"""

from __future__ import annotations

import asyncio
import getpass
import secrets
import shlex
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from traitlets import Float, Unicode

from coursekit.jupyter.hub.explanations import explain_ended, explain_refused, explain_too_long
from coursekit.jupyter.hub.form_spawner import FormSpawner, Refused
from coursekit.jupyter.hub.slurm_calls import FORGOTTEN, call_as, look_as
from coursekit.slurm.jobs.explain import NUM_TAIL_BYTES
from coursekit.slurm.jobs.pending import explain_pending
from coursekit.slurm.jobs.slurm_cli import SlurmError
from coursekit.slurm.jobs.states import PENDING, UNKNOWN, JobState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOG = "hub-{}.out"
NUM_STOP_TRIES, STOP_PAUSE_S = 60, 1.0  # Slurm gives what it ends half a minute to do so


class CourseSpawner(FormSpawner):
    """A server on nodes of a site.

    Attributes:
        endings: by user and server, why the last one is gone; the hub drops the spawner itself with the server.
    """

    endings: ClassVar[dict[tuple[str, str], str]] = {}

    node_address = Unicode("{node}", help="How the hub reaches a node, such as '{node}.cluster'.").tag(config=True)
    pending_limit_s = Float(3600, help="How long a job may wait for nodes before it is cancelled.").tag(config=True)
    server_limit_s = Float(300, help="How long a server may take to start on its node.").tag(config=True)

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self._state, self._node = JobState(PENDING), ""
        self._submission: asyncio.Future[str] | None = None

    @property
    def folder(self) -> Path:
        """Where the server and its log live: the configured folder of notebooks, or the student's home."""
        chosen = self.format_string(self.notebook_dir).replace("~", self.req_homedir, 1)
        return Path(chosen or self.req_homedir)

    # From what was asked for to a server that answers.

    async def start(self) -> tuple[str, int]:
        """Submit the job, wait until its server has said its port, and return address and port.

        Raises:
            Refused: it does not come; the message says why.
        """
        self.endings.pop(self._key, None)
        self.port = 0
        try:
            await self._submit()
            await self._until_there()
        except Refused as error:
            self.endings[self._key] = error.jupyterhub_message
            raise
        return self.node_address.format(node=self._node), self.port

    async def _submit(self) -> None:
        # As a task of its own: when the student stops it now, the job's number must not get lost.
        name = f"hub-{secrets.token_hex(4)}"
        words = ("sbatch", "--parsable", f"--chdir={self.folder}", f"--job-name={name}", f"--output={LOG.format('%j')}")
        environ = {**self.get_env(), "COURSEKIT_CHECKOUT": self.root}
        script = self.script()
        self._submission = asyncio.ensure_future(call_as(self.as_student, *words, environ=environ, text=script))
        self._submission.add_done_callback(self._submitted)
        try:
            await asyncio.shield(self._submission)
        except SlurmError as error:
            with suppress(SlurmError):  # a Slurm that is busy may have taken the job without an answer
                await call_as(self.as_student, "scancel", f"--name={name}")
            if not error.words:
                raise Refused(str(error)) from None
            raise Refused(explain_refused(error.words, self.site, self.wish(self.user_options))) from None

    def _submitted(self, submission: asyncio.Future[str]) -> None:
        if not submission.cancelled() and submission.exception() is None:
            self.job_id = submission.result().strip().splitlines()[-1].partition(";")[0]
            self.log.info("Job submitted: %s is %s", self._log_name, self.job_id)
            self.orm_spawner.state = self.get_state()  # a hub that is started again finds the job
            self.user.db.commit()

    async def _until_there(self) -> None:
        """Wait for the port; refuse if the job ends, or waits or starts for too long."""
        asked = time.monotonic()
        limit_s = self.pending_limit_s
        while not (self.port and self._node):
            state = await self.look()
            if state is None:  # Slurm does not answer: the job may well be there
                pass
            elif _is_over(state):
                sentence = await self._ending(state)
                self.clear_state()
                raise Refused(sentence)
            elif self._node and limit_s == self.pending_limit_s:
                limit_s = time.monotonic() - asked + self.server_limit_s
            if time.monotonic() - asked > limit_s:
                sentence = self._late(limit_s)
                await self.stop()
                raise Refused(sentence)
            await asyncio.sleep(self.startup_poll_interval)

    def _late(self, limit_s: float) -> str:
        if not self._node:
            return explain_too_long(self._waits(), limit_s)
        return (
            f"The server did not report to the hub within {self.server_limit_s:g} s from {self._node}, and was "
            f"stopped: its log {self._log_file} says more. Tell the course's instructors if it happens again."
        )

    async def progress(self) -> AsyncIterator[dict[str, object]]:
        """Say why it waits, each time that this changes, and where it starts."""
        told = ""
        while True:
            here = bool(self._node)
            words = f"Job {self.job_id} runs on {self._state.nodes}: the server starts." if here else self._waits()
            if words != told:
                yield {"progress": 60 if here else 20 if self.job_id else 5, "message": words}
            if self.port:
                return
            told = words
            await asyncio.sleep(self.startup_poll_interval)

    def _waits(self) -> str:
        if not self.job_id:
            return "The job is being submitted."
        return explain_pending(self.job_id, self._state.reason, self._state.start)

    # From then on.

    async def poll(self) -> int | None:
        """Return None while the job exists or Slurm does not answer; at its end, keep the reason and return 1."""
        await self._end_of_submission()
        if not self.job_id:
            return 1
        state = await self.look()
        if state is None or not _is_over(state):
            return None
        self.endings[self._key] = await self._ending(state)
        self.clear_state()
        return 1

    async def stop(self, now: bool = False) -> None:
        """Cancel the job, and wait until it has ended.

        Raises:
            SlurmError: Slurm does not answer, or does not end it.
        """
        await self._end_of_submission()
        for _ in range(NUM_STOP_TRIES if self.job_id else 0):
            try:
                await call_as(self.as_student, "scancel", self.job_id)
            except SlurmError as error:
                if FORGOTTEN not in error.words:
                    self.log.warning("job %s: %s", self.job_id, error)
            state = await self.look()
            if now or (state and _is_over(state)):
                self.clear_state()
                return
            await asyncio.sleep(STOP_PAUSE_S)
        if self.job_id:
            raise SlurmError(f"job {self.job_id} does not end: cancel it with `scancel {self.job_id}`.")

    async def _end_of_submission(self) -> None:
        if self._submission and not self._submission.done():
            await asyncio.wait([self._submission])

    async def look(self) -> JobState | None:
        """Ask Slurm for the job, and return its state; None when Slurm does not answer."""
        try:
            self._state, node = await look_as(self.as_student, self.job_id)
        except SlurmError as error:
            self.log.warning("job %s: %s", self.job_id, error)
            return None
        self._node = node or self._node
        return self._state

    async def _ending(self, state: JobState) -> str:
        """Return why the job is gone; its log is read as the student, who may have put anything in its place."""
        try:
            log = await call_as(self.as_student, "tail", f"--bytes={NUM_TAIL_BYTES}", str(self.folder / self._log_file))
        except SlurmError:
            return explain_ended(self.job_id, state)
        return explain_ended(self.job_id, state, log, self._log_file)

    @property
    def _log_file(self) -> str:
        return LOG.format(self.job_id)

    @property
    def _key(self) -> tuple[str, str]:
        return self.user.name, self.name

    @property
    def as_student(self) -> list[str]:
        """The words that make a command run as the student."""
        if self.user.name == getpass.getuser():
            return []
        return [word.format(username=self.user.name) for word in shlex.split(self.exec_prefix)]


def _is_over(state: JobState) -> bool:
    return state.ended or state.state == UNKNOWN
