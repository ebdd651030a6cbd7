"""`coursekit hub`: it says what to open, and leaves nothing, however it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import psutil
import pytest

from coursekit.errors import CourseKitError
from coursekit.jupyter.hub.demo_hub import NUM_PORTS, PEOPLE, demo_hub

from ...ports import free_ports
from .conftest import ROOT, until

START_TIMEOUT_S = 900
END_TIMEOUT_S = 600
USER = 60200

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be several people")


@pytest.fixture
def place():
    """A folder that an ordinary user can reach, too."""
    with tempfile.TemporaryDirectory(prefix="coursekit-hub-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)
        # Its files may belong to accounts of another namespace; the folder goes with them, as this is root.


def as_ordinary_user(place):
    """Return the words that run a command as somebody who is not root, with ids in /etc/subuid and a folder `mine`."""
    (place / "mine").mkdir()
    os.chown(place / "mine", USER, USER)
    files = {"passwd": f"root:x:0:0::/root:/bin/sh\nsomebody:x:{USER}:{USER}::{place}/mine:/bin/sh\n"}
    files |= {"group": f"root:x:0:\nsomebody:x:{USER}:\n"}
    files |= dict.fromkeys(("subuid", "subgid"), "somebody:100000:65536\n")
    code = f"""
import os, sys
from pathlib import Path
from coursekit.jupyter.hub.demo import change_etc, show_only
needed = [Path(sys.base_prefix), Path({str(ROOT)!r}), Path({str(place)!r})]
show_only(needed)
change_etc(Path({str(place)!r}, "etc"), {files!r})
os.environ.update(HOME={str(place / "mine")!r}, XDG_STATE_HOME={str(place / "mine")!r})
words = "setpriv --reuid=somebody --regid=somebody --clear-groups --inh-caps=-all".split()
os.execvp(words[0], words + sys.argv[1:])
"""
    return ["unshare", "--mount", sys.executable, "-c", code]


@pytest.mark.needs("unshare", "newuidmap")
@pytest.mark.parametrize(
    ("is_root", "number", "status"),
    [(True, signal.SIGINT, 0), (True, signal.SIGKILL, -signal.SIGKILL), (False, signal.SIGINT, 0)],
)
def test_a_signal_ends_everything(place, is_root, number, status):
    """It tells address and tokens; after Ctrl-C, even after SIGKILL, no process is left. It needs not be root."""
    port, log, state = free_ports(NUM_PORTS), place / "log", place / "mine" / "coursekit" / "hub"
    prefix, options = ([], ["--state", state]) if is_root else (as_ordinary_user(place), [])
    command = [*prefix, sys.executable, "-m", "coursekit", "hub", "--port", str(port), *options]
    with log.open("w") as output, subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) as hub:
        try:
            until(lambda: "Ctrl-C here ends everything" in log.read_text() or hub.poll() is not None, START_TIMEOUT_S)
            assert hub.poll() is None, log.read_text()
            running = psutil.Process(hub.pid).children(recursive=True)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/hub/login", timeout=300) as page:
                title = re.search(r"<title>\s*(\w+)\s*</title>", page.read().decode())[1]
        finally:
            hub.send_signal(number)
            try:
                ended_with = hub.wait(END_TIMEOUT_S)
            finally:
                hub.kill()  # if the signal did not end it: the test fails, and does not wait for it for ever
    assert ended_with == status
    said = log.read_text()
    assert title == "JupyterHub"
    assert f"http://127.0.0.1:{port} " in said
    assert re.search(r":  [\w-]{16}\n", said)  # the password
    assert len(running) >= len(("unshare", "jupyterhub", "its proxy", "formgrader"))
    assert psutil.wait_procs(running, timeout=END_TIMEOUT_S)[1] == []
    assert str(place) not in Path("/proc/mounts").read_text()
    owners = {path.name: path.stat().st_uid for path in (state / "home").iterdir()}
    assert owners.keys() == {person.name for person in PEOPLE}
    assert len({os.getuid(), *owners.values()}) == 1 + len(PEOPLE)


def test_a_port_in_use_is_named(tmp_path):
    """One sentence says which port, and how to choose others."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(CourseKitError, match=rf"{port} .*\[hub\.port-in-use\]$"),
            demo_hub(ROOT, port, tmp_path),
        ):
            pass


def test_who_may_make_no_accounts_is_told_what_to_do(tmp_path):
    """Accounts need root, or subordinate ids; who has neither gets a sentence."""
    os.seteuid(65534)
    try:
        with pytest.raises(CourseKitError, match=r"\[hub\.no-namespaces\]$"), demo_hub(ROOT, 8000, tmp_path):
            pass
    finally:
        os.seteuid(0)


@pytest.mark.needs("unshare")
def test_folders_that_others_may_not_pass_are_covered(place):
    """What is to be reached can be, through the outermost of nested folders that are closed; all else there is gone."""
    inner = place / "closed" / "inner"
    (inner / "shown").mkdir(parents=True)
    for path in (inner / "secret", inner / "shown" / "file"):
        path.write_text("")
    for folder in (inner, place / "closed"):
        folder.chmod(0o700)
    code = f"""
import os, sys
from pathlib import Path
from coursekit.jupyter.hub.demo import show_only
show_only([Path({str(inner)!r}, "shown")])
print(*os.listdir({str(inner)!r}), *os.listdir(Path({str(inner)!r}, "shown")), Path({str(inner)!r}).stat().st_mode & 1)
"""
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["shown", "file", "1"]
