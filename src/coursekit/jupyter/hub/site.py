"""The site's part of JupyterHub's configuration: servers run as jobs on nodes, and report their ports to the hub.

All other settings, such as who may log in, addresses and certificates, are in the computing centre's own file.
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

START_TIMEOUT_S = 3600 + 600  # longer than the spawner's limit of an hour: the hub cannot say why a job waits
AS_STUDENT = "runuser -u {username} --"  # unlike sudo, runuser keeps variables as they are
PORT_ADDRESS = r"/api/batchspawner"  # where `batchspawner-singleuser` sends a server's port
PORTS = range(1024, 65536)


class PortHandler(APIHandler):  # type: ignore[misc]  # jupyterhub has no types
    """Accepts the port of a server that is starting on a node, but only once for each server.

    It replaces batchspawner's own handler, which lets a server set any attribute of its spawner. With that handler, a
    student, who has the server's token, could give the hub a command to run.
    """

    @web.authenticated
    def post(self) -> None:
        """Accept a port from a server that identifies itself with its own token."""
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
        raise web.HTTPError(404, "no server with this token is waiting for its port")


def configure(c: Any, site: str, root: Path) -> None:
    """Add the settings that a site needs to JupyterHub's configuration.

    Args:
        c: the configuration.
        site: the site's name in `slurm/sites/`.
        root: the course's checkout, which has the same path on every node.

    Nodes reach the hub at the address in `$COURSEKIT_HUB_ADDRESS`, which is by default the name of this machine.

    Raises:
        CourseKitError: there is no such site.
    """
    load_site(root, site)  # a wrong name fails here, not when the first student starts a server
    default_handlers[:] = [each for each in default_handlers if each[0] != PORT_ADDRESS] + [(PORT_ADDRESS, PortHandler)]
    address = os.environ.get("COURSEKIT_HUB_ADDRESS") or socket.gethostname()
    c.JupyterHub.hub_ip = c.JupyterHub.hub_connect_ip = address
    c.JupyterHub.spawner_class = CourseSpawner
    c.JupyterHub.template_paths = [str(TEMPLATES)]
    c.JupyterHub.template_vars = {"why_ended": lambda _: why_ended}  # the hub calls every callable
    c.CourseSpawner.site_name = site
    c.CourseSpawner.root = str(root)
    if os.geteuid() == 0:  # other accounts use sudo, which is batchspawner's default
        c.CourseSpawner.exec_prefix = AS_STUDENT
    c.Spawner.start_timeout = START_TIMEOUT_S
    c.Spawner.http_timeout = 300  # for a cold parallel file system
    c.Spawner.startup_poll_interval = 2.0
    c.Spawner.environment.update({"COURSEKIT_CHECKOUT": str(root)})
    c.Spawner.env_keep = ["PATH", "LANG", "LC_ALL", "SLURM_CONF"]  # few, because sbatch passes all of them on
    c.Spawner.apply_user_options = lambda _spawner, _options: None  # they are checked, and go into the job script
    c.Spawner.consecutive_failure_limit = 0  # the hub keeps running after refused jobs


def why_ended(user: str, server: str = "") -> str:
    """Return, for the hub's pages, why a user's last server is gone; '' if it is running or was stopped on purpose."""
    return CourseSpawner.endings.get((user, server), "")
