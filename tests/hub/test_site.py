"""A real JupyterHub whose servers are jobs of a real Slurm with two nodes, as a student meets it in a real browser."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from socket import create_server
from types import SimpleNamespace

import pytest

from coursekit.rehearsal.cluster import Cluster
from coursekit.rehearsal.course import make_course
from coursekit.rehearsal.sandbox import plain_environment
from coursekit.sites.load import load_site

ROOT = Path(__file__).parents[2]
PROXY = ROOT / "hub" / "node_modules" / ".bin" / "configurable-http-proxy"
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc", "chromium")
pytestmark = [
    pytest.mark.needs(*PROGRAMS),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not PROXY.exists(), reason="needs hub/node_modules: make env"),
    pytest.mark.timeout(400),
]

CHROMIUM_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
PENDING_LIMIT_S = 12
LAB = "02-horovod-sgd"
CONFIG = """
from pathlib import Path
from coursekit.hub import site
site.configure(c, "karolina", Path({course!r}))
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allowed_users = {{"root"}}
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.cookie_secret = b"0" * 32
c.JupyterHub.log_level = "DEBUG"
c.Spawner.environment = {environ!r}
c.Spawner.notebook_dir = {course!r}
c.Spawner.args = ["--allow-root"]
c.Spawner.ip = "127.0.0.1"
c.Spawner.poll_interval = 1
c.Spawner.startup_poll_interval = 0.3
c.CourseSpawner.node_address = "127.0.0.1"
c.CourseSpawner.pending_limit_s = {limit_s}
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub over two nodes of Karolina: its address and password, the Slurm, the course's folder."""
    folder = tmp_path_factory.mktemp("hub")
    with Cluster(load_site(ROOT, "karolina"), num_nodes=2) as cluster:
        course = make_course(ROOT, cluster.folder / "course")
        password, ports = secrets.token_hex(8), free_ports(3)
        own = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        environ = {name: cluster.environ[name] for name in cluster.environ if name != "SBATCH_ACCOUNT"} | own
        config = CONFIG.format(
            course=str(course), ports=ports, proxy=str(PROXY), password=password, environ=environ, limit_s=PENDING_LIMIT_S
        )
        (folder / "config.py").write_text(config)
        with (folder / "hub.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", "-f", str(folder / "config.py")],
                env={
                    **plain_environment(),
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                    "SLURM_CONF": cluster.environ["SLURM_CONF"],
                    "COURSEKIT_HUB_ADDRESS": "127.0.0.1",
                },
                cwd=folder,
                stdout=log,
                stderr=log,
            )
            try:
                address = f"http://127.0.0.1:{ports[0]}"
                until(lambda: process.poll() is None and answers(f"{address}/hub/api/"))
                yield SimpleNamespace(
                    address=address, password=password, cluster=cluster, course=course, log=folder / "hub.log"
                )
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(60)


@pytest.fixture
def page(hub):
    """A browser in which the student has logged in; at the end no server and no job of theirs is left."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(f"{hub.address}/hub/login?next=%2Fhub%2Fspawn")
        page.fill("input[name=username]", "root")
        page.fill("input[name=password]", hub.password)
        page.click("#login_submit")
        page.wait_for_selector("#num_nodes")
        yield page
        browser.close()


def test_lab_02_runs_on_two_nodes_until_the_time_is_over(hub, page):
    """The form gives two nodes; lab 02 runs on ranks of job steps there; after its time limit the hub says why."""
    fill(page, num_nodes=2, num_ranks_per_node=2, time_min=30, account="OPEN-00-00")
    screenshot(page, "site-form")
    page.click("#spawn_form button[type=submit]")
    page.wait_for_url("**/user/root/lab*")
    job = only_job(hub)

    assert run_notebook(page, hub, "where") == [["qgpu-1", "0"], ["qgpu-1", "0"], ["qgpu-2", "0"], ["qgpu-2", "0"]]
    assert hub.cluster.call("squeue", "--noheader", "--format=%D %C %b %a").split() == ["2", "64", "gres/gpu:2", "open-00-00"]

    hub.cluster.call("scontrol", "update", f"JobId={job}", "TimeLimit=1")
    until(lambda: not jobs(hub), 120)
    until(lambda: "stopped" in hub.log.read_text().rpartition("Initiating spawn")[2])
    page.goto(f"{hub.address}/user/root/lab")
    said = page.inner_text("#why-ended")
    screenshot(page, "site-time-limit")

    assert re.fullmatch(
        rf"Your server \(job {job} on qgpu-\[1-2\]\) ended at \d\d:\d\d on \d+ \w+ after \d+ min: It reached its time limit\. "
        r"Notebooks are as they were last saved\. Start it again, with more minutes if you need them\.",
        said,
    )


def free_ports(number):
    """Return ports that nobody listens on now."""
    sockets = [create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def answers(url):
    """Whether somebody serves this address."""
    try:
        with urllib.request.urlopen(url, timeout=5):  # noqa: S310  # our own hub on loopback
            return True
    except OSError:
        return False


def until(is_so, limit_s=60):
    """Wait until something is so."""
    deadline = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def fill(page, **values):
    """Fill in the form."""
    for name, value in values.items():
        page.fill(f"#{name}", str(value))


def jobs(hub):
    """Return the jobs of the hub that wait or run."""
    return hub.cluster.call("squeue", "--noheader", "--name=hub", "--format=%i").split()


def only_job(hub):
    """Return the number of the one job of the hub."""
    (job,) = jobs(hub)
    return job


def screenshot(page, name):
    """Keep a picture of the page for people to look at."""
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")
