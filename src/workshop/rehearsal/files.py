"""The files and ports of a rehearsed cluster: Slurm's own, and the modules and options that a site's scripts use."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.slurm.sites.profile import Site, srun_options, with_pytorch
from workshop.rehearsal import slurm_files
from workshop.rehearsal.shape import ClusterShape
from workshop.rehearsal.slurm_files import HOSTS, LOOPBACK, SLURM_CONF, Ports, gpu_file

DEV_NULL = os.makedev(1, 3)
NUM_KEY_BYTES = 128
FIRST_PORT, END_OF_PORTS = 10_000, 65_536
PORTS_PER_BLOCK = 128
PORTS_GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")  # ports that the kernel assigns by itself
OPEN, OWN, SHARED = 0o755, 0o600, 0o1777
TASK_PROLOG = """#!/bin/sh
echo "export TMPDIR={folder}/tmp-$SLURMD_NODENAME"
# Between these nodes, Open MPI uses loopback, which it would leave out by default.
echo "export OMPI_MCA_btl_tcp_if_include=lo"
"""
LOADED_VARIABLE = "COURSEKIT_REHEARSED_MODULES"
LUA = """help([[{name}, as it is called at {site}: a stand-in of the rehearsal.]])
prepend_path("PATH", {programs})
append_path("{loaded}", {quoted})
"""
SOURCE = Path(__file__).with_name("options.c")
COMPILE_TIMEOUT_S = 60
OPTION = re.compile(r"--([a-z][a-z0-9-]*)(?:=.*)?")


def write_files(shape: ClusterShape, folder: Path, ports: Ports) -> dict[str, str]:
    """Write all files that daemons and jobs read, and return the variables with which commands find them."""
    folder.chmod(OPEN)  # jobs of any user must be able to enter it
    for name in ("munge", "logs", "slurmctld", "database", "database-tmp"):
        (folder / name).mkdir()
    for node in shape.all_nodes:
        (folder / f"tmp-{node}").mkdir()
        (folder / f"tmp-{node}").chmod(SHARED)
    for number in range(max(partition.num_gpus_per_node for partition in shape.site.partitions.values())):
        os.mknod(gpu_file(folder, number), stat.S_IFCHR | 0o666, DEV_NULL)
    _write(folder / "munge" / "key", os.urandom(NUM_KEY_BYTES), OWN)
    _write(folder / HOSTS, slurm_files.hosts(shape).encode())
    _write(folder / SLURM_CONF, slurm_files.slurm_conf(shape, folder, ports).encode())
    _write(folder / "gres.conf", slurm_files.gres_conf(shape, folder).encode())
    _write(folder / "job_submit.lua", slurm_files.job_submit_lua(shape).encode())
    _write(folder / "slurmdbd.conf", slurm_files.slurmdbd_conf(folder, ports).encode(), OWN)
    _write(folder / "plugstack.conf", plugstack(shape.site, folder).encode())
    _write(folder / "task-prolog", TASK_PROLOG.format(folder=folder).encode(), OPEN)
    return {
        "SLURM_CONF": str(folder / SLURM_CONF),
        "SBATCH_ACCOUNT": shape.default_account,
        "COURSEKIT_INTERFACE": "lo",
        # MPI_Init waits at two fences, for which Slurm uses two algorithms, ring and tree. On a busy machine, one rank
        # had passed both while another waited at the first. Its message killed the other rank, because Open MPI 4.1
        # could not receive it yet. Using one algorithm for both is an attempt; we do not know whether it is enough.
        "SLURM_PMIX_FENCE": "tree",
        **write_modules(shape.site, folder / "modules"),
    }


def _write(path: Path, content: bytes, mode: int = 0o644) -> None:
    path.touch(mode=mode)  # before there is any content to read
    path.write_bytes(content)


def hold_ports(shape: ClusterShape) -> tuple[Ports, socket.socket]:
    """Return free ports, and a socket that keeps other rehearsals from using them until it is closed.

    The daemons bind the ports seconds later. Until then no program gets one by chance, because the kernel assigns
    higher ones, unless the machine is set up to assign nearly all. A rehearsal uses one block and holds its first port.
    """
    lowest_given = int(PORTS_GIVEN.read_text().split()[0])
    end = lowest_given if lowest_given > 2 * FIRST_PORT else END_OF_PORTS
    num_ports = 2 + len(shape.all_nodes)
    blocks = range(FIRST_PORT, end - num_ports, max(PORTS_PER_BLOCK, num_ports + 1))
    for first in random.sample(blocks, len(blocks)):
        block, ports = socket.socket(), range(first + 1, first + 1 + num_ports)
        try:
            block.bind((LOOPBACK, first))
            with ExitStack() as held:
                for port in ports:
                    held.enter_context(socket.create_server((LOOPBACK, port)))
        except OSError:
            block.close()
            continue
        return Ports(ports[0], ports[1], dict(zip(shape.all_nodes, ports[2:]))), block
    raise CourseKitError(f"there are no {num_ports} free ports in a row from {FIRST_PORT} to {end}.")


def module_names(site: Site) -> tuple[str, ...]:
    """Return every module that a job script of the site may load."""
    both = (site, with_pytorch(site))
    of_partitions = (name for one in both for partition in one.partitions.values() for name in partition.modules)
    return tuple(dict.fromkeys((*(name for one in both for name in one.software.modules), *of_partitions)))


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
    # If listing took long, Lmod would write a cache to the home folder; this setting prevents it.
    return {"MODULEPATH": str(folder), "LMOD_SHORT_TIME": "86400"}


def option_names(site: Site) -> tuple[str, ...]:
    """Return the long options, without hyphens, that the site's plugin adds to `srun`."""
    words = (*srun_options(site.software.container), *srun_options(site.software.pytorch.container))
    matches = (OPTION.fullmatch(word) for word in words)
    return tuple(dict.fromkeys(match[1] for match in matches if match))


def plugstack(site: Site, folder: Path) -> str:
    """Compile the plugin, if the site needs one, and return the text of plugstack.conf.

    Raises:
        CourseKitError: the compiler failed; the message quotes its output.
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
