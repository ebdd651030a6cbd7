"""A PostgreSQL server of our own: Debian's, on a socket in a folder of its own, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

SERVER_S = 900
ACCOUNT = "postgres"


class Server:
    """A server that can be stopped and started; PostgreSQL refuses to run as root."""

    def __init__(self, folder):
        self.folder = folder
        self.account = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam(ACCOUNT)
            os.chown(folder, user.pw_uid, user.pw_gid)
            self.account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.data = str(folder / "data")
        self.run("initdb", "--auth=trust", "--no-sync", "--username=grader", "-D", self.data)

    @property
    def url(self):
        """Where its database `course` is."""
        return f"postgresql+psycopg://grader@/course?host={self.folder}"

    def run(self, *words):
        """Run a program of PostgreSQL's."""
        subprocess.run(words, check=True, timeout=SERVER_S, cwd=self.folder, stdout=subprocess.DEVNULL, **self.account)

    def start(self):
        """Start it, and return when it can be used."""
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off"
        self.run(
            "pg_ctl", "start", "-w", "-t", str(SERVER_S), "-D", self.data, "-l", str(self.folder / "log"), "-o", options
        )

    def stop(self):
        """End it at once, whoever is connected."""
        self.run("pg_ctl", "stop", "-w", "-t", str(SERVER_S), "-m", "immediate", "-D", self.data)


@contextmanager
def running_server():
    """Yield a server that runs, with an empty database; it must run at the end, too."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a socket's path must be short
    try:
        server = Server(folder)
        server.start()
        try:
            server.run("createdb", "-h", str(folder), "-U", "grader", "course")
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
