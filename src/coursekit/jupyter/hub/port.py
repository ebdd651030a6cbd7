"""How a server on a node tells the hub its port.

In place of batchspawner's own handler, which sets whatever attribute of the spawner a server names: a student, who has
the server's token, could give the hub a command to run.
"""

from __future__ import annotations

import secrets

from jupyterhub.apihandlers import APIHandler, default_handlers
from tornado import web

ADDRESS = r"/api/batchspawner"  # where `batchspawner-singleuser` sends it
PORTS = range(1024, 65536)


class PortHandler(APIHandler):  # type: ignore[misc]  # jupyterhub has no types
    """Takes the port of a server that is starting, once."""

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


def install() -> None:
    """Put this handler in the place of batchspawner's."""
    default_handlers[:] = [each for each in default_handlers if each[0] != ADDRESS] + [(ADDRESS, PortHandler)]
