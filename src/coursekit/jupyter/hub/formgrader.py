"""Make the buttons of nbgrader's formgrader run the kit's own commands.

The original button Autograde runs students' code under the account that owns the gradebook. Here, the buttons start the
commands that an instructor would type, so grading is sandboxed and hand-ins are kept; the page shows the output.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from jupyter_server.utils import url_path_join
from nbgrader.server_extensions import formgrader
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, check_xsrf
from tornado import web

LAB, STUDENT = "([^/]+)", "([^/]+)"
ASSIGNMENT = f"formgrader/api/assignment/{LAB}"
# For each address, the words of the command; {0} is the lab, and {1} is the student.
VERBS = {
    f"{ASSIGNMENT}/collect": ("course", "collect", "{0}"),
    f"formgrader/api/submission/{LAB}/{STUDENT}/autograde": ("grade", "{0}", "--student", "{1}"),
    # The kit generates and releases feedback pages in one step.
    f"{ASSIGNMENT}/generate_feedback": ("course", "feedback", "{0}"),
    f"{ASSIGNMENT}/release_feedback": ("course", "feedback", "{0}"),
    f"{ASSIGNMENT}/{STUDENT}/generate_feedback": ("course", "feedback", "{0}", "--student", "{1}"),
    f"{ASSIGNMENT}/{STUDENT}/release_feedback": ("course", "feedback", "{0}", "--student", "{1}"),
}


class VerbHandler(BaseApiHandler):  # type: ignore[misc]  # nbgrader has no types
    """Runs one command of the kit and answers in the form that formgrader's pages expect."""

    def initialize(self, words: tuple[str, ...], course: str) -> None:
        """Store the words of the command, and the course folder."""
        self.words = words
        self.course = course

    @web.authenticated
    @check_xsrf  # type: ignore[untyped-decorator]  # neither has its decorator
    async def post(self, *names: str) -> None:
        """Run the command; refuse any name that begins with a dash, because the command would read it as an option."""
        if any(name.startswith("-") for name in names):
            raise web.HTTPError(404)
        words = [word.format(*names) for word in self.words]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "coursekit", *words, "--course", self.course),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        log = said.decode(errors="replace")
        failed = process.returncode != 0
        outcome = {"success": not failed, "log": log, **({"error": log.strip()} if failed else {})}
        self.set_header("Content-Type", "text/plain")  # formgrader's scripts parse it themselves
        await self.finish(json.dumps(outcome))


def _load_jupyter_server_extension(server: Any) -> None:
    """Add the kit's commands, and then load formgrader.

    The order matters: the first address that matches counts, so nbgrader's own commands must be added later.
    """
    base = server.web_app.settings["base_url"]
    handlers = [
        (url_path_join(base, address), VerbHandler, {"words": words, "course": "."}) for address, words in VERBS.items()
    ]
    server.web_app.add_handlers(".*$", handlers)
    formgrader.load_jupyter_server_extension(server)
