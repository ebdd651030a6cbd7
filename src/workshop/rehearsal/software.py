"""What a site's software adds to a machine, for a rehearsal: its environment modules, and options of `srun`.

Each module is a Lua file for Lmod, which puts the Python that rehearses on the PATH, as the site's puts its own there.
A module that the profile does not name is not in the tree, so that loading it fails as at the site.
Options such as `--environment=coursekit` of a container engine come by a SPANK plugin, so that scripts are accepted as
they are. The rehearsal starts no container: ranks run on this machine.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.slurm.sites.profile import Site

LOADED_VARIABLE = "COURSEKIT_REHEARSED_MODULES"
LUA = """help([[{name}, as it is called at {site}: a stand-in of the rehearsal.]])
prepend_path("PATH", {programs})
append_path("{loaded}", {quoted})
"""
SOURCE = Path(__file__).with_name("options.c")
COMPILE_TIMEOUT_S = 60
OPTION = re.compile(r"--([a-z][a-z0-9-]*)(?:=.*)?")


def module_names(site: Site) -> tuple[str, ...]:
    """Return every module that a job script of the site may load."""
    of_partitions = (name for partition in site.partitions.values() for name in partition.modules)
    return tuple(dict.fromkeys((*site.software.modules, *of_partitions)))


def write_modules(site: Site, folder: Path) -> Mapping[str, str]:
    """Write the tree of a site's modules, and return the variables with which Lmod finds it."""
    folder.mkdir(exist_ok=True)
    for name in module_names(site):
        path = folder / f"{name}.lua"
        path.parent.mkdir(parents=True, exist_ok=True)
        programs = json.dumps(str(Path(sys.executable).parent))
        path.write_text(
            LUA.format(name=name, site=site.name, programs=programs, loaded=LOADED_VARIABLE, quoted=json.dumps(name))
        )
    # Where listing takes long, Lmod would keep a cache in the home folder: never here.
    return {"MODULEPATH": str(folder), "LMOD_SHORT_TIME": "86400"}


def option_names(site: Site) -> tuple[str, ...]:
    """Return the long options, without hyphens, that the site's plugin adds to `srun`."""
    matches = (OPTION.fullmatch(word) for word in site.software.srun_options)
    return tuple(dict.fromkeys(match[1] for match in matches if match))


def plugstack(site: Site, folder: Path) -> str:
    """Compile the plugin, if the site needs one, and return the text of plugstack.conf.

    Raises:
        CourseKitError: the compiler refused it; the message quotes it.
    """
    names = option_names(site)
    if not names:
        return ""
    plugin = folder / "options.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(plugin), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMPILE_TIMEOUT_S)
    if done.returncode:
        raise CourseKitError(f"gcc cannot compile {SOURCE.name}: {done.stderr.strip()}")
    return f"required {plugin} {' '.join(names)}\n"
