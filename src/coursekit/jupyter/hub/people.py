"""The people of the demo: accounts made for it, each with its own token."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from coursekit.files import write_file

COURSE = "demo"
# Debian keeps these numbers free of ordinary accounts.
FIRST_UID = 60101
NUM_TOKEN_BYTES = 12
PRIVATE = "hub"  # JupyterHub's own folder within the demo's
TOKENS = f"{PRIVATE}/tokens.json"


@dataclass(frozen=True)
class Person:
    """An account of the demo.

    Attributes:
        name: Name of the account.
        full_name: As on the roster.
        uid: Number of the account and of its group.
        logs_in: Whether it gets a token; the account that grades belongs to a service and gets none.
    """

    name: str
    full_name: str
    uid: int
    logs_in: bool = True


GRADER = Person("grader", "Formgrader", FIRST_UID, logs_in=False)
INSTRUCTOR = Person("instructor", "Instructor", FIRST_UID + 1)
STUDENTS = (
    Person("ada", "Ada Lovelace", FIRST_UID + 2),
    Person("alan", "Alan Turing", FIRST_UID + 3),
    Person("grace", "Grace Hopper", FIRST_UID + 4),
)
PEOPLE = (GRADER, INSTRUCTOR, *STUDENTS)


def make_tokens(folder: Path) -> dict[str, str]:
    """Make a new token for everybody who logs in; only their hashes are written down, in the demo's `folder`."""
    tokens = {person.name: secrets.token_urlsafe(NUM_TOKEN_BYTES) for person in PEOPLE if person.logs_in}
    hashes = {name: _hash(token) for name, token in tokens.items()}
    write_file(folder / TOKENS, json.dumps(hashes).encode(), mode=0o600)
    return tokens


def is_token(folder: Path, name: str, token: str) -> bool:
    """Return whether this is the person's token."""
    hashes = json.loads((folder / TOKENS).read_text())
    return hmac.compare_digest(hashes.get(name, ""), _hash(token))


def roster() -> str:
    """Return the students as a roster in CSV."""
    rows = [(person.name, *person.full_name.split(), f"{person.name}@localhost") for person in STUDENTS]
    return "id,first_name,last_name,email\n" + "".join(",".join(row) + "\n" for row in rows)


def accounts(home: Path) -> dict[str, str]:
    """Return this machine's files `passwd` and `group` with the people of the demo in them."""
    names = {person.name for person in PEOPLE}
    added = {
        "passwd": [f"{one.name}:x:{one.uid}:{one.uid}:{one.full_name}:{home / one.name}:/bin/bash\n" for one in PEOPLE],
        "group": [f"{one.name}:x:{one.uid}:\n" for one in PEOPLE],
    }
    texts = {}
    for file, lines in added.items():
        there = Path("/etc", file).read_text().splitlines(keepends=True)
        texts[file] = "".join([*(line for line in there if line.partition(":")[0] not in names), *lines])
    return texts


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
