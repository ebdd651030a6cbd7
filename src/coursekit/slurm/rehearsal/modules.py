"""The environment modules that a site's profile names, as a tree of Lua files for Lmod.

Each puts the Python that rehearses on the PATH, as the site's module puts its own there.
A module that the profile does not name is not in the tree, so that loading it fails as at the site.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coursekit.slurm.sites.profile import Site

LOADED_VARIABLE = "COURSEKIT_REHEARSED_MODULES"
LUA = """help([[{name}, as it is called at {site}: a stand-in of the rehearsal.]])
prepend_path("PATH", {programs})
append_path("{loaded}", {quoted})
"""


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
