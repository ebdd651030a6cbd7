"""The site's part of JupyterHub's configuration: servers are jobs on nodes, which tell the hub their ports.

A centre says the rest in its own file: who may log in, addresses, certificates.
"""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from typing import Any

from jupyterhub.apihandlers import APIHandler, default_handlers
from tornado import web

from coursekit.jupyter.hub.form import TEMPLATES
from coursekit.jupyter.hub.spawner import CourseSpawner
from coursekit.slurm.sites.load import load_site

START_TIMEOUT_S = 3600 + 600  # the spawner's own limit of an hour comes first: the hub cannot say why a job waits
AS_STUDENT = "runuser -u {username} --"  # keeps variables as they are, which sudo does not
PORT_ADDRESS = r"/api/batchspawner"  # where `batchspawner-singleuser` sends a server's port
PORTS = range(1024, 65536)


class PortHandler(APIHandler):  # type: ignore[misc]  # jupyterhub has no types
    """Takes the port of a server that is starting on a node, once.

    In place of batchspawner's own handler, which sets whatever attribute of the spawner a server names: a student, who
    has the server's token, could give the hub a command to run.
    """

    @web.authenticated
    def post(self) -> None:
        """Take a port, from a server that shows its own token."""
        data = self.get_json_body()
        port = data.get("port") if isinstance(data, dict) else None
        if not isinstance(port, int) or port not in PORTS or set(data) != {"port"}:
            raise web.HTTPError(400, 'the body must be {"port": 1024 to 65535}')
        token = self.get_auth_token() or ""
        for spawner in dict(getattr(self.current_user, "spawners", {})).values():
            if spawner.api_token and secrets.compare_digest(spawner.api_token, token) and spawner.port == 0:
                spawner.port = port
                self.set_status(201)
                return
        raise web.HTTPError(404, "no server that waits for its port has this token")


def configure(c: Any, site: str, root: Path) -> None:
    """Set what a site needs on JupyterHub's configuration.

    Args:
        c: the configuration.
        site: the site's name in `slurm/sites/`.
        root: the course's checkout, under the same path on every node. Nodes reach the hub at the address in
            `$COURSEKIT_HUB_ADDRESS`, by default under this machine's name.

    Raises:
        CourseKitError: there is no such site.
    """
    load_site(root, site)  # a wrong name ends here and not with the first student
    default_handlers[:] = [each for each in default_handlers if each[0] != PORT_ADDRESS] + [(PORT_ADDRESS, PortHandler)]
    address = os.environ.get("COURSEKIT_HUB_ADDRESS") or socket.gethostname()
    c.JupyterHub.hub_ip = c.JupyterHub.hub_connect_ip = address
    c.JupyterHub.spawner_class = CourseSpawner
    c.JupyterHub.template_paths = [str(TEMPLATES)]
    c.JupyterHub.template_vars = {"why_ended": lambda _: why_ended}  # the hub calls what can be called
    c.CourseSpawner.site_name = site
    c.CourseSpawner.root = str(root)
    if os.geteuid() == 0:  # else sudo, as batchspawner has it
        c.CourseSpawner.exec_prefix = AS_STUDENT
    c.Spawner.start_timeout = START_TIMEOUT_S
    c.Spawner.http_timeout = 300  # a cold parallel file system
    c.Spawner.startup_poll_interval = 2.0
    c.Spawner.environment.update({"COURSEKIT_CHECKOUT": str(root)})
    c.Spawner.env_keep = ["PATH", "LANG", "LC_ALL", "SLURM_CONF"]  # sbatch passes on what it sees, so it sees little
    c.Spawner.apply_user_options = lambda _spawner, _options: None  # its script is made from them, checked
    c.Spawner.consecutive_failure_limit = 0  # the hub goes on after refused jobs


def why_ended(user: str, server: str = "") -> str:
    """Return why a user's last server is gone; '' when it runs, or was stopped on purpose. For the hub's pages."""
    return CourseSpawner.endings.get((user, server), "")
