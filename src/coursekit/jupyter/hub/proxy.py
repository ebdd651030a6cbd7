"""The proxy in front of the hub: an npm package, run by the Node.js of this environment or of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.paths import node

if TYPE_CHECKING:
    from pathlib import Path

PROXY = "node_modules/configurable-http-proxy/bin/configurable-http-proxy"


def command(hub: Path) -> list[str]:
    """Return the words that start the proxy; `hub` has its `package.json`, and `npm ci` was run in it.

    Raises:
        CourseKitError: the proxy or Node.js is not there.
    """
    script = hub / PROXY
    if not script.is_file():
        raise CourseKitError(f"{hub.name}/{PROXY} is missing: `make hub` installs it (npm ci in {hub.name}/).")
    return [node(), str(script)]
