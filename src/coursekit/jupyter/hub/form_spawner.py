"""A spawner with a form: from what a student asks for to the job script of the server."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from batchspawner import SlurmSpawner
from tornado import web
from traitlets import Unicode

from coursekit.errors import CourseKitError
from coursekit.jupyter.hub.form import form_html, read_wish
from coursekit.slurm.jobs.directives import Event
from coursekit.slurm.jobs.job_script import JobScript
from coursekit.slurm.jobs.render import render
from coursekit.slurm.sites.load import load_site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coursekit.jupyter.hub.form import ServerWish
    from coursekit.slurm.sites.profile import Site


class Refused(web.HTTPError):
    """A server does not start, because of what was asked for or because of Slurm; the hub itself works."""

    def __init__(self, sentence: str) -> None:
        super().__init__(400, sentence)
        self.jupyterhub_message = sentence


class FormSpawner(SlurmSpawner):  # type: ignore[misc]  # batchspawner has no types
    """batchspawner's spawner with the form of a site, and the kit's job script."""

    site_name = Unicode(help="The site, as slurm/sites/ calls it.").tag(config=True)
    root = Unicode(help="The course's checkout, under the same path on every node, with its .venv.").tag(config=True)
    typed: Mapping[str, object] = {}  # into the form, last

    @property
    def site(self) -> Site:
        """The site's profile."""
        return load_site(Path(self.root), self.site_name)

    async def get_options_form(self) -> str:
        """Return the form, with what was typed last."""
        return form_html(self.site, self.typed or self.orm_spawner.user_options or {})

    def options_from_form(self, form_data: Mapping[str, list[str]]) -> dict[str, object]:
        """Return what a form says, once it is checked."""
        self.typed = {name: values[0] for name, values in form_data.items() if values}
        return asdict(self.wish(self.typed))

    def wish(self, given: Mapping[str, object]) -> ServerWish:
        """Return what somebody asks for.

        Raises:
            Refused: it cannot be had; the message says why.
        """
        try:
            return read_wish(self.site, given)
        except CourseKitError as error:
            raise Refused(str(error)) from None

    def script(self) -> str:
        """Return the job script; whatever way the options came, they are checked here."""
        wish = self.wish(self.user_options)
        job = JobScript(
            *(self.site, "hub", None, wish.partition, wish.num_nodes, Event(wish.account, wish.reservation)),
            num_tasks_per_node=wish.num_ranks_per_node,
            time_limit_min=wish.time_min,
            arguments=shlex.join(self.get_args()),
        )
        return render(Path(self.root), job)
