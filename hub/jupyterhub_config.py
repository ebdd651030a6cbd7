"""JupyterHub for a class that hands in through nbgrader: one file for two cases.

demo  `make hub`: one machine, demo accounts with one password, nothing beyond loopback.
site  COURSEKIT_SITE=karolina COURSEKIT_COURSE=/srv/course COURSEKIT_INSTRUCTORS=ada,alan \
          jupyterhub -f hub/jupyterhub_config.py
      for a centre: servers are jobs on the site's nodes. Nodes reach the hub at $COURSEKIT_HUB_ADDRESS. The centre
      configures logins and TLS, below or in a file that loads this one (load_subconfig).

`coursekit course init` creates the course folder; the formgrader runs under the account that owns it.
"""

import os
from pathlib import Path

from coursekit.course.roster import ROSTER, read_roster, username_key
from coursekit.course.settings import load_settings
from coursekit.paths import node

c = get_config()  # noqa: F821 - traitlets puts it here

HUB = Path(__file__).resolve().parent
CHECKOUT = Path(os.environ.get("COURSEKIT_ROOT", HUB.parent))
BIN = HUB.parent / ".venv" / "bin"
SITE = os.environ.get("COURSEKIT_SITE", "")
COURSE = Path(os.environ["COURSEKIT_COURSE"])
PORT = int(os.environ.get("COURSEKIT_HUB_PORT", "8000"))
COURSE_ID = load_settings(COURSE).name
GRADER = COURSE.owner()
STUDENTS = {student.id for student in read_roster(COURSE / ROSTER)}
INSTRUCTORS = set(map(username_key, os.environ["COURSEKIT_INSTRUCTORS"].split(",")))  # as the hub spells its users

# Addresses: four ports in a row, on loopback. A centre puts its TLS in front, or sets bind_url and ssl_cert here.
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT}"
c.JupyterHub.hub_port = PORT + 1
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORT + 2}"
# The proxy is an npm package: `npm ci` in this folder installs it, and so does `make hub`.
c.ConfigurableHTTPProxy.command = [node(), str(HUB / "node_modules" / ".bin" / "configurable-http-proxy")]

# Users: the roster and the instructors. Nobody is an administrator, so nobody can open another user's server.
c.Authenticator.allowed_users = STUDENTS | INSTRUCTORS
c.JupyterHub.load_groups = {"students": {"users": sorted(STUDENTS)}, "instructors": {"users": sorted(INSTRUCTORS)}}

# Servers: JupyterLab with nbgrader's pages; hub/jupyter/ says which pages each group gets.
c.Spawner.cmd = [str(BIN / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {
    "PATH": os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)]),  # nbgrader starts programs by name
    "JUPYTER_CONFIG_PATH": lambda spawner: os.pathsep.join(
        [
            str(HUB / "jupyter" / ("instructor" if spawner.user.name in INSTRUCTORS else "student")),
            str(COURSE / "student"),  # says where the exchange is
            str(HUB.parent / "src" / "coursekit" / "jupyter" / "settings"),  # settings for every JupyterLab of the kit
        ]
    ),
}

# Formgrader: a service of the hub that runs as the owner of the course; only instructors may open it.
c.JupyterHub.services = [
    {
        "name": COURSE_ID,
        "url": f"http://127.0.0.1:{PORT + 3}",
        "command": [str(BIN / "jupyterhub-singleuser"), f"--ServerApp.root_dir={COURSE}"],
        "user": GRADER,
        "cwd": str(COURSE),  # nbgrader reads its configuration in the folder where it is started
        "environment": {
            "HOME": str(Path(f"~{GRADER}").expanduser()),
            "PATH": c.Spawner.environment["PATH"],
            "COURSEKIT_ROOT": str(CHECKOUT),
            "JUPYTER_CONFIG_PATH": str(HUB / "jupyter" / "formgrader"),
            "JUPYTERHUB_DEFAULT_URL": "/formgrader",
        },
        "oauth_no_confirm": True,
    }
]
FORMGRADER = f"access:services!service={COURSE_ID}"
c.JupyterHub.load_roles = [
    {"name": "grading", "scopes": [FORMGRADER, "list:services"], "groups": ["instructors"]},
    # A server may ask for whatever its owner may: so an instructor's course list finds formgrader.
    {"name": "server", "scopes": ["users:activity!user", "access:servers!server", FORMGRADER, "list:services"]},
]

if SITE:
    from coursekit.jupyter.hub import site

    site.configure(c, SITE, CHECKOUT)
else:
    from coursekit.jupyter.hub import demo

    demo.configure(c)
