"""The demo's part of JupyterHub's configuration: who may log in with which token, and all on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jupyterhub.auth import Authenticator
from jupyterhub.spawner import LocalProcessSpawner

from coursekit.jupyter.hub.people import is_token

STATE = "COURSEKIT_HUB_STATE"
START_TIMEOUT_S = 600  # JupyterHub knows the wall only


class TokenAuthenticator(Authenticator):  # type: ignore[misc]  # jupyterhub has no types
    """Lets in who knows the token of the account."""

    async def authenticate(self, handler: Any, data: dict[str, str]) -> str | None:
        """Return the name of the account, or None if the token is not that account's."""
        del handler
        name = data["username"].strip()
        return name if is_token(Path(os.environ[STATE]), name, data["password"].strip()) else None


def configure(c: Any) -> None:
    """Set what only the demo needs on JupyterHub's configuration."""
    c.JupyterHub.authenticator_class = TokenAuthenticator
    c.JupyterHub.spawner_class = LocalProcessSpawner
    c.JupyterHub.db_url = "sqlite:///jupyterhub.sqlite"
    c.JupyterHub.cookie_secret_file = "cookie_secret"  # noqa: S105 - the name of a file
    c.Spawner.ip = "127.0.0.1"
    c.Spawner.start_timeout = START_TIMEOUT_S
    c.Spawner.http_timeout = START_TIMEOUT_S
