"""Started by `mpirun` or `srun` as one rank: hands what it was given to the server that forks the rank, and waits.

    python -IS mpi_stub.py NAME

NAME is the one under which the server listens (see `mpi.StubListener`); on a node of Slurm's, the node's own follows.
The end of the run closes the connection.
"""

import os
import socket
import sys
import time
from contextlib import suppress

NODE = "SLURMD_NODENAME"
CONNECT_TIMEOUT_S = 60.0  # a job step may start its stubs before its server listens
PAUSE_S = 0.02
PMI_FILE = "PMI_FD"  # names the file through which a rank of MPICH's talks to its launcher


def main() -> None:
    """Hand over the environment, and the file of PMI where there is one."""
    environ = b"\0".join(b"%b=%b" % variable for variable in os.environb.items())
    files = [int(os.environ[PMI_FILE])] if PMI_FILE in os.environ else []
    with socket.socket(socket.AF_UNIX) as server:
        end_s = time.monotonic() + CONNECT_TIMEOUT_S
        while server.connect_ex(f"\0{sys.argv[1]}{os.environ.get(NODE, '')}") and time.monotonic() < end_s:
            time.sleep(PAUSE_S)
        socket.send_fds(server, [b"%08d" % len(environ)], files)
        server.sendall(environ)
        with suppress(OSError):
            server.recv(1)


if __name__ == "__main__":
    main()
