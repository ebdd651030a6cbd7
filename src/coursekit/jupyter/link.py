"""A link that opens the labs on a JupyterHub: nbgitpuller fetches them into the student's folder first.

The student's own changes stay, as nbgitpuller merges in their favour; new files of the course arrive with each visit.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

from coursekit.errors import CourseKitError

HUB_SCHEMES = ("https", "http")
REPOSITORY_SCHEMES = ("https", "http", "git", "ssh")
# What the address bar shows behind the hub's own address, once somebody is logged in.
WITHIN_HUB = re.compile(r"/(hub|user)(/.*)?$")
# What git allows in a branch's name and people use; see git-check-ref-format(1).
BRANCH = re.compile(r"(?!.*(\.\.|//|@\{|/$|\.lock$))[\w.+#@%][\w./+#@%-]*")


def pull_link(hub: str, repository: str, branch: str = "main", lab: str | None = None) -> str:
    """Return the link.

    Args:
        hub: the hub's address, or any page of it.
        repository: the address of a git repository that the student's server can reach.
        branch: its branch.
        lab: the name of a lab, whose notebook opens; None for the folder of labs.

    Raises:
        CourseKitError: the hub or the repository is not an address, or git knows no such branch.
    """
    _check_address("--hub", hub, HUB_SCHEMES)
    _check_address("--repo", repository, REPOSITORY_SCHEMES)
    if not BRANCH.fullmatch(branch):
        raise CourseKitError(f"--branch: {branch!r} is not a name of a branch: give one such as main.")
    folder = folder_name(repository)
    opened = f"{folder}/labs" + (f"/{lab}/{lab}.ipynb" if lab else "")
    query = {"repo": repository, "branch": branch, "targetpath": folder, "urlpath": f"lab/tree/{opened}"}
    parts = urlsplit(hub)
    path = f"{WITHIN_HUB.sub('', parts.path.rstrip('/'))}/hub/user-redirect/git-pull"
    return urlunsplit((parts.scheme, parts.netloc, path, urlencode(query, quote_via=quote, safe=""), ""))


def folder_name(repository: str) -> str:
    """Return the folder that the repository gets in the student's: its own name, without what browsers encode.

    Without a `targetpath`, nbgitpuller would keep `.git` at its end.
    """
    last = unquote(urlsplit(repository).path).rstrip("/").rpartition("/")[2]
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", re.sub(r"\.git$", "", last)).strip(".-")
    return plain or "course"


def _check_address(option: str, address: str, schemes: tuple[str, ...]) -> None:
    try:
        parts = urlsplit(address)
        is_address = bool(parts.scheme in schemes and parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number, a bracket too many
        is_address = False
    if not is_address or re.search(r"[\s\\]", address):
        example = f"{schemes[0]}://hub.example.org" if option == "--hub" else f"{schemes[0]}://git.example.org/course"
        raise CourseKitError(f"{option}: {address!r} is not an address: give one such as {example}.")
    if parts.password is not None:
        raise CourseKitError(f"{option}: there is a password in the address, and everybody reads a link: take it out.")
