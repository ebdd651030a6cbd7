"""Options of `srun` that a site adds by a SPANK plugin, such as `--environment=coursekit` of a container engine.

The rehearsal adds them too, so that scripts are accepted as they are.
It starts no container: ranks run on this machine.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from coursekit.slurm.sites.profile import Site

SOURCE = Path(__file__).with_name("options.c")
COMPILE_TIMEOUT_S = 60
OPTION = re.compile(r"--([a-z][a-z0-9-]*)(?:=.*)?")


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
