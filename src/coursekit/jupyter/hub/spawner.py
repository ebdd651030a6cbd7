"""Run a student's server as a job: batchspawner's Slurm spawner with the form and the job script of a site.

Unlike batchspawner, this spawner says on the hub's pages why a job waits, was refused or ended, and never loses track
of a job.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from batchspawner import JobStatus, SlurmSpawner, format_template
from tornado import web
from traitlets import Float, Unicode, default

from coursekit.errors import CourseKitError
from coursekit.jupyter.hub.form import ServerWish, explain_ended, explain_refused, form_html, read_wish
from coursekit.slurm.jobs import slurm_cli
from coursekit.slurm.jobs.explain import explain_pending
from coursekit.slurm.jobs.job_script import JobScript
from coursekit.slurm.jobs.render import render
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import Site

# The variables of the hub's environment that Slurm's commands need. Students must not read the others, such as keys.
NEEDED = ("PATH", "LANG", "LC_ALL", "SLURM_CONF", "TZ")
FORGOTTEN = "Invalid job id specified"


class Refused(web.HTTPError):
    """A server cannot start because of the student's request or because of Slurm; the hub itself works."""

    def __init__(self, sentence: str) -> None:
        super().__init__(400, sentence)
        self.jupyterhub_message = sentence


class CourseSpawner(SlurmSpawner):  # type: ignore[misc]  # batchspawner has no types
    """Starts a student's server on a site's nodes, watches it, and stops it."""

    # The reasons why users' last servers are gone, by user and server; kept here because the hub drops a spawner with
    # its server.
    endings: ClassVar[dict[tuple[str, str], str]] = {}
    typed: Mapping[str, object] = {}  # the values last typed into the form

    site_name = Unicode(help="The site's name in slurm/sites/.").tag(config=True)
    root = Unicode(help="The course's checkout with its .venv; its path is the same on every node.").tag(config=True)
    pending_limit_s = Float(3600, help="How long a job may wait for nodes before it is cancelled.").tag(config=True)
    req_folder = Unicode(help="The folder of the server and its log.")
    req_name = Unicode(help="The name of the job.")

    batch_submit_cmd = "sbatch --parsable --chdir={folder} --job-name={name} --output=hub-%j.out"
    batch_query_cmd = f"squeue --jobs={{job_id}} --states=all --noheader --format='%T %B|{slurm_cli.QUEUE_FORMAT}'"
    state_exechost_re = r"^\S+ ([^|\s]+)\|"
    # If Slurm does not answer, or answers with a state that batchspawner does not know, assume that the job still runs.
    state_unknown_re = rf"^(?!.*{FORGOTTEN}|({'|'.join(slurm_cli.ENDED)})\b)"

    _stopped = False

    @default("req_username")
    def _default_username(self) -> str:
        return shlex.quote(self.user.name)  # a shell runs the commands

    @default("req_folder")
    def _default_folder(self) -> str:
        return shlex.quote(self.format_string(self.notebook_dir).replace("~", self.req_homedir, 1) or self.req_homedir)

    @property
    def site(self) -> Site:
        """The profile of the site, read from its file."""
        return load_site(Path(self.root), self.site_name)

    # From the form to the job script.

    async def get_options_form(self) -> str:
        """Return the form as HTML, filled in with the values that were typed last."""
        return form_html(self.site, self.typed or self.orm_spawner.user_options or {})

    def options_from_form(self, form_data: Mapping[str, list[str]]) -> dict[str, object]:
        """Check the values of a submitted form, and return them."""
        self.typed = {name: values[0] for name, values in form_data.items() if values}
        return asdict(self.wish(self.typed))

    def wish(self, given: Mapping[str, object]) -> ServerWish:
        """Check and return a student's request; if it cannot be met, raise a `Refused` that says why."""
        try:
            return read_wish(self.site, given)
        except CourseKitError as error:
            raise Refused(str(error)) from None

    async def _get_batch_script(self, **_: object) -> str:
        """Check the options, whichever way they arrived, and return the job script."""
        wish = self.wish(self.user_options)
        job = JobScript(
            *(self.site, "hub", None, wish.partition, wish.num_nodes, wish.num_ranks_per_node),
            account=wish.account,
            reservation=wish.reservation,
            time_limit_min=wish.time_min,
            arguments=shlex.join(self.get_args()),
        )
        return render(Path(self.root), job)

    # From the job script to a server that answers.

    async def start(self) -> tuple[str, int]:
        """Submit the job, wait for its nodes and then for its server, and return the server's address and port.

        Raises:
            Refused: the server did not start; the message says why.
        """
        self.endings.pop(self._key, None)
        self.port, self._stopped = 0, False
        await self._submit()
        if self._stopped:  # by the student, while sbatch was still talking to Slurm
            await self.stop()
        deadline_s = time.monotonic() + self.pending_limit_s
        while not self.port:
            if await self.query_job_status() == JobStatus.NOTFOUND:
                self.clear_state()
                raise Refused(self.endings.get(self._key, "The server was stopped. [server.stopped]"))
            if time.monotonic() > deadline_s and not self.state_isrunning():
                waits = self._waits()
                await self.stop()
                raise self._refused(
                    f"The job was cancelled: it did not start within {self.pending_limit_s / 60:g} min, the hub's "
                    f"limit. {waits} Ask for fewer nodes or less time, or try another partition. [server.not-started]"
                )
            await asyncio.sleep(self.startup_poll_interval)
        return self.state_gethost(), self.port

    async def _submit(self) -> None:
        self.job_status, self.req_name = "", f"hub-{secrets.token_hex(4)}"
        try:
            await self.submit_batch_script()
        except BaseException as error:
            # Either the student has just stopped the server, or Slurm is busy. Slurm may have the job, although its
            # number is unknown here.
            prefix = format_template(self.exec_prefix, **self.get_req_subvars())
            with suppress(RuntimeError):
                await self.run_command(f"{prefix} scancel --name={self.req_name}")
            if not isinstance(error, RuntimeError):
                raise
            words = slurm_cli.without_prefix(str(error), "sbatch")
            raise self._refused(explain_refused(words, self.site, self.wish(self.user_options))) from None

    async def submit_batch_script(self) -> str:
        """Submit the job, and save its number, so that the hub finds the job after a restart."""
        job_id: str = await super().submit_batch_script()
        if not job_id:
            raise RuntimeError("no job number")
        self.orm_spawner.state = self.get_state()
        self.user.db.commit()
        return job_id

    def _refused(self, sentence: str) -> Refused:
        self.endings[self._key] = sentence
        return Refused(sentence)

    async def progress(self) -> AsyncIterator[dict[str, object]]:
        """Yield a message on why the job waits or on which nodes it starts, each time that the message changes."""
        last = ""
        while not self.port:
            message = self._waits()
            if message != last:
                yield {"progress": 60 if self.state_isrunning() else 20 if self.job_id else 5, "message": message}
            last = message
            await asyncio.sleep(self.startup_poll_interval)

    def _waits(self) -> str:
        if not self.job_id:
            return "The job is being submitted."
        if self.state_isrunning():
            return f"Job {self.job_id} runs on {self._queued().nodes}: the server is starting."
        return explain_pending(self.job_id, self._queued().reason, self._queued().start)

    # From then on.

    async def stop(self, now: bool = False) -> None:
        """Cancel the job, and wait until it has ended; the hub's pages show no explanation in this case."""
        self._stopped = True
        if self.job_id:
            try:
                await super().stop(now)
            except RuntimeError as error:
                if FORGOTTEN not in str(error):
                    raise
        self.clear_state()

    async def query_job_status(self) -> JobStatus:
        """Ask Slurm for the job's state; if the job has ended, keep the reason for the hub's pages."""
        status: JobStatus = await super().query_job_status()
        if status == JobStatus.NOTFOUND and self.job_id and not self._stopped:
            log = f"{self.req_folder}/hub-{self.job_id}.out"
            self.endings[self._key] = explain_ended(self.job_id, self._queued(slurm_cli.UNKNOWN), log)
        return status

    def _queued(self, otherwise: str = slurm_cli.PENDING) -> slurm_cli.JobState:
        """Return the job's state as Slurm's queue last showed it, or else the state `otherwise`."""
        return slurm_cli.parse_queue(self.job_status.partition("|")[2]).get(self.job_id, slurm_cli.JobState(otherwise))

    @property
    def _key(self) -> tuple[str, str]:
        return self.user.name, self.name

    async def run_command(self, cmd: str, input: str | None = None, env: dict[str, Any] | None = None) -> str:  # noqa: A002 - batchspawner's
        """Run a command in a shell, with a time limit and without the hub's secrets, and return its output.

        Raises:
            RuntimeError: the command failed, or did not end in time; the message has the command's error output.
        """
        env = env or {name: os.environ[name] for name in NEEDED if name in os.environ}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_shell(cmd, env=env, stdin=pipe, stdout=pipe, stderr=pipe, cwd="/")
        try:
            out, said = await asyncio.wait_for(process.communicate((input or "").encode()), slurm_cli.TIMEOUT_S)
        except asyncio.TimeoutError:  # in Python 3.10, this is not TimeoutError
            raise RuntimeError(f"no answer in {slurm_cli.TIMEOUT_S:g} s") from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode:
            raise RuntimeError(said.decode(errors="replace").strip() or f"exit status {process.returncode}")
        return out.decode(errors="replace").strip()
